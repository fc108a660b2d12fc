"""Losses rho(z) of squared residuals z = (r/c)^2: which data count how much.

    minimize  sum c^2 rho((r/c)^2)        psi(r) = r rho'(z)        psi'(r) = rho'(z) + 2 z rho''(z)

`linear` is least squares; the others give way to outliers. The constants c make them as good as least squares but
for 5 % where the noise is normal.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ...errors import ModelError, unknown
from ...numerics.arrays import Floats

LossName: TypeAlias = Literal["linear", "huber", "soft_l1", "cauchy"]
CONSTANTS: dict[str, float] = {"linear": 1.0, "huber": 1.345, "soft_l1": 1.287, "cauchy": 2.385}


def constant_of(loss: str) -> float:
    if loss not in CONSTANTS:
        raise ModelError(
            f"there is no loss '{loss}'. {unknown('loss', str(loss), CONSTANTS, plural='losses')}"
        )
    return CONSTANTS[loss]


def psi(loss: str, r: Floats) -> tuple[Floats, Floats]:
    """psi and psi' of residuals in standard deviations."""
    z = (r / CONSTANTS[loss]) ** 2
    first, second = _derivatives(loss, z)
    return r * first, first + 2.0 * z * second


def _derivatives(loss: str, z: Floats) -> tuple[Floats, Floats]:
    """rho' and rho''."""
    if loss == "huber":
        outside = np.maximum(z, 1.0)
        return outside**-0.5, np.where(z > 1.0, -0.5 * outside**-1.5, 0.0)
    if loss == "soft_l1":
        return (1.0 + z) ** -0.5, -0.5 * (1.0 + z) ** -1.5
    if loss == "cauchy":
        return 1.0 / (1.0 + z), -1.0 / (1.0 + z) ** 2
    return np.ones_like(z), np.zeros_like(z)
