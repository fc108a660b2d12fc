"""Dynamics of variants that differ in masses, inertias, gravity, forces and first velocities: one prepared run for all.

Constraints and the drawn pose are those of the first variant, and so are the pose from which the motion starts, its
coordinates, and what is known of its rows. A variant that differs in more has no answer here, and `dynamics` has to
compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...coordinates.relative.recursive import Recursive
from ...coordinates.relative.tree_motion import BODY
from ...expressions.recorded import Mask, NotRecorded
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.elimination import UNEVEN, elimination_program, shares_with, unequal, uneven_with, unevenness
from ...system.evaluation import SMALL
from ...system.recorded_system import RecordedSystem, SystemNumbers
from ...system.renumbering import OwnSystem, let_write
from ...system.system import System
from ..assembly.assemble import closed_pose, consistent_velocities
from .compiled_run import CompiledRun, suits
from .initial_state import pace
from .motion_loop import COMPLETE, MotionNumbers, MotionVariants, run_motions
from .new_run import new_run, options_from
from .ode_stepper import OdeStepper
from .stepper import DynamicsStepper

BLOCK = 2_000_000  # numbers of motions at a time: 16 MB
MORE_ROOM = 8  # for a variant than the last one took, as its share

GEOMETRY = (
    "frame_x", "frame_y", "frame_angle", "term_weight", "row_period", "functions", "drawn_q",
)  # fmt: skip
"""Numbers that have to be those of the first variant."""


class ManyMotions:
    """A prepared run whose numbers are written. It has one user at a time."""

    def __init__(self, recorded: RecordedSystem, asked: Mapping[str, Any]) -> None:
        """Raises NotRecorded where the motion of the first variant is not one of joint coordinates that are shared."""
        self.recorded, run = recorded, new_run(options_from(recorded.system, asked))
        if not suits(run.stepper) or not _is_written(run.stepper):
            raise NotRecorded("the motion is not one of joint coordinates whose numbers can be written")
        self.prepared, like = CompiledRun(run, asked), SystemNumbers.of(recorded.system)
        self.geometry, self.drawn_qd = geometry_in(like), like.drawn_qd
        self.varied = {name for name, part in recorded.parts.items() if part.varied}
        stepper, self.masses = self.prepared.stepper, like.masses
        self.shares, self.unevenness = shares_with(recorded.system, like.masses), unevenness(recorded.system)
        self.first, self.atol = stepper.first.copy(), stepper.atol.copy()
        self.answers = np.empty((0, self.prepared.each))
        self.room = self.prepared.each
        motion = self.prepared.loop
        self.loop = run_motions.bind(MotionVariants(_numbers(self.prepared.stepper), motion.f, motion.c))

    # numbers

    def rows_of(self, numbers: SystemNumbers) -> tuple[Floats, Mask]:
        """A row for each variant, and for which of them it says all, in the order of `MotionNumbers`."""
        N, (shares, right) = numbers, self._masses(numbers)
        if not self.varied.isdisjoint(GEOMETRY):
            right &= _same(geometry_in(N), self.geometry)
        first, tolerances, same_words = self._starts(N)
        parts = (N.mass, N.inertia, N.gravity, N.load_weight, N.laws, N.masses, shares, tolerances, first)
        return np.concatenate(parts, axis=1), right & same_words

    def _masses(self, numbers: SystemNumbers) -> tuple[Floats, Mask]:
        """The shares of rows, and where masses are unequal as those of the first variant."""
        system, masses = self.recorded.system, numbers.masses
        if self.varied.isdisjoint(("mass", "inertia")):
            return self.shares[None].repeat(len(masses), axis=0), np.ones(len(masses), dtype=bool)
        with np.errstate(all="ignore"):
            ratio = masses / self.masses
            least, most = np.minimum.reduce(ratio, axis=1), np.maximum.reduce(ratio, axis=1)
            right = least > 0.0
            # no row can be more uneven than by the largest ratio over the smallest
            if not np.all(2.0 * self.unevenness * most < UNEVEN * least):
                right &= uneven_with(system, masses) == unequal(system)
            return shares_with(system, masses), right

    def _starts(self, numbers: SystemNumbers) -> tuple[Floats, Floats, Mask]:
        """First states, tolerances, and where no other changes of velocities have to be told.

        Gravity and the first velocities say how fast the motion becomes.
        """
        system, stepper, at = self.recorded.system, self.prepared.stepper, self.prepared.run.start.assembly
        count = len(numbers.gravity)
        first, tolerances = (each[None].repeat(count, axis=0) for each in (self.first, self.atol))
        same_words = np.ones(count, dtype=bool)
        if self.varied.isdisjoint(("gravity", "drawn_qd")):
            return first, tolerances, same_words
        rows, moves_alike = closed_pose(system, at.t)[1].rows, _same(numbers.drawn_qd, self.drawn_qd)
        for k, (alike, given, gravity) in enumerate(
            zip(moves_alike.tolist(), numbers.drawn_qd, numbers.gravity, strict=True)
        ):
            qd = at.qd
            if not alike:
                qd, changes = consistent_velocities(system, rows, given)
                first[k], same_words[k] = stepper.family.state_of(at.q, qd), changes == at.changed_velocities
            tolerances[k] = stepper.absolute(self.prepared.options, pace(system, qd, given, gravity))
        return first, tolerances, same_words

    # results

    def results(
        self, numbers: SystemNumbers, models: Callable[[int], Callable[[], Model]]
    ) -> Iterator[Results | None]:
        """The results of each variant, None where `dynamics` has to compute it; `models` makes the Models."""
        rows, right = self.rows_of(numbers)
        answers = self._answers(rows[right])
        for k, is_right in enumerate(right.tolist()):
            system = self.recorded.system_of(numbers, k, models(k))
            yield self._result(system, next(answers)) if is_right else None

    def _result(self, system: System, answer: Floats) -> Results | None:
        """The results keep an answer of their own that is nearly full."""
        filled = self.prepared.filled(system, answer)
        nearly_full = answer.base is None and answer.size <= filled + 2 * (filled // MORE_ROOM)
        return self.prepared.results(system, answer[:filled] if nearly_full else answer[:filled].copy())

    def _answers(self, rows: Floats) -> Iterator[Floats]:
        """Motion after motion; each holds until the next one is asked for, unless it is alone."""
        if len(rows) == 1:
            yield self._answer(rows)
            return
        most = max(1, BLOCK // self.prepared.each)
        if len(self.answers) < min(len(rows), most):
            self.answers = np.empty((min(len(rows), most), self.prepared.each))
        for first in range(0, len(rows), max(1, len(self.answers))):
            some = np.ascontiguousarray(rows[first : first + len(self.answers)])
            self.loop(self.prepared.each, some, self.answers[: len(some)])
            yield from self.answers[: len(some)]

    def _answer(self, row: Floats) -> Floats:
        """One alone, with little more room than the last one took; with all of it where that was not enough."""
        answer = np.empty(min(self.room, self.prepared.each))
        self.loop(answer.size, row, answer)
        if answer[COMPLETE] == 0.0 and answer.size < self.prepared.each:
            answer = np.empty(self.prepared.each)
            self.loop(answer.size, row, answer)
        if answer[COMPLETE] == 1.0:
            filled = self.prepared.filled(self.recorded.system, answer)
            self.room = filled + filled // MORE_ROOM
        return answer


def _is_written(stepper: DynamicsStepper) -> bool:
    """Whether masses and forces are the same arrays in all that its kernels work with."""
    assert isinstance(stepper, OdeStepper)
    shares = isinstance(stepper.system, OwnSystem) and isinstance(stepper.problem.rhs.kept[1], Recursive)
    # the rank of more rows may be judged by masses
    return shares and stepper.system.n <= SMALL


def geometry_in(numbers: SystemNumbers) -> Floats:
    """Those numbers, of one System or of many."""
    return np.concatenate([getattr(numbers, name) for name in GEOMETRY], axis=-1)


def _same(rows: Floats, row: Floats) -> Mask:
    """Which rows have all bytes of one."""
    return np.all(rows.view(np.int64) == row.view(np.int64), axis=1)


def _numbers(stepper: OdeStepper) -> MotionNumbers:
    system, recursion = stepper.system, stepper.problem.rhs.kept[1]
    S, L, d = system.arrays, system.load_arrays, elimination_program(system, False, False)
    let_write((S, L, d, recursion.T.constant))
    return MotionNumbers(
        S.mass, S.inertia, S.gravity, L.term_weight, L.laws.numbers, d.masses, d.shares,
        stepper.restartable.path.atol, stepper.first, recursion.gravity, recursion.T.constant,  # type: ignore[union-attr]
        np.ascontiguousarray(recursion.T.numbers[:, BODY]), d.template, d.diagonal[: system.n].copy(),
    )  # fmt: skip
