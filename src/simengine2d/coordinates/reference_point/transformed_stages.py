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

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.ldl import eliminate, solve_again
from ...system.applied_forces import Loads, add_wrenches, set_weight
from ...system.constraints import SystemArrays, move, phi_q
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
    ACCELERATION,
    CHANGE,
    EVALUATIONS,
    LEVEL,
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
    pair: Complex  # (1)
    to_real: Floats  # (3), rows of T^-1
    to_pair: Complex
    from_real: Floats  # (3), columns of T; that of the pair twice, for its conjugate
    from_pair: Complex


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
    right: Complex
    x: Complex
    work: Complex
    dq: Floats  # (n)
    dqd: Floats
    slack: Floats  # (m): eps dlam as an acceleration, where constraints are redundant
    share: Floats  # (m)
    twice: int
    loads: int


def transformation(A: Floats) -> Transformation:
    """The same for every step of a method."""
    values, T = np.linalg.eig(A)
    real, pair = int(np.argmin(np.abs(values.imag))), int(np.argmax(values.imag))
    inverse = np.linalg.inv(T)
    return Transformation(
        float(values[real].real), values[pair : pair + 1].copy(),
        (inverse[real] * T[-1, real]).real.copy(), inverse[pair].copy(),
        (T[:, real] / T[-1, real]).real.copy(), (2.0 * T[:, pair]).astype(complex),
    )  # fmt: skip


def held_forces(system: System) -> int:
    """How many unknowns there are beside the multipliers."""
    return int(system.load_arrays.targets.shape[0])


def transformed_stages(
    system: System, A: Floats, st: Stages, one: Stages, redundant: bool
) -> tuple[StageEquations, StageEquations]:
    """The equations of the stages of a step, and those of the one beside them."""
    D, L, n, m = elimination_program(system, redundant, True), system.load_arrays, system.n, system.m
    w, slots = system.new_workspace(D), D.program.column.size
    share = np.where(D.shares > 0.0, D.shares, 1.0)
    heaviest = float(np.max(D.masses * system.sizes**2, initial=0.0)) or 1.0
    slack = -D.template[D.diagonal[n:]] / np.sqrt(share * heaviest)
    R = force_rows(L, D.couplings, system.arrays.formulas.row.size)
    numbers = np.zeros(2 * slots)  # checkpoints hold real numbers
    right, x, work = np.zeros((3, n + m), dtype=complex)
    context = TransformedStages(
        system.arrays, L, D, w, st, one, A, transformation(A), R, new_slopes(R), np.zeros(slots), np.zeros(slots),
        numbers.view(complex), right, x, work, np.zeros(n), np.zeros(n), slack, share, 0,
        int(L.laws.functions.shape[0] > 0),
    )  # fmt: skip
    evaluating = evaluate.bind(context)
    kept = {"v": context.v, "vc": numbers, **context.slopes._asdict()}
    solving, beside, correcting = (
        each.bind_like(evaluating) for each in (solve, evaluate_beside, solve_beside)
    )
    return StageEquations(evaluating, solving, kept), StageEquations(beside, correcting, {})


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


@kernel
def evaluate_stage(c, st, i):
    """The balance is asked for with accelerations alone."""
    S, w, m, gap, lam = c.S, c.w, c.S.jac_start.size - 1, st.gap[i], st.lam[i]
    move(S, st.t[i], st.z[i], st.zd[i], w)
    phi_q(S, w)
    find_gaps(c, st, i, gap[:m])
    st.state[EVALUATIONS] += 1.0
    if st.options[LEVEL] != ACCELERATION:
        return
    set_weight(S, w.Q)
    if c.loads == 1:
        add_held_forces(S, c.L, c.D.couplings, c.R, st.t[i], w.F, w.scratch, c.slopes, lam[m:], gap[m:], w.Q)
        add_wrenches(S, c.L, st.t[i], st.z[i], st.zd[i], w.F, w.scratch, w.Q)
    find_balance(c, st.a[i], lam[:m], st.balance[i])


# Newton's equations -----------------------------------------------------------------------------------


@kernel
def make_matrices(c):
    """The factors of both matrices, of K and D at the stage in the middle."""
    D, v, damping, T = c.D, c.w.v, c.damping, c.T
    h, pair = c.st.C[2, 2] / c.A[2, 2], T.pair[0]
    one, other = h * T.real, h * pair
    find_derivatives(c, c.st.t[1], c.st.z[1], c.st.zd[1], c.st.lam[1])
    fill_matrix(D, c.w.data, c.v)
    for p in range(v.size):
        first = c.v[p]
        c.v[p] = first + one * one * v[p] + one * damping[p]
        c.vc[p] = first + other * other * v[p] + other * damping[p]
    eliminate(D.program, c.v)
    eliminate(D.program, c.vc)


@kernel
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
    """The corrections of all stages."""
    st, T, n, state = c.st, c.T, c.st.a.shape[1], c.st.state
    m, w = c.S.jac_start.size - 1, c.w
    for j in range(n + m):
        one, other = 0.0, 0.0j
        for i in range(3):
            rest = -st.balance[i, j] if j < n else -st.gap[i, j - n]
            one += T.to_real[i] * rest
            other += T.to_pair[i] * rest
        w.rest[j], c.right[j] = one, other
    solve_again(c.D.program, c.v, w.rest, w.x, w.work)
    solve_again(c.D.program, c.vc, c.right, c.x, c.work)
    for i in range(3):
        for j in range(n + m):
            change = T.from_real[i] * w.x[j] + (T.from_pair[i] * c.x[j]).real
            if j < n:
                st.da[i, j] = change
            else:
                st.dlam[i, j - n] = change
    state[CHANGE] = 0.0
    for i in range(3):
        for k in range(m):
            state[CHANGE] = max(state[CHANGE], c.slack[k] * abs(st.dlam[i, k]))
        change_held_forces(c, st, i)


@kernel_pointer
def solve_beside(c, t, y, out):
    """The corrections of the stage beside the others, by the real factors."""
    one, w, n, m = c.one, c.w, c.st.a.shape[1], c.S.jac_start.size - 1
    for j in range(n):
        w.rest[j] = -one.balance[0, j]
    for k in range(m):
        w.rest[n + k] = -one.gap[0, k]
    solve_again(c.D.program, c.v, w.rest, w.x, w.work)
    for j in range(n):
        one.da[0, j] = w.x[j]
    for k in range(m):
        one.dlam[0, k] = w.x[n + k]
    if one.options[LEVEL] == ACCELERATION:
        change_held_forces(c, one, 0)


@kernel
def change_held_forces(c, st, i):
    """dq = sum_j B_ij da_j,   dqd = sum_j C_ij da_j, and what they make of the forces."""
    m = c.S.jac_start.size - 1
    if c.loads == 0:
        return
    for k in range(c.dq.size):
        c.dq[k] = c.dqd[k] = 0.0
    for j in range(st.t.size):
        for k in range(c.dq.size):
            c.dq[k] += st.B[i, j] * st.da[j, k]
            c.dqd[k] += st.C[i, j] * st.da[j, k]
    change_forces(c.L, c.D.couplings, c.R, c.slopes, c.dq, c.dqd, st.gap[i, m:], st.dlam[i, m:])
