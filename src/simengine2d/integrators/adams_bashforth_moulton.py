from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .adams import MOULTON, Adams


@dataclass(frozen=True)
class AdamsBashforthMoulton(Adams):
    """Adams-Bashforth predicts, Adams-Moulton corrects: order 4 for two evaluations a step, in equal steps.

    Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993), section III.1.
    """

    name: ClassVar[str] = "adams_bashforth_moulton"
    moulton: ClassVar[NDArray[np.float64]] = MOULTON
