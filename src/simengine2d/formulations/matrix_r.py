from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..coordinates.base import Family
from ..coordinates.equations import Configuration
from ..coordinates.ode_problem import OdeFormulation, OdeProblem
from .partition import by_velocities, new_partition, settle


@dataclass(frozen=True)
class MatrixR(OdeFormulation):
    """Velocity transformation to independent coordinates z: qd = R zd + s, and no multipliers in the equations.

        R^T M R zdd = R^T (QA - M s'),      qdd = R zdd + s'

    The columns of R are the motions in which one independent velocity is 1 and the others 0. All positions are
    integrated, and those of the dependent coordinates are corrected after each step. Then the independent ones are
    chosen again, so that no dependent coordinate moves much faster than they do.

    Garcia de Jalon & Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), section 5.2.3.
    """

    name: ClassVar[str] = "matrix_r"
    projects: ClassVar[bool] = True

    def problem(self, family: Family, at: Configuration) -> OdeProblem:
        c = new_partition(family, at)
        rhs, memory = by_velocities.bind(c), {"order": c.order, "rank": c.rank}
        return OdeProblem.of(family, rhs, settle.bind_like(rhs), tolerance=c.tolerance, memory=memory)
