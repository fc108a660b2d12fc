"""Newmark's method and those that weight its accelerations; their formulas are those of `AlphaMethod`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..methods import AlphaMethod


class _OrderOfNewmark:
    """2 at gamma = 1/2, else 1; the class reports that of its default."""

    def __get__(self, method: Newmark | None, cls: type[Newmark]) -> int:
        return 2 if method is not None and method.gamma == 0.5 else 1


@dataclass(frozen=True)
class Newmark(AlphaMethod):
    """Newmark's method on the index-3 equations, the method of the ME451 course.

    First order with gamma > 1/2, which damps the spurious oscillations of the multipliers; second order, without
    damping, at gamma = 1/2.

    Newmark, Journal of Engineering Mechanics 85 (1959) 67-94.
    """

    name: ClassVar[str] = "newmark"
    order: ClassVar[int] = _OrderOfNewmark()  # type: ignore[assignment]
    beta: float = 0.3025
    gamma: float = 0.6

    def __post_init__(self) -> None:
        if not (self.beta > 0.0 and self.gamma >= 0.5):
            raise ModelError(
                f"newmark needs beta > 0 and gamma >= 1/2, not beta = {self.beta}, gamma = {self.gamma}."
            )

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        return 0.0, 0.0, self.beta, self.gamma


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
