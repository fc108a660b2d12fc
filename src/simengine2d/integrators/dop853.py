"""Runge-Kutta of order 8(5,3) by Dormand and Prince, with error control and dense output of order 7.

Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formulations.index1 import derivative, project
from ..kernels import inlined, kernel
from ..methods import Integrator
from ._dop853_coefficients import DENSE, E3, E5, STAGES, A, B, C

Floats = NDArray[np.float64]

# entries of the state
TIME, STEP, STEPS, REJECTED, EVALUATIONS, WORST_PHI, WORST_PHID, STIFF = range(8)
DONE, STEP_TOO_SMALL, TOO_STIFF = range(3)

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
STIFF_STEPS = 15  # in a row, beyond the stability limit h |lambda| of the method
STABILITY = 6.1


@dataclass(frozen=True)
class DOP853(Integrator):
    """Explicit, for smooth problems at any tolerance, tight ones above all; stiff ones are refused."""

    name: ClassVar[str] = "dop853"
    order: ClassVar[int] = 8
    solves: ClassVar[str] = "ode"
    adaptive: ClassVar[bool] = True


class Runner(NamedTuple):
    """Where the integration stands, and the arrays it works in."""

    y: Floats
    new: Floats
    trial: Floats
    out: Floats
    rate: Floats
    K: Floats  # (16, 2n) stages; the first is f(t, y)
    dense: Floats  # (7, 2n)
    state: Floats
    rtol: Floats
    atol: Floats
    tolerance: Floats  # of the projection: in steps, at outputs


def new_runner(t: float, y: Floats, rtol: float, atol: Floats, projection: tuple[float, float]) -> Runner:
    state = np.zeros(8)
    state[TIME] = t
    new, trial, out, rate = (np.zeros(y.size) for _ in range(4))
    K, dense = np.zeros((16, y.size)), np.zeros((7, y.size))
    return Runner(
        y.copy(), new, trial, out, rate, K, dense, state, np.array([rtol]), atol, np.array(projection)
    )


@inlined
def stage(S, L, D, r, i, h, w):
    """K_i = f(t + c_i h, y + h sum_j a_ij K_j)."""
    size, K, y, trial = r.y.size, r.K, r.y, r.trial
    for k in range(size):
        trial[k] = 0.0
    for j in range(i):
        a = h * A[i, j]
        if a != 0.0:
            for k in range(size):
                trial[k] += a * K[j, k]
    for k in range(size):
        trial[k] += y[k]
    derivative(S, L, D, r.state[TIME] + C[i] * h, trial, K[i], w)


@kernel
def try_step(S, L, D, r, h, w):
    """New state into r.new, its derivative into K_12. Returns the error relative to the tolerance."""
    size, K = r.y.size, r.K
    for i in range(1, STAGES):
        stage(S, L, D, r, i, h, w)
    for k in range(size):
        total = 0.0
        for j in range(STAGES):
            total += B[j] * K[j, k]
        r.new[k] = r.y[k] + h * total
    derivative(S, L, D, r.state[TIME] + h, r.new, K[STAGES], w)
    r.state[EVALUATIONS] += STAGES
    sum3, sum5, rtol = 0.0, 0.0, r.rtol[0]
    for k in range(size):
        e3, e5 = 0.0, 0.0
        for j in range(STAGES + 1):
            e3 += E3[j] * K[j, k]
            e5 += E5[j] * K[j, k]
        scale = r.atol[k] + rtol * max(abs(r.y[k]), abs(r.new[k]))
        sum3 += (e3 / scale) ** 2
        sum5 += (e5 / scale) ** 2
    if sum5 == 0.0 and sum3 == 0.0:
        return 0.0
    return abs(h) * sum5 / np.sqrt((sum5 + 0.01 * sum3) * size)


@inlined
def stiffness(r, h):
    """h |lambda| estimated from the last two stages."""
    top, bottom = 0.0, 0.0
    for k in range(r.y.size):
        top += (r.K[STAGES, k] - r.K[STAGES - 1, k]) ** 2
        bottom += (r.new[k] - r.trial[k]) ** 2
    return h * np.sqrt(top / bottom) if bottom > 0.0 else 0.0


@kernel
def prepare_dense(S, L, D, r, h, w):
    """Three more stages, then the rows of the interpolating polynomial."""
    K, F = r.K, r.dense
    for i in range(STAGES + 1, 16):
        stage(S, L, D, r, i, h, w)
    r.state[EVALUATIONS] += 3
    for k in range(r.y.size):
        delta = r.new[k] - r.y[k]
        F[0, k] = delta
        F[1, k] = h * K[0, k] - delta
        F[2, k] = 2.0 * delta - h * (K[STAGES, k] + K[0, k])
        for row in range(4):
            total = 0.0
            for j in range(16):
                total += DENSE[row, j] * K[j, k]
            F[3 + row, k] = h * total


@inlined
def interpolate(r, x, out):
    """The state a fraction x into the step."""
    for k in range(out.size):
        value = 0.0
        for i in range(6, -1, -1):
            value += r.dense[i, k]
            value *= x if i % 2 == 0 else 1.0 - x
        out[k] = r.y[k] + value


@kernel
def record(S, L, D, r, t, k, history, w):
    """Project the state in r.out to rounding, evaluate it, and write row k."""
    n, y = w.Q.size, r.out
    for _ in range(2):
        project(S, D, t, y, r.tolerance[1], w)
    derivative(S, L, D, t, y, r.rate, w)
    r.state[EVALUATIONS] += 1
    for j in range(n):
        history.Q[k, j], history.Qd[k, j], history.Qdd[k, j] = y[j], y[n + j], w.x[j]
    for i in range(w.row.size):
        history.Lam[k, i] = w.x[n + i]


@kernel
def advance(S, L, D, r, t, w):
    """Take the new state over, on the constraints; f is evaluated anew only where the projection moved it."""
    found, rate_found = project(S, D, t, r.new, r.tolerance[0], w)
    r.state[WORST_PHI] = max(r.state[WORST_PHI], found)
    r.state[WORST_PHID] = max(r.state[WORST_PHID], rate_found)
    r.state[TIME] = t
    for k in range(r.y.size):
        r.y[k] = r.new[k]
    if max(found, rate_found) > r.tolerance[0]:
        derivative(S, L, D, t, r.y, r.K[0], w)
        r.state[EVALUATIONS] += 1
    else:
        for k in range(r.y.size):
            r.K[0, k] = r.K[STAGES, k]


@kernel
def first_step(r, span):
    """Hairer's guess from the sizes of y and f."""
    size_y, size_f = 0.0, 0.0
    for k in range(r.y.size):
        scale = r.atol[k] + r.rtol[0] * abs(r.y[k])
        size_y += (r.y[k] / scale) ** 2
        size_f += (r.K[0, k] / scale) ** 2
    if size_f <= 0.0:
        return 1.0e-3 * span
    return min(span, max(0.01 * np.sqrt(size_y / size_f), 1.0e-3 * (1.0 / np.sqrt(size_f)) ** 0.125))


