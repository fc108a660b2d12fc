from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..methods import AlphaMethod


@dataclass(frozen=True)
class GeneralizedAlpha(AlphaMethod):
    """Chung and Hulbert's method: second order; rho is the spectral radius at high frequencies, from 0 to 1.

    alpha_m = (2 rho - 1) / (rho + 1), alpha_f = rho / (rho + 1),
    gamma = 1/2 + alpha_f - alpha_m, beta = (1/2 + gamma)^2 / 4

    Chung & Hulbert, Journal of Applied Mechanics 60 (1993) 371-375.
    """

    name: ClassVar[str] = "generalized_alpha"
    order: ClassVar[int] = 2
    rho: float = 0.8

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho <= 1.0:
            raise ModelError(f"generalized_alpha needs rho from 0 to 1, not {self.rho}.")

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        alpha_m, alpha_f = (2.0 * self.rho - 1.0) / (self.rho + 1.0), self.rho / (self.rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        return alpha_m, alpha_f, (0.5 + gamma) ** 2 / 4.0, gamma
