"""Which bodies each joint connects, as integers; models that are alike share them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Ints, ascending, starts
from ..numerics.ordering import joins_trees
from ..numerics.patterns import once_per_pattern
from .system import System
from .workspace import once_per_system


class Connections(NamedTuple):
    """The bodies of joint k are body[start[k] : start[k + 1]], ascending, -1 for the ground; it has rows[k] rows."""

    start: Ints
    body: Ints
    rows: Ints


@once_per_system
def connections(system: System) -> Connections:
    S = system.arrays
    return connections_of(S.mass.size, system.first_rows, S.row_start, S.frame_body, S.term_a, S.term_b)


@once_per_pattern
def connections_of(
    nb: int, first_rows: Ints, row_start: Ints, frame_body: Ints, a: Ints, b: Ints
) -> Connections:
    rows = np.diff(np.append(first_rows, row_start.size - 1))
    joint = np.repeat(np.repeat(np.arange(rows.size), rows), np.diff(row_start))
    body = frame_body[np.concatenate([a, b])]
    member = ascending(np.tile(joint, 2) * (nb + 1) + np.where(body < nb, body + 1, 0))
    counts = np.bincount(member // (nb + 1), minlength=rows.size)
    return Connections(starts(counts), member % (nb + 1) - 1, rows)


def can_lose_rank(system: System) -> bool:
    """Whether joints close loops, or formulas are constraints; the joints of a tree are always independent."""
    if system.has_formulas:
        return True
    C = connections(system)
    return not _is_forest(len(system.bodies), C.start, C.body)


@once_per_pattern
def _is_forest(nb: int, start: Ints, body: Ints) -> bool:
    return bool(np.all(np.diff(start) == 2)) and joins_trees(nb, body.reshape(-1, 2))


def most_alike(system: System) -> int:
    """At least the largest number of joints between the same bodies; those of more than two may all be alike."""
    C = connections(system)
    return _most_alike(len(system.bodies), C.start, C.body)


@once_per_pattern
def _most_alike(nb: int, start: Ints, body: Ints) -> int:
    between = np.diff(start) == 2
    first, second = (body[start[:-1][between] + k] + 1 for k in range(2))
    codes = np.sort(first * (nb + 1) + second, kind="stable")
    ends = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
    return max(int(np.diff(ends).max(initial=0)), int(np.sum(~between)))
