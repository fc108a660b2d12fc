"""The frontal method: LU of a sparse matrix with row exchanges, whose pattern never changes.

Columns are eliminated in an order that is chosen once, by minimum degree. When one is, all rows that contain it are put
together in a small dense matrix, a front; rows are exchanged inside it for the largest pivot, and what remains of them
waits as a whole for the front of its next column. So the pattern holds for every choice of pivots (George and Ng, An
implementation of Gaussian elimination with partial pivoting for sparse systems, 1985), and cost is linear in the number
of bodies for chains and trees.

Each unknown, and each equation, consists of s numbers, such as those of the stages of a Runge-Kutta method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .kernel import kernel


class Fronts(NamedTuple):
    """A matrix by its entries, the fronts of its elimination in their order, then the factors."""

    v: Floats  # (entries, s, s)
    row: Ints  # equation and unknown of each entry
    column: Ints
    row_scale: Floats  # (equations, s), of the largest entries one
    column_scale: Floats
    # one of each per front
    eliminated: Ints  # columns of its own, the first ones; and all of its rows and columns
    rows: Ints
    columns: Ints
    first: Ints  # its first number in `lu`, entry of `at_row` and entry of `at_column`
    first_row: Ints
    first_column: Ints
    parent: Ints  # the front that takes the rows that remain, at its row `into`; -1 if there are none
    into: Ints
    # numbers of the matrix, front by front, and where they go
    entry_start: Ints
    entry: Ints
    entry_row: Ints
    entry_column: Ints
    at_row: Ints  # (rows of all fronts): the row of the matrix, -1 for those of earlier fronts
    at_column: Ints  # (columns of all fronts): the column of the matrix
    into_column: Ints  # where a column that remains is in the front of the parent
    exchanged: Ints  # rows
    lu: Floats
    y: Floats  # (rows of all fronts)


# Kernels ----------------------------------------------------------------------------------------------


@kernel
def factor_fronts(K):
    """K.lu from K.v."""
    equilibrate(K)
    s = K.v.shape[1]
    for p in range(K.lu.size):
        K.lu[p] = 0.0
    for f in range(K.rows.size):
        width, first, own = K.columns[f], K.first[f], K.eliminated[f]
        for e in range(K.entry_start[f], K.entry_start[f + 1]):
            p = K.entry[e]
            place = first + K.entry_row[e] * width + K.entry_column[e]
            row, column = K.row[p], K.column[p]
            for i in range(s):
                for j in range(s):
                    value = K.v[p, i, j] * K.row_scale[row, i] * K.column_scale[column, j]
                    K.lu[place + i * width + j] += value
        exchanged = K.exchanged[K.first_row[f] : K.first_row[f] + own]
        A = K.lu[first : first + K.rows[f] * width].reshape(K.rows[f], width)
        eliminate_columns(A, own, exchanged)
        if K.parent[f] >= 0:
            hand_over(K, f, A)


@kernel
def equilibrate(K):
    """Scales that make the largest entry of every row, and then of every column, one."""
    s, by_row, by_column = K.v.shape[1], K.row_scale, K.column_scale
    for k in range(by_row.shape[0]):
        for i in range(s):
            by_row[k, i] = by_column[k, i] = 0.0
    for p in range(K.v.shape[0]):
        for i in range(s):
            for j in range(s):
                by_row[K.row[p], i] = max(by_row[K.row[p], i], abs(K.v[p, i, j]))
    invert_all(by_row)
    for p in range(K.v.shape[0]):
        for i in range(s):
            for j in range(s):
                size = abs(K.v[p, i, j]) * by_row[K.row[p], i]
                by_column[K.column[p], j] = max(by_column[K.column[p], j], size)
    invert_all(by_column)


@kernel
def invert_all(scale):
    for k in range(scale.shape[0]):
        for i in range(scale.shape[1]):
            scale[k, i] = 1.0 / scale[k, i] if scale[k, i] > 0.0 else 1.0


@kernel
def eliminate_columns(A, own, exchanged):
    """Gauss's elimination of the first columns, each with the largest pivot; their reciprocals are kept."""
    rows, width = A.shape
    for c in range(own):
        p = c
        for i in range(c + 1, rows):
            if abs(A[i, c]) > abs(A[p, c]):
                p = i
        exchanged[c] = p
        if p != c:
            for j in range(width):
                A[c, j], A[p, j] = A[p, j], A[c, j]
        inverse = 1.0 / A[c, c] if A[c, c] != 0.0 else np.nan
        A[c, c] = inverse
        for i in range(c + 1, rows):
            if A[i, c] != 0.0:
                share = A[i, c] * inverse
                A[i, c] = share
                for j in range(c + 1, width):
                    A[i, j] -= share * A[c, j]


@kernel
def hand_over(K, f, A):
    """The rows that remain become rows of the parent."""
    parent, own = K.parent[f], K.eliminated[f]
    width, place = K.columns[parent], K.first[parent]
    for i in range(own, A.shape[0]):
        row = place + (K.into[f] + i - own) * width
        for j in range(own, A.shape[1]):
            K.lu[row + K.into_column[K.first_column[f] + j]] = A[i, j]


@kernel
def solve_fronts(K, right, x):
    """x of A x = right, both (unknowns, s), by the factors."""
    s, y = K.v.shape[1], K.y
    for f in range(K.rows.size):
        width, own, rows, first = K.columns[f], K.eliminated[f], K.rows[f], K.first_row[f]
        for i in range(rows):
            k = K.at_row[first + i]
            if k >= 0:
                y[first + i] = right[k // s, k % s] * K.row_scale[k // s, k % s]
        for c in range(own):
            p = K.exchanged[first + c]
            y[first + c], y[first + p] = y[first + p], y[first + c]
        for c in range(own):
            for i in range(c + 1, rows):
                y[first + i] -= K.lu[K.first[f] + i * width + c] * y[first + c]
        for i in range(own, rows):
            y[K.first_row[K.parent[f]] + K.into[f] + i - own] = y[first + i]
    for f in range(K.rows.size - 1, -1, -1):
        width, first = K.columns[f], K.first_column[f]
        for c in range(K.eliminated[f] - 1, -1, -1):
            total, row = y[K.first_row[f] + c], K.first[f] + c * width
            for j in range(c + 1, width):
                k = K.at_column[first + j]
                total -= K.lu[row + j] * x[k // s, k % s]
            k = K.at_column[first + c]
            x[k // s, k % s] = total * K.lu[row + c]
    for k in range(x.shape[0]):
        for i in range(s):
            x[k, i] *= K.column_scale[k, i]
