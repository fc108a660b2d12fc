from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..methods import AlphaMethod


@dataclass(frozen=True)
class HHT(AlphaMethod):
    """Hilber, Hughes and Taylor's method: second order, damping of high frequencies set by alpha in [-1/3, 0].

    alpha_f = -alpha, gamma = 1/2 - alpha, beta = (1 - alpha)^2 / 4

    Hilber, Hughes & Taylor, Earthquake Engineering & Structural Dynamics 5 (1977) 283-292.
    """

    name: ClassVar[str] = "hht"
    order: ClassVar[int] = 2
    alpha: float = -0.1

    def __post_init__(self) -> None:
        if not -1.0 / 3.0 <= self.alpha <= 0.0:
            raise ModelError(f"hht needs alpha from -1/3 to 0, not {self.alpha}.")

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        return 0.0, -self.alpha, (1.0 - self.alpha) ** 2 / 4.0, 0.5 - self.alpha
