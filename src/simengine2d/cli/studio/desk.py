"""A desk: one file with the drafts beside it and the windows in which it is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ModelError
from .drafts import Drafts
from .folder import DiskText, ModelFolder

if TYPE_CHECKING:
    from .window import Window

T = TypeVar("T")
Stamp = tuple[int, int, int] | None


class Conflict(ModelError):
    """The file on disk is not the one that the page has seen."""

    def __init__(self, name: str, disk: DiskText | None) -> None:
        self.disk = disk
        happened = "was deleted" if disk is None else "has changed"
        super().__init__(f"{name} {happened} on disk since it was opened here. It is not overwritten.")


class Desk:
    """One file of the folder; without a name, a model that was not saved yet."""

    def __init__(self, folder: ModelFolder, name: str | None) -> None:
        self.folder = folder
        self.name = name
        self.windows: set[Window] = set()
        self.drafts = Drafts(folder, name)
        self.hash: str | None = None
        """Of the file as the windows know it."""
        self.stamp: Stamp = None
        self.lock = asyncio.Lock()

    async def do(self, work: Callable[..., T], *given: Any) -> T:
        """Work with files: in a thread, one thing after another."""
        async with self.lock:
            return await asyncio.to_thread(work, *given)

    def opened(self, window: Window) -> dict[str, Any]:
        """The file as it is on disk, and unsaved work on it that no other window has."""
        disk = self._read()
        self.hash = disk.hash if disk else None
        text = disk.text if disk else ""
        draft = self.drafts.offer(window, text)
        return {"file": self.name, "text": text, "hash": self.hash, "draft": draft}

    def save(self, text: str, seen: str | None, window: Window) -> dict[str, Any]:
        """Write the file, unless it is no longer what the window has seen. The window's draft is then done with."""
        name = self._name()
        disk = self._read()
        if (disk.hash if disk else None) != seen and (disk is None or disk.text != text):
            raise Conflict(name, disk)
        self.hash = self.folder.write(name, text)
        self.stamp = self._stamp()
        self.drafts.forget(window)
        return {"file": name, "hash": self.hash}

    def news(self) -> dict[str, Any] | None:
        """What another program made of the file since the last time; None where nothing happened."""
        if self.name is None:
            return None
        stamp = self._stamp()
        if stamp == self.stamp:
            return None
        disk, self.stamp = self._read(), stamp
        known = self.hash
        self.hash = disk.hash if disk else None
        if self.hash == known:
            return None
        return {"push": "disk", "file": self.name, "text": disk.text if disk else None, "hash": self.hash}

    def _name(self) -> str:
        if self.name is None:
            raise ModelError("the model has no name yet. Give one that ends in .yaml.")
        return self.name

    def _read(self) -> DiskText | None:
        if self.name is None:
            return None
        self.stamp = self._stamp()
        return self.folder.read(self.name)

    def _stamp(self) -> Stamp:
        """What a change of the file changes, too."""
        try:
            seen = self.folder.path(self._name()).stat()
        except OSError:
            return None
        return seen.st_mtime_ns, seen.st_size, seen.st_ino
