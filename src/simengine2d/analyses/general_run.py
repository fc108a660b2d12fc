"""Dynamics in any coordinates, by any formulation and any integrator that fit together."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coordinates import family_named
from ..coordinates.family import Family
from ..doors import Bound
from ..formulations import lanes, sparse
from ..formulations.index3 import History
from ..formulations.posed import Doors, Posed, new_room, recover, recover_given
from ..formulations.stage_iteration import StagedFormulation
from ..integrators import march
from ..integrators.dae_marching import DaeMarcher, dae_marcher
from ..integrators.marcher import CompiledMarcher, Marcher, OdeMethod
from ..integrators.radau_iia import RadauIIA
from ..integrators.runge_kutta import RungeKutta
from ..ivp.inputs import tolerances
from .run import Run
from .start import Start
from .task import Task

Floats = NDArray[np.float64]

FIXED = 1e-10  # local error that fixed steps are thought to have, for the constraints
TIGHT = 1e-14  # to which outputs meet the constraints, against a length of the mechanism

_WHY = {
    march.STEP_TOO_SMALL: "the step became too small. Look for a singular pose, or a force that jumps or grows "
    "without bound.",
    march.TOO_STIFF: "the motion is stiff. Take an implicit integrator, such as tr_bdf2.",
    march.NO_CONVERGENCE: "the iteration of a step did not converge. Take a smaller step.",
}


class GeneralRun(Run):
    """Steps of a marcher, and what they mean for the bodies."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start, tangent=False)
        self.family = family_of(task, start)
        self.closed, self.lam = self.closing()
        self.closed.found[:] = 0.0
        self.y0 = self.first_state()

    def closing(self) -> tuple[sparse.Sparse, Bound]:
        """The door to the multipliers; the system keeps it, since laying out its context takes a while."""
        key = ("multipliers", self.start.regular)
        if key not in self.system.memo:
            context = sparse.new_context(self.system, self.d, self.w, 0.0)
            self.system.memo[key] = context, sparse.multipliers.bind(context)
        kept: tuple[sparse.Sparse, Bound] = self.system.memo[key]
        return kept

    def first_state(self) -> Floats:
        at, memo = self.start.assembly, self.system.memo
        if self.family.turns.size:  # an earlier run has left its own
            self.family.turns[:] = at.q[2::3]
        key = ("first state", self.family.name, at.t)
        if key not in memo:
            memo[key] = np.concatenate([self.family.positions(at.q), self.family.velocities(at.q, at.qd)])
        state: Floats = memo[key].copy()
        return state

    marcher: Marcher
    Y: Floats

    # where it stands

    @property
    def t(self) -> float:
        return self.marcher.t

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.bodies(self.t, self.marcher.y)

    def bodies(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        n = self.family.n
        found = self.family.bodies(t, y[:n], y[n : 2 * n], np.zeros(n))
        return found.q, found.qd

    @property
    def step_end(self) -> float:
        return self.marcher.step_end

    def between(self, t: float) -> tuple[Floats, Floats]:
        return self.bodies(t, self.marcher.between(t))

    def end_at(self, t: float) -> None:
        self.times = np.append(self.times[self.times < t], t)
        self.history = History(*(array[: self.times.size].copy() for array in self.history))
        self.Y = self.Y[: self.times.size].copy()
        self.advance(1)

    # going on

    def advance(self, most_steps: int) -> None:
        first = self.done
        self.done, why = self.marcher.march(self.times, first, self.Y, most_steps)
        self.recover(first, self.done)
        if why in _WHY:
            raise self.failure(_WHY[why])

    @abstractmethod
    def recover(self, first: int, stop: int) -> None:
        """Rows of outputs as motions of the bodies."""

    def statistics(self) -> dict[str, int]:
        return self.marcher.counts()

    def checkpoint(self) -> dict[str, Floats]:
        method = self.task.integrator
        if isinstance(method, OdeMethod) and not method.keeps:
            return {}
        return {name: array.copy() for name, array in self.kept().items()}

    def restore(self, saved: dict[str, Floats]) -> None:
        for name, array in self.kept().items():
            array[...] = saved[name]

    @abstractmethod
    def kept(self) -> dict[str, Floats]:
        """The arrays that make up the state of the integration."""


class OdeRun(GeneralRun):
    """An ordinary differential equation in the state (z, zd)."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start)
        method = task.integrator
        assert isinstance(method, OdeMethod)
        local = FIXED if task.fixed else tolerances(method, task.rtol, None, self.y0)[0]
        self.in_steps = 0.003 * local * self.system.length
        self.posed = self.pose()
        self.posed.finish(start.assembly.t, self.y0, self.posed.notes)
        self.posed.notes[:2] = 0.0
        self.marcher = self.fixed_marcher(method) if task.fixed else self.adaptive_marcher(method, local)
        self.Y = np.zeros((self.times.size, self.y0.size + self.posed.notes.size))
        self.room = new_room(self.family.n, self.system.n, self.posed.notes, self.family.turns)
        self.notes.append(in_words(task))

    def fixed_marcher(self, method: OdeMethod) -> Marcher:
        return self.new_marcher(method, step=self.task.step)

    def adaptive_marcher(self, method: OdeMethod, local: float) -> Marcher:
        """The system keeps explicit ones, since laying out their contexts takes longer than many a motion."""
        atol = np.tile(self.task.absolute(local, self.family.sizes), 2)
        if not isinstance(method, RungeKutta):
            return self.new_marcher(method, rtol=local, atol=atol)
        key, memo = ("marcher", method, id(self.posed)), self.system.memo
        if key not in memo:
            memo[key] = self.new_marcher(method, rtol=local, atol=atol)
        marcher: CompiledMarcher = memo[key]
        marcher.restart(self.start.assembly.t, self.y0, local, atol)
        return marcher

    def new_marcher(self, method: OdeMethod, **tolerances: Any) -> Marcher:
        begin = self.start.assembly.t
        finish = self.posed.finish if method.accepts_finish else None
        return method.marcher(
            self.posed.rhs,
            begin,
            self.y0,
            finish=finish,
            notes=self.posed.notes,
            newton=self.task.newton,
            span=(begin, self.system.domain[1]),
            **tolerances,
        )

    def pose(self) -> Posed:
        """The equations; the system keeps them, since laying out their contexts takes a while."""
        n, at, formulation = self.family.n, self.start.assembly, self.task.formulation
        key, memo = ("posed", self.task.coordinates, formulation, self.start.regular), self.system.memo
        if key not in memo:
            regular = self.start.regular
            memo[key] = lanes.pose(formulation, self.family, self.d, at.t, self.y0[:n], not regular, 0.0)
        posed: Posed = memo[key]
        posed.begin()
        posed.tolerance[0] = self.in_steps
        return posed

    def recover(self, first: int, stop: int) -> None:
        posed = self.posed
        saved = {name: array.copy() for name, array in posed.kept.items()}
        posed.tolerance[0] = TIGHT * self.system.length
        doors = Doors(
            posed.finish.f, posed.finish.c, posed.rhs.f, posed.rhs.c,
            self.family.to_bodies.f, self.family.to_bodies.c, self.lam.f, self.lam.c,
        )  # fmt: skip
        recover(doors, self.room, self.times, self.Y, first, stop, self.history)
        posed.tolerance[0] = self.in_steps
        for name, array in posed.kept.items():
            array[...] = saved[name]

    @property
    def worst(self) -> Floats:
        return np.maximum(self.closed.found, [*self.posed.notes[:2], 0.0])

    def kept(self) -> dict[str, Floats]:
        return self.marcher.kept() | self.posed.kept | {"found": self.closed.found, "said": self.posed.notes}


class DaeRun(GeneralRun):
    """Differential-algebraic equations, by implicit steps."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start)
        n, method = self.family.n, task.integrator or RadauIIA()
        adaptive = task.integrator is None
        assert isinstance(task.formulation, StagedFormulation)
        self.marcher: DaeMarcher = dae_marcher(
            task.formulation,
            method,
            self.family,
            start.assembly.t,
            self.y0[:n],
            self.y0[n:],
            step=None if adaptive else task.step,
            rtol=task.rtol if adaptive else None,
            atol=None if task.atol is None or not adaptive else task.absolute(task.rtol, self.family.sizes),
            newton=task.newton,
            tolerance=task.tolerance,
            span=(start.assembly.t, self.system.domain[1]),
        )
        notes = self.marcher.path.notes
        self.Y = np.zeros((self.times.size, 2 * n + notes.size))
        self.room = new_room(n, self.system.n, notes, self.family.turns)
        self.notes.append(in_words(task))

    def recover(self, first: int, stop: int) -> None:
        if first == stop:
            return
        turns = self.family.turns.copy()
        Zdd = np.zeros((self.times.size, self.family.n))
        Zdd[first:stop], _ = self.marcher.accelerations(self.times[first:stop], self.Y[first:stop])
        bodies = self.family.to_bodies
        doors = Doors(0, 0, 0, 0, bodies.f, bodies.c, self.lam.f, self.lam.c)
        recover_given(doors, self.room, self.times, self.Y, Zdd, first, stop, self.history)
        self.family.turns[:] = turns

    @property
    def worst(self) -> Floats:
        return self.closed.found

    def kept(self) -> dict[str, Floats]:
        return self.marcher.kept() | {"found": self.closed.found}


def family_of(task: Task, start: Start) -> Family:
    """The coordinates of a task; the system keeps them."""
    key = ("coordinates", task.coordinates)
    memo = task.system.memo
    if key not in memo:
        memo[key] = family_named(task.coordinates)(task.system, start.assembly.q)
    found: Family = memo[key]
    return found


def in_words(task: Task) -> str:
    method = task.integrator or RadauIIA()
    how = f"in steps of {task.step:g} s at most" if task.fixed else f"with rtol = {task.rtol:g}"
    return (
        f"integrated by {method.name} on the formulation {task.formulation.name} "
        f"in {task.coordinates} coordinates, {how}"
    )
