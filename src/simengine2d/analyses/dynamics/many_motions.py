"""Dynamics of variants that differ in masses, inertias, gravity and forces: one prepared stepper for all of them.

Constraints and the drawn pose are those of the first variant, and so are the start of the motion, its coordinates, and
what is known of its rows. A variant that differs in more has no answer here, and `dynamics` has to compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np

from ...coordinates.ode_problem import motion_in
from ...coordinates.relative.recursive import Recursive
from ...coordinates.relative.tree_motion import BODY
from ...expressions.recorded import Mask, NotRecorded
from ...integrators import time_loop
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.kernel import JIT
from ...results.results import MotionArrays, Results
from ...system.elimination import elimination_program, shares_with, unequal, uneven_with
from ...system.evaluation import SMALL
from ...system.recorded_system import RecordedSystem, SystemNumbers
from ...system.renumbering import OwnSystem, let_write
from ...system.system import System
from ..times import output_times
from .dynamics import dynamics, new_run, options_of
from .initial_state import pace
from .motion_loop import (
    BESIDE,
    COMPLETE,
    EVALUATED,
    HEAD,
    MONITORS,
    OUTPUTS,
    REFUSED,
    TAKEN,
    VIOLATIONS,
    MotionNumbers,
    OutputRoom,
    PreparedMotion,
    run_motions,
)
from .ode_stepper import EXPLICIT, STEPS_A_CHUNK, TIGHT, OdeStepper
from .options import DynamicsOptions
from .outputs import IN_A_STEP, merged, starts_of_sizes
from .row_checks import cautions, useless
from .run import finished

OPTIONS = "t_end", "step", "t_eval", "rtol", "atol", "max_step"
"""Those that a batch knows."""
ROOM = 600  # outputs that follow the steps, at most, and as many beside peaks
BLOCK = 2_000_000  # numbers of motions at a time: 16 MB

GEOMETRY = (
    "frame_x", "frame_y", "frame_angle", "term_weight", "row_period", "functions", "drawn_q", "drawn_qd",
)  # fmt: skip
"""Numbers that have to be those of the first variant."""


class ManyMotions:
    """A prepared stepper. It has one user at a time."""

    def __init__(self, recorded: RecordedSystem, asked: Mapping[str, Any]) -> None:
        """Raises NotRecorded where the motion of the first variant is not one of joint coordinates that are shared."""
        self.recorded, self.asked = recorded, asked
        self.options = options_from(recorded.system, asked)
        self.run = new_run(self.options)
        stepper = self.run.stepper
        if not isinstance(stepper, OdeStepper) or not _is_plain(stepper):
            raise NotRecorded("the motion is not one of joint coordinates whose numbers can be written")
        self.stepper, self.known = stepper, cautions(stepper)
        self.notes, like = self.run.reported(), SystemNumbers.of(recorded.system)
        self.geometry, self.gravity = geometry_in(like), like.gravity
        self.room = ROOM if self.options.spacing is not None else self.options.times.size
        system = recorded.system
        self.each = HEAD + 2 * self.room * (1 + 3 * system.n + system.m)
        self.answers = np.empty((0, self.each))
        self.settings = self.options.settings(self.options.times) | {"method": self.run.method}
        self.loop = run_motions.bind(prepared(stepper, self.options))

    # numbers

    def rows_of(self, numbers: SystemNumbers) -> tuple[Floats, Mask]:
        """A row for each variant, and for which of them it says all, in the order of `MotionNumbers`."""
        N, system = numbers, self.recorded.system
        right = _same(geometry_in(N), self.geometry) & np.all(N.masses > 0.0, axis=1)
        with np.errstate(all="ignore"):
            right &= uneven_with(system, N.masses) == unequal(system)
            shares = shares_with(system, N.masses)
        return np.concatenate(
            [N.mass, N.inertia, N.gravity, N.load_weight, N.laws, N.masses, shares, self._tolerances(N)],
            axis=1,
        ), right

    def _tolerances(self, numbers: SystemNumbers) -> Floats:
        """Gravity says how fast the motion becomes."""
        stepper, qd, gravity = self.stepper, self.run.start.assembly.qd, numbers.gravity
        rows = np.tile(stepper.atol, (len(gravity), 1))
        for k in np.flatnonzero(~_same(gravity, self.gravity)).tolist():
            rows[k] = stepper.absolute(self.options, pace(self.recorded.system, qd, gravity[k]))
        return rows

    # results

    def results(
        self, numbers: SystemNumbers, models: Callable[[int], Callable[[], Model]]
    ) -> Iterator[Results | None]:
        """The results of each variant, None where `dynamics` has to compute it; `models` makes the Models."""
        rows, right = self.rows_of(numbers)
        answers = self._answers(rows[right])
        for k, is_right in enumerate(right.tolist()):
            system = self.recorded.system_of(numbers, k, models(k))
            yield self._results(system, next(answers)) if is_right else None

    def _answers(self, rows: Floats) -> Iterator[Floats]:
        """Motion after motion; each holds until the next one is asked for."""
        most = max(1, BLOCK // self.each)
        if len(self.answers) < min(len(rows), most):
            self.answers = np.empty((min(len(rows), most), self.each))
        for first in range(0, len(rows), max(1, len(self.answers))):
            some = np.ascontiguousarray(rows[first : first + len(self.answers)])
            self.loop(self.room, some, self.answers[: len(some)])
            yield from self.answers[: len(some)]

    def _results(self, system: System, answer: Floats) -> Results | None:
        """None also where a run would have something to say of its rows."""
        stepper, at = self.stepper, MONITORS
        if answer[COMPLETE] == 0.0:
            return None
        stepper.problem.monitors[:2] = answer[VIOLATIONS:MONITORS]
        for monitor in stepper.monitors:
            monitor[:] = answer[at : at + monitor.size]
            at += monitor.size
        if useless(stepper) or stepper.torn() or cautions(stepper) != self.known:
            return None
        count = int(answer[OUTPUTS] + answer[BESIDE])
        worst = dict(zip(("position", "velocity", "acceleration"), stepper.worst.tolist(), strict=True))
        counts = dict(zip(EXPLICIT, map(int, answer[[TAKEN, REFUSED, EVALUATED]]), strict=True))
        later = cast(dict[str, Floats], LaterCheckpoint(system, self.asked))
        return Results(
            system,
            *self._motion(answer),
            analysis="dynamics",
            status=finished(self.options.times[-1], count),
            notes=list(self.notes),
            residuals=worst,
            statistics=counts,
            settings=dict(self.settings),
            checkpoint=later,
        )

    def _motion(self, answer: Floats) -> MotionArrays:
        """Times, Q, Qd, Qdd and Lam; those beside peaks are put between the others."""
        system, room = self.recorded.system, self.room
        count, beside = int(answer[OUTPUTS]), int(answer[BESIDE])
        wide = 3 * system.n + system.m
        parts = [
            (answer[at : at + k], motion_in(answer[at + room : at + room + k * wide], k, system.n, system.m))
            for at, k in ((HEAD, count), (HEAD + room * (1 + wide), beside))
        ]
        (times, motion), (more_times, more) = parts
        if beside:
            return MotionArrays(*merged(times, motion, more_times, more))
        return MotionArrays(times.copy(), *(part.copy() for part in motion))


class LaterCheckpoint(Mapping[str, Floats]):
    """The state of an integration at its end, which is computed again where somebody goes on from there."""

    def __init__(self, system: System, asked: Mapping[str, Any]) -> None:
        self.system, self.asked = system, asked

    @cached_property
    def arrays(self) -> dict[str, Floats]:
        return dynamics(System(self.system.written), **self.asked).checkpoint

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __reduce__(self) -> Any:
        return dict, (self.arrays,)


def options_from(system: System, asked: Mapping[str, Any]) -> DynamicsOptions:
    """What `dynamics` is asked for, as it reads it."""
    t_end, step, t_eval = (asked.get(name) for name in OPTIONS[:3])
    times = output_times(t_end, step, t_eval, "dynamics")
    spacing = float(times[1]) if step is None and t_eval is None else None
    rtol, atol, max_step = asked.get("rtol", 1e-6), asked.get("atol"), asked.get("max_step")
    return options_of(system, times, step, None, None, None, rtol, atol, (), max_step, spacing)


def _is_plain(stepper: OdeStepper) -> bool:
    """Whether masses and forces are the same arrays in all that its kernels work with, and nothing else changes."""
    integration, start = stepper.restartable, stepper.start
    goes_on = integration is not None and stepper.watches and stepper.options.times[-1] > start.assembly.t
    remembers = bool(stepper.switching) or bool(stepper.problem.memory) or stepper.family.turns.size > 0
    shares = isinstance(stepper.system, OwnSystem) and isinstance(stepper.problem.rhs.kept[1], Recursive)
    # the rank of more rows may be judged by masses
    return goes_on and shares and not remembers and stepper.system.n <= SMALL


def geometry_in(numbers: SystemNumbers) -> Floats:
    """Those numbers, of one System or of many."""
    return np.concatenate([getattr(numbers, name) for name in GEOMETRY], axis=-1)


def _same(rows: Floats, row: Floats) -> Mask:
    """Which rows have all bytes of one."""
    return np.all(rows.view(np.int64) == row.view(np.int64), axis=1)


# The context of the loop ------------------------------------------------------------------------------


def prepared(stepper: OdeStepper, options: DynamicsOptions) -> PreparedMotion:
    """All that the loop works with; the arrays are those of the stepper."""
    integration, problem, rank = stepper.restartable, stepper.problem, stepper.rank
    assert integration is not None
    room, steps = _room_for(stepper, options)
    spacing = options.spacing
    first_and_last = options.times[:: options.times.size - 1] if spacing is not None else options.times
    limits = [
        stepper.start.assembly.t, integration.limit, stepper.in_steps, TIGHT * stepper.system.length,
        spacing or 0.0, steps, stepper.system.first_rows.size > 0,
    ]  # fmt: skip
    return PreparedMotion(
        _numbers(stepper), integration.path, stepper.monitors, problem.tolerance,
        np.zeros(0) if rank is None else rank.state, stepper.first, np.array(limits, dtype=float), room,
        np.ascontiguousarray(first_and_last), _calls(stepper),
    )  # fmt: skip


def _numbers(stepper: OdeStepper) -> MotionNumbers:
    system, recursion = stepper.system, stepper.problem.rhs.kept[1]
    S, L, d = system.arrays, system.load_arrays, elimination_program(system, False, False)
    let_write((S, L, d, recursion.T.constant))
    return MotionNumbers(
        S.mass, S.inertia, S.gravity, L.term_weight, L.laws.numbers, d.masses, d.shares,
        stepper.restartable.path.atol, recursion.gravity, recursion.T.constant,  # type: ignore[union-attr]
        np.ascontiguousarray(recursion.T.numbers[:, BODY]), d.template, d.diagonal[: system.n].copy(),
    )  # fmt: skip


def _room_for(stepper: OdeStepper, options: DynamicsOptions) -> tuple[OutputRoom, int]:
    """Room for the outputs, and the steps that a run takes before it looks at them, or at its progress."""
    system, path, starts = stepper.system, stepper.restartable.path, starts_of_sizes(stepper.system)  # type: ignore[union-attr]
    steps, most = STEPS_A_CHUNK - 1, options.times.size
    if options.spacing is not None:
        steps = min(steps, stepper.looks_back)
        most = options.times.size + IN_A_STEP * steps + 2
    wide, columns = path.y.size + path.notes.size, system.m if system.first_rows.size else system.n
    room = OutputRoom(
        np.zeros(most), np.zeros(4 * most * wide), np.zeros(4 * most * (1 + wide)), np.zeros(6 * most),
        np.zeros((most, columns)), starts.copy(), np.zeros(starts.size - 1), np.zeros((most, starts.size - 1)),
        np.zeros(path.y.size), np.zeros(0),
    )  # fmt: skip
    return room, steps


def _calls(stepper: OdeStepper) -> Any:
    """The kernels of the loop; see `motion_loop`."""
    integration, watch = stepper.restartable, None if stepper.rank is None else stepper.rank.looking
    assert integration is not None
    march, back = (
        integration.bound_to(each, integration.equations)
        for each in (time_loop.integrate, time_loop.look_back)
    )
    finish, recover = stepper.finish, stepper.recovered.bound
    pairs: list[Any] = [
        march.f,
        back.f,
        march.c,
        *finish[:2],
        *recover[:2],
        *(watch[:2] if watch else (0, 0)),
    ]
    calls = np.zeros(len(pairs), dtype=np.int64 if JIT else object)
    calls[:] = [int(each) for each in pairs] if JIT else pairs
    return calls
