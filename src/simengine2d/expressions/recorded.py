"""Recorded numbers: what is computed with them is written down, and can be computed again for many values at once.

A `Recorded` number takes part in a calculation instead of a float. Each operation goes onto the list of its
`Recording`, each comparison becomes a condition: other values that decide all of them in the same way lead to the same
operations. Nothing is lost on the way: where a float is asked for, `NotRecorded` ends the recording.

An operation is a Python function, and is computed again by the same function, or by a function of arrays that gives the
same floats to the last bit.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import repeat
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats
from . import operations as codes

Mask = NDArray[np.bool_]
Function = Callable[..., Any]


class NotRecorded(Exception):
    """A calculation leaves what can be recorded."""


class Operation(NamedTuple):
    """A function that is called; its arguments have recorded numbers among them, and its floats are at `places`."""

    function: Function
    arguments: tuple[Any, ...]
    places: range


class Condition(NamedTuple):
    """A comparison of two numbers, and what came out."""

    function: Function
    numbers: tuple[Any, Any]
    holds: bool


class Recording:
    """The operations so far; the first numbers are those that vary."""

    def __init__(self, values: Sequence[float]) -> None:
        self.count = 0
        self.operations: list[Operation] = []
        self.conditions: list[Condition] = []
        self.varied = [self.new(float(value)) for value in values]

    def new(self, value: float) -> Recorded:
        if not math.isfinite(value):
            raise NotRecorded("a value is not finite")
        self.count += 1
        return Recorded(self, self.count - 1, value)

    def call(self, function: Function, *arguments: Any) -> Any:
        """The result of a function, with all its floats recorded."""
        first, result = self.count, function(*replaced(arguments, plain))
        recorded = replaced(result, lambda part: self.new(float(part)) if isinstance(part, float) else part)
        self.operations.append(Operation(function, arguments, range(first, self.count)))
        return recorded

    def decide(self, function: Function, a: Any, b: Any) -> bool:
        holds = bool(function(plain(a), plain(b)))
        self.conditions.append(Condition(function, (a, b), holds))
        return holds

    def replay(self, samples: Floats) -> tuple[list[Any], Mask]:
        """All numbers for other values of those that vary, (samples, varied); and for which samples they are right."""
        if len(samples) == 1:
            return self._replay_one(samples[0].tolist())
        columns: list[Any] = [*np.ascontiguousarray(samples.T), *[None] * (self.count - len(self.varied))]
        right = np.ones(len(samples), dtype=bool)
        with np.errstate(all="ignore"):
            for operation in self.operations:
                columns[operation.places.start : operation.places.stop] = _again(operation, columns, right)
            for function, numbers, holds in self.conditions:
                right &= _ON_ARRAYS[function](*(_column(columns, each) for each in numbers)) == holds
            right &= np.isfinite(np.array(np.broadcast_arrays(*columns))).all(axis=0)
        return columns, right

    def _replay_one(self, numbers: list[Any]) -> tuple[list[Any], Mask]:
        """The same for one sample: floats take less time than arrays of one."""
        right = True
        try:
            for function, arguments, places in self.operations:
                numbers += _floats_in(function(*replaced_in(arguments, numbers)))
                right = right and len(numbers) == places.stop
            for function, pair, holds in self.conditions:
                right = right and function(*replaced_in(pair, numbers)) == holds
        except Exception:  # which the model itself will raise again, in words
            return [np.nan] * self.count, np.zeros(1, dtype=bool)
        return numbers, np.array([right and all(map(math.isfinite, numbers))])


@final
class Recorded:
    """A number that writes down what is computed with it."""

    __slots__ = ("place", "recording", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, recording: Recording, place: int, value: float) -> None:
        self.recording, self.place, self.value = recording, place, value

    def __float__(self) -> float:
        raise NotRecorded("a float is asked for")

    def __reduce_ex__(self, protocol: object) -> Any:
        raise NotRecorded("a copy is asked for")

    def __repr__(self) -> str:
        """For titles and messages; whoever reads it as an expression finds that it is none."""
        return "<varied>"

    def __format__(self, how: str) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        return self.recording.decide(operator.ne, self, 0.0)

    def __round__(self) -> int:
        """The nearest integer, where others round to the same."""
        nearest = round(self.value)
        if not abs(self - float(nearest)) < 0.5:  # type: ignore[operator]
            raise NotRecorded("a number half-way is rounded")
        return nearest


# What calculations use --------------------------------------------------------------------------------


def called(function: Function, *arguments: Any) -> Any:
    """A function of numbers, in lists, tuples and dictionaries; where it asks for floats, it is recorded as a whole."""
    try:
        return function(*arguments)
    except (NotRecorded, TypeError, ValueError):
        recording = recording_of(leaves(arguments))
        if recording is None:
            raise
        return recording.call(function, *arguments)


sin, cos, atan2, hypot = (
    partial(called, function) for function in (math.sin, math.cos, math.atan2, math.hypot)
)


def operate(code: int, *arguments: Any) -> Any:
    """An operation of expressions."""
    recording = recording_of(arguments)
    if recording is None:
        return codes.value(code, *arguments)
    if codes.LESS <= code <= codes.UNEQUAL:
        return float(recording.decide(_OPERATORS[code], *arguments))
    return recording.call(_function_of(code), *arguments)


def as_number(value: Any) -> Any:
    return value if isinstance(value, Recorded) else float(value)


def recording_of(numbers: Iterable[Any]) -> Recording | None:
    """The recording that one of the numbers belongs to."""
    for number in numbers:
        if isinstance(number, Recorded):
            return number.recording
    return None


def is_recorded(*numbers: Any) -> bool:
    return recording_of(numbers) is not None


def isfinite(value: Any) -> bool:
    """Recorded numbers are finite."""
    return isinstance(value, Recorded) or math.isfinite(value)


def isnan(value: Any) -> bool:
    return not isinstance(value, Recorded) and math.isnan(value)


def plain(part: Any) -> Any:
    """The number at which the recording was made."""
    return part.value if isinstance(part, Recorded) else part


def leaves(parts: Any) -> Iterator[Any]:
    """What lists, tuples and dictionaries hold."""
    if isinstance(parts, dict):
        parts = tuple(parts.values())
    if isinstance(parts, tuple | list):
        for part in parts:
            yield from leaves(part)
    else:
        yield parts


def replaced(parts: Any, by: Callable[[Any], Any]) -> Any:
    """The same lists, tuples and dictionaries of other things."""
    if isinstance(parts, dict):
        return {name: replaced(part, by) for name, part in parts.items()}
    if isinstance(parts, tuple | list):
        made = [replaced(part, by) for part in parts]
        return (
            made if isinstance(parts, list) else tuple(made) if type(parts) is tuple else type(parts)(*made)
        )
    return by(parts)


# Python's operators -----------------------------------------------------------------------------------


def _arithmetic(function: Function, reflected: bool = False) -> Function:
    def operation(self: Recorded, other: Any) -> Any:
        if not isinstance(other, Recorded | float | int):
            return NotImplemented
        return self.recording.call(function, *((other, self) if reflected else (self, other)))

    return operation


def _comparison(function: Function) -> Function:
    def operation(self: Recorded, other: Any) -> Any:
        if not isinstance(other, Recorded | float | int):
            return NotImplemented
        return self.recording.decide(function, self, other)

    return operation


for _name in ("neg", "abs"):
    _function = getattr(operator, _name)
    setattr(Recorded, f"__{_name}__", lambda self, function=_function: self.recording.call(function, self))
for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Recorded, f"__{_name}__", _arithmetic(getattr(operator, _name)))
    setattr(Recorded, f"__r{_name}__", _arithmetic(getattr(operator, _name), reflected=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Recorded, f"__{_name}__", _comparison(getattr(operator, _name)))

_OPERATORS: dict[int, Function] = {
    codes.NEGATE: operator.neg, codes.ABS: operator.abs, codes.ADD: operator.add, codes.SUBTRACT: operator.sub,
    codes.MULTIPLY: operator.mul, codes.LESS: operator.lt, codes.LESS_EQUAL: operator.le, codes.GREATER: operator.gt,
    codes.GREATER_EQUAL: operator.ge, codes.EQUAL: operator.eq, codes.UNEQUAL: operator.ne,
}  # fmt: skip
"""Operations of expressions that are those of Python."""


@lru_cache
def _function_of(code: int) -> Function:
    return _OPERATORS.get(code) or partial(codes.value, code)


# Computing again --------------------------------------------------------------------------------------

_ON_ARRAYS: dict[Function, Function] = {
    operator.neg: np.negative, operator.abs: np.abs, operator.add: np.add, operator.sub: np.subtract,
    operator.mul: np.multiply, operator.truediv: np.divide, _function_of(codes.SQRT): np.sqrt,
    _function_of(codes.DIVIDE): np.divide, operator.lt: np.less, operator.le: np.less_equal,
    operator.gt: np.greater, operator.ge: np.greater_equal, operator.eq: np.equal, operator.ne: np.not_equal,
}  # fmt: skip
"""IEEE 754 defines these to the last bit. What has no value, such as 1/0, is not finite and thus not right."""


def _again(operation: Operation, columns: list[Any], right: Mask) -> Any:
    """The results of an operation for all samples, a row for each place."""
    function, arguments, places = operation
    on_arrays = _ON_ARRAYS.get(function)
    if on_arrays is not None:
        return [on_arrays(*(_column(columns, each) for each in arguments))]
    if len(places) == 1 and (found := _mapped(function, arguments, columns)) is not None:
        return [found]
    table = np.full((len(places), right.size), np.nan)
    for k, given in enumerate(_arguments_of_samples(arguments, columns, right.size)):
        floats = _floats_of(function, given)
        if len(floats) == len(places):
            table[:, k] = floats
    return table


def _mapped(function: Function, arguments: tuple[Any, ...], columns: list[Any]) -> Floats | None:
    """A number for each sample from a function of numbers, as most are; None where it is none of some samples."""
    if not all(isinstance(each, Recorded | float | int) for each in arguments):
        return None
    each = (columns[a.place].tolist() if isinstance(a, Recorded) else repeat(a) for a in arguments)
    try:
        found = [*map(function, *each)]
    except Exception:  # of a sample, which is then left out
        return None
    return np.array(found) if all(isinstance(number, float) for number in found) else None


def _arguments_of_samples(
    arguments: tuple[Any, ...], columns: list[Any], count: int
) -> Iterator[tuple[Any, ...]]:
    """The arguments of a function, for one sample after the other."""
    parts = [*leaves(arguments)]
    flat = not any(isinstance(each, tuple | list | dict) for each in arguments)
    lists = [
        columns[part.place].tolist() if isinstance(part, Recorded) else repeat(part, count) for part in parts
    ]
    for values in zip(*lists, strict=True):
        if flat:
            yield values
        else:
            left = iter(values)
            yield replaced(arguments, lambda part: next(left))  # noqa: B023


def replaced_in(arguments: tuple[Any, ...], numbers: list[Any]) -> list[Any]:
    """Arguments with numbers in place of those that are recorded."""
    return [
        numbers[each.place]
        if type(each) is Recorded
        else replaced(each, lambda part: _column(numbers, part))
        if isinstance(each, tuple | list | dict)
        else each
        for each in arguments
    ]


def _floats_in(result: Any) -> list[float]:
    return [result] if type(result) is float else [part for part in leaves(result) if isinstance(part, float)]


def _floats_of(function: Function, arguments: tuple[Any, ...]) -> list[float]:
    try:
        return _floats_in(function(*arguments))
    except Exception:  # which the model itself will raise again, in words
        return []


def _column(columns: list[Any], number: Any) -> Any:
    return columns[number.place] if isinstance(number, Recorded) else number
