"""Implicit steps on differential-algebraic equations, of fixed size or with error control."""

from __future__ import annotations

from itertools import pairwise
from typing import final

import numpy as np

from ...coordinates.base import family_of
from ...coordinates.equations import OutputMultipliers
from ...coordinates.ode_problem import Recoverer
from ...coordinates.reference_point.multipliers import corrected_motion, multipliers_of_motion, note_rows
from ...coordinates.reference_point.sparse import SparseEquations
from ...formulations.index3 import Index3
from ...formulations.stage_iteration import StagedFormulation
from ...integrators import loop_state
from ...integrators.dae_integration import ConstrainedIntegration, dae_integration
from ...integrators.dae_step import MOST_HALVINGS
from ...integrators.implicit_runge_kutta import RadauIIA
from ...integrators.integration import NONE
from ...integrators.radau import (
    RadauIntegration,
    local_tolerance,
    order_for,
    radau_integration,
    stages_for,
)
from ...numerics.arrays import Floats
from ...system.evaluation import SMALL
from .blow_up import cautions
from .initial_state import InitialState
from .options import DynamicsOptions
from .outputs import History, Outputs
from .stepper import MOST_ROOM, WHY, DynamicsStepper

MANY, NOWHERE = 2_000, 1e-5  # so many steps in this part of the time asked for lead nowhere
SHORT = 0.1  # of the longest step: the first one after a restart is not shorter
ROUNDED = (
    "Where masses or lengths differ much, rounding may be larger than the tolerance: take a larger rtol, or the "
    "default formulation."
)
CRAWLS = f"thousands of tiny steps led nowhere. {ROUNDED}"
HOPELESS = (
    f"the step does not converge, even when it is halved {MOST_HALVINGS} times. Take a smaller step, or look for a "
    "dead point or a force that jumps."
)


def step_kind(options: DynamicsOptions) -> tuple[str, int, float, float | None]:
    """Runs that agree in this can use the same implicit steps for stiff motions, one after another."""
    return "stiff", stages_for(options.rtol), options.t0, options.max_step


def radau_in_words(rtol: float) -> str:
    return f"Radau IIA of order {order_for(rtol)}"


