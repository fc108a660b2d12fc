"""Dynamics by implicit steps on differential-algebraic equations, of fixed size or with error control."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...coordinates.equations import OutputMultipliers
from ...coordinates.reference_point.multipliers import corrected_motion, multipliers_of_motion, note_rows
from ...coordinates.reference_point.sparse import SparseEquations
from ...formulations.index3 import Index3
from ...formulations.stage_iteration import StagedFormulation
from ...integrators import time_loop
from ...integrators.dae_integration import ConstrainedIntegration, dae_integration
from ...integrators.dae_step import MOST_HALVINGS
from ...integrators.esdirk import SHARE, SMALLEST, esdirk_integration
from ...integrators.integration import NONE
from ...integrators.radau_iia import RadauIIA
from ...methods import AlphaMethod
from ...numerics.kernel_pointer import BoundKernel
from ...system.system import SMALL
from .blow_up import BlowUp, cautions
from .general_run import WHY, GeneralRun
from .initial_state import InitialState
from .options import Task
from .run import History

Floats = NDArray[np.float64]

MANY, NOWHERE = 2_000, 1e-5  # so many steps in this part of the time asked for lead nowhere
FIRST_STEPS = 30  # in which the steps of esdirk grow
ROUNDED = (
    "Where masses or lengths differ much, rounding may be larger than the tolerance: take a larger rtol, or the "
    "default formulation."
)
CRAWLS = f"thousands of tiny steps led nowhere. {ROUNDED}"
HOPELESS = (
    f"the step does not converge, even when it is halved {MOST_HALVINGS} times. Take a smaller step, or look for a "
    "dead point or a force that jumps."
)


class DaeRun(GeneralRun):
    """Implicit steps of the integrator asked for; without one, error-controlled ones.

    These are two half steps of Radau IIA beside a whole one. On index 3 in reference-point coordinates, large systems
    take a diagonally implicit method instead, and so do stiff motions in a `state` that explicit steps have reached.
    """

    integration: ConstrainedIntegration

    def __init__(
        self, task: Task, start: InitialState, state: tuple[float, Floats, Floats] | None = None
    ) -> None:
        super().__init__(task, start)
        at = start.assembly
        t, q, qd = state or (at.t, at.q, at.qd)
        plain = isinstance(task.formulation, Index3) and task.coordinates == "reference_point"
        self.esdirk = plain and task.integrator is None and (state is not None or task.system.n > SMALL)
        self.integration = self.new_integration(t, self.coordinates_of(t, q, qd))
        self.find_multipliers(self.multipliers())
        notes = self.integration.path.notes
        self.Y = np.zeros((self.times.size, 2 * self.family.n + notes.size))
        self.mark = 0, t
        self.notes += [self.in_words(), *cautions(task, self.family.m)]
        self.blow_up = BlowUp()
        self.passing.begin_at(t)
        if self.rank is not None:
            self.passing.looking(t, self.integration.y, np.zeros(0))

    def in_words(self) -> str:
        if self.esdirk:
            return f"integrated by the implicit method esdirk4 with error control, rtol = {self.task.rtol:g}"
        return super().in_words()

    @property
    def bends(self) -> bool:
        return not isinstance(self.task.integrator, AlphaMethod)  # methods of order 2 do not notice

    @property
    def holds_velocities(self) -> bool:
        formulation = self.task.formulation
        return self.esdirk or not isinstance(formulation, StagedFormulation) or formulation.holds_velocities

    @property
    def follow_from_state(self) -> bool:
        return not (self.task.fixed or self.esdirk)

    def multipliers(self) -> OutputMultipliers | None:
        """Found by what the integration has laid out already, where its coordinates are those of the bodies."""
        equations = self.integration.dae.of_motion
        if not isinstance(equations, SparseEquations):
            return None
        find = corrected_motion if self.follow_from_state else multipliers_of_motion
        return OutputMultipliers(equations.bound(find), equations.context.monitors)

    # integrations

    def new_integration(self, t: float, y: Floats) -> ConstrainedIntegration:
        return self.esdirk_steps(t, y) if self.esdirk else self.steps_of_method(t, y)

    def steps_of_method(self, t: float, y: Floats) -> ConstrainedIntegration:
        task, n, method = self.task, self.family.n, self.task.integrator or RadauIIA()
        adaptive = task.integrator is None
        assert isinstance(task.formulation, StagedFormulation)
        return dae_integration(
            task.formulation,
            method,
            self.family,
            t,
            y[:n],
            y[n:],
            step=task.max_step if adaptive else task.step,
            rtol=task.rtol if adaptive else None,
            atol=None if task.atol is None or not adaptive else task.absolute(task.rtol, self.family.sizes),
            newton=task.newton,
            tolerance=task.tolerance,
            span=(t, self.system.domain[1]),
            broken=self.marked([self.family.turns]),
            watch=None if self.rank is None else self.rank.around,
            redundant=not self.start.regular,
            implied=self.start.implied,
        )

    def esdirk_steps(self, t: float, y: Floats) -> ConstrainedIntegration:
        task, local = self.task, max(SMALLEST, SHARE * self.task.rtol)
        return esdirk_integration(
            self.family,
            t,
            y,
            rtol=local,
            atol=task.absolute(local, self.system.sizes),
            first_step=1e-6 * min(1.0, float(self.times[-1] - t) or 1.0),
            longest=task.max_step,
            tolerance=task.tolerance,
            limit=self.system.domain[1],
            broken=self.marked([self.family.turns]),
            watch=None if self.rank is None else self.rank.around,
            redundant=not self.start.regular,
            implied=self.start.implied,
        )

    def go_on_at(self, t: float, q: Floats, qd: Floats) -> None:
        y = self.coordinates_of(t, q, qd)
        self.integration = self.new_integration(t, y)
        self.passing.looking(t, y, np.zeros(0))

    def go_on_in(self, times: Floats, history: History, done: int) -> None:
        """Fill the rows of another run."""
        self.times, self.history, self.done = times, history, done
        self.Y = np.zeros((len(history.Q), self.Y.shape[1]))

    # going on

    def refuse(self, why: int) -> None:
        """Steps with error control became short by themselves; fixed ones may have let the motion grow."""
        if self.task.fixed:
            self.blow_up.check(self)
            if why == time_loop.NO_CONVERGENCE:
                raise self.failure(HOPELESS)
        elif why in (time_loop.STEP_TOO_SMALL, time_loop.NO_CONVERGENCE):
            remedy = "" if self.esdirk else f" {ROUNDED}"
            raise self.failure(f"{WHY[time_loop.STEP_TOO_SMALL]}{remedy}")
        super().refuse(why)

    def advance(self, most_steps: int) -> None:
        super().advance(most_steps)
        steps, before = self.integration.steps, self.mark
        if steps < before[0] or steps >= before[0] + MANY:
            self.mark = steps, self.t
        if steps >= before[0] + MANY and self.t - before[1] < NOWHERE * self.span and not self.task.fixed:
            raise self.failure(CRAWLS)

    @property
    def step_ahead(self) -> float:
        if not self.esdirk:
            return super().step_ahead
        # the first steps are shorter than any need be, and outputs would keep them so
        return float(self.integration.path.state[time_loop.STEP]) if self.tried > FIRST_STEPS else 0.0

    @property
    def outputs_per_step(self) -> float:
        # steps of esdirk end at the outputs, and should not become much shorter
        return 0.5 if self.esdirk else super().outputs_per_step

    @property
    def can_go_back(self) -> bool:
        return not self.esdirk

    def end_at(self, t: float) -> None:
        """Inside a step, accelerations are those of the equations of motion."""
        super().end_at(t)
        n = self.family.n
        if self.passing.motion_at(t) is None:
            row = self.Y[self.done - 1]
            row[2 * n : 3 * n + self.family.m] = np.concatenate(
                self.integration.dae.accelerations(t, row[: 2 * n])
            )
            self.recover(self.done - 1, self.done)

    # outputs

    def recover(self, first: int, stop: int) -> None:
        if first == stop:
            return
        times, Y = self.times[first:stop], self.Y[first:stop]
        if self.rows_are_motions:
            self.take_rows(first, times, Y)
            return
        turns = self.family.turns.copy()
        recovered = self.recoverer(NONE, NONE, self.integration.path.notes)
        self.keep(first, recovered(times, Y, self.integration.accelerations(times, Y)[0]))
        self.family.turns[:] = turns

    @property
    def rows_are_motions(self) -> bool:
        """Whether rows (z, zd, zdd, lam) are those of the bodies, and lam is unique."""
        ends_at_outputs = self.integration.rules.kind != time_loop.ADAPTIVE
        return ends_at_outputs and self.integration.dae.are_of_bodies and self.start.regular

    def take_rows(self, first: int, times: Floats, Y: Floats) -> None:
        """Rows of the history, and their errors."""
        n, m = self.system.n, self.system.m
        parts = (Y[:, :n], Y[:, n : 2 * n], Y[:, 2 * n : 3 * n], Y[:, 3 * n : 3 * n + m])
        for array, rows in zip(self.history, parts, strict=True):
            array[first : first + len(rows)] = rows
        self.noting(float(times.size), np.concatenate([times, Y.reshape(-1)]), np.zeros(0))

    @property
    def noting(self) -> BoundKernel:
        return note_rows.bind_like(self.lam)

    # what is reported and kept

    @property
    def halved(self) -> tuple[int, list[float]]:
        return self.integration.halved

    @property
    def worst(self) -> Floats:
        return self.monitors.errors

    def kept(self) -> dict[str, Floats]:
        return self.integration.kept() | self.errors()
