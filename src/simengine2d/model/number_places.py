"""Where two models differ: the places of their numbers, if they differ in nothing else.

A place is the way to a number: `("bodies", "crank", "mass")`, or `("elements", "A", "a", "place", 0)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ..numerics.arrays import Ints
from .frame import Frame
from .measure import Measure, Term
from .model import NUMBERS, Model
from .snapshots import is_part

Place = tuple[Any, ...]

_NUMBERS = frozenset((float, int, np.float64))
_PLAIN = frozenset((str, bool, type(None)))
_SLOTTED: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Frame: attrgetter(*Frame.__slots__),
    Measure: lambda measure: (measure.terms,),
    Term: attrgetter(*Term.__slots__),
}


def differing_numbers(model: Model, before: Model) -> dict[Place, float] | None:
    """The numbers of a model that are others in a snapshot of one, by their places; None if more differs."""
    return KnownModel(before).differing_numbers(model)


class KnownModel:
    """A snapshot of a model with which others are compared: all that has no number in it, and the numbers."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.known = _apart(model)

    def differing_numbers(self, model: Model) -> dict[Place, float] | None:
        """Those of a model that are others in this one, by their places; None if more differs, or could unseen."""
        parts = None if self.known is None else _apart(model)
        if self.known is None or parts is None or parts[0] != self.known[0]:
            return None
        numbers, before = parts[1], self.known[1]
        # 0 and -0 differ
        return {self.places[k]: numbers[k] for k in np.flatnonzero(_bits(numbers) != _bits(before)).tolist()}

    @cached_property
    def places(self) -> list[Place]:
        return [place for name in NUMBERS for place in _places(getattr(self.model, name), (name,))]


Apart = tuple[list[Any], list[float]]


def _apart(model: Model) -> Apart | None:
    """What a model consists of apart from its numbers, and these; None if something could change unseen."""
    rest: list[Any] = []
    numbers: list[float] = []
    known = _take_apart([getattr(model, name) for name in NUMBERS], rest, numbers)
    return (rest, numbers) if known else None


def _take_apart(value: Any, rest: list[Any], numbers: list[float]) -> bool:
    parts = _parts_of(value)
    if parts is None:
        return False
    rest += type(value), parts[0]
    for part in parts[1]:
        kind = type(part)
        if kind is float:  # most of them, by far
            numbers.append(part)
            rest.append(float)  # which no part is
        elif kind in _PLAIN:
            rest.append(part)
        elif kind in _NUMBERS:
            try:
                numbers.append(float(part))
            except OverflowError:
                return False
            rest.append(float)
        elif not _take_apart(part, rest, numbers):
            return False
    return True


def _bits(numbers: list[float]) -> Ints:
    return np.array(numbers, dtype=float).view(np.int64)


def _places(value: Any, way: Place) -> Iterator[Place]:
    """The places of numbers, in the order in which they are taken."""
    if type(value) in _NUMBERS:
        yield way
    elif type(value) not in _PLAIN:
        for name, part in zip(*_known_parts(value), strict=True):
            yield from _places(part, (*way, name))


def _parts_of(value: Any) -> tuple[Sequence[Any], Iterable[Any]] | None:
    """The names of the parts of a container, or of a part of a model, and these; None for anything else."""
    kind = type(value)
    if kind is tuple or kind is list:
        return range(len(value)), value
    slots = _SLOTTED.get(kind)
    if slots is not None:
        return kind.__slots__, slots(value)
    if kind is not dict:
        if not is_part(kind):  # type: ignore[arg-type]
            return None
        value = value.__dict__
    return [*value], value.values()


def _known_parts(value: Any) -> tuple[Sequence[Any], Iterable[Any]]:
    parts = _parts_of(value)
    assert parts is not None
    return parts


def with_numbers_at(model: Model, numbers: Mapping[Place, Any]) -> Model:
    """The model with other numbers at some places; what does not change is shared, so it must not be edited."""
    other = copy(model)
    for place, number in numbers.items():
        setattr(other, place[0], _put(getattr(other, place[0]), iter(place[1:]), number))
    return other


def _put(value: Any, way: Iterator[Any], number: Any) -> Any:
    """A copy of a part with a number further down the way."""
    name = next(way, None)
    if name is None:
        return number
    changed = dict(zip(*_known_parts(value), strict=True))
    changed[name] = _put(changed[name], way, number)
    if isinstance(value, dict):
        return changed
    if isinstance(value, tuple | list):
        return type(value)(changed.values())
    other = object.__new__(type(value))
    for each, part in changed.items():
        object.__setattr__(other, each, part)
    return other