@kernel
def integrate(S, L, D, r, times, first, stop, history, most_steps, w):
    """Fill rows first..stop-1 of the history. Returns (next row, why it ended); may stop early after most_steps."""
    t_end = times[times.size - 1]
    state = r.state
    if state[STEP] == 0.0:
        derivative(S, L, D, state[TIME], r.y, r.K[0], w)
        state[STEP] = first_step(r, t_end - state[TIME]) if t_end > state[TIME] else 1.0
    k, steps = first, 0
    while k < stop:
        if times[k] <= state[TIME]:
            for j in range(r.y.size):
                r.out[j] = r.y[j]
            record(S, L, D, r, times[k], k, history, w)
            k += 1
            continue
        if steps >= most_steps:
            return k, DONE
        h = min(state[STEP], t_end - state[TIME])
        if h < 1.0e-14 * max(abs(state[TIME]), t_end):
            return k, STEP_TOO_SMALL
        error = try_step(S, L, D, r, h, w)
        steps += 1
        if not error <= 1.0:
            state[REJECTED] += 1.0
            shrink = SAFETY * error**-0.125 if error < 1.0e10 else SHRINK
            state[STEP] = h * max(SHRINK, shrink)
            continue
        state[STIFF] = state[STIFF] + 1.0 if stiffness(r, h) > STABILITY else 0.0
        if state[STIFF] > STIFF_STEPS:
            return k, TOO_STIFF
        t_new = t_end if h == t_end - state[TIME] else state[TIME] + h
        if times[k] < t_new:
            prepare_dense(S, L, D, r, h, w)
            while k < stop and times[k] < t_new:
                interpolate(r, (times[k] - state[TIME]) / h, r.out)
                record(S, L, D, r, times[k], k, history, w)
                k += 1
        advance(S, L, D, r, t_new, w)
        state[STEP] = h * min(GROW, max(SHRINK, SAFETY * max(error, 1.0e-12) ** -0.125))
        state[STEPS] += 1.0
    return k, DONE
