from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..coordinates.base import Family
from ..coordinates.equations import Configuration, projection
from ..coordinates.ode_problem import OdeFormulation, OdeProblem


@dataclass(frozen=True)
class Projection(OdeFormulation):
    """Index 1, with positions and velocities projected onto the constraints after each step.

        [ M      Phi_q^T ] [ qdd ]   [ QA    ]
        [ Phi_q     0    ] [ lam ] = [ gamma ]

    Eich, SIAM Journal on Numerical Analysis 30 (1993) 1467-1482.
    """

    name: ClassVar[str] = "projection"
    nonholonomic: ClassVar[bool] = True
    projects: ClassVar[bool] = True

    def problem(self, family: Family, at: Configuration) -> OdeProblem:
        equations, tolerance = family.equations_of_motion(self, at), np.zeros(1)
        return OdeProblem.of(
            family,
            equations.accelerate,
            projection(equations, tolerance, family),
            tolerance=tolerance,
            multipliers=equations.multipliers,
            bodies=equations.bodies,
            several=equations.several(tolerance),
        )
