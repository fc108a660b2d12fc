from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import Floats
from .implicit_runge_kutta import ImplicitRungeKutta


@dataclass(frozen=True)
class Trapezoidal(ImplicitRungeKutta):
    """y1 = y + h (f(t, y) + f(t1, y1)) / 2: order 2, in fixed steps; without damping.

    Crank & Nicolson, Mathematical Proceedings of the Cambridge Philosophical Society 43 (1947) 50-67.
    """

    name: ClassVar[str] = "trapezoidal"
    order: ClassVar[int] = 2
    A: ClassVar[Floats] = np.array([[0.0, 0.0], [1 / 2, 1 / 2]])
    b: ClassVar[Floats] = np.array([1 / 2, 1 / 2])
    c: ClassVar[Floats] = np.array([0.0, 1.0])
