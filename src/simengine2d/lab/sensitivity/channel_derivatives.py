"""Channels at all output times of one run, with their derivatives with respect to parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...analyses.dynamics.dynamics import dynamics
from ...analyses.inverse.inverse_dynamics import inverse_dynamics
from ...analyses.kinematics.kinematics import kinematics
from ...analyses.statics.equilibrium import equilibrium
from ...errors import ModelError, UnsupportedError, unknown
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from .channels import channel_slopes
from .dynamic_slopes import dynamic_slopes
from .motion_slopes import MotionSlopes, equilibrium_slopes, inverse_slopes, kinematic_slopes
from .parameters import VariedNumber, varied_numbers


class ChannelDerivatives(NamedTuple):
    """The results of a run, and of each channel its values (times, channels) and derivatives."""

    results: Results
    values: Floats
    slopes: Floats
    """(times, channels, parameters)"""


class Motion(NamedTuple):
    """Results with the derivatives of their arrays."""

    results: Results
    slopes: MotionSlopes


def channel_derivatives(
    model: Model,
    channels: Sequence[str],
    parameters: Sequence[str],
    analysis: str = "kinematics",
    **options: Any,
) -> ChannelDerivatives:
    """Channels over time and their derivatives, in SI units, for any analysis of a motion or of poses."""
    model = model.in_si()
    numbers = varied_numbers(model, parameters)
    motion = moved(model, numbers, analysis, options)
    return ChannelDerivatives(
        motion.results, *channel_slopes(motion.results, channels, motion.slopes, numbers)
    )


def moved(model: Model, numbers: Sequence[VariedNumber], analysis: str, options: Mapping[str, Any]) -> Motion:
    """The results of an analysis, and the derivatives of their arrays."""
    if analysis not in ANALYSES:
        hint = unknown("analysis", analysis, ANALYSES, plural="analyses")
        raise ModelError(f"there are no derivatives of the analysis '{analysis}'. {hint}")
    return ANALYSES[analysis](model, numbers, options)


def _kinematics(model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> Motion:
    results = kinematics(model, **options)
    return Motion(results, kinematic_slopes(results, numbers))


def _inverse_dynamics(model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> Motion:
    for option in ("motion", "actuators", "limits", "noise"):
        if options.get(option) is not None:
            raise UnsupportedError(
                f"inverse_dynamics with {option} has no derivatives; drivers of the model must prescribe the motion."
            )
    results = inverse_dynamics(model, **options)
    return Motion(results, inverse_slopes(results, numbers))


def _equilibrium(model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> Motion:
    results = equilibrium(model, **options).results
    return Motion(results, equilibrium_slopes(results, numbers))


def _dynamics(model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> Motion:
    results = dynamics(model, **options)
    return Motion(results, dynamic_slopes(results, numbers, options))


ANALYSES: dict[str, Callable[[Model, Sequence[VariedNumber], Mapping[str, Any]], Motion]] = {
    "kinematics": _kinematics,
    "inverse_dynamics": _inverse_dynamics,
    "equilibrium": _equilibrium,
    "dynamics": _dynamics,
}
