"""Explicit Runge-Kutta methods: the formulas, for any tableau.

    Y_i = y + h sum_j a_ij K_j,      K_i = f(t + c_i h, Y_i),      y1 = y + h sum_j b_j K_j

Row s of the matrix A holds b, so the new state is "stage" s, and its slope K_s is the first of the next step. Stages
beyond s serve the dense output y(t + x h) = y + h sum_j K_j (P_j0 x + P_j1 x^2 + ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..numerics.lanes import LANES, lane_zeros, lanes_in
from . import loop_state
from .integration import CompiledIntegration, fixed_rules, path_of
from .loop_state import Path
from .ode_method import Integration, OdeMethod, OdeTask, Stability

COLLAPSED = 1e-2  # relative to the longest step
# of the stability limit: step control keeps stiff motions a little below it, and methods of high order well below
LONG, LONG_OF_HIGH_ORDER = 0.85, 0.42
# a step of high order that is refused costs many evaluations: those of orders above this one are cautious, as a share
# of what the error allows, and heed the error before
HIGH, SAFETY, SMOOTH = 6, 0.85, 0.4
FEW = 8  # components
STORED_STEPS = 256  # into which it is possible to look later
MOST_STORED = 4_000_000  # numbers in them


class Tableau(NamedTuple):
    """Coefficients of one method; the same type for all, so one compiled loop serves them all."""

    A: Floats  # (all stages, all stages)
    C: Floats
    E: Floats  # (2, s + 1): error of the method, and of one of lower order that makes the estimate cautious (or zero)
    P: Floats  # (all stages, degree)
    stages: int  # s
    order: int  # of the error estimate, plus one; 0 for methods without one
    stability: float  # largest h |lambda| on the negative real axis


@dataclass(frozen=True)
class RungeKutta(OdeMethod, abstract=True):
    """An explicit method, given by its `tableau`."""

    tableau: ClassVar[Tableau]

    def stability(self, z: Any) -> Stability:
        """R(z) = 1 + z b^T (1 + z A (1 + z A (...)))"""
        T, z = self.tableau, np.asarray(z, dtype=complex)
        stages = [np.ones_like(z)]
        for i in range(1, T.stages + 1):
            stages.append(1.0 + z * sum(T.A[i, j] * stages[j] for j in range(i)))
        return np.asarray(stages[T.stages])

    def started(self, problem: OdeTask) -> Integration:
        T = self.tableau
        room = MOST_STORED // (T.C.size * problem.y0.size + 1)
        path = path_of(problem, T.C.size, stored=min(STORED_STEPS, room) if self.adaptive else 0)
        rules = fixed_rules(problem, self.adaptive, T.order, True, T.stages)
        if self.order > HIGH:
            rules = rules._replace(safety=SAFETY, smooth=SMOOTH)
        if problem.watch or problem.collapses:
            rules = rules._replace(collapse=COLLAPSED)
        if problem.watch and T.C[T.stages - 1] == 1.0:  # two slopes at the end of a step reveal stiffness
            share = LONG_OF_HIGH_ORDER if self.order > HIGH else LONG
            rules = rules._replace(stability=share * T.stability)
        attempt = try_explicit_step.bind(ExplicitStep.of(problem.f.f, problem.f.c, T, path))
        return CompiledIntegration(problem, path, rules, attempt, look_into_explicit_step.bind_like(attempt))


@kernel(inline=True)
def add_slopes(y, h, weights, K, count, out):
    """out = y + h sum_j w_j K_j. Sums of few components stay in registers; to many, four slopes are added at a time."""
    n, j, k = y.size, 0, 0
    if n > FEW:
        for k in range(n):
            out[k] = y[k]
        while j + 4 <= count:
            a, b, c, d = h * weights[j], h * weights[j + 1], h * weights[j + 2], h * weights[j + 3]
            for k in range(n):
                out[k] = out[k] + a * K[j, k] + b * K[j + 1, k] + c * K[j + 2, k] + d * K[j + 3, k]
            j += 4
        while j < count:
            a = h * weights[j]
            for k in range(n):
                out[k] += a * K[j, k]
            j += 1
        return
    while k + 4 <= n:
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for j in range(count):
            w = weights[j]
            a, b, c, d = a + w * K[j, k], b + w * K[j, k + 1], c + w * K[j, k + 2], d + w * K[j, k + 3]
        out[k], out[k + 1] = y[k] + h * a, y[k + 1] + h * b
        out[k + 2], out[k + 3] = y[k + 2] + h * c, y[k + 3] + h * d
        k += 4
    while k < n:
        a = 0.0
        for j in range(count):
            a += weights[j] * K[j, k]
        out[k] = y[k] + h * a
        k += 1


@kernel(inline=True)
def stage_state(T, r, i, h, out):
    """y + h sum_j a_ij K_j, the state at which stage i is evaluated."""
    add_slopes(r.y, h, T.A[i], r.K, i, out)


@kernel(inline=True)
def step_error(T, r, h):
    """Error of the step relative to the tolerance; if a second estimate of lower order agrees, it becomes smaller.

    h |e5|^2 / sqrt((|e5|^2 + |e3|^2 / 100) size), Hairer's mean of two estimates.
    """
    size, K, E, sum3, sum5, rtol = r.y.size, r.K, T.E, 0.0, 0.0, r.rtol[0]
    for k in range(size):
        e3, e5 = 0.0, 0.0
        for j in range(E.shape[1]):
            e5 += E[0, j] * K[j, k]
            e3 += E[1, j] * K[j, k]
        scale = r.atol[k] + rtol * abs(r.y[k])
        sum3 += (e3 / scale) ** 2
        sum5 += (e5 / scale) ** 2
    if sum5 == 0.0 and sum3 == 0.0:
        return 0.0
    return abs(h) * sum5 / np.sqrt((sum5 + 0.01 * sum3) * size)


@kernel(inline=True)
def weigh_slopes(s, x):
    """P_j0 x + P_j1 x^2 + ... of all slopes."""
    dense, weights = lanes_in(s.dense), lanes_in(s.weights)
    for j in range(weights.size):
        total = 0.0
        for d in range(s.dense.shape[0] - 1, -1, -1):
            total = (total + dense[d, j]) * x
        weights[j] = total


# Steps over kernel pointers -------------------------------------------------------------------------------------


class ExplicitStep(NamedTuple):
    """Context of `try_explicit_step`."""

    f: Any
    c: Any
    T: Tableau
    p: Path
    dense: Floats  # P, power by power, eight slopes side by side
    weights: Floats  # of the slopes inside a step
    flat: Floats  # the same in one row

    @classmethod
    def of(cls, f: Any, c: Any, T: Tableau, path: Path) -> ExplicitStep:
        dense = lane_zeros(T.P.shape[1], -(-T.C.size // LANES))
        dense.reshape(T.P.shape[1], -1)[:, : T.C.size] = T.P.T
        weights = lane_zeros(dense.shape[1])
        return cls(f, c, T, path, dense, weights, weights.reshape(-1))


@kernel
def evaluate_stages(s, first, stop, t, h):
    """K_i = f(t + c_i h, Y_i); stage s is the new state."""
    T, p = s.T, s.p
    for i in range(first, stop):
        y = p.new if i == T.stages else p.trial
        stage_state(T, p, i, h, y)
        invoke(s.f, s.c, t + T.C[i] * h, y, p.K[i])
    p.state[loop_state.EVALUATIONS] += max(0, stop - first)


@kernel_pointer
def try_explicit_step(s, t, state, new):
    """One step, and its error if the method has an estimate."""
    T, h = s.T, state[loop_state.TRIED]
    evaluate_stages(s, 1, T.E.shape[1], t, h)
    if T.E.shape[1] == T.stages:  # the error estimate does not need the slope at the end
        stage_state(T, s.p, T.stages, h, new)
    else:
        state[loop_state.NEW_KNOWN] = 1.0
    if T.order > 0:
        state[loop_state.ESTIMATE] = step_error(T, s.p, h)


@kernel_pointer
def look_into_explicit_step(s, t, state, out):
    """Dense output; its additional stages are evaluated when they are first needed."""
    T, h = s.T, state[loop_state.TAKE]
    if state[loop_state.DENSE] == 0.0:
        evaluate_stages(s, T.stages + 1, T.C.size, state[loop_state.TIME], h)
        state[loop_state.DENSE] = 1.0
    weigh_slopes(s, (t - state[loop_state.TIME]) / h)
    add_slopes(s.p.y, h, s.flat, s.p.K, s.p.K.shape[0], s.p.out)


# Methods in fixed steps -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForwardEuler(RungeKutta):
    """y1 = y + h f(t, y): the simplest method, of order 1, in fixed steps. For teaching, not for computing.

    Euler, Institutiones calculi integralis I (1768), section 650.
    """

    name: ClassVar[str] = "forward_euler"
    order: ClassVar[int] = 1
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array([[0.0, 0.0], [1.0, 0.0]]),
        C=np.array([0.0, 1.0]),
        E=np.zeros((2, 1)),
        P=np.array([[1.0], [0.0]]),
        stages=1,
        order=0,
        stability=2.0,
    )


@dataclass(frozen=True)
class Heun(RungeKutta):
    """The trapezoidal rule with an Euler step to predict the end: order 2, in fixed steps.

    Heun, Zeitschrift fuer Mathematik und Physik 45 (1900) 23-38.
    """

    name: ClassVar[str] = "heun"
    order: ClassVar[int] = 2
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1 / 2, 1 / 2, 0.0]]),
        C=np.array([0.0, 1.0, 1.0]),
        E=np.zeros((2, 2)),
        # the parabola through y with both slopes
        P=np.array([[1.0, -1 / 2], [0.0, 1 / 2], [0.0, 0.0]]),
        stages=2,
        order=0,
        stability=2.0,
    )


@dataclass(frozen=True)
class RK4(RungeKutta):
    """The classical method of order 4, in fixed steps.

    Kutta, Zeitschrift fuer Mathematik und Physik 46 (1901) 435-453.
    """

    name: ClassVar[str] = "rk4"
    order: ClassVar[int] = 4
    tableau: ClassVar[Tableau] = Tableau(
        A=np.array(
            [
                [0.0, 0.0, 0.0, 0.0, 0.0],
                [1 / 2, 0.0, 0.0, 0.0, 0.0],
                [0.0, 1 / 2, 0.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [1 / 6, 1 / 3, 1 / 3, 1 / 6, 0.0],
            ]
        ),
        C=np.array([0.0, 1 / 2, 1 / 2, 1.0, 1.0]),
        E=np.zeros((2, 4)),
        # cubic, of order 3; Hairer, Norsett & Wanner I, section II.6
        P=np.array(
            [[1.0, -3 / 2, 2 / 3], [0.0, 1.0, -2 / 3], [0.0, 1.0, -2 / 3], [0.0, -1 / 2, 2 / 3], [0, 0, 0]]
        ),
        stages=4,
        order=0,
        stability=2.78,
    )
