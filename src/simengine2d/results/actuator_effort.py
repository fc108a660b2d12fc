"""What an actuator must deliver: its effort, its power, its energy.

The effort of a driver or a spring is its force in the direction in which its measure s grows, so that

    power = effort sd,      energy = integral of the power since the first time

A torque where s is an angle, a force where it is a length. The power of any other joint or force is that of its
reactions on all bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from ..model.elements import Joint, MeasureForce
from ..model.frame import GROUND
from ..numerics.arrays import Floats
from .reactions import pull, reaction

if TYPE_CHECKING:
    from .results import Results


def has_effort(results: Results, name: str) -> bool:
    """Whether it acts on one measure only."""
    if isinstance(results.model.elements[name], Joint):
        return sum(owner == name for owner, _ in results.system.rows) == 1
    loads = [load for owner, load in results.system.loads if owner == name]
    return all(isinstance(load, MeasureForce) and load.is_law for load in loads)


def effort(results: Results, name: str) -> Floats:
    """-lam of a driver, -g of a spring; an error for what has more than one measure, or none."""
    element = results.model.elements[name]
    if not has_effort(results, name):
        raise ModelError(
            f"{element.title} has no channel '{name}.effort', since it does not act on a single measure; "
            f"it has {name}.fx, {name}.fy, {name}.torque and {name}.power."
        )
    if not isinstance(element, Joint):
        return -pull(results, name)
    reaction(results, name)  # says why, where there are no multipliers
    row = [owner for owner, _ in results.system.rows].index(name)
    return np.asarray(-results.motion.lam[:, row])


def power(results: Results, name: str) -> Floats:
    """The power delivered to all bodies: the sum of F . rd + T phid."""
    total = np.zeros(results.t.size)
    frames = results.model.elements[name].frames()
    for body in dict.fromkeys(frame.body for frame in frames):
        if body != GROUND:
            fx, fy, torque = reaction(results, name, on=body, at=body)
            total += (
                fx * results[f"{body}.xd"] + fy * results[f"{body}.yd"] + torque * results[f"{body}.phid"]
            )
    return total


def energy_given(results: Results, name: str) -> Floats:
    """The power integrated from the first time on."""
    return integrated(results.t, power(results, name))


def integrated(t: Floats, values: Floats) -> Floats:
    """The integral from the first time on, of a cubic spline through the outputs."""
    if t.size < 2:
        return np.zeros(t.size)
    from scipy.interpolate import CubicSpline

    integral: Floats = CubicSpline(t, values).antiderivative()(t)
    return integral


EFFORTS: dict[str, Callable[[Results, str], Floats]] = {
    "effort": effort,
    "power": power,
    "energy": energy_given,
}
"""Channels of an element beside its reactions."""


def effort_channels(results: Results, name: str) -> list[str]:
    """The effort channels that the element has."""
    return [f"{name}.{word}" for word in EFFORTS if word != "effort" or has_effort(results, name)]
