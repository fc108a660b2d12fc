"""Stages in reference-point coordinates, by the elimination program of the bodies: linear in their number.

A single stage has a symmetric matrix, which is factored as L D L^T; several stages, or mu and e beside lam and a, make
a block of each number of it. Second derivatives are exact; of those of forces, a single stage takes the symmetric part.

    [ da ]  of all stages      M delta_ij + B_ij K_i + C_ij D_i    (b / c) C_ij K_i      Phi_q^T       0
    [ de ] (c / b)             0                                   W^-1                     0       -Phi_q^T
    [ dlam ]                   B_ij Phi_q / b                      C_ij Phi_q / c           0          0
    [ dmu ]                    (B_ij G + C_ij Phi_q) / c           (b / c^2) C_ij G         0          0

-eps makes redundant constraints legal, here as in `numerics/ldl.py`; Newton's iteration refines it away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.formula import VELOCITY as OF_VELOCITY
from ...numerics.arrays import constant
from ...numerics.block_elimination import Blocks, eliminate_blocks, new_blocks, solve_blocks
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.ldl import eliminate, solve_again, substitute
from ...system.constraints import SystemArrays, gamma, phi
from ...system.derivatives import add_tangent, newton_matrix, rate_slopes
from ...system.elimination import elimination_program
from ...system.equations_of_motion import EquationArrays, evaluate_state
from ...system.system import System
from ...system.workspace import Workspace
from ..stages import (
    ACCELERATION,
    CHANGE,
    EVALUATIONS,
    LEVEL,
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

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class SparseStages(NamedTuple):
    """Context of the kernel pointers."""

    S: SystemArrays
    D: EquationArrays
    w: Workspace
    st: Stages
    mass: Floats  # W^-1
    share: Floats  # (m), Phi_q W Phi_q^T in the drawn pose
    compliance: Floats  # (m)
    slack: Floats  # (m): eps dlam as an acceleration, where constraints are redundant
    twice: int  # whether there are mu and e
    loads: int  # whether there are forces that depend on the state
    # of several equations for each coordinate
    K: Blocks
    G: Floats  # by the non-zeros of Phi_q
    slot: Ints  # of all pairs of coordinates
    ascending: Ints  # whether the first of the pair is eliminated first
    coordinate_first: Ints  # the same of each non-zero of Phi_q


def sparse_stages(system: System, task: StageTask) -> StageEquations:
    st, n = task.st, system.n
    D = elimination_program(system, task.redundant, True)
    soft = bool(task.compliance.any())
    if soft:
        template = D.template.copy()
        template[D.diagonal[n:]] = -task.compliance
        D = constant(D._replace(template=template))
    w, mass = system.new_workspace(D), D.masses
    share = np.where(D.shares > 0.0, D.shares, 1.0)
    eps = np.zeros(system.m) if soft else -D.template[D.diagonal[n:]]
    heaviest = float(np.max(mass * system.sizes**2, initial=0.0)) or 1.0
    slack = eps / np.sqrt(share * heaviest)
    loads = system.load_arrays.laws.functions.shape[0] > 0
    several = st.t.size > 1 or task.twice
    size = st.t.size * (2 if task.twice else 1)
    pairs = _pairs(D, n) if several else (np.zeros(0, dtype=np.int64),) * 3
    context = SparseStages(
        system.arrays, D, w, st, mass, share, task.compliance, slack, int(task.twice), int(loads),
        new_blocks(D.program, size if several else 0), np.zeros(system.arrays.jac_column.size), *pairs,
    )  # fmt: skip
    evaluating = evaluate.bind(context)
    solving = (solve_coupled if several else solve_single).bind_like(evaluating)
    kept = {"upper": context.K.upper, "lower": context.K.lower} if several else {"v": w.v}
    return StageEquations(evaluating, solving, kept)


def _pairs(D: EquationArrays, n: int) -> tuple[Ints, Ints, Ints]:
    """The slots of pairs of coordinates, whether their order is that of elimination; the same of Phi_q."""
    order, pivot, column = (part.astype(np.int64) for part in D.program[:3])
    row = np.repeat(np.arange(order.size), np.diff(pivot))
    inner = column < order.size  # the last slot of each row is a right-hand side
    first, second = order[row], order[np.where(inner, column, 0)]
    slot = np.flatnonzero(inner & (first < n) & (second < n))
    ascending = (first <= second)[slot].astype(np.int64)
    return slot, ascending, (first[D.jacobian] < n).astype(np.int64)


# What is left of the equations ------------------------------------------------------------------------


@kernel_pointer
def evaluate(c, t, y, out):
    """What the present stages leave of the equations."""
    st = c.st
    for i in range(st.t.size):
        evaluate_state(c.S, st.t[i], st.z[i], st.zd[i], c.w)
        st.state[EVALUATIONS] += 1.0
        find_gaps(c, st, i, st.gap[i])
        find_balance(c, st.a[i], st.lam[i], st.balance[i])
        if c.twice == 1:
            find_slips(c, st, i)


@kernel
def find_balance(c, a, lam, out):
    """M a + Phi_q^T lam - QA"""
    S, w = c.S, c.w
    for i in range(S.mass.size):
        out[3 * i] = S.mass[i] * a[3 * i] - w.Q[3 * i]
        out[3 * i + 1] = S.mass[i] * a[3 * i + 1] - w.Q[3 * i + 1]
        out[3 * i + 2] = S.inertia[i] * a[3 * i + 2] - w.Q[3 * i + 2]
    for k in range(lam.size):
        for p in range(S.jac_start[k], S.jac_start[k + 1]):
            out[S.jac_column[p]] += w.data[p] * lam[k]


@kernel
def find_gaps(c, st, i, gap):
    """Phi / b and (Phi_q qd - nu) / c; or the rate itself, or Phi_q qdd - gamma, where that is the level."""
    S, w, zd = c.S, c.w, st.zd[i]
    level, b, rates = st.options[LEVEL], st.state[SIZE_B], st.state[SIZE_C]
    if level == ACCELERATION:
        gamma(S, w, w.row)
        for k in range(gap.size):
            gap[k] = -w.row[k]
            for p in range(S.jac_start[k], S.jac_start[k + 1]):
                gap[k] += w.data[p] * st.a[i, S.jac_column[p]]
        return
    if level == VELOCITY:
        rates = 1.0
    else:
        phi(S, w, w.row)
    for k in range(gap.size):
        holds_rate = S.formulas.level[k] == OF_VELOCITY
        gap[k] = w.row[k] / b if level != VELOCITY else 0.0
        if c.twice == 1 or holds_rate or level == VELOCITY:
            rate = -w.f[k, 1]
            for p in range(S.jac_start[k], S.jac_start[k + 1]):
                rate += w.data[p] * zd[S.jac_column[p]]
            st.rate[i, k] = rate / rates
            if holds_rate or level == VELOCITY:
                gap[k] = st.rate[i, k] if c.twice == 0 else c.share[k] * st.mu[i, k]


@kernel
def find_slips(c, st, i):
    """(c / b) W^-1 e - Phi_q^T mu"""
    S, slip, scale = c.S, st.slip[i], st.state[SIZE_C] / st.state[SIZE_B]
    for j in range(slip.size):
        slip[j] = scale * c.mass[j] * st.e[i, j]
    for k in range(st.mu.shape[1]):
        for p in range(S.jac_start[k], S.jac_start[k + 1]):
            slip[S.jac_column[p]] -= c.w.data[p] * st.mu[i, k]


# One equation for each coordinate ---------------------------------------------------------------------


@kernel_pointer
def solve_single(c, t, y, out):
    """The corrections of a single stage, by L D L^T."""
    S, D, w, st, state = c.S, c.D, c.w, c.st, c.st.state
    n, m = st.a.shape[1], st.lam.shape[1]
    if is_kept(state):
        for j in range(n):
            w.rest[j] = -st.balance[0, j]
        for k in range(m):
            w.rest[n + k] = -st.gap[0, k]
        solve_again(D.program, w.v, w.rest, w.x, w.work)
    else:
        full = tangent_shares(st)
        newton_matrix(S, D, st.t[0], st.z[0], st.zd[0], st.lam[0], full * st.B[0, 0], full * st.C[0, 0], w)
        for j in range(n):
            w.v[D.right[j]] = -st.balance[0, j]
        for k in range(m):
            w.v[D.right[n + k]] = -st.gap[0, k]
        eliminate(D.program, w.v)
        substitute(D.program, w.v, w.x, w.work)
        keep_factors(state)
    state[CHANGE] = 0.0
    for j in range(n):
        st.da[0, j] = w.x[j]
    for k in range(m):
        st.dlam[0, k] = w.x[n + k]
        state[CHANGE] = max(state[CHANGE], c.slack[k] * abs(w.x[n + k]))


# Several equations for each coordinate ----------------------------------------------------------------


@kernel_pointer
def solve_coupled(c, t, y, out):
    """The corrections of all stages, by blocks."""
    D, K, st, state = c.D, c.K, c.st, c.st.state
    s, n, m = st.t.size, st.a.shape[1], st.lam.shape[1]
    if not is_kept(state):
        fill_blocks(c)
        eliminate_blocks(D.program, K)
        keep_factors(state)
    for i in range(s):
        for j in range(n):
            K.right[j, i] = -st.balance[i, j]
        for k in range(m):
            K.right[n + k, i] = -st.gap[i, k]
        for j in range(n if c.twice == 1 else 0):
            K.right[j, s + i] = -st.slip[i, j]
        for k in range(m if c.twice == 1 else 0):
            K.right[n + k, s + i] = -st.rate[i, k]
    solve_blocks(D.program, K)
    state[CHANGE] = 0.0
    for i in range(s):
        for j in range(n):
            st.da[i, j] = K.x[j, i]
        for k in range(m):
            st.dlam[i, k] = K.x[n + k, i]
            state[CHANGE] = max(state[CHANGE], c.slack[k] * abs(K.x[n + k, i]))
        for j in range(n if c.twice == 1 else 0):
            st.de[i, j] = K.x[j, s + i] * state[SIZE_B] / state[SIZE_C]
        for k in range(m if c.twice == 1 else 0):
            st.dmu[i, k] = K.x[n + k, s + i]


@kernel
def fill_blocks(c):
    """Newton's matrix of all stages."""
    S, D, w, st, K = c.S, c.D, c.w, c.st, c.K
    s, k = st.t.size, K.inverse.shape[0]
    for p in range(K.upper.shape[0]):
        for i in range(k):
            for j in range(k):
                K.upper[p, i, j] = K.lower[p, i, j] = 0.0
    for i in range(s):
        q, qd = st.z[i], st.zd[i]
        evaluate_state(S, st.t[i], q, qd, w)
        add_masses(c, i)
        # derivatives by q, then by qd; of each the triangle as it is numbered, then the other
        for part in range((4 if c.loads == 1 else 2) if tangent_shares(st) == 1.0 else 0):
            by_q, straight = 1.0 - part // 2, 1.0 - part % 2
            for p in range(w.v.size):
                w.v[p] = 0.0
            add_tangent(S, D, st.t[i], q, qd, st.lam[i], by_q, 1.0 - by_q, straight, 1.0 - straight, w)
            spread(c, i, by_q == 1.0, straight == 1.0)
        rate_slopes(S, st.t[i], qd, w, c.G)
        add_jacobian(c, i)
        add_softness(c, i)


