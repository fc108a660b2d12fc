from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..coordinates import dense
from ..methods import Formulation


@dataclass(frozen=True)
class Projection(Formulation):
    """Index 1, with positions and velocities brought back onto the constraints after each step.

        [ M      Phi_q^T ] [ qdd ]   [ QA    ]
        [ Phi_q     0    ] [ lam ] = [ gamma ]

    Eich, SIAM Journal on Numerical Analysis 30 (1993) 1467-1482.
    """

    name: ClassVar[str] = "projection"
    poses: ClassVar[str] = "ode"
    nonholonomic: ClassVar[bool] = True
    rhs = dense.accelerations
    finish = dense.project
    projects: ClassVar[bool] = True
