"""The linear solver of dynamics: [A Phi_q^T; Phi_q -eps] [x; lam] = [b; c], for all sizes.

One symbolic analysis per model writes the elimination down as a flat list of index triples, v[i] -= l * v[k];
factoring is then one pass over that list, without search or branching. The order of elimination follows the
mechanism: a body, then the joint to its parent, up to the ground. For trees this *is* the recursive O(n)
algorithm; the multipliers of loop-closing joints come when all bodies of their loop are gone.

-eps makes redundant constraints legal (the matrix stays quasi-definite); refinement against the matrix without
eps then gives accurate accelerations and the smallest multipliers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedError
from .arrays import Ints
from .kernel import kernel, plain

Indices = NDArray[np.uint32]  # unsigned, so that compiled code need not check for negative indices


SMALL = 2_000  # index triples up to which writing them is not worth compiling


MOST_OPERATIONS = 40_000_000  # of one elimination: half a gigabyte of indices


class Elimination(NamedTuple):
    """A symmetric elimination v = L D L^T as a program over the slots of the upper triangle.

    Pivot k is in slot pivot[k], the rest of its row in the slots after it, up to pivot[k + 1]; the last slot
    of each row is the right-hand side, which is eliminated along with the matrix.
    """

    order: Indices  # unknown that is eliminated k-th
    pivot: Indices
    column: Indices  # position of the unknown that each slot belongs to; that of a right-hand side is n
    start: Indices  # updates of pivot k: start[k] : start[k + 1]
    target: Indices
    left: Indices
    right: Indices


@kernel(inline=True)
def eliminate(E, v):
    """v holds the upper triangle with the right-hand side; v_ij -= v_ki v_kj / v_kk for i <= j in row k."""
    pivot, start, target, left, right = E.pivot, E.start, E.target, E.left, E.right
    for k in range(pivot.size - 1):
        inverse = 1.0 / v[pivot[k]]
        v[pivot[k]] = inverse
        for p in range(start[k], start[k + 1]):
            v[target[p]] -= (v[left[p]] * inverse) * v[right[p]]


@kernel(inline=True)
def substitute(E, v, x, work):
    """The unknowns, from the last eliminated to the first: x_k = (b_k - sum_j v_kj x_j) / v_kk."""
    order, pivot, column = E.order, E.pivot, E.column
    for k in range(order.size - 1, -1, -1):
        last = pivot[k + 1] - 1
        total = v[last]
        for p in range(pivot[k] + 1, last):
            total -= v[p] * work[column[p]]
        work[k] = total * v[pivot[k]]
        x[order[k]] = work[k]


class SymbolicFactorization(NamedTuple):
    """The program, and the slots of the matrix entries and right-hand sides."""

    program: Elimination
    at: Ints  # position of each unknown

    def slots(self, i: Ints, j: Ints) -> Ints:
        """Slots of the entries (i, j), by unknowns, in either order."""
        first, second = self.at[i], self.at[j]
        out = np.empty(first.size, dtype=np.int64)
        row, column = np.minimum(first, second), np.maximum(first, second)
        quick = find_slots if out.size > SMALL else plain(find_slots)
        quick(self.program.pivot, self.program.column, row, column, out)
        return out

    def right_hand(self, i: Ints) -> Ints:
        """Slots of the right-hand sides of unknowns."""
        return self.program.pivot[self.at[i] + 1].astype(np.int64) - 1


@kernel
def find_slot(pivot, column, k, j):
    """Slot of column position j in row k, whose columns ascend."""
    low, high = int(pivot[k]), int(pivot[k + 1]) - 1
    while low < high:
        middle = (low + high) // 2
        if column[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(entry=True)
def find_slots(pivot, column, k, j, out):
    for p in range(k.size):
        out[p] = find_slot(pivot, column, k[p], j[p])


@kernel(entry=True)
def write_updates(pivot, column, start, target, left, right):
    """The index triples of the elimination; those of pivot k begin at `start[k]`."""
    for k in range(pivot.size - 1):
        p = int(start[k])
        last = int(pivot[k + 1]) - 1  # the right-hand side
        for a in range(int(pivot[k]) + 1, last):
            for b in range(a, last + 1):
                target[p] = find_slot(pivot, column, column[a], column[b])
                left[p] = a
                right[p] = b
                p += 1


def analyze(couplings: Iterable[tuple[int, int]], order: Sequence[int]) -> SymbolicFactorization:
    """Write the elimination of a symmetric matrix with the given couplings of unknowns in the given order."""
    n = len(order)
    at = np.empty(n, dtype=np.int64)
    at[list(order)] = np.arange(n)
    later = _fill(couplings, at)
    counts = np.array([len(row) for row in later], dtype=np.int64)
    pivot = np.concatenate([[0], np.cumsum(counts + 2)]).astype(np.uint32)
    column = np.array([j for k, row in enumerate(later) for j in (k, *row, n)], dtype=np.uint32)
    operations = np.concatenate([[0], np.cumsum(counts * (counts + 3) // 2)])
    if operations[-1] > MOST_OPERATIONS:
        raise UnsupportedError(
            f"the bodies are coupled so densely that one solution of the equations would take {operations[-1]:.2g} "
            "operations. Look for joints that repeat each other with doctor(model)."
        )
    start = operations.astype(np.uint32)
    target, left, right = (np.empty(start[-1], dtype=np.uint32) for _ in range(3))
    quick = write_updates if target.size > SMALL else plain(write_updates)
    quick(pivot, column, start, target, left, right)
    program = Elimination(np.array(order, dtype=np.uint32), pivot, column, start, target, left, right)
    return SymbolicFactorization(program, at)


def _fill(couplings: Iterable[tuple[int, int]], at: Ints) -> list[list[int]]:
    """Later positions coupled to each position, after fill: eliminating k couples all that k is coupled to."""
    later: list[set[int]] = [set() for _ in at]
    for i, j in couplings:
        low, high = sorted((int(at[i]), int(at[j])))
        if low != high:
            later[low].add(high)
    for row in later:
        if row:
            first = min(row)
            later[first] |= row - {first}
    return [sorted(row) for row in later]


@kernel
def solve_again(E, v, b, x, work):
    """The unknowns for another right-hand side b, numbered like the unknowns, after `eliminate`."""
    order, pivot, column = E.order, E.pivot, E.column
    n = order.size
    for k in range(n):
        work[k] = b[order[k]]
    for k in range(n):
        share = work[k] * v[pivot[k]]
        for p in range(pivot[k] + 1, pivot[k + 1] - 1):
            work[column[p]] -= v[p] * share
    for k in range(n - 1, -1, -1):
        total = work[k]
        for p in range(pivot[k] + 1, pivot[k + 1] - 1):
            total -= v[p] * work[column[p]]
        work[k] = total * v[pivot[k]]
        x[order[k]] = work[k]