@kernel
def add_masses(c, i):
    """M of stage i, and W^-1."""
    s, D, upper = c.st.t.size, c.D, c.K.upper
    for j in range(c.mass.size):
        slot = D.diagonal[j]
        upper[slot, i, i] += D.template[slot]
        if c.twice == 1:
            upper[slot, s + i, s + i] += c.mass[j]


@kernel
def spread(c, i, by_q, straight):
    """B_ij K_i or C_ij D_i from the slots of w.v, and (b / c) C_ij K_i."""
    st, v = c.st, c.w.v
    s, share = st.t.size, st.state[SIZE_B] / st.state[SIZE_C]
    for k in range(c.slot.size):
        p = c.slot[k]
        target = c.K.upper if (c.ascending[k] == 1) == straight else c.K.lower
        for j in range(s if v[p] != 0.0 else 0):
            target[p, i, j] += (st.B[i, j] if by_q else st.C[i, j]) * v[p]
            if c.twice == 1 and by_q:
                target[p, i, s + j] += share * st.C[i, j] * v[p]


@kernel
def add_jacobian(c, i):
    """Phi_q^T beside the forces of stage i, and the derivatives of its constraints."""
    S, st, K, data, G = c.S, c.st, c.K, c.w.data, c.G
    s, b, rates = st.t.size, st.state[SIZE_B], st.state[SIZE_C]
    for k in range(st.lam.shape[1]):
        holds_rate = S.formulas.level[k] == OF_VELOCITY
        for p in range(S.jac_start[k], S.jac_start[k + 1]):
            slot, first = c.D.jacobian[p], c.coordinate_first[p] == 1
            column, row = (K.upper, K.lower) if first else (K.lower, K.upper)
            column[slot, i, i] = data[p]
            if c.twice == 1:
                column[slot, s + i, s + i] = -data[p]
            for j in range(s):
                rate = (st.B[i, j] * G[p] + st.C[i, j] * data[p]) / rates
                if not holds_rate:
                    row[slot, i, j] = st.B[i, j] / b * data[p]
                elif c.twice == 0:
                    row[slot, i, j] = rate
                if c.twice == 1:
                    row[slot, i, s + j] = 0.0 if holds_rate else st.C[i, j] / rates * data[p]
                    row[slot, s + i, j] = rate
                    row[slot, s + i, s + j] = st.C[i, j] * b / rates**2 * G[p]


@kernel
def add_softness(c, i):
    """-compliance, or -eps in the place of Phi_q M^-1 Phi_q^T; and mu = 0 where no position is held."""
    S, D, st, upper = c.S, c.D, c.st, c.K.upper
    s, n, b, rates = st.t.size, c.mass.size, st.state[SIZE_B], st.state[SIZE_C]
    for k in range(st.lam.shape[1]):
        slot = D.diagonal[n + k]
        holds_rate, soft = S.formulas.level[k] == OF_VELOCITY, c.compliance[k] > 0.0
        eps = 0.0 if soft else -D.template[slot]
        if soft:
            upper[slot, i, i] -= c.compliance[k]
        if c.twice == 1 and holds_rate:
            upper[slot, i, s + i] += c.share[k]
        for j in range(s if eps > 0.0 else 0):
            if c.twice == 0 or not holds_rate:
                upper[slot, i, j] -= st.B[i, j] / b * eps
            if c.twice == 1:
                upper[slot, s + i, j] -= st.C[i, j] / rates * eps
                if not holds_rate:
                    upper[slot, i, s + j] += st.C[i, j] / rates * eps
