"""Index 1: the accelerations as a function of the state, kept on the constraints by projection.

    [ M      Phi_q^T ] [ qdd ]   [ QA    ]          y = (q, qd),  yd = (qd, qdd)
    [ Phi_q     0    ] [ lam ] = [ gamma ]

Positions and velocities are brought back to Phi = 0 and Phi_q qd = nu by the smallest change in the metric of M,
which is the same matrix with the right-hand sides (0, -Phi) and (0, nu - Phi_q qd).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..equations import accelerate, residual_of_kkt, solve_kkt
from ..formula_rows import rows_at
from ..functions import functions_at
from ..integrators.runge_kutta import interpolate, stage_state, step_error
from ..integrators.step_control import first_step, next_step
from ..kernels import kernel
from ..moving_frames import place_frames
from ..rows import phi, phi_q

Floats = NDArray[np.float64]

# entries of the state; a step that is found good but not yet taken has the size TAKE (else 0) and ends at END
TIME, STEP, TAKE, END, DENSE, ERROR, STEPS, REJECTED, EVALUATIONS, STIFF, SINGULAR_AT, LONGEST = range(12)
STATE_SIZE = 12
# why the loop ended
DONE, PAUSED, STEP_TOO_SMALL, TOO_STIFF = range(4)

STIFF_STEPS = 15  # in a row, beyond the limit of stability of the method
COLLAPSED = 1e-2  # of the longest step
NEARLY_SINGULAR = 1e5  # spread of the pivots
MOST_CORRECTIONS = 8
LARGEST_CORRECTION = 1e4  # of a coordinate, against the violation it removes
SINGULAR = 1e11  # spread of the pivots above which accelerations and multipliers have lost their digits


class Limits(NamedTuple):
    """How an integration is watched."""

    projection: Floats  # tolerances of the projection: in steps, at outputs
    span: Floats  # last time asked for, last time at which all functions have a value
    worst: Floats  # largest errors at the three levels, filled on the way
    found: Floats  # the same for interpolated states


# Staying on the constraints ---------------------------------------------------------------------------


@kernel(inline=True)
def correct(q, change, violation):
    """q += change, unless the change is out of proportion, as in a singular pose."""
    size = 0.0
    for j in range(q.size):
        size = max(size, abs(change[j]))
    if size <= LARGEST_CORRECTION * violation:
        for j in range(q.size):
            q[j] += change[j]


@kernel(inline=True)
def project(S, D, t, q, qd, tolerance, worst, w):
    """Bring a state onto the constraints, first q, then qd. What was found goes into `worst`."""
    functions_at(S.functions, t, w.f)
    before, level = np.inf, 0
    for iteration in range(MOST_CORRECTIONS):
        place_frames(S, q, w.F)
        rows_at(S, t, w.F, w.f)
        phi_q(S, w.F, w.data)
        found = position_errors(S, w) if level == 0 else rate_errors(S, qd, w)
        if iteration == 0:
            worst[0] = max(worst[0], found)
        if level == 0 and (found <= tolerance or found > 0.5 * before):
            level, before = 1, np.inf
            found = rate_errors(S, qd, w)
            worst[1] = max(worst[1], found)
        if level == 1 and (found <= tolerance or found > 0.5 * before):
            return
        before = found
        for j in range(q.size):
            w.Q[j] = 0.0
        solve_kkt(S, D, w.Q, w.row, w)
        correct(q if level == 0 else qd, w.x, found)


@kernel(inline=True)
def position_errors(S, w):
    """-Phi into w.row; the largest of them."""
    phi(S, w.f, w.F, w.row)
    found = 0.0
    for i in range(w.row.size):
        w.row[i] = -w.row[i]
        found = max(found, abs(w.row[i]))
    return found


@kernel(inline=True)
def rate_errors(S, qd, w):
    """nu - Phi_q qd into w.row; the largest of them."""
    found = 0.0
    for i in range(w.row.size):
        w.row[i] = w.f[i, 1]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            w.row[i] -= w.data[p] * qd[S.jac_column[p]]
        found = max(found, abs(w.row[i]))
    return found


@kernel
def bring_back(S, D, t, q, qd, tolerance, worst, w):
    """Bring a state onto the constraints as well as rounding allows."""
    project(S, D, t, q, qd, tolerance, worst, w)


# Steps ------------------------------------------------------------------------------------------------


@kernel(inline=True)
def keep_slope(r, i, y, x):
    """K_i = (qd, qdd)."""
    n = y.size // 2
    for j in range(n):
        r.K[i, j] = y[n + j]
        r.K[i, n + j] = x[j]


@kernel
def evaluate_stages(S, L, D, T, r, limits, first, stop, t, h, w):
    """K_i = f(t + c_i h, Y_i) for the stages from `first` on; the new state, stage s, is put on the constraints.

    The stage after the last stands for an output: the state r.out at t is put on them more tightly, and its
    accelerations and multipliers stay in w.x. All uses share this one loop, since `accelerate` is inlined and large.
    """
    n, output = r.y.size // 2, T.C.size
    for i in range(first, stop):
        y, now, tolerance = r.trial, t, np.inf
        if i == 0:
            y = r.y
        elif i == output:
            y, tolerance = r.out, limits.projection[1]
        else:
            now = t + T.C[i] * h
            if i == T.stages:
                y, tolerance = r.new, limits.projection[0]
            stage_state(T, r, i, h, y)
        if tolerance < np.inf:
            worst = limits.found if i == output else limits.worst
            project(S, D, now, y[:n], y[n:], tolerance, worst, w)
        accelerate(S, L, D, now, y[:n], y[n:], w)
        if i < output:
            keep_slope(r, i, y, w.x)
    r.state[EVALUATIONS] += stop - first


@kernel(merge=True)
def offer_step(r, h, t):
    """The step whose last slope is known may be taken; it ends at t."""
    r.state[TAKE], r.state[END], r.state[DENSE] = h, t, 0.0


@kernel(merge=True)
def take_step(T, r):
    """The end of the step becomes the beginning of the next."""
    state = r.state
    state[TIME] = state[END]
    state[TAKE] = 0.0
    state[STEPS] += 1.0
    for k in range(r.y.size):
        r.y[k] = r.new[k]
        r.K[0, k] = r.K[T.stages, k]


@kernel(merge=True)
def stiffness(T, r, h):
    """h |lambda| estimated from the last two slopes, both at the end of the step."""
    top, bottom, s = 0.0, 0.0, T.stages
    for k in range(r.y.size):
        top += (r.K[s, k] - r.K[s - 1, k]) ** 2
        bottom += (r.new[k] - r.trial[k]) ** 2
    return h * np.sqrt(top / bottom) if bottom > 0.0 else 0.0


@kernel
def spread_of_pivots(D, n, v):
    """Largest over smallest pivot of the multipliers; v holds their reciprocals."""
    smallest, largest = 1.0e300, 0.0
    for i in range(n, D.diagonal.size):
        pivot = abs(v[D.diagonal[i]])
        smallest, largest = min(smallest, pivot), max(largest, pivot)
    return largest / smallest if largest > 0.0 else 1.0


# Outputs ----------------------------------------------------------------------------------------------


@kernel
def write_output(S, L, D, T, r, limits, t, k, history, w):
    """The state in r.out, brought onto the constraints, with its accelerations and multipliers."""
    evaluate_stages(S, L, D, T, r, limits, T.C.size, T.C.size + 1, t, 0.0, w)
    n = r.y.size // 2
    q, qd, x = r.out[:n], r.out[n:], w.x
    if np.isnan(r.state[SINGULAR_AT]) and spread_of_pivots(D, n, w.v) > SINGULAR:
        r.state[SINGULAR_AT] = t
    for j in range(n):
        history.Q[k, j], history.Qd[k, j], history.Qdd[k, j] = q[j], qd[j], x[j]
    for i in range(x.size - n):
        history.Lam[k, i] = x[n + i]
    # the acceleration equations as they were solved
    residual_of_kkt(S, w.Q, w.row, w)
    for i in range(x.size - n):
        limits.worst[2] = max(limits.worst[2], abs(w.rest[n + i]))


@kernel(merge=True)
def write_outputs(S, L, D, T, r, limits, times, k, history, w):
    """All outputs up to the end of the step that is to be taken; the next row to fill."""
    state = r.state
    while k < times.size and times[k] <= state[END]:
        if times[k] == state[END]:
            for j in range(r.y.size):
                r.out[j] = r.new[j]
        else:
            if state[DENSE] == 0.0:
                evaluate_stages(S, L, D, T, r, limits, T.stages + 1, T.C.size, state[TIME], state[TAKE], w)
                state[DENSE] = 1.0
            interpolate(T, r, state[TAKE], (times[k] - state[TIME]) / state[TAKE])
        write_output(S, L, D, T, r, limits, times[k], k, history, w)
        k += 1
    return k


# Loops ------------------------------------------------------------------------------------------------


@kernel(merge=True)
def try_step(S, L, D, T, r, limits, w):
    """One attempt; where it is good, it is left to be taken. Returns DONE, or why it is hopeless to go on."""
    state = r.state
    h = min(state[STEP], limits.span[1] - state[TIME])
    if h < 1.0e-14 * max(abs(state[TIME]), abs(limits.span[0])):
        return STEP_TOO_SMALL
    evaluate_stages(S, L, D, T, r, limits, 1, T.E.shape[1], state[TIME], h, w)
    error = step_error(T, r, h)
    state[STEP] = next_step(T, h, error, state[ERROR])
    if not error <= 1.0:
        return refuse_step(D, r, limits, h, error, w)
    t = limits.span[1] if h == limits.span[1] - state[TIME] else state[TIME] + h
    if T.E.shape[1] == T.stages:  # the error estimate has not asked for the slope at the end
        evaluate_stages(S, L, D, T, r, limits, T.stages, T.stages + 1, state[TIME], h, w)
    offer_step(r, h, t)
    state[ERROR], state[LONGEST] = error, max(state[LONGEST], h)
    state[STIFF] = state[STIFF] + 1.0 if stiffness(T, r, h) > T.stability else 0.0
    if state[STIFF] > STIFF_STEPS:
        state[TAKE] = 0.0
        return TOO_STIFF
    return DONE


@kernel(merge=True)
def refuse_step(D, r, limits, h, error, w):
    state = r.state
    state[REJECTED] += 1.0
    # functions may have no value behind the end, which need not be passed
    remaining = limits.span[0] - state[TIME]
    if not error < 1.0e10 and 0.0 < remaining < h:
        state[STEP] = remaining
    # near a singular pose short steps do not help: the caller knows a way over it
    near = h < COLLAPSED * state[LONGEST] and spread_of_pivots(D, r.y.size // 2, w.v) > NEARLY_SINGULAR
    return STEP_TOO_SMALL if near else DONE


@kernel(merge=True)
def begin(S, L, D, T, r, limits, times, k, history, w):
    """The first slope, a first step, and row k where it is due at the start; the next row to fill."""
    state, n = r.state, r.y.size // 2
    evaluate_stages(S, L, D, T, r, limits, 0, 1, state[TIME], 0.0, w)
    if state[STEP] == 0.0:
        state[STEP] = first_step(r)
    if k == times.size or times[k] > state[TIME]:
        return k
    for j in range(2 * n):
        r.out[j] = r.y[j]
    write_output(S, L, D, T, r, limits, state[TIME], k, history, w)
    return k + 1


@kernel(entry=True)
def integrate(S, L, D, T, r, limits, times, first, history, most_steps, w):
    """Fill the rows of the history from `first` on by error-controlled steps. Returns (next row, why it ended).

    Steps do not care for the outputs, which are interpolated; so a run that goes on later goes on as if it had
    never stopped.
    """
    k, state = first, r.state
    if state[EVALUATIONS] == 0.0:
        k = begin(S, L, D, T, r, limits, times, k, history, w)
    for _ in range(most_steps):
        if state[TAKE] > 0.0:
            k = write_outputs(S, L, D, T, r, limits, times, k, history, w)
            if k < times.size:
                take_step(T, r)
        if k == times.size:
            return k, DONE
        why = try_step(S, L, D, T, r, limits, w)
        if why != DONE:
            return k, why
    return k, PAUSED


@kernel(entry=True)
def make_dense(S, L, D, T, r, limits, w):
    """The stages that interpolation inside the step to be taken needs."""
    if r.state[DENSE] == 0.0:
        evaluate_stages(S, L, D, T, r, limits, T.stages + 1, T.C.size, r.state[TIME], r.state[TAKE], w)
        r.state[DENSE] = 1.0
