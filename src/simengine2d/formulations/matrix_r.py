from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..methods import Formulation
from . import partition


@dataclass(frozen=True)
class MatrixR(Formulation):
    """Velocity transformation to independent coordinates z: qd = R zd + s, and no multipliers in the equations.

        R^T M R zdd = R^T (QA - M s'),      qdd = R zdd + s'

    The columns of R are the motions in which one independent velocity is 1 and the others 0. All positions are
    integrated, and those of the dependent coordinates are put right after each step. Then the independent ones are
    chosen anew, so that no dependent coordinate comes to move much faster than they do.

    Garcia de Jalon & Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), section 5.2.3.
    """

    name: ClassVar[str] = "matrix_r"
    poses: ClassVar[str] = "ode"
    rhs = partition.by_velocities
    finish = partition.settle
    projects: ClassVar[bool] = True
