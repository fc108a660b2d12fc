"""Ctrl-C is heard between two chunks of a run, never inside one: what is kept is then whole."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

AT_ONCE = 0.1  # seconds that a chunk of steps should last
MOST_AT_ONCE = 2_000
FIRST = 200  # steps of the first chunk of a small system


class Interrupts:
    """While it is entered, the first Ctrl-C only sets `came`; the second one is raised at once.

    In other threads than the main one, and where somebody else handles the signal, nothing is changed.
    """

    def __init__(self) -> None:
        self.came = False
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *raised: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            self.before = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True

    def check(self) -> None:
        """Raise what has come in the meantime."""
        if self.came:
            raise KeyboardInterrupt


class Pace:
    """How many steps make a chunk, so that each lasts about a tenth of a second; the steps do not depend on it."""

    def __init__(self, size: int) -> None:
        """`size` is the number of coordinates."""
        self.steps = max(1, FIRST // (1 + size // 30))
        self.begun = self.kept = time.perf_counter()

    def next(self) -> int:
        """Called before each chunk."""
        now = time.perf_counter()
        lasted, self.begun = now - self.begun, now
        if lasted > AT_ONCE:
            self.steps = max(1, int(self.steps * AT_ONCE / lasted))
        elif lasted < 0.5 * AT_ONCE:
            self.steps = min(MOST_AT_ONCE, 4 * self.steps)
        return self.steps

    def is_time_to_keep(self) -> bool:
        """Whether the last answer of yes lies so far back that a copy of the state costs nothing."""
        now = time.perf_counter()
        if now - self.kept < 0.5 * AT_ONCE:
            return False
        self.kept = now
        return True
