"""Stages in the coordinates of any family, by dense matrices. The tangent is found by finite differences.

Unknowns are the accelerations of all stages, then lam of all stages, then mu. e follows from mu,
e = (b / c) W Phi_z^T mu with the inverse W of the diagonal of M; so with S = Phi_z W Phi_z^T, Newton's equations of one
stage are

    [ M + b K + c D        Phi_z^T   b K W Phi_z^T        ] [ da   ]     [ M a + Phi_z^T lam - Q ]
    [ Phi_z                   0      S                    ] [ dlam ] = - [ Phi / b               ]
    [ Phi_z + (b / c) G       0      (b / c) G W Phi_z^T  ] [ dmu  ]     [ (Phi_z zd - nu) / c   ]

They are scaled such that the mass of each coordinate, and the mass that each constraint feels, is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.echelon import echelon, echelon_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from .stage_scales import keep_masses, scale, weigh
from .stages import (
    ACCELERATION,
    CHANGE,
    EVALUATIONS,
    LEVEL,
    RANK,
    SIZE_B,
    SIZE_C,
    VELOCITY,
    StageEquations,
    Stages,
    StageTask,
    is_kept,
    keep_factors,
    tangent_shares,
)
from .transform import TransformedEquations

if TYPE_CHECKING:
    from .base import Family

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DIFFERENCE = 1e-7  # of a coordinate, for its finite differences


class DenseStages(NamedTuple):
    """Context of the kernel pointers."""

    evaluate_f: Any
    evaluate_c: Any
    E: TransformedEquations
    st: Stages
    M: Floats  # (s, n, n)
    J: Floats  # (s, m, n)
    K: Floats  # (s, n, n)
    G: Floats  # (s, m, n), d(Phi_z zd - nu) / dz
    A: Floats
    right: Floats
    x: Floats
    unit: Floats  # of the unknowns
    exchanged: Ints
    column: Ints
    size: Floats  # (n), of the coordinates
    mass: Floats  # (n), the diagonal of M at the last stage
    felt: Floats  # (m), the diagonal of Phi_z M^-1 Phi_z^T there, from these masses
    compliance: Floats  # (m)
    holds_rate: Floats  # (m), 1 for constraints that hold a velocity and no position, else 0
    y: Floats
    rows: Floats
    twice: int


def dense_stages(family: Family, task: StageTask) -> StageEquations:
    st, n, m = task.st, family.n, family.m
    s = st.t.size
    N = s * (n + (2 if task.twice else 1) * m)
    holds_rate = np.append(
        np.zeros(len(family.own_rows)),
        np.isin(family.remaining_rows, family.system.velocity_rows).astype(float),
    )
    context = DenseStages(
        family.fill_matrices.f, family.fill_matrices.c, family.matrices, st, np.zeros((s, n, n)), np.zeros((s, m, n)),
        np.zeros((s, n, n)), np.zeros((s, m, n)), np.zeros((N, N)), np.zeros(N), np.zeros(N), np.ones(N),
        np.zeros(N, dtype=np.int64), np.zeros(N, dtype=np.int64), np.array(family.sizes, dtype=float), np.ones(n),
        np.ones(m), task.compliance, holds_rate, np.zeros(2 * n), np.zeros(max(n, m)), int(task.twice),
    )  # fmt: skip
    names = ("A", "unit", "exchanged", "column", "mass", "felt")
    kept = {name: getattr(context, name) for name in names}
    evaluate = evaluate_dense.bind(context)
    return StageEquations(evaluate, solve_dense.bind_like(evaluate), kept)


# What is left of the equations ------------------------------------------------------------------------


@kernel_pointer
def evaluate_dense(c, t, y, out):
    """What the present stages leave of the equations; M and Phi_z of each stage are kept."""
    st, E = c.st, c.E
    for i in range(st.t.size):
        pose_stage(c, i, -1, 0.0)
        for j in range(E.Q.size):
            for k in range(E.Q.size):
                c.M[i, j, k] = E.M[j, k]
            for k in range(E.Phi.size):
                c.J[i, k, j] = E.J[k, j]
        find_balance(E.M, E.J, E.Q, st.a[i], st.lam[i], st.balance[i])
        find_gaps(c, i)


@kernel
def pose_stage(c, i, column, step):
    """The equations at stage i, with one coordinate or velocity changed."""
    st, n = c.st, c.E.Q.size
    for k in range(n):
        c.y[k], c.y[n + k] = st.z[i, k], st.zd[i, k]
    if column >= 0:
        c.y[column] += step
    invoke(c.evaluate_f, c.evaluate_c, st.t[i], c.y, c.y)
    st.state[EVALUATIONS] += 1.0


@kernel
def find_balance(M, J, Q, a, lam, out):
    """M a + Phi_z^T lam - Q"""
    for k in range(Q.size):
        out[k] = -Q[k]
        for j in range(Q.size):
            out[k] += M[k, j] * a[j]
    for i in range(lam.size):
        for k in range(Q.size):
            out[k] += J[i, k] * lam[i]


@kernel
def find_rates(J, nu, zd, out):
    """Phi_z zd - nu"""
    for i in range(nu.size):
        out[i] = -nu[i]
        for j in range(zd.size):
            out[i] += J[i, j] * zd[j]


@kernel
def find_gaps(c, i):
    """Phi / b and (Phi_z zd - nu) / c; or the rate itself, or Phi_z zdd - gamma, where that is the level."""
    st, E, gap = c.st, c.E, c.st.gap[i]
    level, b, rates = st.options[LEVEL], st.state[SIZE_B], st.state[SIZE_C]
    if level == ACCELERATION:
        find_rates(E.J, E.gamma, st.a[i], gap)
        return
    find_rates(E.J, E.nu, st.zd[i], st.rate[i])
    for k in range(gap.size):
        if level == VELOCITY:
            gap[k] = st.rate[i, k]
            continue
        st.rate[i, k] /= rates
        gap[k] = E.Phi[k] / b
        if c.holds_rate[k] == 1.0:
            gap[k] = st.rate[i, k] if c.twice == 0 else c.felt[k] * st.mu[i, k]


# Newton's equations -----------------------------------------------------------------------------------


@kernel_pointer
def solve_dense(c, t, y, out):
    """The corrections of all stages."""
    st, state, x, right, unit = c.st, c.st.state, c.x, c.right, c.unit
    if not is_kept(state):
        fill_matrix(c)
        scale(c.A, c.J, st.t.size, c.mass, c.felt, unit)
        state[RANK] = echelon(c.A, c.exchanged, c.column)
        keep_factors(state)
    right_side(c)
    for k in range(x.size):
        right[k] *= unit[k]
    left = echelon_solve(c.A, c.exchanged, c.column, int(state[RANK]), right, x)
    for k in range(x.size):
        x[k] *= unit[k]
    state[CHANGE] = contradiction(left, c.mass, c.size)
    take_corrections(c)


@kernel
def right_side(c):
    """What is left of the equations, with the opposite sign."""
    st, right, k = c.st, c.right, 0
    s, n = st.a.shape
    m = st.lam.shape[1]
    for i in range(s):
        for j in range(n):
            right[k] = -st.balance[i, j]
            k += 1
    for i in range(s * m):
        right[k] = -st.gap[i // m, i % m]
        k += 1
    for i in range(s * m if c.twice == 1 else 0):
        right[k] = -st.rate[i // m, i % m]
        k += 1


@kernel
def take_corrections(c):
    """da, dlam and dmu out of x; e = (b / c) W Phi_z^T mu"""
    st, x = c.st, c.x
    s, n = st.a.shape
    m, share = st.lam.shape[1], 0.0
    for i in range(s):
        for j in range(n):
            st.da[i, j] = x[i * n + j]
        for k in range(m):
            st.dlam[i, k] = x[s * n + i * m + k]
    if c.twice == 0:
        return
    share = st.state[SIZE_B] / st.state[SIZE_C]
    for i in range(s):
        for k in range(m):
            st.dmu[i, k] = x[s * (n + m) + i * m + k]
        for j in range(n):
            st.de[i, j] = -st.e[i, j]
            for k in range(m):
                st.de[i, j] += share * c.J[i, k, j] * (st.mu[i, k] + st.dmu[i, k]) / c.mass[j]


@kernel
def contradiction(left, mass, size):
    """What redundant equations contradict each other, as an acceleration in sizes of the coordinates."""
    heaviest = 0.0
    for j in range(mass.size):
        heaviest = max(heaviest, mass[j] * size[j] ** 2)
    return left / np.sqrt(heaviest) if left > 0.0 else 0.0


@kernel
def fill_matrix(c):
    """Newton's matrix of all stages."""
    st, A = c.st, c.A
    s, n = st.a.shape
    keep_masses(c.M[s - 1], c.J[s - 1], c.mass)
    weigh(c.J[s - 1], c.mass, c.felt)
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            A[i, j] = 0.0
    for i in range(s):
        for j in range(n):
            for k in range(n):
                A[i * n + j, i * n + k] += c.M[i, j, k]
        for column in range(2 * n if tangent_shares(st) == 1.0 else 0):
            difference(c, i, column)
        fill_constraints(c, i)
    if c.twice == 1:
        fill_corrections(c)


