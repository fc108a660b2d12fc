"""Unsaved work on a file: a draft for each window that has some, offered again when that window is gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import ModelError
from .folder import ModelFolder

if TYPE_CHECKING:
    from .window import Window

MOST_DRAFTS = 20
"""Of one file."""


class Drafts:
    """The drafts of one file, by numbers from 1. No window touches that of another one."""

    def __init__(self, folder: ModelFolder, name: str | None) -> None:
        self.folder = folder
        self.name = name
        self.kept: dict[Window, int] = {}
        """What each window writes."""
        self.offered: dict[Window, int] = {}
        """What a window was shown and has not answered yet."""

    def offer(self, window: Window, text: str) -> str | None:
        """The first draft that no window holds; one that says what the file says is deleted."""
        self.offered.pop(window, None)
        for number in self._without_window():
            draft = self.folder.read_draft(self.name, number)
            if draft == text:
                with suppress(ModelError):
                    self.folder.delete_draft(self.name, number)
            elif draft is not None:
                self.offered[window] = number
                return draft
        return None

    def claim(self, window: Window, number: object) -> None:
        """A window that comes back goes on with its draft."""
        if isinstance(number, int) and number in self._without_window():
            self.kept[window] = number

    def accept(self, window: Window, text: str) -> int:
        """The window goes on with the draft that it was offered."""
        if window in self.offered:
            self.forget(window)
            self.kept[window] = self.offered.pop(window)
        return self.keep(window, text)

    def decline(self, window: Window) -> None:
        """Nobody wants the draft that was offered."""
        number = self.offered.pop(window, None)
        if number is not None:
            self.folder.delete_draft(self.name, number)

    def keep(self, window: Window, text: str) -> int:
        number = self.kept.get(window) or self._free()
        self.folder.write_draft(self.name, number, text)
        self.kept[window] = number
        return number

    def forget(self, window: Window) -> None:
        """The window has no unsaved work any more."""
        number = self.kept.pop(window, None)
        if number is not None:
            self.folder.delete_draft(self.name, number)

    def release(self, window: Window) -> None:
        """The window is gone; its draft stays for the next one."""
        self.kept.pop(window, None)
        self.offered.pop(window, None)

    def _without_window(self) -> Iterator[int]:
        held = {*self.kept.values(), *self.offered.values()}
        for number in range(1, MOST_DRAFTS + 1):
            if number not in held and self.folder.has_draft(self.name, number):
                yield number

    def _free(self) -> int:
        """A number that nobody uses."""
        for number in range(1, MOST_DRAFTS + 1):
            path = self.folder.draft_path(self.name, number)
            if number not in self.kept.values() and not path.exists() and not path.is_symlink():
                return number
        raise ModelError(
            f"there are {MOST_DRAFTS} drafts of {self.name or 'models without a name'} already. Save the model, "
            f"and delete files such as {self.folder.draft_path(self.name, MOST_DRAFTS).name}."
        )
