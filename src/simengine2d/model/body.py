"""Bodies: mass, pose, named points; and the shapes whose inertia is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, hypot
from typing import Any, ClassVar, NamedTuple

from ..errors import ModelError, unknown
from .frame import Frame, Number, Side

Point = tuple[Number, ...]


class Inertia(NamedTuple):
    """What a shape determines: moment of inertia about the mass center and, for a bar, pose and points."""

    inertia: float
    pose: tuple[float, float, float] | None = None
    points: dict[str, tuple[float, float, float]] = {}


BODY_SYNONYMS = {
    "m": "mass",
    "J": "inertia",
    "I": "inertia",
    "jbar": "inertia",
    "position": "at",
    "orientation": "angle",
    "phi": "angle",
    "omega": "angular_velocity",
}
"""Synonyms accepted for the numbers of a body."""


@dataclass(frozen=True)
class Bar:
    """A uniform slender bar between two global points; its axis points from start to end."""

    word: ClassVar[str] = "bar"
    start: Point
    end: Point

    def inertia(self, mass: float, start: tuple[float, float], end: tuple[float, float]) -> Inertia:
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = hypot(dx, dy)
        if length == 0.0:
            raise ModelError(f"start and end are the same point {[*start]}; a bar needs a length.")
        pose = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, atan2(dy, dx))
        points = {"start": (-length / 2, 0.0, 0.0), "end": (length / 2, 0.0, 0.0)}
        return Inertia(mass * length**2 / 12, pose, points)


@dataclass(frozen=True)
class Disk:
    """A uniform disk about its center."""

    word: ClassVar[str] = "disk"
    radius: Number

    def inertia(self, mass: float, radius: float) -> Inertia:
        if radius <= 0.0:
            raise ModelError(f"radius = {radius:g} must be positive.")
        return Inertia(mass * radius**2 / 2)


@dataclass(frozen=True)
class Plate:
    """A uniform rectangle about its center, `width` along the body's x axis."""

    word: ClassVar[str] = "plate"
    width: Number
    height: Number

    def inertia(self, mass: float, width: float, height: float) -> Inertia:
        if width <= 0.0 or height <= 0.0:
            raise ModelError(f"width = {width:g} and height = {height:g} must be positive.")
        return Inertia(mass * (width**2 + height**2) / 12)


Shape = Bar | Disk | Plate
SHAPES: dict[str, type[Any]] = {shape.word: shape for shape in (Bar, Disk, Plate)}


@dataclass
class Body(Side):
    """A rigid body as written. Its frame is at the mass center.

    `velocity` and `angular_velocity` default to None: they then follow from the constraints.
    """

    name: str
    mass: Number = 0.0
    inertia: Number | None = None
    position: Point | None = None
    angle: Number | None = None
    velocity: Point | None = None
    angular_velocity: Number | None = None
    points: dict[str, Point] = field(default_factory=dict)
    shape: Shape | None = None
    look: dict[str, Any] = field(default_factory=dict)
    """How to draw it; stored with the model, never read by an analysis."""

    @property
    def frame(self) -> Frame:
        return Frame(self.name)

    @property
    def point_names(self) -> list[str]:
        return [*self.points, *(("start", "end") if isinstance(self.shape, Bar) else ())]

    def __getitem__(self, point: str) -> Frame:
        """The frame at a named point: `crank["A"]`."""
        if point not in self.point_names:
            hint = unknown("point", point, self.point_names)
            raise ModelError(f"body '{self.name}' has no point '{point}'. {hint}")
        return Frame(self.name, point)

    def at(self, x: Number, y: Number, angle: Number = 0.0) -> Frame:
        """The frame at a position given in body axes."""
        return Frame(self.name, place=(x, y, angle))
