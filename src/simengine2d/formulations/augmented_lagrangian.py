from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from .stage_iteration import StagedFormulation
from .stages import KEPT, PENALTY, SIZE_B, SIZE_C, add_balance, add_rates

MOST_PROJECTIONS = 6
HELD = 1e-13  # change at which a projection ends, against what it changes


@kernel_pointer
def complete_augmented(newton, t, y, out):
    """Phi_z^T p Phi_z B_ij in the matrix, with p = alpha / (b S) for each constraint, and -Phi_z^T p Phi beside it."""
    st, eq = newton.st, newton.eq
    s, m, n = eq.J.shape
    anew = st.state[KEPT] == 0.0
    for row in range(s * m):
        i, k = row // m, row % m
        held = eq.holds_rate[k] == 1.0
        p = eq.options[PENALTY] / (
            (st.state[SIZE_C] if held else st.state[SIZE_B]) * eq.felt[k] * eq.share[k]
        )
        gap = eq.rate[i, k] if held else eq.Phi[i, k]
        for r in range(n):
            pull = p * eq.J[i, k, r]
            eq.right[i * n + r] -= pull * gap
            for column in range(s * n if anew and pull != 0.0 else 0):
                eq.A[i * n + r, column] += pull * slope(st, eq, held, i, k, column // n, column % n)


@kernel
def slope(st, eq, held, i, k, j, p):
    """Derivative of constraint k of stage i by acceleration p of stage j."""
    if held:
        return st.C[i, j] * eq.J[i, k, p] + st.B[i, j] * eq.G[i, k, p]
    return st.B[i, j] * eq.J[i, k, p]


@kernel_pointer
def follow_augmented(newton, t, y, out):
    """lam += p (Phi + Phi_z dz)"""
    st, eq, x = newton.st, newton.eq, newton.factors.x
    s, m, n = eq.J.shape
    for row in range(s * m):
        i, k = row // m, row % m
        held = eq.holds_rate[k] == 1.0
        gap = eq.rate[i, k] if held else eq.Phi[i, k]
        for column in range(s * n):
            gap += slope(st, eq, held, i, k, column // n, column % n) * x[column]
        size = st.state[SIZE_C] if held else st.state[SIZE_B]
        st.lam[i, k] += eq.options[PENALTY] / (size * eq.felt[k] * eq.share[k]) * gap


# Projections ------------------------------------------------------------------------------------------


@kernel
def factor_projection(M, J, penalty, felt, share, K, pivots):
    """M + Phi_z^T p Phi_z with p = alpha / S, factored in K."""
    n = pivots.size
    for i in range(n):
        for j in range(n):
            K[i, j] = M[i, j]
            for k in range(felt.size):
                K[i, j] += penalty / (felt[k] * share[k]) * J[k, i] * J[k, j]
    lu_factor(K, pivots)


@kernel
def project_rates(K, pivots, J, penalty, felt, share, gaps, right, values, size):
    """Add the solution dx of (M + Phi_z^T p Phi_z) dx = right - Phi_z^T p gaps to the values; whether they stay.

    The gaps become those that are left: gaps + Phi_z dx.
    """
    n, change, largest = values.size, 0.0, 0.0
    for k in range(gaps.size):
        for j in range(n):
            right[j] -= penalty / (felt[k] * share[k]) * J[k, j] * gaps[k]
    lu_solve(K, pivots, right)
    for j in range(n):
        values[j] += right[j]
        change = max(change, abs(right[j]) / size[j])
        largest = max(largest, abs(values[j]) / size[j])
        for k in range(gaps.size):
            gaps[k] += J[k, j] * right[j]
    return change <= HELD * largest


@kernel_pointer
def settle_augmented(c, t, y, out):
    """Project velocities, then accelerations, of the last stage; M a + Phi_z^T lam = Q stays true."""
    st, eq, E, pivots = c.posed.st, c.posed.eq, c.posed.E, c.factors.pivots
    last, n, penalty = st.t.size - 1, pivots.size, eq.options[PENALTY]
    gaps, right, K = eq.rate[last], eq.balance[last], eq.K[last]
    for level in range(2):
        values = st.zd[last] if level == 0 else st.a[last]
        for j in range(n):
            eq.y[j], eq.y[n + j] = st.z[last, j], st.zd[last, j]
        invoke(c.posed.pose_f, c.posed.pose_c, t, eq.y, eq.y)
        factor_projection(E.M, E.J, penalty, eq.felt, eq.share, K, pivots)
        for _ in range(MOST_PROJECTIONS):
            add_rates(E.J, E.nu if level == 0 else E.gamma, values, gaps)
            add_balance(E.M, E.J, E.Q, st.a[last], st.lam[last], right)
            for j in range(n):
                right[j] = 0.0 if level == 0 else -right[j]
            held = project_rates(K, pivots, E.J, penalty, eq.felt, eq.share, gaps, right, values, eq.size)
            for k in range(gaps.size):
                if level == 1:
                    st.lam[last, k] += penalty / (eq.felt[k] * eq.share[k]) * gaps[k]
            if held:
                break


@dataclass(frozen=True)
class AugmentedLagrangian(StagedFormulation):
    """Index 3 by penalties with multipliers that take over their forces, then projections onto the constraints' rates.

        (M + b K + c D + Phi_z^T alpha S^-1 Phi_z) da = -(M a + Phi_z^T lam - Q) - Phi_z^T alpha (b S)^-1 Phi
        lam += alpha (b S)^-1 (Phi + b Phi_z da)

    until nothing changes any more, so that the penalty is no force of the result; then, at the end of the step,

        (M + Phi_z^T alpha S^-1 Phi_z) zd = M zd* + Phi_z^T alpha S^-1 nu
        (M + Phi_z^T alpha S^-1 Phi_z) a  = M a*  + Phi_z^T alpha S^-1 gamma

    S, the diagonal of Phi_z M^-1 Phi_z^T, makes alpha a pure number: the mass of the penalty against the mass that a
    constraint feels; S is less where a light body carries a heavy one. The matrix is regular whatever the constraints
    are.

    Cuadrado, Cardenal & Bayo, Multibody System Dynamics 1 (1997) 259-280.
    """

    name: ClassVar[str] = "augmented_lagrangian"
    complete = complete_augmented
    follow = follow_augmented
    settle = settle_augmented
    multipliers: ClassVar[int] = 0
    keeps_factors: ClassVar[bool] = False  # a penalty on earlier gradients would hinder the motion itself
    holds_velocities: ClassVar[bool] = True
    alpha: float = 1e6

    def __post_init__(self) -> None:
        if not 1.0 <= self.alpha <= 1e12:
            raise ModelError(f"augmented_lagrangian needs alpha from 1 to 1e12, not {self.alpha}.")

    @property
    def penalty(self) -> float:
        return self.alpha
