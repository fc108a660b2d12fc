from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .runge_kutta import RungeKutta, Tableau


@dataclass(frozen=True)
class ForwardEuler(RungeKutta):
    """y1 = y + h f(t, y): the simplest method, of order 1, in fixed steps. For teaching, not for computing.

    Euler, Institutiones calculi integralis I (1768), section 650.
    """

    name: ClassVar[str] = "forward_euler"
    order: ClassVar[int] = 1
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array([[0.0, 0.0], [1.0, 0.0]]),
        C=np.array([0.0, 1.0]),
        E=np.zeros((2, 1)),
        P=np.array([[1.0], [0.0]]),
        stages=1,
        order=0,
        stability=2.0,
    )
