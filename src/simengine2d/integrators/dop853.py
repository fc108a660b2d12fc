"""Runge-Kutta of order 8(5,3) by Dormand and Prince, with error control and dense output of order 7.

Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..equations import accelerations
from ..formulations.index1 import project
from ..kernels import kernel
from ..methods import Integrator
from ._dop853_coefficients import DENSE, E3, E5, STAGES, A, B, C

Floats = NDArray[np.float64]

# entries of the state
TIME, STEP, STEPS, REJECTED, EVALUATIONS, WORST_PHI, WORST_PHID, STIFF, SINGULAR_AT, LONGEST = range(10)
DONE, STEP_TOO_SMALL, TOO_STIFF = range(3)

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
STIFF_STEPS = 15  # in a row, beyond the stability limit h |lambda| of the method
STABILITY = 6.1
COLLAPSED = 1e-2  # of the longest step
NEARLY_SINGULAR = 1e5  # spread of the pivots
SINGULAR = 1e11  # spread of the pivots above which accelerations and multipliers have lost their digits


@dataclass(frozen=True)
class DOP853(Integrator):
    """Explicit, for smooth problems at any tolerance, tight ones above all; not for stiff ones."""

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
    K: Floats  # (16, 2n) stages; the first is f(t, y)
    dense: Floats  # (7, 2n)
    state: Floats
    rtol: Floats
    atol: Floats
    tolerance: Floats  # of the projection: in steps, at outputs


def new_runner(t: float, y: Floats, rtol: float, atol: Floats, projection: tuple[float, float]) -> Runner:
    state = np.zeros(10)
    state[TIME] = t
    state[SINGULAR_AT] = np.nan
    new, trial, out = (np.zeros(y.size) for _ in range(3))
    K, dense = np.zeros((16, y.size)), np.zeros((7, y.size))
    return Runner(y.copy(), new, trial, out, K, dense, state, np.array([rtol]), atol, np.array(projection))


@kernel(inline=True, entry=False)
def stage_state(r, i, h):
    """y + h sum_j a_ij K_j, the state at which stage i is evaluated."""
    K, y, trial = r.K, r.y, r.trial
    for k in range(y.size):
        trial[k] = 0.0
    for j in range(i):
        a = h * A[i, j]
        if a != 0.0:
            for k in range(y.size):
                trial[k] += a * K[j, k]
    for k in range(y.size):
        trial[k] += y[k]


@kernel(inline=True, entry=False)
def new_state(r, h):
    """y + h sum_j b_j K_j."""
    for k in range(r.y.size):
        total = 0.0
        for j in range(STAGES):
            total += B[j] * r.K[j, k]
        r.new[k] = r.y[k] + h * total


@kernel(inline=True, entry=False)
def keep_stage(r, i, state, x):
    """K_i = (qd, qdd)."""
    n = r.y.size // 2
    for j in range(n):
        r.K[i, j] = state[n + j]
        r.K[i, n + j] = x[j]


@kernel(inline=True, entry=False)
def step_error(r, h):
    """Error of the step relative to the tolerance, from the embedded formulas of order 5 and 3."""
    size, K, sum3, sum5, rtol = r.y.size, r.K, 0.0, 0.0, r.rtol[0]
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


@kernel(inline=True, entry=False)
def stiffness(r, h):
    """h |lambda| estimated from the last two stages."""
    top, bottom = 0.0, 0.0
    for k in range(r.y.size):
        top += (r.K[STAGES, k] - r.K[STAGES - 1, k]) ** 2
        bottom += (r.new[k] - r.trial[k]) ** 2
    return h * np.sqrt(top / bottom) if bottom > 0.0 else 0.0


@kernel(inline=True, entry=False)
def dense_rows(r, h):
    """The rows of the interpolating polynomial, once all sixteen stages are known."""
    K, F = r.K, r.dense
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


@kernel(inline=True, entry=False)
def interpolate(r, x):
    """The state a fraction x into the step, into r.out."""
    for k in range(r.out.size):
        value = 0.0
        for i in range(6, -1, -1):
            value += r.dense[i, k]
            value *= x if i % 2 == 0 else 1.0 - x
        r.out[k] = r.y[k] + value


@kernel(inline=True, entry=False)
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


@kernel(inline=True, entry=False)
def next_step(h, error):
    """What the error allows, within limits."""
    if not error < 1.0e10:
        return h * SHRINK
    return h * min(GROW, max(SHRINK, SAFETY * max(error, 1.0e-12) ** -0.125))


@kernel(inline=True, entry=False)
def spread_of_pivots(D, n, v):
    """Largest over smallest pivot of the multipliers; v holds their reciprocals."""
    smallest, largest = 1.0e300, 0.0
    for i in range(n, D.diagonal.size):
        pivot = abs(v[D.diagonal[i]])
        smallest, largest = min(smallest, pivot), max(largest, pivot)
    return largest / smallest if largest > 0.0 else 1.0


@kernel(inline=True, entry=False)
def write_row(r, k, x, history):
    n = r.out.size // 2
    for j in range(n):
        history.Q[k, j], history.Qd[k, j], history.Qdd[k, j] = r.out[j], r.out[n + j], x[j]
    for i in range(x.size - n):
        history.Lam[k, i] = x[n + i]


@kernel(entry=False)
def take_step(S, L, D, r, h, t_end, w):
    """Take the new state over, on the constraints; f is evaluated anew only where the projection moved it."""
    state, n = r.state, r.y.size // 2
    t = t_end if h == t_end - state[TIME] else state[TIME] + h
    found, rate_found = project(S, D, t, r.new, r.tolerance[0], w)
    state[WORST_PHI] = max(state[WORST_PHI], found)
    state[WORST_PHID] = max(state[WORST_PHID], rate_found)
    state[TIME] = t
    state[STEPS] += 1.0
    for k in range(r.y.size):
        r.y[k] = r.new[k]
        r.K[0, k] = r.K[STAGES, k]
    if max(found, rate_found) > r.tolerance[0]:
        accelerations(S, L, D, t, r.y[:n], r.y[n:], w)
        keep_stage(r, 0, r.y, w.x)
        state[EVALUATIONS] += 1.0


@kernel
def integrate(S, L, D, r, times, first, history, most_steps, w):
    """Fill the rows of the history from `first` on. Returns (next row, why it ended); pauses after most_steps."""
    t_end, state, n = times[times.size - 1], r.state, r.y.size // 2
    if state[STEP] == 0.0:
        accelerations(S, L, D, state[TIME], r.y[:n], r.y[n:], w)
        keep_stage(r, 0, r.y, w.x)
        state[STEP] = first_step(r, t_end - state[TIME]) if t_end > state[TIME] else 1.0
    k, steps, dense = first, 0, False
    h = 0.0
    while k < times.size:
        # outputs inside the last step, or exactly where the integration stands
        t_new = state[TIME] + h if dense else state[TIME]
        if times[k] <= t_new and (dense or times[k] <= state[TIME]):
            if dense:
                interpolate(r, (times[k] - state[TIME]) / h)
            else:
                for j in range(r.y.size):
                    r.out[j] = r.y[j]
            for _ in range(2):
                project(S, D, times[k], r.out, r.tolerance[1], w)
            accelerations(S, L, D, times[k], r.out[:n], r.out[n:], w)
            state[EVALUATIONS] += 1.0
            write_row(r, k, w.x, history)
            if np.isnan(state[SINGULAR_AT]) and spread_of_pivots(D, n, w.v) > SINGULAR:
                state[SINGULAR_AT] = times[k]
            k += 1
            continue
        if dense:  # all outputs of this step are written: take it
            dense = False
            take_step(S, L, D, r, h, t_end, w)
            continue
        if steps >= most_steps:
            return k, DONE
        steps += 1
        h = min(state[STEP], t_end - state[TIME])
        if h < 1.0e-14 * max(abs(state[TIME]), t_end):
            return k, STEP_TOO_SMALL
        for i in range(1, STAGES + 1):
            if i < STAGES:
                stage_state(r, i, h)
                accelerations(S, L, D, state[TIME] + C[i] * h, r.trial[:n], r.trial[n:], w)
                keep_stage(r, i, r.trial, w.x)
            else:
                new_state(r, h)
                accelerations(S, L, D, state[TIME] + h, r.new[:n], r.new[n:], w)
                keep_stage(r, i, r.new, w.x)
        state[EVALUATIONS] += STAGES
        error = step_error(r, h)
        state[STEP] = next_step(h, error)
        if not error <= 1.0:
            state[REJECTED] += 1.0
            # near a singular pose short steps do not help: the caller knows a way over it
            if h < COLLAPSED * state[LONGEST] and spread_of_pivots(D, n, w.v) > NEARLY_SINGULAR:
                return k, STEP_TOO_SMALL
            continue
        state[LONGEST] = max(state[LONGEST], h)
        state[STIFF] = state[STIFF] + 1.0 if stiffness(r, h) > STABILITY else 0.0
        if state[STIFF] > STIFF_STEPS:
            return k, TOO_STIFF
        if times[k] <= state[TIME] + h:
            for i in range(STAGES + 1, 16):
                stage_state(r, i, h)
                accelerations(S, L, D, state[TIME] + C[i] * h, r.trial[:n], r.trial[n:], w)
                keep_stage(r, i, r.trial, w.x)
            state[EVALUATIONS] += 3.0
            dense_rows(r, h)
            dense = True
        else:
            take_step(S, L, D, r, h, t_end, w)
    if dense:
        take_step(S, L, D, r, h, t_end, w)
    return k, DONE
