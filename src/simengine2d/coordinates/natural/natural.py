from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from ...errors import UnsupportedError, numbered
from ...numerics.arrays import Floats
from ...system.system import System
from .orientations import counted_turns, held_directions
from .point_family import PointFamily


class Natural(PointFamily):
    """Points that bodies share at their pins, and a unit vector for a body that has only one of them.

    The mass matrix is constant. Points and vectors give directions but do not count turns: that is enough to hold or
    drive an angle, or a sum of angles with integer weights, as in a 1 : 2 gear. A force on an angle, or a row of an
    angle and a length, is refused. Turns of the results are counted from step to step.
    """

    name: ClassVar[str] = "natural"

    def __init__(self, system: System, q: Floats) -> None:
        super().__init__(system, q)
        self.directions = held_directions(system)
        refuse_counted_turns(system, self.directions)
        self.lay_out(q, angles=(), distances=())


def refuse_counted_turns(system: System, directions: Collection[int]) -> None:
    """Points and vectors give a direction, not the number of turns of a body."""
    problems = {
        name: f"{system.model.elements[name].title} {what}, and natural coordinates do not count the turns of "
        f"{' and '.join(dict.fromkeys(bodies))}; use coordinates='mixed'."
        for name, what, bodies in counted_turns(system, directions)
    }
    if problems:
        raise UnsupportedError(numbered(list(problems.values())))
