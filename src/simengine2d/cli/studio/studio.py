"""The studio: its folder, its desks, its windows and its workers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from ... import __version__
from ...errors import ModelError
from ...io.schema import json_schema
from ...model import library
from .desk import Desk
from .folder import ModelFolder
from .links import text_of
from .window import Window
from .workers import Workers

MOST_WINDOWS = 20
POLL = 1.0
"""Seconds between two looks at the files."""


class FirstModel(NamedTuple):
    """What a new window shows: a file of the folder, or a text that has no file yet."""

    name: str | None = None
    text: str | None = None


class Studio:
    """All that the windows share."""

    def __init__(self, folder: ModelFolder, first: FirstModel) -> None:
        self.folder = folder
        self.first = first
        self.desks: WeakValueDictionary[str | None, Desk] = WeakValueDictionary()
        self.windows: set[Window] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.workers = Workers(folder.root, self._tell_engine)
        self.ready = False

    async def begin(self) -> None:
        self.workers.begin()
        self._in_background(self._watch_files())

    async def end(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await self.workers.close()

    async def serve(self, socket: Any) -> None:
        """A new window, until it is closed."""
        if len(self.windows) >= MOST_WINDOWS:
            await socket.close(1013)
            return
        window = Window(self, socket)
        self.windows.add(window)
        try:
            await window.serve()
        finally:
            self.windows.discard(window)

    # what windows ask for

    def desk(self, name: str | None) -> Desk:
        """The desk of a file; it is there as long as a window sits at it."""
        if name is not None:
            self.folder.path(name)
        return self.desks.setdefault(name, Desk(self.folder, name))

    def text_from(self, request: dict[str, Any]) -> str:
        """The text of a shipped mechanism, or that in a link."""
        gallery, link = request.get("gallery"), request.get("link")
        if isinstance(gallery, str):
            return library.text(gallery)
        if isinstance(link, str):
            return text_of(link)
        raise ModelError("open needs the name of a file, of a mechanism of the gallery, or a link.")

    def about(self) -> dict[str, Any]:
        """What a page is told first."""
        folder = {"folder": self.folder.root.name, "files": self.folder.names()}
        return {"version": __version__, **folder, **_constants()}

    # what windows are told

    def tell(self, windows: Iterable[Window], news: dict[str, Any]) -> None:
        """Push to each window by itself: one that sleeps does not hold up the others."""
        for window in list(windows):
            self._in_background(window.push(news))

    def _tell_engine(self) -> None:
        if self.ready != self.workers.ready:
            self.ready = self.workers.ready
            self.tell(self.windows, {"push": "engine", "ready": self.ready})

    async def _watch_files(self) -> None:
        await asyncio.to_thread(_constants)
        while True:
            await asyncio.sleep(POLL)
            for desk in [desk for desk in self.desks.values() if desk.windows]:
                with suppress(ModelError, OSError):  # being written just now: the next time
                    news = await desk.do(desk.news)
                    if news:
                        self.tell(desk.windows, news)

    def _in_background(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


@cache
def _constants() -> dict[str, Any]:
    """The schema of models, and the gallery."""
    gallery = [
        {"name": name, "title": name.replace("_", " ").capitalize(), "sentence": sentence}
        for name, sentence in library.models().items()
    ]
    return {"gallery": gallery, "schema": json_schema()}
