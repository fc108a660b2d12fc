"""A plain run of a stiff motion in one compiled call: what is prepared for it, and the results it gives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, cast

import numpy as np

from ...coordinates.ode_problem import motion_in
from ...coordinates.reference_point.multipliers import note_rows
from ...integrators import loop_state, time_loop
from ...integrators.radau import RadauIntegration
from ...numerics.arrays import Floats
from ...results.results import MotionArrays, Results
from ...system.system import System
from .compiled_run import LaterCheckpoint, prepared
from .dae_stepper import DaeStepper
from .lift_off import lift_off_notes
from .ode_stepper import EXPLICIT, OdeStepper
from .outputs import IN_A_STEP
from .row_checks import cautions, useless
from .run import Run, finished
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


class StiffRun:
    """The two steppers of a stiff motion, and the loop that takes it to the end. It has one user at a time."""

    def __init__(self, run: Run, asked: Mapping[str, Any]) -> None:
        """`run` is at its start, and its motion was stiff from some time on before."""
        at = run.start.assembly
        run.takeover.add_implicit(at.t, (at.q, at.qd))
        first, second = run.steppers
        assert isinstance(first, OdeStepper) and isinstance(second, DaeStepper)
        self.run, self.asked, self.options, self.steppers = run, asked, run.options, (first, second)
        self.notes = run.reported()
        self.room = room_for(run)
        self.each = numbers_of_stiff_run(run)
        self.settings = self.options.settings(self.options.times) | {"method": run.method}
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
        outputs = int(answer[OUTPUTS])
        motion = answer[HEAD : HEAD + outputs * numbers_in_row(system)].copy()
        rows = MotionArrays(motion[:outputs], *motion_in(motion[outputs:], outputs, system.n, system.m))
        worst = reduce(np.maximum, [stepper.worst for stepper in self.steppers])
        counts = dict(zip(EXPLICIT, map(int, answer[TAKEN : EVALUATED + 1].tolist()), strict=True))
        stiff = stiff_from(float(answer[STIFF_AT]), self.options.rtol)
        later = cast(dict[str, Floats], LaterCheckpoint(system, self.asked))
        return Results(
            system,
            *rows,
            analysis="dynamics",
            status=finished(self.options.times[-1], outputs),
            notes=[*self.notes, stiff, *lift_off_notes(system, rows.t, rows.lam)],
            residuals=dict(zip(("position", "velocity", "acceleration"), worst.tolist(), strict=True)),
            statistics=counts | {"implicit steps": int(answer[IMPLICIT])},
            settings=dict(self.settings),
            checkpoint=later,
        )


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


def numbers_in_row(system: System) -> int:
    """An output and its time."""
    return 1 + 3 * system.n + system.m