@final
class DaeStepper(DynamicsStepper):
    """Implicit steps of the integrator asked for; without one, error-controlled ones.

    These are two half steps of Radau IIA beside a whole one. On index 3 in reference-point coordinates, large systems
    take a diagonally implicit method instead, and so do stiff motions in a `state` that explicit steps have reached.
    """

    integration: ConstrainedIntegration

    @classmethod
    def taking_over(
        cls, options: DynamicsOptions, start: InitialState, state: tuple[float, Floats, Floats]
    ) -> DaeStepper:
        """Implicit steps from a state on: by a stepper that an earlier run has left, or a new one."""
        idle: DaeStepper | None = options.system.idle.take(step_kind(options))
        if idle is None:
            return cls(options, start, state)
        idle.begin(options, *state)
        return idle

    def __init__(
        self,
        options: DynamicsOptions,
        start: InitialState,
        state: tuple[float, Floats, Floats] | None = None,
    ) -> None:
        family = family_of(options.coordinates, options.system, start.assembly.q)
        super().__init__(options, start, family)
        formulation, at = options.formulation, start.assembly
        assert isinstance(formulation, StagedFormulation)
        plain = isinstance(formulation, Index3) and options.coordinates == "reference_point"
        stiff = state is not None or self.system.n > SMALL
        self.formulation, self.radau = formulation, plain and options.integrator is None and stiff
        self.method = options.integrator or RadauIIA()
        self.follows_from_state = not (options.fixed or self.radau)
        self.holds_velocities = self.radau or formulation.holds_velocities
        if options.fixed:
            self.why = WHY | {loop_state.NO_CONVERGENCE: HOPELESS}
        else:  # steps became short by themselves
            short = WHY[loop_state.STEP_TOO_SMALL] + ("" if self.radau else f" {ROUNDED}")
            self.why = WHY | {loop_state.STEP_TOO_SMALL: short, loop_state.NO_CONVERGENCE: short}
        self.words = [self.named(options), *cautions(options, self.family.m)]
        t, q, qd = state or (at.t, at.q, at.qd)
        self.integrate_from(t, self.coordinates_of(t, q, qd))
        self.lam, self.monitors = self.multipliers()
        self.Y = np.zeros((0, 2 * self.family.n + self.integration.path.notes.size))

    def named(self, options: DynamicsOptions) -> str:
        """The method in words."""
        if not self.radau:
            return options.in_words
        method = f"the implicit method {radau_in_words(options.rtol)}"
        return f"integrated by {method} with error control, rtol = {options.rtol:g}"

    def begin(self, options: DynamicsOptions, t: float, q: Floats, qd: Floats) -> None:
        """The same as when it was new, with other tolerances."""
        self.options, self.words[0] = options, self.named(options)
        self.doubtful, self.before, monitors = False, {}, self.monitors
        monitors.errors[:] = monitors.lost[:] = monitors.changed[:] = 0.0
        monitors.singular_at[:] = np.nan
        if self.rank is not None:
            self.rank.begin()
        self.integrate_from(t, self.coordinates_of(t, q, qd))

    def put_away(self) -> None:
        """Leave this stepper to the next run, without the rows of this one where they are many."""
        if isinstance(self.integration, RadauIntegration) and self.integration.restartable:
            if self.Y.nbytes > MOST_ROOM:
                self.Y = self.Y[:0].copy()
            self.options.system.idle.give(step_kind(self.options), self)

    def multipliers(self) -> OutputMultipliers:
        """Found by what the integration has laid out already, where its coordinates are those of the bodies."""
        equations = self.integration.dae.of_motion
        if not isinstance(equations, SparseEquations):
            return self.multipliers_of_bodies()
        find = corrected_motion if self.follows_from_state else multipliers_of_motion
        return OutputMultipliers(equations.bound(find), equations.context.monitors)

    # integrations

    def restart_at(self, t: float, q: Floats, qd: Floats) -> None:
        state = self.integration.path.state
        # steps may have collapsed before a pose
        step = max(float(state[loop_state.STEP]), SHORT * float(state[loop_state.LONGEST]))
        self.integrate_from(t, self.coordinates_of(t, q, qd))
        if self.radau:
            self.begin_with(step)

    def renew(self, t: float) -> None:
        y = self.Y[0, : 2 * self.family.n].copy()
        self.before = {}
        if self.rank is not None:
            self.rank.begin()
        self.integrate_from(t, y)

    def fill_row(self, t: float, motion: History) -> None:
        turns = self.family.turns.copy()
        filled = self.coordinates_of(t, motion.Q, motion.Qd)
        self.Y[0, : filled.size] = filled
        self.family.turns[:] = turns

    def integrate_from(self, t: float, y: Floats) -> None:
        known = self.__dict__.get("integration")
        if isinstance(known, RadauIntegration) and known.restartable:
            known.restart(t, y, *self.tolerances)
        else:
            self.integration = self.radau_steps(t, y) if self.radau else self.steps_of_method(t, y)
        self.mark = 0, t
        if self.rank is not None:
            self.rank.looking(t, self.integration.y, np.zeros(0))

    def steps_of_method(self, t: float, y: Floats) -> ConstrainedIntegration:
        options, n, adaptive = self.options, self.family.n, self.options.integrator is None
        given = (
            None
            if options.atol is None or not adaptive
            else options.absolute(options.rtol, self.family.sizes)
        )
        return dae_integration(
            self.formulation,
            self.method,
            self.family,
            t,
            y[:n],
            y[n:],
            step=options.max_step if adaptive else options.step,
            rtol=options.rtol if adaptive else None,
            atol=given,
            newton=options.newton,
            tolerance=options.tolerance,
            span=(t, self.system.domain[1]),
            broken=self.breaks(),
            watch=None if self.rank is None else self.rank.around,
            alarm=None if self.rank is None else self.rank.alarm,
            redundant=not self.start.regular,
            implied=self.start.implied,
        )

    def radau_steps(self, t: float, y: Floats) -> ConstrainedIntegration:
        return radau_integration(
            self.family,
            t,
            y,
            *self.tolerances,
            stages=stages_for(self.options.rtol),
            longest=self.options.max_step,
            limit=self.system.domain[1],
            broken=self.breaks(),
            watch=None if self.rank is None else self.rank.around,
            alarm=None if self.rank is None else self.rank.alarm,
            redundant=not self.start.regular,
            implied=self.start.implied,
        )

    @property
    def tolerances(self) -> tuple[float, Floats]:
        """Of a step of Radau's method."""
        local = local_tolerance(self.options.rtol)
        return local, np.tile(self.options.absolute(local, self.system.sizes), 2)

    # steps

    def leads_nowhere(self, outputs: Outputs) -> str | None:
        return CRAWLS if self.crawls(outputs) and not self.options.fixed else None

    def crawls(self, outputs: Outputs) -> bool:
        """Whether the last steps led nowhere, if there were many."""
        steps, (before, t) = self.integration.steps, self.mark
        if steps < before + MANY:
            return False
        self.mark = steps, self.integration.t
        span = float(outputs.times[-1]) - self.start.assembly.t
        return self.integration.t - t < NOWHERE * span

    # outputs

    def recover(self, outputs: Outputs, first: int, inside: bool) -> None:
        if first == outputs.done:
            return
        times, Y = outputs.times[first : outputs.done], self.Y[first : outputs.done]
        if inside and not self.radau:
            self.accelerate(times[-1], Y[-1])
        if self.rows_are_motions:
            n, m = self.system.n, self.system.m
            rows = [Y[:, i:j] for i, j in pairwise((0, n, 2 * n, 3 * n, 3 * n + m))]
            outputs.write(first, rows if first else [part.copy() for part in rows])
            if m > 0:
                note_rows.bind_like(self.lam)(0.0, Y.reshape(-1), times)
            return
        outputs.write(first, self.motion_at(times, Y))

    def motion_at(self, times: Floats, Y: Floats) -> list[Floats]:
        turns = self.family.turns.copy()
        pointers = NONE, NONE, self.family.to_bodies, self.lam
        sizes = self.family.n, self.system.n, self.system.m
        recovered = Recoverer(pointers, sizes, self.integration.path.notes, self.family.turns)
        motion = recovered(times, Y, self.integration.accelerations(times, Y)[0])
        self.family.turns[:] = turns
        return motion

    def accelerate(self, t: float, row: Floats) -> None:
        """Inside a step, accelerations are those of the equations of motion."""
        n = self.family.n
        row[2 * n : 3 * n + self.family.m] = np.concatenate(
            self.integration.dae.accelerations(t, row[: 2 * n])
        )

    @property
    def rows_are_motions(self) -> bool:
        """Whether rows (z, zd, zdd, lam) are those of the bodies, and lam is unique."""
        known = self.radau or self.integration.rules.kind != loop_state.ADAPTIVE
        return known and self.integration.dae.are_of_bodies and self.start.regular

    @property
    def halved(self) -> tuple[int, list[float]]:
        return self.integration.halved
