from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from ...errors import UnsupportedError, numbered
from ...numerics.arrays import Floats
from ...system.system import System
from ..base import refuse_unknown
from .orientations import counted_turns, held_directions, welded_angles
from .point_family import PointFamily


class Natural(PointFamily):
    """Points that bodies share at their pins, and a unit vector for a body that has only one of them.

    The mass matrix is constant. Points and vectors give directions but do not count turns: that is enough to hold or
    drive an angle, or a sum of angles with integer weights, as in a 1 : 2 gear. A force on an angle, or a row of an
    angle and a length, is refused. Turns of the results are counted from step to step.
    """

    name: ClassVar[str] = "natural"

    def __init__(
        self, system: System, q: Floats, chosen: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        super().__init__(system, q, chosen)
        self.directions = held_directions(system)
        refuse_counted_turns(system, self.directions)
        self.lay_out(q)


def refuse_counted_turns(system: System, directions: Collection[int]) -> None:
    """Points and vectors give a direction, not the number of turns of a body."""
    problems = {
        name: f"{system.model.elements[name].title} {what}, and natural coordinates do not count the turns of "
        f"{' and '.join(dict.fromkeys(bodies))}; use coordinates='mixed'."
        for name, what, bodies in counted_turns(system, directions)
    }
    if problems:
        raise UnsupportedError(numbered(list(problems.values())))


class Mixed(PointFamily):
    """Natural coordinates with the angles and distances that drivers, springs and gears need, and no others.

    An angle alpha is tied to the base vector of its body by D_x = L cos alpha, or where this is flat by
    D_y = L sin alpha; a distance s to the points that it parts by d . d = s^2.
    """

    name: ClassVar[str] = "mixed"
    choices: ClassVar[tuple[str, ...]] = ("angles", *PointFamily.choices)
    """Bodies whose angles are coordinates though nothing needs them; points and vectors."""

    def __init__(
        self, system: System, q: Floats, chosen: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        super().__init__(system, q, chosen)
        self.directions = welded_angles(system)
        angles = {body for use in counted_turns(system, self.directions) for body in use.bodies}
        angles |= set(refuse_unknown(self, "angles", [body.name for body in system.bodies], "body"))
        self.lay_out(q, angles, held_distances(system))


def held_distances(system: System) -> list[int]:
    """The rows that hold one distance: of a driver, of an absolute or relative constraint."""
    rows = []
    for i, (_, row) in enumerate(system.rows):
        term, *others = row.measure.terms
        if not others and term.kind == "distance" and term.weight == 1.0 and row.formula is None:
            rows.append(i)
    return rows
