"""Channels at all output times of one run, with their derivatives with respect to parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from .channels import channel_slopes
from .motions import moved
from .parameters import varied_numbers


class ChannelDerivatives(NamedTuple):
    """The results of a run, and of each channel its values (times, channels) and derivatives."""

    results: Results
    values: Floats
    slopes: Floats
    """(times, channels, parameters)"""


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
    results = motion.at(motion.places)
    return ChannelDerivatives(results, *channel_slopes(results, channels, motion.slopes(results), numbers))
