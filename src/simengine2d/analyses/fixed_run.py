"""Dynamics in fixed steps on the index-3 equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..equations import D, Work, accelerations
from ..formulations import index3
from ..methods import AlphaMethod
from ..system import System
from .assemble import Assembly
from .closure import coordinate_scale
from .run import STEPS_A_CHUNK, Run

Floats = NDArray[np.float64]


class FixedRun(Run):
    """Fixed steps on the index-3 equations."""

    def __init__(
        self,
        system: System,
        assembly: Assembly,
        times: Floats,
        redundant: list[str],
        method: AlphaMethod,
        step: float | None,
        kind: int,
        tolerance: float | None,
    ) -> None:
        super().__init__(system, assembly, times, redundant, tangent=True)
        self.step, self.kind = float(step or 1.0), kind
        n = system.n
        accelerations(
            system.arrays, system.load_arrays, self.d, float(times[0]), assembly.q, assembly.qd, self.w
        )
        qdd, lam = self.w.x[:n].copy(), self.w.x[n:].copy()
        state = np.zeros(7)
        state[index3.TIME] = times[0]
        limits = (1e-10, 1e-12) if tolerance is None else (0.0, tolerance)
        self.p = index3.Stepper(
            assembly.q.copy(), assembly.qd.copy(), qdd, lam, qdd.copy(), np.zeros((4, n)), np.zeros(system.m),
            state, coordinate_scale(system), np.array(method.coefficients), np.array(limits),
        )  # fmt: skip
        self.notes.append(f"integrated by {method.name}, as asked, in steps of {self.step:g} s at most")

    @property
    def t(self) -> float:
        return float(self.p.state[index3.TIME])

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.p.q, self.p.qd

    def advance(self) -> None:
        system = self.system
        self.done, why = index3.integrate(
            system.arrays, system.load_arrays, self.d, self.p, self.times, self.done, self.step, self.kind,
            self.history, STEPS_A_CHUNK, self.w,
        )  # fmt: skip
        if why != index3.DONE:
            raise self.failure(
                f"the step does not converge, even when it is halved {index3.MOST_HALVINGS} times. "
                "Take a smaller step, or look for a dead point or a force that jumps."
            )

    def residuals(self) -> dict[str, float]:
        return {
            "position": float(self.p.state[index3.WORST_PHI]),
            "velocity": float(self.p.state[index3.WORST_PHID]),
        }

    def statistics(self) -> dict[str, int]:
        state = self.p.state
        return {
            "steps": int(state[index3.STEPS]),
            "Newton iterations": int(state[index3.ITERATIONS]),
            "factorizations": int(state[index3.FACTORIZATIONS]),
            "halved steps": int(state[index3.HALVINGS]),
        }


def new_stepper(
    system: System,
    d: D,
    w: Work,
    t: float,
    q: Floats,
    qd: Floats,
    method: AlphaMethod,
    limits: tuple[float, float],
) -> index3.Stepper:
    """An index-3 integration that starts with the accelerations of the given state."""
    n = system.n
    accelerations(system.arrays, system.load_arrays, d, t, q, qd, w)
    qdd, lam = w.x[:n].copy(), w.x[n:].copy()
    state = np.zeros(8)
    state[index3.TIME] = t
    return index3.Stepper(
        q.copy(), qd.copy(), qdd, lam, qdd.copy(), np.zeros((4, n)), np.zeros(system.m),
        state, coordinate_scale(system), np.array(method.coefficients), np.array(limits),
    )  # fmt: skip
