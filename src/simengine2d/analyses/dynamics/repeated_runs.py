"""Plain calls on one System: from the second one with the same options on, a prepared run answers.

Such a call is over in a millisecond, and a `Run` would spend a good part of it looking after its steps. The answer is
the same to the last bit; where there is none, a `Run` computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.kernel import JIT
from ...results.results import Results
from ...system.system import System
from ...system.workspace import Pool, once_per_system
from ..earlier_models import kind_of
from .compiled_run import CompiledRun, numbers_in_answer, room_for, steps_in_one_call, suits
from .new_run import interrupted_run, new_run, options_from
from .run import Progress, Run
from .stiff_run import StiffRun, numbers_of_stiff_run, turns_stiff

MOST_NUMBERS = 2_000_000  # in an answer: beyond that, looking after steps takes a small part of the time


class RepeatedRun:
    """A plain call that was made before. It has one user at a time."""

    def __init__(self, way: type[CompiledRun | StiffRun] | None, short: bool = False) -> None:
        self.way, self.short = way, short
        self.prepared: CompiledRun | StiffRun | None = None
        self.size = 0
        """Numbers in its answer."""

    def results(self, system: System, asked: Mapping[str, Any], progress: Progress | None) -> Results | None:
        """What the same call would answer again; None if a run has to."""
        if self.way is None:
            return None
        prepared = self.prepared or self.prepare(self.way, system, asked)
        try:
            answer = np.empty(self.size)
            prepared.loop(0.0, answer, answer)
            results = prepared.results(system, self.kept(system, prepared, answer))
            if results is not None and progress is not None:
                progress(float(results.t[-1]))
        except KeyboardInterrupt:
            raise interrupted_run(options_from(system, asked)) from None
        self.way = None if results is None else self.way
        return results

    def kept(self, system: System, prepared: CompiledRun | StiffRun, answer: Floats) -> Floats:
        """An answer without the room that is left, which there is none of in the next one."""
        size = prepared.filled(system, answer)
        if not prepared.needs_room:
            self.size = size
        return answer if size == answer.size else answer[:size].copy()

    def prepare(
        self, way: type[CompiledRun | StiffRun], system: System, asked: Mapping[str, Any]
    ) -> CompiledRun | StiffRun:
        prepared = self.prepared = way(new_run(options_from(system, asked)), deepcopy(asked), self.short)
        self.size = prepared.each
        return prepared


def plain_run(system: System, asked: Mapping[str, Any], progress: Progress | None) -> Results:
    """The motion of a System by the methods that the engine chooses."""
    kind, earlier = kind_of(asked), earlier_calls(system)
    repeated: RepeatedRun | None = earlier.take(kind)
    results = None if repeated is None else repeated.results(system, asked, progress)
    if results is None:
        run = new_run(options_from(system, asked))
        is_plain = JIT and suits(run.stepper)
        results = run.to_the_end(progress)
        for stepper in run.steppers:
            stepper.put_away()
        repeated = repeated or RepeatedRun(way_to_repeat(run) if is_plain else None, is_short(run))
    earlier.give(kind, repeated)
    return results


@once_per_system
def earlier_calls(system: System) -> Pool:
    """Those that may be repeated, by their options; the oldest are forgotten."""
    return Pool()


def way_to_repeat(run: Run) -> type[CompiledRun | StiffRun] | None:
    """How a finished run is repeated, if it is short and small."""
    if len(run.steppers) > 1:
        return StiffRun if turns_stiff(run) and numbers_of_stiff_run(run) <= MOST_NUMBERS else None
    small = numbers_in_answer(run.system, room_for(run.options)) <= MOST_NUMBERS
    return CompiledRun if small and 0 < run.tried < steps_in_one_call(run) else None


def is_short(run: Run) -> bool:
    """Whether all steps of a finished run can be stored."""
    return run.tried < run.steppers[0].looks_back
