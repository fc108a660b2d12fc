"""Several numbers at once: what eight outputs, or eight of anything else, need of the same arithmetic.

The processor adds and multiplies eight numbers in the time of one, and a recursion that waits for its last step has
seven others to go on with. A kernel without branches on numbers is one for lanes too: given tables of lanes in place of
arrays, it computes the same for each lane, bit for bit, since every operation is rounded as it is for a single number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Floats
from .kernel import JIT, kernel

LANES = 8
"""Numbers side by side."""


class LaneTable:
    """An array whose last dimension is that of the lanes: an element without it is `LANES` numbers."""

    def __init__(self, array: Any) -> None:
        self.array, self.size = array, array.shape[0]

    def __getitem__(self, place: Any) -> Any:
        return self.array[place].copy()

    def __setitem__(self, place: Any, value: Any) -> None:
        self.array[place] = value


def lanes_in(array: Any) -> Any:
    """An array with `LANES` numbers in its last dimension as a table of lanes."""
    return LaneTable(array)


def lane_zeros(*shape: int) -> Floats:
    """An array of lanes, each element in a cache line of its own."""
    size = int(np.prod(shape)) * LANES
    room = np.zeros(size + LANES)
    first = -room.ctypes.data // room.itemsize % LANES
    return room[first : first + size].reshape(*shape, LANES)


def chosen(where: Any, one: Any, other: Any) -> Any:
    """`one` where the condition holds, else `other`."""
    if not isinstance(where, np.ndarray):
        return one if where else other
    return np.where(where, one, other)


@kernel(inline=True)
def or_one(size):  # type: ignore[no-untyped-def]
    """A size to divide by: what has the size zero stays zero."""
    return chosen(size == 0.0, 1.0, size)


def everywhere(condition: Any) -> bool:
    """Whether a condition holds in all lanes."""
    return bool(np.all(condition))


def anywhere(condition: Any) -> bool:
    """Whether a condition holds in some lane."""
    return bool(np.any(condition))


def larger(one: Any, other: Any) -> Any:
    """The larger of two; the first one if either is nan."""
    return chosen(other > one, other, one)


def floored(x: Any) -> Any:
    return np.floor(x)


def lanes_of_rows(rows: Any, start: int, stride: int, last: int, array: Any, size: int) -> None:
    """Row k of a flat array becomes lane k: array[j, k] = rows[start + k stride + j]; the last one fills up."""
    for k in range(LANES):
        here = start + min(k, last) * stride
        for j in range(size):
            array[j, k] = rows[here + j]


def rows_of_lanes(array: Any, first: int, size: int, rows: Any, start: int, stride: int, count: int) -> None:
    """The first lanes become rows of a flat array: rows[start + k stride + j] = array[first + j, k]."""
    for k in range(count):
        here = start + k * stride
        for j in range(size):
            rows[here + j] = array[first + j, k]


def sqrt(x: Any) -> Any:
    return np.sqrt(x) if isinstance(x, np.ndarray) else math.sqrt(x)


def atan2(y: Any, x: Any) -> Any:
    """By the C library."""
    if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
        return math.atan2(y, x)
    return np.array([math.atan2(*each) for each in np.broadcast(y, x)])


def cos_and_sin(x: Any) -> Any:
    """Both by the C library."""
    if not isinstance(x, np.ndarray):
        return math.cos(x), math.sin(x)
    return np.array([math.cos(each) for each in x]), np.array([math.sin(each) for each in x])


if JIT:
    from . import lane_functions  # noqa: F401  (what these are in compiled code)
