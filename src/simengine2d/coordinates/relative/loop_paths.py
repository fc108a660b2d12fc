"""The paths of constraint rows through a tree of bodies, from the bodies they connect to the ground."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.ldl import Elimination, SymbolicFactorization, analyze
from .tree_motion import (
    BODY_STATE,
    COORDINATES,
    FLOAT,
    KIND,
    OWN_SLOT,
    PARENT,
    PIN,
    PS,
    PW,
    PX,
    PY,
    SLIDE,
    SLOT,
    WELD,
    Tree,
)

Ints = NDArray[np.int64]

FREEDOMS = {PIN: (PW,), SLIDE: (PS,), SLOT: (PW, PS), OWN_SLOT: (PS, PW), WELD: (), FLOAT: (PW, PX, PY)}
"""Where the state holds the forces on the freedoms of a joint, in the order in which a row meets them."""


class Paths(NamedTuple):
    """Rows on the same bodies are grouped in pairs; group g visits node[start[g] : start[g + 1]].

    It makes the entries entry[g] : entry[g + 1] of W = L^-1 Phi_z^T, one for each freedom on its path.
    """

    rows: Ints  # (groups, 2); the second is the number of rows if there is none
    start: Ints
    node: Ints  # ~node where a branch begins, or meets another
    entry: Ints
    freedom: Ints  # of each entry: the place of its force in the state
    pair: Ints  # (products, 3): entries of two groups, and the block of W^T D^-1 W that their product goes to
    program: Elimination  # of blocks, one for each group
    slots: Ints  # (groups, 2): of the diagonal block and of the right-hand sides


def grouped(bodies: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """Rows on the same bodies, in pairs."""
    same: dict[frozenset[int], list[int]] = {}
    for i, ends in enumerate(bodies):
        same.setdefault(frozenset(ends), []).append(i)
    return sorted(tuple(rows[k : k + 2]) for rows in same.values() for k in range(0, len(rows), 2))


def path_of(parent: Sequence[int], ends: set[int]) -> list[int]:
    """The nodes between bodies and the ground, branch by branch up to where they meet; ~ marks a new branch."""
    ground, seen, below = len(parent), set(), Counter[int]()
    for node in ends:
        while node != ground and node not in seen:
            seen.add(node)
            node = parent[node]
            below[node] += 1
    meetings = {node for node, count in below.items() if count > 1}
    starts = (ends | meetings) - {ground}
    # parents have lower numbers, so outer branches come first
    return [node for start in sorted(starts, reverse=True) for node in _branch(start, starts, parent)]


def _branch(start: int, starts: set[int], parent: Sequence[int]) -> Iterator[int]:
    yield ~start
    node = parent[start]
    while node != len(parent) and node not in starts:
        yield node
        node = parent[node]


def products(tree: Tree, paths: Sequence[Sequence[int]]) -> int:
    """The number of products of entries in W^T D^-1 W, two rows to a path."""
    visits = np.bincount([max(k, ~k) for path in paths for k in path], minlength=len(tree.numbers))
    return int((COORDINATES[tree.numbers[:, KIND]] * 2 * visits * visits).sum())


def fewest_products(tree: Tree, deepest: Ints) -> int:
    """No more than `products`, of rows that meet all freedoms from these nodes to the ground; no path is followed."""
    parent, depth = tree.numbers[:, PARENT].tolist(), [*COORDINATES[tree.numbers[:, KIND]].tolist(), 0]
    for k, p in enumerate(parent):
        depth[k] += depth[p]
    return int(np.array(depth, dtype=np.int64)[deepest].sum())


def loop_paths(
    tree: Tree, groups: Sequence[tuple[int, ...]], paths: Sequence[Sequence[int]], m: int
) -> Paths:
    kinds = tree.numbers[:, KIND].tolist()
    freedom = [
        [max(k, ~k) * BODY_STATE + place for k in path for place in FREEDOMS[kinds[max(k, ~k)]]]
        for path in paths
    ]
    meetings, count = _meetings(freedom), len(groups)
    couplings = {(g, h) for g, _, h, _ in meetings} | {(g, g) for g in range(count)}
    analysis = analyze(couplings, smallest_degree(count, couplings))
    every = np.arange(count)
    integers = lambda values: np.array(list(values), dtype=np.int64)
    return Paths(
        np.array([(*group, m)[:2] for group in groups], dtype=np.int64).reshape(-1, 2),
        integers(np.cumsum([0, *map(len, paths)])),
        integers(k for path in paths for k in path),
        integers(np.cumsum([0, *map(len, freedom)])),
        integers(place for row in freedom for place in row),
        _products(analysis, np.array(meetings, dtype=np.int64).reshape(-1, 4)),
        analysis.program,
        np.column_stack([analysis.slots(every, every), analysis.right_hand(every)]),
    )


def _products(analysis: SymbolicFactorization, meetings: Ints) -> Ints:
    """Entries of meeting groups, that of the group which is eliminated first before the other, and their blocks."""
    g, d, h, e = meetings.T
    first = analysis.at[g] < analysis.at[h]
    return np.column_stack([np.where(first, d, e), np.where(first, e, d), analysis.slots(g, h)])


def _meetings(freedom: Sequence[Sequence[int]]) -> list[tuple[int, int, int, int]]:
    """Two groups that meet in a freedom, each with its entry there."""
    met: dict[int, list[tuple[int, int]]] = {}
    for e, (g, place) in enumerate((g, place) for g, row in enumerate(freedom) for place in row):
        met.setdefault(place, []).append((g, e))
    return [(*one, *other) for entries in met.values() for one, other in combinations(entries, 2)]


def smallest_degree(size: int, couplings: set[tuple[int, int]]) -> list[int]:
    """An order of elimination with little fill: of the unknowns left, the one with the fewest neighbors."""
    near: list[set[int]] = [set() for _ in range(size)]
    for i, j in couplings:
        if i != j:
            near[i].add(j)
            near[j].add(i)
    heap = [(len(others), i) for i, others in enumerate(near)]
    heapq.heapify(heap)
    order: list[int] = []
    gone = [False] * size
    while heap:
        degree, i = heapq.heappop(heap)
        if gone[i] or degree != len(near[i]):
            continue
        gone[i] = True
        order.append(i)
        for other in near[i]:
            near[other] |= near[i]
            near[other] -= {i, other}
            heapq.heappush(heap, (len(near[other]), other))
    return order