@kernel
def difference(c, i, k):
    """Derivatives of stage i by its coordinate, or velocity, k: into K and G, and with B_ij or C_ij into the matrix."""
    st, E, rows = c.st, c.E, c.rows
    s, n = st.a.shape
    share, column = (st.B, k) if k < n else (st.C, k - n)
    at = st.z[i, k] if k < n else st.zd[i, column]
    step = at + DIFFERENCE * max(abs(at), c.size[column]) - at
    pose_stage(c, i, k, step)
    find_balance(E.M, E.J, E.Q, st.a[i], st.lam[i], rows)
    for r in range(n):
        slope = (rows[r] - st.balance[i, r]) / step
        if k < n:
            c.K[i, r, k] = slope
        for j in range(s):
            c.A[i * n + r, j * n + column] += share[i, j] * slope
    if k < n:
        find_rates(E.J, E.nu, st.zd[i], rows)
        for r in range(E.Phi.size):
            c.G[i, r, k] = (rows[r] - st.rate[i, r] * st.state[SIZE_C]) / step


@kernel
def fill_constraints(c, i):
    """Phi_z^T in the rows of the dynamics of stage i, Phi_z B_ij / b in those of its constraints.

    A constraint that holds a velocity has (B_ij G + C_ij Phi_z) / c there; with mu, that is among the other equations.
    """
    st, A, J, G = c.st, c.A, c.J[i], c.G[i]
    s, n, m = st.t.size, J.shape[1], J.shape[0]
    b, rates, at_once = st.state[SIZE_B], st.state[SIZE_C], st.options[LEVEL] > 0.0
    for k in range(m):
        row = s * n + i * m + k
        A[row, row] -= c.compliance[k]
        for p in range(n):
            A[i * n + p, row] = J[k, p]
            if at_once:
                A[row, i * n + p] = J[k, p]
            for j in range(0 if at_once else s):
                if c.holds_rate[k] == 0.0:
                    A[row, j * n + p] = J[k, p] * st.B[i, j] / b
                elif c.twice == 0:
                    A[row, j * n + p] = (st.B[i, j] * G[k, p] + st.C[i, j] * J[k, p]) / rates


