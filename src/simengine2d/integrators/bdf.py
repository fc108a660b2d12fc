from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..methods import ImplicitMethod
from ..numerics.arrays import Floats
from .implicit_runge_kutta import ImplicitTableau, RadauIIA, bound_step, tableau_of
from .integration import StartedIntegration, equal_rules, path_of
from .ode_method import OdeMethod, OdeTask, Stability, largest_roots

# y_n+1 = alpha_0 y_n + alpha_1 y_n-1 + ... + h beta f_n+1
ALPHA: dict[int, Floats] = {
    1: np.array([1.0]),
    2: np.array([4.0, -1.0]) / 3.0,
    3: np.array([18.0, -9.0, 2.0]) / 11.0,
    4: np.array([48.0, -36.0, 16.0, -3.0]) / 25.0,
    5: np.array([300.0, -300.0, 200.0, -75.0, 12.0]) / 137.0,
}
BETA: dict[int, float] = {1: 1.0, 2: 2.0 / 3.0, 3: 6.0 / 11.0, 4: 12.0 / 25.0, 5: 60.0 / 137.0}


class _SameAsK:
    """The order of a BDF method is its number of steps; the class reports that of its default."""

    def __get__(self, method: BDF | None, cls: type[BDF]) -> int:
        return 2 if method is None else method.k


@dataclass(frozen=True)
class BDF(ImplicitMethod, OdeMethod):
    """Backward differentiation with k steps, 1 to 5, of order k, in equal steps; for stiff problems.

    The first k - 1 steps are those of Radau IIA, of order 5.

    Curtiss & Hirschfelder, Proceedings of the National Academy of Sciences 38 (1952) 235-243.
    """

    name: ClassVar[str] = "bdf"
    order: ClassVar[int] = _SameAsK()  # type: ignore[assignment]
    solves: ClassVar[tuple[str, ...]] = ("ode", "dae")
    k: int = 2

    def __post_init__(self) -> None:
        if self.k not in ALPHA:
            raise ModelError(f"bdf needs k from 1 to 5, not {self.k!r}.")

    @property
    def alpha(self) -> Floats:
        """Weights of the last k states, the newest first."""
        return ALPHA[self.k]

    @property
    def beta(self) -> float:
        """Weight of h f at the end of the step."""
        return BETA[self.k]

    @property
    def tableau(self) -> ImplicitTableau:
        """One implicit stage on a base of earlier states."""
        one = np.array([self.beta])
        return tableau_of(one[:, None], one, np.ones(1))._replace(base=self.alpha.copy())

    def stability(self, z: Any) -> Stability:
        """The largest root of (1 - beta z) r^k = alpha_0 r^(k-1) + ... + alpha_(k-1)"""
        z = np.asarray(z, dtype=complex)
        return largest_roots([1.0 - self.beta * z, *(np.full_like(z, -a) for a in self.alpha)])

    def started(self, problem: OdeTask) -> StartedIntegration:
        """Radau steps, then BDF steps."""
        path, rules = path_of(problem, 2, max(1, self.k - 1), 1e-13), equal_rules(problem, False, 1)
        attempt, derivatives = bound_step(problem, self.tableau, path, False)
        starter, starting = bound_step(problem, RadauIIA().tableau, path, False)
        derivatives |= {f"starting_{name}": array for name, array in starting.items()}
        return StartedIntegration(problem, path, rules, attempt, starter, self.k - 1, derivatives)
