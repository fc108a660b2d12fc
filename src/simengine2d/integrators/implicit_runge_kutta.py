"""Implicit Runge-Kutta methods, and BDF methods, which are the same on a base of earlier states.

    Y_i = base + h sum_j a_ij K_j,   K_i = f(t + c_i h, Y_i),   y1 = base + h sum_j b_j K_j,   base = sum_k w_k y_(n-k)

One compiled step serves them all: stage by stage if A is lower triangular, else all stages together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..methods import ImplicitMethod
from ..numerics.arrays import Floats, Ints
from ..numerics.dense_lu import lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, kernel_pointer
from . import loop_state
from .integration import NONE, CompiledIntegration, fixed_rules, path_of
from .loop_state import Path, past_row
from .ode_method import NEWTON, OdeMethod, OdeTask, Stability
from .stage_newton import FIXED_POINT, OdeStages, new_stages, solve_block

# how the error of a step is estimated: not at all, by other weights, by differences of the slopes
NO_ESTIMATE, EMBEDDED, DIFFERENCES = range(3)
# tolerance of the iteration: 1e-13 in fixed steps, as far as rounding allows; else this fraction of the step's
EXACTLY, SHARE, ROUNDED_OFF = 1e-13, 1e-2, 1e3


class ImplicitTableau(NamedTuple):
    """Coefficients of one method; the same type for all."""

    A: Floats
    b: Floats
    C: Floats
    E: Floats  # weights of the error estimate
    base: Floats  # weights of y and the states before it
    blocks: Ints  # first stage of each block, and the end
    estimate: int


def tableau_of(
    A: Floats, b: Floats, c: Floats, E: Floats | None = None, estimate: int = NO_ESTIMATE
) -> ImplicitTableau:
    """The tableau of a one-step method."""
    A, b, c = (np.array(part, dtype=float) for part in (A, b, c))
    s = b.size
    blocks = np.arange(s + 1) if np.all(np.triu(A, 1) == 0.0) else np.array([0, s])
    weights = np.zeros(s) if E is None else np.array(E, dtype=float)
    return ImplicitTableau(A, b, c, weights, np.ones(1), blocks.astype(np.int64), estimate)


class ImplicitStep(NamedTuple):
    """Context of `try_implicit_step`."""

    T: ImplicitTableau
    s: OdeStages
    p: Path


@kernel
def find_base(weights, p, base):
    """base = w_0 y_n + w_1 y_(n-1) + ..."""
    for k in range(p.y.size):
        base[k] = weights[0] * p.y[k]
    for j in range(1, weights.size):
        row = past_row(p, j)
        for k in range(p.y.size):
            base[k] += weights[j] * p.past_y[row, k]


@kernel
def end_of_step(T, s, p, new, h):
    """y1 = base + sum b_j z_j; if the last stage is at the end of the step, it also gives the slope there."""
    last = T.b.size - 1
    stiffly_accurate = T.C[last] == 1.0
    for j in range(last + 1):
        stiffly_accurate = stiffly_accurate and T.A[last, j] == T.b[j]
    for k in range(p.y.size):
        new[k] = s.base[k]
        for j in range(last + 1):
            new[k] += T.b[j] * s.z[j, k]
        p.K[1, k] = s.z[last, k] / h
    p.state[loop_state.NEW_KNOWN] = 1.0 if stiffly_accurate else 0.0


@kernel
def find_error(T, s, p, h):
    """The estimate into s.right: sum E_j z_j, or h^3 y''' / 12 from the slopes of two steps."""
    old, gap = 0, 0.0
    if T.estimate == DIFFERENCES and p.state[loop_state.SINCE] > 0.0:
        old = past_row(p, 1)
        gap = p.state[loop_state.TIME] - p.past_t[old]
    for k in range(p.y.size):
        error = 0.0
        if gap > 0.0:
            bend = (p.K[1, k] - p.K[0, k]) / h - (p.K[0, k] - p.past_slopes[old, k]) / gap
            error = h**3 / 6.0 * bend / (h + gap)
        else:  # without a past the weights compare with a method of lower order
            for j in range(T.b.size):
                error += T.E[j] * s.z[j, k]
        s.right[k] = error


@kernel
def step_error(T, s, p, new, h):
    """The error relative to the tolerance; Newton's matrix filters out what stiff components exaggerate."""
    find_error(T, s, p, h)
    if s.kind != FIXED_POINT:
        lu_solve(s.LU, s.pivots, s.right)
    total, n = 0.0, p.y.size
    for k in range(n):
        scale = p.atol[k] + p.rtol[0] * max(abs(p.y[k]), abs(new[k]))
        total += (s.right[k] / scale) ** 2
    return np.sqrt(total / n)


@kernel_pointer
def try_implicit_step(step, t, state, new):
    """One step, and its error if the method has an estimate."""
    T, s, p = step.T, step.s, step.p
    h, first = state[loop_state.TRIED], 0
    find_base(T.base, p, s.base)
    if T.A[0, 0] == 0.0:  # an explicit first stage is the slope at the beginning
        first = 1
        for k in range(p.y.size):
            s.z[0, k] = h * p.K[0, k]
    for block in range(first, T.blocks.size - 1):
        if not solve_block(s, T.blocks[block], T.blocks[block + 1], t, h):
            state[loop_state.CONVERGED] = 0.0
            return
    end_of_step(T, s, p, new, h)
    if T.estimate != NO_ESTIMATE:
        state[loop_state.ESTIMATE] = step_error(T, s, p, new, h)


def stages_of(problem: OdeTask, T: ImplicitTableau, path: Path, controlled: bool) -> OdeStages:
    """The work arrays of a method for a problem."""
    f, jac = problem.f, problem.jac or NONE
    kind, block = NEWTON.index(problem.newton), int(np.diff(T.blocks).max())
    tolerance = (SHARE, 0.0) if controlled else (1.0, ROUNDED_OFF)
    return new_stages((f.f, f.c, jac.f, jac.c), kind, tolerance, T.A, T.C, path, block)


def bound_step(
    problem: OdeTask, T: ImplicitTableau, path: Path, controlled: bool
) -> tuple[BoundKernel, dict[str, Any]]:
    """The kernel pointer that tries a step, and the arrays in which it remembers derivatives."""
    stages = stages_of(problem, T, path, controlled)
    kept = {name: getattr(stages, name) for name in ("J", "LU", "pivots", "memory")}
    return try_implicit_step.bind(ImplicitStep(T, stages, path)), kept


@dataclass(frozen=True)
class ImplicitRungeKutta(ImplicitMethod, OdeMethod, abstract=True):
    """An implicit method, given by A, b and c; adaptive ones also have an error estimate."""

    A: ClassVar[Floats]
    b: ClassVar[Floats]
    c: ClassVar[Floats]
    E: ClassVar[Floats | None] = None
    estimate: ClassVar[int] = NO_ESTIMATE

    @property
    def tableau(self) -> ImplicitTableau:
        return tableau_of(self.A, self.b, self.c, self.E, self.estimate)

    def stability(self, z: Any) -> Stability:
        """R(z) = det(I - z A + z 1 b^T) / det(I - z A)"""
        z = np.asarray(z, dtype=complex)[..., None, None]
        unit, one_b = np.eye(self.b.size), np.outer(np.ones(self.b.size), self.b)
        return np.asarray(np.linalg.det(unit - z * self.A + z * one_b) / np.linalg.det(unit - z * self.A))

    def started(self, problem: OdeTask) -> CompiledIntegration:
        T = self.tableau
        rules = fixed_rules(problem, self.adaptive, self.order + 1, T.A[0, 0] == 0.0, 1)
        controlled = rules.kind == loop_state.ADAPTIVE
        path = path_of(problem, 2, int(T.estimate == DIFFERENCES), 1e-6 if controlled else EXACTLY)
        attempt, derivatives = bound_step(problem, T, path, controlled)
        return CompiledIntegration(problem, path, rules, attempt, derivatives=derivatives)


# The methods ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BackwardEuler(ImplicitRungeKutta):
    """y1 = y + h f(t1, y1): order 1, in fixed steps; strongly damped, and stable for every stiff problem.

    Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), section IV.3.
    """

    name: ClassVar[str] = "backward_euler"
    order: ClassVar[int] = 1
    solves: ClassVar[tuple[str, ...]] = ("ode", "dae")
    A: ClassVar[Floats] = np.array([[1.0]])
    b: ClassVar[Floats] = np.array([1.0])
    c: ClassVar[Floats] = np.array([1.0])


@dataclass(frozen=True)
class ImplicitMidpoint(ImplicitRungeKutta):
    """y1 = y + h f(t + h/2, (y + y1)/2): order 2, in fixed steps; symplectic, so it preserves quadratic invariants.

    Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd edition (2006), section II.1.
    """

    name: ClassVar[str] = "implicit_midpoint"
    order: ClassVar[int] = 2
    A: ClassVar[Floats] = np.array([[1 / 2]])
    b: ClassVar[Floats] = np.array([1.0])
    c: ClassVar[Floats] = np.array([1 / 2])


@dataclass(frozen=True)
class Trapezoidal(ImplicitRungeKutta):
    """y1 = y + h (f(t, y) + f(t1, y1)) / 2: order 2, in fixed steps; without damping.

    Crank & Nicolson, Mathematical Proceedings of the Cambridge Philosophical Society 43 (1947) 50-67.
    """

    name: ClassVar[str] = "trapezoidal"
    order: ClassVar[int] = 2
    A: ClassVar[Floats] = np.array([[0.0, 0.0], [1 / 2, 1 / 2]])
    b: ClassVar[Floats] = np.array([1 / 2, 1 / 2])
    c: ClassVar[Floats] = np.array([0.0, 1.0])


@dataclass(frozen=True)
class TrapezoidalAdaptive(ImplicitRungeKutta):
    """The trapezoidal rule with error control, for moderately stiff problems that must not be damped.

    The error is h^3 y''' / 12, with y''' from the slopes at the ends of the last two steps.

    Shampine, Reichelt & Kierzenka, SIAM Review 41 (1999) 538-552.
    """

    name: ClassVar[str] = "trapezoidal_adaptive"
    order: ClassVar[int] = 2
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.05
    power: ClassVar[float] = 1.5
    A: ClassVar[Floats] = Trapezoidal.A
    b: ClassVar[Floats] = Trapezoidal.b
    c: ClassVar[Floats] = Trapezoidal.c
    E: ClassVar[Floats | None] = np.array([-1 / 2, 1 / 2])  # in the first step: difference to Euler's method
    estimate: ClassVar[int] = DIFFERENCES


_D, _W = 1.0 - np.sqrt(2.0) / 2.0, np.sqrt(2.0) / 4.0


@dataclass(frozen=True)
class TRBDF2(ImplicitRungeKutta):
    """The trapezoidal rule up to 0.586 h, then BDF 2: order 2 with error control.

    For stiff problems at loose tolerances.

    Hosea & Shampine, Applied Numerical Mathematics 20 (1996) 21-37.
    """

    name: ClassVar[str] = "tr_bdf2"
    order: ClassVar[int] = 2
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.05
    power: ClassVar[float] = 1.5
    A: ClassVar[Floats] = np.array([[0.0, 0.0, 0.0], [_D, _D, 0.0], [_W, _W, _D]])
    b: ClassVar[Floats] = np.array([_W, _W, _D])
    c: ClassVar[Floats] = np.array([0.0, 2.0 * _D, 1.0])
    # difference to the weights of order 3, ((1 - w)/3, w + 1/3, d/3)
    E: ClassVar[Floats | None] = np.array([_W - (1.0 - _W) / 3.0, -1.0 / 3.0, 2.0 * _D / 3.0])
    estimate: ClassVar[int] = EMBEDDED


_R = np.sqrt(6.0)
_LAST = [(16 - _R) / 36, (16 + _R) / 36, 1 / 9]


@dataclass(frozen=True)
class RadauIIA(ImplicitRungeKutta):
    """Collocation at three points: order 5, in fixed steps, for stiff problems that need accuracy.

    Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), table IV.5.6.
    """

    name: ClassVar[str] = "radau_iia"
    order: ClassVar[int] = 5
    solves: ClassVar[tuple[str, ...]] = ("ode", "dae")
    A: ClassVar[Floats] = np.array(
        [
            [(88 - 7 * _R) / 360, (296 - 169 * _R) / 1800, (-2 + 3 * _R) / 225],
            [(296 + 169 * _R) / 1800, (88 + 7 * _R) / 360, (-2 - 3 * _R) / 225],
            _LAST,
        ]
    )
    b: ClassVar[Floats] = np.array(_LAST)
    c: ClassVar[Floats] = np.array([(4 - _R) / 10, (4 + _R) / 10, 1.0])
