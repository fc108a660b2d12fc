from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ...expressions.syntax import Name
from ..elements import Components, Energy, ForceElement, MeasureForce
from ..formula import VELOCITY, Formula
from ..measure import Measure


class Force(ForceElement):
    """Your own forces, as formulas of channels, measures, their rates, parameters and t.

    `along` gives them by channel or measure: `{"rod.phi": ...}` is a torque, `{"rod.B.x": ..., "rod.B.y": ...}` a force
    at a point, `{"distance(a.P, b.Q)": ...}` pushes two points apart. A `potential` energy V gives the force -V_q.

    Q = sum_k F_k(u, ud, t) s_k,q - V_q
    """

    along: Components | None = None
    potential: Energy | None = None

    def loads(self) -> Iterator[MeasureForce]:
        if self.along is None and self.potential is None:
            raise ModelError(f"{self.title} needs forces along some channels, or a potential energy.")
        for direction, formula in (self.along or {}).values():
            yield MeasureForce(_measure(direction, self.title), formula.function, formula)
        if self.potential is not None:
            _check_potential(self.potential, self.title)
            for j, measure in enumerate(self.potential.measures):
                yield MeasureForce(measure, self.potential.function, self.potential, by=j)


def _measure(direction: Formula, title: str) -> Measure:
    """The channel or measure that a force acts along."""
    bare = len(direction.measures) == 1 and isinstance(direction.tree, Name)
    if not bare or direction.level == VELOCITY:
        raise ModelError(
            f"{title} acts along '{direction.text}'; write one channel or measure, such as rod.phi or rod.B.x."
        )
    return direction.measures[0]


def _check_potential(potential: Formula, title: str) -> None:
    """An energy depends on measures, not on velocities."""
    if potential.level == VELOCITY:
        raise ModelError(
            f"{title}: the potential '{potential.text}' depends on a velocity. Give forces along channels instead."
        )
    if not potential.measures:
        raise ModelError(
            f"{title}: the potential '{potential.text}' does not involve any body. Name a channel such as rod.B.y."
        )
