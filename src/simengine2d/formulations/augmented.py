from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..coordinates.ode_problem import OdeFormulation
from ..errors import ModelError


@dataclass(frozen=True)
class Augmented(OdeFormulation):
    """Index 1 with Baumgarte's stabilization; with alpha = beta = 0 the constraints drift.

        [ M      Phi_q^T ] [ qdd ]   [ QA                                              ]
        [ Phi_q     0    ] [ lam ] = [ gamma - 2 alpha (Phi_q qd - nu) - beta^2 Phi    ]

    Baumgarte, Computer Methods in Applied Mechanics and Engineering 1 (1972) 1-16.
    """

    name: ClassVar[str] = "augmented"
    nonholonomic: ClassVar[bool] = True
    alpha: float = 5.0
    beta: float = 5.0

    def __post_init__(self) -> None:
        if not (self.alpha >= 0.0 and self.beta >= 0.0):
            raise ModelError(
                f"augmented needs alpha >= 0 and beta >= 0, not alpha = {self.alpha}, beta = {self.beta}."
            )

    @property
    def stabilization(self) -> tuple[float, float]:
        return 2.0 * self.alpha, self.beta**2
