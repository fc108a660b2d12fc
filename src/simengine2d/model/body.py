"""Bodies: mass, pose, named points, shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

from ..answer import Answer, Part, Rows
from ..errors import ModelError, unknown
from .frame import Frame, Number, Side
from .shape import Point, Shape

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


class BodyOptions(TypedDict, total=False):
    """What a body with a shape may be given besides its mass."""

    inertia: Number | None
    at: Point | None
    angle: Number | None
    velocity: Point | None
    angular_velocity: Number | None
    points: Mapping[str, Point] | None
    density: Number | None


@dataclass(repr=False)
class Body(Answer, Side):
    """A rigid body as written. Its frame is at the mass center.

    A `density` instead of a mass is that of its shape: per length of a bar or a straight link, else per area.
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
    density: Number | None = None
    look: dict[str, Any] = field(default_factory=dict)
    """How to draw it; stored with the model, never read by an analysis."""

    def _parts(self) -> Iterator[Part]:
        yield f"body '{self.name}'"
        shown = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("name", "points", "look")
        }
        yield Rows(["", "as written"], [[name, str(v)] for name, v in shown.items() if v is not None], 2)
        if self.point_names:
            yield f"points: {', '.join(self.point_names)}"

    @property
    def frame(self) -> Frame:
        return Frame(self.name)

    @property
    def point_names(self) -> list[str]:
        return [*self.points, *(() if self.shape is None else self.shape.point_names)]

    def __getitem__(self, point: str) -> Frame:
        """The frame at a named point: `crank["A"]`."""
        if point not in self.point_names:
            hint = unknown("point", point, self.point_names)
            raise ModelError(f"body '{self.name}' has no point '{point}'. {hint}")
        return Frame(self.name, point)

    def at(self, x: Number, y: Number, angle: Number = 0.0) -> Frame:
        """The frame at a position given in body axes."""
        return Frame(self.name, place=(x, y, angle))


def given_velocities(body: Any) -> tuple[Any, Any, Any]:
    """Those of a body, as written or in numbers, that the user gave; None for the others."""
    vx, vy = body.velocity if body.velocity is not None else (None, None)
    return vx, vy, body.angular_velocity
