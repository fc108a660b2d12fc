"""Ordinary differential equations y = (z, zd), yd = (zd, zdd) from the equations of any coordinate family, dense.

    [ M     Phi_z^T ] [ zdd ]   [ Q                                                ]
    [ Phi_z   -c    ] [ lam ] = [ gamma - 2 alpha (Phi_z zd - nu) - beta^2 Phi     ]

alpha = beta = c = 0 leaves the constraints to a projection after each step; alpha and beta are Baumgarte's; a
compliance c = 1 / penalty makes lam = penalty (Phidd + 2 xi omega Phid + omega^2 Phi), the penalty formulation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..methods import Formulation
from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..system.elimination import unequal
from . import row_scales
from .base import Family
from .ode_problem import OdeProblem
from .transform import TransformedEquations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# entries of the options; REFINED is 1 where solutions are refined, LENGTH a length of the mechanism
ALPHA2, BETA2, REFINED, LENGTH, TOLERANCE = range(5)
# entries of the notes: largest violations of positions and velocities; angles of the family follow
POSITION, VELOCITY, TURNS = range(3)

MOST_CORRECTIONS = 8
MOST_REFINEMENTS = 20
AT_REST = (
    1e-14  # what an equation may leave over of its terms, or a solution may change, when refinement ends
)
LOST = 1e-9  # what it may leave over before implied rows are left out
STALLED = 0.7  # reduction of what is left over at which refinement gives up
LARGEST_CORRECTION = (
    1e4  # of a coordinate in its size, against the violation it removes, in lengths of the mechanism
)
SOFT = 1e-6  # compliance of redundant rows against what they feel: little, but much against rounding


class Dense(NamedTuple):
    """Context of the kernel pointers in this lane."""

    pose_f: Any
    pose_c: Any
    turns_f: Any  # the family's count of turns, 0 where it needs none
    turns_c: Any
    turns: Floats
    E: TransformedEquations
    K: Floats  # (n + m, n + m)
    factors: Floats
    pivots: Ints
    right: Floats
    x: Floats  # zdd and lam
    rest: Floats
    options: Floats
    compliance: Floats  # (m)
    soft: Floats  # (m), compliance or eps
    implied: Ints  # rows that others imply
    row_scale: Floats  # (n + m), of the equations as they are factored
    best: Floats  # (n + m), a solution beside c.x
    unit: Floats  # (m), of the errors of each row
    # for formulations in independent coordinates
    y: Floats
    sizes: Floats
    order: Ints  # coordinates, the dependent ones first
    rank: Ints  # how many are dependent; 0 before they are chosen
    W: Floats  # (m, n + 1)
    R: Floats  # (n, n)
    Mr: Floats  # (n, n)


def new_dense(
    family: Family, options: Floats, compliance: Floats, soft: Floats, implied: Ints, unit: Floats
) -> Dense:
    n, m = family.n, family.m
    turns = family.remember
    size = n + m
    return Dense(
        family.bound.f,
        family.bound.c,
        turns.f if turns else 0,
        turns.c if turns else 0,
        family.turns,
        family.equations,
        np.zeros((size, size)),
        np.zeros((size, size)),
        np.zeros(size, dtype=np.int64),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        options,
        compliance,
        soft,
        implied,
        np.ones(size),
        np.zeros(size),
        unit,
        np.zeros(2 * n),
        np.array(family.sizes, dtype=float),
        np.arange(n),
        np.zeros(1, dtype=np.int64),
        np.zeros((m, n + 1)),
        np.zeros((n, n)),
        np.zeros((n, n)),
    )


# Solving ----------------------------------------------------------------------------------------------


@kernel
def factor(c, dropped):
    """K = [M Phi_z^T; Phi_z -c], and its factors with eps, or without `dropped` rows.

    What is factored has unknowns in sizes of the coordinates, and equations of size one: pivots are then chosen alike
    for heavy and light bodies, large and small ones.
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
    """x becomes the solution for the right-hand side x by the factors."""
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
    """c.right - K c.x into c.rest; the largest of them against the sizes of the terms of its equation."""
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
def refine(c, dropped):
    """x += K^-1 (c.right - K x) until every equation holds; returns what is left over."""
    lost, before = left_over(c), np.inf
    for _ in range(MOST_REFINEMENTS):
        if lost <= AT_REST or not lost < STALLED * before:
            break
        before = lost
        solve_scaled(c, dropped, c.rest)
        for i in range(c.x.size):
            c.x[i] += c.rest[i]
        lost = left_over(c)
    return lost


@kernel
def solve(c):
    """c.x of K x = c.right; factors are those with eps, which is refined away.

    Where that leaves too much over, the rows that others imply are left out of other factors.
    """
    none = c.implied[:0]
    for i in range(c.x.size):
        c.x[i] = c.right[i]
    solve_scaled(c, none, c.x)
    if c.options[REFINED] == 0.0:
        return
    lost = refine(c, none)
    if lost <= LOST or c.implied.size == 0:
        return
    for i in range(c.x.size):
        c.best[i], c.x[i] = c.x[i], c.right[i]
    factor(c, c.implied)
    solve_scaled(c, c.implied, c.x)
    if not refine(c, c.implied) < lost:
        for i in range(c.x.size):
            c.x[i] = c.best[i]


