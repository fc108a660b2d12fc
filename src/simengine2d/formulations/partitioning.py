from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..methods import Formulation
from . import partition


@dataclass(frozen=True)
class Partitioning(Formulation):
    """Coordinate partitioning: independent coordinates are integrated, the others solved from the constraints.

        Phi(q_i, q_d, t) = 0,      Phi_d qd_d = nu - Phi_i qd_i,      R^T M R qdd_i = R^T (QA - M s)

    Every evaluation solves the positions by Newton's method, so that all stages satisfy all constraints. The
    independent coordinates are chosen anew after each step.

    Wehage & Haug, Journal of Mechanical Design 104 (1982) 247-255.
    """

    name: ClassVar[str] = "partitioning"
    poses: ClassVar[str] = "ode"
    rhs = partition.by_positions
    finish = partition.settle
    projects: ClassVar[bool] = True
