"""Sparse LU of a square matrix whose pattern never changes: analyzed once, factored many times.

The pivots are chosen once (by SciPy's SuperLU, for sparsity and size) and reused. Refactoring is then a short
compiled loop over a known pattern, without any search: the cost is linear in the number of non-zeros. The caller
watches `growth`: when the pivots have become bad, it analyzes again at the present values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .kernel import kernel


class Pattern(NamedTuple):
    """Where the non-zeros of A, L and U are. Positions are those of the permuted matrix."""

    row: Ints  # row of A at each position
    column: Ints  # column of A at each position
    # non-zeros of A by position: data index and column position
    a_start: Ints
    a_data: Ints
    a_column: Ints
    # L (unit diagonal, left of the diagonal) and U in one array, with the reciprocals of the pivots
    start: Ints
    diagonal: Ints
    columns: Ints
    scale: Floats  # of each column of A: the unknowns are scaled by it
    row_scale: Floats  # of each row, so that pivots and multipliers do not depend on units
    parity: Ints  # sign of the two permutations


@kernel(entry=True)
def factor(P, data, lu, work):
    """L and U of the scaled and permuted A, row by row.

    Returns (smallest pivot relative to its row, largest multiplier, sign of the determinant).
    """
    a_start, a_data, a_column, scale, row_scale = P.a_start, P.a_data, P.a_column, P.scale, P.row_scale
    start, diagonal, columns = P.start, P.diagonal, P.columns
    smallest, growth, sign = 1.0e300, 0.0, 1.0 * P.parity[0]
    for i in range(diagonal.size):
        # scatter row i of A
        for p in range(start[i], start[i + 1]):
            work[columns[p]] = 0.0
        row_max = 0.0
        for p in range(a_start[i], a_start[i + 1]):
            j = a_column[p]
            work[j] = data[a_data[p]] * scale[j] * row_scale[i]
            row_max = max(row_max, abs(work[j]))
        # subtract the rows above
        for p in range(start[i], diagonal[i]):
            k = columns[p]
            multiplier = work[k] * lu[diagonal[k]]
            lu[p] = multiplier
            growth = max(growth, abs(multiplier))
            for r in range(diagonal[k] + 1, start[k + 1]):
                work[columns[r]] -= multiplier * lu[r]
        # gather row i of U; of the pivot only its reciprocal is needed
        for p in range(diagonal[i] + 1, start[i + 1]):
            lu[p] = work[columns[p]]
        pivot = work[i]
        if not abs(pivot) > 0.0:  # zero or nan
            return 0.0, growth, 0.0
        lu[diagonal[i]] = 1.0 / pivot
        smallest = min(smallest, abs(pivot) / row_max)
        if pivot < 0.0:
            sign = -sign
    return smallest, growth, sign


@kernel(entry=True)
def solve(P, lu, b, x, work):
    """x of A x = b. `b` is indexed like the rows of A (more rows than A has are ignored)."""
    start, diagonal, columns = P.start, P.diagonal, P.columns
    row, column, scale, row_scale = P.row, P.column, P.scale, P.row_scale
    n = diagonal.size
    for i in range(n):
        total = b[row[i]] * row_scale[i]
        for p in range(start[i], diagonal[i]):
            total -= lu[p] * work[columns[p]]
        work[i] = total
    for i in range(n - 1, -1, -1):
        total = work[i]
        for p in range(diagonal[i] + 1, start[i + 1]):
            total -= lu[p] * work[columns[p]]
        work[i] = total * lu[diagonal[i]]
    for i in range(n):
        x[column[i]] = work[i] * scale[i]


def analyze(rows: Ints, jac_start: Ints, jac_column: Ints, data: Floats, scale: Floats) -> Pattern | None:
    """Choose pivots for the square matrix made of `rows` of a matrix in row form; None where it is singular."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    n = rows.size
    counts = jac_start[rows + 1] - jac_start[rows]
    entries = np.concatenate([np.arange(jac_start[r], jac_start[r + 1]) for r in rows] or [np.empty(0, int)])
    row_of, column_of = np.repeat(np.arange(n), counts), jac_column[entries]
    values = data[entries] * scale[column_of]
    largest = np.zeros(n)
    np.maximum.at(largest, row_of, np.abs(values))
    if n == 0 or not np.all(largest > 0.0):
        return None
    A = csc_array((values / largest[row_of], (row_of, column_of)), shape=(n, n))
    try:
        lu = splu(A, permc_spec="COLAMD", options={"Equil": False})
    except RuntimeError:  # SuperLU: "factor is exactly singular"
        return None
    # SuperLU: row i of A goes to position perm_r[i], column j to position perm_c[j]
    pattern = _pattern(rows, entries, lu.perm_r[row_of], lu.perm_c[column_of], lu.perm_r, lu.perm_c)
    return pattern._replace(scale=scale[pattern.column], row_scale=1.0 / largest[np.argsort(lu.perm_r)])


def _pattern(rows: Ints, entries: Ints, at_row: Ints, at_column: Ints, perm_r: Ints, perm_c: Ints) -> Pattern:
    n = rows.size
    order = np.lexsort((at_column, at_row))
    a_start = np.searchsorted(at_row[order], np.arange(n + 1))
    a_column = at_column[order]
    filled = _fill(a_start, a_column, n)
    columns = np.concatenate(filled)
    start = np.concatenate([[0], np.cumsum([len(f) for f in filled])])
    diagonal = start[:-1] + np.array([np.searchsorted(f, i) for i, f in enumerate(filled)])
    column = np.argsort(perm_c)
    parity = _parity(perm_r) * _parity(perm_c)
    as_int = lambda array: np.ascontiguousarray(array, dtype=np.int64)
    return Pattern(
        as_int(rows[np.argsort(perm_r)]),
        as_int(column),
        as_int(a_start),
        as_int(entries[order]),
        as_int(a_column),
        as_int(start),
        as_int(diagonal),
        as_int(columns),
        np.ones(n),
        np.ones(n),
        np.array([parity], dtype=np.int64),
    )


def _fill(a_start: Ints, a_column: Ints, n: int) -> list[Ints]:
    """Columns of row i of L + U: those of A, and of every row k < i that is subtracted from it."""
    upper: list[set[int]] = []
    filled = []
    for i in range(n):
        row = set(a_column[a_start[i] : a_start[i + 1]].tolist()) | {i}
        waiting = sorted(k for k in row if k < i)
        while waiting:
            k = waiting.pop(0)
            new = upper[k] - row
            row |= new
            waiting = sorted(waiting + [c for c in new if c < i])
        upper.append({c for c in row if c > i})
        filled.append(np.array(sorted(row), dtype=np.int64))
    return filled


def _parity(permutation: Ints) -> int:
    """+1 for an even permutation, -1 for an odd one."""
    seen, sign = np.zeros(permutation.size, dtype=bool), 1
    for start in range(permutation.size):
        length, k = 0, start
        while not seen[k]:
            seen[k], k, length = True, permutation[k], length + 1
        if length and length % 2 == 0:
            sign = -sign
    return sign
