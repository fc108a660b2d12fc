from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..methods import AlphaMethod


@dataclass(frozen=True)
class Newmark(AlphaMethod):
    """Newmark's method on the index-3 equations, the method of the ME451 course.

    First order with gamma > 1/2, which damps the spurious oscillations of the multipliers; second order, without
    damping, at gamma = 1/2.

    Newmark, Journal of Engineering Mechanics 85 (1959) 67-94.
    """

    name: ClassVar[str] = "newmark"
    order: ClassVar[int] = 1
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
