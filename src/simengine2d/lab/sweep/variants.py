"""Variants of a model: the same with other numbers. What does not change is shared between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from ...errors import ModelError, unknown
from ...model.model import Model

BODY_FIELDS = ("mass", "inertia", "density", "angle", "angular_velocity")
FIELDS = ("number", "function", "push law", "state law")
"""Kinds of fields of joints and forces that may be a number."""


def refuse_unknown(model: Model, names: Iterable[str]) -> None:
    """All names must be parameters of the model, or numbers of its parts: `spring.stiffness`, `crank.mass`."""
    known = numbers_of(model)
    strange = [name for name in names if name not in known]
    if strange:
        dotted = any("." in name for name in strange) or not model.parameters
        shown = known if dotted else list(model.parameters)
        raise ModelError(
            [
                f"model '{model.name}' has no parameter '{name}'. {_hint(model, name, shown)}"
                for name in strange
            ]
        )


def _hint(model: Model, name: str, shown: list[str]) -> str:
    more = (
        ""
        if not model.parameters or "." in name
        else " Numbers of bodies, joints and forces are written crank.mass."
    )
    return unknown("parameter", name, shown) + more


def numbers_of(model: Model) -> list[str]:
    """The names of all numbers that may be varied."""
    bodies = [f"{name}.{field}" for name in model.bodies for field in BODY_FIELDS]
    fields = [
        f"{name}.{field}"
        for name, element in model.elements.items()
        for field, kind in element.kinds().items()
        if kind.name in FIELDS
    ]
    return [*model.parameters, *bodies, *fields]


def variant(model: Model, values: Mapping[str, float]) -> Model:
    """The model with other numbers; its bodies and elements are shared, so it must not be edited."""
    other = copy(model)
    other.parameters = {**model.parameters, **{k: v for k, v in values.items() if "." not in k}}
    for name, value in values.items():
        if "." in name:
            owner, _, field = name.rpartition(".")
            _set(other, owner, field, value)
    return other


def _set(model: Model, owner: str, field: str, value: float) -> None:
    """A number of a part, which is copied before it changes."""
    home: dict[str, Any] = dict(model.bodies if owner in model.bodies else model.elements)
    home[owner] = part = copy(home[owner])
    object.__setattr__(part, field, value)
    if owner in model.bodies:
        model.bodies = home
    else:
        model.elements = home
