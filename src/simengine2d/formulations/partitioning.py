from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..coordinates.base import Family
from ..coordinates.equations import Configuration
from ..coordinates.ode_problem import OdeFormulation, OdeProblem
from .partition import by_positions, new_partition, settle


@dataclass(frozen=True)
class Partitioning(OdeFormulation):
    """Coordinate partitioning: independent coordinates are integrated, the others solved from the constraints.

        Phi(q_i, q_d, t) = 0,      Phi_d qd_d = nu - Phi_i qd_i,      R^T M R qdd_i = R^T (QA - M s)

    Every evaluation solves the positions by Newton's method, so that all stages satisfy all constraints. The
    independent coordinates are chosen again after each step.

    Wehage & Haug, Journal of Mechanical Design 104 (1982) 247-255.
    """

    name: ClassVar[str] = "partitioning"
    projects: ClassVar[bool] = True

    def problem(self, family: Family, at: Configuration) -> OdeProblem:
        c = new_partition(family, at)
        rhs, memory = by_positions.bind(c), {"order": c.order, "rank": c.rank}
        return OdeProblem.of(family, rhs, settle.bind_like(rhs), tolerance=c.tolerance, memory=memory)
