"""Keeping what a long run has finished: a file that is valid at every moment, from which the run can go on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..results import Results

FIRST = 2.0  # seconds of a run before it is worth keeping
SHARE = 30.0  # a run lasts so many times longer than the saving in between


class Keeper:
    """Saves the results so far beside the file that they will be saved in, now and then."""

    def __init__(self, target: Path | None) -> None:
        self.path = None if target is None else target.with_suffix(".npz")
        self.final = target
        self.due = time.monotonic() + FIRST

    def __call__(self, results: Results) -> None:
        if self.path is None or time.monotonic() < self.due:
            return
        began = time.monotonic()
        results.save(self.path)
        now = time.monotonic()
        self.due = now + max(FIRST, SHARE * (now - began))

    def clear(self) -> None:
        """Take the file away once the results themselves are saved."""
        if self.path is not None and self.path != self.final:
            self.path.unlink(missing_ok=True)
