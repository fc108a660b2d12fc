"""`work_precision`: what accuracy costs, method by method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from ..answer import Answer, Part, Rows
from ..errors import Interrupted, ModelError, answers_misspellings, counted
from ..model.model import Model
from ..results.results import Results
from ..system.system import System
from .combinations import Combination, Coordinates, Formulations, Integrators, combinations
from .comparison import frame
from .trial import RAN, Bench, Progress, Trial, number

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
COUNTS = (25, 50, 100, 200, 400, 800, 1600)  # of fixed steps, where none are given
HEADS = ("method", "rtol", "step", "error", "ms", "steps", "evaluations")


@dataclass(frozen=True, repr=False)
class WorkPrecision(Answer):
    """For each method its trials, from the coarsest to the finest."""

    reference: Results
    curves: dict[str, list[Trial]]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each trial, with the name of its method."""
        return [{"method": name} | trial.record() for name, curve in self.curves.items() for trial in curve]

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with one row for each trial."""
        return frame(self.records())

    def table(self) -> str:
        """All trials as plain text; errors are those of q."""
        return "\n".join(Rows(HEADS, self._rows()).lines())

    def _rows(self) -> list[list[str]]:
        return [[name, *_cells(trial)] for name, curve in self.curves.items() for trial in curve]

    def _title(self) -> str:
        return f"{self.reference.model.name}: work against precision of {counted(len(self.curves), 'method')}"

    def _summary(self) -> str:
        best = [
            f"{name}: error {number(curve[-1].q)} in {1e3 * curve[-1].seconds:.3g} ms"
            for name, curve in self.curves.items()
        ]
        return "\n".join([self._title(), *best])

    def _parts(self) -> Iterator[Part]:
        yield self._title()
        yield Rows(HEADS, self._rows())

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
        """The error of q against the time of the solve, and against the evaluations of the equations."""
        from .pictures import plot_work_precision

        return plot_work_precision(self, axes)

    def __str__(self) -> str:
        return self.table()


@answers_misspellings
def work_precision(
    model: Model | System,
    coordinates: Coordinates = "reference_point",
    formulations: Formulations = (None,),
    integrators: Integrators = None,
    *,
    t_end: float | None = None,
    points: int = 11,
    rtols: Sequence[float] = RTOLS,
    steps: Sequence[float] | None = None,
    reference: Results | None = None,
    repeats: int = 1,
    progress: Progress | None = None,
) -> WorkPrecision:
    """Compute a motion with increasing accuracy: adaptive methods with each of `rtols`, others with each of `steps`.

    The methods are named as for `compare`; None in a list of formulations is the one that suits the integrator.

    Raises with what is finished (`error.results`) where Ctrl-C stops it.
    """
    asked = [each for each in combinations(coordinates, formulations, integrators) if not each.refusal]
    bench = Bench(model, t_end, points, reference, repeats)
    span = float(bench.times[-1] - bench.times[0])
    steps = [span / count for count in COUNTS] if steps is None else steps
    _check("rtols", rtols)
    _check("steps", steps)
    names = short_names(asked)
    work = WorkPrecision(bench.reference, {})
    try:
        for count, (name, combination) in enumerate(zip(names, asked, strict=True)):
            if progress is not None:
                progress(count, len(asked))
            work.curves[name] = _curve(bench, combination, sorted(steps)[::-1], sorted(rtols)[::-1])
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted after {len(work.curves)} of {len(asked)} methods.", work) from None
    return work


def _curve(
    bench: Bench, combination: Combination, steps: Sequence[float], rtols: Sequence[float]
) -> list[Trial]:
    """The trials of one method; those that fail are left out, unless all do."""
    method = combination.integrator
    if method is not None and not method.adaptive:
        trials = [bench.try_out(combination, step, 1e-6) for step in steps]
    else:
        trials = [bench.try_out(combination, steps[0], rtol) for rtol in rtols]
    return [trial for trial in trials if trial.status == RAN] or trials[:1]


def short_names(asked: Sequence[Combination]) -> list[str]:
    """What is common to all is left out, and the formulation too where each integrator has only one."""
    parts = [each.names for each in asked]
    several = [len({names[i] for names in parts}) > 1 for i in range(3)]
    if len({(names[0], names[2]) for names in parts}) == len(parts):
        several[1] = False
    if not any(several):
        several[2] = True
    return [", ".join(name for name, shown in zip(names, several, strict=True) if shown) for names in parts]


def _cells(trial: Trial) -> list[str]:
    if trial.status != RAN:
        return [trial.status, trial.reason, "-", "-", "-", "-"]
    setting = ["-" if isnan(value) else f"{value:.3g}" for value in (trial.rtol, trial.step)]
    counts = [str(trial.steps), str(trial.evaluations)]
    return [*setting, number(trial.q), f"{1e3 * trial.seconds:.3g}", *counts]


def _check(name: str, values: Sequence[float]) -> None:
    if not len(values) or not all(isinstance(value, int | float) and value > 0.0 for value in values):
        raise ModelError(f"{name} = {values!r} must be a list of positive numbers.")
