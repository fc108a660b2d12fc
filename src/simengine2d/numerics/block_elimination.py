"""The elimination program of `ldl` with a block of k x k numbers in place of each number: A = L U without exchanges.

Each unknown consists of k numbers, such as those of the stages of a Runge-Kutta method. Pattern, order and the reasons
for it are those of the program; blocks need not be symmetric, and pivots are inverted with row exchanges inside them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats
from .kernel import kernel
from .ldl import Elimination


class Blocks(NamedTuple):
    """A matrix by the slots of a program, then its factors."""

    upper: Floats  # (slots, k, k), the diagonal among them; pivots become their inverses
    lower: Floats  # (slots, k, k), the block on the other side of the diagonal; then L
    right: Floats  # (unknowns, k), in the order of the unknowns
    x: Floats  # (unknowns, k)
    work: Floats  # (unknowns, k), in the order of elimination
    inverse: Floats  # (k, 2 k)


def new_blocks(program: Elimination, k: int) -> Blocks:
    slots, n = program.column.size, program.order.size
    return Blocks(
        np.zeros((slots, k, k)), np.zeros((slots, k, k)), np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k)),
        np.zeros((k, 2 * k)),
    )  # fmt: skip


@kernel
def invert(A, W):
    """A becomes its inverse, by Gauss-Jordan elimination with row exchanges; nan if it has none."""
    k = A.shape[0]
    for i in range(k):
        for j in range(k):
            W[i, j], W[i, k + j] = A[i, j], 1.0 if i == j else 0.0
    for c in range(k):
        p = c
        for i in range(c + 1, k):
            if abs(W[i, c]) > abs(W[p, c]):
                p = i
        scale = 1.0 / W[p, c] if W[p, c] != 0.0 else np.nan
        for j in range(2 * k):
            W[p, j], W[c, j] = W[c, j], W[p, j] * scale
        for i in range(k):
            factor = W[i, c]
            if i != c and factor != 0.0:
                for j in range(c, 2 * k):
                    W[i, j] -= factor * W[c, j]
    for i in range(k):
        for j in range(k):
            A[i, j] = W[i, k + j]


@kernel
def take_product(A, B, out):
    """out -= A B"""
    k = out.shape[0]
    for i in range(k):
        for r in range(k):
            factor = A[i, r]
            if factor != 0.0:
                for j in range(k):
                    out[i, j] -= factor * B[r, j]


@kernel
def times_inverse(A, P, W):
    """A becomes A P."""
    k = A.shape[0]
    for i in range(k):
        for j in range(k):
            W[i, j] = 0.0
            for r in range(k):
                W[i, j] += A[i, r] * P[r, j]
    for i in range(k):
        for j in range(k):
            A[i, j] = W[i, j]


@kernel
def eliminate_blocks(E, K):
    """A_ij -= A_ik A_kk^-1 A_kj for all i, j coupled to k, one k after another."""
    pivot, start, target, upper, lower = E.pivot, E.start, E.target, K.upper, K.lower
    for k in range(pivot.size - 1):
        first, last = int(pivot[k]), int(pivot[k + 1]) - 1
        invert(upper[first], K.inverse)
        for a in range(first + 1, last):
            times_inverse(lower[a], upper[first], K.inverse)
        p = int(start[k])
        for a in range(first + 1, last):
            take_product(lower[a], upper[a], upper[target[p]])
            for b in range(a + 1, last):
                p += 1
                take_product(lower[a], upper[b], upper[target[p]])
                take_product(lower[b], upper[a], lower[target[p]])
            p += 2  # the program eliminates a right-hand side as well


@kernel
def solve_blocks(E, K):
    """K.x of A x = K.right by the factors."""
    order, pivot, column, work = E.order, E.pivot, E.column, K.work
    n, size = order.size, K.work.shape[1]
    for k in range(n):
        for i in range(size):
            work[k, i] = K.right[order[k], i]
    for k in range(n):
        for p in range(int(pivot[k]) + 1, int(pivot[k + 1]) - 1):
            take_row(K.lower[p], work[k], work[column[p]])
    for k in range(n - 1, -1, -1):
        for p in range(int(pivot[k]) + 1, int(pivot[k + 1]) - 1):
            take_row(K.upper[p], work[column[p]], work[k])
        for i in range(size):
            total = 0.0
            for j in range(size):
                total += K.upper[pivot[k], i, j] * work[k, j]
            K.x[order[k], i] = total
        for i in range(size):
            work[k, i] = K.x[order[k], i]


@kernel
def take_row(A, x, out):
    """out -= A x"""
    for i in range(out.size):
        for j in range(x.size):
            out[i] -= A[i, j] * x[j]
