"""Velocity and acceleration polygons of a pose: the vectors of named points from one pole.

Two points of a body differ by what its rotation adds, with r from A to B:

    v_B - v_A = w k x r,      a_B - a_A = -w^2 r + alpha k x r

the normal and the tangential part. So the points of a body form an image of it in either polygon, turned and scaled.
Points of two bodies at the same place, such as a pin in a slot, differ by the sliding velocity, and in acceleration
also by Coriolis' 2 w k x v_rel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...answer import Answer, Part, PlottedAnswer, Rows
from ...errors import ModelError, unknown
from ...expressions.unit_system import SI, ShownUnit, UnitSystem
from ...model.elements import Pair
from ...model.frame import GROUND, Frame, PlacedFrame, as_frame
from ...model.joints.revolute import Revolute
from ...model.measure import Measure, x, y
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class PolygonPoint(Answer):
    """A named point: where it is, its vector, and the bodies that it belongs to."""

    name: str
    place: Floats
    vector: Floats
    bodies: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}: ({self.vector[0]:.5g}, {self.vector[1]:.5g}), size {self.size:.5g}"

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.vector))


@dataclass(frozen=True, repr=False)
class VectorPolygon(PlottedAnswer):
    """Velocities or accelerations of points at one time: `polygon["B"]`, and `polygon["B/A"]` relative to A."""

    kind: str
    unit: str
    t: float
    points: dict[str, PolygonPoint]
    rotation: dict[str, tuple[float, float]]
    """Angular velocity and acceleration of each body."""
    units: UnitSystem = SI
    """In which vectors are shown."""

    def __getitem__(self, name: str) -> Floats:
        point, _, other = name.partition("/")
        vector = self._point(point).vector
        return vector - self._point(other).vector if other else vector

    def size(self, name: str) -> float:
        """The length of a vector, by the name of its point or of two: "B/A"."""
        return float(np.linalg.norm(self[name]))

    def parts(self, name: str) -> tuple[Floats, Floats]:
        """The normal and the tangential part of the acceleration "B/A" of two points of one body."""
        b, _, a = name.partition("/")
        one, other = self._point(b), self._point(a)
        common = [body for body in one.bodies if body in other.bodies]
        if not common or self.kind != "acceleration":
            what = (
                f"'{a}' and '{b}' are not points of one body"
                if not common
                else "velocities have no such parts"
            )
            raise ModelError(f"parts('{name}'): {what}.")
        w, alpha = self.rotation[common[0]]
        r = one.place - other.place
        return -w * w * r, alpha * np.array([-r[1], r[0]])

    def _point(self, name: str) -> PolygonPoint:
        if name not in self.points:
            raise ModelError(f"the polygon has no point '{name}'. {unknown('point', name, self.points)}")
        return self.points[name]

    @property
    def shown_unit(self) -> ShownUnit:
        return self.units.shown(self.unit)

    def rows(self) -> list[list[str]]:
        """The table: each point, its components, its size and its direction."""
        rows = []
        for point in self.points.values():
            angle = np.degrees(np.arctan2(point.vector[1], point.vector[0])) if point.size else 0.0
            numbers = map(self.shown_unit.of, (*point.vector, point.size))
            rows.append([point.name, *(f"{number:.5g}" for number in numbers), f"{angle:.4g}°"])
        return rows

    def __str__(self) -> str:
        names = ", ".join(self.points)
        shown = names if len(names) <= 30 else f"{names[:27]}..."
        return f"{self.kind} polygon at t = {self.t:.4g} s: {shown}"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        unit = self.shown_unit.name
        heads = ["point", f"x {unit}", f"y {unit}", f"size {unit}", "direction"]
        yield Rows(heads, self.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The polygon to scale, with its pole o and the images of the bodies."""
        from ...draw.linkage_plane import plot_polygon

        return plot_polygon(self, ax)


def velocity_polygon(results: Results, t: float = 0.0, *, points: Sequence[str] = ()) -> VectorPolygon:
    """The velocities of all joints at the output nearest to t, and of more `points` such as "rod.P"."""
    return _polygon(results, t, points, "velocity", 1)


def acceleration_polygon(results: Results, t: float = 0.0, *, points: Sequence[str] = ()) -> VectorPolygon:
    """The accelerations of all joints at the output nearest to t, and of more `points` such as "rod.P"."""
    return _polygon(results, t, points, "acceleration", 2)


def _polygon(results: Results, t: float, more: Sequence[str], kind: str, order: int) -> VectorPolygon:
    from ...draw.scene import nearest_row

    i = nearest_row(results, t)
    here = results.at_rows(slice(i, i + 1))
    points = {}
    for name, frame, bodies in [*_joints(results), *_named(results, more)]:
        parts = [here.measure(_placed(measure, frame)) for measure in (x, y)]
        place, vector = (np.array([part[k][0] for part in parts]) for k in (0, order))
        points[name] = PolygonPoint(name, place, vector, bodies)
    rotation = {
        body: (float(here[f"{body}.phid"][0]), float(here[f"{body}.phidd"][0])) for body in here.bodies
    }
    unit = "m/s" if kind == "velocity" else "m/s²"
    rotation[GROUND] = 0.0, 0.0
    return VectorPolygon(kind, unit, float(here.t[0]), points, rotation, units_of(results.model))


def _placed(measure: object, frame: PlacedFrame) -> Measure:
    origin = PlacedFrame(GROUND, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return measure(origin, frame)  # type: ignore[operator, no-any-return]


def _joints(results: Results) -> Iterator[tuple[str, PlacedFrame, tuple[str, ...]]]:
    """A pin is one point of both bodies; of other joints, side b."""
    for name, element in results.resolved.elements.items():
        if isinstance(element, Revolute):
            side = element.a if element.a.body == GROUND else element.b
            yield name, side, (element.a.body, element.b.body)  # type: ignore[misc]
        elif isinstance(element, Pair):
            moving = element.b if element.b.body != GROUND else element.a
            yield name, moving, (moving.body,)  # type: ignore[misc]


def _named(results: Results, points: Sequence[str]) -> Iterator[tuple[str, PlacedFrame, tuple[str, ...]]]:
    if isinstance(points, str):
        raise ModelError(f"points = {points!r}: give a list of points, such as ['rod.P'].")
    for name in points:
        frame: Frame = as_frame(name)
        results.model.find_body(frame.body)
        yield name, results.resolved.frame(frame), (frame.body,)
