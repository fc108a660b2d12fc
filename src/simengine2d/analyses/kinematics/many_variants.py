"""Kinematics of variants that differ in numbers: one prepared run, a compiled loop over all of them.

The run of the first variant has laid out its arrays; the numbers of each variant are written into them, the stepper is
set back to its initial pose, and the same steps are taken as by a run of its own. Python decides nothing in between:
where a run would have to think (a pose that does not close as drawn, a change point, a dead point, new pivots), the
variant is marked, and `kinematics` itself has to compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...expressions.recorded import NotRecorded
from ...model.model import Model
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import JIT, kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ...numerics.sparse_lu import Pattern
from ...results.results import Results
from ...system.constraints import SystemArrays
from ...system.recorded_system import RecordedSystem, SystemNumbers
from ...system.renumbering import OwnSystem, copied, let_write
from ...system.system import System
from ..assembly.closure import scale_of
from ..times import begin_of, check_domains
from .group_solution import choose_sides
from .groups import Groups
from .kinematics import AS_DRAWN, closed_as_drawn
from .run import SMALL_PIVOT, finished, results_of, smallest_step
from .solver import NO_PATTERN, Solver, method_in_words
from .stepper import (
    ACCEPTED,
    ALERT,
    BUDGET,
    CONTEXT,
    DISTANCE,
    DONE,
    ENDED,
    FALL,
    FAR,
    NEARBY,
    NEXT,
    PIVOT,
    REJECTED,
    SMALLEST,
    SOLVE,
    STOP,
    TIME,
    WANTED,
    WHY,
    Stepper,
)

# entries of an answer before the motion: 1 if it is complete; accepted and rejected steps; errors at the three levels
COMPLETE, STEPS, REJECTIONS, ERRORS, HEAD = 0, 1, 2, 3, 6
BLOCK = 2_000_000  # numbers of motions at a time: 16 MB


class PreparedRun(NamedTuple):
    """The context of the loop: a driven mechanism, its times and the kernels that begin and take steps."""

    S: SystemArrays
    P: Pattern
    G: Groups
    w: Stepper
    times: Floats
    start: Floats  # time, and smallest step
    calls: Ints


SIDES, STEP, STEP_CONTEXT = range(3)


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def take_numbers(S, w, numbers, at):
    """The numbers of a variant, in the order of `numbers_for_kinematics`."""
    at = copied(numbers, at, S.frame_x)
    at = copied(numbers, at, S.frame_y)
    at = copied(numbers, at, S.frame_angle)
    at = copied(numbers, at, S.frame_cos)
    at = copied(numbers, at, S.frame_sin)
    copied(numbers, at, S.term_weight)
    at = copied(numbers, at, w.rows.weight)
    at = copied(numbers, at, S.row_period)
    at = copied(numbers, at, S.functions.numbers)
    at = copied(numbers, at, w.scale)
    at = copied(numbers, at, w.length)
    copied(numbers, at, w.q)
    return copied(numbers, at, w.new)


@kernel(inline=True)
def set_back(w, start, outputs):
    """The stepper as a new run has it."""
    for j in range(w.q.size):
        w.size[j] = 1.0 / w.scale[j]
        w.qd[j] = w.qdd[j] = w.jerk[j] = 0.0
        w.fall[j] = w.level[j] = 1.0
    for k in range(w.state.size):
        w.state[k] = 0.0
    w.state[TIME], w.state[SMALLEST], w.state[STOP] = start[0], start[1], outputs
    w.state[FALL], w.state[ALERT] = 1.0, NEARBY
    w.state[DISTANCE] = w.state[WANTED] = w.state[BUDGET] = FAR
    for k in range(3):
        w.worst[k] = 0.0
    for g in range(w.side.size):
        w.side[g] = 1.0


@kernel(inline=True)
def begins(c, w):
    """Velocities, accelerations, determinants in the initial pose; False unless it is regular and closed as drawn."""
    t = w.state[TIME]
    invoke(c.calls[SIDES], c.calls[STEP_CONTEXT], t, w.q, w.side)
    invoke(w.calls[SOLVE], w.calls[CONTEXT], t, w.new, w.answer)
    if w.answer[WHY] != DONE or not w.answer[PIVOT] >= SMALL_PIVOT:
        return False
    moved = 0.0
    for j in range(w.q.size):
        moved = max(moved, abs(w.new[j] - w.q[j]) / w.scale[j])
        w.q[j], w.qd[j], w.qdd[j], w.good_pivots[j] = w.new[j], w.new_d[j], w.new_dd[j], w.pivots[j]
    return moved <= AS_DRAWN * w.length[0]


@kernel_pointer
def run_variants(c, t, numbers, answers):
    """The motion of each variant, after its head."""
    w, each = c.w, HEAD + 3 * c.times.size * c.w.q.size
    at = 0
    for v in range(answers.size // each):
        first = v * each
        at = take_numbers(c.S, w, numbers, at)
        set_back(w, c.start, c.times.size)
        answers[first + COMPLETE] = 0.0
        if begins(c, w):
            invoke(c.calls[STEP], c.calls[STEP_CONTEXT], 0.0, c.times, answers[first + HEAD : first + each])
            if w.state[ENDED] == DONE and w.state[NEXT] == w.state[STOP]:
                answers[first + COMPLETE] = 1.0
        answers[first + STEPS], answers[first + REJECTIONS] = w.state[ACCEPTED], w.state[REJECTED]
        for k in range(3):
            answers[first + ERRORS + k] = w.worst[k]


# Runs -------------------------------------------------------------------------------------------------


def numbers_for_kinematics(numbers: SystemNumbers) -> Floats:
    """A row for each variant."""
    N = numbers
    parts = (
        N.frame_x,
        N.frame_y,
        N.frame_angle,
        N.frame_cos,
        N.frame_sin,
        N.term_weight,
        N.row_period,
        N.functions,
    )
    return np.concatenate([*parts, scale_of(N.sizes, N.arms), N.length[:, None], N.drawn_q], axis=1)


class ManyVariants:
    """A prepared run. It has one user at a time."""

    def __init__(self, recorded: RecordedSystem, times: Floats) -> None:
        """Raises NotRecorded where the first variant cannot be computed in groups, as drawn."""
        self.recorded, self.system = recorded, OwnSystem(recorded.system)
        start = begin_of(self.system, times)
        check_domains(self.system, times)
        solver = closed_as_drawn(self.system, start)
        if solver is None or not solver.groups.form.size:
            raise NotRecorded("the first variant does not close as drawn, or is not solved in groups")
        self.solver, self.times = solver, times
        self.skipped = int(start < times[0])
        outputs = np.concatenate([[start], times]) if self.skipped else times
        self.status = finished(outputs)
        self.method = method_in_words(recorded.system, solver.groups)
        self.outputs = outputs
        self.loop = run_variants.bind(self._context(solver, start, outputs))

    def _context(self, solver: Solver, start: float, outputs: Floats) -> PreparedRun:
        sides = choose_sides.bind_like(solver.called[0])
        calls = np.zeros(3, dtype=np.int64 if JIT else object)
        pairs: list[Any] = [sides.f, solver.step.f, solver.step.c]
        calls[:] = [int(each) for each in pairs] if JIT else pairs
        self.kept = sides, solver
        let_write(self.system.arrays)
        begin = np.array([start, smallest_step(outputs)])
        return PreparedRun(
            self.system.arrays, NO_PATTERN, solver.groups, solver.stepper, outputs, begin, calls
        )

    def results(
        self, numbers: SystemNumbers, models: Callable[[int], Callable[[], Model]]
    ) -> Iterator[Results | None]:
        """The results of each variant, None where `kinematics` has to compute it; `models` makes the Models."""
        rows = numbers_for_kinematics(numbers)
        each, n = HEAD + 3 * self.outputs.size * self.system.n, self.system.n
        block = max(1, BLOCK // each)
        for first in range(0, len(rows), block):
            some = np.ascontiguousarray(rows[first : first + block])
            answers = np.empty((len(some), each))
            self.loop(0.0, some, answers)
            for k, answer in enumerate(answers, first):
                complete = answer[COMPLETE] == 1.0
                motion = answer[HEAD:].reshape(3, self.outputs.size, n)
                system = self.recorded.system_of(numbers, k, models(k))
                yield self._results(system, answer, motion) if complete else None

    def _results(self, system: System, answer: Floats, motion: Floats) -> Results:
        count = int(answer[STEPS])
        return results_of(
            system, self.times.copy(), motion[:, self.skipped :], self.status, [], self.method,
            answer[ERRORS:HEAD], count, int(answer[REJECTIONS]),
        )  # fmt: skip
