from __future__ import annotations

from typing import ClassVar

from ..errors import UnsupportedError, numbered
from ..system import System
from .orientations import counted_turns
from .point_family import Floats, PointFamily


class Natural(PointFamily):
    """Points that bodies share at their pins, and a unit vector for a body that has one of them only.

    The mass matrix is constant. Turns are not counted: elements that need an angle are refused.
    """

    name: ClassVar[str] = "natural"

    def __init__(self, system: System, q: Floats) -> None:
        super().__init__(system, q)
        refuse_counted_turns(system)
        self.lay_out(q, angles=(), distances=())


def refuse_counted_turns(system: System) -> None:
    """Points and vectors know a direction, not how often a body has turned."""
    problems = {
        name: f"{system.model.elements[name].title} {what}, and natural coordinates do not count the turns of "
        f"{' and '.join(dict.fromkeys(bodies))}; use coordinates='mixed'."
        for name, what, bodies in counted_turns(system)
    }
    if problems:
        raise UnsupportedError(numbered(list(problems.values())))
