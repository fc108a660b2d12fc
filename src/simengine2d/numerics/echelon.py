"""Row echelon form of a square matrix with dependent rows and columns, such as those of redundant joints.

Columns that depend on earlier ones are skipped and their unknowns left at zero: multipliers of redundant constraints
then change no more than necessary, and rounding errors are never divided by a pivot that is itself rounding error.
"""

from __future__ import annotations

import numpy as np

from .kernel import kernel
from .rank import LOST_PIVOT


@kernel
def echelon(A, exchanged, column):
    """Reduce A in place; step k exchanges rows k and exchanged[k] and has its pivot in column[k]. Returns the rank.

    The rank is 0 if an entry is not finite.
    """
    # the largest entry, against which pivots are judged
    n, rank, largest = A.shape[0], 0, 0.0
    for i in range(n):
        for j in range(n):
            if not abs(A[i, j]) < np.inf:
                return 0
            largest = max(largest, abs(A[i, j]))
    for j in range(n):
        # the pivot of column j; without one the column depends on earlier ones
        p = rank
        for i in range(rank + 1, n):
            if abs(A[i, j]) > abs(A[p, j]):
                p = i
        if abs(A[p, j]) <= LOST_PIVOT * largest:
            continue
        exchanged[rank], column[rank] = p, j
        if p != rank:
            for k in range(n):
                A[rank, k], A[p, k] = A[p, k], A[rank, k]
        # subtract the pivot row from the rows below
        for i in range(rank + 1, n):
            A[i, j] /= A[rank, j]
            factor = A[i, j]
            if factor != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= factor * A[rank, k]
        rank += 1
        if rank == n:
            break
    return rank


@kernel
def echelon_solve(A, exchanged, column, rank, b, x):
    """Solve A x = b with the reduced A; b is overwritten. Returns the residual in the dependent rows."""
    # the steps of the reduction, on b
    n = b.size
    for k in range(rank):
        p = exchanged[k]
        if p != k:
            b[k], b[p] = b[p], b[k]
    for i in range(1, n):
        for k in range(min(i, rank)):
            b[i] -= A[i, column[k]] * b[k]
    # back substitution; unknowns without a pivot stay zero
    for j in range(n):
        x[j] = 0.0
    for k in range(rank - 1, -1, -1):
        rest = b[k]
        for j in range(column[k] + 1, n):
            rest -= A[k, j] * x[j]
        x[column[k]] = rest / A[k, column[k]]
    left = 0.0
    for i in range(rank, n):
        left = max(left, abs(b[i]))
    return left
