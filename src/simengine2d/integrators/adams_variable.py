from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .scipy_methods import ScipyMethod


@dataclass(frozen=True)
class AdamsVariable(ScipyMethod):
    """Adams methods of order 1 to 12, for smooth problems at tight tolerances; BDF methods where they turn stiff.

    Petzold, SIAM Journal on Scientific and Statistical Computing 4 (1983) 136-148; SciPy's LSODA.
    """

    name: ClassVar[str] = "adams_variable"
    order: ClassVar[int] = 12
    share: ClassVar[float] = 0.005
    solver: ClassVar[str] = "LSODA"
    variable_order: ClassVar[bool] = True