@kernel
def position_error(E, unit, right):
    """-Phi; the largest of them, in units of their own."""
    found, n = 0.0, E.Q.size
    for i in range(E.Phi.size):
        right[n + i] = -E.Phi[i]
        found = max(found, abs(E.Phi[i]) / unit[i])
    return found


@kernel
def velocity_error(E, zd, unit, right):
    """nu - Phi_z zd; the largest of them, in units of their own."""
    found, n = 0.0, E.Q.size
    for i in range(E.Phi.size):
        rate = E.nu[i]
        for j in range(n):
            rate -= E.J[i, j] * zd[j]
        right[n + i] = rate
        found = max(found, abs(rate) / unit[i])
    return found


# Kernel pointers ------------------------------------------------------------------------------------------------


@kernel_pointer
def accelerations(c, t, y, out):
    """(zd, zdd); lam stays in c.x."""
    E, n = c.E, c.E.Q.size
    invoke(c.pose_f, c.pose_c, t, y, y)
    zd = y[n:]
    velocity_error(E, zd, c.unit, c.right)
    for j in range(n):
        c.right[j] = E.Q[j]
    for i in range(E.Phi.size):
        drift = -c.options[ALPHA2] * c.right[n + i] + c.options[BETA2] * E.Phi[i]
        c.right[n + i] = E.gamma[i] - drift
    factor(c, c.implied[:0])
    solve(c)
    for j in range(n):
        out[j], out[n + j] = zd[j], c.x[j]


@kernel_pointer
def project(c, t, y, notes):
    """Bring y onto the constraints by the smallest change in the metric of M, first z, then zd."""
    E, n = c.E, c.E.Q.size
    before, level, length = np.inf, 0, c.options[LENGTH]
    for iteration in range(2 * MOST_CORRECTIONS):
        invoke(c.pose_f, c.pose_c, t, y, y)
        found = (
            position_error(E, c.unit, c.right) if level == 0 else velocity_error(E, y[n:], c.unit, c.right)
        )
        if iteration == 0:
            notes[POSITION] = max(notes[POSITION], found)
        if level == 0 and (found <= c.options[TOLERANCE] or found > 0.5 * before):
            level, before = 1, np.inf
            found = velocity_error(E, y[n:], c.unit, c.right)
            notes[VELOCITY] = max(notes[VELOCITY], found)
        if level == 1 and (found <= c.options[TOLERANCE] or found > 0.5 * before):
            break
        before = found
        for j in range(n):
            c.right[j] = 0.0
        factor(c, c.implied[:0])
        solve(c)
        change = 0.0
        for j in range(n):
            change = max(change, abs(c.x[j]) / c.sizes[j] * length)
        # a change out of proportion means a singular pose
        if change <= LARGEST_CORRECTION * found:
            for j in range(n):
                y[level * n + j] += c.x[j]
    count_turns(c, t, y, notes)


@kernel_pointer
def watch(c, t, y, notes):
    """Leave y as it is; only the turns of the bodies are counted."""
    count_turns(c, t, y, notes)


@kernel
def count_turns(c, t, y, notes):
    if c.turns_f != 0:
        invoke(c.turns_f, c.turns_c, t, y, notes[TURNS:])
        for j in range(c.turns.size):
            c.turns[j] = notes[TURNS + j]


# Posing -----------------------------------------------------------------------------------------------


def softened(compliance: Floats, felt: Floats) -> tuple[Floats, bool]:
    """Compliance, or a small share of what rows feel where there is none, and whether that has to be refined away."""
    soft = np.where(compliance > 0.0, compliance, SOFT * felt)
    return soft, bool(np.any(soft > compliance))


def dense_at(
    formulation: Formulation, family: Family, t: float, z: Floats, redundant: bool, tolerance: float
) -> Dense:
    """The context of a formulation, its rows measured at a state; `redundant` allows redundant constraints."""
    felt = row_scales.felt(family, t, z) if redundant else np.zeros(family.m)
    given = row_scales.given_in(family, t, z) if formulation.gives_way else felt
    compliance = formulation.compliances(given)
    soft, softer = softened(compliance, felt)
    refined = float(softer or unequal(family.system))
    options = np.array([*formulation.stabilization, refined, family.system.length, tolerance])
    implied = row_scales.implied(family, t, z) if softer else np.zeros(0, dtype=np.int64)
    return new_dense(family, options, compliance, soft, implied, row_scales.units(family, t, z))


def pose_dense(
    formulation: Formulation, family: Family, t: float, z: Floats, redundant: bool, tolerance: float
) -> OdeProblem:
    """The kernel pointers of a formulation bound to a family."""
    context = dense_at(formulation, family, t, z, redundant, tolerance)
    options, notes = context.options, np.zeros(TURNS + family.turns.size)
    return OdeProblem(
        formulation.rhs.bind(context),
        formulation.finish.bind(context),
        notes,
        options[TOLERANCE:],
        {"order": context.order, "rank": context.rank, "turns": family.turns},
        context.rank,
    )
