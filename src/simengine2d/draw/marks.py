"""Marks: what a scene is made of. Plain data, in a few kinds that every renderer knows.

A mark is fixed in a carrier: a body, the ground, or a frame that follows a joint. Lengths are meters, so marks grow
with the picture. Its ink is a word such as "body 2", "ground" or "pin"; `inks` says what it looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.frame import GROUND
from ..numerics.arrays import Floats

Stops = NDArray[np.float64]
Bounds = tuple[float, float, float, float]
"""Smallest x and y, largest x and y."""


class Layer(IntEnum):
    """In which order marks are painted."""

    BACK, ROUND, LINK, SLOT, BLOCK, SPRING, FRONT, PIN, DRIVE, CENTER = range(10)


class Spot(NamedTuple):
    """A point of a carrier, in its axes."""

    carrier: str
    x: float
    y: float


class Outline(NamedTuple):
    """Areas or lines fixed in a carrier; the paths of an area may be nested to make holes."""

    carrier: str
    paths: Sequence[Floats]
    ink: str
    layer: Layer
    name: str = ""
    """The body, joint or force that it shows."""
    area: bool = True


class Stretched(NamedTuple):
    """Lines or areas between two spots, which follow their distance L.

    Each point of a path is (fixed, part, side): it lies fixed + part * L from the first spot towards the second,
    and `side` to the left of that line.
    """

    a: Spot
    b: Spot
    paths: Sequence[Stops]
    ink: str
    layer: Layer
    name: str = ""
    area: bool = False


class Label(NamedTuple):
    """A word beside a spot, `gap` meters off it, where the lines from the spot to the `clear` spots leave most space.

    Where `clear` is empty and the gap is 0, it is written on the spot itself.
    """

    spot: Spot
    text: str
    ink: str
    gap: float = 0.0
    clear: tuple[Spot, ...] = ()
    above: bool = False
    """Something else is below the spot."""
    is_pin: bool = False
    """A joint's name, not a body's."""


class Arrow(NamedTuple):
    """A force at a spot, and a torque about it, over time and in global axes."""

    spot: Spot
    name: str
    ink: str
    fx: Floats
    fy: Floats
    torque: Floats
    on: str = GROUND
    """The body that it acts on."""
    is_load: bool = False
    """A load of the model, which belongs to its picture even where forces are not shown."""
    ring: int = 0
    """Which of the arcs about its spot shows the torque, counted from the inside."""


OnRequest = Callable[[str], list[Arrow]]
"""The arrows of a kind."""


class Trace(NamedTuple):
    """The path of a spot."""

    spot: Spot
    name: str
    ink: str


Mark = Outline | Stretched
