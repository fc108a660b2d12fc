"""LU factors of a small dense matrix with row exchanges: P A = L U, both factors in the place of A.

A x = b:      L z = P b,      U x = z
A^T x = b:    U^T z = b,      L^T P x = z
"""

from __future__ import annotations

import numpy as np

from .kernel import kernel


@kernel
def lu_factor(A, pivots):
    """Factor A in place; row i was exchanged with row pivots[i]. Returns the smallest pivot over the largest.

    The result is 0 if A is singular or has an entry that is not finite; the factors are then meaningless.
    """
    n, smallest, largest = A.shape[0], np.inf, 0.0
    for k in range(n):
        # the largest entry of column k is its pivot
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        pivots[k] = p
        size = abs(A[p, k])
        if not 0.0 < size < np.inf:
            return 0.0
        smallest, largest = min(smallest, size), max(largest, size)
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        # subtract row k from the rows below
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            factor = A[i, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
    return smallest / largest if n > 0 else 1.0


@kernel
def lu_solve(A, pivots, b):
    """Solve A x = b with the factors of A; x takes the place of b."""
    n = b.size
    for k in range(n):
        p = pivots[k]
        if p != k:
            b[k], b[p] = b[p], b[k]
    for i in range(1, n):
        for j in range(i):
            b[i] -= A[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= A[i, j] * b[j]
        b[i] /= A[i, i]


@kernel
def lu_solve_transposed(A, pivots, b):
    """Solve A^T x = b with the factors of A; x takes the place of b."""
    n = b.size
    for i in range(n):
        for j in range(i):
            b[i] -= A[j, i] * b[j]
        b[i] /= A[i, i]
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            b[i] -= A[j, i] * b[j]
    for k in range(n - 1, -1, -1):
        p = pivots[k]
        if p != k:
            b[k], b[p] = b[p], b[k]
