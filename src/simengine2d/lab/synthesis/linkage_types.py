"""Types of linkages as steps from the crank outward, each in closed form: pins on circles about known pins.

A step places one pin; those of dyads append cos mu of the transmission angle mu to `cosines`, which is beyond +-1
where they do not close. Points are pairs (x, y) of arrays, one value for each input angle, so that a parameter with a
small imaginary part carries its exact derivative through all steps (complex step: W. Squire, G. Trapp, SIAM Review 40
(1998) 110-112).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import acos
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError, unknown

Place = tuple[Any, Any]
"""x and y, numbers or arrays, real or complex."""
SMALLEST = 1e-12  # height of a triangle, relative to its side, that counts as flat


class GroundPin(NamedTuple):
    """A pin in the ground at the parameters `x` and `y`."""

    pin: str
    x: str
    y: str

    def place(self, pins: Any, p: Mapping[str, Any], theta: Any, side: int, cosines: list[Any]) -> Place:
        return p[self.x], p[self.y]


class GroundLink(NamedTuple):
    """A pin in the ground at a distance and a direction from another."""

    pin: str
    start: str
    length: str
    angle: str

    def place(self, pins: Any, p: Mapping[str, Any], theta: Any, side: int, cosines: list[Any]) -> Place:
        x, y = pins[self.start]
        return x + p[self.length] * np.cos(p[self.angle]), y + p[self.length] * np.sin(p[self.angle])


class CrankPin(NamedTuple):
    """The pin of the input link."""

    pin: str
    start: str
    length: str

    def place(self, pins: Any, p: Mapping[str, Any], theta: Any, side: int, cosines: list[Any]) -> Place:
        x, y = pins[self.start]
        return x + p[self.length] * np.cos(theta), y + p[self.length] * np.sin(theta)


class CirclePin(NamedTuple):
    """The pin between two links on known pins, to the left (side 1) or right (-1) of the line from first to second.

    With the diagonal f from first to second: foot = (f^2 + r^2 - s^2) / (2 f) along it, height = sqrt(r^2 - foot^2).
    """

    pin: str
    first: str
    first_length: str
    second: str
    second_length: str

    def place(self, pins: Any, p: Mapping[str, Any], theta: Any, side: int, cosines: list[Any]) -> Place:
        (x, y), (x2, y2) = pins[self.first], pins[self.second]
        r, s = p[self.first_length], p[self.second_length]
        dx, dy = x2 - x, y2 - y
        f2 = dx * dx + dy * dy
        f = np.sqrt(f2)
        foot = (f2 + r * r - s * s) / (2.0 * f)
        height = side * root(r * r - foot * foot, r * r)
        cosines.append((r * r + s * s - f2) / (2.0 * r * s))
        return x + (foot * dx - height * dy) / f, y + (foot * dy + height * dx) / f


class SliderPin(NamedTuple):
    """The pin of a rod whose end slides along a line at `offset` to the left of a ground pin."""

    pin: str
    first: str
    length: str
    ground: str
    offset: str
    angle: str

    def place(self, pins: Any, p: Mapping[str, Any], theta: Any, side: int, cosines: list[Any]) -> Place:
        (x, y), (ox, oy) = pins[self.first], pins[self.ground]
        c, s = np.cos(p[self.angle]), np.sin(p[self.angle])
        across = p[self.offset] - (c * (y - oy) - s * (x - ox))  # from the rod's first pin to the line
        along = side * root(p[self.length] ** 2 - across * across, p[self.length] ** 2)
        cosines.append(across / p[self.length])
        return x + along * c - across * s, y + along * s + across * c


class LinkPoint(NamedTuple):
    """A point of a link: `along` and `across` from its first pin towards its second."""

    pin: str
    first: str
    second: str
    along: str
    across: str

    def place(self, pins: Any, p: Mapping[str, Any], theta: Any, side: int, cosines: list[Any]) -> Place:
        (x, y), (x2, y2) = pins[self.first], pins[self.second]
        dx, dy = x2 - x, y2 - y
        length = np.sqrt(dx * dx + dy * dy)
        u, v = p[self.along], p[self.across]
        return x + (u * dx - v * dy) / length, y + (u * dy + v * dx) / length


def root(square: Any, scale: Any) -> Any:
    """sqrt, zero where the square is not positive: the dyad does not close, and cos mu says by how much."""
    positive = np.real(square) > SMALLEST * np.real(scale)
    return np.where(positive, np.sqrt(np.where(positive, square, 1.0)), 0.0)


Step = GroundPin | GroundLink | CrankPin | CirclePin | SliderPin | LinkPoint


class BarLink(NamedTuple):
    """A body as a bar between two pins, with the length parameter."""

    body: str
    start: str
    end: str
    length: str


LENGTH, PLACE, ANGLE, ALONG = "length", "place", "angle", "along"
"""What a parameter is: a length, a coordinate in the ground, an angle, a coordinate in a link."""


@dataclass(frozen=True)
class LinkageType:
    """A linkage of a kind: its parameters, its steps, and which link and point do the work."""

    name: str
    kinds: Mapping[str, str]
    steps: Sequence[Step]
    links: Sequence[BarLink]
    joints: Mapping[str, tuple[str, str]]
    """The two bodies of each pin."""
    tracer: str
    """The link that carries the point P and whose pose is led."""
    output: str
    """The link whose angle is the output of a function generator."""
    point: str = "P"
    dyads: int = field(init=False)

    def __post_init__(self) -> None:
        count = sum(isinstance(step, CirclePin | SliderPin) for step in self.steps)
        object.__setattr__(self, "dyads", count)

    def link(self, body: str) -> BarLink:
        return next(link for link in self.links if link.body == body)

    def positions(
        self, p: Mapping[str, Any], theta: Any, sides: Sequence[int]
    ) -> tuple[dict[str, Place], list[Any]]:
        """All pins at the input angles theta, and cos mu of each dyad."""
        pins: dict[str, Place] = {}
        cosines: list[Any] = []
        for step in self.steps:
            side = sides[len(cosines)] if isinstance(step, CirclePin | SliderPin) else 0
            pins[step.pin] = step.place(pins, p, theta, side, cosines)
        return pins, cosines

    def least_transmission(self, p: Mapping[str, Any], theta: Any, sides: Sequence[int]) -> float:
        """min mu of all dyads at the input angles, folded to 0 ... pi/2; 0 where one does not close."""
        _, cosines = self.positions(p, theta, sides)
        return acos(min(1.0, max(float(np.abs(cosine).max()) for cosine in cosines)))

    def direction(self, pins: Mapping[str, Place], body: str) -> Place:
        """The unit vector along a link."""
        link = self.link(body)
        (x, y), (x2, y2) = pins[link.start], pins[link.end]
        dx, dy = x2 - x, y2 - y
        length = np.sqrt(dx * dx + dy * dy)
        return dx / length, dy / length


# The types --------------------------------------------------------------------------------------------

_FOUR_BAR_STEPS = (
    GroundPin("A", "Ax", "Ay"),
    GroundLink("D", "A", "ground", "ground_angle"),
    CrankPin("B", "A", "crank"),
    CirclePin("C", "B", "coupler", "D", "rocker"),
)
_FOUR_BAR_KINDS = {
    "Ax": PLACE, "Ay": PLACE, "ground": LENGTH, "ground_angle": ANGLE, "crank_angle": ANGLE,
    "crank": LENGTH, "coupler": LENGTH, "rocker": LENGTH,
}  # fmt: skip
_FOUR_BAR_LINKS = (
    BarLink("crank", "A", "B", "crank"),
    BarLink("coupler", "B", "C", "coupler"),
    BarLink("rocker", "D", "C", "rocker"),
)
_FOUR_BAR_JOINTS = {
    "A": ("ground", "crank"),
    "B": ("crank", "coupler"),
    "C": ("coupler", "rocker"),
    "D": ("ground", "rocker"),
}
_SECOND_GROUND = {"Gx": PLACE, "Gy": PLACE, "link": LENGTH, "arm": LENGTH, "Ex": ALONG, "Ey": ALONG}
_TRACER = {"Px": ALONG, "Py": ALONG}

FOUR_BAR = LinkageType(
    "four-bar",
    _FOUR_BAR_KINDS | _TRACER,
    (*_FOUR_BAR_STEPS, LinkPoint("P", "B", "C", "Px", "Py")),
    _FOUR_BAR_LINKS,
    _FOUR_BAR_JOINTS,
    tracer="coupler",
    output="rocker",
)
SLIDER_CRANK = LinkageType(
    "slider-crank",
    {"Ax": PLACE, "Ay": PLACE, "guide_angle": ANGLE, "offset": ALONG, "crank_angle": ANGLE,
     "crank": LENGTH, "rod": LENGTH, **_TRACER},
    (
        GroundPin("A", "Ax", "Ay"),
        CrankPin("B", "A", "crank"),
        SliderPin("C", "B", "rod", "A", "offset", "guide_angle"),
        LinkPoint("P", "B", "C", "Px", "Py"),
    ),
    (BarLink("crank", "A", "B", "crank"), BarLink("rod", "B", "C", "rod")),
    {"A": ("ground", "crank"), "B": ("crank", "rod"), "C": ("rod", "slider")},
    tracer="rod",
    output="slider",
)  # fmt: skip
WATT = LinkageType(
    "watt",
    _FOUR_BAR_KINDS
    | {"Ex": ALONG, "Ey": ALONG, "Hx": ALONG, "Hy": ALONG, "link": LENGTH, "arm": LENGTH}
    | _TRACER,
    (
        *_FOUR_BAR_STEPS,
        LinkPoint("E", "B", "C", "Ex", "Ey"),
        LinkPoint("H", "D", "C", "Hx", "Hy"),
        CirclePin("F", "E", "link", "H", "arm"),
        LinkPoint("P", "E", "F", "Px", "Py"),
    ),
    (*_FOUR_BAR_LINKS, BarLink("link", "E", "F", "link"), BarLink("arm", "H", "F", "arm")),
    _FOUR_BAR_JOINTS | {"E": ("coupler", "link"), "H": ("rocker", "arm"), "F": ("link", "arm")},
    tracer="link",
    output="arm",
)


def _with_second_ground(name: str, carrier: str, first: str) -> LinkageType:
    """A four-bar whose rocker or coupler, from `first` to C, moves a dyad E F G that ends in the ground."""
    return LinkageType(
        name,
        _FOUR_BAR_KINDS | _SECOND_GROUND | _TRACER,
        (
            *_FOUR_BAR_STEPS,
            GroundPin("G", "Gx", "Gy"),
            LinkPoint("E", first, "C", "Ex", "Ey"),
            CirclePin("F", "E", "link", "G", "arm"),
            LinkPoint("P", "E", "F", "Px", "Py"),
        ),
        (*_FOUR_BAR_LINKS, BarLink("link", "E", "F", "link"), BarLink("arm", "G", "F", "arm")),
        _FOUR_BAR_JOINTS | {"E": (carrier, "link"), "F": ("link", "arm"), "G": ("ground", "arm")},
        tracer="link",
        output="arm",
    )


WATT_2 = _with_second_ground("watt-2", "rocker", "D")
STEPHENSON = _with_second_ground("stephenson", "coupler", "B")
TYPES = {each.name: each for each in (FOUR_BAR, SLIDER_CRANK, WATT, WATT_2, STEPHENSON)}
"""Watt's first chain (six links, path), its second (two four-bars in series) and Stephenson's third."""


def type_named(name: str) -> LinkageType:
    """A type by its name."""
    if name not in TYPES:
        raise ModelError(f"there is no type of linkage '{name}'. {unknown('type', name, TYPES)}")
    return TYPES[name]
