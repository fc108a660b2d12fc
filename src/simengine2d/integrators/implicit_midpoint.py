from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import Floats
from .implicit_runge_kutta import ImplicitRungeKutta


@dataclass(frozen=True)
class ImplicitMidpoint(ImplicitRungeKutta):
    """y1 = y + h f(t + h/2, (y + y1)/2): order 2, in fixed steps; symplectic, so it preserves quadratic invariants.

    Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd edition (2006), section II.1.
    """

    name: ClassVar[str] = "implicit_midpoint"
    order: ClassVar[int] = 2
    A: ClassVar[Floats] = np.array([[1 / 2]])
    b: ClassVar[Floats] = np.array([1.0])
    c: ClassVar[Floats] = np.array([1 / 2])
