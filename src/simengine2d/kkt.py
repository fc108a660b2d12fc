"""The linear solver of dynamics: [A Phi_q^T; Phi_q -eps] [x; lam] = [b; c], for all sizes.

One symbolic analysis per model writes the elimination down as a flat list of index triples, v[i] -= l[j] * v[k];
factoring is then one pass over that list, without search or branching. The order of elimination follows the
mechanism: a body, then the joint to its parent, up to the ground. For trees this *is* the recursive O(n)
algorithm; the multipliers of loop-closing joints come when all bodies of their loop are gone.

-eps makes redundant constraints legal (the matrix stays quasi-definite); refinement against the matrix without
eps then gives exact accelerations and the smallest multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Short = NDArray[np.int32]


class Elimination(NamedTuple):
    """A symmetric elimination v = L D L^T as a program over the slots of the upper triangle.

    Pivot k stands in slot `pivot[k]`; the rest of its row in the slots after it, up to pivot[k + 1].
    """

    order: Ints  # unknown that is eliminated k-th
    pivot: Short
    column: Short  # position of the unknown that each slot belongs to
    update_start: Short  # updates of pivot k: update_start[k] : update_start[k + 1]
    target: Short
    left: Short
    right: Short


@kernel
def factor_symmetric(E, v):
    """v holds the upper triangle, row by row; it becomes 1/D on the pivots and D L^T beside them.

    v_ij -= v_ki v_kj / v_kk for all i <= j in row k. Returns the smallest pivot relative to its original size.
    """
    pivot, start, target, left, right = E.pivot, E.update_start, E.target, E.left, E.right
    for k in range(pivot.size - 1):
        inverse = 1.0 / v[pivot[k]]
        v[pivot[k]] = inverse
        for p in range(start[k], start[k + 1]):
            v[target[p]] -= (v[left[p]] * inverse) * v[right[p]]


@kernel
def solve_symmetric(E, v, b, x, work):
    """x of K x = b from the factors; b and x in the numbering of the unknowns."""
    order, pivot, column = E.order, E.pivot, E.column
    n = order.size
    for k in range(n):
        work[k] = b[order[k]]
    for k in range(n):
        share = work[k] * v[pivot[k]]
        for p in range(pivot[k] + 1, pivot[k + 1]):
            work[column[p]] -= v[p] * share
    for k in range(n - 1, -1, -1):
        total = work[k]
        for p in range(pivot[k] + 1, pivot[k + 1]):
            total -= v[p] * work[column[p]]
        work[k] = total * v[pivot[k]]
    for k in range(n):
        x[order[k]] = work[k]


def analyze_symmetric(rows: Sequence[Sequence[int]], order: Sequence[int]) -> tuple[Elimination, dict[tuple[int, int], int]]:
    """The program for a symmetric matrix whose row i has the columns rows[i], eliminated in the given order.

    Also returns the slot of every entry (i, j), by unknowns, in either order.
    """
    n = len(order)
    at = {unknown: k for k, unknown in enumerate(order)}
    above: list[set[int]] = [set() for _ in range(n)]  # later positions coupled to position k
    for i, columns in enumerate(rows):
        for j in columns:
            low, high = sorted((at[i], at[j]))
            if low != high:
                above[low].add(high)
    parents = []
    for k in range(n):  # fill: eliminating k couples all that are coupled to it
        if above[k]:
            first = min(above[k])
            above[first] |= above[k] - {first}
            parents.append(first)
    slots: dict[tuple[int, int], int] = {}
    pivot, column = [], []
    for k in range(n):
        pivot.append(len(column))
        for j in [k, *sorted(above[k])]:
            slots[k, j] = len(column)
            column.append(j)
    pivot.append(len(column))
    starts, target, left, right = [0], [], [], []
    for k in range(n):
        later = column[pivot[k] + 1 : pivot[k + 1]]
        for a, i in enumerate(later):
            for j in later[a:]:
                target.append(slots[i, j])
                left.append(slots[k, i])
                right.append(slots[k, j])
        starts.append(len(target))
    short = lambda values: np.array(values, dtype=np.int32)  # noqa: E731
    program = Elimination(
        np.array(order, dtype=np.int64), short(pivot), short(column), short(starts), short(target), short(left), short(right)
    )
    by_unknown = {}
    for (i, j), slot in slots.items():
        by_unknown[order[i], order[j]] = slot
        by_unknown[order[j], order[i]] = slot
    return program, by_unknown
