"""A plain run of a stiff motion in one compiled call: what is prepared for it, and the results it gives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from ...coordinates.reference_point.multipliers import note_rows
from ...integrators import loop_state, time_loop
from ...integrators.radau import RadauIntegration
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from .compiled_run import prepared
from .dae_stepper import DaeStepper
from .ode_stepper import EXPLICIT, OdeStepper
from .outputs import IN_A_STEP
from .row_checks import cautions, useless
from .run import Run
from .run_in_one_call import RunInOneCall, numbers_in_row
from .stiff_loop import (
    COMPLETE,
    EVALUATED,
    HEAD,
    IMPLICIT,
    OUTPUTS,
    STIFF_AT,
    TAKEN,
    StiffMotion,
    run_stiff_motion,
)
from .takeover import ACTIVE, stiff_from

MOST_STEPS = 500  # implicit ones for which there is room


class StiffRun(RunInOneCall):
    """The two steppers of a stiff motion, and the loop that takes it to the end."""

    head = HEAD
    needs_room = True

    def __init__(self, run: Run, asked: Mapping[str, Any], short: bool = False) -> None:
        """`run` is at its start, and its motion was stiff from some time on before."""
        at = run.start.assembly
        run.takeover.add_implicit(at.t, (at.q, at.qd))
        super().__init__(run, asked)
        first, second = self.steppers = run.steppers
        assert isinstance(first, OdeStepper) and isinstance(second, DaeStepper)
        self.room, self.each = room_for(run), numbers_of_stiff_run(run)
        self.loop = run_stiff_motion.bind(self.motion(first, second))

    def motion(self, first: OdeStepper, second: DaeStepper) -> StiffMotion:
        """All that the loop works with; the arrays are those of the steppers."""
        integration = second.integration
        assert isinstance(integration, RadauIntegration)
        march = integration.bound_to(time_loop.integrate, integration.equations)
        calls = (
            part
            for each in (integration.restarting, march, note_rows.bind_like(second.lam))
            for part in each[:2]
        )
        wide, early = numbers_in_row(first.system) - 1, prepared(first, self.options)
        limits = float(integration.path.state[loop_state.LIMIT]), float(MOST_STEPS)
        sizes = self.room, self.room * wide, early.r.times.size * wide, 1
        everything: tuple[Any, ...] = (
            early,
            integration.path,
            second.monitors,
            *calls,
            *limits,
            *map(np.zeros, sizes),
        )
        return StiffMotion(*everything)

    def results(self, system: System, answer: Floats) -> Results | None:
        """Of what the loop has answered; None where a run would have something to do, or to say of its rows."""
        if answer[COMPLETE] == 0.0:
            return None
        if any(useless(each) or each.torn() or cautions(each) or each.halved[0] for each in self.steppers):
            return None
        worst = reduce(np.maximum, [stepper.worst for stepper in self.steppers])
        explicit = map(int, answer[TAKEN : EVALUATED + 1].tolist())
        counts = dict(zip(EXPLICIT, explicit, strict=True)) | {"implicit steps": int(answer[IMPLICIT])}
        notes = [*self.notes, stiff_from(float(answer[STIFF_AT]), self.options.rtol)]
        return self.results_of(system, answer[HEAD:], int(answer[OUTPUTS]), notes, worst.tolist(), counts)


def turns_stiff(run: Run) -> bool:
    """Whether in a finished run, implicit steps of the same coordinates have taken over once and for all."""
    if len(run.steppers) == 1 or run.options.coordinates != "reference_point":
        return False
    first, second = run.steppers
    once = run.takeover.marks[ACTIVE] == 1.0 and not second.before and second.tried < MOST_STEPS
    assert isinstance(second, DaeStepper)
    return bool(once and second.rows_are_motions and not second.switching and first.rank is None)


def room_for(run: Run) -> int:
    """Outputs, at most, and some more, which are looked for but not written."""
    followed = run.options.spacing is not None
    return run.options.times.size + (IN_A_STEP * MOST_STEPS + 2 if followed else 0)


def numbers_of_stiff_run(run: Run) -> int:
    """In an answer."""
    return HEAD + room_for(run) * numbers_in_row(run.system)
