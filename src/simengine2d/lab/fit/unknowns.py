"""The unknowns of a fit: numbers of the model, where each starts and between which bounds it stays.

A parameter that is written with its unit, `k: 3 N/mm`, is fitted and saved in this unit; others are in the units of the
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from typing import Any, TypeAlias

from ...errors import ModelError, Subject, listed, unknown
from ...expressions.evaluate import number
from ...model.model import Model
from ..sweep.variants import refuse_unknown

Bounds: TypeAlias = Mapping[str, tuple[Any, Any]]

WITH_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z].*?)\s*")


@dataclass(frozen=True)
class Unknown:
    """A number to be found: where the search starts, its bounds, and the unit in which it is written, if it is."""

    name: str
    start: float
    low: float = -inf
    high: float = inf
    unit: str = ""
    experiment: int | None = None
    """The only experiment in which it has this value; None: all of them."""

    @property
    def label(self) -> str:
        return self.name if self.experiment is None else f"{self.name}, experiment {self.experiment + 1}"

    @property
    def size(self) -> float:
        """A typical change: of the size of the number, or of its range."""
        if isfinite(self.high - self.low):
            return max(abs(self.start), self.high - self.low) if self.start == 0.0 else abs(self.start)
        return abs(self.start) or 1.0

    def written(self, value: float) -> Any:
        """The value as the model has it."""
        return f"{value!r} {self.unit}" if self.unit else value


def unknowns_of(
    model: Model,
    names: Sequence[str],
    own: Sequence[tuple[int, str]],
    bounds: Bounds | None,
    start: Mapping[str, Any] | None,
) -> list[Unknown]:
    """The unknowns of all experiments, then those of single ones; all problems are listed."""
    every = list(dict.fromkeys([*names, *(name for _, name in own)]))
    _refuse_others("bounds", bounds or {}, every)
    _refuse_others("start", start or {}, every)
    made, problems = {}, []
    for name in every:
        try:
            made[name] = _unknown(model, name, (bounds or {}).get(name), (start or {}).get(name))
        except ModelError as error:
            problems += error.problems
    if problems:
        raise ModelError(problems)
    return [*(made[name] for name in names), *(replace(made[name], experiment=i) for i, name in own)]


def distinct(model: Model, names: Any) -> list[str]:
    """The names of parameters, each once and in the model."""
    given = [names] if isinstance(names, str) else list(names)
    if not given:
        raise ModelError("there is nothing to fit: name at least one parameter, such as parameters=['k'].")
    twice = {str(name) for name in given if given.count(name) > 1}
    if twice:
        raise ModelError(f"parameters: {listed(sorted(twice))} is named more than once.")
    refuse_unknown(model, [str(name) for name in given])
    return [str(name) for name in given]


def _refuse_others(what: str, given: Mapping[str, Any], names: Iterable[str]) -> None:
    if not isinstance(given, Mapping):
        raise ModelError(f"{what} is {given!r}; write it by name, such as {{'k': ...}}.")
    for name in given:
        if name not in names:
            raise ModelError(
                f"{what}: '{name}' is not among the parameters of the fit. {unknown('parameter', str(name), names)}"
            )


def _unknown(model: Model, name: str, bounds: Any, start: Any) -> Unknown:
    value, unit = _in_model(model, name)
    read = lambda given: _read(model, name, given, unit)
    low, high = _bounds(name, bounds, read)
    begin = value if start is None else read(start)
    if begin is None or (start is None and not low <= begin <= high):
        begin = _between(name, low, high)
    if not low <= begin <= high:
        raise ModelError(f"start of '{name}' = {begin:g} is not between its bounds {low:g} and {high:g}.")
    return Unknown(name, begin, low, high, unit)


def _in_model(model: Model, name: str) -> tuple[float | None, str]:
    """The number that the model has, and the unit in which it is written."""
    owner, _, field = name.rpartition(".")
    given = getattr(model[owner], field) if owner else model.parameters[name]
    if given is None:
        return None, ""
    if isinstance(given, str):
        match = WITH_UNIT.fullmatch(given)
        if match and _is_number(given):
            return float(match[1]), match[2]
        if model.units is not None and not _is_number(given):
            raise ModelError(
                f"parameter '{name}' is the expression '{given}'; fit what is in it, or write it as a number."
            )
    elif not isinstance(given, int | float):
        raise ModelError(f"'{name}' is {given!r}; only a number can be fitted.")
    if model.units is not None:
        return number(given), ""
    return model.check().number(given, Subject(name)), ""


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ModelError:
        return False
    return True


def _read(model: Model, name: str, given: Any, unit: str) -> float:
    """A bound or a start, in the unit of the parameter."""
    try:
        match = WITH_UNIT.fullmatch(given) if isinstance(given, str) else None
        if match and model.units is not None and not unit:
            raise ModelError(f"'{given}' has a unit, and the parameter has none; write a bare number.")
        value = number(given) / (number(f"1 {unit}") if match and unit else 1.0)
    except ModelError as error:
        raise ModelError(f"parameter '{name}': {error}") from None
    if not isfinite(value):
        raise ModelError(f"parameter '{name}': {given!r} is not a finite number.")
    return value


def _bounds(name: str, given: Any, read: Any) -> tuple[float, float]:
    if given is None:
        return -inf, inf
    try:
        low, high = given
    except (TypeError, ValueError):
        raise ModelError(
            f"bounds of '{name}' are {given!r}; write (low, high), None where there is none."
        ) from None
    low = -inf if low is None or low == -inf else read(low)
    high = inf if high is None or high == inf else read(high)
    if not low < high:
        raise ModelError(f"bounds of '{name}': {low:g} is not below {high:g}.")
    return low, high


def _between(name: str, low: float, high: float) -> float:
    """A start within the bounds: in the middle, of positive ones that are far apart in that of their logarithms."""
    if not (isfinite(low) and isfinite(high)):
        raise ModelError(
            f"'{name}' has no number in the model to start from; give start={{'{name}': ...}} or bounds."
        )
    return sqrt(low * high) if 0.0 < 10.0 * low < high else 0.5 * (low + high)
