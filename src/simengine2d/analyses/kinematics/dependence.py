"""The order in which the unknowns of a sparse square system can be computed: its block triangular form.

Equations are assigned to unknowns by augmenting paths, and unknowns that depend on each other are collected by Tarjan's
algorithm (Dulmage and Mendelsohn 1958, Tarjan 1972; Duff, Erisman and Reid, Direct Methods for Sparse Matrices, ch. 6).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence


def assigned_rows(nodes_of: Mapping[int, Sequence[int]], unknowns: Sequence[int]) -> list[list[int]] | None:
    """For each node as many rows as it has unknowns, of those that involve it; None if that is impossible."""
    if len(nodes_of) != sum(unknowns):
        return None
    rows_of: list[list[int]] = [[] for _ in unknowns]
    for row in nodes_of:
        path = _path_to_room(row, nodes_of, rows_of, unknowns)
        if path is None:
            return None
        for moved, before, after in path:
            if before is not None:
                rows_of[before].remove(moved)
            rows_of[after].append(moved)
    return rows_of


def _path_to_room(
    row: int, nodes_of: Mapping[int, Sequence[int]], rows_of: list[list[int]], unknowns: Sequence[int]
) -> list[tuple[int, int | None, int]] | None:
    """The fewest moves of rows from node to node after which the new row has a place too, the last one first."""
    came: dict[int, tuple[int, int | None]] = {node: (row, None) for node in nodes_of[row]}
    waiting = deque(came)
    while waiting:
        node = waiting.popleft()
        if len(rows_of[node]) < unknowns[node]:
            return list(_back(node, came))
        for held in rows_of[node]:
            for other in nodes_of[held]:
                if other not in came:
                    came[other] = (held, node)
                    waiting.append(other)
    return None


def _back(node: int, came: Mapping[int, tuple[int, int | None]]) -> Iterator[tuple[int, int | None, int]]:
    after: int | None = node
    while after is not None:
        moved, before = came[after]
        yield moved, before, after
        after = before


def in_order_of_dependence(needs: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Sets of nodes that need each other, each after the sets that it needs."""
    number, lowest = [-1] * len(needs), [0] * len(needs)
    stack: list[int] = []
    done = [False] * len(needs)
    count = 0
    for root in range(len(needs)):
        visits = [(root, iter(needs[root]))] if number[root] < 0 else []
        while visits:
            node, others = visits[-1]
            if number[node] < 0:
                number[node] = lowest[node] = count
                count += 1
                stack.append(node)
            for other in others:
                if number[other] < 0:
                    visits.append((other, iter(needs[other])))
                    break
                if not done[other]:
                    lowest[node] = min(lowest[node], number[other])
            else:
                visits.pop()
                if visits:
                    parent = visits[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == number[node]:
                    first = stack.index(node)
                    together, stack[first:] = stack[first:], []
                    for each in together:
                        done[each] = True
                    yield together
