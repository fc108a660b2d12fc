"""Dynamics with error control: explicit where that is possible, implicit where it must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..equations import new_work
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
from .run import STEPS_A_CHUNK, Run, new_history

Floats = NDArray[np.float64]

LOCAL = 0.1  # error allowed in one step, against `rtol` for the whole motion: errors of many steps add up
# how far implicit steps lead over a singular pose, in units of the time that one length or radian takes
BRIDGE = 1e-2

_TOO_SMALL = (
    "the step became too small. Look for a singular pose, or a force that jumps or grows without bound."
)


class AdaptiveRun(Run):
    """Error-controlled steps on the index-1 equations, projected on the constraints.

    Where these equations are stiff, error-controlled generalized-alpha steps on the index-3 equations take over; where
    they are singular, such steps lead over the singular pose.
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
        length = self.system.length
        atol = self.local * np.tile([length, length, 1.0], 2 * len(self.system.bodies))
        tolerances = (1e-2 * self.local * length, 1e-14 * length)
        self.r = dop853.new_runner(t, np.concatenate([q, qd]), self.local, atol, tolerances)

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
        """Implicit steps over a singular pose, then explicit ones again."""
        t, (q, qd) = self.t, self.state
        if self.system.broken_force(t, q, qd) or t <= self.bridged_at:
            raise self.failure(_TOO_SMALL)
        speed = float(np.abs(qd / coordinate_scale(self.system)).max()) / self.system.length
        width = min(BRIDGE / speed if speed > 0.0 else BRIDGE, self.times[-1] - t)
        implicit = _Implicit(self.system, True, t, q, qd, self.local)
        inside = np.searchsorted(self.times, t + width)
        times = np.append(self.times[self.done : inside], t + width)
        history = new_history(times.size, self.system)
        row, ok = 0, True
        while ok and row < times.size:
            row, ok = implicit.advance(times, row, history)
        if not ok:
            raise self.failure(_TOO_SMALL)
        for target, source in zip(self.history, history, strict=True):
            target[self.done : inside] = source[:-1]
        self.done, self.bridged_at = int(inside), t
        self.collect_counts()
        self.start(t + width, implicit.p.q, implicit.p.qd)
        self.notes.append(f"at t = {t:.6g} s a singular pose was passed by implicit steps")

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

    def collect_counts(self) -> None:
        self.counts = self.statistics()

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