@kernel
def fill_corrections(c):
    """Columns of mu, which moves positions alone, and rows of the velocity constraints."""
    st = c.st
    s, m, n = c.J.shape
    for i in range(s):
        for k in range(m):
            if c.holds_rate[k] == 1.0:  # where no position is held, mu = 0
                c.A[s * n + i * m + k, s * (n + m) + i * m + k] = c.felt[k]
        for j in range(s):
            for k in range(m):
                fill_rate(c, i, j, k)
                for p in range(n):
                    move(
                        c,
                        i,
                        j,
                        k,
                        p,
                        st.C[i, j] * st.state[SIZE_B] / st.state[SIZE_C] * c.J[j, k, p] / c.mass[p],
                    )


@kernel
def fill_rate(c, i, j, k):
    """(B_ij G + C_ij Phi_z) / c of constraint k."""
    st = c.st
    s, m, n = c.J.shape
    for p in range(n):
        slope = st.B[i, j] * c.G[i, k, p] + st.C[i, j] * c.J[i, k, p]
        c.A[s * (n + m) + i * m + k, j * n + p] = slope / st.state[SIZE_C]


@kernel
def move(c, i, j, k, p, dz):
    """What mu_k of stage j does to stage i by moving its coordinate p by dz."""
    A, s, m, n = c.A, c.J.shape[0], c.J.shape[1], c.J.shape[2]
    mu = s * (n + m) + j * m + k
    if dz == 0.0:
        return
    for r in range(n):
        A[i * n + r, mu] += c.K[i, r, p] * dz
    for r in range(m):
        if c.holds_rate[r] == 0.0:
            A[s * n + i * m + r, mu] += c.J[i, r, p] * dz / c.st.state[SIZE_B]
        A[s * (n + m) + i * m + r, mu] += c.G[i, r, p] * dz / c.st.state[SIZE_C]
