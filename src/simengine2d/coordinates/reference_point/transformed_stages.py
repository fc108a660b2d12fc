"""Stages of Radau IIA in reference-point coordinates, with one matrix for all of them: linear in the bodies.

With the same K and D at all stages, Newton's equations fall apart in the directions of A = T diag(lambda) T^-1, of
which one is real and two are a conjugate pair:

    [ M + (h lambda)^2 K + h lambda D   Phi_q^T ] [ x ]     [ r ]      (r, g) = T^-1 (balance, gap)
    [ Phi_q                                0    ] [ y ] = - [ g ]      (da, dlam) = T (x, y)

Both are symmetric, and factored by the elimination program of the bodies, one in complex numbers. A single stage beside
the others, whose own coefficient is the real lambda, is solved by the real factors: that of the error estimate, and
outputs inside the step. Constraints are asked for accelerations; the derivatives of gamma are left out, which are not
stiff. Forces along measures are unknowns beside the multipliers (`system/force_slopes.py`).

Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), section IV.8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.formula import VELOCITY as OF_VELOCITY
from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.ldl import eliminate, solve_again, solve_together
from ...system.applied_forces import Loads, add_wrenches, set_weight
from ...system.constraints import SystemArrays, move, phi, phi_q
from ...system.derivatives import add_constraint_tangent, add_wrench_block
from ...system.elimination import elimination_program
from ...system.equations_of_motion import EquationArrays, fill_matrix
from ...system.force_slopes import (
    ForceRows,
    ForceSlopes,
    add_held_forces,
    change_forces,
    find_force_slopes,
    force_rows,
    new_slopes,
)
from ...system.formulas.derivatives import add_row_block, begin_block, bend_rows, end_block
from ...system.system import System
from ...system.workspace import Workspace
from ..stages import (
    CHANGE,
    EVALUATIONS,
    SIZE_C,
    StageEquations,
    Stages,
    is_kept,
    keep_factors,
)
from .stages import find_balance, find_gaps

Complex = NDArray[np.complex128]


class Transformation(NamedTuple):
    """A = T diag(real, pair, conjugate) T^-1"""

    real: float
    pairs: Complex  # one of each pair
    to_real: Floats  # (s), rows of T^-1
    to_pairs: Complex  # (pairs, s)
    from_real: Floats  # (s), columns of T; those of the pairs twice, for their conjugates
    from_pairs: Complex  # (pairs, s)


class TransformedStages(NamedTuple):
    """Context of the kernel pointers."""

    S: SystemArrays
    L: Loads
    D: EquationArrays
    w: Workspace
    st: Stages  # of a step; their multipliers are those of the rows, then the forces along measures
    one: Stages  # the one beside them
    A: Floats
    T: Transformation
    R: ForceRows
    slopes: ForceSlopes
    damping: Floats  # D by slots; K is w.v
    v: Floats  # factors
    vc: Complex
    right: Complex  # (pairs, n + m)
    x: Complex
    work: Complex
    dq: Floats  # (s, n), what the corrections make of positions and velocities
    dqd: Floats
    slack: Floats  # (m): eps dlam as an acceleration, where constraints are redundant
    share: Floats  # (m)
    twice: int
    loads: int


def transformation(A: Floats) -> Transformation:
    """The same for every step of a method."""
    values, T = np.linalg.eig(A)
    real, pairs = int(np.argmin(np.abs(values.imag))), np.flatnonzero(values.imag > 1e-9)
    inverse = np.linalg.inv(T)
    return Transformation(
        float(values[real].real), values[pairs].copy(),
        (inverse[real] * T[-1, real]).real.copy(), inverse[pairs].copy(),
        (T[:, real] / T[-1, real]).real.copy(), (2.0 * T[:, pairs].T).astype(complex, order="C"),
    )  # fmt: skip


def held_forces(system: System) -> int:
    """How many unknowns there are beside the multipliers."""
    return int(system.load_arrays.targets.shape[0])


def transformed_stages(
    system: System, A: Floats, st: Stages, one: Stages, redundant: bool
) -> tuple[StageEquations, StageEquations, StageEquations]:
    """The equations of the stages of a step, of the one beside them, and of bringing that back onto the constraints."""
    D, L, n, m = elimination_program(system, redundant, True), system.load_arrays, system.n, system.m
    w, slots = system.new_workspace(D), D.program.column.size
    share = np.where(D.shares > 0.0, D.shares, 1.0)
    heaviest = float(np.max(D.masses * system.sizes**2, initial=0.0)) or 1.0
    slack = -D.template[D.diagonal[n:]] / np.sqrt(share * heaviest)
    R = force_rows(L, D.couplings, system.arrays.formulas.row.size)
    T = transformation(A)
    numbers = np.zeros((T.pairs.size, 2 * slots))  # checkpoints hold real numbers
    right, x, work = np.zeros((3, T.pairs.size, n + m), dtype=complex)
    dq, dqd = np.zeros((2, *st.a.shape))
    context = TransformedStages(
        system.arrays, L, D, w, st, one, A, T, R, new_slopes(R), np.zeros(slots), np.zeros(slots),
        numbers.view(complex), right, x, work, dq, dqd, slack, share, 0,
        int(L.laws.functions.shape[0] > 0),
    )  # fmt: skip
    evaluating = evaluate.bind(context)
    kept = {"v": context.v, "vc": numbers, **context.slopes._asdict()}
    solving, beside, correcting, looking, closing = (
        each.bind_like(evaluating)
        for each in (solve, evaluate_beside, solve_beside, look_at_rows, bring_back)
    )
    one_more, onto = StageEquations(beside, correcting, {}), StageEquations(looking, closing, {})
    return StageEquations(evaluating, solving, kept), one_more, onto


# What is left of the equations ------------------------------------------------------------------------


@kernel_pointer
def evaluate(c, t, y, out):
    """What the present stages leave of the equations; a new matrix comes first, since forces act along its slopes."""
    if not is_kept(c.st.state):
        make_matrices(c)
        keep_factors(c.st.state)
    for i in range(c.st.t.size):
        evaluate_stage(c, c.st, i)


@kernel_pointer
def evaluate_beside(c, t, y, out):
    evaluate_stage(c, c.one, 0)


@kernel(inline=True)
def evaluate_stage(c, st, i):
    S, w, m, gap, lam = c.S, c.w, c.S.jac_start.size - 1, st.gap[i], st.lam[i]
    move(S, st.t[i], st.z[i], st.zd[i], w)
    phi_q(S, w)
    find_gaps(c, st, i, gap[:m])
    st.state[EVALUATIONS] += 1.0
    set_weight(S, w.Q)
    if c.loads == 1:
        add_held_forces(S, c.L, c.D.couplings, c.R, st.t[i], w.F, w.scratch, c.slopes, lam[m:], gap[m:], w.Q)
        add_wrenches(S, c.L, st.t[i], st.z[i], st.zd[i], w.F, w.scratch, w.Q)
    find_balance(c, st.a[i], lam[:m], st.balance[i])


# Newton's equations -----------------------------------------------------------------------------------


@kernel(inline=True)
def make_matrices(c):
    """The factors of both matrices, of K and D at the stage in the middle."""
    D, v, damping, T, st, middle = c.D, c.w.v, c.damping, c.T, c.st, c.st.t.size // 2
    h = st.C[middle, middle] / c.A[middle, middle]
    one = h * T.real
    find_derivatives(c, st.t[middle], st.z[middle], st.zd[middle], st.lam[middle])
    fill_matrix(D, c.w.data, c.v)
    for k in range(T.pairs.size):
        other = h * T.pairs[k]
        for p in range(v.size):
            c.vc[k, p] = c.v[p] + other * other * v[p] + other * damping[p]
        eliminate(D.program, c.vc[k])
    for p in range(v.size):
        c.v[p] += one * one * v[p] + one * damping[p]
    eliminate(D.program, c.v)


@kernel(inline=True)
def find_derivatives(c, t, q, qd, lam):
    """K into w.v and D into c.damping, both symmetrized, Phi_q, and the slopes of the forces."""
    S, L, D, w = c.S, c.L, c.D, c.w
    m, rows, C = S.jac_start.size - 1, S.formulas.row.size, D.couplings
    move(S, t, q, qd, w)
    phi_q(S, w)
    for p in range(w.v.size):
        w.v[p] = c.damping[p] = 0.0
    add_constraint_tangent(S, D, lam[:m], 1.0, w)
    if rows > 0:
        bend_rows(t, w)
    for i in range(rows):
        begin_block(C, i, w.where, w.B)
        add_row_block(S, i, lam[S.formulas.row[i]], w, w.where, w.B)
        end_block(C, i, 0.5, 0.5, w.where, w.B, w.v)
    if c.loads == 0:
        return
    find_force_slopes(S, L, C, c.R, t, qd, lam[m:], w, c.slopes, w.v, c.damping)
    first = rows + L.forces.shape[0]
    for i in range(L.wrench_frame.size):
        for by_q in range(2):
            begin_block(C, first + i, w.where, w.B)
            add_wrench_block(S, L, i, t, q, qd, -by_q, by_q - 1.0, w.F, w.scratch, 0, w.B)
            end_block(C, first + i, 0.5, 0.5, w.where, w.B, w.v if by_q == 1 else c.damping)


@kernel_pointer
def solve(c, t, y, out):
    """The corrections of all stages, whose states follow at once."""
    st, state, w, m = c.st, c.st.state, c.w, c.S.jac_start.size - 1
    transform(c, st)
    solve_together(c.D.program, c.v, c.vc, w.rest, c.right, w.x, c.x, w.work, c.work)
    transform_back(c, st)
    for k in range(c.T.pairs.size):
        add_pair(c, st, k)
    state[CHANGE] = 0.0
    for i in range(st.t.size):
        for k in range(m):
            state[CHANGE] = max(state[CHANGE], c.slack[k] * abs(st.dlam[i, k]))
        move_stage(c, st, i)


@kernel(inline=True)
def transform(c, st):
    """-(r, g): what is left of the equations, in the real direction and in one of each conjugate pair."""
    T, rest, right, n, m = c.T, c.w.rest, c.right, st.a.shape[1], c.S.jac_start.size - 1
    for j in range(n + m):
        rest[j] = 0.0
        for k in range(T.pairs.size):
            right[k, j] = 0.0
    for i in range(st.t.size):
        share = T.to_real[i]
        for j in range(n):
            rest[j] -= share * st.balance[i, j]
        for j in range(m):
            rest[n + j] -= share * st.gap[i, j]
        for k in range(T.pairs.size):
            shares = T.to_pairs[k, i]
            for j in range(n):
                right[k, j] -= shares * st.balance[i, j]
            for j in range(m):
                right[k, n + j] -= shares * st.gap[i, j]


@kernel(inline=True)
def transform_back(c, st):
    """The part of the corrections in the real direction: qd changes by h lambda times as much as a, q by its square."""
    T, x, n, m = c.T, c.w.x, st.a.shape[1], c.S.jac_start.size - 1
    c_real = st.state[SIZE_C] * T.real
    for i in range(st.t.size):
        of_a = T.from_real[i]
        of_qd = c_real * of_a
        of_q = c_real * of_qd
        for j in range(n):
            st.da[i, j], c.dqd[i, j], c.dq[i, j] = of_a * x[j], of_qd * x[j], of_q * x[j]
        for j in range(m):
            st.dlam[i, j] = of_a * x[n + j]


@kernel(inline=True)
def add_pair(c, st, k):
    """The part in the directions of a conjugate pair."""
    T, x, n, m = c.T, c.x[k], st.a.shape[1], c.S.jac_start.size - 1
    c_pair = st.state[SIZE_C] * T.pairs[k]
    for i in range(st.t.size):
        of_a = T.from_pairs[k, i]
        of_qd = c_pair * of_a
        of_q = c_pair * of_qd
        for j in range(n):
            st.da[i, j] += (of_a * x[j]).real
            c.dqd[i, j] += (of_qd * x[j]).real
            c.dq[i, j] += (of_q * x[j]).real
        for j in range(m):
            st.dlam[i, j] += (of_a * x[n + j]).real


@kernel_pointer
def solve_beside(c, t, y, out):
    """The corrections of the stage beside the others, by the real factors."""
    one, w, n, m = c.one, c.w, c.st.a.shape[1], c.S.jac_start.size - 1
    of_q, of_qd = one.B[0, 0], one.C[0, 0]
    for j in range(n):
        w.rest[j] = -one.balance[0, j]
    for k in range(m):
        w.rest[n + k] = -one.gap[0, k]
    solve_again(c.D.program, c.v, w.rest, w.x, w.work)
    for j in range(n):
        one.da[0, j], c.dqd[0, j], c.dq[0, j] = w.x[j], of_qd * w.x[j], of_q * w.x[j]
    for k in range(m):
        one.dlam[0, k] = w.x[n + k]
    move_stage(c, one, 0)


@kernel(inline=True)
def move_stage(c, st, i):
    """q += dq,   qd += dqd, and what they make of the forces."""
    for j in range(c.dq.shape[1]):
        st.z[i, j] += c.dq[i, j]
        st.zd[i, j] += c.dqd[i, j]
    if c.loads == 1:
        m = c.S.jac_start.size - 1
        gap, change = st.gap[i, m:], st.dlam[i, m:]
        change_forces(c.L, c.D.couplings, c.R, c.slopes, c.dq[i], c.dqd[i], gap, change)


# Back onto the constraints ----------------------------------------------------------------------------


@kernel_pointer
def look_at_rows(c, t, y, out):
    """Phi into the gaps and Phi_q qd - nu into the rates, at the stage beside the others.

    Rows that hold a velocity ask nothing of positions.
    """
    S, w, one = c.S, c.w, c.one
    move(S, one.t[0], one.z[0], one.zd[0], w)
    phi_q(S, w)
    phi(S, w, w.row)
    for k in range(S.jac_start.size - 1):
        one.gap[0, k] = 0.0 if S.formulas.level[k] == OF_VELOCITY else w.row[k]
        rate = -w.f[k, 1]
        for p in range(S.jac_start[k], S.jac_start[k + 1]):
            rate += w.data[p] * one.zd[0, S.jac_column[p]]
        one.rate[0, k] = rate


@kernel_pointer
def bring_back(c, t, y, out):
    """The smallest changes of positions and velocities that close them, in the metric of the real matrix.

    Both in one substitution: positions are its real part, velocities its imaginary one.
    """
    one, right, x, n, m = c.one, c.right[0], c.x[0], c.st.a.shape[1], c.S.jac_start.size - 1
    for j in range(n):
        right[j] = 0.0
    for k in range(m):
        right[n + k] = -one.gap[0, k] - 1j * one.rate[0, k]
    solve_again(c.D.program, c.v, right, x, c.work[0])
    for j in range(n):
        one.da[0, j], one.de[0, j] = x[j].real, x[j].imag
