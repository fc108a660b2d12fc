from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .runge_kutta import RungeKutta, Tableau

# fmt: off
_A = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
_E = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
# dense output of order 4; Shampine, Mathematics of Computation 46 (1986) 135-150
_P = [
    [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
    [0.0, 0.0, 0.0, 0.0],
    [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
    [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
    [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
    [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
    [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
]
# fmt: on


@dataclass(frozen=True)
class DormandPrince(RungeKutta):
    """Order 5 with an error estimate of order 4: the first choice for a smooth problem at a moderate tolerance.

    Dormand & Prince, Journal of Computational and Applied Mathematics 6 (1980) 19-26.
    """

    name: ClassVar[str] = "dormand_prince"
    order: ClassVar[int] = 5
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.02
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array([row + [0.0] * (7 - len(row)) for row in _A]),
        C=np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]),
        E=np.array([_E, [0.0] * 7]),
        P=np.array(_P),
        stages=6,
        order=5,
        stability=3.3,
    )
