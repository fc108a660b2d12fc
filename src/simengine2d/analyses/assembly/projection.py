"""The smallest change that satisfies linear equations: min |x - x0|_W subject to J x = b.

    [ W   J^T ] [ dx ]   [    0     ]
    [ J  -eps ] [ y  ] = [ b - J x0 ]

The small -eps makes redundant rows legal; refinement removes its effect, so consistent equations are satisfied
exactly and of many solutions the nearest is taken. J is an array for small systems and sparse for large ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...numerics.rank import Matrix, unit_rows
from ...system.system import System

Floats = NDArray[np.float64]

EPS = 1e-10  # for rows of norm one: directions weaker than sqrt(EPS) count as dependent
REFINEMENTS = 4
FAINT = 1e-11  # smallest singular value that counts if weights differ by many powers of ten
WEAKEST = 1e-13  # eps for rows of which some are weak, since they weigh given against free velocities
DENSE = 100  # rows plus columns up to which arrays are faster


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

    In y = W^1/2 dx and with rows of norm one, dependent rows can be identified, and the answer is that of W = 1.
    """
    if J.shape[0] == 0:
        return np.zeros(J.shape[1])
    root = np.sqrt(weight)
    scaled, norms = unit_rows(_times_columns(J, 1.0 / root))
    if isinstance(J, np.ndarray):
        U, sizes, Vt = np.linalg.svd(scaled, full_matrices=False)
        kept = sizes > FAINT
        return np.asarray(Vt[kept].T @ ((U[:, kept].T @ (residual / norms)) / sizes[kept]) / root)
    return smallest_change(scaled, residual / norms, np.ones_like(weight), WEAKEST) / root


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


def scaled_jacobian(system: System, t: float, q: Floats, scale: Floats) -> Matrix:
    """Phi_q in scaled coordinates."""
    S, shape = system.arrays, (system.m, system.n)
    data = system.Phi_q_data(q, t) * scale[S.jac_column]
    if sum(shape) <= DENSE:
        J = np.zeros(shape)
        J[np.repeat(np.arange(system.m), np.diff(S.jac_start)), S.jac_column] = data
        return J
    from scipy.sparse import csr_array

    return csr_array((data, S.jac_column, S.jac_start), shape=shape)
