"""What a linkage shall do: lead a point along a path, turn its output as a function of its input, or lead a plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi
from typing import Any

import numpy as np

from ...answer import Answer
from ...errors import ModelError
from ...expressions.evaluate import number
from ...numerics.arrays import Floats

PATH, FUNCTION, POSES = "path", "function", "poses"


@dataclass(frozen=True, repr=False)
class SynthesisTarget(Answer):
    """Positions to be met, one row each: x, y of a path; x, y, angle of poses; the output's angle of a function.

    `inputs` are the angles of the crank at the positions, of which the first is free; None if all are free.
    """

    kind: str
    rows: Floats
    inputs: Floats | None = None
    closed: bool = False
    """Whether the path returns to its first point."""

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        timing = "" if self.inputs is None else ", at given angles of the crank"
        return f"{self.kind} of {len(self)} positions{timing}"

    @property
    def size(self) -> float:
        """The extent of the places; 1 for a function."""
        if self.kind == FUNCTION:
            return 1.0
        return float(np.hypot(*np.ptp(self.rows[:, :2], axis=0))) or 1.0


def path_target(points: Any, *, inputs: Any = None, closed: bool = False) -> SynthesisTarget:
    """Points (x, y) to be passed in this order; `inputs` are the crank's angles there, of which the first is free."""
    rows = _table("path_target", "points", points, 2, ("x", "y"))
    return SynthesisTarget(PATH, rows, _inputs("path_target", inputs, len(rows)), closed)


def pose_target(poses: Any, *, inputs: Any = None) -> SynthesisTarget:
    """Poses of a plane (x, y, angle) to be passed in this order."""
    rows = _table("pose_target", "poses", poses, 2, ("x", "y", "angle"))
    return SynthesisTarget(POSES, rows, _inputs("pose_target", inputs, len(rows)))


def function_target(inputs: Any, outputs: Any) -> SynthesisTarget:
    """A function: turns of the output for turns of the input, both counted from where they begin."""
    rows = _table("function_target", "outputs", [[value] for value in outputs], 3, ("output",))
    return SynthesisTarget(FUNCTION, rows - rows[0], _inputs("function_target", inputs, len(rows)))


def precision_points(
    function: Callable[[float], float],
    x: tuple[float, float],
    input_travel: Any,
    output_travel: Any,
    n: int = 3,
) -> tuple[Floats, Floats]:
    """n pairs of input and output angles that stand for y = f(x), in proportion to x and y.

    They are spaced after Chebyshev, x_j = (x0 + xn) / 2 - (xn - x0) / 2 cos((2 j - 1) pi / (2 n)), and counted from
    the angles at x0 and f(x0). F. Freudenstein, Trans. ASME 77 (1955) 853-861.
    """
    x0, x1 = x
    places = [0.5 * (x0 + x1) - 0.5 * (x1 - x0) * cos((2 * j - 1) * pi / (2 * n)) for j in range(1, n + 1)]
    y0, y1 = function(x0), function(x1)
    inputs = np.array([(place - x0) / (x1 - x0) for place in places]) * number(input_travel)
    outputs = np.array([(function(place) - y0) / (y1 - y0) for place in places]) * number(output_travel)
    return inputs, outputs


def as_target(target: Any) -> SynthesisTarget:
    """A target as it is; rows of two numbers as a path, of three as poses."""
    if isinstance(target, SynthesisTarget):
        return target
    try:
        width = len(target[0])
    except (TypeError, IndexError, KeyError):
        raise ModelError(
            f"target = {target!r} is not a target. Give rows of (x, y) for a path or of (x, y, angle) for poses, or "
            "make one with path_target, pose_target or function_target."
        ) from None
    return pose_target(target) if width == 3 else path_target(target)


def _table(where: str, what: str, rows: Any, least: int, columns: Sequence[str]) -> Floats:
    try:
        table = np.array([[number(value) for value in row] for row in rows], dtype=float)
    except TypeError:
        table = np.zeros((0, 0))
    if table.ndim != 2 or table.shape[1] != len(columns) or not np.isfinite(table).all():
        raise ModelError(
            f"{where}: {what} must be rows of {len(columns)} finite numbers, ({', '.join(columns)})."
        )
    if len(table) < least:
        raise ModelError(f"{where}: at least {least} {what} are needed, not {len(table)}.")
    return table


def _inputs(where: str, inputs: Any, n: int) -> Floats | None:
    if inputs is None:
        return None
    angles = np.array([number(angle) for angle in inputs])
    if len(angles) != n:
        raise ModelError(f"{where}: {len(angles)} inputs were given for {n} positions; give one for each.")
    return angles
