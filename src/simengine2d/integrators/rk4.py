from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .runge_kutta import RungeKutta, Tableau


@dataclass(frozen=True)
class RK4(RungeKutta):
    """The classical method of order 4, in fixed steps.

    Kutta, Zeitschrift fuer Mathematik und Physik 46 (1901) 435-453.
    """

    name: ClassVar[str] = "rk4"
    order: ClassVar[int] = 4
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array(
            [
                [0.0, 0.0, 0.0, 0.0, 0.0],
                [1 / 2, 0.0, 0.0, 0.0, 0.0],
                [0.0, 1 / 2, 0.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [1 / 6, 1 / 3, 1 / 3, 1 / 6, 0.0],
            ]
        ),
        C=np.array([0.0, 1 / 2, 1 / 2, 1.0, 1.0]),
        E=np.zeros((2, 4)),
        # cubic, of order 3; Hairer, Norsett & Wanner I, section II.6
        P=np.array(
            [[1.0, -3 / 2, 2 / 3], [0.0, 1.0, -2 / 3], [0.0, 1.0, -2 / 3], [0.0, -1 / 2, 2 / 3], [0, 0, 0]]
        ),
        stages=4,
        order=0,
        stability=2.78,
    )
