"""Where two models differ: the places of their numbers, if they differ in nothing else.

A place is the way to a number: `("bodies", "crank", "mass")`, or `("elements", "A", "a", "place", 0)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from math import copysign
from typing import Any

import numpy as np

from .frame import Frame
from .measure import Measure, Term
from .model import NUMBERS, Model
from .snapshots import is_part

Place = tuple[Any, ...]

_NUMBERS = frozenset((float, int, np.float64))
_PLAIN = frozenset((str, bool, type(None)))
_SLOTTED = frozenset((Frame, Measure, Term))


def differing_numbers(model: Model, before: Model) -> dict[Place, float] | None:
    """The numbers of a model that are others in a snapshot of one, by their places; None if more differs."""
    found: dict[Place, float] = {}
    for name in NUMBERS:
        if not _compared(getattr(model, name), getattr(before, name), [name], found):
            return None
    return found


def _compared(value: Any, before: Any, way: list[Any], found: dict[Place, float]) -> bool:
    """Note numbers that differ; False if something else does, or could unseen, as a Python function."""
    kind = type(value)
    if kind in _NUMBERS and type(before) in _NUMBERS:
        if value != before or (value == 0.0 and copysign(1.0, value) != copysign(1.0, before)):
            found[tuple(way)] = float(value)
        return True
    if kind is not type(before):
        return False
    if kind in _PLAIN:
        return bool(value == before)
    if kind in _SLOTTED and value is before:
        return True
    parts, others = _parts_of(value), _parts_of(before)
    if parts is None or others is None or [*parts] != [*others]:
        return False
    for name, part in parts.items():
        other = others[name]
        if part is other and type(part) in _PLAIN:  # most of them
            continue
        way.append(name)
        if not _compared(part, other, way, found):
            return False
        way.pop()
    return True


def _parts_of(value: Any) -> Mapping[Any, Any] | None:
    """What a container, or a part of a model, consists of; None for anything else."""
    kind = type(value)
    if kind is dict:
        return value  # type: ignore[no-any-return]
    if kind is tuple or kind is list:
        return dict(enumerate(value))
    if kind in _SLOTTED:
        return {name: getattr(value, name) for name in kind.__slots__}
    return value.__dict__ if is_part(kind) else None  # type: ignore[arg-type]


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
    parts = _parts_of(value)
    assert parts is not None
    changed = {**parts, name: _put(parts[name], way, number)}
    if isinstance(value, dict):
        return changed
    if isinstance(value, tuple | list):
        return type(value)(changed.values())
    other = object.__new__(type(value))
    for each, part in changed.items():
        object.__setattr__(other, each, part)
    return other
