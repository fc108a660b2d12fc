"""The length of the chunks of a run: Ctrl-C and `progress` are handled between them."""

from __future__ import annotations

import time

AT_ONCE = 0.1  # seconds that a chunk of steps should last
MOST_AT_ONCE = 2_000
FIRST = 200  # steps of the first chunk of a small system


class Pace:
    """Steps per chunk, so that each takes about a tenth of a second; the steps do not depend on it."""

    def __init__(self, size: int) -> None:
        """`size` is the number of coordinates."""
        self.steps = first_chunk(size)
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
        """Whether the last copy of the state was so long ago that another costs almost nothing."""
        now = time.perf_counter()
        if now - self.kept < 0.5 * AT_ONCE:
            return False
        self.kept = now
        return True


def first_chunk(size: int) -> int:
    return max(1, FIRST // (1 + size // 30))


def next_mark(size: int, after: int) -> int:
    """Number of steps at which a chunk would end if the clock never shortened one: the same in every run."""
    chunk = mark = first_chunk(size)
    while mark <= after:
        chunk = min(4 * chunk, MOST_AT_ONCE)
        mark += chunk
    return mark
