"""The problem of a fit: find x such that the channels of the model come close to what was measured.

    r(x) = (model(x) - data) / sigma        minimize  sum rho(r^2)

All values are one vector: experiment after experiment, in each channel after channel, in each time after time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...analyses.catalog import CATALOG
from ...errors import ConvergenceError, ModelError, SimEngineError, ended, unknown
from ...io.job import job_for
from ...methods import Integrator
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ..sweep.study import function_of, refuse_options
from ..sweep.variants import variant
from .experiments import Measured
from .unknowns import Unknown

TIGHT = 1e-9  # relative tolerance of dynamics: what it misses must be below what differences of runs resolve
KEPT = 100  # predictions that are remembered
ANALYSES = ("kinematics", "dynamics", "inverse_dynamics")


class ValueRows(NamedTuple):
    """Where the values of a channel of an experiment are."""

    experiment: int
    channel: str
    rows: slice


@dataclass
class FitProblem:
    """Model, unknowns, experiments, and the analysis that makes the motion."""

    model: Model
    unknowns: Sequence[Unknown]
    experiments: Sequence[Measured]
    analysis: str
    options: Mapping[str, Any]
    told: Callable[[int], None] | None = None
    """Is called with the number of runs so far."""
    exact: bool = True
    """Whether the derivatives are exact; otherwise they are differences of runs."""
    runs: int = 0
    failures: int = 0
    known: dict[bytes, Floats] = field(default_factory=dict, repr=False)
    """The last predictions, by x."""

    def __post_init__(self) -> None:
        self.blocks = list(self._blocks())
        parts = [self.experiments[block.experiment].channels[block.channel] for block in self.blocks]
        self.data: Floats = np.concatenate(parts)
        self.channels = list(dict.fromkeys(block.channel for block in self.blocks))
        self.spreads: Floats = self.per_value({name: self.spread(name) for name in self.channels})
        """The spread of its channel, for each value."""
        self.low = np.array([each.low for each in self.unknowns])
        self.high = np.array([each.high for each in self.unknowns])

    def _blocks(self) -> Iterator[ValueRows]:
        begin = 0
        for e, experiment in enumerate(self.experiments):
            for channel, values in experiment.channels.items():
                yield ValueRows(e, channel, slice(begin, begin + values.size))
                begin += values.size

    def of_channel(self, channel: str, values: Floats) -> Floats:
        """The values of a channel in all experiments."""
        return np.concatenate([values[block.rows] for block in self.blocks if block.channel == channel])

    def spread(self, channel: str) -> float:
        """How far the data of a channel vary, or how large they are where they do not; 1 where all are zero."""
        values = self.of_channel(channel, self.data)
        return float(np.std(values)) or float(np.max(np.abs(values))) or 1.0

    def per_value(self, by_channel: Mapping[str, float]) -> Floats:
        """A number of each channel, for each value."""
        rows = np.empty(self.data.size)
        for block in self.blocks:
            rows[block.rows] = by_channel[block.channel]
        return rows

    def sizes(self, x: Floats) -> Floats:
        """What a large change of each unknown is."""
        return np.array([abs(v) or each.size for v, each in zip(x.tolist(), self.unknowns, strict=True)])

    # runs

    def changed(self, x: Floats, experiment: int) -> Model:
        """The model of an experiment."""
        values = dict(self.experiments[experiment].parameters)
        for each, value in zip(self.unknowns, x.tolist(), strict=True):
            if each.experiment in (None, experiment):
                values[each.name] = each.written(value)
        return variant(self.model, values)

    def run(self, x: Floats, experiment: int) -> Results:
        """The motion of an experiment at its times."""
        self.runs += 1
        if self.told is not None:
            self.told(self.runs)
        times = self.experiments[experiment].t
        results = function_of(self.analysis)(self.changed(x, experiment), t_eval=times, **self.options)
        if results.t.size != times.size:
            raise ConvergenceError(f"the run ends at t = {results.t[-1]:g} s: {results.status}.")
        return results  # type: ignore[no-any-return]

    def predicted(self, x: Floats) -> Floats:
        """What the model says instead of the data; raises where it does not run."""
        if x.tobytes() in self.known:
            return self.known[x.tobytes()]
        values = np.empty(self.data.size)
        for e in range(len(self.experiments)):
            results = self.run(x, e)
            for block in self.blocks:
                if block.experiment == e:
                    values[block.rows] = results[block.channel]
        if not np.isfinite(values).all():
            raise ConvergenceError("the run has values that are not finite.")
        self.known[x.tobytes()] = values
        if len(self.known) > KEPT:
            del self.known[next(iter(self.known))]
        return values

    def try_predicted(self, x: Floats) -> Floats:
        """The same; nan where the model does not run, from which the search turns back."""
        try:
            with np.errstate(all="ignore"):
                return self.predicted(x)
        except (SimEngineError, ArithmeticError):
            self.failures += 1
            return np.full(self.data.size, np.nan)

    def first(self, x: Floats) -> Floats:
        """At the start; a model that does not run there is an error."""
        try:
            return self.predicted(x)
        except (SimEngineError, ArithmeticError) as error:
            at = ", ".join(f"{u.label} = {v:.5g}" for u, v in zip(self.unknowns, x.tolist(), strict=True))
            raise type(error)(
                f"the model does not run where the fit starts ({at}): {ended(error)} Give another start."
            ) from None


# The analysis -----------------------------------------------------------------------------------------


def analysis_of(model: Model, asked: str | None, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The analysis and its options; without one, what the model asks for, or what its free motions suggest."""
    if asked is None:
        job = job_for(model)
        kind, settings = job.kind, {name: value for name, value in job.options.items() if value is not None}
    else:
        kind, settings = str(asked), {}
    kind = next((name for name, each in CATALOG.items() if kind in (name, each.command)), kind)
    if kind not in ANALYSES:
        raise ModelError(
            f"a fit compares motions, and {kind} is none. {unknown('analysis', kind, ANALYSES, plural='analyses')}"
        )
    settings |= options
    settings.pop("t_end", None)
    if not _steps_matter(settings):
        settings.pop("step", None)
    if kind == "dynamics" and "integrator" not in settings:
        settings.setdefault("rtol", TIGHT)
    refuse_options(function_of(kind), kind, settings)
    return kind, settings


def _steps_matter(settings: Mapping[str, Any]) -> bool:
    """An integrator with fixed steps needs them; else the times are those of the data."""
    given = settings.get("integrator")
    return given is not None and not Integrator.registry.made(given).adaptive
