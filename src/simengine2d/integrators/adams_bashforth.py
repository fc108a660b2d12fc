from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .adams import Adams


@dataclass(frozen=True)
class AdamsBashforth(Adams):
    """Four steps, explicit: order 4 for one evaluation a step, in equal steps.

    Bashforth & Adams, An Attempt to Test the Theories of Capillary Action (1883), chapter III.
    """

    name: ClassVar[str] = "adams_bashforth"
    moulton: ClassVar[NDArray[np.float64]] = np.zeros(0)
