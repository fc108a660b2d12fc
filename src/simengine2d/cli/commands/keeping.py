"""Saving what a long run has finished: a file that is valid at every moment, from which the run can be resumed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import SimEngineError, ended
from ..terminal import warn

if TYPE_CHECKING:
    from ...results.results import Results

FIRST = 2.0  # seconds of a run before it is worth keeping
SHARE = 30.0  # a run lasts so many times longer than the saving in between
UNFINISHED = ".unfinished"
"""Stands in the names of files that a run leaves when it is killed."""


class Keeper:
    """Saves the results so far in a separate file beside `target` from time to time.

    The file has a name that nothing else has: neither results of earlier runs nor the source of a resumed one are
    touched before this run has saved its own. A failure to save is reported, and the run goes on.
    """

    def __init__(self, target: Path | None) -> None:
        self.target = target
        self.path: Path | None = None
        self.due = time.monotonic() + FIRST

    def __call__(self, results: Results) -> None:
        if self.target is None or time.monotonic() < self.due:
            return
        began = time.monotonic()
        self.keep(results)
        now = time.monotonic()
        self.due = now + max(FIRST, SHARE * (now - began))

    def keep(self, results: Results) -> None:
        assert self.target is not None
        path = self.path or next(path for path in names_beside(self.target) if not path.exists())
        try:
            results.save(path)
        except (OSError, SimEngineError) as error:
            warn(f"the results so far could not be saved, and the run goes on: {ended(error)}")
        else:
            self.path = path

    def is_needed(self) -> bool:
        """Whether the run cannot be resumed from the results themselves: only .npz contains everything needed."""
        return self.path is not None and self.target is not None and self.target.suffix != ".npz"

    def clear(self) -> None:
        """Delete the file once the results themselves are saved."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def names_beside(target: Path) -> Iterator[Path]:
    """`four_bar.unfinished.npz`, `four_bar.unfinished2.npz`, ..."""
    stem = target.stem.partition(UNFINISHED)[0]
    for i in count(1):
        yield target.with_name(f"{stem}{UNFINISHED}{i if i > 1 else ''}.npz")
