from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .runge_kutta import RungeKutta, Tableau


@dataclass(frozen=True)
class BogackiShampine(RungeKutta):
    """Order 3 with an error estimate of order 2, for loose tolerances and motions that are not smooth.

    Bogacki & Shampine, Applied Mathematics Letters 2 (1989) 321-325.
    """

    name: ClassVar[str] = "bogacki_shampine"
    order: ClassVar[int] = 3
    adaptive: ClassVar[bool] = True
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array(
            [
                [0.0, 0.0, 0.0, 0.0],
                [1 / 2, 0.0, 0.0, 0.0],
                [0.0, 3 / 4, 0.0, 0.0],
                [2 / 9, 1 / 3, 4 / 9, 0.0],
            ]
        ),
        C=np.array([0.0, 1 / 2, 3 / 4, 1.0]),
        E=np.array([[-5 / 72, 1 / 12, 1 / 9, -1 / 8], [0.0, 0.0, 0.0, 0.0]]),
        # Hermite's cubic
        P=np.array([[1.0, -4 / 3, 5 / 9], [0.0, 1.0, -2 / 3], [0.0, 4 / 3, -8 / 9], [0.0, -1.0, 1.0]]),
        stages=3,
        order=3,
        stability=2.5,
    )
