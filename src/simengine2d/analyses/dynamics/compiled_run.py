"""A plain run whose motion is computed in one compiled call: what is prepared for it, and the results it gives.

Python makes results of the answer of `motion_loop`, and asks what a `Run` would have to say of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np

from ...coordinates.ode_problem import motion_in
from ...integrators import time_loop
from ...numerics.arrays import Floats
from ...numerics.kernel import JIT
from ...results.results import MotionArrays, Results
from ...system.system import System
from .lift_off import lift_off_notes
from .motion_loop import (
    BESIDE,
    COMPLETE,
    EVALUATED,
    HEAD,
    MONITORS,
    OUTPUTS,
    TAKEN,
    VIOLATIONS,
    OutputRoom,
    PreparedMotion,
    run_motion,
)
from .new_run import new_run, options_from
from .ode_stepper import EXPLICIT, STEPS_A_CHUNK, TIGHT, OdeStepper
from .options import DynamicsOptions
from .outputs import IN_A_STEP, merged, starts_of_sizes
from .row_checks import cautions, useless
from .run import Run, finished
from .stepper import DynamicsStepper

ROOM = 600  # outputs that follow the steps, at most, and as many beside peaks


class CompiledRun:
    """A stepper at the start of a motion, and the loop that takes it to the end. It has one user at a time."""

    def __init__(self, run: Run, asked: Mapping[str, Any]) -> None:
        """`run` is at its start, and `suits`."""
        assert isinstance(run.stepper, OdeStepper)
        self.run, self.asked, self.options, self.stepper = run, asked, run.options, run.stepper
        self.known, self.notes = cautions(self.stepper), run.reported()
        self.room = room_for(self.options)
        self.each = numbers_in_answer(run.system, self.room)
        self.settings = self.options.settings(self.options.times) | {"method": run.method}
        self.loop = run_motion.bind(prepared(self.stepper, self.options))

    def results(self, system: System, answer: Floats) -> Results | None:
        """Of what the loop has answered; None where a run would have something to do, or to say of its rows."""
        stepper, at = self.stepper, MONITORS
        if answer[COMPLETE] == 0.0:
            return None
        stepper.problem.monitors[:2] = answer[VIOLATIONS:MONITORS]
        for monitor in stepper.monitors:
            monitor[:] = answer[at : at + monitor.size]
            at += monitor.size
        if useless(stepper) or stepper.torn() or cautions(stepper) != self.known:
            return None
        motion = self._motion(answer)
        worst = dict(zip(("position", "velocity", "acceleration"), stepper.worst.tolist(), strict=True))
        counts = dict(zip(EXPLICIT, map(int, answer[TAKEN : EVALUATED + 1].tolist()), strict=True))
        later = cast(dict[str, Floats], LaterCheckpoint(system, self.asked))
        return Results(
            system,
            *motion,
            analysis="dynamics",
            status=finished(self.options.times[-1], motion.t.size),
            notes=[*self.notes, *lift_off_notes(system, motion.t, motion.lam)],
            residuals=worst,
            statistics=counts,
            settings=dict(self.settings),
            checkpoint=later,
        )

    def _motion(self, answer: Floats) -> MotionArrays:
        """Times, Q, Qd, Qdd and Lam; those beside peaks are put between the others."""
        system, room = self.run.system, self.room
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
        run = new_run(options_from(System(self.system.written), self.asked))
        return run.to_the_end(None).checkpoint

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __reduce__(self) -> Any:
        return dict, (self.arrays,)


def suits(stepper: DynamicsStepper) -> bool:
    """Whether nothing but the state changes on the way, and the steps watch over themselves."""
    if not isinstance(stepper, OdeStepper) or stepper.restartable is None or not stepper.watches:
        return False
    remembers = bool(stepper.switching) or bool(stepper.problem.memory) or stepper.family.turns.size > 0
    goes_on = stepper.options.times[-1] > stepper.start.assembly.t
    return goes_on and not remembers and not stepper.system.callbacks


def room_for(options: DynamicsOptions) -> int:
    """Outputs, at most."""
    return ROOM if options.spacing is not None else options.times.size


def numbers_in_answer(system: System, room: int) -> int:
    """Its head, and the outputs with their times, twice."""
    return HEAD + 2 * room * (1 + 3 * system.n + system.m)


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
        stepper.system.n, stepper.system.m,
    ]  # fmt: skip
    return PreparedMotion(
        integration.path, stepper.monitors, problem.tolerance,
        np.zeros(0) if rank is None else rank.state, stepper.first, np.array(limits, dtype=float), room,
        np.ascontiguousarray(first_and_last), _calls(stepper),
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
