"""The types of arrays, and arrays that are never written after they are built."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ShortInts = NDArray[np.int32]
Bools = NDArray[np.bool_]

Arrays = TypeVar("Arrays")


def constant(arrays: Arrays) -> Arrays:
    """The same arrays, or tuples of arrays, for reading only.

    NumPy refuses to write into them, and numba to compile a kernel that would.
    """
    if isinstance(arrays, np.ndarray):
        arrays.setflags(write=False)
    elif isinstance(arrays, tuple):
        for part in arrays:
            constant(part)
    return arrays


def ascending(values: Ints) -> Ints:
    """The different values in ascending order; most are given in a few ascending runs, which are merged."""
    values = np.sort(values, kind="stable")
    return values[np.flatnonzero(np.diff(values, prepend=values[:1] - 1))]


def columns(count: int, rows: Iterable[tuple[float, ...]]) -> Floats:
    """Tuples of so many numbers as an array of their columns; NumPy's own way takes twice the time."""
    return np.fromiter(chain.from_iterable(rows), float).reshape(-1, count).T.copy()


def starts(sizes: Ints) -> Ints:
    """Where consecutive blocks of these sizes begin, and the end of the last one."""
    ends = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=ends[1:])
    return ends
