"""Ctrl-C takes effect between two chunks of a run, never inside one, so that the results so far are complete."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, ClassVar


class Interrupts:
    """Context in which the first Ctrl-C only sets `came`; the second one is raised at once.

    Outside the main thread, and where another handler is installed, nothing is changed. One that is `later` begins
    when it is told to: for what is over in a millisecond, a change of handlers takes long.
    """

    at_work: ClassVar[Interrupts | None] = None
    """The one that receives the signal now."""

    def __init__(self, later: bool = False) -> None:
        self.came, self.later = False, later
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        if not self.later:
            self.begin()
        return self

    def begin(self) -> None:
        """Take over the signal, if that has not happened yet."""
        if self.before is not None:
            return
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            Interrupts.at_work = self
            self.before = signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *raised: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            self.before = Interrupts.at_work = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True

    def check(self) -> None:
        """Raise an interrupt that has arrived in the meantime."""
        if self.came:
            raise KeyboardInterrupt


def check_interrupts() -> None:
    """Raise a pending interrupt inside a user's function: a chunk with slow functions may take long."""
    at_work = Interrupts.at_work
    if at_work is not None and at_work.came and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt
