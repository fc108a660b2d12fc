from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial

from ..numerics.arrays import Floats
from ._dop853_coefficients import DENSE, E3, E5, STAGES, A, B, C
from .runge_kutta import RungeKutta, Tableau


def _dense() -> Floats:
    """Hairer's nested form of the dense output, multiplied out.

    y(x) = y + x (F0 + (1 - x) (F1 + x (F2 + (1 - x) (F3 + ...)))), each F a sum of stages.
    """
    stages = C.size
    first, last, b = np.eye(stages)[0], np.eye(stages)[STAGES], np.zeros(stages)
    b[: B.size] = B
    rows = [b, first - b, 2.0 * b - last - first, *DENSE]
    x, basis = Polynomial([0.0, 1.0]), Polynomial([1.0])
    out = np.zeros((stages, len(rows)))
    for i, row in enumerate(rows):
        basis = basis * (x if i % 2 == 0 else 1.0 - x)
        out[:, : basis.coef.size - 1] += np.outer(row, basis.coef[1:])
    return out


@dataclass(frozen=True)
class DOP853(RungeKutta):
    """Order 8 with error estimates of order 5 and 3, and dense output of order 7, by Dormand and Prince.

    Explicit, for smooth problems, above all at tight tolerances; not for stiff ones.

    Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993).
    """

    name: ClassVar[str] = "dop853"
    order: ClassVar[int] = 8
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.05
    tableau: ClassVar[Tableau] = Tableau(A, C, np.array([E5[:STAGES], E3[:STAGES]]), _dense(), STAGES, 8, 6.1)
