"""The index-3 equations of a symbolic system by Newmark's method and its relatives.

    M qdd + Phi_q^T lam = QA,      Phi = 0      at the end of the step, with

    (1 - am) a1 + am a0 = (1 - af) qdd1 + af qdd0
    q1  = q0 + h qd0 + h^2 ((1/2 - beta) a0 + beta a1)
    qd1 = qd0 + h ((1 - gamma) a0 + gamma a1)

Arnold & Bruels, Multibody System Dynamics 18 (2007) 185-202.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConvergenceError
from ..methods import AlphaMethod
from ..numerics.arrays import Floats

if TYPE_CHECKING:
    from .evaluation import Evaluation

MOST_ITERATIONS = 25
CONVERGED = 1e-11  # change of the accelerations, relative to their size


class Index3Integration:
    """Steps of at most h, equally long between two outputs."""

    def __init__(
        self, numeric: Evaluation, method: AlphaMethod, t: float, q: Floats, qd: Floats, h: float
    ) -> None:
        self.numeric, self.method, self.h = numeric, method, h
        self.t, self.q, self.qd = t, q.copy(), qd.copy()
        self.qdd, self.lam = numeric.accelerations(t, q, qd, (0.0, 0.0))
        self.a = self.qdd.copy()
        self.steps = self.iterations = 0

    def advance(self, t: float) -> None:
        """To the time t."""
        count = ceil((t - self.t) / self.h - 1e-9)
        begin, h = self.t, (t - self.t) / max(count, 1)
        for i in range(count):
            self._step(t if i == count - 1 else begin + (i + 1) * h, h)

    def _step(self, t: float, h: float) -> None:
        am, af, beta, gamma = self.method.coefficients
        weight = (1.0 - af) / (1.0 - am)
        b, c = beta * h**2 * weight, gamma * h * weight
        qdd, lam = self.qdd.copy(), self.lam.copy()
        for _ in range(MOST_ITERATIONS):
            a = ((1.0 - af) * qdd + af * self.qdd - am * self.a) / (1.0 - am)
            q = self.q + h * self.qd + h**2 * ((0.5 - beta) * self.a + beta * a)
            qd = self.qd + h * ((1.0 - gamma) * self.a + gamma * a)
            change, dlam = self._correction(t, q, qd, qdd, lam, b, c)
            qdd, lam = qdd + change, lam + dlam
            self.iterations += 1
            if np.abs(change).max() <= CONVERGED * max(1.0, np.abs(qdd).max()):
                self.t, self.q, self.qd, self.qdd, self.lam, self.a = t, q, qd, qdd, lam, a
                self.steps += 1
                return
        raise ConvergenceError(
            f"the step of {self.method.name} to t = {t:g} s does not converge; take a smaller step than {h:g} s."
        )

    def _correction(
        self, t: float, q: Floats, qd: Floats, qdd: Floats, lam: Floats, b: float, c: float
    ) -> tuple[Floats, Floats]:
        """[M + b K + c D, Phi_q^T; Phi_q, 0] [dqdd; dlam] = -[M qdd + Phi_q^T lam - QA; Phi / b]"""
        f, n = self.numeric, self.numeric.n
        M, Phi_q = f.M(t, q, qd), f.Phi_q(t, q, qd)
        A = np.zeros((n + f.m, n + f.m))
        A[:n, :n] = M + b * f.stiffness(t, q, qd, qdd, lam) + c * f.damping(t, q, qd)
        A[:n, n:], A[n:, :n] = Phi_q.T, Phi_q
        balance = M @ qdd + Phi_q.T @ lam - f.QA(t, q, qd)
        return f.parted(t, q, A, -np.concatenate([balance, f.Phi(t, q, qd) / b]))

    def counts(self) -> dict[str, int]:
        return {"steps": self.steps, "iterations": self.iterations}
