"""Dynamics by explicit Runge-Kutta steps on the index-1 equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..formulations import index1
from ..formulations.index1 import Limits
from ..formulations.index3 import History
from ..integrators.runge_kutta import Runner, Tableau, new_arrays
from ..methods import Integrator
from .run import STEPS_A_CHUNK, Run
from .start import Start
from .task import Task

Floats = NDArray[np.float64]


class ExplicitRun(Run):
    """What explicit runs share: a runner, and dense output between its steps."""

    def __init__(self, task: Task, start: Start, method: Integrator, tolerance: float) -> None:
        super().__init__(task, start, tangent=False)
        self.T: Tableau = method.tableau  # type: ignore[attr-defined]
        self.local = tolerance
        atol = task.absolute(tolerance, self.system.sizes)
        self.atol = np.concatenate([atol, atol])
        self.limits = self.new_limits()
        assembly = start.assembly
        self.r = self.runner(assembly.t, np.concatenate([assembly.q, assembly.qd]))

    def new_limits(self) -> Limits:
        length = self.system.length
        # in steps far below the error that is allowed: near singular poses a violation becomes a velocity
        projection = np.array([0.003 * self.local, 1e-14]) * length
        if not self.task.formulation.projects:
            projection[:] = np.inf
        span = (float(self.times[-1]), self.system.domain[1])
        return Limits(projection, np.array(span), np.zeros(3), np.zeros(2))

    def runner(self, t: float, y: Floats, concession: float = 1.0) -> Runner:
        state = np.zeros(index1.STATE_SIZE)
        state[index1.TIME] = state[index1.END] = t
        state[index1.SINGULAR_AT] = np.nan
        arrays = new_arrays(y, self.T)
        return Runner(*arrays, state, np.array([concession * self.local]), concession * self.atol)

    @property
    def t(self) -> float:
        return float(self.r.state[index1.TIME])

    @property
    def state(self) -> tuple[Floats, Floats]:
        n = self.system.n
        return self.r.y[:n], self.r.y[n:]

    def attempts_left(self, most_steps: int) -> int:
        """Up to the end of the chunk: pauses come at the same steps, whether a run was interrupted or not."""
        return min(most_steps, STEPS_A_CHUNK - self.attempts % STEPS_A_CHUNK)

    @property
    def attempts(self) -> int:
        state = self.r.state
        return int(state[index1.STEPS] + state[index1.REJECTED] + (state[index1.TAKE] > 0.0))

    # between the steps

    @property
    def step_end(self) -> float:
        return float(self.r.state[index1.END])

    def between(self, t: float) -> tuple[Floats, Floats]:
        r, T, state, n = self.r, self.T, self.r.state, self.system.n
        if t == state[index1.END] or state[index1.TAKE] == 0.0:
            y = r.new if t == state[index1.END] else r.y
            return y[:n], y[n:]
        if state[index1.DENSE] == 0.0:
            index1.make_dense(self.system.arrays, self.system.load_arrays, self.d, T, r, self.limits, self.w)
        h = state[index1.TAKE]
        x = (t - state[index1.TIME]) / h
        y = r.y + h * (T.P @ x ** np.arange(1, T.P.shape[1] + 1)) @ r.K
        return y[:n], y[n:]

    def end_at(self, t: float) -> None:
        self.times = np.append(self.times[self.times < t], t)
        self.history = History(*(array[: self.times.size].copy() for array in self.history))
        self.advance(1)

    # what is reported and kept

    @property
    def worst(self) -> Floats:
        return self.limits.worst

    def statistics(self) -> dict[str, int]:
        state = self.r.state
        return {
            "steps": int(state[index1.STEPS] + (state[index1.TAKE] > 0.0)),
            "rejected steps": int(state[index1.REJECTED]),
            "evaluations": int(state[index1.EVALUATIONS]),
        }

    def checkpoint(self) -> dict[str, Floats]:
        return {name: array.copy() for name, array in self.kept().items()}

    def restore(self, saved: dict[str, Floats]) -> None:
        for name, array in self.kept().items():
            array[...] = saved[name]

    def kept(self) -> dict[str, Floats]:
        """The arrays that make up the state of the integration."""
        r = self.r
        return {"y": r.y, "new": r.new, "K": r.K, "state": r.state, "worst": self.limits.worst}
