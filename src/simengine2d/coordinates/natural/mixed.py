from __future__ import annotations

from typing import ClassVar

from ...numerics.arrays import Floats
from ...system.system import System
from .orientations import counted_turns, welded_angles
from .point_family import PointFamily


class Mixed(PointFamily):
    """Natural coordinates with the angles and distances that drivers, springs and gears need, and no others.

    An angle alpha is tied to the base vector of its body by D_x = L cos alpha, or where this is flat by
    D_y = L sin alpha; a distance s to the points that it parts by d . d = s^2.
    """

    name: ClassVar[str] = "mixed"

    def __init__(self, system: System, q: Floats) -> None:
        super().__init__(system, q)
        self.directions = welded_angles(system)
        angles = {body for use in counted_turns(system, self.directions) for body in use.bodies}
        self.lay_out(q, angles, held_distances(system))


def held_distances(system: System) -> list[int]:
    """The rows that hold one distance: of a driver, of an absolute or relative constraint."""
    rows = []
    for i, (_, row) in enumerate(system.rows):
        term, *others = row.measure.terms
        if not others and term.kind == "distance" and term.weight == 1.0 and row.formula is None:
            rows.append(i)
    return rows
