"""A plain run of explicit steps in one compiled call: what is prepared for it, and the results it gives.

Python makes results of the answer of `motion_loop`, and asks what a `Run` would have to say of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...coordinates.equations import WANTED
from ...integrators import time_loop
from ...integrators.waiting_rows import waiting_rows
from ...numerics.arrays import Floats
from ...numerics.kernel import JIT
from ...numerics.kernel_pointer import BoundKernel
from ...results.results import Results
from ...system.system import System
from .motion_loop import (
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
from .ode_stepper import EXPLICIT, STEPS_A_CHUNK, TIGHT, OdeStepper
from .options import DynamicsOptions
from .outputs import IN_A_STEP, starts_of_sizes
from .row_checks import cautions, useless
from .run import Run
from .run_in_one_call import RunInOneCall, numbers_in_row
from .stepper import DynamicsStepper

ROOM = 1_200  # outputs that follow the steps, and those beside peaks, at most


class Judgment(NamedTuple):
    """What a run would say of an answer."""

    notes: list[str]
    worst: list[float]
    counts: dict[str, int]


class CompiledRun(RunInOneCall):
    """A stepper at the start of a motion, and the loop that takes it to the end."""

    head = HEAD

    def __init__(self, run: Run, asked: Mapping[str, Any], short: bool = False) -> None:
        """`run` is at its start, and `suits`; it is `short` if all of its steps can be stored."""
        super().__init__(run, asked)
        assert isinstance(run.stepper, OdeStepper)
        self.stepper, self.known = run.stepper, cautions(run.stepper)
        self.judged: tuple[bytes, Judgment | None] = (b"", None)
        self.each = numbers_in_answer(run.system, room_for(self.options))
        short = short or self.options.spacing is not None
        self.waiting = rows_that_wait(self.stepper) if short else None  # the loop knows its address alone
        self.loop = run_motion.bind(prepared(self.stepper, self.options, self.waiting))

    def results(self, system: System, answer: Floats) -> Results | None:
        """Of what the loop has answered; None where a run would have something to do, or to say of its rows."""
        judgment = self.judgment(answer)
        if judgment is None:
            return None
        return self.results_of(system, answer[HEAD:], int(answer[OUTPUTS]), *judgment)

    def judgment(self, answer: Floats) -> Judgment | None:
        """What a run would say; it follows from the head of an answer, which a repeated call has again."""
        head = answer[:HEAD].tobytes()
        if head != self.judged[0]:
            self.judged = head, self._judge(answer)
        return self.judged[1]

    def _judge(self, answer: Floats) -> Judgment | None:
        stepper, at = self.stepper, MONITORS
        if answer[COMPLETE] == 0.0:
            return None
        stepper.problem.monitors[:2] = answer[VIOLATIONS:MONITORS]
        for monitor in stepper.monitors:
            monitor[:] = answer[at : at + monitor.size]
            at += monitor.size
        if useless(stepper) or stepper.torn() or cautions(stepper) != self.known:
            return None
        counts = dict(zip(EXPLICIT, map(int, answer[TAKEN : EVALUATED + 1].tolist()), strict=True))
        return Judgment(self.notes, stepper.worst.tolist(), counts)


def suits(stepper: DynamicsStepper) -> bool:
    """Whether nothing but the state changes on the way, and the steps watch over themselves."""
    if not isinstance(stepper, OdeStepper) or stepper.restartable is None or not stepper.watches:
        return False
    remembers = bool(stepper.switching) or bool(stepper.problem.memory) or stepper.family.turns.size > 0
    goes_on = stepper.options.times[-1] > stepper.start.assembly.t
    return goes_on and not remembers and not stepper.system.callbacks


def steps_in_one_call(run: Run) -> int:
    """Fewer than that are taken at once; where outputs follow the steps, these are looked at more often."""
    return run.steps_in_window if run.options.spacing is not None else STEPS_A_CHUNK


def room_for(options: DynamicsOptions) -> int:
    """Outputs, at most."""
    return ROOM if options.spacing is not None else options.times.size


def numbers_in_answer(system: System, room: int) -> int:
    """Its head, and the outputs with their times."""
    return HEAD + room * numbers_in_row(system)


# The context of the loop ------------------------------------------------------------------------------


def prepared(
    stepper: OdeStepper, options: DynamicsOptions, waiting: BoundKernel | None = None
) -> PreparedMotion:
    """All that the loop works with; the arrays are those of the stepper. `waiting` writes the rows at the end."""
    integration, problem, rank = stepper.restartable, stepper.problem, stepper.rank
    assert integration is not None
    if problem.several is not None:
        problem.several.want()
    room, steps = _room_for(stepper, options)
    spacing = options.spacing
    first_and_last = options.times[:: options.times.size - 1] if spacing is not None else options.times
    limits = [
        stepper.start.assembly.t, integration.limit, stepper.in_steps, TIGHT * stepper.system.length,
        spacing or 0.0, steps, stepper.system.first_rows.size > 0,
        stepper.system.n, stepper.system.m, options.noticed,
    ]  # fmt: skip
    return PreparedMotion(
        integration.path, stepper.monitors, problem.tolerance,
        np.zeros(0) if rank is None else rank.state, stepper.first, np.array(limits, dtype=float), room,
        np.ascontiguousarray(first_and_last), _calls(stepper, waiting),
    )  # fmt: skip


def _room_for(stepper: OdeStepper, options: DynamicsOptions) -> tuple[OutputRoom, int]:
    """Room for the outputs, and the steps that a run takes before it looks at them, or at its progress."""
    system, path, starts = stepper.system, stepper.restartable.path, starts_of_sizes(stepper.system)  # type: ignore[union-attr]
    steps, most = STEPS_A_CHUNK - 1, options.times.size
    if options.spacing is not None:
        steps = min(steps, stepper.looks_back)
        most = options.times.size + IN_A_STEP * steps + 2
    wide = path.y.size + path.notes.size
    motion, more = np.zeros((2, 0 if options.spacing is None else ROOM * (3 * system.n + system.m)))
    room = OutputRoom(
        np.zeros(most), np.zeros(4 * most * (1 + wide)), np.zeros(6 * most), motion, more,
        starts.copy(), np.zeros(starts.size - 1), np.zeros((most, starts.size - 1)),
        np.zeros(path.y.size), np.zeros(0),
    )  # fmt: skip
    return room, steps


def _calls(stepper: OdeStepper, waiting: BoundKernel | None) -> Any:
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
        *(waiting[:2] if waiting else (0, 0)),
    ]
    calls = np.zeros(len(pairs), dtype=np.int64 if JIT else object)
    calls[:] = [int(each) for each in pairs] if JIT else pairs
    return calls


def rows_that_wait(stepper: OdeStepper) -> BoundKernel | None:
    """The rows of outputs when all steps are over, where several outputs are made at once."""
    several = stepper.problem.several
    if not JIT or several is None or several.slopes is None:
        return None
    several.want()
    if several.told[WANTED] == 0:
        return None
    return waiting_rows(stepper.restartable, several.slopes)  # type: ignore[arg-type]
