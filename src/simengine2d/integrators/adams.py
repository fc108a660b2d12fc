"""Adams methods of order 4 in equal steps, started by RK4.

y*  = y + h (55 f_n - 59 f_n-1 + 37 f_n-2 - 9 f_n-3) / 24          Adams-Bashforth
y1  = y + h (9 f(t1, y*) + 19 f_n - 5 f_n-1 + f_n-2) / 24          Adams-Moulton
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import invoke, kernel_pointer
from . import loop_state
from .integration import StartedIntegration, equal_rules, path_of
from .loop_state import Path, past_row
from .ode_method import OdeMethod, OdeTask, Stability, largest_roots
from .runge_kutta import RK4, ExplicitStep, try_explicit_step

BASHFORTH = np.array([55.0, -59.0, 37.0, -9.0]) / 24.0
MOULTON = np.array([9.0, 19.0, -5.0, 1.0]) / 24.0
FIRST_STEPS = BASHFORTH.size - 1


class AdamsStep(NamedTuple):
    """Context of `try_adams_step`."""

    f: Any
    c: Any
    bashforth: Floats
    moulton: Floats  # empty if the predicted state is the new one
    p: Path


@kernel_pointer
def try_adams_step(s, t, state, new):
    """Predict, evaluate, correct; the slope of the new state is evaluated at the beginning of the next step."""
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
    invoke(s.f, s.c, t + h, predicted, slope)
    state[loop_state.EVALUATIONS] += 1.0
    for k in range(new.size):
        new[k] = p.y[k] + h * (s.moulton[0] * slope[k] + s.moulton[1] * p.K[0, k])
    for j in range(2, s.moulton.size):
        row = past_row(p, j - 1)
        for k in range(new.size):
            new[k] += h * s.moulton[j] * p.past_slopes[row, k]


@dataclass(frozen=True)
class Adams(OdeMethod, abstract=True):
    """A method that uses slopes of earlier steps."""

    order: ClassVar[int] = 4
    moulton: ClassVar[Floats]

    def started(self, problem: OdeTask) -> StartedIntegration:
        T = RK4.tableau
        path = path_of(problem, T.C.size, FIRST_STEPS)
        f, c = problem.f.f, problem.f.c
        adams = try_adams_step.bind(AdamsStep(f, c, BASHFORTH, self.moulton, path))
        starter = try_explicit_step.bind(ExplicitStep(f, c, T, path))
        rules = equal_rules(problem, True, T.stages)
        return StartedIntegration(problem, path, rules, adams, starter, FIRST_STEPS)

    def stability(self, z: Any) -> Stability:
        """The largest root of r^4 = r^3 + z (the formulas of the step on r^3, r^2, r, 1)"""
        z = np.asarray(z, dtype=complex)
        weights = [z * b for b in BASHFORTH]
        if self.moulton.size > 0:
            known = np.append(self.moulton[1:], 0.0)
            weights = [z * (m + self.moulton[0] * w) for m, w in zip(known, weights, strict=True)]
            weights[0] = weights[0] + z * self.moulton[0]
        return largest_roots([np.ones_like(z), -1.0 - weights[0], *(-w for w in weights[1:])])


@dataclass(frozen=True)
class AdamsBashforth(Adams):
    """Four steps, explicit: order 4 for one evaluation a step, in equal steps.

    Bashforth & Adams, An Attempt to Test the Theories of Capillary Action (1883), chapter III.
    """

    name: ClassVar[str] = "adams_bashforth"
    moulton: ClassVar[Floats] = np.zeros(0)


@dataclass(frozen=True)
class AdamsBashforthMoulton(Adams):
    """Adams-Bashforth predicts, Adams-Moulton corrects: order 4 for two evaluations a step, in equal steps.

    Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993), section III.1.
    """

    name: ClassVar[str] = "adams_bashforth_moulton"
    moulton: ClassVar[Floats] = MOULTON
