"""The smallest change that satisfies linear equations: min |x - x0|_W subject to J x = b.

    [ W   J^T ] [ dx ]   [    0     ]
    [ J  -eps ] [ y  ] = [ b - J x0 ]

The small -eps makes redundant rows legal; refinement removes its effect, so consistent equations are met
exactly and among many solutions the nearest is taken. One sparse factorization serves all sizes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

Floats = NDArray[np.float64]

EPS = 1e-10  # rows have norm one: directions weaker than sqrt(EPS) count as dependent
REFINEMENTS = 4


def smallest_change(J: csr_array, residual: Floats, weight: Floats, eps: float = EPS) -> Floats:
    """dx of smallest |dx|_W with J dx = residual; in the least-squares sense where the rows contradict."""
    n, m = J.shape[1], J.shape[0]
    if m == 0:
        return np.zeros(n)
    norms = np.sqrt(np.asarray(J.multiply(J).sum(axis=1)).ravel())
    safe = np.where(norms > 0.0, norms, 1.0)
    scaled = diags_array(1.0 / safe) @ J
    b = np.where(norms > 0.0, residual / safe, 0.0)
    W = diags_array(weight)
    kkt = csc_array(block_array([[W, scaled.T], [scaled, -eps * diags_array(np.ones(m))]]))
    lu = splu(kkt)
    dx = np.zeros(n)
    for _ in range(REFINEMENTS):
        rest = b - scaled @ dx
        dx += lu.solve(np.concatenate([np.zeros(n), rest]))[:n]
    return dx


def sparse_jacobian(jac_start: NDArray[np.int64], jac_column: NDArray[np.int64], data: Floats, n: int) -> csr_array:
    """Phi_q from its non-zeros by rows."""
    return csr_array((data, jac_column, jac_start), shape=(jac_start.size - 1, n))
