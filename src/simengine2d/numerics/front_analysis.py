"""Which columns the frontal method eliminates when, and the arrays of its fronts."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .arrays import Ints
from .frontal import Fronts


class FrontPart(NamedTuple):
    """Rows that have been put together: their columns, and where they come from."""

    columns: set[int]
    rows: int
    front: int  # the front that they remain of; -1 for a row of the matrix
    origin: int  # that row


class Front(NamedTuple):
    own: list[int]
    others: list[int]
    parts: list[FrontPart]

    @property
    def columns(self) -> list[int]:
        return self.own + self.others


def fronts(row: Ints, column: Ints, n: int, s: int) -> Fronts:
    """The fronts of a matrix of n equations with these entries, each of them once."""
    return _arrays(elimination_fronts(row, column, n), row, column, n, s)


# The order --------------------------------------------------------------------------------------------


def elimination_fronts(row: Ints, column: Ints, n: int) -> list[Front]:
    """Minimum degree: next comes a column whose rows have the fewest columns, with all that are in no other row."""
    columns: list[set[int]] = [set() for _ in range(n)]
    within: list[set[int]] = [set() for _ in range(n)]
    for i, j in zip(row.tolist(), column.tolist(), strict=True):
        columns[i].add(j)
        within[j].add(i)
    elements = {i: FrontPart(columns[i], 1, -1, i) for i in range(n)}
    degree = lambda j: sum(len(elements[e].columns) for e in within[j])
    heap = [(degree(j), j) for j in range(n)]
    heapq.heapify(heap)
    gone: set[int] = set()
    made: list[Front] = []
    while heap:
        size, c = heapq.heappop(heap)
        if c in gone or size != degree(c):
            continue
        together = within[c]
        members = set().union(*(elements[e].columns for e in together))
        own = [c, *sorted(j for j in members - {c} if within[j] <= together)]
        front = Front(own, sorted(members.difference(own)), [elements.pop(e) for e in sorted(together)])
        rows = sum(part.rows for part in front.parts) - len(own)
        elements[n + len(made)] = FrontPart(set(front.others), rows, len(made), -1)
        for j in front.others:
            within[j] = within[j] - together | {n + len(made)}
        made.append(front)
        gone.update(own)
        for j in front.others:
            heapq.heappush(heap, (degree(j), j))
    return made


# Arrays -----------------------------------------------------------------------------------------------


def _arrays(made: list[Front], row: Ints, column: Ints, n: int, s: int) -> Fronts:
    entries_of: list[list[int]] = [[] for _ in range(n)]
    for p, i in enumerate(row.tolist()):
        entries_of[i].append(p)
    parent, into = np.full(len(made), -1), np.zeros(len(made), dtype=np.int64)
    entries: list[list[tuple[int, int, int]]] = []
    at_row: list[list[int]] = []
    into_column: list[list[int]] = [[0] * (s * len(front.columns)) for front in made]
    for f, front in enumerate(made):
        place = {j: s * k for k, j in enumerate(front.columns)}
        entries.append([])
        at_row.append([])
        for part in front.parts:
            here = len(at_row[f])
            if part.front < 0:
                entries[f] += [(p, here, place[int(column[p])]) for p in entries_of[part.origin]]
                at_row[f] += [part.origin * s + i for i in range(s)]
            else:
                parent[part.front], into[part.front] = f, here
                child = made[part.front]
                into_column[part.front] = [place.get(j, 0) + i for j in child.columns for i in range(s)]
                at_row[f] += [-1] * (part.rows * s)
    rows, columns = _integers(map(len, at_row)), _integers(s * len(front.columns) for front in made)
    listed = _integers(k for here in entries for entry in here for k in entry).reshape(-1, 3)
    entry, entry_row, entry_column = np.ascontiguousarray(listed.T)
    return Fronts(
        np.zeros((row.size, s, s)), _integers(row), _integers(column), np.ones((n, s)), np.ones((n, s)),
        _integers(s * len(front.own) for front in made), rows, columns, _starts(rows * columns), _starts(rows),
        _starts(columns), parent, into, _starts(map(len, entries)), entry, entry_row, entry_column,
        _integers(k for part in at_row for k in part),
        _integers(j * s + i for front in made for j in front.columns for i in range(s)),
        _integers(k for part in into_column for k in part), np.zeros(int(rows.sum()), dtype=np.int64),
        np.zeros(int((rows * columns).sum())), np.zeros(int(rows.sum())),
    )  # fmt: skip


def _integers(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _starts(sizes: Iterable[int]) -> Ints:
    return np.cumsum(_integers([0, *sizes]))
