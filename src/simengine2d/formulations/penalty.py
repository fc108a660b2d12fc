from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..methods import Formulation
from . import dense


@dataclass(frozen=True)
class Penalty(Formulation):
    """Constraints as stiff oscillators: lam = alpha (Phidd + 2 xi omega Phid + omega^2 Phi).

        (M + alpha Phi_q^T Phi_q) qdd = QA - alpha Phi_q^T (-gamma + 2 xi omega (Phi_q qd - nu) + omega^2 Phi)

    It is solved with the multipliers kept, which rounding hurts less and any alpha suits:

        [ M       Phi_q^T  ] [ qdd ]   [ QA                                                      ]
        [ Phi_q  -1/alpha  ] [ lam ] = [ gamma - 2 xi omega (Phi_q qd - nu) - omega^2 Phi        ]

    The constraints are violated by about lam / (alpha omega^2). Redundant constraints share their load evenly.

    Bayo, Garcia de Jalon & Serna, Computer Methods in Applied Mechanics and Engineering 71 (1988) 183-195.
    """

    name: ClassVar[str] = "penalty"
    poses: ClassVar[str] = "ode"
    nonholonomic: ClassVar[bool] = True
    rhs = dense.accelerations
    finish = dense.watch
    alpha: float = 1e7
    xi: float = 1.0
    omega: float = 10.0

    def __post_init__(self) -> None:
        if not (self.alpha > 0.0 and self.xi >= 0.0 and self.omega >= 0.0):
            raise ModelError(
                "penalty needs alpha > 0, xi >= 0 and omega >= 0, not "
                f"alpha = {self.alpha}, xi = {self.xi}, omega = {self.omega}."
            )

    @property
    def stabilization(self) -> tuple[float, float]:
        return 2.0 * self.xi * self.omega, self.omega**2

    @property
    def compliance(self) -> float:
        return 1.0 / self.alpha
