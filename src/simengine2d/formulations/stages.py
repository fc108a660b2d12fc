"""Stages of implicit methods on differential-algebraic equations, in the coordinates z of any family.

Alpha methods, BDF and stiffly accurate Runge-Kutta methods all make positions and velocities linear in the
accelerations of their stages:

    z_i = base_z_i + sum_j B_ij a_j + sum_j C_ij e_j,      zd_i = base_zd_i + sum_j C_ij a_j

and ask at each stage for M a + Phi_z^T lam = Q and for the constraints. e corrects velocities in formulations that hold
constraints of positions and velocities together; else it is 0. So one solver per formulation serves every method, in
every family. Newton's equations, for one stage and with b = B, c = C:

    [ M + b K + c D   Phi_z^T ] [ da   ]     [ M a + Phi_z^T lam - Q ]
    [ Phi_z              0    ] [ dlam ] = - [ Phi / b               ]

    K = d(M a + Phi_z^T lam - Q) / dz,      D = -dQ / dzd,      G = d(Phi_z zd - nu) / dz

Where a constraint holds a velocity, its row is [ Phi_z + (b / c) G   0 ] with (Phi_z zd - nu) / c. The tangent is found
by finite differences, since families have no second derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.base import Family
from ..coordinates.transform import TransformedEquations
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# entries of the options: relative and absolute tolerance of the accelerations, what rounding of a position makes of
# them times b, the iteration, the penalty
RELATIVE, ABSOLUTE, ROUNDING, ITERATION, PENALTY = range(5)
EXACT, MODIFIED, COURSE = range(3)
# entries of the state: b and c are the largest B_ij and C_ij; KEPT is the b of the factors that are kept, else 0
CONVERGED, KEPT, SIZE_B, SIZE_C, CHANGE, LARGEST, ITERATIONS, EVALUATIONS, FACTORIZATIONS, RANK = range(10)
STATE_SIZE = 10

DIFFERENCE = 1e-7  # of a coordinate, for its finite differences


class DaeStages(NamedTuple):
    """The stages of one method, and the arrays in which they are solved."""

    t: Floats
    base_z: Floats  # (s, n)
    base_zd: Floats
    B: Floats  # (s, s)
    C: Floats
    a: Floats  # (s, n)
    lam: Floats  # (s, m)
    mu: Floats
    e: Floats  # (s, n)
    z: Floats
    zd: Floats
    state: Floats


class NewtonEquations(NamedTuple):
    """Newton's equations: the accelerations of all stages, then lam of all stages, then mu."""

    balance: Floats  # (s, n), M a + Phi_z^T lam - Q
    Phi: Floats  # (s, m)
    rate: Floats  # Phi_z zd - nu
    J: Floats  # (s, m, n)
    K: Floats  # (s, n, n)
    G: Floats  # (s, m, n), d(Phi_z zd - nu) / dz
    A: Floats
    right: Floats
    size: Floats  # (n), of the coordinates
    mass: Floats  # (n), the diagonal of M at the last stage
    felt: Floats  # (m), the diagonal of Phi_z M^-1 Phi_z^T there, from these masses
    share: Floats  # (m), of `felt` that penalties take; less than 1 where a light body carries a heavy one
    holds_rate: Floats  # (m), 1 for constraints that hold a velocity and no position, else 0
    options: Floats
    y: Floats
    rows: Floats


class StageLinearization(NamedTuple):
    """Context of `linearize_stages`: the equations of a family, and the stages of a method."""

    pose_f: Any
    pose_c: Any
    E: TransformedEquations
    st: DaeStages
    eq: NewtonEquations


def new_stages(family: Family, s: int) -> DaeStages:
    n, m = family.n, family.m
    a, e, z, zd, base_z, base_zd = (np.zeros((s, n)) for _ in range(6))
    lam, mu = np.zeros((s, m)), np.zeros((s, m))
    return DaeStages(
        np.zeros(s), base_z, base_zd, np.zeros((s, s)), np.zeros((s, s)), a, lam, mu, e, z, zd, np.zeros(STATE_SIZE)
    )  # fmt: skip


def new_newton_equations(family: Family, s: int, multipliers: int, options: Floats) -> NewtonEquations:
    """NewtonEquations with none, one or two kinds of multipliers among the unknowns."""
    n, m = family.n, family.m
    N = s * (n + multipliers * m)
    holds_rate = np.append(
        np.zeros(len(family.own_rows)), np.isin(family.kept, family.system.velocity_rows).astype(float)
    )
    return NewtonEquations(
        np.zeros((s, n)), np.zeros((s, m)), np.zeros((s, m)), np.zeros((s, m, n)), np.zeros((s, n, n)),
        np.zeros((s, m, n)), np.zeros((N, N)), np.zeros(N), np.array(family.sizes, dtype=float), np.ones(n), np.ones(m),
        np.ones(m), holds_rate, options, np.zeros(2 * n), np.zeros(max(n, m)),
    )  # fmt: skip


# The state at the stages ------------------------------------------------------------------------------


@kernel
def add_stages(base, A, X, out):
    """out_i = base_i + sum_j A_ij X_j"""
    for i in range(base.shape[0]):
        for k in range(base.shape[1]):
            out[i, k] = base[i, k]
            for j in range(base.shape[0]):
                out[i, k] += A[i, j] * X[j, k]


@kernel
def add_balance(M, J, Q, a, lam, out):
    """M a + Phi_z^T lam - Q"""
    for k in range(Q.size):
        out[k] = -Q[k]
        for j in range(Q.size):
            out[k] += M[k, j] * a[j]
    for i in range(lam.size):
        for k in range(Q.size):
            out[k] += J[i, k] * lam[i]


