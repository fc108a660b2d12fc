"""Dynamics by implicit steps on the index-3 equations, of fixed size or with error control."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...coordinates.reference_point import sparse
from ...coordinates.reference_point.reference_point import ReferencePoint
from ...formulations import index3
from ...formulations.esdirk import new_esdirk
from ...formulations.index3 import History
from ...integrators import time_loop
from ...integrators.generalized_alpha import GeneralizedAlpha
from ...integrators.integration import NONE
from ...methods import AlphaMethod
from ...numerics.kernel_pointer import BoundKernel, KernelPointer
from ...results.switching import Switching
from ..assembly.closure import coordinate_scale
from .blow_up import BlowUp, cautions
from .broken_steps import BrokenSteps
from .initial_state import InitialState
from .options import NEWTON, Task
from .run import STEPS_A_CHUNK, refill
from .watched_run import WatchedRun

Floats = NDArray[np.float64]

FIRST_STEPS = 30  # in which steps grow
SMALLEST = 1e-14  # error of a step that rounding leaves visible
SHARE = 0.03  # error allowed in one step, against that of the whole motion
WELL = (index3.DONE, index3.PAUSED)
COUNTS = [index3.STEPS, index3.ITERATIONS, index3.FACTORIZATIONS, index3.HALVINGS]
_ARRAYS = ("q", "qd", "qdd", "lam", "a", "state", "worst")


class ImplicitRun(WatchedRun):
    """Steps of an alpha method; each starts where the last one ended, so all outputs are ends of steps."""

    walking: ClassVar[KernelPointer]

    def __init__(
        self,
        task: Task,
        start: InitialState,
        method: AlphaMethod,
        state: tuple[float, Floats, Floats] | None = None,
        local: float = 0.0,
    ) -> None:
        super().__init__(task, start, tangent=True)
        assembly = start.assembly
        t, q, qd = state or (assembly.t, assembly.q, assembly.qd)
        self.local, self.atol = local, task.absolute(local, self.system.sizes)
        self.p = self.stepper(method, t, q, qd)
        self.watch_over(ReferencePoint(self.system, assembly.q))
        self.passing.begin_at(t)
        self.bound = self.bound_walk()
        self.begin()
        # steps of order 2 need not end where a force only bends
        self.switching = Switching(self.system, task.step if task.fixed else None, bends=not task.fixed)
        self.over_breaks = BrokenSteps(self, self.switching)
        self.notes += self.switching.notes()
        self.curve: Any = (None, None, None)  # the last that `between` has made, and its ends

    def stepper(self, method: AlphaMethod, t: float, q: Floats, qd: Floats) -> index3.StepState:
        system, task, n = self.system, self.task, self.system.n
        state = np.zeros(index3.STATE_SIZE)
        state[index3.TIME] = t
        relative, absolute = (
            (1e-10, 1e-12 * system.length) if task.tolerance is None else (0.0, task.tolerance)
        )
        projection = 1e-13 * system.length if task.projection else np.inf
        return index3.StepState(
            q.copy(), qd.copy(), np.zeros(n), np.zeros(system.m), np.zeros(n), np.zeros((4, n)), np.zeros(system.m),
            state, coordinate_scale(system), np.array(method.coefficients),
            np.array([relative, absolute, projection]), np.zeros(3), np.zeros(2), new_esdirk(n),
        )  # fmt: skip

    def solved(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """qdd and lam at a state."""
        y = np.concatenate([q, qd])
        sparse.SparseEquations(self.system, self.d, self.w).accelerate(t, y, np.empty_like(y))
        n = self.system.n
        return self.w.x[:n].copy(), self.w.x[n:].copy()

    @property
    def longest(self) -> float:
        """The size of fixed steps, or the longest one of others."""
        task = self.task
        return float(task.step or 1.0) if task.fixed else float(task.max_step or np.inf)

    def bound_walk(self) -> BoundKernel:
        system, task = self.system, self.task
        looking = NONE if self.rank is None else self.passing.looking
        watched = np.zeros(1) if self.rank is None else self.rank.state
        context = index3.Index3Loop(
            system.arrays, system.load_arrays, self.d, self.p, self.history, self.longest,
            NEWTON[task.newton], self.local, self.atol, self.w, looking.f, looking.c, watched, np.zeros(2 * system.n),
        )  # fmt: skip
        return self.walking.bind(context)

    def begin(self) -> None:
        """Where it stands now, nothing is known before."""
        p, t = self.p, self.t
        if self.watch:  # else the first step finds them
            p.qdd[:], p.lam[:] = self.solved(t, p.q, p.qd)
        self.earlier = self.now
        if self.rank is not None:
            self.passing.looking(t, np.concatenate([p.q, p.qd]), np.zeros(0))

    def go_on_in(self, times: Floats, history: History, done: int) -> None:
        """Fill the rows of another run."""
        self.times, self.history, self.done = times, history, done
        self.bound = self.bound_walk()

    def walk(self, most_steps: int) -> int:
        """Go on for some steps. Returns why they ended."""
        self.passing.remember()
        why = self.steps(self.passing.pace(most_steps))
        passed = self.passing.passed(time_loop.PAUSED if why in WELL else time_loop.NO_CONVERGENCE)
        return index3.PAUSED if passed else why

    def steps(self, most_steps: int) -> int:
        """The same, whatever the constraints do there."""
        if self.switching:
            return self.over_breaks.walk(most_steps)
        state = self.p.state
        self.remember()
        state[index3.ROW] = self.done
        self.bound(most_steps, self.times, state)
        self.done = int(state[index3.ROW])
        return int(state[index3.WHY])

    @property
    def t(self) -> float:
        return float(self.p.state[index3.TIME])

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.p.q, self.p.qd

    # outputs

    @property
    def tried(self) -> int:
        return self.statistics()["steps"]

    @property
    def step_ahead(self) -> float:
        # the first steps are shorter than any need be, and outputs would keep them so
        return float(self.p.state[index3.STEP]) if self.tried > FIRST_STEPS else 0.0

    @property
    def outputs_per_step(self) -> float:
        return 0.5  # they end at the outputs, and should not become much shorter

    def make_room(self, later: Floats) -> None:
        super().make_room(later)
        self.bound = self.bound_walk()

    # singular poses

    def steps_again(self, before: float, count: int) -> int:
        return time_loop.PAUSED if self.steps(count) == index3.PAUSED else time_loop.DONE

    def coordinates_between(self, t: float) -> Floats:
        return np.concatenate(self.between(t))

    def put_back(self, saved: dict[str, Floats]) -> None:
        super().put_back(saved)
        self.p.state[index3.KEPT] = 0.0  # the factors are those of a later step
        self.earlier, self.over_breaks.cut = self.now, np.inf

    def go_on_at(self, t: float, q: Floats, qd: Floats) -> None:
        p, state = self.p, self.p.state
        p.q[:], p.qd[:] = q, qd
        state[COUNTS], p.esdirk.counts[:] = 0.0, 0.0
        state[index3.TIME], state[index3.BEGUN], state[index3.KEPT] = t, 0.0, 0.0
        self.begin()

    # between the steps

    @property
    def now(self) -> tuple[float, Floats, Floats, Floats]:
        return self.t, self.p.q.copy(), self.p.qd.copy(), self.p.qdd.copy()

    def remember(self) -> None:
        """Keep the beginning of the step, where somebody will want to look into it."""
        if self.watch:
            self.earlier = self.now

    @property
    def step_end(self) -> float:
        return self.t

    def between(self, t: float) -> tuple[Floats, Floats]:
        """The polynomial of degree 5 through positions, velocities and accelerations at both ends."""
        from scipy.interpolate import BPoly

        passed = self.passing.state_at(t)
        if passed is not None:
            return passed
        if t == self.t or self.earlier[0] == self.t:
            return self.p.q, self.p.qd
        span = self.earlier[0], self.t
        if self.curve[0] != span:
            ends = [np.array(level) for level in zip(self.earlier[1:], self.now[1:], strict=True)]
            curve = BPoly.from_derivatives(span, np.stack(ends, axis=1))
            self.curve = span, curve, curve.derivative()
        _, place, rate = self.curve
        return place(t), rate(t)

    def end_at(self, t: float) -> None:
        q, qd = (array.copy() for array in self.between(t))
        over = self.passing.motion_at(t)
        row = (q, qd, *self.solved(t, q, qd)) if over is None else [rows[0] for rows in over]
        self.done = int(np.searchsorted(self.times[: self.done], t))
        self.times = np.append(self.times[: self.done], t)
        self.history = History(
            *(np.vstack([array[: self.done], last]) for array, last in zip(self.history, row, strict=True))
        )
        self.done += 1

    # what is reported and kept

    @property
    def worst(self) -> Floats:
        return self.p.worst

    def counts(self) -> dict[str, int]:
        state = self.p.state
        iterations, factorizations = self.p.esdirk.counts
        return {
            "steps": int(state[index3.STEPS]),
            "Newton iterations": int(state[index3.ITERATIONS] + iterations),
            "factorizations": int(state[index3.FACTORIZATIONS] + factorizations),
            "halved steps": int(state[index3.HALVINGS]),
        }

    @property
    def halved(self) -> tuple[int, list[float]]:
        state = self.p.state
        count = int(state[index3.HALVED])
        return count, state[index3.HALVED + 1 :][:count].tolist()

    def kept(self) -> dict[str, Floats]:
        watched = {} if self.rank is None else self.rank.kept()
        return {name: getattr(self.p, name) for name in _ARRAYS} | {"counts": self.p.esdirk.counts} | watched

    def checkpoint(self) -> dict[str, Floats]:
        return {name: array.copy() for name, array in self.kept().items()} | self.passing.checkpoint()

    def restore(self, saved: dict[str, Floats]) -> None:
        self.passing.restore(saved)
        refill(self.kept(), saved)
        self.p.state[index3.KEPT] = 0.0
        self.earlier = self.now


class FixedImplicitRun(ImplicitRun):
    """Steps of fixed size."""

    walking = index3.walk_fixed

    def __init__(self, task: Task, start: InitialState) -> None:
        assert isinstance(task.integrator, AlphaMethod) and task.step is not None
        super().__init__(task, start, task.integrator)
        self.notes.append(
            f"integrated by {task.integrator.name}, as asked, in steps of {task.step:g} s at most"
        )
        self.notes += cautions(task, self.system.m)
        self.blow_up = BlowUp()

    def advance(self, most_steps: int) -> None:
        why = self.walk(min(most_steps, STEPS_A_CHUNK))
        self.blow_up.check(self)
        if why not in WELL:
            raise self.failure(
                f"the step does not converge, even when it is halved {index3.MOST_HALVINGS} times. "
                "Take a smaller step, or look for a dead point or a force that jumps."
            )


class AdaptiveImplicitRun(ImplicitRun):
    """A diagonally implicit method of order 4 with error control, for stiff motions and for large index-3 systems.

    Its steps hold the index-1 equations at each stage and the constraints at their ends; accelerations and multipliers
    are those of the last stage, and follow `rtol` as the motion does.
    """

    walking = index3.walk_controlled

    def __init__(
        self, task: Task, start: InitialState, state: tuple[float, Floats, Floats] | None = None
    ) -> None:
        super().__init__(task, start, GeneralizedAlpha(rho=0.6), state, max(SMALLEST, SHARE * task.rtol))
        if task.tolerance is None:
            self.p.tolerance[0] = max(1e-12, 1e-3 * self.local)
        self.p.state[index3.STEP] = 1e-6 * min(1.0, float(task.times[-1] - self.t) or 1.0)
        self.notes.append(
            f"integrated by the implicit method esdirk4 with error control, rtol = {task.rtol:g}"
        )

    def advance(self, most_steps: int) -> None:
        why = self.walk(most_steps)
        if why not in WELL:
            raise self.failure(
                "the step became too small. Look for a singular pose, or a force that jumps or grows without bound."
            )
