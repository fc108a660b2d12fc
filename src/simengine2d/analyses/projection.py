"""The smallest change that satisfies linear equations: min |x - x0|_W subject to J x = b.

    [ W   J^T ] [ dx ]   [    0     ]
    [ J  -eps ] [ y  ] = [ b - J x0 ]

The small -eps makes redundant rows legal; refinement removes its effect, so consistent equations are met
exactly and among many solutions the nearest is taken. One sparse factorization serves all sizes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from ..system import System

Floats = NDArray[np.float64]

EPS = 1e-10  # for rows of norm one: directions weaker than sqrt(EPS) count as dependent
REFINEMENTS = 4
DENSE = 100


def smallest_change(J: csr_array, residual: Floats, weight: Floats, eps: float = EPS) -> Floats:
    """dx of smallest |dx|_W with J dx = residual; in the least-squares sense where the rows contradict."""
    m, n = J.shape
    if m == 0:
        return np.zeros(n)
    solve = _solver(J, weight, eps)
    dx = np.zeros(n)
    for _ in range(REFINEMENTS):
        dx += solve(np.concatenate([np.zeros(n), residual - J @ dx]))[:n]
    return dx


def _solver(J: csr_array, weight: Floats, eps: float) -> Callable[[Floats], Floats]:
    """Solves with the matrix above; dense where that is quicker to set up."""
    m, n = J.shape
    if n + m <= DENSE:
        dense = J.toarray()
        inverse = np.linalg.inv(np.block([[np.diag(weight), dense.T], [dense, -eps * np.eye(m)]]))
        return lambda b: inverse @ b
    kkt = block_array([[diags_array(weight), J.T], [J, -eps * diags_array(np.ones(m))]])
    return splu(csc_array(kkt)).solve


def unit_rows(J: csr_array) -> tuple[csr_array, Floats]:
    """J with every row divided by its norm, and the norms (1 for empty rows)."""
    rows = np.repeat(np.arange(J.shape[0]), np.diff(J.indptr))
    norms = np.sqrt(np.bincount(rows, J.data**2, minlength=J.shape[0]))
    norms[norms == 0.0] = 1.0
    return csr_array((J.data / norms[rows], J.indices, J.indptr), shape=J.shape), norms


def sparse_jacobian(system: System, t: float, q: Floats, scale: Floats) -> csr_array:
    """Phi_q by the scaled coordinates."""
    arrays = system.arrays
    data = system.Phi_q_data(q, t) * scale[arrays.jac_column]
    return csr_array((data, arrays.jac_column, arrays.jac_start), shape=(system.m, system.n))
