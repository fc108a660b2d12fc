"""What was given as an array of the right shape, or what is wrong with its shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import listed
from ...numerics.arrays import Floats
from .checked import Mistake
from .expected import ExpectedArray, Labels


class Shaped(NamedTuple):
    """The array as a matrix, or None with the reason; what was changed on the way is a mistake or a note."""

    array: Floats | None
    mistakes: list[Mistake]
    notes: list[str]


def shaped(E: ExpectedArray, given: Any) -> Shaped:
    """Vectors may be rows or columns, and M its diagonal; a transposed matrix is turned back."""
    try:
        G = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return _refused(E, f"{E.name} is not an array of numbers; expected is {_expectation(E)}")
    if not E.columns.kind and G.size == E.value.shape[0] and G.squeeze().ndim <= 1:
        return Shaped(G.reshape(-1, 1), [], [])
    if G.shape == E.value.shape:
        return Shaped(G, [], [])
    if (
        E.name == "M"
        and max(G.shape, default=0) == G.size == len(E.value)
        and not _off_diagonal(E.value).any()
    ):
        return Shaped(np.diag(G.reshape(-1)), [], ["M is given by its diagonal"])
    if G.ndim == 2 and G.shape == E.value.T.shape:
        words = f"{E.name} is transposed: its rows are {_of(E.rows)}, its columns {_of(E.columns)}"
        return Shaped(G.T, [Mistake(E.name, "transposed", words)], [])
    return _refused(E, f"the shape is {_size(G.shape)}, expected is {_expectation(E)}{_missing(E, G)}")


def _refused(E: ExpectedArray, words: str) -> Shaped:
    return Shaped(None, [Mistake(E.name, "shape", words)], [])


def _expectation(E: ExpectedArray) -> str:
    rows = f"{_size(E.shape)}; the {'rows' if E.columns.kind else 'entries'} are {listed(E.rows.names)}"
    return rows + (f"; the columns are {listed(E.columns.names)}" if E.columns.kind else "")


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "a single number"


def _of(labels: Labels) -> str:
    return "constraints" if labels.kind == "joint" else "coordinates"


def _off_diagonal(M: Floats) -> Floats:
    return np.asarray(M - np.diag(np.diag(M)))


def _missing(E: ExpectedArray, G: Floats) -> str:
    """The rows or columns that were left out, where all others are as expected."""
    if G.ndim == 1:
        G = G.reshape(-1, 1)
    if G.ndim != 2:
        return ""
    for axis, labels, what in ((0, E.rows, "row"), (1, E.columns, "column")):
        if G.shape[1 - axis] == E.value.shape[1 - axis] and G.shape[axis] < E.value.shape[axis]:
            lines, given = np.moveaxis(E.value, axis, 0), np.moveaxis(G, axis, 0)
            left_out = _left_out(lines, given)
            if left_out:
                names = listed([labels.names[k] for k in left_out])
                owners = listed(list(dict.fromkeys(labels.owners[k] for k in left_out)))
                return f". Missing: {what} {names}, of {owners}"
    return ""


def _left_out(lines: Floats, given: Floats) -> list[int]:
    """The lines that do not occur, if the given ones are the others in their order; else none."""
    missing, k = [], 0
    scale = float(np.abs(lines).max(initial=0.0))
    for i, line in enumerate(lines):
        if k < len(given) and np.all(np.abs(given[k] - line) <= 1e-3 * np.abs(line) + 1e-6 * scale):
            k += 1
        else:
            missing.append(i)
    return missing if k == len(given) else []
