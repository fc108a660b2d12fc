"""`compare`: one mechanism, every combination of methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..answer import Part, PlottedAnswer, Rows
from ..errors import Interrupted, answers_misspellings, counted, needed
from ..model.model import Model
from ..results.results import Results
from ..system.system import System
from .combinations import Coordinates, Formulations, Integrators, combinations
from .trial import (
    HEADS,
    NAMES,
    QUANTITIES,
    RAN,
    Bench,
    Progress,
    Trial,
    cells,
    comparison_text,
    motion_of,
    remarks,
    sizes_of,
)  # fmt: skip

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

STEPS = 1000  # of fixed steps from the first to the last time, where no step is given


class Apart(NamedTuple):
    """The largest difference of any two motions in a quantity, and whose it is."""

    difference: float
    first: str
    second: str


@dataclass(frozen=True, repr=False)
class Comparison(PlottedAnswer):
    """What came out for each combination."""

    reference: Results
    trials: list[Trial]

    @property
    def ran(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.status == RAN]

    @property
    def agreement(self) -> dict[str, Apart]:
        """In each quantity the two motions that are farthest apart, the reference among them."""
        motions = {"the reference": self.reference}
        motions |= {trial.name: trial.results for trial in self.ran if trial.results is not None}
        names = list(motions)
        sizes = sizes_of(motion_of(self.reference))
        farthest = {}
        for quantity, arrays in zip(
            QUANTITIES, zip(*(motion_of(r, sizes) for r in motions.values()), strict=True), strict=True
        ):
            stack = np.array(arrays).reshape(len(names), -1)
            apart = np.ptp(stack, axis=0)
            worst = int(apart.argmax()) if apart.size else 0
            column = stack[:, worst] if apart.size else np.zeros(len(names))
            ends = names[int(column.argmax())], names[int(column.argmin())]
            farthest[quantity] = Apart(float(apart.max(initial=0.0)), *ends)
        return farthest

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each trial."""
        return [trial.record() for trial in self.trials]

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with one row for each trial."""
        return frame(self.records())

    def table(self) -> str:
        """All trials as plain text."""
        return comparison_text(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The difference to the reference against the time of the solve."""
        from .pictures import plot_comparison

        return plot_comparison(self, ax)

    def __str__(self) -> str:
        return self.table()

    def _title(self) -> str:
        return (
            f"{self.reference.model.name}: {len(self.ran)} of {counted(len(self.trials), 'combination')} ran"
        )

    def _summary(self) -> str:
        apart = [
            f"{name}: at most {each.difference:.1e} apart, {each.first} and {each.second}"
            for name, each in (self.agreement.items() if self.ran else ())
        ]
        return "\n".join([self._title(), *apart, "print() shows the table, plot() the differences"])

    def _parts(self) -> Iterator[Part]:
        yield self._title()
        if self.ran:
            yield Rows(HEADS, [cells(trial) for trial in self.ran], NAMES)
        yield from filter(None, remarks(self))


@answers_misspellings
def compare(
    model: Model | System,
    coordinates: Coordinates = None,
    formulations: Formulations = None,
    integrators: Integrators = None,
    *,
    t_end: float | None = None,
    points: int = 51,
    step: float | None = None,
    rtol: float = 1e-8,
    reference: Results | None = None,
    repeats: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Compute the same motion by every combination, and compare it with a reference at `points` times up to `t_end`.

    Coordinates, formulations and integrators are names or objects, and None means all; `None` in a list of integrators
    is the one that `dynamics` takes. Methods with fixed steps take those of `step` (by default a thousandth of the
    motion), others have `rtol`. The reference is a run of DOP853 with rtol = 1e-12 in reference-point coordinates, or
    the motion given. Each run is repeated `repeats` times, and the quickest counts.

    Raises with what is finished (`error.results`) where Ctrl-C stops it.
    """
    asked = combinations(coordinates, formulations, integrators)
    bench = Bench(model, t_end, points, reference, repeats)
    step = float(bench.times[-1] - bench.times[0]) / STEPS if step is None else step
    trials: list[Trial] = []
    try:
        for count, combination in enumerate(asked):
            if progress is not None:
                progress(count, len(asked))
            trials.append(bench.try_out(combination, step, rtol))
    except KeyboardInterrupt:
        done = f"interrupted after {len(trials)} of {len(asked)} combinations"
        raise Interrupted(f"{done}.", Comparison(bench.reference, trials)) from None
    return Comparison(bench.reference, trials)


def frame(records: list[dict[str, Any]]) -> pandas.DataFrame:
    return needed("pandas", "a DataFrame needs", "tables", ", or use records()").DataFrame(records)
