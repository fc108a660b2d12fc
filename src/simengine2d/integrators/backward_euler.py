from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import Floats
from .implicit_runge_kutta import ImplicitRungeKutta


@dataclass(frozen=True)
class BackwardEuler(ImplicitRungeKutta):
    """y1 = y + h f(t1, y1): order 1, in fixed steps; strongly damped, and stable for every stiff problem.

    Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), section IV.3.
    """

    name: ClassVar[str] = "backward_euler"
    order: ClassVar[int] = 1
    solves: ClassVar[tuple[str, ...]] = ("ode", "dae")
    A: ClassVar[Floats] = np.array([[1.0]])
    b: ClassVar[Floats] = np.array([1.0])
    c: ClassVar[Floats] = np.array([1.0])
