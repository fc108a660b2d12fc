"""The value of an expression over the results of one variant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...analyses.linkage.transmission import transmission_angle
from ...errors import ModelError, listed, unknown
from ...expressions import operations
from ...expressions.syntax import (
    CONSTANTS,
    Call,
    Chain,
    Constant,
    Name,
    Node,
    Number,
    Unary,
    mistake,
    to_text,
)
from ...model.measure import KINDS
from ...numerics.arrays import Floats
from ...results.events import Crossing
from ...results.peaks import shares_of_time
from ...results.reactions import force_on
from ...results.results import Results

Value: TypeAlias = Any
"""A number, or an array over time."""

REDUCERS: dict[str, Callable[[Floats], float]] = {
    "max": np.max,
    "min": np.min,
    "final": lambda values: values[-1],
    "first": lambda values: values[0],
    "peak_to_peak": np.ptp,
}
AVERAGES = "mean", "rms"
REDUCED = (*REDUCERS, *AVERAGES)
AT, TIME, RATE, TRANSMISSION = "at", "time", "rate", "transmission"
CALLS = (*REDUCED, AT, TIME, RATE, TRANSMISSION, *KINDS)
ATTRIBUTES = ("frequency", "omega", "damping")
"""Arrays of modes, with a value for each mode."""


@dataclass
class Reading:
    """The value of an expression over one answer."""

    answer: Any

    def value(self, node: Node) -> Value:
        match node:
            case Number(value):
                return value
            case Constant(name):
                return CONSTANTS[name]
            case Name(name):
                return self.channel(name)
            case Unary("-", operand):
                return -self.value(operand)
            case Chain(first, rest):
                value = self.value(first)
                for operator, operand in rest:
                    value = _operate(node, operator, value, self.value(operand))
                return value
            case Call(name, args):
                return self.call(node, name, args)
        raise mistake(node.place, f"'{to_text(node)}' is not possible in an output.")

    def call(self, node: Call, name: str, args: tuple[Node, ...]) -> Value:
        if name in KINDS:
            return self.results.measure(to_text(node))[0]
        if name == RATE:
            return self.results.measure(to_text(args[0]))[1]
        if name == TRANSMISSION:
            return transmission_angle(self.results, *(to_text(arg) for arg in args)).angle
        if name == TIME:
            return self.event_time(node, args[0])
        if name == AT and len(args) == 2:
            return self.at(node, args)
        if name in AVERAGES and len(args) == 1:
            return averaged(name, self.value(args[0]), self.times)
        if name in REDUCERS and len(args) == 1:
            return REDUCERS[name](np.atleast_1d(self.value(args[0])))
        function = _FUNCTIONS.get(name)
        if function is None:
            raise mistake(
                node.place,
                f"{name} is not possible in an output. {unknown('function', name, (*CALLS, *_FUNCTIONS))}",
            )
        return function(*(self.value(arg) for arg in args))

    def look_up(self, node: Node) -> None:
        """Raise where an expression names what is not there; nothing is reduced."""
        match node:
            case Name(name):
                self.channel(name)
            case Call(name, args) if name in (*KINDS, RATE):
                self.value(node)
            case Call(name, args) if name in (TIME, TRANSMISSION):
                pass
            case Call(name, args):
                for part in args[:1] if name == AT else args:
                    self.look_up(part)
            case _:
                for part in node.parts:
                    self.look_up(part)

    @property
    def results(self) -> Results:
        results = getattr(self.answer, "results", self.answer)
        if not isinstance(results, Results):
            raise ModelError(f"channels need results over time, not {type(results).__name__}.")
        return results

    @property
    def times(self) -> Floats:
        """Of the values of a channel; none where these are not in time."""
        results = getattr(self.answer, "results", self.answer)
        return results.t if isinstance(results, Results) else np.zeros(0)

    def channel(self, name: str) -> Value:
        """A channel, an array of the answer, or a parameter; the force of a joint is the size of its reaction."""
        if name == TRANSMISSION:
            return transmission_angle(self.results).angle
        if name in ATTRIBUTES and not isinstance(self.answer, Results):
            return np.asarray(getattr(self.answer, name))
        results = self.results
        if "." not in name and name in results.system.parameters:
            return results.system.parameters[name]
        return channel_of(results, name)

    def at(self, node: Call, args: tuple[Node, ...]) -> Value:
        """The value at a time, or at the first event of a name; linear between outputs."""
        t = self.event_time(node, args[1]) if isinstance(args[1], Name) else float(self.value(args[1]))
        times = self.results.t
        refuse_outside(node, t, times)
        return np.interp(t, times, self.value(args[0]))

    def event_time(self, node: Call, event: Node) -> float:
        name = event.name if isinstance(event, Name) else to_text(event)
        return first_crossing(self.results, node, name).t


def averaged(name: str, values: Value, t: Floats) -> Value:
    """The mean of values over time, or the root of the mean of their squares."""
    values = np.ravel(values) if isinstance(values, np.ndarray) and values.ndim > 1 else values
    squares = np.multiply(values, values) if name == "rms" else values
    if np.ndim(squares):
        squares = squares @ shares_of_time(t, len(squares))
    return np.sqrt(squares) if name == "rms" else squares


def refuse_outside(node: Node, t: float, times: Floats) -> None:
    """A time that the run does not have."""
    if not times[0] <= t <= times[-1]:
        raise ModelError(f"{to_text(node)}: t = {t:g} s is not between {times[0]:g} and {times[-1]:g} s.")


def first_crossing(results: Results, node: Node, name: str) -> Crossing:
    """The first event of a name."""
    for crossing in results.events:
        if crossing.name == name:
            return crossing
    raise ModelError(f"{to_text(node)}: the event '{name}' did not happen.")


def _operate(node: Node, operator: str, left: Value, right: Value) -> Value:
    if operator not in _OPERATORS:
        raise mistake(node.place, f"'{operator}' is not possible in an output; it has {listed(_OPERATORS)}.")
    with np.errstate(all="ignore"):
        return _OPERATORS[operator](left, right)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
}
_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "max": "maximum",
    "min": "minimum",
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, _NAMES.get(name, name))
    for name in (*operations.ONE_ARGUMENT, *operations.TWO_ARGUMENTS, "max", "min")
    if hasattr(np, _NAMES.get(name, name))
}


def channel_of(results: Results, name: str) -> Floats:
    """A channel; `.force` of a joint is the size of its reaction, sqrt(fx^2 + fy^2)."""
    owner, _, quantity = name.rpartition(".")
    if quantity == "force" and owner in results.system.named.resolved.rows:
        return np.hypot(*force_on(results, owner))
    return results[name]
