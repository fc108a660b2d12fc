from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .stage_iteration import StagedFormulation


@dataclass(frozen=True)
class Index3(StagedFormulation):
    """The constraints themselves beside the discretized equations of motion.

    M zdd + Phi_z^T lam = Q,      Phi(z, t) = 0

    Without an integrator, models of more than 60 coordinates are integrated by Radau IIA with error control: its stages
    solve the same equations with Phi_q qdd = gamma, and the constraints of positions and velocities hold at the ends of
    its steps.
    With `projection`, states are brought back onto Phi = 0 and Phi_z zd = nu after each step.
    """

    name: ClassVar[str] = "index3"
    projection: bool = False
