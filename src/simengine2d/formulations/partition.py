"""Independent coordinates: which they are, and how the others follow from them.

    Phi_d zd_d + Phi_i zd_i = nu,     zd = R zd_i + s,     zdd = R zdd_i + s'      R = [ -Phi_d^-1 Phi_i ; 1 ]

The state holds all coordinates. Only the independent ones count; the others are an initial guess for what follows from
them. So the choice may change after any step, and no integrator needs to know. It does change: if a dependent
coordinate moves much faster than the independent ones, like the height of a pin where its x turns back, it is a steep
function of them, and a step that is short for the motion is long for this function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..coordinates.base import Family
from ..coordinates.equations import POSITION, VELOCITY, Configuration, Turns, count_turns, turns_of
from ..coordinates.ode_problem import OdeFormulation, OdeProblem
from ..coordinates.row_scales import lengths_in
from ..coordinates.transform import TransformedEquations
from ..errors import ModelError, unknown
from ..numerics.arrays import Floats, Ints
from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..numerics.rank import DEPENDENT

# a row that is larger than this does not any more, where it did in a singular pose at the start
APPEARED = 1e-3
LAST = 1e-4  # factor of sizes of coordinates that are to be independent
MOST_ITERATIONS = 10
OPEN = 1e-3  # gap of a joint, against a length of the mechanism, with which a state is none


class Partition(NamedTuple):
    """Context of these kernel pointers."""

    evaluate_f: Any
    evaluate_c: Any
    E: TransformedEquations
    sizes: Floats  # (n)
    per_row: Floats  # (m)
    length: float  # of the mechanism
    tolerance: Floats
    counting: Turns
    order: Ints  # coordinates, the dependent ones first
    rank: Ints  # how many are dependent; 0 before they are chosen
    # scratch
    y: Floats
    right: Floats  # (n + m)
    x: Floats  # (n)
    pivots: Ints  # (n)
    W: Floats  # (m, n + 1)
    R: Floats  # (n, n)
    Mr: Floats  # (n, n)


def new_partition(family: Family, at: Configuration) -> Partition:
    """The context for a family, on its dense matrices."""
    n, m, evaluate = family.n, family.m, family.fill_matrices
    return Partition(
        evaluate.f,
        evaluate.c,
        family.matrices,
        np.array(family.sizes, dtype=float),
        lengths_in(family, at),
        float(family.system.length),
        np.zeros(1),
        turns_of(family),
        np.arange(n),
        np.zeros(1, dtype=np.int64),
        np.zeros(2 * n),
        np.zeros(n + m),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.zeros((m, n + 1)),
        np.zeros((n, n)),
        np.zeros((n, n)),
    )


def prefer(sizes: Floats, family: Family, independent: list[str]) -> None:
    """Coordinates of tiny sizes are the last to become dependent."""
    for name in independent:
        if name not in family.names:
            raise ModelError(
                f"independent: there is no coordinate '{name}'. {unknown('coordinate', name, family.names)}"
            )
        sizes[family.names.index(name)] *= LAST


# Dependent and independent ----------------------------------------------------------------------------


@kernel
def choose(c, most):
    """At most so many dependent coordinates by elimination with complete pivoting, all in units of their sizes.

    Their number does not become smaller: in a singular pose the choice before stays.
    """
    J, W, order, m, n = c.E.J, c.W, c.pivots, c.E.Phi.size, c.E.Q.size
    for j in range(n):
        order[j] = j
        for i in range(m):
            W[i, j] = J[i, j] * c.sizes[j] * c.per_row[i]
    known, rank, first = c.rank[0], 0, 0.0
    for k in range(most):
        row, column, size = k, k, 0.0
        for i in range(k, m):
            for j in range(k, n):
                if abs(W[i, order[j]]) > size:
                    row, column, size = i, j, abs(W[i, order[j]])
        first = max(first, size)
        if size <= (DEPENDENT if known == 0 or k < known else APPEARED) * first:
            break
        order[k], order[column] = order[column], order[k]
        for j in range(n):
            W[k, j], W[row, j] = W[row, j], W[k, j]
        for i in range(k + 1, m):
            factor = W[i, order[k]] / W[k, order[k]]
            for j in range(n):
                W[i, j] -= factor * W[k, j]
        rank = k + 1
    if rank >= known:
        c.rank[0] = rank
        for j in range(n):
            c.order[j] = order[j]


@kernel
def reduce(c):
    """Eliminate the dependent coordinates from [Phi_z, right]: W = [1, Phi_d^-1 Phi_i, Phi_d^-1 right]."""
    J, W, order, m, n = c.E.J, c.W, c.order, c.E.Phi.size, c.E.Q.size
    for i in range(m):
        W[i, n] = c.right[n + i] * c.per_row[i]
        for j in range(n):
            W[i, j] = J[i, j] * c.per_row[i]
    for k in range(c.rank[0]):
        d, row = order[k], k
        for i in range(k, m):
            if abs(W[i, d]) > abs(W[row, d]):
                row = i
        pivot = W[row, d]
        for j in range(n + 1):
            W[k, j], W[row, j] = W[row, j], W[k, j]
            W[k, j] /= pivot
        for i in range(m):
            factor = W[i, d]
            if i != k and factor != 0.0:
                for j in range(n + 1):
                    W[i, j] -= factor * W[k, j]


@kernel(inline=True)
def residual_of_row(E, level, y, i):
    """-Phi, or nu - Phi_z zd, of one row."""
    if level == POSITION:
        return -E.Phi[i]
    n, rate = E.Q.size, E.nu[i]
    for j in range(n):
        rate -= E.J[i, j] * y[n + j]
    return rate


@kernel
def errors_at(c, level, y):
    """-Phi, or nu - Phi_z zd, into c.right[n:]; the largest as a length of the mechanism, and as it is."""
    n, error, violation = c.E.Q.size, 0.0, 0.0
    for i in range(c.per_row.size):
        c.right[n + i] = residual_of_row(c.E, level, y, i)
        error = max(error, abs(c.right[n + i]) * c.per_row[i])
        violation = max(violation, abs(c.right[n + i]))
    return error, violation


@kernel
def solve_positions(c, t, y):
    """Newton's method on Phi = 0 for the dependent coordinates: the first violation, and the last error as a length.

    Where it leads away, the dependent coordinates stay as they were given.
    """
    n, first, at_first, error, before = c.E.Q.size, 0.0, 0.0, 0.0, np.inf
    for k in range(c.rank[0]):
        c.x[k] = y[c.order[k]]
    for iteration in range(MOST_ITERATIONS):
        invoke(c.evaluate_f, c.evaluate_c, t, y, y)
        error, violation = errors_at(c, POSITION, y)
        if iteration == 0:
            first, at_first = error, violation
        if error <= c.tolerance[0] or not error <= 0.5 * before:
            break
        before = error
        reduce(c)
        for k in range(c.rank[0]):
            y[c.order[k]] += c.W[k, n]
    if not error <= first:
        for k in range(c.rank[0]):
            y[c.order[k]] = c.x[k]
        invoke(c.evaluate_f, c.evaluate_c, t, y, y)
        error = first
    return at_first, error


@kernel
def solve_velocities(c, y):
    """zd_d of Phi_z zd = nu; the violation before."""
    n = c.E.Q.size
    _, violation = errors_at(c, VELOCITY, y)
    reduce(c)
    for k in range(c.rank[0]):
        y[n + c.order[k]] += c.W[k, n]
    return violation


@kernel
def reduced_accelerations(c, t, y, out):
    """R^T M R zdd_i = R^T (Q - M s), with zdd = R zdd_i + s and s from gamma, at a consistent state."""
    E, n, r = c.E, c.E.Q.size, c.rank[0]
    f = n - r
    invoke(c.evaluate_f, c.evaluate_c, t, y, y)
    for i in range(E.Phi.size):
        c.right[n + i] = E.gamma[i]
    reduce(c)
    R, s = c.R, c.x
    for p in range(f):
        for k in range(r):
            R[c.order[k], p] = -c.W[k, c.order[r + p]]
        for q in range(f):
            R[c.order[r + q], p] = 1.0 if p == q else 0.0
    for k in range(r):
        s[c.order[k]] = c.W[k, n]
    for q in range(f):
        s[c.order[r + q]] = 0.0
    # R^T M R and R^T (Q - M s)
    for p in range(f):
        c.right[p] = 0.0
        for q in range(f):
            c.Mr[p, q] = 0.0
    for i in range(n):
        force = E.Q[i]
        for j in range(n):
            force -= E.M[i, j] * s[j]
        for q in range(f):
            factor = 0.0
            for j in range(n):
                factor += E.M[i, j] * R[j, q]
            for p in range(f):
                c.Mr[p, q] += R[i, p] * factor
            c.right[q] += R[i, q] * force
    lu_factor(c.Mr[:f, :f], c.pivots)
    lu_solve(c.Mr[:f, :f], c.pivots, c.right[:f])
    for i in range(n):
        out[i], out[n + i] = y[n + i], s[i]
        for p in range(f):
            out[n + i] += R[i, p] * c.right[p]


@kernel
def copy_state(c, y):
    for j in range(y.size):
        c.y[j] = y[j]


@kernel_pointer
def by_velocities(c, t, y, out):
    """Velocities from the independent ones, positions as they were integrated."""
    copy_state(c, y)
    invoke(c.evaluate_f, c.evaluate_c, t, c.y, c.y)
    solve_velocities(c, c.y)
    reduced_accelerations(c, t, c.y, out)


@kernel_pointer
def by_positions(c, t, y, out):
    """Positions and velocities from the independent ones; no number where no positions fit them."""
    copy_state(c, y)
    _, left = solve_positions(c, t, c.y)
    if not left <= OPEN * c.length:
        for j in range(out.size):
            out[j] = np.nan
        return
    solve_velocities(c, c.y)
    reduced_accelerations(c, t, c.y, out)


@kernel_pointer
def settle(c, t, y, monitors):
    """Choose the dependent coordinates of a state, and make them fit; rows that were redundant may be so no more."""
    most = min(c.E.Phi.size, c.E.Q.size)
    invoke(c.evaluate_f, c.evaluate_c, t, y, y)
    choose(c, most if c.rank[0] == 0 else c.rank[0])
    violation, _ = solve_positions(c, t, y)
    monitors[POSITION] = max(monitors[POSITION], violation)
    monitors[VELOCITY] = max(monitors[VELOCITY], solve_velocities(c, y))
    if c.rank[0] < most:
        choose(c, most)
    count_turns(c.counting, t, y, monitors)


@dataclass(frozen=True)
class MatrixR(OdeFormulation):
    """Velocity transformation to independent coordinates z: qd = R zd + s, and no multipliers in the equations.

        R^T M R zdd = R^T (QA - M s'),      qdd = R zdd + s'

    The columns of R are the motions in which one independent velocity is 1 and the others 0. All positions are
    integrated, and those of the dependent coordinates are corrected after each step. Then the independent ones are
    chosen again, so that no dependent coordinate moves much faster than they do.

    Garcia de Jalon & Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), section 5.2.3.
    """

    name: ClassVar[str] = "matrix_r"
    projects: ClassVar[bool] = True
    independent: str = ""
    """Coordinates that shall be independent wherever they can be, with blanks between them: "crank.phi"."""

    def problem(self, family: Family, at: Configuration) -> OdeProblem:
        c = new_partition(family, at)
        prefer(c.sizes, family, self.independent.split())
        rhs, memory = by_velocities.bind(c), {"order": c.order, "rank": c.rank}
        return OdeProblem.of(family, rhs, settle.bind_like(rhs), tolerance=c.tolerance, memory=memory)


@dataclass(frozen=True)
class Partitioning(OdeFormulation):
    """Coordinate partitioning: independent coordinates are integrated, the others solved from the constraints.

        Phi(q_i, q_d, t) = 0,      Phi_d qd_d = nu - Phi_i qd_i,      R^T M R qdd_i = R^T (QA - M s)

    Every evaluation solves the positions by Newton's method, so that all stages satisfy all constraints. The
    independent coordinates are chosen again after each step.

    Wehage & Haug, Journal of Mechanical Design 104 (1982) 247-255.
    """

    name: ClassVar[str] = "partitioning"
    projects: ClassVar[bool] = True

    def problem(self, family: Family, at: Configuration) -> OdeProblem:
        c = new_partition(family, at)
        rhs, memory = by_positions.bind(c), {"order": c.order, "rank": c.rank}
        return OdeProblem.of(family, rhs, settle.bind_like(rhs), tolerance=c.tolerance, memory=memory)
