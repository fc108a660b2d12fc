"""What a model was: copies that later changes do not touch, comparison with them, and what can be pickled."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..expressions.table import Table
from ..expressions.unit_system import UnitSystem
from .body import Body
from .elements import Element
from .frame import Frame
from .measure import Measure, Term
from .shape import Shape

_IMMUTABLE = frozenset(
    (str, float, np.float64, int, bool, type(None), Frame, Measure, Term, Table, UnitSystem)
)


def own(value: Any) -> Any:
    """The value with its own copies of containers, bodies and elements; immutable parts and functions are shared."""
    kind = type(value)
    if kind in _IMMUTABLE:
        return value
    if kind is tuple:
        return value if _IMMUTABLE.issuperset(map(type, value)) else tuple(map(own, value))
    if isinstance(value, dict):
        return _own_parts(value)
    if is_part(kind):  # type: ignore[arg-type]
        other = object.__new__(kind)
        other.__dict__.update(_own_parts(value.__dict__))
        return other
    if isinstance(value, list):
        return kind(map(own, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _own_parts(parts: dict[str, Any]) -> dict[str, Any]:
    copy = parts.copy()
    for name, part in parts.items():
        if type(part) not in _IMMUTABLE:
            copy[name] = own(part)
    return copy


@cache
def is_part(kind: Any) -> bool:
    """Whether objects of a class are parts of a model; the abstract classes take long to ask."""
    return issubclass(kind, Body | Element | Shape)


def unchanged(value: Any, before: Any) -> bool:
    """Whether a value is what its snapshot says. What could change unseen, such as a Python function, is not."""
    kind = type(value)
    if kind is not type(before):
        return False
    if isinstance(value, float):
        return bool(value.hex() == before.hex())  # tells 0 from -0
    if kind is str or kind is int or kind is bool or kind is UnitSystem or value is None:
        return bool(value == before)
    if kind is tuple:
        return len(value) == len(before) and all(map(unchanged, value, before))
    if kind is Frame or kind is Measure or kind is Term:
        parts = (getattr(each, name) for name in kind.__slots__ for each in (value, before))
        return value is before or all(map(unchanged, parts, parts))
    if isinstance(value, Body | Element | Shape | Table):
        return unchanged(list(vars(value).items()), list(vars(before).items()))
    if value is before:
        return False
    if kind is list:
        return len(value) == len(before) and all(map(unchanged, value, before))
    if kind is dict:
        return unchanged(list(value.items()), list(before.items()))
    return kind is np.ndarray and value.dtype == before.dtype and np.array_equal(value, before)


def functions_in(value: Any) -> Iterator[Any]:
    """The Python functions in a field."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from functions_in(part)
    elif callable(value):
        yield value


def refuse_unpicklable(function: Any, what: str) -> None:
    try:
        pickle.dumps(function)
    except Exception as error:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise UnsupportedError(
            f"{what}: the Python function {name} cannot be pickled ({error}). "
            "Define it by `def` at the top of a module, or give an expression or a table."
        ) from None
