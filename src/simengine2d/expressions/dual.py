"""Jet: a number that carries its first and second derivatives through a user's Python function.

NumPy's functions work on it, because `np.sin(x)` calls `x.sin()` on an object that is not an array.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, final

import numpy as np

from ..errors import ModelError, ended
from . import operations
from .evaluate import number

# where a user's function is tried: the usual start, and times that are unlikely to be special cases
PROBES = (0.0, 0.1234, 0.777, 1.9, 3.3)
REMEDY = "Use NumPy's functions (np.sin instead of math.sin), or give three functions (f, fd, fdd)."


@final
class Jet:
    """value, first, second: a function of time and its derivatives at one time."""

    __slots__ = ("first", "second", "value")

    def __init__(self, value: float, first: float = 0.0, second: float = 0.0) -> None:
        self.value = value
        self.first = first
        self.second = second

    def __repr__(self) -> str:
        return f"Jet({self.value!r}, {self.first!r}, {self.second!r})"

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.value, self.first, self.second

    def __bool__(self) -> bool:
        return self.value != 0.0

    def __pos__(self) -> Jet:
        return self

    __hash__ = None  # type: ignore[assignment]


def _parts(value: Any) -> tuple[float, float, float]:
    return value.parts if isinstance(value, Jet) else (float(value), 0.0, 0.0)


def _is_number(value: Any) -> bool:
    """A number to compute with, NumPy's included."""
    return isinstance(value, Jet | numbers.Real)


def _one(code: int) -> Callable[[Jet], Jet]:
    return lambda self: Jet(*operations.apply(code, self.parts))


def _two(code: int, *, reflected: bool = False) -> Callable[[Jet, Any], Any]:
    def operation(self: Jet, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        left, right = (other, self) if reflected else (self, other)
        return Jet(*operations.apply(code, _parts(left), _parts(right)))

    return operation


def _comparison(code: int) -> Callable[[Jet, Any], Any]:
    def operation(self: Jet, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return operations.compare(code, self.value, _parts(other)[0]) == 1.0

    return operation


for _name, _code in {"neg": operations.NEGATE, "abs": operations.ABS}.items():
    setattr(Jet, f"__{_name}__", _one(_code))
for _name, _code in {
    "add": operations.ADD, "sub": operations.SUBTRACT, "mul": operations.MULTIPLY,
    "truediv": operations.DIVIDE, "pow": operations.POWER, "mod": operations.MOD,
}.items():  # fmt: skip
    setattr(Jet, f"__{_name}__", _two(_code))
    setattr(Jet, f"__r{_name}__", _two(_code, reflected=True))
for _name, _code in {
    "lt": operations.LESS, "le": operations.LESS_EQUAL, "gt": operations.GREATER,
    "ge": operations.GREATER_EQUAL, "eq": operations.EQUAL, "ne": operations.UNEQUAL,
}.items():  # fmt: skip
    setattr(Jet, f"__{_name}__", _comparison(_code))
for _name, _code in operations.ONE_ARGUMENT.items():
    if _name not in ("abs", "sign"):
        setattr(Jet, operations.NUMPY_NAMES.get(_name, _name), _one(_code))
for _name, _code in {"arctan2": operations.ATAN2, "hypot": operations.HYPOT}.items():
    setattr(Jet, _name, _two(_code))


# A user's function ------------------------------------------------------------------------------------


@final
class Differentiated:
    """d(t, k): the k-th derivative of a Python function f(t), computed by calling f with a Jet."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.last: tuple[float, tuple[float, float, float]] | None = None

    def __call__(self, t: float, k: int) -> float:
        last = self.last  # another thread may write a new one meanwhile
        if last is None or last[0] != t:  # a kernel asks for k = 0, 1, 2 at one t in turn
            self.last = last = t, _parts(_result(self.function, t))
        return last[1][k]


def _result(function: Callable[[Any], Any], t: float) -> Jet | float:
    """What a user's function returns: a Jet, or a plain number."""
    result = function(Jet(t, 1.0, 0.0))
    if isinstance(result, np.ndarray) and result.ndim == 0:
        result = result.item()  # np.where and others wrap a Jet in a zero-dimensional array
    return result if isinstance(result, Jet) else number(result)


def differentiated(function: Callable[[Any], Any], name: str) -> Differentiated:
    """Check that f(t) can be differentiated: it accepts a Jet, and its plain results do not depend on t."""
    plain: dict[float, float] = {}
    refused: list[Exception] = []
    for t in PROBES:
        try:
            result = _result(function, t)
        except (TypeError, AttributeError, ModelError) as error:
            raise ModelError(
                f"the function {name} cannot be differentiated: {ended(error)} {REMEDY}"
            ) from error
        except Exception as error:
            refused.append(error)
            continue
        if isinstance(result, float):
            plain[t] = result
    if len(refused) == len(PROBES):
        first = refused[0]
        raise ModelError(f"the function {name} raised {type(first).__name__}: {ended(first)}") from first
    if len(set(plain.values())) > 1:
        shown = ", ".join(f"{value:g} at t = {t:g}" for t, value in plain.items())
        raise ModelError(
            f"the function {name} depends on t but hides its derivatives: it returned {shown}. {REMEDY}"
        )
    return Differentiated(function)
