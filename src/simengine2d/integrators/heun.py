from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .runge_kutta import RungeKutta, Tableau


@dataclass(frozen=True)
class Heun(RungeKutta):
    """The trapezoidal rule with an Euler step to predict the end: order 2, in fixed steps.

    Heun, Zeitschrift fuer Mathematik und Physik 45 (1900) 23-38.
    """

    name: ClassVar[str] = "heun"
    order: ClassVar[int] = 2
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1 / 2, 1 / 2, 0.0]]),
        C=np.array([0.0, 1.0, 1.0]),
        E=np.zeros((2, 2)),
        # the parabola through y with both slopes
        P=np.array([[1.0, -1 / 2], [0.0, 1 / 2], [0.0, 0.0]]),
        stages=2,
        order=0,
        stability=2.0,
    )
