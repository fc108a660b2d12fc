"""Dynamics in any coordinates, by any formulation and any integrator that fit together."""

from __future__ import annotations

from abc import abstractmethod
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coordinates import family_named
from ..coordinates.family import Family
from ..doors import Bound
from ..formulations import lanes, sparse
from ..formulations.index3 import History
from ..formulations.posed import Posed, Recoverer
from ..formulations.stage_iteration import StagedFormulation
from ..integrators import march
from ..integrators.dae_marching import DaeMarcher, dae_marcher
from ..integrators.marcher import NONE, CompiledMarcher, Marcher, OdeMethod
from ..integrators.radau_iia import RadauIIA
from ..integrators.runge_kutta import RungeKutta
from ..ivp.inputs import tolerances
from ..results import Results
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
    march.BLEW_UP: "the values have grown beyond all bounds. Take a smaller step, or an implicit integrator.",
}


class GeneralRun(Run):
    """Steps of a marcher, and what they mean for the bodies."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start, tangent=False)
        self.family = family_of(task, start)
        self.y0 = self.first_state()

    def close(self, lam: Bound | None) -> None:
        """The door to the multipliers: the one given, or one that finds them from the accelerations of the bodies.

        The system keeps it, since laying out its context takes a while.
        """
        key, memo = ("multipliers", self.start.regular), self.system.memo
        if lam is None and key not in memo:
            memo[key] = sparse.multipliers.bind(sparse.new_context(self.system, self.d, self.w, 0.0))
        self.lam: Bound = memo[key] if lam is None else lam
        self.closed: sparse.Sparse = self.lam.kept[1]
        self.closed.found[:], self.closed.singular_at[:] = 0.0, np.nan

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
    recovered: Recoverer
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
        if self.worst[0] > self.system.length:
            raise self.failure(
                f"the joints are apart by {self.worst[0]:.3g} m, more than the mechanism is large. Take a "
                "smaller step, or look for constraints that depend on each other."
            )

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

    def recoverer(self, finish: Bound, rhs: Bound, notes: Floats) -> Recoverer:
        family, system = self.family, self.system
        doors, sizes = (finish, rhs, family.to_bodies, self.lam), (family.n, system.n, system.m)
        return Recoverer(doors, sizes, notes, family.turns)

    def keep(self, first: int, found: list[Floats]) -> None:
        """Rows of the history from `first` on."""
        for array, rows in zip(self.history, found, strict=True):
            array[first : first + len(rows)] = rows

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

    def errors(self) -> dict[str, Floats]:
        return {"found": self.closed.found, "singular_at": self.closed.singular_at}

    def results(self, status: str) -> Results:
        singular = self.closed.singular_at[0]
        if isfinite(singular) and self.start.regular:
            where = f"at the output t = {singular:g} s the constraints lose rank"
            self.notes = [*self.notes, f"{where}; accelerations and reactions there mean little"]
        return super().results(status)


class OdeRun(GeneralRun):
    """An ordinary differential equation in the state (z, zd)."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start)
        method = task.integrator
        assert isinstance(method, OdeMethod)
        self.local = FIXED if task.fixed else tolerances(method, task.rtol, None, self.y0)[0]
        self.atol = np.concatenate([task.absolute(self.local, self.family.sizes)] * 2)
        self.in_steps = 0.003 * self.local * self.system.length
        self.posed = self.pose()
        self.close(self.posed.lam)
        self.marcher = self.fixed_marcher(method) if task.fixed else self.adaptive_marcher(method)
        self.Y = np.zeros((self.times.size, self.y0.size + self.posed.notes.size))
        self.recovered = self.recoverer_of_posed()
        self.begin()
        self.notes.append(self.in_words())

    def begin(self) -> None:
        """The first state, treated as the end of a step. Nothing was evaluated before: all doors compile at once."""
        self.posed.finish(self.start.assembly.t, self.y0, self.posed.notes)
        self.posed.notes[:2] = 0.0
        if isinstance(self.marcher, CompiledMarcher):
            self.marcher.begin_at(self.y0)

    def recoverer_of_posed(self) -> Recoverer:
        """The system keeps it, as it keeps the equations."""
        posed, memo = self.posed, self.system.memo
        key = "recoverer", id(posed)
        if key not in memo:
            memo[key] = self.recoverer(posed.finish, posed.rhs, posed.notes)
        found: Recoverer = memo[key]
        return found

    def fixed_marcher(self, method: OdeMethod) -> Marcher:
        return self.new_marcher(method, step=self.task.step)

    def adaptive_marcher(self, method: OdeMethod) -> Marcher:
        """The system keeps explicit ones, since laying out their contexts takes longer than many a motion."""
        if not isinstance(method, RungeKutta):
            return self.new_marcher(method, rtol=self.local, atol=self.atol)
        key, memo = ("marcher", method, id(self.posed)), self.system.memo
        if key not in memo:
            memo[key] = self.new_marcher(method, rtol=self.local, atol=self.atol)
        marcher: CompiledMarcher = memo[key]
        marcher.restart(self.start.assembly.t, self.y0, self.local, self.atol)
        return marcher

    def new_marcher(self, method: OdeMethod, **options: Any) -> Marcher:
        usual: dict[str, Any] = {
            "t0": self.start.assembly.t,
            "y0": self.y0,
            "finish": self.posed.finish if method.accepts_finish else None,
            "notes": self.posed.notes,
            "newton": self.task.newton,
            "span": (self.start.assembly.t, self.system.domain[1]),
        }
        return method.marcher(self.posed.rhs, **usual | options)

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
        if first == stop:
            return
        posed = self.posed
        saved = {name: array.copy() for name, array in posed.kept.items()}
        posed.tolerance[0] = TIGHT * self.system.length
        self.keep(first, self.recovered(self.times[first:stop], self.Y[first:stop]))
        posed.tolerance[0] = self.in_steps
        for name, array in posed.kept.items():
            array[...] = saved[name]

    @property
    def worst(self) -> Floats:
        worst, notes = self.closed.found.copy(), self.posed.notes
        worst[0], worst[1] = max(worst[0], notes[0]), max(worst[1], notes[1])
        return worst

    def kept(self) -> dict[str, Floats]:
        return self.marcher.kept() | self.posed.kept | self.errors() | {"said": self.posed.notes}


class DaeRun(GeneralRun):
    """Differential-algebraic equations, by implicit steps."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start)
        self.close(None)
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
        self.recovered = self.recoverer(NONE, NONE, notes)
        self.notes.append(self.in_words())

    def recover(self, first: int, stop: int) -> None:
        if first == stop:
            return
        turns = self.family.turns.copy()
        times, Y = self.times[first:stop], self.Y[first:stop]
        self.keep(first, self.recovered(times, Y, self.marcher.accelerations(times, Y)[0]))
        self.family.turns[:] = turns

    @property
    def worst(self) -> Floats:
        return self.closed.found

    def kept(self) -> dict[str, Floats]:
        return self.marcher.kept() | self.errors()


def family_of(task: Task, start: Start) -> Family:
    """The coordinates of a task; the system keeps them."""
    key = ("coordinates", task.coordinates)
    memo = task.system.memo
    if key not in memo:
        memo[key] = family_named(task.coordinates)(task.system, start.assembly.q)
    found: Family = memo[key]
    return found
