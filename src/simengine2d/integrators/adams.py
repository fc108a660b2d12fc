"""Adams methods of orders 1 to 8 in equal steps, started by a Runge-Kutta method of at least their order less one.

The slopes of k steps are interpolated by a polynomial, which is integrated over the next step. Of order 4:

y*  = y + h (55 f_n - 59 f_n-1 + 37 f_n-2 - 9 f_n-3) / 24          Adams-Bashforth
y1  = y + h (9 f(t1, y*) + 19 f_n - 5 f_n-1 + f_n-2) / 24          Adams-Moulton
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import ModelError
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import invoke, kernel_pointer
from . import loop_state
from .dop853 import DOP853
from .dormand_prince import DormandPrince
from .integration import StartedIntegration, equal_rules, path_of
from .loop_state import Path, past_row
from .ode_method import OdeMethod, OdeTask, Stability, largest_roots
from .runge_kutta import RK4, ExplicitStep, RungeKutta, try_explicit_step

HIGHEST = 8
MOST_CORRECTIONS = 100


@cache
def bashforth(k: int) -> Floats:
    """Weights of f_n, f_n-1, ...: the nodes are 0, -1, ..., 1 - k."""
    return _weights([-j for j in range(k)])


@cache
def moulton(k: int) -> Floats:
    """Weights of f_n+1, f_n, ...: the nodes are 1, 0, ..., 2 - k."""
    return _weights([1 - j for j in range(k)])


def _weights(nodes: list[int]) -> Floats:
    """The integrals from 0 to 1 of the polynomials that are 1 at one node and 0 at the others."""
    weights = []
    for node in nodes:
        coefficients = [Fraction(1)]  # of 1, x, x^2, ...
        for other in nodes:
            if other != node:  # times (x - other) / (node - other)
                above, below = [Fraction(0), *coefficients], [*coefficients, Fraction(0)]
                coefficients = [(a - other * b) / (node - other) for a, b in zip(above, below, strict=True)]
        weights.append(float(sum(c / (power + 1) for power, c in enumerate(coefficients))))
    return np.array(weights)


class AdamsStep(NamedTuple):
    """Context of `try_adams_step`."""

    f: Any
    c: Any
    bashforth: Floats
    moulton: Floats  # empty if the predicted state is the new one
    corrections: int
    p: Path


@kernel_pointer
def try_adams_step(s, t, state, new):
    """Predict, then evaluate and correct; the slope of the new state is evaluated at the beginning of the next step."""
    # predict
    p, h = s.p, state[loop_state.TRIED]
    predicted = p.trial if s.moulton.size > 0 else new
    for k in range(new.size):
        predicted[k] = p.y[k] + h * s.bashforth[0] * p.K[0, k]
    for j in range(1, s.bashforth.size):
        row = past_row(p, j)
        for k in range(new.size):
            predicted[k] += h * s.bashforth[j] * p.past_slopes[row, k]
    if s.moulton.size == 0:
        return
    # evaluate and correct
    slope = p.K[1]
    for correction in range(s.corrections):
        if correction > 0:
            for k in range(new.size):
                predicted[k] = new[k]
        invoke(s.f, s.c, t + h, predicted, slope)
        state[loop_state.EVALUATIONS] += 1.0
        for k in range(new.size):
            new[k] = p.y[k] + h * s.moulton[0] * slope[k]
            if s.moulton.size > 1:
                new[k] = p.y[k] + h * (s.moulton[0] * slope[k] + s.moulton[1] * p.K[0, k])
        for j in range(2, s.moulton.size):
            row = past_row(p, j - 1)
            for k in range(new.size):
                new[k] += h * s.moulton[j] * p.past_slopes[row, k]


class _SameAsSteps:
    """The order of an Adams method is its k; the class reports that of its default."""

    def __get__(self, method: Adams | None, cls: type[Adams]) -> int:
        return 4 if method is None else method.k


@dataclass(frozen=True)
class Adams(OdeMethod, abstract=True):
    """A method of order k that uses slopes of k - 1 earlier steps."""

    order: ClassVar[int] = _SameAsSteps()  # type: ignore[assignment]
    k: int = 4

    def __post_init__(self) -> None:
        if self.k not in range(1, HIGHEST + 1):
            raise ModelError(f"{self.name} needs k from 1 to {HIGHEST}, not {self.k!r}.")

    @property
    def bashforth(self) -> Floats:
        """Weights of the slopes of the prediction, the newest first."""
        return bashforth(self.k)

    @property
    def moulton(self) -> Floats:
        """Weights of the slopes of the correction, that of the new state first; empty without one."""
        return np.zeros(0)

    @property
    def most_corrections(self) -> int:
        return 0

    @property
    def starter(self) -> RungeKutta:
        """The method of the first k - 1 steps: its order, at least k - 1, does not spoil that of the others."""
        return RK4() if self.k < 5 else DormandPrince() if self.k < 7 else DOP853()

    def started(self, problem: OdeTask) -> StartedIntegration:
        T = self.starter.tableau
        path = path_of(problem, T.C.size, max(1, self.k - 1))
        f, c = problem.f.f, problem.f.c
        step = AdamsStep(f, c, self.bashforth, self.moulton, self.most_corrections, path)
        starter = try_explicit_step.bind(ExplicitStep.of(f, c, T, path))
        rules = equal_rules(problem, True, T.stages)
        return StartedIntegration(problem, path, rules, try_adams_step.bind(step), starter, self.k - 1)

    def stability(self, z: Any) -> Stability:
        """The largest root of r^k = r^(k-1) + z (the formulas of the step on r^(k-1), ..., r, 1)"""
        z = np.asarray(z, dtype=complex)
        # y1 = sum_j w_j r^(k-1-j), with y itself in the first term
        one = [1.0 + z * self.bashforth[0], *(z * b for b in self.bashforth[1:])]
        known = np.append(self.moulton[1:], 0.0)
        for _ in range(self.most_corrections):
            one = [z * (m + self.moulton[0] * w) for m, w in zip(known, one, strict=True)]
            one[0] = one[0] + 1.0
        return largest_roots([np.ones_like(z), *(-w for w in one)])


@dataclass(frozen=True)
class AdamsBashforth(Adams):
    """Explicit, of order k = 1 to 8 for one evaluation a step, in equal steps; 4 by default.

    Bashforth & Adams, An Attempt to Test the Theories of Capillary Action (1883), chapter III.
    """

    name: ClassVar[str] = "adams_bashforth"


@dataclass(frozen=True)
class AdamsBashforthMoulton(Adams):
    """Adams-Bashforth predicts, Adams-Moulton corrects: P(EC)^m E with m = `corrections`, both of order k = 1 to 8.

    With one correction (PECE) a step takes two evaluations. More of them converge to the implicit formula, where
    h times the slope of f is small enough.

    Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993), section III.1.
    """

    name: ClassVar[str] = "adams_bashforth_moulton"
    corrections: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.corrections not in range(1, MOST_CORRECTIONS + 1):
            raise ModelError(
                f"{self.name} needs 1 to {MOST_CORRECTIONS} corrections, not {self.corrections!r}."
            )

    @property
    def moulton(self) -> Floats:
        return moulton(self.k)

    @property
    def most_corrections(self) -> int:
        return self.corrections
