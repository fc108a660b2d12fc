from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .scipy_methods import ScipyMethod


@dataclass(frozen=True)
class BDFVariable(ScipyMethod):
    """BDF methods of order 1 to 5 for stiff problems, at moderate tolerances.

    Shampine & Reichelt, SIAM Journal on Scientific Computing 18 (1997) 1-22; SciPy's BDF.
    """

    name: ClassVar[str] = "bdf_variable"
    order: ClassVar[int] = 5
    share: ClassVar[float] = 0.002
    solver: ClassVar[str] = "BDF"
    variable_order: ClassVar[bool] = True
