"""Inputs: forces that a controller sets, as generalized forces B du.

An input is a measure, on which it pushes in the direction of growth, or the function of a force element: the
actuator of a Spring, the value of a Torque, `push.fx` or `push.fy` of a PointForce.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from ...errors import ModelError, unknown
from ...model.forces.point_force import PointForce
from ...model.forces.spring import Spring
from ...model.forces.torque import Torque
from ...model.frame import GROUND, Frame
from ...model.measure import Measure, angle, x, y
from ...model.model import Model
from ...numerics.arrays import Floats
from ..inverse.gradients import Gradients
from ..inverse.motion_data import channel_measure

Inputs = Mapping[str, Measure | str] | Sequence[Measure | str]


@dataclass(frozen=True)
class InputDirection:
    """Weighted gradients of measures; the weights turn with the frame if a force is given in body axes."""

    measures: tuple[Measure | str, ...]
    weights: tuple[float, ...]
    turns: bool = False


def named_inputs(inputs: Inputs, model: Model) -> dict[str, InputDirection]:
    """Each input by its name."""
    if isinstance(inputs, str | Measure):
        inputs = [inputs]
    if not isinstance(inputs, Mapping):
        inputs = {given.text if isinstance(given, Measure) else given: given for given in inputs}
    return {name: _push(given, model) for name, given in inputs.items()}


def _push(given: Any, model: Model) -> InputDirection:
    if isinstance(given, Measure):
        return InputDirection((given,), (1.0,))
    if not isinstance(given, str):
        raise ModelError(f"the input {given!r} is neither a measure nor a force; write angle(ground, crank).")
    name, _, part = given.partition(".")
    if name in model.forces:
        return _own_function(model.forces[name], part, given)
    if given in model.joints:
        raise ModelError(
            f"the input '{given}' is {model.joints[given].title}, which prescribes a motion; inputs are forces. "
            "Remove it, and name its measure."
        )
    if "(" not in given and "." not in given:
        hint = unknown("force", given, model.forces)
        raise ModelError(f"the input '{given}' is not a force of the model. {hint} Or write a measure.")
    return InputDirection((channel_measure(given, model),), (1.0,))


def _own_function(force: Any, part: str, given: str) -> InputDirection:
    if isinstance(force, Spring) and part in ("", "actuator"):
        return InputDirection((force.measure,), (-1.0,))  # it resists the growth of its measure
    if isinstance(force, Torque) and part in ("", "value"):
        return InputDirection((angle(GROUND, force.frame),), (1.0,))
    if isinstance(force, PointForce) and part in ("fx", "fy"):
        weights = (1.0, 0.0) if part == "fx" else (0.0, 1.0)
        return InputDirection((x(GROUND, force.frame), y(GROUND, force.frame)), weights, force.axes == "body")
    parts = "fx, fy" if isinstance(force, PointForce) else "a measure instead"
    raise ModelError(f"the input '{given}' does not say which part of {force.title} is set; write {parts}.")


def input_matrix(model: Model, inputs: dict[str, InputDirection], q: Floats) -> Floats:
    """B, n x inputs."""
    columns = [np.zeros(q.size) for _ in inputs]
    for column, push in zip(columns, inputs.values(), strict=True):
        weights = push.weights
        if push.turns:
            turned = Gradients(model, [angle(Frame(GROUND), _frame(push))]).values(q)[0]
            c, s = cos(turned), sin(turned)
            weights = c * weights[0] - s * weights[1], s * weights[0] + c * weights[1]
        column += np.array(weights) @ Gradients(model, push.measures).at(q)
    return np.column_stack(columns) if columns else np.zeros((q.size, 0))


def _frame(push: InputDirection) -> Frame:
    measure = push.measures[0]
    assert isinstance(measure, Measure)
    frame = measure.terms[0].b
    assert isinstance(frame, Frame)
    return frame
