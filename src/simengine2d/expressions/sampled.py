"""A Python function as a table: sampled until the spline through its points follows it, and the error is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError
from .table import Table

FEWEST, MOST = 128, 8192  # pieces of the spline
TOLERANCE = 1e-9
"""Of the range of its values: what the spline may be off between its points."""


def sampled(name: str, function: Callable[[float], Any], start: float, end: float, periodic: bool) -> Table:
    """The table of a function between two arguments; one that no spline follows is refused."""
    count, off = FEWEST, np.inf
    while count <= MOST:
        u = np.linspace(start, end, count + 1)
        values = _values(name, function, u)
        if periodic:
            _refuse_jump(name, values)
            values[-1] = values[0]
        table = Table(of="u", points=u, values=values, periodic=periodic)  # type: ignore[arg-type]
        off = _error(name, function, table)
        if off <= TOLERANCE:
            return table
        count *= 2
    raise ModelError(
        f"function '{name}': the spline through {MOST + 1} of its points is off by {off:.1e} of its range; it may have "
        "kinks or jumps. Write it as a formula with max, abs or piecewise, or give a table of straight lines."
    )


def _error(name: str, function: Callable[[float], Any], table: Table) -> float:
    """The largest error at a third of each piece, where splines are off most often, relative to the range of values."""
    u = np.array(table.times)
    between = u[:-1] + np.diff(u) / 3.0
    exact = _values(name, function, between)
    c = table.coefficients()[:-1]
    d = between - u[:-1]
    found = c[:, 0] + d * (c[:, 1] + d * (c[:, 2] + d * c[:, 3]))
    return float(np.abs(found - exact).max() / (np.ptp(np.array(table.values)) or 1.0))


def _values(name: str, function: Callable[[float], Any], u: np.ndarray) -> np.ndarray:
    try:
        values = np.array([float(function(float(each))) for each in u])
    except Exception as error:  # a function of the user's
        raise ModelError(
            f"function '{name}' cannot be evaluated: {type(error).__name__}: {error}."
        ) from error
    for each, value in zip(u, values, strict=True):
        if not np.isfinite(value):
            raise ModelError(f"function '{name}' is {value} at {each:g}; give a range in which it is finite.")
    return values


def _refuse_jump(name: str, values: np.ndarray) -> None:
    if abs(values[0] - values[-1]) > TOLERANCE * (np.ptp(values) or 1.0):
        raise ModelError(
            f"function '{name}' is not periodic: it is {values[0]:g} at the start and {values[-1]:g} at the end."
        )
