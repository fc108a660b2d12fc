"""Implicit methods for second-order equations as one table: all are linear in what is kept of the past.

With rows X_k of positions (level 0), velocities (1) and accelerations (2) kept, and l the level of a row:

    z_i  = sum_k U_ik h^l X_k       + h^2 sum_j B_ij a_j
    zd_i = sum_k V_ik h^(l - 1) X_k + h   sum_j C_ij a_j         the last stage is the end of the step
    X_k  = sum_j S_kj X_j + N_k0 z + N_k1 zd + N_k2 a            what is kept then
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import UnsupportedError
from ..methods import AlphaMethod, Integrator
from ..numerics.arrays import Floats, Ints
from .implicit_runge_kutta import ImplicitTableau


class SecondOrderTable(NamedTuple):
    """Coefficients of one method; the same type for all."""

    c: Floats  # (s), times of the stages
    level: Ints  # (r), of the rows that are kept
    U: Floats  # (s, r)
    V: Floats
    B: Floats  # (s, s)
    C: Floats
    S: Floats  # (r, r)
    N: Floats  # (r, 3)
    rate: int  # the row that is the velocity now; row 0 is the position
    steps: int  # steps that must be known before the method can be used


def alpha_table(coefficients: tuple[float, float, float, float]) -> SecondOrderTable:
    """Newmark's formulas on a0 = weighted and qdd0 = true accelerations; the new weighted one is

    a1 = ((1 - af) qdd1 + af qdd0 - am a0) / (1 - am)
    """
    am, af, beta, gamma = coefficients
    weighted, true = -am / (1.0 - am), af / (1.0 - am)
    share = (1.0 - af) / (1.0 - am)
    U = [[1.0, 1.0, 0.5 - beta + beta * weighted, beta * true]]
    V = [[0.0, 1.0, 1.0 - gamma + gamma * weighted, gamma * true]]
    S = np.zeros((4, 4))
    S[2] = 0.0, 0.0, weighted, true
    N = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, share], [0.0, 0.0, 1.0]]
    level = np.array([0, 1, 2, 2])
    B, C = np.array([[beta * share]]), np.array([[gamma * share]])
    return SecondOrderTable(np.ones(1), level, np.array(U), np.array(V), B, C, S, np.array(N), 1, 1)


def stage_table(A: Floats, c: Floats, base: Floats) -> SecondOrderTable:
    """A stiffly accurate Runge-Kutta method, or BDF, whose base looks back: z, then zd of the steps before, and a.

    zd_i = sum_k w_k zd_(n-k) + h sum_j A_ij a_j,      z_i = sum_k w_k z_(n-k) + h sum_j A_ij zd_j
    """
    back, r = base.size, 2 * base.size + 1
    explicit = int(A[0, 0] == 0.0)  # the first stage is then the beginning of the step
    s = c.size - explicit
    U, V, S, N = np.zeros((s, r)), np.zeros((s, r)), np.zeros((r, r)), np.zeros((r, 3))
    U[:, :back] = V[:, back : 2 * back] = base
    U[:, back : 2 * back] = np.outer(A.sum(axis=1)[explicit:], base)
    if explicit:
        U[:, -1], V[:, -1] = (A @ A)[1:, 0], A[1:, 0]
    for first in (0, back):
        S[first + 1 : first + back, first : first + back - 1] = np.eye(back - 1)
    N[0, 0] = N[back, 1] = N[-1, 2] = 1.0
    level = np.repeat([0, 1, 2], [back, back, 1])
    B, C = (A @ A)[explicit:, explicit:].copy(), A[explicit:, explicit:].copy()
    return SecondOrderTable(c[explicit:].copy(), level, U, V, B, C, S, N, back, back)


def table_of(method: Integrator) -> SecondOrderTable:
    """The table of an alpha method, a stiffly accurate Runge-Kutta method, or BDF."""
    if isinstance(method, AlphaMethod):
        return alpha_table(method.coefficients)
    T = getattr(method, "tableau", None)
    if not isinstance(T, ImplicitTableau) or not np.array_equal(T.A[-1], T.b):
        raise UnsupportedError(
            f"the integrator '{method.name}' does not solve differential-algebraic equations: its steps do not end "
            "in a stage that satisfies the constraints."
        )
    return stage_table(T.A, T.C, T.base)
