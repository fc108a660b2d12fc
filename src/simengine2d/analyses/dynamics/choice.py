"""The coordinates of a run for which none are named: those in which it is quickest, and survives.

Joint coordinates of a spanning tree need neither the rows nor the multipliers of its joints; only loops have both. An
evaluation then costs a quarter to a half of one in reference-point coordinates. These are chosen where a tree cannot
help, and where rounding would be larger in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...coordinates.base import canonical
from ...coordinates.relative.relative import Relative
from ...errors import counted
from ...formulations.projection import Projection
from ...integrators.runge_kutta import RungeKutta
from ...methods import Formulation, Integrator
from ...numerics.collector import collector_waits
from ...system.system import System
from ...system.workspace import once_per_system
from .idle_families import take_family
from .initial_state import start

# a body, of rows that share their paths to the ground: more cost more than the rows of all joints
MOST_PRODUCTS = 80
REFERENCE_POINT, AS_ASKED = "reference_point", "as asked for"


class Choice(NamedTuple):
    coordinates: str
    why: str


def choice(
    system: System,
    t: float,
    named: str | Mapping[str, Any] | None,
    method: Integrator | None,
    posed: Formulation,
    atol: Any,
) -> Choice:
    """The coordinates that are named; where none are, those that suit the model and the methods.

    Methods that are named keep to the textbook's equations, those of reference points.
    """
    if named is not None:
        return Choice(canonical(named), AS_ASKED)
    if not isinstance(posed, Projection):
        return Choice(REFERENCE_POINT, f"those of the formulation {posed.name}")
    if not (isinstance(method, RungeKutta) and method.adaptive):
        assert method is not None
        return Choice(REFERENCE_POINT, f"those of the integrator {method.name}")
    if np.ndim(atol) > 0:
        return Choice(REFERENCE_POINT, "to which the tolerances belong")
    return quickest(system, t)


@once_per_system
def quickest(system: System, t: float) -> Choice:
    """The coordinates in which an evaluation costs least and keeps its digits."""
    with collector_waits(len(system.bodies)):
        return _quickest(system, t)


def _quickest(system: System, t: float) -> Choice:
    at = start(system, t)
    if not at.regular and any(row.formula is not None for _, row in system.rows):
        # such a row may hold in every pose of the tree; nothing that it could push on is then left in it
        return Choice(REFERENCE_POINT, "since some constraints are redundant, and formulas among them")
    family = take_family(system, Relative.name, Projection(), at)
    assert isinstance(family, Relative)
    if family.n == 0 or all(branch.joint is None for branch in family.branches):
        return Choice(REFERENCE_POINT, "since no joint lets a body move, or carries one")
    if not family.has_few_products(MOST_PRODUCTS * len(system.bodies)):
        return Choice(REFERENCE_POINT, "since loops share long paths")
    if not family.is_recursive:
        return Choice(REFERENCE_POINT, "since masses or lengths are very unequal")
    system.idle.give((Relative.name, t), family)  # to the run that asked
    loops = f", {counted(family.m, 'row')} that close loops" if family.m else ", no loops"
    bodies = counted(len(system.bodies), "body", "bodies")
    return Choice(Relative.name, f"a tree of {bodies}{loops}")
