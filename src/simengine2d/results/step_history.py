"""The steps of a run, one by one: their ends, sizes, errors and iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..answer import PlottedAnswer
from ..numerics.arrays import Floats, Ints

if TYPE_CHECKING:
    from pandas import DataFrame


STEPS = ("step.size", "step.error", "step.iterations", "step.residual")
"""Channels of results whose history is kept."""


@dataclass(frozen=True, repr=False)
class StepHistory(PlottedAnswer):
    """One entry for each step that was tried, also for those that were refused.

    A passage through a singular pose is part of the step that led to it.
    """

    t: Floats
    """Where the step begins."""
    size: Floats
    error: Floats
    """Estimated error against the tolerance; nan where none is estimated."""
    iterations: Ints
    """Newton iterations."""
    residual: Floats
    """The largest entry of Psi that they left; nan where no differential-algebraic equations were solved."""
    taken: NDArray[np.bool_]
    """False where the step was refused, and tried again with another size."""
    implicit: NDArray[np.bool_]
    """True where an implicit method had taken over."""

    def __len__(self) -> int:
        return self.t.size

    def along(self, channel: str, t: Floats) -> Floats:
        """What a step was like at some times, each the end of it or inside it: a channel such as step.size."""
        taken = np.flatnonzero(self.taken)
        ends = (self.t + self.size)[taken]
        within = np.searchsorted(ends, t - 1e-9 * self.size[taken].min(initial=np.inf))
        values = np.asarray(getattr(self, channel.removeprefix("step.")), dtype=float)[taken]
        return values[np.minimum(within, taken.size - 1)] if taken.size else np.full(t.size, np.nan)

    def __str__(self) -> str:
        if not len(self):
            return "no steps"
        sizes, refused = self.size[self.taken], int(np.sum(~self.taken))
        words = [f"{sizes.size} steps of {sizes.min(initial=np.inf):.3g} to {sizes.max(initial=0.0):.3g} s"]
        words += [f"{refused} refused"] if refused else []
        words += [f"{self.iterations.sum()} iterations"] if self.iterations.any() else []
        return ", ".join(words)

    def to_frame(self) -> DataFrame:
        """One row for each step."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in self.__dataclass_fields__})
