from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from .runge_kutta import RungeKutta, Tableau

# fmt: off
_A = [
    [],
    [0.161],
    [-0.008480655492356989, 0.335480655492357],
    [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
    [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
    [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383],
    [0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774],
]
_C = [0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0]
_E = [
    0.00178001105222577714, 0.0008164344596567469, -0.007880878010261995, 0.1447110071732629,
    -0.5823571654525552, 0.45808210592918697, -1 / 66,
]
# fmt: on


def _dense() -> NDArray[np.float64]:
    """The polynomials b_j(x) of the dense output, of order 4, in Tsitouras' factors."""
    x = Polynomial([0.0, 1.0])
    polynomials = [
        -1.0530884977290216
        * x
        * (x - 1.3299890189751412)
        * (x**2 - 1.4364028541716351 * x + 0.7139816917074209),
        0.1017 * x**2 * (x**2 - 2.1966568338249754 * x + 1.2949852507374631),
        2.490627285651252793 * x**2 * (x**2 - 2.38535645472061657 * x + 1.57803468208092486),
        -16.54810288924490272 * (x - 1.21712927295533244) * (x - 0.61620406037800089) * x**2,
        47.37952196281928122 * (x - 1.203071208372362603) * (x - 0.658047292653547382) * x**2,
        -34.87065786149660974 * (x - 1.2) * (x - 0.666666666666666667) * x**2,
        2.5 * (x - 1.0) * (x - 0.6) * x**2,
    ]
    return np.array([p.coef[1:5] for p in polynomials])


@dataclass(frozen=True)
class Tsitouras5(RungeKutta):
    """Order 5 with an error estimate of order 4, for loose tolerances.

    Tsitouras, Computers and Mathematics with Applications 62 (2011) 770-775.
    """

    name: ClassVar[str] = "tsitouras5"
    order: ClassVar[int] = 5
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.03
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array([row + [0.0] * (7 - len(row)) for row in _A]),
        C=np.array(_C),
        E=np.array([_E, [0.0] * 7]),
        P=_dense(),
        stages=6,
        order=5,
        stability=3.5,
    )
