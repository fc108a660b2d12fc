from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .ode_method import Stability
from .radau_iia import RadauIIA
from .scipy_methods import ScipyMethod


@dataclass(frozen=True)
class RadauAdaptive(ScipyMethod):
    """Radau IIA of order 5 with error control, for stiff problems at tight tolerances.

    Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), section IV.8; SciPy's Radau.
    """

    name: ClassVar[str] = "radau_adaptive"
    order: ClassVar[int] = 5
    solver: ClassVar[str] = "Radau"

    def stability(self, z: Any) -> Stability:
        return RadauIIA().stability(z)
