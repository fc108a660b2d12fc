"""Dynamics in any coordinates, by any formulation and any integrator that fit together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...coordinates import family_named
from ...coordinates.equations import Configuration, OutputMultipliers
from ...coordinates.ode_problem import OdeFormulation, Recoverer
from ...coordinates.reference_point.multipliers import multipliers_of_bodies
from ...errors import Caution
from ...expressions.breaks import Break
from ...integrators import time_loop
from ...integrators.integration import Broken, CompiledIntegration, Integration, OdeMethod
from ...integrators.ivp.inputs import tolerances
from ...integrators.radau_iia import RadauIIA
from ...integrators.runge_kutta import RungeKutta
from ...integrators.scipy_methods import ScipyIntegration
from ...numerics.kernel_pointer import BoundKernel
from ...results.switching import Switching
from ...system.elimination import lengths_per_row
from ..digits import (
    APART,
    BROKEN,
    OPEN,
    REPORTED,
    WRONG,
    far_from_the_origin,
    lost_digits,
    open_joints,
    soft_joints,
    wrong_steps,
)
from .initial_state import InitialState
from .options import Task
from .passing import Passing
from .run import History, refill
from .step_workspace import StepKind, StepWorkspace
from .watched_run import WatchedRun

Floats = NDArray[np.float64]

FIXED = 1e-10  # assumed local error of fixed steps, for the constraints
TIGHT = 1e-14  # to which outputs satisfy the constraints, relative to a length of the mechanism

CHATTER = (
    "thousands of tiny steps led nowhere. Look for a force that jumps back and forth, such as sign(v) at rest; "
    "a steep smooth law such as tanh(v/0.001) can be integrated."
)
WHY = {
    time_loop.STEP_TOO_SMALL: "the step became too small. Look for a singular pose, or a force that jumps or grows "
    "without bound.",
    time_loop.TOO_STIFF: "the motion is stiff. Take an implicit integrator, such as tr_bdf2.",
    time_loop.NO_CONVERGENCE: "the iteration of a step did not converge. Take a smaller step.",
    time_loop.CHATTERS: CHATTER,
    time_loop.BLEW_UP: "the values have grown beyond all bounds. Take a smaller step, or an implicit integrator.",
}


_MISCOUNTED = (
    "some body turned so far in one step, or changed its speed so much, that its angle may be wrong by whole turns, "
    "which these coordinates do not hold; take a smaller rtol or step, or coordinates='reference_point'"
)


class GeneralRun(WatchedRun):
    """Steps of an integration, and what they mean for the bodies."""

    def __init__(self, task: Task, start: InitialState) -> None:
        super().__init__(task, start)
        at = start.assembly
        self.used: StepWorkspace | None = task.system.idle.take(StepKind.of(task))
        if self.used is None:
            self.watch_over(family_named(task.coordinates)(task.system, at.q))
            self.first = np.concatenate([self.family.positions(at.q), self.family.velocities(at.q, at.qd)])
        else:
            self.family, self.rank, self.bridge = self.used.family, self.used.rank, self.used.bridge
            self.first, self.passing = self.used.first, Passing(self)
        self.y0 = self.first.copy()
        self.switching = Switching(self.system, task.step if task.fixed else None, self.bends)
        self.family.count_from(at.t, at.q, at.qd)

    @property
    def bends(self) -> bool:
        """Whether steps also end where a force only has a kink."""
        return True

    def find_multipliers(self, known: OutputMultipliers | None) -> None:
        """By those of the equations just solved, or else from the accelerations of the bodies.

        Where these follow from the state alone, they are also put right.
        """
        known = known or multipliers_of_bodies(self.system, self.d, self.w, self.follow_from_state)
        self.lam, self.monitors = known

    @property
    def follow_from_state(self) -> bool:
        """Whether accelerations at outputs are those of the equations of motion, and no others of the method."""
        formulation = self.task.formulation
        return not formulation.gives_way and formulation.stabilization == (0.0, 0.0)

    integration: Integration
    recovered: Recoverer
    Y: Floats
    doubtful = False
    """Whether whole turns may have been missed before the last singular pose."""

    # the present state

    @property
    def t(self) -> float:
        return self.integration.t

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.bodies(self.t, self.integration.y)

    @property
    def step_end(self) -> float:
        return self.integration.step_end

    def between(self, t: float) -> tuple[Floats, Floats]:
        return self.passing.state_at(t) or self.bodies(t, self.coordinates_between(t))

    def coordinates_between(self, t: float) -> Floats:
        return self.integration.between(t)

    def end_at(self, t: float) -> None:
        self.done = min(self.done, int(np.searchsorted(self.times, t)))
        self.times = np.append(self.times[self.times < t], t)
        self.history = History(*(array[: self.times.size].copy() for array in self.history))
        self.Y = self.Y[: self.times.size].copy()
        if not self.passing.write_last(t):
            self.advance(1)

    # outputs

    @property
    def tried(self) -> int:
        counts = self.statistics()
        return counts["steps"] + counts["rejected steps"]

    @property
    def step_ahead(self) -> float:
        if not isinstance(self.integration, CompiledIntegration):
            return self.integration.step_end - self.integration.t
        state = self.integration.path.state
        waiting, following = float(state[time_loop.TAKE]), float(state[time_loop.STEP])
        return min(waiting, following) if waiting > 0.0 and following > 0.0 else max(waiting, following)

    @property
    def outputs_per_step(self) -> float:
        method = self.task.integrator or RadauIIA()
        return 2.0 if method.order > 5 else 1.0

    @property
    def can_go_back(self) -> bool:
        return True

    def make_room(self, later: Floats) -> None:
        super().make_room(later)
        if len(self.Y) < self.times.size:
            self.Y = np.zeros((len(self.history.Q), self.Y.shape[1]))

    # going on

    def marked(self, kept: Sequence[Floats]) -> Broken | None:
        """The breaks for an integration; `kept` is what the equations remember from step to step."""
        return Broken(self.switching, self.bodies, kept, self.kick) if self.switching else None

    def kick(self, found: Break, y: Floats) -> None:
        """Give velocities that satisfy the constraints after a break at which prescribed ones jump."""
        q, qd = self.bodies(found.t, y)
        if self.switching.kicks_at(found, q):
            y[self.family.n :] = self.family.velocities(q, self.switching.kicked(found, q, qd))
            self.notes.append(self.switching.kick)

    def advance(self, most_steps: int) -> None:
        why = self.integrate(most_steps)
        if self.passing.passed(why):
            return
        self.refuse(why)
        apart = self.monitors.errors[0]
        if apart > self.system.length:
            raise self.failure(
                f"the joints are apart by {apart:.3g} m, more than the mechanism is large. Take a "
                "smaller step, or look for constraints that depend on each other."
            )

    def keep_good_rows(self) -> None:
        super().keep_good_rows()
        slip = self.monitors.errors[1] * float(lengths_per_row(self.system).max(initial=0.0))
        if not max(self.monitors.lost[1], slip) <= self.widest_gap:
            self.done = next((k for k in range(self.done) if not self.is_closed(k)), self.done)

    @property
    def widest_gap(self) -> float:
        """Of a joint in a row that is an answer, as a length of the mechanism."""
        return (OPEN if self.task.formulation.projects else APART) * self.system.length

    def is_closed(self, k: int) -> bool:
        """Whether row k satisfies the constraints, Phi = 0 and Phi_q qd = nu."""
        system, qd, per_row = self.system, self.history.Qd[k], lengths_per_row(self.system)
        at = system.evaluated(float(self.times[k]), self.history.Q[k], qd)
        S = system.arrays
        row = np.repeat(np.arange(system.m), np.diff(S.jac_start))
        rates = np.bincount(row, at.data * qd[S.jac_column], minlength=system.m)
        gap = float(np.max(np.abs(at.Phi) * per_row, initial=0.0))
        slip = float(np.max(np.abs(rates - at.f[: system.m, 1]) * per_row, initial=0.0))
        speed = max(1.0, float(np.abs(qd / system.sizes).max(initial=0.0)))
        return gap <= self.widest_gap and (slip <= self.widest_gap * speed or not self.holds_velocities)

    @property
    def holds_velocities(self) -> bool:
        """Whether Phi_q qd = nu is asked of rows that are answers."""
        return True

    def refuse(self, why: int) -> None:
        """Raise where the steps ended for a reason."""
        if why == time_loop.JUMPS:
            raise self.failure(self.switching.jump)
        if why in WHY:
            raise self.failure(WHY[why])

    def integrate(self, most_steps: int) -> int:
        """Go on for some steps, and see what they mean. Returns why they ended."""
        self.passing.remember()
        first = self.done
        self.done, why = self.integration.integrate(self.times, first, self.Y, self.passing.pace(most_steps))
        self.recover(first, self.done)
        return why

    def steps_again(self, before: float, count: int) -> int:
        """Outputs matter only where steps end at them."""
        integration = self.integration
        ends_at_outputs = time_loop.BETWEEN_OUTPUTS, time_loop.TO_OUTPUTS
        if isinstance(integration, CompiledIntegration) and integration.rules.kind not in ends_at_outputs:
            beyond = np.array([before + 1e3 * (1.0 + abs(before))])
            return integration.integrate(beyond, 0, np.zeros((1, self.Y.shape[1])), count)[1]
        self.done, why = integration.integrate(self.times, self.done, self.Y, count)
        return why

    @property
    def looks_at_steps(self) -> bool:
        return isinstance(self.integration, CompiledIntegration)

    def coordinates_of(self, t: float, q: Floats, qd: Floats) -> Floats:
        """(z, zd) of bodies in a state."""
        self.doubtful = self.doubtful or self.family.miscounted
        self.family.count_from(t, q, qd)
        return np.concatenate([self.family.positions(q), self.family.velocities(q, qd)])

    def in_words(self) -> str:
        task = self.task
        method = task.integrator or RadauIIA()
        how = f"in steps of {task.step:g} s at most" if task.fixed else f"with rtol = {task.rtol:g}"
        return (
            f"integrated by {method.name} on the formulation {task.formulation.name} "
            f"in {task.coordinates} coordinates, {how}"
        )

    @abstractmethod
    def recover(self, first: int, stop: int) -> None:
        """Rows of outputs as motions of the bodies."""

    def recoverer(self, finish: BoundKernel, rhs: BoundKernel, notes: Floats) -> Recoverer:
        family, system = self.family, self.system
        pointers, sizes = (finish, rhs, family.to_bodies, self.lam), (family.n, system.n, system.m)
        return Recoverer(pointers, sizes, notes, family.turns)

    def keep(self, first: int, found: list[Floats]) -> None:
        """Rows of the history from `first` on."""
        if len(found[0]) == self.times.size:
            self.history = History(*found)
            return
        for array, rows in zip(self.history, found, strict=True):
            array[first : first + len(rows)] = rows

    def counts(self) -> dict[str, int]:
        return self.integration.counts()

    def checkpoint(self) -> dict[str, Floats]:
        if not self.keeps:
            return {}
        return {name: array.copy() for name, array in self.kept().items()} | self.passing.checkpoint()

    def restore(self, saved: dict[str, Floats]) -> None:
        self.passing.restore(saved)
        self.monitors.singular_at[:] = np.nan  # there may have been none yet
        refill(self.kept(), saved)

    @property
    def keeps(self) -> bool:
        method = self.task.integrator
        return not isinstance(method, OdeMethod) or method.keeps

    def errors(self) -> dict[str, Floats]:
        return self.monitors._asdict() | ({} if self.rank is None else self.rank.kept())

    def reported(self) -> list[str]:
        singular, (lost, gap) = self.monitors.singular_at[0], self.monitors.lost
        where = f"at the output t = {singular:g} s the constraints lose rank"
        cautions = [
            f"{where}; accelerations and reactions there mean little"
            if isfinite(singular) and self.start.regular
            else None,
            _MISCOUNTED if self.doubtful or self.family.miscounted else None,
            lost_digits(self.system, lost),
            self.wrong_steps(),
            soft_joints(self.monitors.changed[1]) if self.task.formulation.gives_way else None,
            open_joints(self.system, gap) if self.task.formulation.projects or self.apart(gap) else None,
            far_from_the_origin(self.system, self.start.assembly.q, self.task.rtol),
        ]
        known = super().reported()
        more = [*self.switching.notes(), *(Caution(note) for note in cautions if note is not None)]
        return known + [note for note in more if note not in known]

    def apart(self, gap: float) -> bool:
        """Whether a gap makes an output useless; stabilized or compliant joints come apart slowly."""
        return bool(gap > APART * self.system.length)

    def wrong_steps(self) -> str | None:
        """A sentence if steps were made with wrong accelerations."""
        return None

    def check_rows(self, first: int) -> None:
        """End the run if outputs from `first` on are useless."""
        super().check_rows(first)
        self.check_softness(first)
        lost, gap = self.monitors.lost
        apart = self.task.formulation.projects and self.apart(gap)
        if apart or not lost <= WRONG:
            self.done = first
        if not lost <= WRONG:
            raise self.failure(
                f"{lost_digits(self.system, lost)}. Leave out bodies that are too light to matter, "
                "or give them a mass that is nearer to that of their neighbors."
            )
        if apart:
            rounded = far_from_the_origin(self.system, self.start.assembly.q, 1e-6)
            why = f"; {rounded}." if rounded else ". Look for constraints that contradict each other."
            raise self.failure(f"{open_joints(self.system, gap)}{why}")

    def check_softness(self, first: int) -> None:
        """End the run if joints with default compliances do not hold their bodies."""
        given, formulation = self.monitors.changed[1], self.task.formulation
        if formulation.gives_way and formulation == type(formulation)() and not given <= BROKEN:
            self.done = first
            raise self.failure(
                f"{soft_joints(given)}. Take a formulation that holds them, or stiffer joints: Penalty(factor=...)."
            )


class OdeRun(GeneralRun):
    """An ordinary differential equation in the state (z, zd)."""

    def __init__(self, task: Task, start: InitialState) -> None:
        super().__init__(task, start)
        assert isinstance(task.integrator, OdeMethod)
        self.method = task.integrator
        self.set_tolerances()
        if self.used is None:
            self.lay_out()
        else:
            self.work_in(self.used)
        self.begin()

    def lay_out(self) -> None:
        """The equations, the loop of the steps and the way back to the bodies."""
        start, formulation = self.start, self.task.formulation
        assert isinstance(formulation, OdeFormulation)
        at = Configuration(start.assembly.t, self.y0[: self.family.n], not start.regular, start.implied)
        self.problem = formulation.problem(self.family, at)
        self.find_multipliers(self.problem.multipliers)
        self.finish = self.problem.finish if self.rank is None else self.rank.around(self.problem.finish)
        self.integration = self.new_integration(self.method, **self.steps)
        self.recovered = self.recoverer(self.problem.finish, self.problem.rhs, self.problem.monitors)

    def work_in(self, used: StepWorkspace) -> None:
        """The same as an earlier run has left them."""
        self.problem, self.finish, self.recovered = used.problem, used.finish, used.recovered
        self.find_multipliers(used.multipliers)
        self.integration = used.integration
        used.break_at(self.marked([*self.problem.memory.values()]))
        used.integration.restart(self.start.assembly.t, self.first, self.local, self.atol)

    def put_away(self) -> None:
        # implicit methods keep more than an integration can restart
        if not isinstance(self.method, RungeKutta):
            return
        assert isinstance(self.integration, CompiledIntegration)
        left = StepWorkspace(
            self.family, self.rank, self.bridge, self.first, self.problem,
            OutputMultipliers(self.lam, self.monitors), self.finish, self.integration, self.recovered,
        )  # fmt: skip
        left.break_at(None)
        self.system.idle.give(StepKind.of(self.task), left)

    @property
    def steps(self) -> dict[str, Any]:
        """What says how long steps are."""
        fixed = self.task.fixed
        return {"step": self.task.step} if fixed else self.controlled

    def set_tolerances(self) -> None:
        task = self.task
        self.local = FIXED if task.fixed else tolerances(self.method, task.rtol, None, self.y0)[0]
        atol, usual = task.absolute(self.local, self.family.sizes), task.atol is None
        self.atol = np.concatenate([atol, (self.start.pace if usual else 1.0) * atol])
        self.in_steps = 0.003 * self.local * self.system.length
        self.words = self.in_words()

    @property
    def controlled(self) -> dict[str, Any]:
        """The step control of an adaptive method."""
        return {"rtol": self.local, "atol": self.atol, "step": self.task.max_step}

    def begin(self) -> None:
        """The first state, treated as the end of a step. Nothing was evaluated before: all pointers compile at once."""
        problem = self.problem
        self.Y = np.zeros((self.times.size, self.y0.size + problem.monitors.size))
        self.notes.append(self.words)
        self.doubtful = False
        self.monitors.errors[:], self.monitors.singular_at[:], self.monitors.lost[:] = 0.0, np.nan, 0.0
        self.monitors.changed[:] = 0.0
        at = self.start.assembly
        self.family.count_from(at.t, at.q, at.qd)
        self.y0[:] = self.first
        problem.begin()
        problem.tolerance[0] = self.in_steps
        self.passing.begin()
        self.finish(self.start.assembly.t, self.y0, problem.monitors)
        problem.monitors[:2] = 0.0
        if isinstance(self.integration, CompiledIntegration):
            self.integration.begin_at(self.y0)

    def go_on_at(self, t: float, q: Floats, qd: Floats) -> None:
        problem, worst = self.problem, self.problem.monitors[:2].copy()
        y = self.coordinates_of(t, q, qd)
        problem.begin()
        self.finish(t, y, problem.monitors)
        problem.monitors[:2] = worst
        if isinstance(self.integration, CompiledIntegration) and isinstance(self.method, RungeKutta):
            self.integration.restart(t, y, self.local, self.atol)
        else:
            span = (t, self.system.domain[1])
            self.integration = self.new_integration(self.method, **self.steps, t0=t, y0=y, span=span)

    def new_integration(self, method: OdeMethod, **options: Any) -> Integration:
        usual: dict[str, Any] = {
            "t0": self.start.assembly.t,
            "y0": self.y0,
            "finish": self.finish if method.accepts_finish else None,
            "notes": self.problem.monitors,
            "newton": self.task.newton,
            "collapses": self.rank is not None,
            "span": (self.start.assembly.t, self.system.domain[1]),
            "broken": self.marked([*self.problem.memory.values()]),
        }
        integration = method.integration(self.problem.rhs, **usual | options)
        if isinstance(integration, ScipyIntegration):
            integration.follow = self.problem.finish
        return integration

    def wrong_steps(self) -> str | None:
        # where joints are a little open, rows and bodies disagree by as much
        least = max(REPORTED, 0.1 * self.task.rtol) if self.follow_from_state else WRONG
        return wrong_steps(self.system, self.monitors.changed[0], least)

    def recover(self, first: int, stop: int) -> None:
        if first < stop:
            self.keep(first, self.motion_at(self.times[first:stop], self.Y[first:stop]))

    def motion_at(self, times: Floats, Y: Floats) -> list[Floats]:
        """Q, Qd, Qdd and Lam of rows of the integration; the integration does not notice."""
        problem = self.problem
        saved = {name: array.copy() for name, array in problem.memory.items()}
        problem.tolerance[0] = TIGHT * self.system.length
        motion = self.recovered(times, Y)
        problem.tolerance[0] = self.in_steps
        for name, array in problem.memory.items():
            array[...] = saved[name]
        return motion

    @property
    def worst(self) -> Floats:
        worst, seen = self.monitors.errors.copy(), self.problem.monitors
        worst[0], worst[1] = max(worst[0], seen[0]), max(worst[1], seen[1])
        return worst

    def kept(self) -> dict[str, Floats]:
        return self.integration.kept() | self.problem.memory | self.errors()
