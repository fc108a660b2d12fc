"""Steps of an ordinary differential equation in y = (z, zd)."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from ...coordinates.base import Family
from ...coordinates.equations import Configuration
from ...coordinates.ode_problem import OdeFormulation, Recoverer
from ...formulations.projection import Projection
from ...integrators import loop_state
from ...integrators.integration import CompiledIntegration
from ...integrators.ode_method import Integration, OdeMethod
from ...integrators.runge_kutta import RungeKutta
from ...integrators.scipy_methods import ScipyIntegration
from ...methods import Formulation, Integrator
from ...numerics.arrays import Floats
from .idle_families import leave_family, take_family
from .initial_state import InitialState
from .options import DynamicsOptions
from .outputs import History, Outputs
from .stepper import CHATTER, MOST_ROOM, DynamicsStepper

FIXED = 1e-10  # assumed local error of fixed steps, for the constraints
TIGHT = 1e-14  # to which outputs satisfy the constraints, relative to a length of the mechanism
STEPS_A_CHUNK = 2_000  # after which steps that watch for stiffness check whether they make progress
EXPLICIT = "steps", "rejected steps", "evaluations"


class StepKind(NamedTuple):
    """Runs that agree in this can use the same stepper, one after another."""

    coordinates: str
    formulation: Formulation
    integrator: Integrator | None
    t0: float
    step: float | None
    max_step: float | None

    @classmethod
    def of(cls, options: DynamicsOptions) -> StepKind:
        step = options.step if options.fixed else None
        method = options.formulation, options.integrator
        return cls(options.coordinates, *method, options.t0, step, options.max_step)


@final
class OdeStepper(DynamicsStepper):
    """The equations of an `OdeFormulation`, by any `OdeMethod`.

    Adaptive explicit steps watch for stiffness, and for steps that lead nowhere.
    """

    kind: StepKind
    """Under which it is left to later runs."""

    @classmethod
    def of(cls, options: DynamicsOptions, start: InitialState) -> OdeStepper:
        """A stepper at the start: one that an earlier run has left, or a new one."""
        family = take_family(options.system, options.coordinates, options.formulation, start)
        kind = StepKind.of(options)
        stepper: OdeStepper | None = family.idle.take(kind)
        if stepper is None:
            stepper = cls(options, start, family)
            stepper.kind = kind
        else:
            stepper.take_numbers(start)
        stepper.begin(options)
        return stepper

    def __init__(self, options: DynamicsOptions, start: InitialState, family: Family) -> None:
        super().__init__(options, start, family)
        formulation, family, at = options.formulation, self.family, start.assembly
        assert isinstance(options.integrator, OdeMethod) and isinstance(formulation, OdeFormulation)
        self.method, explicit = options.integrator, isinstance(options.integrator, RungeKutta)
        self.watches = isinstance(formulation, Projection) and explicit and self.method.adaptive
        if self.watches:
            self.chunk, self.counted = STEPS_A_CHUNK, EXPLICIT
            self.marks = {"earlier": np.array(at.t)}  # when the present chunk began
        self.follows_from_state = not formulation.gives_way and formulation.stabilization == (0.0, 0.0)
        self.first = self.first_state()
        family.count_from(at.t, at.q, at.qd)
        # the equations, and the way back to the bodies
        where = Configuration(at.t, self.first[: family.n].copy(), not start.regular, start.implied)
        problem = self.problem = formulation.problem(family, where)
        self.memory, self.violations = problem.memory, problem.monitors[:2]
        self.lam, self.monitors = problem.multipliers or self.multipliers_of_bodies()
        self.finish = problem.finish if self.rank is None else self.rank.around(problem.finish)
        pointers = problem.finish, problem.rhs, problem.bodies or family.to_bodies, self.lam
        sizes = family.n, self.system.n, self.system.m
        self.recovered = Recoverer(pointers, sizes, problem.monitors, family.turns, problem.several)
        self.restartable: CompiledIntegration | None = None
        self.Y = np.zeros((0, self.first.size + problem.monitors.size))

    def first_state(self) -> Floats:
        """(z, zd) at the start."""
        at = self.start.assembly
        return self.family.state_of(at.q, at.qd)

    def take_numbers(self, start: InitialState) -> None:
        """Start from another state, in coordinates that have taken the numbers of another System."""
        if start is self.start:
            return
        self.start = start
        self.first = self.first_state()
        self.__dict__.pop("bridge", None)
        broken, self.switching = bool(self.switching), self.new_switching()
        limit = self.restartable.problem.limit if self.restartable is not None else np.nan
        if broken or self.switching or limit != self.system.domain[1]:
            self.restartable = None

    def set_tolerances(self, options: DynamicsOptions) -> None:
        self.options = options
        self.local = FIXED if options.fixed else self.method.local(options.rtol)
        self.atol = self.absolute(options, self.start.pace)
        self.in_steps = 0.003 * self.local * self.system.length
        smooth = f"integrated by {self.method.name}, for smooth motions, with rtol = {options.rtol:g}"
        self.words = [smooth if self.watches else options.in_words]

    def absolute(self, options: DynamicsOptions, pace: float) -> Floats:
        """The absolute tolerances of (z, zd) in a motion that begins so fast."""
        atol = options.absolute(self.local, self.family.sizes)
        return np.concatenate([atol, (pace if options.atol is None else 1.0) * atol])

    def new_integration(self, t: float, y: Floats) -> Integration:
        options, method, problem = self.options, self.method, self.problem
        adaptive: dict[str, Any] = {"rtol": self.local, "atol": self.atol, "step": options.max_step}
        integration = method.integration(
            problem.rhs,
            t,
            y,
            **({"step": options.step} if options.fixed else adaptive),
            finish=self.finish if method.accepts_finish else None,
            notes=problem.monitors,
            newton=options.newton,
            span=(t, self.system.domain[1]),
            watch=self.watches,
            collapses=self.rank is not None,
            broken=self.breaks(),
            alarm=None if self.rank is None else self.rank.alarm,
        )
        if isinstance(integration, ScipyIntegration):
            integration.follow = problem.finish
        return integration

    # the start

    def begin(self, options: DynamicsOptions) -> None:
        """The first state, treated as the end of a step. Nothing was evaluated before: all pointers compile at once."""
        problem, monitors, at = self.problem, self.monitors, self.start.assembly
        self.set_tolerances(options)
        self.integrate_from(at.t, self.first)
        self.doubtful, self.before = False, {}
        monitors.errors[:] = monitors.lost[:] = monitors.changed[:] = 0.0
        monitors.singular_at[:] = np.nan
        self.family.count_from(at.t, at.q, at.qd)
        problem.begin()
        problem.tolerance[0] = self.in_steps
        if self.rank is not None:
            self.rank.begin()
        y = self.first.copy()
        self.finish(at.t, y, problem.monitors)
        problem.monitors[:2] = 0.0
        if isinstance(self.integration, CompiledIntegration):
            self.integration.begin_at(y)
        for mark in self.marks.values():
            mark[...] = at.t

    def integrate_from(self, t: float, y: Floats) -> None:
        if self.restartable is not None:
            self.restartable.restart(t, y, self.local, self.atol)
            return
        self.integration = self.new_integration(t, y)
        # other methods keep more than an integration can restart
        if isinstance(self.method, RungeKutta) and isinstance(self.integration, CompiledIntegration):
            self.restartable = self.integration

    def restart_at(self, t: float, q: Floats, qd: Floats) -> None:
        problem, worst = self.problem, self.problem.monitors[:2].copy()
        y = self.coordinates_of(t, q, qd)
        problem.begin()
        self.finish(t, y, problem.monitors)
        problem.monitors[:2] = worst
        self.integrate_from(t, y)
        for mark in self.marks.values():
            mark[...] = t

    def put_away(self) -> None:
        """Leave this stepper to the next run, without the rows of this one where they are many."""
        if self.restartable is not None:
            if self.Y.nbytes > MOST_ROOM:
                self.Y = self.Y[:0].copy()
            self.family.idle.give(self.kind, self)
            leave_family(self.family, self.options.system, self.options.formulation, self.start)

    # a row that is the present state, as a Simulator has it

    def renew(self, t: float) -> None:
        row, size, monitors = self.Y[0], self.first.size, self.problem.monitors
        y, monitors[:] = row[:size].copy(), row[size:]
        self.family.turns[:] = row[row.size - self.family.turns.size :]
        self.before = {}
        if self.rank is not None:
            self.rank.begin()
        self.finish(t, y, monitors)
        self.integrate_from(t, y)
        row[:size] = y

    def fill_row(self, t: float, motion: History) -> None:
        row, size, turns = self.Y[0], self.first.size, self.family.turns.copy()
        row[:size], row[size:] = self.coordinates_of(t, motion.Q, motion.Qd), self.problem.monitors
        row[row.size - turns.size :] = self.family.turns
        self.family.turns[:] = turns

    # steps

    def leads_nowhere(self, outputs: Outputs) -> str | None:
        attempts = self.integration.attempts if self.watches else 0
        if attempts == 0 or attempts % STEPS_A_CHUNK != 0:
            return None
        went = self.integration.t - float(self.marks["earlier"])
        self.marks["earlier"][...] = self.integration.t
        return CHATTER if self.chatters(went, attempts, outputs) else None

    def chatters(self, went: float, attempts: int, outputs: Outputs) -> bool:
        """Whether the last chunk of steps got nowhere: tiny steps, many of them refused, no end in sight."""
        assert self.restartable is not None
        state, span = self.restartable.path.state, float(outputs.times[-1]) - self.start.assembly.t
        longest, refused = state[loop_state.LONGEST], state[loop_state.REJECTED] / attempts
        tiny = went / STEPS_A_CHUNK < 1e-3 * longest or longest < 1e-6 * span
        unfinished = outputs.done < outputs.times.size
        return bool(unfinished and went < 1e-4 * span and tiny and refused > 0.15)

    # outputs

    def recover(self, outputs: Outputs, first: int, inside: bool) -> None:
        rows = slice(first, outputs.done)
        if first < outputs.done:
            outputs.write(first, self.motion_at(outputs.times[rows], self.Y[rows]))

    def motion_at(self, times: Floats, Y: Floats) -> list[Floats]:
        problem = self.problem
        saved = {name: array.copy() for name, array in problem.memory.items()}
        problem.tolerance[0] = TIGHT * self.system.length
        motion = self.recovered(times, Y)
        problem.tolerance[0] = self.in_steps
        for name, array in problem.memory.items():
            array[...] = saved[name]
        return motion

    @property
    def halved(self) -> tuple[int, list[float]]:
        return 0, []
