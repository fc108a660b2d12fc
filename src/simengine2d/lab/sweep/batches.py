"""Batches: samples of a study that differ in numbers only, computed together.

How the numbers of a System follow from a sample is recorded once (`system/recorded_system.py`); then a compiled loop
takes one variant after the other. Every answer is that of the analysis itself, to the last bit. Where a sample needs
more than other numbers there is none, and the analysis has to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...analyses.dynamics import new_run
from ...analyses.dynamics.many_motions import ManyMotions
from ...analyses.kinematics.many_variants import ManyVariants
from ...analyses.times import output_times
from ...errors import SimEngineError
from ...expressions.recorded import NotRecorded
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.recorded_system import RecordedSystem
from ...system.workspace import Pool

if TYPE_CHECKING:
    from .study import Study

TIMES = ("t_end", "step", "t_eval")
KNOWN = {"kinematics": {*TIMES}, "dynamics": {*new_run.PLAIN}}
"""Analyses of which there are batches, and the options that these know."""

PreparedBatch = ManyVariants | ManyMotions


class Batches:
    """What the samples of a study share. Several threads may use it."""

    def __init__(self, study: Study) -> None:
        self.study, self.idle = study, Pool()
        self.recorded: RecordedSystem | None = None
        known = KNOWN.get(study.analysis) if isinstance(study.analysis, str) else None
        self.possible = known is not None and set(study.options) <= known

    def answers(self, samples: Floats) -> Iterator[Results | None]:
        """An answer for each sample; None where the analysis has to run."""
        run = self._take(samples[[0, -1]]) if self.possible and len(samples) > 1 else None
        if run is None:
            yield from [None] * len(samples)
            return
        numbers, right = run.recorded.numbers(samples)
        answers = run.results(numbers, lambda k: self._model_of(samples[k].tolist()))
        for answer, is_right in zip(answers, right, strict=True):
            yield answer if is_right else None
        self.idle.give(Batches, run)

    def _take(self, samples: Floats) -> PreparedBatch | None:
        """A prepared run that nobody uses."""
        try:
            return self.idle.take(Batches) or self._prepared(samples)
        except NotRecorded:
            self.possible = False
        except SimEngineError:  # this sample has no answer; the next chunk begins with another one
            pass
        return None

    def _prepared(self, samples: Floats) -> PreparedBatch:
        if self.recorded is None:
            self.recorded = RecordedSystem(self.study.variant, samples)
        if self.study.analysis == "dynamics":
            return ManyMotions(self.recorded, self.study.options)
        t_end, step, t_eval = map(self.study.options.get, TIMES)
        return ManyVariants(self.recorded, output_times(t_end, step, t_eval, "kinematics"))

    def _model_of(self, values: Sequence[Any]) -> Callable[[], Model]:
        return lambda: self.study.variant(values)
