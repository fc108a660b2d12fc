from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from ...errors import UnsupportedError, numbered
from ...system.system import System
from .orientations import counted_turns, held_directions
from .point_family import Floats, PointFamily


class Natural(PointFamily):
    """Points that bodies share at their pins, and a unit vector for a body that has one of them only.

    The mass matrix is constant. Points and vectors hold directions and no turns: what holds or drives an angle is
    content with that, or a sum of angles with whole weights as in a gear of 1 : 2. What pushes on an angle, or holds
    one beside a length, is refused. Turns of the results are counted from step to step.
    """

    name: ClassVar[str] = "natural"

    def __init__(self, system: System, q: Floats) -> None:
        super().__init__(system, q)
        self.directions = held_directions(system)
        refuse_counted_turns(system, self.directions)
        self.lay_out(q, angles=(), distances=())


def refuse_counted_turns(system: System, directions: Collection[int]) -> None:
    """Points and vectors know a direction, not how often a body has turned."""
    problems = {
        name: f"{system.model.elements[name].title} {what}, and natural coordinates do not count the turns of "
        f"{' and '.join(dict.fromkeys(bodies))}; use coordinates='mixed'."
        for name, what, bodies in counted_turns(system, directions)
    }
    if problems:
        raise UnsupportedError(numbered(list(problems.values())))
