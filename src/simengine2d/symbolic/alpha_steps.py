"""The equations of a symbolic system by Newmark's method and its relatives, in fixed steps.

    M qdd + Phi_q^T lam = QA,      Phi = 0      at the end of the step, with

    (1 - am) a1 + am a0 = (1 - af) qdd1 + af qdd0
    q1  = q0 + h qd0 + h^2 ((1/2 - beta) a0 + beta a1) + c e
    qd1 = qd0 + h ((1 - gamma) a0 + gamma a1)

b and c are the derivatives of q1 and qd1 by qdd1; e, a correction of the positions, is zero in index 3.

Arnold & Bruels, Multibody System Dynamics 18 (2007) 185-202.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ConvergenceError
from ..formulations.augmented_lagrangian import HELD, MOST_PROJECTIONS, AugmentedLagrangian
from ..formulations.ggl import GGL
from ..formulations.stage_iteration import StagedFormulation
from ..methods import AlphaMethod
from ..numerics.arrays import Floats

if TYPE_CHECKING:
    from .states import ConsistentState

MOST_ITERATIONS = 25
CONVERGED = 1e-11  # change of the accelerations, relative to their size


class StepGuess(NamedTuple):
    """A guess for the end of a step."""

    t: float
    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats
    b: float
    c: float


class AlphaIntegration(ABC):
    """Steps of at most h, equally long between two outputs."""

    def __init__(self, state: ConsistentState, method: AlphaMethod, h: float) -> None:
        self.numeric, self.method, self.h = state.system.numeric, method, h
        self.t, self.q, self.qd = state.t, state.q.copy(), state.qd.copy()
        self.qdd, self.lam = self.numeric.accelerations(self.t, self.q, self.qd, (0.0, 0.0))
        self.a = self.qdd.copy()
        self.e = np.zeros(self.numeric.n)
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
        qdd, lam, self.e = self.qdd.copy(), self.lam.copy(), np.zeros(self.numeric.n)
        for _ in range(MOST_ITERATIONS):
            a = self._averaged(qdd)
            q = self.q + h * self.qd + h**2 * ((0.5 - beta) * self.a + beta * a) + c * self.e
            qd = self.qd + h * ((1.0 - gamma) * self.a + gamma * a)
            at = StepGuess(t, q, qd, qdd, lam, b, c)
            change, dlam = self._correction(at)
            qdd, lam = qdd + change, lam + dlam
            self.iterations += 1
            if np.abs(change).max() <= CONVERGED * max(1.0, np.abs(qdd).max()):
                self._accept(self._settled(at._replace(qdd=qdd, lam=lam)))
                return
        raise ConvergenceError(
            f"the step of {self.method.name} to t = {t:g} s does not converge; take a smaller step than {h:g} s."
        )

    def _averaged(self, qdd: Floats) -> Floats:
        """a1 of (1 - am) a1 + am a0 = (1 - af) qdd1 + af qdd0"""
        am, af, _, _ = self.method.coefficients
        return ((1.0 - af) * qdd + af * self.qdd - am * self.a) / (1.0 - am)

    def _accept(self, at: StepGuess) -> None:
        self.a = self._averaged(at.qdd)
        self.t, self.q, self.qd, self.qdd, self.lam = at.t, at.q, at.qd, at.qdd, at.lam
        self.steps += 1

    @abstractmethod
    def _correction(self, at: StepGuess) -> tuple[Floats, Floats]:
        """Newton's corrections of qdd and lam."""

    def _settled(self, at: StepGuess) -> StepGuess:
        """What is done at the end of a step."""
        return at

    # the equations of index 3

    def _balance(self, at: StepGuess) -> Floats:
        """M qdd + Phi_q^T lam - QA"""
        f, state = self.numeric, at[:3]
        return np.asarray(f.M(*state) @ at.qdd + f.Phi_q(*state).T @ at.lam - f.QA(*state))

    def _dynamic_stiffness(self, at: StepGuess) -> Floats:
        """M + b K + c D"""
        f, state = self.numeric, at[:3]
        return np.asarray(f.M(*state) + at.b * f.stiffness(*state, at.qdd, at.lam) + at.c * f.damping(*state))

    def _index3(self, at: StepGuess, compliances: Floats) -> tuple[Floats, Floats]:
        """[M + b K + c D, Phi_q^T; Phi_q, -C] [dqdd; dlam] = -[M qdd + Phi_q^T lam - QA; Phi / b]"""
        A = bordered(self._dynamic_stiffness(at), self.numeric.Phi_q(*at[:3]), compliances)
        right = -np.concatenate([self._balance(at), self.numeric.Phi(*at[:3]) / at.b])
        return self.numeric.parted(at.t, at.q, A, right)

    def counts(self) -> dict[str, int]:
        return {"steps": self.steps, "iterations": self.iterations}


