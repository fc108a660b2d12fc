from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import Floats
from .implicit_runge_kutta import ImplicitRungeKutta

_R = np.sqrt(6.0)
_LAST = [(16 - _R) / 36, (16 + _R) / 36, 1 / 9]


@dataclass(frozen=True)
class RadauIIA(ImplicitRungeKutta):
    """Collocation at three points: order 5, in fixed steps, for stiff problems that need accuracy.

    Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), table IV.5.6.
    """

    name: ClassVar[str] = "radau_iia"
    order: ClassVar[int] = 5
    solves: ClassVar[tuple[str, ...]] = ("ode", "dae")
    A: ClassVar[Floats] = np.array(
        [
            [(88 - 7 * _R) / 360, (296 - 169 * _R) / 1800, (-2 + 3 * _R) / 225],
            [(296 + 169 * _R) / 1800, (88 + 7 * _R) / 360, (-2 - 3 * _R) / 225],
            _LAST,
        ]
    )
    b: ClassVar[Floats] = np.array(_LAST)
    c: ClassVar[Floats] = np.array([(4 - _R) / 10, (4 + _R) / 10, 1.0])
