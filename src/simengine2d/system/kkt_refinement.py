"""Refinement of accelerations and multipliers, where constraints are redundant or masses and lengths differ much.

[ M      Phi_q^T ] [ qdd ]   [ b ]
[ Phi_q     0    ] [ lam ] = [ c ]

What a solution leaves of the equations is measured relative to their terms; rows that are implied by others have
multipliers of the smallest norm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import rare_kernel_pointer
from ..numerics.lanes import chosen, everywhere
from ..numerics.ldl import solve_again
from ..numerics.refinement import LOST, refine
from .constraints import SystemArrays

if TYPE_CHECKING:
    from .equations_of_motion import EquationArrays
    from .workspace import Workspace

SHARE = 1e-3  # of a body's forces, and of the mean acceleration, below which digits do not matter


class Refinement(NamedTuple):
    """Context of `refine_kkt`."""

    S: SystemArrays
    D: EquationArrays
    w: Workspace


@rare_kernel_pointer
def refine_kkt(context, t, b, c):
    """Refinement with the true matrix, without eps and delta, until every equation holds.

    Where masses or lengths differ too much for the order of elimination, the whole matrix is factored instead.
    """
    S, D, w = context.S, context.D, context.w
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
    within = rest <= share * size
    if everywhere(within):
        return share
    divisor = chosen(size > 0.0, size, 1.0)
    larger = chosen(within, share, chosen(size > 0.0, rest / divisor, np.inf))
    return chosen(share < np.inf, larger, share)


@kernel(inline=True)
def mean_acceleration(S, D, b, x):
    """Of all bodies, weighted by mass: the actual one, or the one that the applied forces would cause."""
    forces, momenta, masses = 0.0, 0.0, 0.0
    for i in range(S.mass.size):
        forces += abs(b[3 * i]) + abs(b[3 * i + 1]) + abs(b[3 * i + 2]) / D.arms[i]
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
