"""Actuators: where the forces that produce a prescribed motion act.

An actuator is a driver, since its row resists its measure with its multiplier: Q = -lam s_q. Drivers that are not
actuators prescribe the motion and carry no force, so they are left out; an actuator that is not yet a driver becomes
one that follows the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ModelError, unknown
from ...expressions.function import Derivatives, Function, python_function
from ...model.joints.driver import Driver
from ...model.measure import Measure
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.kernel import Callback
from ...results.results import Results
from ...system.system import System
from .motion_data import channel_measure

Actuators = Mapping[str, Measure | str] | Sequence[Measure | str]


def movers(system: System) -> list[str]:
    """Elements that prescribe a motion: drivers, and constraints whose value changes with time."""
    moving = [
        name
        for row, (name, _) in enumerate(system.rows)
        if system.resolved.elements[name].drives or row in system.moving_rows  # type: ignore[attr-defined]
    ]
    return list(dict.fromkeys(moving))


def named(actuators: Actuators, model: Model) -> dict[str, Measure | str | None]:
    """Each actuator with its measure; None for one that is already a constraint of the model."""
    if isinstance(actuators, str | Measure):
        actuators = [actuators]
    if isinstance(actuators, Mapping):
        measures = {name: _measure(given, model) for name, given in actuators.items()}
    else:
        measures = {
            given if given in model.joints else f"actuator{i}": _measure(given, model)  # type: ignore[misc]
            for i, given in enumerate(actuators, 1)
        }
    if not measures:
        raise ModelError("actuators is empty; name at least one, or leave it out.")
    return measures


def _measure(given: Any, model: Model) -> Measure | str | None:
    """The given actuator as a measure; None for the name of a constraint."""
    if isinstance(given, Measure):
        return given
    if not isinstance(given, str):
        raise ModelError(
            f"the actuator {given!r} is neither a driver nor a measure; write angle(ground, crank)."
        )
    if given in model.joints:
        return None
    if "." in given or "(" in given:
        return channel_measure(given, model)
    hint = unknown("driver", given, model.joints, plural="joints")
    raise ModelError(
        f"the actuator '{given}' is not a driver of model '{model.name}'. {hint} "
        'Or give a measure: actuators={"motor": "angle(ground, crank)"}.'
    )


def actuated(motion: Results, wanted: dict[str, Measure | str | None]) -> Model:
    """The model moved by its actuators alone, along the same motion."""
    other = motion.model.copy()
    for name in movers(motion.system):
        if wanted.get(name, "") is not None:  # it is not an actuator, or one that follows the motion
            del other.elements[name]
    for name, measure in wanted.items():
        if measure is not None:
            other.add(Driver(name, measure, follow(motion, measure)))
    return other


def follow(motion: Results, measure: Measure | str) -> Function:
    """A measure along a motion as a function of time: value, rate and second rate are exact at the outputs."""
    s = motion.measure(motion.resolved.measure(measure))
    return through(motion.t, *s, f"the motion of {measure if isinstance(measure, str) else measure.text}")


def through(t: Floats, s: Floats, sd: Floats, sdd: Floats, text: str) -> Function:
    """Pieces of degree 5 with the given values, rates and second rates."""
    if t.size == 1:
        jets: Any = [_Resting(float(part[0])) for part in (s, sd, sdd)]
    else:
        from scipy.interpolate import BPoly

        curve = BPoly.from_derivatives(t, np.column_stack([s, sd, sdd]))
        jets = [curve, curve.derivative(1), curve.derivative(2)]
    callback = Callback(Derivatives(jets))
    return python_function(callback, text, (float(t[0]), float(t[-1])))


class _Resting:
    """A function with a constant value."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, t: float) -> float:
        return self.value