def bordered(corner: Floats, Phi_q: Floats, compliances: Floats) -> Floats:
    """[corner, Phi_q^T; Phi_q, -C]"""
    return np.block([[corner, Phi_q.T], [Phi_q, -np.diag(compliances)]])


class Index3Steps(AlphaIntegration):
    """Constraints hold positions; velocities follow to the order of the method."""

    def _correction(self, at: StepGuess) -> tuple[Floats, Floats]:
        return self._index3(at, np.zeros(self.numeric.m))


class GGLSteps(AlphaIntegration):
    """Constraints hold positions and velocities, by e = W Phi_q^T mu with W the inverse of the diagonal of M."""

    def _correction(self, at: StepGuess) -> tuple[Floats, Floats]:
        """With G = (Phi_q qd - nu)_q and E = W Phi_q^T, by dqdd, dlam and dmu:

        [ M + b K + c D     Phi_q^T   c K E       ]     [ M qdd + Phi_q^T lam - QA ]
        [ Phi_q             0         c/b Phi_q E ] = - [ Phi / b                  ]
        [ Phi_q + b/c G     0         G E         ]     [ (Phi_q qd - nu) / c      ]
        """
        f, state, m = self.numeric, at[:3], self.numeric.m
        Phi_q, G = f.Phi_q(*state), f.slip_slope(*state)
        E = Phi_q.T / np.diag(f.M(*state))[:, None]
        none = np.zeros((m, m))
        K = f.stiffness(*state, at.qdd, at.lam)
        A = np.block([
            [self._dynamic_stiffness(at), Phi_q.T, at.c * K @ E],
            [Phi_q, none, at.c / at.b * Phi_q @ E],
            [Phi_q + at.b / at.c * G, none, G @ E],
        ])  # fmt: skip
        right = -np.concatenate([self._balance(at), f.Phi(*state) / at.b, f.slip(*state) / at.c])
        change, others = f.parted(at.t, at.q, A, right)
        self.e = self.e + E @ others[m:]
        return change, others[:m]


class AugmentedLagrangianSteps(AlphaIntegration):
    """Penalties whose forces multipliers take over; then velocities and accelerations are projected."""

    def __init__(
        self, state: ConsistentState, method: AlphaMethod, h: float, posed: AugmentedLagrangian
    ) -> None:
        super().__init__(state, method, h)
        self.compliances = posed.compliances(self.numeric.mobilities(state.t, state.q, state.qd))

    def _correction(self, at: StepGuess) -> tuple[Floats, Floats]:
        return self._index3(at, self.compliances)

    def _settled(self, at: StepGuess) -> StepGuess:
        """[M, Phi_q^T; Phi_q, -C] with Phi_q qd - nu, then with Phi_q qdd - gamma, until nothing changes."""
        f = self.numeric
        A = bordered(f.M(*at[:3]), f.Phi_q(*at[:3]), self.compliances)
        for _ in range(MOST_PROJECTIONS):
            change = f.parted(at.t, at.q, A, -np.concatenate([np.zeros(f.n), f.slip(*at[:3])]))[0]
            at = at._replace(qd=at.qd + change)
            if _is_held(change, at.qd):
                break
        for _ in range(MOST_PROJECTIONS):
            left = f.Phi_q(*at[:3]) @ at.qdd - f.gamma(*at[:3])
            change, dlam = f.parted(at.t, at.q, A, -np.concatenate([self._balance(at), left]))
            at = at._replace(qdd=at.qdd + change, lam=at.lam + dlam)
            if _is_held(change, at.qdd):
                break
        return at


def _is_held(change: Floats, values: Floats) -> bool:
    return bool(np.abs(change).max() <= HELD * np.abs(values).max())


def alpha_integration(
    state: ConsistentState, method: AlphaMethod, posed: StagedFormulation, h: float
) -> AlphaIntegration:
    """The steps of a formulation; without constraints all are the same."""
    if state.system.m and isinstance(posed, AugmentedLagrangian):
        return AugmentedLagrangianSteps(state, method, h, posed)
    if state.system.m and isinstance(posed, GGL):
        return GGLSteps(state, method, h)
    return Index3Steps(state, method, h)
