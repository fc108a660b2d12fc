from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..elements import Equations, Joint, Row
from ..formula import VELOCITY, Formula, check_linear_in_rates, weighted_sum
from ..measure import Measure


class Constraint(Joint):
    """Your own equations: each formula of channels, measures, parameters and t is held at zero.

    `rod.B.y - 0.1*sin(3*rod.B.x)` is a rail. A formula that reads a velocity, such as
    `skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)`, must be linear in the velocities and constrains no position.
    In Python it may also be a SymPy expression with symbols named like channels, or a function
    `lambda rod: rod.B.y - rod.x`.

    Phi = g(u, t) = 0, or g(u, ud, t) = 0
    """

    equations: Equations

    def rows(self) -> Iterator[Row]:
        several = len(self.equations) > 1
        for i, formula in enumerate(self.equations):
            yield _row(f"g{i + 1}" if several else "g", formula, self.title)


def _row(label: str, formula: Formula, title: str) -> Row:
    """A weighted sum is an ordinary row; everything else is evaluated as a formula."""
    linear = weighted_sum(formula) if formula.level != VELOCITY else None
    if not formula.measures or (linear is not None and not linear.measure.terms):
        raise ModelError(
            f"{title}: '{formula.text}' does not involve any body. Name a channel such as crank.x or crank.A.y."
        )
    if linear is not None:
        return Row(label, linear.measure, linear.value)
    if formula.level == VELOCITY:
        check_linear_in_rates(formula)
    return Row(label, Measure(tuple(m.terms[0] for m in formula.measures)), formula=formula)
