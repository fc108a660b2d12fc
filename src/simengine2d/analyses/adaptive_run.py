"""Dynamics with error control: explicit where that is possible, implicit where it must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..equations import accelerations, new_work
from ..formulations import index3
from ..integrators import dop853
from ..integrators.dop853 import DOP853
from ..integrators.generalized_alpha import GeneralizedAlpha
from ..posing import build
from ..results import Results
from ..system import System
from .assemble import Assembly
from .closure import coordinate_scale
from .fixed_run import new_stepper
from .rank import rank_of_rows
from .run import STEPS_A_CHUNK, Run, new_history

Floats = NDArray[np.float64]

LOCAL = 0.1  # error allowed in one step, against `rtol` for the whole motion: errors of many steps add up
# how far before and behind a singular pose a step is taken over it, in the time that one length or radian takes
BRIDGES = (3e-2, 1e-2, 3e-3)
SINGULAR = 3e-2  # smallest against largest singular value of the constraints from which on that is allowed
CONCESSION = 1e6  # its error estimate is pessimistic, since some of its stages lie near the pose

_TOO_SMALL = (
    "the step became too small. Look for a singular pose, or a force that jumps or grows without bound."
)


class AdaptiveRun(Run):
    """Error-controlled steps on the index-1 equations, projected on the constraints.

    Where these equations are stiff, error-controlled generalized-alpha steps on the index-3 equations take over; where
    they are singular, one long step leads over the singular pose.
    """

    def __init__(
        self, system: System, assembly: Assembly, times: Floats, redundant: list[str], rtol: float
    ) -> None:
        super().__init__(system, assembly, times, redundant, tangent=False)
        self.local = LOCAL * rtol
        self.implicit: _Implicit | None = None
        self.bridged_at = -np.inf
        self.counts: dict[str, int] = {}
        self.start(float(times[0]), assembly.q, assembly.qd)
        self.notes.append(f"integrated by {DOP853.name}, the choice for smooth motions, with rtol = {rtol:g}")

    def start(self, t: float, q: Floats, qd: Floats) -> None:
        y = np.concatenate([q, qd])
        self.r = self.runner(t, y, self.local)
        self.checkpoints = [(t, y)]

    def runner(self, t: float, y: Floats, tolerance: float) -> dop853.Runner:
        length = self.system.length
        atol = tolerance * np.tile([length, length, 1.0], 2 * len(self.system.bodies))
        projection = (1e-2 * self.local * length, 1e-14 * length)
        return dop853.new_runner(t, y, tolerance, atol, projection)

    @property
    def t(self) -> float:
        return self.implicit.t if self.implicit is not None else float(self.r.state[dop853.TIME])

    @property
    def state(self) -> tuple[Floats, Floats]:
        if self.implicit is not None:
            return self.implicit.p.q, self.implicit.p.qd
        n = self.system.n
        return self.r.y[:n], self.r.y[n:]

    def advance(self) -> None:
        system = self.system
        if self.implicit is not None:
            self.done, ok = self.implicit.advance(self.times, self.done, self.history)
            if not ok:
                raise self.failure(_TOO_SMALL)
            return
        self.checkpoints.append((self.t, self.r.y.copy()))
        self.done, why = dop853.integrate(
            system.arrays,
            system.load_arrays,
            self.d,
            self.r,
            self.times,
            self.done,
            self.history,
            STEPS_A_CHUNK,
            self.w,
        )
        if why == dop853.TOO_STIFF:
            self.notes.append(
                f"at t = {self.t:.6g} s the motion is stiff; generalized_alpha with error control goes on"
            )
            self.implicit = _Implicit(system, bool(self.redundant), self.t, *self.state, self.local)
        elif why != dop853.DONE:
            self.bridge()

    def bridge(self) -> None:
        """One long step over a singular pose.

        There the accelerations lose their digits, and no step is short enough. The motion itself is smooth, so a
        step that begins and ends well away from the pose is as exact as any other.
        """
        t = self.t
        if t <= self.bridged_at or not self.nearly_singular() or self.system.broken_force(t, *self.state):
            raise self.failure(_TOO_SMALL)
        speed = float(np.abs(self.state[1] / coordinate_scale(self.system)).max()) / self.system.length
        for reach in BRIDGES:
            width = reach / speed if speed > 0.0 else reach
            if self.step_over(t - width, t + width):
                self.bridged_at = t
                self.notes.append(f"at t = {t:.6g} s a singular pose was passed in one step")
                return
        raise self.failure(_TOO_SMALL)

    def nearly_singular(self) -> bool:
        """Whether the constraints are about to lose rank; a force that jumps must not be stepped over."""
        J = self.system.Phi_q(self.t, self.state[0]) * coordinate_scale(self.system)
        norms = np.linalg.norm(J, axis=1, keepdims=True)
        sizes = np.linalg.svd(J / np.where(norms > 0.0, norms, 1.0), compute_uv=False)
        rank = min(J.shape) if not self.redundant else rank_of_rows(J).rank
        return bool(sizes[rank - 1] < SINGULAR * sizes[0])

    def step_over(self, before: float, behind: float) -> bool:
        """Integrate anew up to `before`, then go to `behind` in one step; False where that leads nowhere."""
        earlier = [checkpoint for checkpoint in self.checkpoints if checkpoint[0] < before]
        if not earlier:
            return False
        t, y = earlier[-1]
        n = self.system.n
        clean = self.runner(t, y, self.local)
        if not self.carry(clean, np.array([before]), new_history(1, self.system), 10**6):
            return False
        long = self.runner(before, clean.y, CONCESSION * self.local)
        long.state[dop853.STEP] = behind - before
        self.evaluate(long, before)
        inside = int(np.searchsorted(self.times, behind))
        times = np.append(self.times[self.done : inside], behind)
        history = new_history(times.size, self.system)
        if (
            not self.carry(long, times, history, 1)
            or long.state[dop853.WORST_PHI] > 1e-4 * self.system.length
        ):
            return False
        for target, source in zip(self.history, history, strict=True):
            target[self.done : inside] = source[:-1]
        self.done = inside
        self.counts = self.statistics()
        self.start(behind, long.y[:n], long.y[n:])
        return True

    def carry(self, r: dop853.Runner, times: Floats, history: index3.History, most_steps: int) -> bool:
        """Whether the runner reaches the last of the times."""
        system = self.system
        row, why = dop853.integrate(
            system.arrays, system.load_arrays, self.d, r, times, 0, history, most_steps, self.w
        )
        return bool(why == dop853.DONE and row == times.size)

    def evaluate(self, r: dop853.Runner, t: float) -> None:
        """f(t, y) into the first stage, as a runner with a given step expects it."""
        system, n = self.system, self.system.n
        accelerations(system.arrays, system.load_arrays, self.d, t, r.y[:n], r.y[n:], self.w)
        r.K[0, :n], r.K[0, n:] = r.y[n:], self.w.x[:n]

    def residuals(self) -> dict[str, float]:
        """Before projection; the outputs themselves are on the constraints to rounding."""
        return {
            "position": float(self.r.state[dop853.WORST_PHI]),
            "velocity": float(self.r.state[dop853.WORST_PHID]),
        }

    def results(self, status: str) -> Results:
        singular = self.r.state[dop853.SINGULAR_AT]
        if np.isfinite(singular) and not self.redundant:
            where = f"at the output t = {singular:g} s the constraints lose rank"
            self.notes = [*self.notes, f"{where}; accelerations and reactions there mean little"]
        return super().results(status)

    def statistics(self) -> dict[str, int]:
        state = self.r.state
        now = {
            "steps": int(state[dop853.STEPS]),
            "rejected steps": int(state[dop853.REJECTED]),
            "evaluations": int(state[dop853.EVALUATIONS]),
        }
        if self.implicit is not None:
            now["implicit steps"] = int(self.implicit.p.state[index3.STEPS])
        return {name: count + self.counts.get(name, 0) for name, count in now.items()}


class _Implicit:
    """Generalized-alpha on the index-3 equations with error control."""

    def __init__(
        self, system: System, redundant: bool, t: float, q: Floats, qd: Floats, local: float
    ) -> None:
        self.system = system
        self.d = build(system, redundant, tangent=True)
        self.w = new_work(system, self.d)
        limits = (1e-10, 1e-12)
        self.p = new_stepper(system, self.d, self.w, t, q, qd, GeneralizedAlpha(rho=0.6), limits)
        self.p.state[index3.STEP] = 1e-6
        self.local = local
        self.atol = local * np.tile([system.length, system.length, 1.0], len(system.bodies))

    @property
    def t(self) -> float:
        return float(self.p.state[index3.TIME])

    def advance(self, times: Floats, row: int, history: index3.History) -> tuple[int, bool]:
        """Some thousand steps; the next row to fill, and whether all is well."""
        row, why = index3.integrate_adaptive(
            self.system.arrays, self.system.load_arrays, self.d, self.p, times, row, history, self.local, self.atol,
            STEPS_A_CHUNK, self.w,
        )  # fmt: skip
        return row, why == index3.DONE
