"""Dynamics in any coordinates, by any formulation and any integrator that fit together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..coordinates import family_named
from ..coordinates.family import Family
from ..equations import new_work
from ..formulations import lanes, sparse
from ..formulations.index3 import History
from ..formulations.posed import Doors, Posed, new_room, recover
from ..integrators import march
from ..integrators.marcher import Marcher, OdeMethod
from .adaptive_run import LOCAL
from .run import STEPS_A_CHUNK, Run
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
        self.closed = sparse.new_context(self.system, self.d, self.w, 0.0)
        self.lam = sparse.multipliers.bind(self.closed)
        self.y0 = self.first_state()

    def first_state(self) -> Floats:
        at = self.start.assembly
        return np.concatenate([self.family.positions(at.q), self.family.velocities(at.q, at.qd)])

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

    def recover(self, first: int, stop: int) -> None:
        """Rows of outputs as motions of the bodies."""
        raise NotImplementedError

    def statistics(self) -> dict[str, int]:
        return self.marcher.counts()


class OdeRun(GeneralRun):
    """An ordinary differential equation in the state (z, zd)."""

    def __init__(self, task: Task, start: Start) -> None:
        super().__init__(task, start)
        method = task.integrator
        assert isinstance(method, OdeMethod)
        local = FIXED if task.fixed else LOCAL * task.rtol
        self.in_steps = 0.003 * local * self.system.length
        self.posed = self.pose()
        y = self.y0
        self.posed.finish(start.assembly.t, y, self.posed.notes)
        self.posed.notes[: 2] = 0.0
        self.marcher = method.marcher(
            self.posed.rhs,
            start.assembly.t,
            y,
            step=task.step if task.fixed else None,
            rtol=None if task.fixed else local,
            atol=None if task.fixed else np.tile(task.absolute(local, self.family.sizes), 2),
            finish=self.posed.finish if method.accepts_finish else None,
            notes=self.posed.notes,
            newton=task.newton,
            span=(start.assembly.t, self.system.domain[1]),
        )
        self.Y = np.zeros((self.times.size, y.size + self.posed.notes.size))
        self.room = new_room(self.family.n, self.system.n, self.posed.notes, self.family.turns)
        self.notes.append(in_words(task))

    def pose(self) -> Posed:
        n, at = self.family.n, self.start.assembly
        return lanes.pose(
            self.task.formulation, self.family, self.d, at.t, self.y0[:n], not self.start.regular, self.in_steps
        )

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

    def checkpoint(self) -> dict[str, Floats]:
        return {name: array.copy() for name, array in self.kept().items()}

    def restore(self, saved: dict[str, Floats]) -> None:
        for name, array in self.kept().items():
            array[...] = saved[name]

    def kept(self) -> dict[str, Floats]:
        return self.marcher.kept() | self.posed.kept | {"found": self.closed.found, "said": self.posed.notes}


def family_of(task: Task, start: Start) -> Family:
    """The coordinates of a task; the system keeps them."""
    key = ("coordinates", task.coordinates)
    memo = task.system.memo
    if key not in memo:
        memo[key] = family_named(task.coordinates)(task.system, start.assembly.q)
    found: Family = memo[key]
    return found


def in_words(task: Task) -> str:
    method = task.integrator
    assert method is not None
    how = f"in steps of {task.step:g} s at most" if task.fixed else f"with rtol = {task.rtol:g}"
    return (
        f"integrated by {method.name} on the formulation {task.formulation.name} "
        f"in {task.coordinates} coordinates, {how}"
    )
