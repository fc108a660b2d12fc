"""The equations of motion with dense matrices, in the coordinates of any family.

    [ M     Phi_z^T ] [ zdd ]   [ Q                                                ]
    [ Phi_z   -c    ] [ lam ] = [ gamma - 2 alpha (Phi_z zd - nu) - beta^2 Phi     ]

alpha = beta = c = 0 leaves the constraints to a projection after each step; alpha and beta are Baumgarte's; a
compliance c = 1 / penalty makes lam = penalty (Phidd + 2 xi omega Phid + omega^2 Phi), the penalty formulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..methods import Formulation
from ..numerics.arrays import Floats, Ints
from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..numerics.refinement import LOST, MOST_REFINEMENTS, refine
from ..system.elimination import unequal
from . import row_scales
from .equations import POSITION, VELOCITY, Configuration, EquationsOfMotion, Verb
from .transform import TransformedEquations

if TYPE_CHECKING:
    from .base import Family


class Dense(NamedTuple):
    """Context of the kernels below."""

    evaluate_f: Any
    evaluate_c: Any
    E: TransformedEquations
    K: Floats  # (n + m, n + m)
    factors: Floats
    pivots: Ints
    row_scale: Floats  # (n + m), of the equations as they are factored
    right: Floats  # (n + m)
    x: Floats  # zdd and lam
    rest: Floats
    best: Floats  # another solution
    sizes: Floats  # (n)
    stabilization: Floats  # 2 alpha and beta^2
    refinements: Ints  # how often a solution is corrected at most
    compliance: Floats  # (m)
    soft: Floats  # (m), compliance, or eps if rows may be redundant
    implied: Ints  # rows that others imply


# Solving ----------------------------------------------------------------------------------------------


@kernel
def factor(c, dropped):
    """K = [M Phi_z^T; Phi_z -c], and its factors with eps, or without `dropped` rows.

    The factored matrix has unknowns scaled by the sizes of the coordinates, and rows of size one: pivots are then
    chosen alike for heavy and light bodies, large and small ones.
    """
    E, n, K, A = c.E, c.E.Q.size, c.K, c.factors
    for i in range(n):
        for j in range(n):
            K[i, j] = E.M[i, j]
    for i in range(E.Phi.size):
        for j in range(E.Phi.size):
            K[n + i, n + j] = 0.0
        K[n + i, n + i] = -c.compliance[i]
        for j in range(n):
            K[n + i, j] = K[j, n + i] = E.J[i, j]
    for i in range(K.shape[0]):
        for j in range(K.shape[0]):
            A[i, j] = K[i, j] * (c.sizes[j] if j < n else 1.0)
    for i in range(E.Phi.size):
        A[n + i, n + i] = -c.soft[i] if dropped.size == 0 else -c.compliance[i]
    for i in dropped:
        for j in range(n):
            A[n + i, j] = 0.0
        A[n + i, n + i] = 1.0
    equilibrate(A, c.row_scale)
    lu_factor(A, c.pivots)


@kernel
def equilibrate(A, scale):
    """Multiply each row of A by a power of two that makes its largest entry about one."""
    for i in range(A.shape[0]):
        size = 0.0
        for j in range(A.shape[0]):
            size = max(size, abs(A[i, j]))
        scale[i] = 2.0 ** -np.floor(np.log2(size)) if 0.0 < size < np.inf else 1.0
        for j in range(A.shape[0]):
            A[i, j] *= scale[i]


@kernel
def solve_scaled(c, dropped, x):
    """Replace the right-hand side x by the solution, using the factors."""
    n = c.E.Q.size
    for i in range(x.size):
        x[i] *= c.row_scale[i]
    for i in dropped:
        x[n + i] = 0.0
    lu_solve(c.factors, c.pivots, x)
    for j in range(n):
        x[j] *= c.sizes[j]


@kernel
def left_over(c):
    """c.right - K c.x into c.rest; returns the largest relative to the sizes of the terms of its equation."""
    lost = 0.0
    for i in range(c.x.size):
        rest, size = c.right[i], abs(c.right[i])
        for j in range(c.x.size):
            term = c.K[i, j] * c.x[j]
            rest -= term
            size += abs(term)
        c.rest[i] = rest
        if not abs(rest) <= lost * size:
            lost = abs(rest) / size
    return lost


@kernel
def correct(c):
    """c.x += K~^-1 c.rest by the factors with eps"""
    solve_scaled(c, c.implied[:0], c.rest)
    for i in range(c.x.size):
        c.x[i] += c.rest[i]


@kernel
def correct_without_implied(c):
    """The same by factors without the rows that others imply."""
    solve_scaled(c, c.implied, c.rest)
    for i in range(c.x.size):
        c.x[i] += c.rest[i]


@kernel
def solve(c):
    """c.x of K x = c.right, by factors with eps, whose effect refinement removes.

    If the residual stays too large, other factors omit the rows that others imply.
    """
    factor(c, c.implied[:0])
    for i in range(c.x.size):
        c.x[i] = c.right[i]
    solve_scaled(c, c.implied[:0], c.x)
    if c.refinements[0] == 0:
        return
    lost = refine(left_over, correct, c, c.refinements[0])
    if lost <= LOST or c.implied.size == 0:
        return
    for i in range(c.x.size):
        c.best[i], c.x[i] = c.x[i], c.right[i]
    factor(c, c.implied)
    solve_scaled(c, c.implied, c.x)
    if not refine(left_over, correct_without_implied, c, c.refinements[0]) < lost:
        for i in range(c.x.size):
            c.x[i] = c.best[i]


@kernel(inline=True)
def residual_of_row(E, level, y, i):
    """-Phi, or nu - Phi_z zd, of one row."""
    if level == POSITION:
        return -E.Phi[i]
    n, rate = E.Q.size, E.nu[i]
    for j in range(n):
        rate -= E.J[i, j] * y[n + j]
    return rate


# Verbs ------------------------------------------------------------------------------------------------


@kernel_pointer
def accelerations(c, t, y, out):
    """(zd, zdd); lam stays in c.x."""
    E, n = c.E, c.E.Q.size
    invoke(c.evaluate_f, c.evaluate_c, t, y, y)
    for j in range(n):
        c.right[j] = E.Q[j]
    for i in range(E.Phi.size):
        drift = -c.stabilization[0] * residual_of_row(E, VELOCITY, y, i) + c.stabilization[1] * E.Phi[i]
        c.right[n + i] = E.gamma[i] - drift
    solve(c)
    for j in range(n):
        out[j], out[n + j] = y[n + j], c.x[j]


@kernel_pointer
def evaluate(c, t, y, out):
    """M, Q, Phi, Phi_z, nu and gamma"""
    invoke(c.evaluate_f, c.evaluate_c, t, y, y)


@kernel_pointer
def residual(c, level, y, row):
    """-Phi, or nu - Phi_z zd"""
    for i in range(row.size):
        row[i] = residual_of_row(c.E, level, y, i)


@kernel_pointer
def smallest_change(c, unused, row, x):
    """x of M x + Phi_z^T lam = 0, Phi_z x = row"""
    n = x.size
    for j in range(n):
        c.right[j] = 0.0
    for i in range(row.size):
        c.right[n + i] = row[i]
    solve(c)
    for j in range(n):
        x[j] = c.x[j]


class DenseEquations(EquationsOfMotion):
    """The equations of a formulation in a family, rows measured in a configuration."""

    accelerate = Verb(accelerations)
    evaluate = Verb(evaluate)
    residual = Verb(residual)
    smallest_change = Verb(smallest_change)

    def __init__(self, family: Family, formulation: Formulation, at: Configuration) -> None:
        n, m = family.n, family.m
        felt = row_scales.felt(family, at.t, at.z) if at.redundant else np.zeros(m)
        given = row_scales.given_in(family, at.t, at.z) if formulation.gives_way else felt
        compliance = formulation.compliances(given)
        soft, softer = row_scales.softened(compliance, felt)
        self.refined = softer or unequal(family.system)
        implied = row_scales.implied(family, at.t, at.z) if softer else np.zeros(0, dtype=np.int64)
        matrices, size = family.fill_matrices, n + m
        K, factors = np.zeros((2, size, size))
        row_scale, right, x, rest, best = np.zeros((5, size))
        self.context = Dense(
            matrices.f, matrices.c, family.matrices, K, factors, np.zeros(size, dtype=np.int64), row_scale, right, x,
            rest, best, np.array(family.sizes, dtype=float), np.array(formulation.stabilization),
            np.array([MOST_REFINEMENTS if self.refined else 0]), compliance, soft, implied,
        )  # fmt: skip
        self.per_row = row_scales.lengths_in(family, at)
        self.per_coordinate = family.system.length / family.sizes
