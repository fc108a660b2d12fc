"""The equations of motion, assembled and solved: accelerations and multipliers, and Newton's matrix.

[ M      Phi_q^T ] [ qdd ]   [ QA    ]
[ Phi_q   -eps   ] [ lam ] = [ gamma ]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.ldl import Elimination, eliminate, solve_again, substitute
from ..numerics.refinement import LOST, refine
from .applied_forces import applied
from .constraints import gamma, move, phi, phi_q
from .formulas.derivatives import Couplings


class EquationArrays(NamedTuple):
    """Elimination program of a system, and the slots of its entries."""

    program: Elimination
    diagonal: Ints  # slot of each diagonal entry
    jacobian: Ints  # slot of each non-zero of Phi_q
    right: Ints  # slot of each right-hand side
    term_blocks: Ints  # (terms, 6, 6) slots of second derivatives; -1 if there are none
    couplings: Couplings
    masses: Floats  # of each coordinate; where it has none, the inertia that it feels through its rows
    template: Floats  # M and -eps in their slots, zero elsewhere
    refinements: Ints  # how often a solution is corrected at most, for eps, delta and rounding
    stabilization: Floats  # Baumgarte's 2 alpha and beta^2; zero if there is none
    compliance: Floats  # of each row, if the equations themselves are compliant; zero otherwise
    arms: Floats  # of each body: a length that makes its angle comparable with its displacements
    shares: Floats  # of each row: its Phi_q M^-1 Phi_q^T in the initial pose, without massless bodies
    per_coordinate: Floats  # the length of the mechanism that a change of each coordinate corresponds to
    per_row: Floats  # the length of the mechanism that an error of each row corresponds to
    dropped: Ints  # rows that others imply, if known; the whole matrix omits them


SHARE = 1e-3  # of a body's forces, and of the mean acceleration, below which digits do not matter


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def evaluate_state(S, L, t, q, qd, w):
    """Functions of time, frames, Phi_q and QA at a state."""
    move(S, t, q, qd, w)
    phi_q(S, w)
    applied(S, L, t, q, qd, w, w.Q)


@kernel(inline=True)
def fill_matrix(D, data, v):
    """M, Phi_q and -eps into the slots."""
    template, jacobian = D.template, D.jacobian
    for p in range(v.size):
        v[p] = template[p]
    for p in range(jacobian.size):
        v[jacobian[p]] = data[p]


@kernel(inline=True)
def accelerate(S, L, D, t, q, qd, w):
    """qdd and lam into w.x."""
    evaluate_state(S, L, t, q, qd, w)
    gamma(S, w, w.row)
    if D.stabilization[0] + D.stabilization[1] > 0.0:
        stabilize(S, D, qd, w)
    solve_kkt(S, D, w.Q, w.row, w)


@kernel
def stabilize(S, D, qd, w):
    """gamma - 2 alpha (Phi_q qd - nu) - beta^2 Phi: errors of the constraints decay as in a damped oscillator."""
    alpha2, beta2 = D.stabilization[0], D.stabilization[1]
    errors = w.correction[: w.row.size]
    phi(S, w, errors)
    for i in range(w.row.size):
        rate = -w.f[i, 1]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            rate += w.data[p] * qd[S.jac_column[p]]
        w.row[i] -= alpha2 * rate + beta2 * errors[i]


@kernel(inline=True)
def solve_kkt(S, D, b, c, w):
    """w.x of M x + Phi_q^T y = b, Phi_q x = c with Phi_q in w.data; refined where rows are redundant."""
    v, right = w.v, D.right
    fill_matrix(D, w.data, v)
    n = b.size
    for j in range(n):
        v[right[j]] = b[j]
    for i in range(c.size):
        v[right[n + i]] = c[i]
    eliminate(D.program, v)
    substitute(D.program, v, w.x, w.work)
    if D.refinements[0] > 0:
        refine_kkt(S, D, b, c, w)


@kernel
def refine_kkt(S, D, b, c, w):
    """Refinement with the true matrix, without eps and delta, until every equation holds.

    Where masses or lengths differ too much for the order of elimination, the whole matrix is factored instead.
    """
    equations = (S, D, b, c, w)
    if refine(left_over, correct, equations, D.refinements[0]) <= LOST or not factor_whole(S, D, w):
        return
    for k in range(w.x.size):
        w.x[k] = 0.0
    refine(left_over, correct_by_whole, equations, D.refinements[0])
    take_smallest(S, D, w)


@kernel
def left_over(equations):
    S, D, b, c, w = equations
    return residual_of_kkt(S, D, b, c, w)


@kernel
def correct(equations):
    """w.x += K~^-1 w.rest by the factors of the elimination program"""
    _, D, _, _, w = equations
    solve_again(D.program, w.v, w.rest, w.correction, w.work)
    for k in range(w.x.size):
        w.x[k] += w.correction[k]


@kernel
def correct_by_whole(equations):
    """The same by the factors of the whole matrix, with row exchanges."""
    _, D, _, _, w = equations
    solve_whole(D, w)
    for k in range(w.x.size):
        w.x[k] += w.correction[k]


@kernel(inline=True)
def residual_of_kkt(S, D, b, c, w):
    """(b, c) - K x into w.rest; returns the largest relative to the sizes of the terms of its equation.

    Forces are also measured relative to those on the same body, and accelerations relative to those of the same body
    and of the whole mechanism: an equation whose terms are all rounding errors need not hold to the last digit.
    """
    n, x, rest, terms, reach = b.size, w.x, w.rest, w.terms, w.reach
    start, column, data, mass, inertia = S.jac_start, S.jac_column, w.data, S.mass, S.inertia
    least = SHARE * mean_acceleration(S, D, b, x)
    for i in range(mass.size):
        arm = D.arms[i]
        a = max(least, abs(x[3 * i]), abs(x[3 * i + 1]), arm * abs(x[3 * i + 2]))
        reach[3 * i], reach[3 * i + 1], reach[3 * i + 2] = a, a, a / arm
        for j in range(3 * i, 3 * i + 3):
            own = inertia[i] if j == 3 * i + 2 else mass[i]
            rest[j] = b[j] - own * x[j]
            terms[j] = abs(b[j]) + own * reach[j]
    lost = 0.0
    for i in range(c.size):
        y = x[n + i]
        total, size = c[i] + D.compliance[i] * y, abs(c[i]) + D.compliance[i] * abs(y)
        for p in range(start[i], start[i + 1]):
            j = column[p]
            total -= data[p] * x[j]
            size += abs(data[p]) * reach[j]
            rest[j] -= data[p] * y
            terms[j] += abs(data[p] * y)
        rest[n + i] = total
        lost = larger_share(lost, abs(total), size)
    for i in range(mass.size):
        arm = D.arms[i]
        force = SHARE * max(terms[3 * i], terms[3 * i + 1], terms[3 * i + 2] / arm)
        for j in range(3 * i, 3 * i + 3):
            size = max(terms[j], force * arm if j == 3 * i + 2 else force)
            lost = larger_share(lost, abs(rest[j]), size)
    return lost


@kernel(inline=True)
def larger_share(share, rest, size):
    """rest / size if that is larger; nan stays nan."""
    if rest <= share * size or not share < np.inf:
        return share
    return rest / size if size > 0.0 else np.inf


@kernel(inline=True)
def mean_acceleration(S, D, b, x):
    """Of all bodies, weighted by mass: the actual one, or the one that the applied forces would cause."""
    forces, momenta, masses = 0.0, 0.0, 0.0
    for i in range(S.mass.size):
        forces += abs(b[3 * i]) + abs(b[3 * i + 1])
        a = max(abs(x[3 * i]), abs(x[3 * i + 1]), D.arms[i] * abs(x[3 * i + 2]))
        momenta += S.mass[i] * a
        masses += S.mass[i]
    return max(forces, momenta) / masses if masses > 0.0 else 0.0


@kernel
def factor_whole(S, D, w):
    """K as a whole, unknowns as lengths and rows of size one, and its factors; False if it is singular.

    The multipliers of dropped rows are zero; if no rows are dropped, -eps is added for redundant ones.
    """
    K, n, m = w.K, w.Q.size, w.row.size
    if w.pivots.size == 0:
        return False
    for i in range(n + m):
        for j in range(n + m):
            K[i, j] = 0.0
    for i in range(n):
        K[i, i] = S.inertia[i // 3] if i % 3 == 2 else S.mass[i // 3] * D.arms[i // 3]
    for i in range(m):
        K[n + i, n + i] = -D.compliance[i] if D.dropped.size > 0 else D.template[D.diagonal[n + i]]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            j = S.jac_column[p]
            K[j, n + i] = w.data[p]
            K[n + i, j] = w.data[p] * (1.0 if j % 3 == 2 else D.arms[j // 3])
    for i in D.dropped:
        for j in range(n):
            K[n + i, j] = 0.0
        K[n + i, n + i] = 1.0
    for i in range(n + m):
        size = 0.0
        for j in range(n + m):
            size = max(size, abs(K[i, j]))
        w.work[i] = 1.0 / size if size > 0.0 else 1.0
        for j in range(n + m):
            K[i, j] *= w.work[i]
    return lu_factor(K, w.pivots) > 0.0


@kernel
def solve_whole(D, w):
    """The correction for w.rest by the factors of the whole matrix; w.work holds the factors of its rows."""
    n = w.Q.size
    for k in range(w.rest.size):
        w.correction[k] = w.rest[k] * w.work[k]
    for i in D.dropped:
        w.correction[n + i] = 0.0
    lu_solve(w.K, w.pivots, w.correction)
    for j in range(n):
        if j % 3 != 2:
            w.correction[j] *= D.arms[j // 3]


@kernel
def take_smallest(S, D, w):
    """Remove from lam the part that has no effect, so that it is the smallest: Phi_q^T lam = 0 for each dropped row.

    K y = (Phi_q^T of that row, 0) expresses the row by those that remain; Gram-Schmidt makes a basis of y and -1.
    """
    n, m, null, lam = w.Q.size, w.row.size, w.null, w.x[w.Q.size :]
    for k in range(D.dropped.size):
        i = D.dropped[k]
        for j in range(n + m):
            w.rest[j] = 0.0
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            w.rest[S.jac_column[p]] = w.data[p]
        solve_whole(D, w)
        for j in range(m):
            null[k, j] = w.correction[n + j]
        null[k, i] = -1.0
        for before in range(k):
            take_out(null[k], null[before])
        size = 0.0
        for j in range(m):
            size += null[k, j] ** 2
        for j in range(m):
            null[k, j] /= np.sqrt(size)
        take_out(lam, null[k])


@kernel
def take_out(x, direction):
    """x minus its component along a unit vector."""
    share = 0.0
    for j in range(x.size):
        share += x[j] * direction[j]
    for j in range(x.size):
        x[j] -= share * direction[j]


@kernel
def accelerations(S, L, D, t, q, qd, w):
    """The same as `accelerate`, for callers for which speed does not matter: it is compiled once."""
    accelerate(S, L, D, t, q, qd, w)
