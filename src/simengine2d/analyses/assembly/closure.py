"""Close the loops: q with Phi(q, t) = 0 near a rough guess, by damped Gauss-Newton with smallest corrections.

The smallest change that satisfies linear equations, min |x - x0|_W subject to J x = b, is

    [ W   J^T ] [ dx ]   [    0     ]
    [ J  -eps ] [ y  ] = [ b - J x0 ]

The small -eps makes redundant rows legal; refinement removes its effect, so consistent equations are satisfied
exactly and of many solutions the nearest is taken. J is an array for small systems and sparse for large ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.rank import Matrix, times_rows, unit_rows
from ...system.system import System

MOST_ITERATIONS = 200
PATIENCE = 12  # iterations within which the gaps must decrease clearly
LARGEST_TURN = 0.5  # rad in one iteration: beyond it a linear model of a rotation is useless
DAMPING = (1e-10, 1e-4, 1e-2, 1e0)

EPS = 1e-10  # for rows of norm one: directions weaker than sqrt(EPS) count as dependent
REFINEMENTS = 4
FAINT = 1e-11  # smallest singular value that counts if weights differ by many powers of ten
WEAKEST = 1e-13  # eps for rows of which some are weak, since they weigh given against free velocities
DENSE = 100  # rows plus columns up to which arrays are faster


class ScaledRows(NamedTuple):
    """Rows in a pose as lengths, in scaled coordinates: their errors, Phi_q with rows of norm one, and nu."""

    gaps: Floats
    J: Matrix
    nu: Floats


class Closure(NamedTuple):
    """The result of the iteration."""

    q: Floats
    rows: ScaledRows
    closed: bool
    iterations: int

    @property
    def gaps(self) -> Floats:
        """The errors of the rows as lengths."""
        return self.rows.gaps


def coordinate_scale(system: System) -> Floats:
    """Scale of each coordinate such that scaled coordinates are all lengths: (1, 1, 1 / arm) for each body."""
    return scale_of(system.sizes, system.arms)


def scale_of(sizes: Floats, arms: Floats) -> Floats:
    """The same from the sizes of coordinates and the arms of bodies, of one system or of many."""
    return sizes / np.repeat(arms, 3, axis=-1)


def close(system: System, t: float, q: Floats, weights: Floats | None = None) -> Closure:
    """Iterate from q until the weighted rows vanish or no step helps."""
    weights = np.ones(system.m) if weights is None else weights.copy()
    weights[system.velocity_rows] = 0.0  # they do not constrain positions
    used = weights > 0.0
    scale = coordinate_scale(system)
    q = q.copy()
    rows = scaled_rows(system, t, q, scale)
    sizes: list[float] = []
    for iteration in range(MOST_ITERATIONS):
        sizes.append(_largest(rows.gaps[used]))
        closed = sizes[-1] <= 1e-9 * system.length
        # iterate until rounding stops further progress
        slowed = iteration > 0 and sizes[-1] >= 0.9 * sizes[-2]
        if closed and (slowed or sizes[-1] <= 1e-15 * _span(system, q)):
            return Closure(q, rows, True, iteration)
        if not closed and iteration >= PATIENCE and sizes[-1] > 0.98 * sizes[-1 - PATIENCE]:
            return Closure(q, rows, False, iteration)
        better = _improve(system, t, q, rows, weights, scale)
        if better is None:
            return Closure(q, rows, closed, iteration)
        q, rows = better
    return Closure(q, rows, closed, MOST_ITERATIONS)


def _improve(
    system: System, t: float, q: Floats, rows: ScaledRows, weights: Floats, scale: Floats
) -> tuple[Floats, ScaledRows] | None:
    """One step that reduces the weighted gaps, or None. Tries stronger damping, then shorter steps."""
    gaps, J = rows.gaps, rows.J
    error = np.linalg.norm(weights * gaps)
    weighted = times_rows(weights, J) if np.any(weights != 1.0) else J
    for damping in DAMPING:
        step = scale * smallest_change(weighted, -weights * gaps, np.ones(system.n), damping)
        turn = _largest(step[2::3])
        reach = _largest(step / scale)
        factor = min(
            1.0, LARGEST_TURN / turn if turn else 1.0, 2.0 * _span(system, q) / reach if reach else 1.0
        )
        for _ in range(6):
            trial = q + factor * step
            new = scaled_rows(system, t, trial, scale)
            if np.linalg.norm(weights * new.gaps) < (1.0 - 1e-3 * factor) * error:
                return trial, new
            factor *= 0.5
    return None


def scaled_rows(system: System, t: float, q: Floats, scale: Floats) -> ScaledRows:
    at = system.evaluated(t, q)
    J, norms = unit_rows(scaled_jacobian(system, at.data, scale))
    return ScaledRows(at.Phi / norms, J, at.f[:, 1] / norms)


def _span(system: System, q: Floats) -> float:
    """The extent of the mechanism."""
    return system.length + float(np.ptp(np.concatenate([q[0::3], q[1::3], [0.0]])))


def _largest(values: Floats) -> float:
    return float(np.max(np.abs(values))) if values.size else 0.0


# Smallest changes -------------------------------------------------------------------------------------


def smallest_change(J: Matrix, residual: Floats, weight: Floats, eps: float = EPS) -> Floats:
    """dx of smallest |dx|_W with J dx = residual; in the least-squares sense if the rows contradict each other."""
    m, n = J.shape
    if m == 0:
        return np.zeros(n)
    solve = _solver(J, weight, eps)
    dx = np.zeros(n)
    for _ in range(REFINEMENTS):
        dx += solve(np.concatenate([np.zeros(n), residual - J @ dx]))[:n]
    return dx


def weighted_change(J: Matrix, residual: Floats, weight: Floats) -> Floats:
    """dx of smallest |dx|_W with J dx = residual, for weights that differ by many powers of ten.

    In y = W^1/2 dx and with rows of norm one, dependent rows can be identified, and the answer is that of W = 1. With a
    dense J there may be many residuals, as columns.
    """
    if J.shape[0] == 0:
        return np.zeros((J.shape[1], *residual.shape[1:]))
    if isinstance(J, np.ndarray):
        return WeightedRows.of(J, weight).change(residual)
    root = np.sqrt(weight)
    scaled, norms = unit_rows(_times_columns(J, 1.0 / root))
    return smallest_change(scaled, residual / norms, np.ones_like(weight), WEAKEST) / root


class WeightedRows(NamedTuple):
    """Dense rows J W^-1/2 of norm one, by their singular values that count."""

    root: Floats
    norms: Floats
    U: Floats
    sizes: Floats
    Vt: Floats

    @classmethod
    def of(cls, J: Floats, weight: Floats) -> WeightedRows:
        root = np.sqrt(weight)
        scaled, norms = unit_rows(J / root)
        U, sizes, Vt = np.linalg.svd(scaled, full_matrices=False)
        kept = sizes > FAINT
        return cls(root, norms, U[:, kept], sizes[kept], Vt[kept])

    def change(self, residual: Floats) -> Floats:
        """dx of smallest |dx|_W with J dx = residual."""
        parts = (self.U.T @ (residual.T / self.norms).T).T / self.sizes
        return np.asarray(((self.Vt.T @ parts.T).T / self.root).T)

    def multipliers(self, change: Floats) -> Floats:
        """The smallest y of W dx = J^T y, but for the norms of rows."""
        return np.asarray(self.U @ (self.Vt @ (self.root * change) / self.sizes) / self.norms)


def _times_columns(J: Matrix, factors: Floats) -> Matrix:
    return (
        J * factors
        if isinstance(J, np.ndarray)
        else type(J)((J.data * factors[J.indices], J.indices, J.indptr), shape=J.shape)
    )


def _solver(J: Matrix, weight: Floats, eps: float) -> Callable[[Floats], Floats]:
    """A solver for the matrix above."""
    m = J.shape[0]
    if isinstance(J, np.ndarray):
        inverse = np.linalg.inv(np.block([[np.diag(weight), J.T], [J, -eps * np.eye(m)]]))
        return lambda b: inverse @ b
    from scipy.sparse import block_array, csc_array, diags_array
    from scipy.sparse.linalg import splu

    kkt = block_array([[diags_array(weight), J.T], [J, -eps * diags_array(np.ones(m))]])
    return splu(csc_array(kkt)).solve


def scaled_jacobian(system: System, data: Floats, scale: Floats) -> Matrix:
    """Phi_q in scaled coordinates, from its non-zeros."""
    S, shape = system.arrays, (system.m, system.n)
    data = data * scale[S.jac_column]
    if sum(shape) <= DENSE:
        J = np.zeros(shape)
        J[np.repeat(np.arange(system.m), np.diff(S.jac_start)), S.jac_column] = data
        return J
    from scipy.sparse import csr_array

    return csr_array((data, S.jac_column, S.jac_start), shape=shape)
