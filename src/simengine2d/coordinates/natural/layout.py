"""Which points, vectors, angles and distances describe a system, and where each is in z."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ...model.frame import PlacedFrame
from ...system.system import System
from .orientations import needs_direction
from .points import SharedPoint, shared_points
from .rigid_elements import RigidElement, rigid_element


class WantedCoordinates(NamedTuple):
    """What is to be among the coordinates beyond the pins."""

    angles: Collection[str] = ()
    """Bodies whose angles are."""
    distances: Collection[int] = ()
    """Rows whose distances are."""
    points: Mapping[str, PlacedFrame] = {}
    vectors: Collection[str] = ()
    """Bodies that have a unit vector, even if two points would do."""


class CoordinateLayout:
    """The coordinates of a system, and the rows that tie them together.

    Coordinates: shared points in the order of the joints, points that were chosen, points and unit vectors of single
    bodies, then the angles and the distances that are wanted. Fixed points come after the end of z.
    """

    def __init__(self, system: System, wanted: WantedCoordinates) -> None:
        self.system = system
        self.names: list[str] = []
        self.sizes: list[float] = []
        self.own_rows: list[str] = []
        points, satisfied = shared_points(system, wanted.points)
        self.remaining_rows = [i for i in range(system.m) if i not in satisfied]
        self.elements = [
            _element(system, body.name, points, satisfied, body.name in wanted.vectors)
            for body in system.bodies
        ]
        self._number_points(points)
        self.vector = {
            e.body: self._coordinates(1.0, f"{e.body}.ux", f"{e.body}.uy")
            for e in self.elements
            if e.has_vector
        }
        self.angle = {
            e.body: self._coordinates(1.0, f"{e.body}.phi") for e in self.elements if e.body in wanted.angles
        }
        self.distance = {
            row: self._coordinates(system.length, f"{system.rows[row][0]}.s") for row in wanted.distances
        }
        self._number_fixed(points)
        self._number_rows()

    def tip(self, e: RigidElement) -> int | None:
        """Place of the second point or of the unit vector of an element."""
        return self.point[e.tip] if e.tip is not None else self.vector.get(e.body)

    def _number_points(self, points: list[SharedPoint]) -> None:
        self.point: dict[SharedPoint, int] = {}
        own = [e.origin for e in self.elements if e.origin not in points]
        for point in (p for p in points + own if p.fixed is None):
            self.point[point] = self._coordinates(self.system.length, f"{point.name}.x", f"{point.name}.y")

    def _number_fixed(self, points: list[SharedPoint]) -> None:
        self.fixed: list[float] = []
        for point in points:
            if point.fixed is not None:
                self.point[point] = len(self.names) + len(self.fixed)
                self.fixed += [point.fixed.real, point.fixed.imag]

    def _number_rows(self) -> None:
        self.length_row: dict[str, int] = {}
        self.point_row: dict[tuple[str, SharedPoint], int] = {}
        for e in self.elements:
            if e.turns and not e.is_fixed:
                self.length_row[e.body] = self._own(f"{e.body}.length")
            for p in e.further:
                here = p.name.removeprefix(f"{e.body}.") if p.name != e.body else "center"
                self.point_row[e.body, p] = self._own(f"{e.body}.{here}.x", f"{e.body}.{here}.y")
        self.angle_row = {body: self._own(f"{body}.angle") for body in self.angle}
        joint = {row: self.system.rows[row][0] for row in self.distance}
        self.distance_row = {row: self._own(f"{joint[row]}.distance") for row in self.distance}

    def _coordinates(self, size: float, *names: str) -> int:
        """Add coordinates; return the place of the first."""
        first = len(self.names)
        self.names += names
        self.sizes += [size] * len(names)
        return first

    def _own(self, *names: str) -> int:
        """Add rows; return the number of the first."""
        first = len(self.own_rows)
        self.own_rows += names
        return first


def _element(
    system: System, body: str, points: list[SharedPoint], satisfied: set[int], with_vector: bool
) -> RigidElement:
    here = [p for p in points if body in p.places]
    s = here[0].places[body] if here else 0.0j
    resolved = system.resolved.bodies[body]
    inertia = resolved.inertia + resolved.mass * abs(s) ** 2
    can_be_point = len(here) < 2 and inertia == 0.0 and not needs_direction(system, body, s, satisfied)
    return rigid_element(body, here, can_be_point and not with_vector, system.length, with_vector)
