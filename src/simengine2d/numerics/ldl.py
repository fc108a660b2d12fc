"""The linear solver of dynamics: [A Phi_q^T; Phi_q -eps] [x; lam] = [b; c], for all sizes.

One symbolic analysis per model writes the elimination down as a flat list of what changes, v[i] -= l * v[k];
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
from .arrays import Ints, ascending, starts
from .kernel import kernel, plain
from .patterns import once_per_pattern

Indices = NDArray[np.uint32]  # unsigned, so that compiled code need not check for negative indices


SMALL = 2_000  # updates up to which writing them is not worth compiling
MOST_OPERATIONS = 40_000_000  # of one elimination
NONE = -1


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


@kernel(inline=True)
def eliminate(E, v):
    """v holds the upper triangle with the right-hand side; v_ij -= v_ki v_kj / v_kk for i <= j in row k."""
    pivot, target = E.pivot, E.target
    p = 0
    for k in range(pivot.size - 1):
        first, last = int(pivot[k]), int(pivot[k + 1])
        inverse = 1.0 / v[first]
        v[first] = inverse
        for a in range(first + 1, last - 1):
            factor = v[a] * inverse
            for b in range(a, last):
                v[target[p]] -= factor * v[b]
                p += 1


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


# Analysis ---------------------------------------------------------------------------------------------


def analyze(
    couplings: Ints | Iterable[tuple[int, int]], order: Ints | Sequence[int]
) -> SymbolicFactorization:
    """Write the elimination of a symmetric matrix with the given couplings of unknowns in the given order."""
    pairs = couplings if isinstance(couplings, np.ndarray) else np.array(list(couplings), dtype=np.int64)
    return _analyzed(pairs.reshape(-1, 2), np.array(order, dtype=np.int64))


@once_per_pattern
def _analyzed(pairs: Ints, order: Ints) -> SymbolicFactorization:
    n = order.size
    at = np.empty(n, dtype=np.int64)
    at[order] = np.arange(n)
    pivot, column = _fill(at[pairs[:, 0]], at[pairs[:, 1]], n)
    counts = np.diff(pivot) - 2
    start = starts(counts * (counts + 3) // 2)
    if start[-1] > MOST_OPERATIONS:
        raise UnsupportedError(
            f"the bodies are coupled so densely that one solution of the equations would take {start[-1]:.2g} "
            "operations. Look for joints that repeat each other with doctor(model)."
        )
    target = np.empty(start[-1], dtype=np.uint32)
    quick = write_updates if target.size > SMALL else plain(write_updates)
    quick(pivot, column, target)
    short = lambda array: array.astype(np.uint32)
    program = Elimination(short(order), short(pivot), short(column), short(start), target)
    return SymbolicFactorization(program, at)


def _fill(i: Ints, j: Ints, n: int) -> tuple[Ints, Ints]:
    """Where the row of each position begins, and its columns: eliminating k couples all that k is coupled to.

    The first column after k in row k is its parent in the elimination tree. Row i of the lower triangle consists of the
    ways from each of its couplings k < i up the tree to i (Liu, SIAM J. Matrix Anal. Appl. 11, 1990).
    """
    low, high = np.minimum(i, j), np.maximum(i, j)
    apart = low != high
    codes = ascending(high[apart] * n + low[apart])
    earlier, start = codes % max(n, 1), np.searchsorted(codes, n * np.arange(n + 1))
    parent, root, at = (np.full(n, value, dtype=np.int64) for value in (NONE, NONE, 0))
    small = codes.size <= SMALL
    (plain(write_tree) if small else write_tree)(start, earlier, parent, root)
    follow = plain(follow_tree) if small else follow_tree
    follow(start, earlier, parent, root, at, np.zeros(0, dtype=np.int64))
    pivot = starts(at + 2)
    column = np.full(pivot[-1], n)
    column[pivot[:-1]] = np.arange(n)
    follow(start, earlier, parent, root, pivot[:-1] + 1, column)
    return pivot, column


@kernel(entry=True)
def write_tree(start, earlier, parent, root):
    """The elimination tree; `earlier` are the positions coupled to each position and before it."""
    for i in range(parent.size):
        for p in range(start[i], start[i + 1]):
            k = earlier[p]
            while k != NONE and k != i:
                above = root[k]
                root[k] = i
                if above == NONE:
                    parent[k] = i
                k = above


@kernel(entry=True)
def follow_tree(start, earlier, parent, mark, at, column):
    """Write the columns of each row, one i after the other, at its next place; count them where there is no space."""
    for k in range(mark.size):
        mark[k] = NONE
    for i in range(parent.size):
        mark[i] = i
        for p in range(start[i], start[i + 1]):
            k = earlier[p]
            while mark[k] != i:
                mark[k] = i
                if column.size > 0:
                    column[at[k]] = i
                at[k] += 1
                k = parent[k]


@kernel(entry=True)
def write_updates(pivot, column, target):
    """The slots that change, in the order of `eliminate`: row column[a] has a slot for each column b of row k."""
    p = 0
    for k in range(pivot.size - 1):
        last = pivot[k + 1]
        for a in range(pivot[k] + 1, last - 1):
            slot = pivot[column[a]]
            for b in range(a, last):
                while column[slot] != column[b]:
                    slot += 1
                target[p] = slot
                p += 1


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


@kernel
def solve_together(E, v, vs, b, bs, x, xs, work, works):
    """The same of a matrix and of others of its pattern, each with a right-hand side of its own.

    Every number waits for those before it; meanwhile the other systems go on.
    """
    order, pivot, column = E.order, E.pivot, E.column
    n = order.size
    for k in range(n):
        work[k] = b[order[k]]
        for s in range(vs.shape[0]):
            works[s, k] = bs[s, order[k]]
    for k in range(n):
        first, last = pivot[k], pivot[k + 1] - 1
        share = work[k] * v[first]
        for p in range(first + 1, last):
            work[column[p]] -= v[p] * share
        for s in range(vs.shape[0]):
            other = works[s, k] * vs[s, first]
            for p in range(first + 1, last):
                works[s, column[p]] -= vs[s, p] * other
    for k in range(n - 1, -1, -1):
        first, last = pivot[k], pivot[k + 1] - 1
        total = work[k]
        for p in range(first + 1, last):
            total -= v[p] * work[column[p]]
        work[k] = x[order[k]] = total * v[first]
        for s in range(vs.shape[0]):
            rest = works[s, k]
            for p in range(first + 1, last):
                rest -= vs[s, p] * works[s, column[p]]
            works[s, k] = xs[s, order[k]] = rest * vs[s, first]
