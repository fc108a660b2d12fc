"""Shapes of uniform bodies, from which mass center, moment of inertia and outline follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import ModelError, counted
from ..expressions.recorded import atan2, hypot
from ..numerics.arrays import Floats
from . import polygon
from .frame import Number

Point = tuple[Number, ...]
Place = tuple[float, float]


class Inertia(NamedTuple):
    """What a shape determines: moment of inertia about the mass center; pose and points, if it is drawn in place."""

    inertia: float
    pose: tuple[float, float, float] | None = None
    points: dict[str, tuple[float, float, float]] = {}


FIELDS = {"start": "point", "end": "point", "through": "named points", "corners": "corners"}
"""What the fields of shapes hold; all others are numbers."""

EXAMPLE = "{'A': (0, 0), 'B': (1, 0), 'C': (0, 1)}"


@dataclass(frozen=True)
class Bar:
    """A uniform slender bar between two global points; its axis points from start to end."""

    word: ClassVar[str] = "bar"
    start: Point
    end: Point

    @property
    def point_names(self) -> tuple[str, ...]:
        return "start", "end"

    def size(self, start: Place, end: Place) -> float:
        """Its length, m."""
        return hypot(end[0] - start[0], end[1] - start[1])

    def inertia(self, mass: float, start: Place, end: Place) -> Inertia:
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = hypot(dx, dy)
        if length == 0.0:
            raise ModelError(f"start and end are the same point {[*start]}; a bar needs a length.")
        pose = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, atan2(dy, dx))
        points = {"start": (-length / 2, 0.0, 0.0), "end": (length / 2, 0.0, 0.0)}
        return Inertia(mass * length**2 / 12, pose, points)


@dataclass(frozen=True)
class LinkShape:
    """A uniform link through any number of named global points; its axis points from the first to the second.

    It is the plate whose corners are the outermost points; where all lie on one line, a slender bar between the ends.
    """

    word: ClassVar[str] = "link"
    through: Mapping[str, Point]

    def __post_init__(self) -> None:
        object.__setattr__(self, "through", _kept(self.through))

    @property
    def point_names(self) -> tuple[str, ...]:
        return tuple(self.through) if isinstance(self.through, Mapping) else ()

    def size(self, through: dict[str, Place]) -> float:
        """Its area, m^2; its length, m, if it is slender."""
        corners = self._corners(through)
        return polygon.area(corners) if len(corners) > 2 else _length(corners)

    def inertia(self, mass: float, through: dict[str, Place]) -> Inertia:
        (first, a), (second, b) = self._first_two(through)
        corners = self._corners(through)
        dx, dy = b[0] - a[0], b[1] - a[1]
        if hypot(dx, dy) <= polygon.FLAT * float(np.ptp(corners, axis=0).max(initial=0.0)):
            raise ModelError(
                f"its first two points, {first} and {second}, are both at {[*a]}, but its axis points from one to the "
                "other. List two different points first."
            )
        slender = len(corners) < 3
        center = corners.mean(axis=0) if slender else polygon.centroid(corners)
        radius2 = _length(corners) ** 2 / 12 if slender else polygon.gyration2(corners)
        angle = atan2(dy, dx)
        c, s = np.cos(angle), np.sin(angle)
        local = (np.array(list(through.values())) - center) @ np.array([(c, -s), (s, c)])
        points = {name: (float(x), float(y), 0.0) for name, (x, y) in zip(through, local, strict=True)}
        return Inertia(mass * radius2, (float(center[0]), float(center[1]), angle), points)

    @staticmethod
    def _first_two(through: dict[str, Place]) -> list[tuple[str, Place]]:
        if len(through) < 2:
            raise ModelError(f"it goes through {counted(len(through), 'point')}; give at least 2.")
        return list(through.items())[:2]

    @staticmethod
    def _corners(through: dict[str, Place]) -> Floats:
        points = np.array(list(through.values()), dtype=float).reshape(-1, 2)
        return (
            polygon.hull(points, polygon.FLAT * float(np.ptp(points, axis=0).max()))
            if len(points)
            else points
        )


@dataclass(frozen=True)
class Plate:
    """A uniform plate with global corners, listed in order around it and named if joints sit on them.

    Its axes are parallel to the global ones as drawn.
    """

    word: ClassVar[str] = "plate"
    corners: Mapping[str, Point] | Sequence[Point]

    def __post_init__(self) -> None:
        kept: Any = _kept(self.corners)
        if isinstance(kept, tuple) and len(kept) > 3 and kept[0] == kept[-1]:  # closed, as some draw it
            kept = kept[:-1]
        object.__setattr__(self, "corners", kept)

    @property
    def point_names(self) -> tuple[str, ...]:
        return tuple(self.corners) if isinstance(self.corners, Mapping) else ()

    def size(self, corners: dict[str, Place]) -> float:
        """Its area, m^2."""
        return polygon.area(_array(corners)) if corners else 0.0

    def inertia(self, mass: float, corners: dict[str, Place]) -> Inertia:
        places = _array(corners)
        polygon.check_polygon(places, list(corners))
        x, y = polygon.centroid(places).tolist()
        named = self.point_names
        points = {name: (corners[name][0] - x, corners[name][1] - y, 0.0) for name in named}
        return Inertia(mass * polygon.gyration2(places), (x, y, 0.0), points)

    def outline(self, corners: dict[str, Place]) -> Floats:
        """The corners in body axes."""
        return _array(corners) - polygon.centroid(_array(corners))


@dataclass(frozen=True)
class Disk:
    """A uniform disk about its center."""

    word: ClassVar[str] = "disk"
    point_names: ClassVar[tuple[str, ...]] = ()
    radius: Number

    def size(self, radius: float) -> float:
        """Its area, m^2."""
        return pi * radius**2

    def inertia(self, mass: float, radius: float) -> Inertia:
        if radius <= 0.0:
            raise ModelError(f"radius = {radius:g} must be positive.")
        return Inertia(mass * radius**2 / 2)


@dataclass(frozen=True)
class Block:
    """A uniform rectangle about its center, `width` along the body's x axis."""

    word: ClassVar[str] = "block"
    point_names: ClassVar[tuple[str, ...]] = ()
    width: Number
    height: Number

    def size(self, width: float, height: float) -> float:
        """Its area, m^2."""
        return width * height

    def inertia(self, mass: float, width: float, height: float) -> Inertia:
        if width <= 0.0 or height <= 0.0:
            raise ModelError(f"width = {width:g} and height = {height:g} must be positive.")
        return Inertia(mass * (width**2 + height**2) / 12)

    def outline(self, width: float, height: float) -> Floats:
        """The corners in body axes."""
        return np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * (width / 2, height / 2)


Shape = Bar | LinkShape | Plate | Disk | Block
SHAPES: dict[str, type[Any]] = {shape.word: shape for shape in (Bar, LinkShape, Plate, Disk, Block)}


def _kept(places: Any) -> Any:
    """Places as they are stored; what is none is answered when the model is checked."""
    if isinstance(places, Mapping):
        return {name: _kept(place) for name, place in places.items()}
    return tuple(map(_kept, places)) if isinstance(places, list | tuple | np.ndarray) else places


def _array(corners: dict[str, Place]) -> Floats:
    return np.array(list(corners.values()), dtype=float).reshape(-1, 2)


def _length(ends: Floats) -> float:
    return float(np.hypot(*(ends[-1] - ends[0]))) if len(ends) else 0.0
