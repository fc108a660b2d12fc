from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .stage_iteration import StagedFormulation


@dataclass(frozen=True)
class GGL(StagedFormulation):
    """Stabilized index 2: positions take a small correction, and the constraints hold at both levels.

        z' = zd + W Phi_z^T mu,      M zd' + Phi_z^T lam = Q,      Phi = 0,      Phi_z zd = nu

    W is the inverse of the diagonal of M; mu is of the size of the method's error. With e = W Phi_z^T mu, a stage has
    z = base + B a + C e and zd = base + C a.

    Gear, Leimkuhler & Gupta, Journal of Computational and Applied Mathematics 12-13 (1985) 77-90.
    """

    name: ClassVar[str] = "ggl"
    twice: ClassVar[bool] = True
    holds_velocities: ClassVar[bool] = True
