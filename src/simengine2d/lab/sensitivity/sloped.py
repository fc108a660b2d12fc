"""Numbers with their derivatives, for the expressions of outputs.

NumPy's functions know what to do with them, by the derivatives of the operations of expressions. Where an operation has
a kink or a jump, the derivative is nan, unless its argument does not move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...expressions import operations
from ...numerics.arrays import Floats

CODES: dict[Any, int] = {
    getattr(np, operations.NUMPY_NAMES.get(name, name)): code for name, code in operations.ONE_ARGUMENT.items()
} | {
    np.negative: operations.NEGATE, np.absolute: operations.ABS,
    np.add: operations.ADD, np.subtract: operations.SUBTRACT, np.multiply: operations.MULTIPLY,
    np.divide: operations.DIVIDE, np.power: operations.POWER, np.arctan2: operations.ATAN2,
    np.hypot: operations.HYPOT, np.mod: operations.MOD, np.maximum: operations.MAX, np.minimum: operations.MIN,
}  # fmt: skip
BENT_AT_ZERO = (operations.ABS, operations.SIGN)
BENT_AT_TIES = (operations.MAX, operations.MIN)


class Sloped:
    """A number or an array over time, `value`, and its derivatives: `slope` has the parameters as its last axis."""

    def __init__(self, value: Any, slope: Floats) -> None:
        self.value = np.asarray(value, dtype=float)
        self.slope = np.asarray(slope, dtype=float)

    def __getitem__(self, rows: Any) -> Sloped:
        return Sloped(self.value[rows], self.slope[rows])

    def __neg__(self) -> Any:
        return combined(operations.NEGATE, [self])

    @property
    def ndim(self) -> int:
        return self.value.ndim

    def __len__(self) -> int:
        return len(self.value)

    def __matmul__(self, weights: Floats) -> Sloped:
        return Sloped(self.value @ weights, weights @ self.slope)

    def __array_ufunc__(self, function: Any, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or function not in CODES or options:
            return NotImplemented
        return combined(CODES[function], [as_sloped(each, self.slope.shape[-1]) for each in given])


def as_sloped(given: Any, count: int) -> Sloped:
    """A plain number does not depend on the parameters."""
    return given if isinstance(given, Sloped) else Sloped(given, np.zeros((*np.shape(given), count)))


def combined(code: int, parts: list[Sloped]) -> Sloped:
    """h_p = sum h_a a_p over the arguments a; an argument that does not move adds nothing, even at a pole of h_a."""
    values = np.broadcast_arrays(*(part.value for part in parts))
    h, *by = _derivatives(code, values, still=[not part.slope.any() for part in parts])
    slope = np.zeros(1)
    for part, weight in zip(parts, by, strict=True):
        moves = np.broadcast_to(part.slope, (*h.shape, part.slope.shape[-1]))
        with np.errstate(invalid="ignore"):
            slope = slope + np.where(moves == 0.0, 0.0, weight[..., None] * moves)
    return Sloped(h, slope)


def _derivatives(code: int, values: Any, still: list[bool]) -> list[Floats]:
    """h and its first derivatives at each element; nan at kinks."""
    if code == operations.POWER and still[1]:
        code = operations.FIXED_POWER
    one = len(values) == 1
    kernel = operations.derivatives if one else operations.partials
    columns = [value.ravel() for value in values]
    with np.errstate(all="ignore"):
        rows = [kernel(code, *arguments)[: 1 + len(values)] for arguments in zip(*columns, strict=True)]
    shape = np.shape(values[0])
    out = list(np.array(rows, dtype=float).reshape(-1, 1 + len(values)).T.reshape(1 + len(values), *shape))
    if code in BENT_AT_ZERO:
        out[1] = np.where(values[0] == 0.0, np.nan, out[1])
    if code in BENT_AT_TIES:
        out[1:] = [np.where(values[0] == values[1], np.nan, part) for part in out[1:]]
    return out
