"""A desk: one file with the draft beside it and the windows in which it is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ModelError
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
        self.drafter: Window | None = None
        """Whose draft is kept."""
        self.hash: str | None = None
        """Of the file as the windows know it."""
        self.stamp: Stamp = None
        self.lock = asyncio.Lock()

    async def do(self, work: Callable[..., T], *given: Any) -> T:
        """Work with files: in a thread, one thing after another."""
        async with self.lock:
            return await asyncio.to_thread(work, *given)

    def opened(self) -> dict[str, Any]:
        """The file as it is on disk, and the draft where that says something else."""
        disk = self._read()
        self.hash = disk.hash if disk else None
        text, draft = disk.text if disk else "", self.folder.read_draft(self.name)
        if draft is not None and draft == text:
            self.folder.delete_draft(self.name)
            draft = None
        return {"file": self.name, "text": text, "hash": self.hash, "draft": draft}

    def save(self, text: str, seen: str | None, window: Window) -> dict[str, Any]:
        """Write the file, unless it is no longer what the window has seen. The window's draft is then done with."""
        name = self._name()
        disk = self._read()
        if (disk.hash if disk else None) != seen and (disk is None or disk.text != text):
            raise Conflict(name, disk)
        self.hash = self.folder.write(name, text)
        self.stamp = self._stamp()
        if self.drafter in (None, window):
            self.folder.delete_draft(name)
        return {"file": name, "hash": self.hash}

    def keep_draft(self, text: str, window: Window) -> None:
        self.folder.write_draft(self.name, text)
        self.drafter = window

    def forget_draft(self) -> None:
        self.folder.delete_draft(self.name)
        self.drafter = None

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
