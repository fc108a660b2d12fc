from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..coordinates.ode_problem import OdeFormulation
from ..errors import ModelError
from ..numerics.arrays import Floats


@dataclass(frozen=True)
class Penalty(OdeFormulation):
    """Constraints as stiff oscillators: lam = alpha (Phidd + 2 xi omega Phid + omega^2 Phi).

        (M + alpha Phi_q^T Phi_q) qdd = QA - alpha Phi_q^T (-gamma + 2 xi omega (Phi_q qd - nu) + omega^2 Phi)

    By default alpha is `factor` times the effective mass of each constraint at the start: one over the diagonal of
    Phi_q M^-1 Phi_q^T, or more where a light body carries a heavy one. Then the accelerations of the constraints are
    wrong by about 1 / factor, in any units. A given `alpha`, in kg for pins, applies to all constraints.

    It is solved with the multipliers as unknowns, which loses fewer digits and suits any alpha:

        [ M       Phi_q^T  ] [ qdd ]   [ QA                                                      ]
        [ Phi_q  -1/alpha  ] [ lam ] = [ gamma - 2 xi omega (Phi_q qd - nu) - omega^2 Phi        ]

    The constraints are violated by about lam / (alpha omega^2). Redundant constraints share their load evenly.

    Bayo, Garcia de Jalon & Serna, Computer Methods in Applied Mechanics and Engineering 71 (1988) 183-195.
    """

    name: ClassVar[str] = "penalty"
    nonholonomic: ClassVar[bool] = True
    gives_way: ClassVar[bool] = True
    alpha: float | None = None
    xi: float = 1.0
    omega: float = 10.0
    factor: float = 1e7

    def __post_init__(self) -> None:
        alpha = 1.0 if self.alpha is None else self.alpha
        if not (alpha > 0.0 and self.xi >= 0.0 and self.omega >= 0.0 and self.factor > 0.0):
            raise ModelError(
                "penalty needs alpha > 0, xi >= 0, omega >= 0 and factor > 0, not "
                f"alpha = {self.alpha}, xi = {self.xi}, omega = {self.omega}, factor = {self.factor}."
            )

    @property
    def stabilization(self) -> tuple[float, float]:
        return 2.0 * self.xi * self.omega, self.omega**2

    def compliances(self, given: Floats) -> Floats:
        return given / self.factor if self.alpha is None else np.full(given.size, 1.0 / self.alpha)