@kernel
def add_rates(J, nu, zd, out):
    """Phi_z zd - nu"""
    for i in range(nu.size):
        out[i] = -nu[i]
        for j in range(zd.size):
            out[i] += J[i, j] * zd[j]


@kernel
def add_block(A, first, block):
    """A += block at (first, first)."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            A[first + i, first + j] += block[i, j]


@kernel
def clear(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 0.0


@kernel
def copy(values, out):
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j]


@kernel
def keep_masses(M, J, mass):
    """The diagonal of M; coordinates without a mass are given what they feel through the rows, or else the mean.

    Row i makes Phi_ij^2 / sum_k Phi_ik^2 / m_k of the coordinates k that have a mass.
    """
    total, heavy = 0.0, 0
    for j in range(mass.size):
        mass[j] = 0.0
        if M[j, j] > 0.0:
            total += M[j, j]
            heavy += 1
    for i in range(J.shape[0]):
        share = 0.0
        for k in range(mass.size):
            if M[k, k] > 0.0:
                share += J[i, k] ** 2 / M[k, k]
        for j in range(mass.size if share > 0.0 else 0):
            mass[j] += J[i, j] ** 2 / share
    for j in range(mass.size):
        if M[j, j] > 0.0:
            mass[j] = M[j, j]
        elif mass[j] == 0.0:
            mass[j] = total / max(1, heavy)


@kernel
def weigh(J, mass, felt):
    """What each constraint feels of the masses."""
    for i in range(felt.size):
        felt[i] = 0.0
        for j in range(mass.size):
            felt[i] += J[i, j] ** 2 / mass[j]
        if felt[i] == 0.0:
            felt[i] = 1.0


@kernel
def fill_constraints(A, J, G, B, C, b, c, holds_rate, i):
    """Phi_z^T in the rows of the dynamics of stage i, Phi_z B_ij / b in those of its constraints.

    A constraint that holds a velocity has (B_ij G + C_ij Phi_z) / c there; with mu, that is among the other equations.
    """
    s, m, n = B.shape[0], J.shape[0], J.shape[1]
    for k in range(m):
        row = s * n + i * m + k
        for p in range(n):
            A[i * n + p, row] = J[k, p]
            for j in range(s):
                if holds_rate[k] == 0.0:
                    A[row, j * n + p] = J[k, p] * B[i, j] / b
                elif A.shape[0] == s * (n + m):
                    A[row, j * n + p] = (B[i, j] * G[k, p] + C[i, j] * J[k, p]) / c


# Newton's equations -----------------------------------------------------------------------------------


@kernel
def difference(st, eq, E, i, k, step):
    """Derivatives of stage i by its coordinate, or velocity, k: into K and G, and with B_ij or C_ij into the matrix."""
    s, n = st.a.shape
    share, column = (st.B, k) if k < n else (st.C, k - n)
    add_balance(E.M, E.J, E.Q, st.a[i], st.lam[i], eq.rows)
    for r in range(n):
        slope = (eq.rows[r] - eq.balance[i, r]) / step
        if k < n:
            eq.K[i, r, k] = slope
        for j in range(s):
            eq.A[i * n + r, j * n + column] += share[i, j] * slope
    if k < n:
        add_rates(E.J, E.nu, st.zd[i], eq.rows)
        for r in range(E.Phi.size):
            eq.G[i, r, k] = (eq.rows[r] - eq.rate[i, r]) / step


@kernel
def keep_stage(st, eq, E, i):
    """Everything at stage i."""
    add_balance(E.M, E.J, E.Q, st.a[i], st.lam[i], eq.balance[i])
    add_rates(E.J, E.nu, st.zd[i], eq.rate[i])
    for k in range(E.Phi.size):
        eq.Phi[i, k] = E.Phi[k]
        for j in range(E.Q.size):
            eq.J[i, k, j] = E.J[k, j]


@kernel_pointer
def linearize_stages(posed, t, unused, out):
    """Everything at the present stages; and Newton's matrix, where none is kept."""
    st, eq, E = posed.st, posed.eq, posed.E
    s, n = st.a.shape
    y, anew, columns = eq.y, st.state[KEPT] == 0.0, 0
    add_stages(st.base_z, st.B, st.a, st.z)
    add_stages(st.z, st.C, st.e, st.z)
    add_stages(st.base_zd, st.C, st.a, st.zd)
    if anew:
        columns = 0 if eq.options[ITERATION] == COURSE else 2 * n
        clear(eq.A)
    for i in range(s):
        for k in range(n):
            y[k], y[n + k] = st.z[i, k], st.zd[i, k]
        # first the stage itself, then each coordinate and each velocity changed a little
        for column in range(-1, columns):
            k = max(0, column)
            at = y[k]
            if column >= 0:
                y[k] += DIFFERENCE * max(abs(at), eq.size[k % n])
            invoke(posed.pose_f, posed.pose_c, st.t[i], y, y)
            st.state[EVALUATIONS] += 1.0
            if column >= 0:
                difference(st, eq, E, i, k, y[k] - at)
                y[k] = at
                continue
            keep_stage(st, eq, E, i)
            if anew:
                add_block(eq.A, i * n, E.M)
                keep_masses(E.M, E.J, eq.mass)
                weigh(E.J, eq.mass, eq.felt)
        if anew and eq.A.shape[0] > s * n:
            b, c = st.state[SIZE_B], st.state[SIZE_C]
            fill_constraints(eq.A, eq.J[i], eq.G[i], st.B, st.C, b, c, eq.holds_rate, i)
