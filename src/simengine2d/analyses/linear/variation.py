"""The equations of motion linearized about a state: the response of accelerations to changes of q, qd and forces.

    M qdd + Phi_q^T lam = QA,      Phi_q qdd = gamma

Their linearization has the same matrices on the left, and on the right the derivatives

    -K dq - C dqd + B du,          (gamma_q - (Phi_q qdd)_q) dq + gamma_qd dqd

with K = (Phi_q^T lam)_q - QA_q and C = -QA_qd. All are exact except gamma_q, third derivatives of measures, which is
computed by differences of order 6; at rest it vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import ModelError
from ...numerics.arrays import Floats
from ...system.failures import finite_QA
from ...system.system import System
from ..assembly.diagnose import in_words
from ..statics.stiffness import constraint_stiffness, finite_slopes, jacobian_slope
from ..statics.tangent_space import TangentSpace, tangent_space

# differences of order 6 over -3 .. 3 steps
STEPS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
FIRST = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0
STEP = 2e-3  # typical lengths, or radians
# accelerations, relative to those of the largest force on the largest mass, below which nothing drifts
AT_REST = 1e-8


@dataclass(frozen=True)
class Variation:
    """About the state (t, q, qd), which satisfies the constraints. `held`: drivers are frozen at t."""

    system: System
    t: float
    q: Floats
    qd: Floats
    held: bool = False

    @cached_property
    def space(self) -> TangentSpace:
        return tangent_space(self.system, self.t, self.q)

    @cached_property
    def Z(self) -> Floats:
        return self.space.motions

    @cached_property
    def applied(self) -> Floats:
        return finite_QA(self.system, self.t, self.q, self.qd)

    @cached_property
    def qdd(self) -> Floats:
        right = self.system.gamma(self.t, self.q, self.qd)
        if self.held:
            right = right - self.system.gamma(self.t, self.q, np.zeros(self.system.n))
        return self._accelerations(self.applied, right)

    @cached_property
    def rests(self) -> bool:
        """Whether the state is an equilibrium: nothing moves, and nothing begins to."""
        heaviest = float(np.diag(self.system.M()).max(initial=0.0))
        size = float(np.abs(self.applied).max(initial=0.0)) / max(heaviest, 1e-300)
        drift = float(np.abs(self.qdd).max(initial=0.0))
        return not np.any(self.qd) and drift <= AT_REST * max(size, 1e-300)

    @cached_property
    def lam(self) -> Floats:
        return self.space.multipliers(self.applied - self.system.M() @ self.qdd)

    @cached_property
    def mass(self) -> Floats:
        """Z^T M Z; every free motion must have mass."""
        M = self.Z.T @ self.system.M() @ self.Z
        sizes, axes = np.linalg.eigh(M) if M.size else (np.ones(1), M)
        if sizes[0] <= 1e-13 * sizes[-1]:
            words = in_words(self.system, self.q, self.Z @ axes[:, 0])
            raise ModelError(
                f"a free motion has no mass, so it has no accelerations to linearize: {words}. "
                "Give these bodies a mass and an inertia, or drive the motion."
            )
        return np.asarray(M)

    def _accelerations(self, force: Floats, right: Floats) -> Floats:
        """x of M x + Phi_q^T y = force, Phi_q x = right; several at once as columns."""
        held = self.space.change(right)
        free = np.linalg.solve(self.mass, self.Z.T @ (force - self.system.M() @ held))
        return held + self.Z @ free

    # derivatives

    @cached_property
    def stiffness(self) -> Floats:
        """K, n x n."""
        return constraint_stiffness(self.system, self.t, self.q, self.lam) - self._force_slopes[0]

    @cached_property
    def damping(self) -> Floats:
        """C, n x n."""
        return -self._force_slopes[1]

    @cached_property
    def _force_slopes(self) -> tuple[Floats, Floats]:
        return finite_slopes(self.system, self.t, self.q, self.qd)

    @cached_property
    def jacobian_rate(self) -> Floats:
        """(Phi_q qd)_q, m x n."""
        return jacobian_slope(self.system, self.t, self.q, self.qd)

    @cached_property
    def gamma_q(self) -> Floats:
        """m x n."""
        system, out = self.system, np.zeros((self.system.m, self.system.n))
        if not self.qd.any() or system.m == 0:
            return out
        for j, unit in enumerate(STEP * system.length * self.space.scale):
            around = [system.gamma(self.t, self.q + k * unit * np.eye(system.n)[j], self.qd) for k in STEPS]
            out[:, j] = FIRST @ np.array(around) / unit
        return out

    def answer(self, dq: Floats, dqd: Floats, force: Floats) -> tuple[Floats, Floats]:
        """dqdd and dlam for changes of the state and of the force; one column each."""
        forces = force - self.stiffness @ dq - self.damping @ dqd
        bend = self.gamma_q - jacobian_slope(self.system, self.t, self.q, self.qdd)
        dqdd = self._accelerations(forces, bend @ dq - 2.0 * self.jacobian_rate @ dqd)
        return dqdd, self.space.multipliers(forces - self.system.M() @ dqdd)

    def rates_with(self, dq: Floats) -> Floats:
        """dqd that accompanies dq if no free velocity changes: Phi_q dqd = -(Phi_q qd)_q dq."""
        return -self.space.change(self.jacobian_rate @ dq)
