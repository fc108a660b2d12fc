from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.arrays import Floats
from .implicit_runge_kutta import EMBEDDED, ImplicitRungeKutta

_D, _W = 1.0 - np.sqrt(2.0) / 2.0, np.sqrt(2.0) / 4.0


@dataclass(frozen=True)
class TRBDF2(ImplicitRungeKutta):
    """The trapezoidal rule up to 0.586 h, then BDF 2: order 2 with error control.

    For stiff problems at loose tolerances.

    Hosea & Shampine, Applied Numerical Mathematics 20 (1996) 21-37.
    """

    name: ClassVar[str] = "tr_bdf2"
    order: ClassVar[int] = 2
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.05
    power: ClassVar[float] = 1.5
    A: ClassVar[Floats] = np.array([[0.0, 0.0, 0.0], [_D, _D, 0.0], [_W, _W, _D]])
    b: ClassVar[Floats] = np.array([_W, _W, _D])
    c: ClassVar[Floats] = np.array([0.0, 2.0 * _D, 1.0])
    # difference to the weights of order 3, ((1 - w)/3, w + 1/3, d/3)
    E: ClassVar[Floats | None] = np.array([_W - (1.0 - _W) / 3.0, -1.0 / 3.0, 2.0 * _D / 3.0])
    estimate: ClassVar[int] = EMBEDDED
