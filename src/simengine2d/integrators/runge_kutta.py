"""Explicit Runge-Kutta methods: the formulas, for any tableau.

    Y_i = y + h sum_j a_ij K_j,      K_i = f(t + c_i h, Y_i),      y1 = y + h sum_j b_j K_j

Row s of the matrix A holds b, so the new state is "stage" s, and its slope K_s is the first of the next step. Stages
beyond s serve the dense output y(t + x h) = y + h sum_j K_j (P_j0 x + P_j1 x^2 + ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel
from ..methods import Integrator

Floats = NDArray[np.float64]

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
LONGEST_FIRST_STEP = 0.1  # seconds; what rests at the start may be about to move
SMOOTH = 0.2  # share of the last error in the next step: steps that hesitate are refused less often


class Tableau(NamedTuple):
    """Coefficients of one method; the same type for all, so one compiled loop serves them all."""

    A: Floats  # (all stages, all stages)
    C: Floats
    E: Floats  # (2, s + 1): error of the method, and of one of lower order that makes it cautious (or zero)
    P: Floats  # (all stages, degree)
    stages: int  # s
    order: int  # of the error estimate, plus one; 0 for methods without one
    stability: float  # largest h |lambda| on the negative real axis


@dataclass(frozen=True)
class RungeKutta(Integrator, abstract=True):
    """An explicit method; `tableau` says all."""

    solves: ClassVar[tuple[str, ...]] = ("ode",)
    tableau: ClassVar[Tableau]


class Runner(NamedTuple):
    """Where an integration stands, and the arrays it works in."""

    y: Floats
    new: Floats
    trial: Floats
    out: Floats
    K: Floats  # (all stages, size); the first row is f(t, y)
    state: Floats
    rtol: Floats
    atol: Floats


def new_arrays(y: Floats, tableau: Tableau) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """y, new, trial, out and K of a runner."""
    new, trial, out = np.zeros((3, y.size))
    return y.copy(), new, trial, out, np.zeros((tableau.C.size, y.size))


@kernel(inline=True)
def stage_state(T, r, i, h, out):
    """y + h sum_j a_ij K_j, the state at which stage i is evaluated."""
    A, K, y = T.A, r.K, r.y
    for k in range(y.size):
        out[k] = 0.0
    for j in range(i):
        a = h * A[i, j]
        if a != 0.0:
            for k in range(y.size):
                out[k] += a * K[j, k]
    for k in range(y.size):
        out[k] += y[k]


@kernel(inline=True)
def step_error(T, r, h):
    """Error of the step relative to the tolerance; a second estimate of lower order makes it smaller where it agrees.

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
def interpolate(T, r, h, x):
    """The state a fraction x into the step, into r.out."""
    P, K, out = T.P, r.K, r.out
    for k in range(out.size):
        out[k] = 0.0
    for j in range(P.shape[0]):
        weight = 0.0
        for d in range(P.shape[1] - 1, -1, -1):
            weight = (weight + P[j, d]) * x
        if weight != 0.0:
            for k in range(out.size):
                out[k] += h * weight * K[j, k]
    for k in range(out.size):
        out[k] += r.y[k]


@kernel(inline=True)
def first_step(r):
    """A guess from the sizes of y and f; it errs on the short side."""
    size_y, size_f = 0.0, 0.0
    for k in range(r.y.size):
        scale = r.atol[k] + r.rtol[0] * abs(r.y[k])
        size_y += (r.y[k] / scale) ** 2
        size_f += (r.K[0, k] / scale) ** 2
    if size_f <= 0.0:
        return 1.0e-3
    guess = max(0.01 * np.sqrt(size_y / size_f), 1.0e-3 * (1.0 / np.sqrt(size_f)) ** 0.125)
    return min(guess, LONGEST_FIRST_STEP)


@kernel(inline=True)
def next_step(T, h, error, before):
    """What the error allows, within limits; `before` is the error of the step before, 0 at the start.

    h |error|^-a |before|^b: a growing error lets the next step shrink before it is refused (Gustafsson).
    """
    if not error < 1.0e10:
        return h * SHRINK
    error, before = max(error, 1.0e-10), max(before, 1.0e-4)
    b = SMOOTH / T.order if error <= 1.0 else 0.0
    a = 1.0 / T.order - 0.75 * b
    return h * min(GROW, max(SHRINK, SAFETY * error ** (-a) * before**b))
