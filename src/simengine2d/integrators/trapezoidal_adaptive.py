from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import Floats
from .implicit_runge_kutta import DIFFERENCES, ImplicitRungeKutta
from .trapezoidal import Trapezoidal


@dataclass(frozen=True)
class TrapezoidalAdaptive(ImplicitRungeKutta):
    """The trapezoidal rule with error control, for moderately stiff problems that must not be damped.

    The error is h^3 y''' / 12, with y''' from the slopes at the ends of the last two steps.

    Shampine, Reichelt & Kierzenka, SIAM Review 41 (1999) 538-552.
    """

    name: ClassVar[str] = "trapezoidal_adaptive"
    order: ClassVar[int] = 2
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.05
    power: ClassVar[float] = 1.5
    A: ClassVar[Floats] = Trapezoidal.A
    b: ClassVar[Floats] = Trapezoidal.b
    c: ClassVar[Floats] = Trapezoidal.c
    E: ClassVar[Floats | None] = np.array([-1 / 2, 1 / 2])  # in the first step: difference to Euler's method
    estimate: ClassVar[int] = DIFFERENCES
