"""Inputs of a Simulator: numbers of force elements that a program sets while the motion goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import ModelError, unknown
from ...model.forces.point_force import PointForce
from ...model.forces.spring import Spring
from ...model.forces.torque import Torque
from ...model.model import Model

FIELDS: dict[type[Any], tuple[str, ...]] = {
    Torque: ("value",),
    Spring: ("actuator",),
    PointForce: ("fx", "fy"),
}
"""What can be set; where it is one thing, the name of the force is enough."""


class SimulatorInput:
    """A force that has the value set last, whatever the state."""

    breaks = ()  # it changes between steps only

    def __init__(self, value: float) -> None:
        self.first = self.value = value

    def __call__(self, *_: float) -> float:
        return self.value


def with_inputs(model: Model, names: Sequence[str]) -> tuple[Model, dict[str, SimulatorInput]]:
    """The model with inputs in place of some numbers, and the inputs by name."""
    if isinstance(names, str):
        names = (names,)
    model = model.in_si()
    other, resolved = model.copy(), model.check()
    inputs: dict[str, SimulatorInput] = {}
    for name in names:
        owner, field = _place(model, name)
        function = getattr(resolved.elements[owner], field)
        if (
            not getattr(function, "is_constant", False)
            or getattr(model.elements[owner], "law", None) is not None
        ):
            raise ModelError(
                f"the input '{name}' follows a law of its own; give {model.elements[owner].title} a number to begin "
                f"with, such as {field}=0, and set it while it runs."
            )
        inputs[name] = SimulatorInput(function.constant)
        other.elements[owner] = replace(other.elements[owner], **{field: inputs[name]})  # type: ignore[arg-type]
    return other, inputs


def _place(model: Model, name: str) -> tuple[str, str]:
    """The force and its field."""
    owner, _, field = (name, "", "") if name in model.forces else name.rpartition(".")
    if owner not in model.forces:
        if name in model.joints:
            raise ModelError(
                f"the input '{name}' is {model.joints[name].title}, which prescribes a motion; inputs are forces. "
                "Use a Torque, a PointForce or the actuator of a Spring."
            )
        hint = unknown("force", owner or name, model.forces)
        raise ModelError(f"the input '{name}' is not a force of the model. {hint}")
    force = model.forces[owner]
    fields = FIELDS.get(type(force), ())
    if field not in fields and (field or len(fields) != 1):
        choices = " or ".join(f"'{owner}.{each}'" for each in fields)
        remedy = f"Write {choices}." if choices else "Use a Torque, a PointForce or the actuator of a Spring."
        raise ModelError(f"the input '{name}' does not say what of {force.title} is set. {remedy}")
    return owner, field or fields[0]


def checked_value(name: str, value: Any) -> float:
    """A number that may be set."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ModelError(f"the input '{name}' was set to {value!r}; a finite number is needed.")
    return number
