"""The compiled walk through time of a driven mechanism: positions, velocities, accelerations.

    Phi(q, t) = 0,      Phi_q qd = nu,      Phi_q qdd = gamma

Positions by Newton from a third-order prediction. A step is kept only if Newton contracts fast, no body turns far
and the determinant of Phi_q keeps its sign; else it is halved. So the walk cannot jump to another assembly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.reference_point import FRAME_STATE, move_frames, place_frames
from ..functions import functions_at
from ..kernels import kernel
from ..sparse_lu import Pattern, factor, solve
from ..system import S as Arrays
from ..system import gamma, phi, phi_q

Floats = NDArray[np.float64]

DONE, STUCK, REPIVOT, SIGN, NEAR_SINGULAR, CONTRADICTION = range(6)

LARGEST_TURN = 0.5  # rad in one substep
LARGEST_KINK = 0.05  # change of velocity in one substep that the accelerations do not explain
CONTRACTION = 0.2  # ratio of successive corrections
SINGULAR = 1e-11  # pivot relative to its row
NEAR = 1e-6  # below this pivot the accelerations have lost too many digits
VIOLATED = 1e-7  # a redundant row, relative to the mechanism's length
GROWTH = 1e4  # size of a multiplier that asks for new pivots


class Scratch(NamedTuple):
    """Arrays the march works in."""

    F: Floats
    f: Floats
    residual: Floats
    rhs: Floats
    data: Floats
    lu: Floats
    work: Floats
    dq: Floats
    trial: Floats
    trial_d: Floats
    trial_dd: Floats
    jerk: Floats


def new_scratch(S: Arrays, P: Pattern) -> Scratch:
    n, m = 3 * S.mass.size, S.row_start.size - 1
    return Scratch(
        np.zeros((S.frame_body.size, FRAME_STATE)),
        np.empty((m, 3)),
        np.empty(m),
        np.empty(m),
        np.empty(S.jac_column.size),
        np.empty(P.columns.size),
        *(np.empty(n) for _ in range(6)),
    )


@kernel
def position(S, P, f, q, scale, length, F, residual, data, lu, dq, work):
    """Newton for Phi(q, t) = 0 from the prediction in q; f holds the functions of time. Returns (converged, pivot, growth, sign)."""
    n = q.size
    place_frames(S, q, F)
    phi_q(S, F, data)
    pivot, growth, sign = factor(P, data, lu, work)
    if not pivot > SINGULAR:
        return False, pivot, growth, sign
    before = 1.0e300
    for iteration in range(8):
        phi(S, f, F, residual)
        solve(P, lu, residual, dq, work)
        size, turn, reach = 0.0, 0.0, length
        for j in range(n):
            q[j] -= dq[j]
            size = max(size, abs(dq[j]) / scale[j])
            reach = max(reach, abs(q[j]) / scale[j])
            if j % 3 == 2:
                turn = max(turn, abs(dq[j]))
        if not size < 1.0e100 or turn > LARGEST_TURN:
            return False, pivot, growth, sign
        place_frames(S, q, F)
        if size <= 1.0e-15 * reach or (iteration > 0 and size <= 1.0e-9 * length and size >= 0.5 * before):
            return True, pivot, growth, sign  # nothing left, or only rounding left
        if size <= 1.0e-12 * reach and iteration > 0:
            return True, pivot, growth, sign
        if size > CONTRACTION * before and size > 1.0e-9 * length:
            return False, pivot, growth, sign
        before = size
    return False, pivot, growth, sign


@kernel
def rates(S, P, f, q, qd, qdd, F, data, rhs, lu, work):
    """Velocities and accelerations at a closed pose. Returns (pivot, growth, sign)."""
    place_frames(S, q, F)
    phi_q(S, F, data)
    pivot, growth, sign = factor(P, data, lu, work)
    if not pivot > SINGULAR:
        return pivot, growth, sign
    for i in range(rhs.size):  # nu = f'
        rhs[i] = f[i, 1]
    solve(P, lu, rhs, qd, work)
    move_frames(S, qd, F)
    gamma(S, f, F, rhs)
    solve(P, lu, rhs, qdd, work)
    return pivot, growth, sign


@kernel
def residuals(S, f, F, data, gammas, qd, qdd, phis, worst):
    """Largest errors of all rows, redundant ones too, at the three levels."""
    start, column = S.jac_start, S.jac_column
    phi(S, f, F, phis)
    for i in range(phis.size):
        velocity, acceleration = -f[i, 1], -gammas[i]
        for p in range(start[i], start[i + 1]):
            velocity += data[p] * qd[column[p]]
            acceleration += data[p] * qdd[column[p]]
        worst[0] = max(worst[0], abs(phis[i]))
        worst[1] = max(worst[1], abs(velocity))
        worst[2] = max(worst[2], abs(acceleration))


@kernel
def kink(h, qd, qdd, new_d, new_dd, scale):
    """|qd_1 - qd_0 - h (qdd_0 + qdd_1) / 2| relative to the velocities: small on one smooth branch."""
    jump, fastest = 0.0, 0.0
    for j in range(qd.size):
        jump = max(jump, abs(new_d[j] - qd[j] - 0.5 * h * (qdd[j] + new_dd[j])) / scale[j])
        fastest = max(fastest, abs(qd[j]) / scale[j], abs(new_d[j]) / scale[j])
    return jump / fastest if fastest > 0.0 else 0.0


@kernel
def march(S, P, w, times, first, q, qd, qdd, state, scale, length, Q, Qd, Qdd, worst, smallest_step, near_known):
    """Fill rows `first`.. of Q, Qd, Qdd at `times` from the closed state (q, qd, qdd) at state[0].

    state = [t, sign of the determinant, substeps, rejected steps]. q, qd, qdd and state end at the last good
    instant. Returns (next row, why it ended). Nearly singular outputs before row `near_known` are not reported.
    """
    n = q.size
    F, f, residual, rhs, data, lu, work = w.F, w.f, w.residual, w.rhs, w.data, w.lu, w.work
    dq, trial, trial_d, trial_dd, jerk = w.dq, w.trial, w.trial_d, w.trial_dd, w.jerk
    for j in range(n):
        jerk[j] = 0.0
    functions_at(S.functions, state[0], f)
    pivot, growth, sign = rates(S, P, f, q, qd, qdd, F, data, rhs, lu, work)
    step = 1.0e300
    for k in range(first, times.size):
        while state[0] < times[k]:
            t = state[0]
            h = min(step, times[k] - t)
            if times[k] - (t + h) < 1.0e-3 * h:  # no sliver before the output
                h = times[k] - t
            fastest = 0.0
            for j in range(2, n, 3):
                fastest = max(fastest, abs(qd[j]))
            if fastest * h > LARGEST_TURN:
                h = LARGEST_TURN / fastest
            t_new = times[k] if h == times[k] - t else t + h
            # prediction q + h qd + h^2/2 qdd + h^3/6 jerk
            for j in range(n):
                trial[j] = q[j] + h * (qd[j] + h * (0.5 * qdd[j] + h / 6.0 * jerk[j]))
            functions_at(S.functions, t_new, f)
            ok, pivot, growth, sign = position(S, P, f, trial, scale, length, F, residual, data, lu, dq, work)
            why, last_try = STUCK, 0.5 * h < smallest_step
            if ok:
                pivot, growth, sign = rates(S, P, f, trial, trial_d, trial_dd, F, data, rhs, lu, work)
                if not pivot > SINGULAR:
                    ok = False
                elif sign != state[1]:
                    ok, why = False, SIGN
                elif kink(h, qd, qdd, trial_d, trial_dd, scale) > LARGEST_KINK and not last_try:
                    ok = False  # a driver may have a kink, so the shortest step is not held up by one
                for j in range(n):
                    if not abs(trial_dd[j]) < 1.0e100:
                        ok = False
            if not ok or growth > GROWTH:
                if growth > GROWTH:
                    return k, REPIVOT
                state[3] += 1.0
                step = 0.5 * h
                if last_try or t + step == t:
                    return k, why
                continue
            # accept; let the step grow again
            state[0] = t_new
            state[2] += 1.0
            for j in range(n):
                jerk[j] = (trial_dd[j] - qdd[j]) / h
                q[j], qd[j], qdd[j] = trial[j], trial_d[j], trial_dd[j]
            step = 2.0 * h
        if pivot < NEAR and k >= near_known:
            return k, NEAR_SINGULAR
        residuals(S, f, F, data, rhs, qd, qdd, residual, worst)
        if worst[0] > VIOLATED * length:
            return k, CONTRADICTION
        for j in range(n):
            Q[k, j], Qd[k, j], Qdd[k, j] = q[j], qd[j], qdd[j]
    return times.size, DONE
