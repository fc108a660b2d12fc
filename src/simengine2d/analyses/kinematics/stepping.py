"""The compiled time loop of a driven mechanism: positions, velocities, accelerations.

    Phi(q, t) = 0,      Phi_q qd = nu,      Phi_q qdd = gamma

Positions by Newton from a third-order prediction. A step is accepted only if Newton contracts fast, no body turns far,
the velocities change as the accelerations predict and the determinant of Phi_q keeps its sign; else it is halved.

At a change point two branches meet, and a step from one onto the other after it keeps the sign. So the run never steps
over one: a step goes at most a fraction of the distance to where the determinant, extrapolated linearly, vanishes, and
from nearby (`ALERT`) `change_point` takes over and follows the branch by its smoothness.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...expressions.function_table import functions_at
from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...numerics.rank import LOST_PIVOT
from ...numerics.sparse_lu import Pattern, factor, solve
from ...system.constraints import SystemArrays as Arrays
from ...system.constraints import gamma, move_on, phi, phi_q, place
from ...system.workspace import Workspace, new_workspace

# why the loop or a step ended
DONE, STUCK, REPIVOT, SIGN, SUSPECT, PAUSE, CONTRADICTION = range(7)

# entries of the state: time, sign of the determinant, accepted and rejected steps, steps before a pause;
# how much larger the determinant was one step ago, and that step (0 at the start); the distance to the singular
# pose predicted by the determinant, in rad or lengths of the mechanism, and the distance that raises the alert; of
# the step just tried its kink and the growth of the determinant; and the step to try next
TIME, DETERMINANT, ACCEPTED, REJECTED, BUDGET, FALL, LAST_STEP, DISTANCE, ALERT, KINK, GROWS, WANTED = range(
    12
)

LARGEST_TURN = 0.5  # rad in one substep
FIRST_TURN = 1e-3  # rad in the first substep, which shows the trend of the determinant
LARGEST_KINK = 5e-3  # change of velocity in one substep that the accelerations do not explain
APPROACH = 0.7  # fraction of the distance to a singular pose that one substep may go
SMALLEST_DIP = 0.3  # of the determinant between three poses, below which its minimum is examined closely
FALLS = 1.0 + 1e-9  # a decrease of the determinant below which it is insignificant
FAR = 1e300
NEARBY = 0.02  # rad, or lengths, within which a singular pose is examined
CONTRACTION = 0.2  # ratio of successive corrections
VIOLATED = 1e-7  # a redundant row, relative to the mechanism's length
GROWTH = 1e4  # size of a multiplier that calls for new pivots


class Stepper(NamedTuple):
    """The present state of the run, and its work arrays."""

    q: Floats
    qd: Floats
    qdd: Floats
    state: Floats
    scale: Floats  # of each coordinate, such that scaled coordinates are lengths
    length: Floats
    rows: Workspace  # the constraints at a state
    Phi: Floats
    lu: Floats
    work: Floats
    dq: Floats
    new: Floats
    new_d: Floats
    new_dd: Floats
    jerk: Floats
    pivots: Floats  # reciprocals, at the last good pose


class KinematicRows(NamedTuple):
    """The output of the run: one row per time, and the largest errors at the three levels."""

    Q: Floats
    Qd: Floats
    Qdd: Floats
    worst: Floats


def new_stepper(S: Arrays, P: Pattern, t: float, q: Floats, scale: Floats, length: float) -> Stepper:
    """A stepper at the closed pose q at time t."""
    n = q.size
    return Stepper(
        q.copy(),
        np.zeros(n),
        np.zeros(n),
        np.array([t, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, FAR, NEARBY, 0.0, 1.0, FAR]),
        scale,
        np.array([length]),
        new_workspace(S),
        np.empty(S.row_start.size - 1),
        np.empty(P.columns.size),
        *(np.zeros(n) for _ in range(7)),
    )


def new_motion(times: int, n: int) -> KinematicRows:
    return KinematicRows(np.zeros((times, n)), np.zeros((times, n)), np.zeros((times, n)), np.zeros(3))


@kernel(entry=True)
def position(S, P, w, t, q):
    """Newton for Phi(q, t) = 0 from the prediction in q, with the functions of time in w.rows.f.

    Returns (converged, largest multiplier of the factors).
    """
    # factor Phi_q at the prediction
    length, rows, lu, dq = w.length[0], w.rows, w.lu, w.dq
    place(S, t, q, rows)
    phi_q(S, rows)
    pivot, growth, _ = factor(P, rows.data, lu, w.work)
    if not pivot > LOST_PIVOT:
        return False, growth
    before = 1.0e300
    for iteration in range(8):
        # a correction, and its size as a length
        phi(S, rows, w.Phi)
        solve(P, lu, w.Phi, dq, w.work)
        size, turn, reach = 0.0, 0.0, length
        for j in range(q.size):
            q[j] -= dq[j]
            size = max(size, abs(dq[j]) / w.scale[j])
            reach = max(reach, abs(q[j]) / w.scale[j])
            if j % 3 == 2:
                turn = max(turn, abs(dq[j]))
        if not size < 1.0e100 or turn > LARGEST_TURN:
            return False, growth
        place(S, t, q, rows)
        # converged, or too slow
        nothing_left = size <= 1.0e-15 * reach or (iteration > 0 and size <= 1.0e-12 * reach)
        only_rounding_left = iteration > 0 and size <= 1.0e-9 * length and size >= 0.5 * before
        if nothing_left or only_rounding_left:
            return True, growth
        if size > CONTRACTION * before and size > 1.0e-9 * length:
            return False, growth
        before = size
    return False, growth


@kernel(entry=True)
def rates(S, P, w, t, q, qd, qdd):
    """Velocities and accelerations at a closed pose. Returns (smallest pivot, growth, sign)."""
    rows = w.rows
    place(S, t, q, rows)
    phi_q(S, rows)
    pivot, growth, sign = factor(P, rows.data, w.lu, w.work)
    if not pivot > LOST_PIVOT:
        return pivot, growth, sign
    for i in range(rows.row.size):  # nu = f'
        rows.row[i] = rows.f[i, 1]
    solve(P, w.lu, rows.row, qd, w.work)
    move_on(S, t, qd, rows)
    gamma(S, rows, rows.row)
    solve(P, w.lu, rows.row, qdd, w.work)
    return pivot, growth, sign


@kernel(inline=True)
def kink(w, h):
    """|qd_1 - qd_0 - h (qdd_0 + qdd_1) / 2| relative to the velocities: small on one smooth branch."""
    jump, fastest = 0.0, 0.0
    for j in range(w.q.size):
        jump = max(jump, abs(w.new_d[j] - w.qd[j] - 0.5 * h * (w.qdd[j] + w.new_dd[j])) / w.scale[j])
        fastest = max(fastest, abs(w.qd[j]) / w.scale[j], abs(w.new_d[j]) / w.scale[j])
    return jump / fastest if fastest > 0.0 else 0.0


@kernel(inline=True)
def growth_of_determinant(P, w):
    """|det| at the pose just factored, relative to that at the last good pose: the product of the ratios of pivots."""
    ratio = 1.0
    for i in range(w.pivots.size):
        ratio *= w.pivots[i] / w.lu[P.diagonal[i]]
    return abs(ratio)


@kernel(inline=True)
def dips(w, h):
    """Whether the parabola through |det| at the last three poses, (fall, 1, growth), approaches zero between them."""
    fall, before, growth = w.state[FALL], w.state[LAST_STEP], w.state[GROWS]
    if before == 0.0 or fall <= 1.0 or growth <= 1.0:
        return False
    left, right = (fall - 1.0) / before, (growth - 1.0) / h
    curvature = (left + right) / (before + h)
    slope = right - curvature * h
    return 1.0 - slope * slope / (4.0 * curvature) < SMALLEST_DIP


@kernel(inline=True)
def time_to_zero(w):
    """Time until |det| vanishes if the trend of the last step continues."""
    if w.state[LAST_STEP] == 0.0 or w.state[FALL] <= FALLS:
        return FAR
    return w.state[LAST_STEP] / (w.state[FALL] - 1.0)


@kernel(inline=True)
def travel(w, h):
    """How far the fastest coordinate moves in a time h, in rad or lengths of the mechanism."""
    far = 0.0
    for j in range(w.q.size):
        far = max(far, (abs(w.qd[j]) + 0.5 * h * abs(w.qdd[j])) / w.scale[j])
    return far * h / w.length[0]


@kernel(inline=True)
def try_step(S, P, w, t, h, last_try):
    """From w.q, h before time t, to w.new at t. Returns DONE, or why the step is rejected."""
    for j in range(w.q.size):  # prediction q + h qd + h^2/2 qdd + h^3/6 jerk
        w.new[j] = w.q[j] + h * (w.qd[j] + h * (0.5 * w.qdd[j] + h / 6.0 * w.jerk[j]))
    functions_at(S.functions, w.rows.scratch, t, w.rows.f)
    ok, growth = position(S, P, w, t, w.new)
    if not ok:
        return REPIVOT if growth > GROWTH else STUCK
    # velocities and accelerations, if the factors are good and the determinant has kept its sign
    pivot, growth, sign = rates(S, P, w, t, w.new, w.new_d, w.new_dd)
    if growth > GROWTH:
        return REPIVOT
    if not pivot > LOST_PIVOT:
        return STUCK
    if sign != w.state[DETERMINANT]:
        return SIGN
    for j in range(w.q.size):
        if not abs(w.new_dd[j]) < 1.0e100:
            return STUCK
    # the same branch, if velocities change smoothly and the determinant does not come near zero
    w.state[KINK], w.state[GROWS] = kink(w, h), growth_of_determinant(P, w)
    # a driver may have a kink, which stops the shortest step only if branches are near
    if last_try:
        near = w.state[GROWS] > 2.0 or w.state[GROWS] < 0.5
        return STUCK if near and w.state[KINK] > LARGEST_KINK else DONE
    return STUCK if w.state[KINK] > LARGEST_KINK or dips(w, h) else DONE


@kernel(inline=True)
def accept_step(P, w, t, h):
    w.state[TIME] = t
    w.state[ACCEPTED] += 1.0
    moved = 0.0
    for j in range(w.q.size):
        moved = max(moved, abs(w.new[j] - w.q[j]) / w.scale[j])
        w.jerk[j] = (w.new_dd[j] - w.qdd[j]) / h
        w.q[j], w.qd[j], w.qdd[j] = w.new[j], w.new_d[j], w.new_dd[j]
    fall = 1.0 / w.state[GROWS]
    w.state[FALL], w.state[LAST_STEP] = fall, h
    w.state[DISTANCE] = moved / w.length[0] / (fall - 1.0) if fall > FALLS else FAR
    if fall < 1.0:  # the singular pose has been passed
        w.state[ALERT] = NEARBY
    keep_pivots(P, w)


@kernel(inline=True)
def keep_pivots(P, w):
    for i in range(w.pivots.size):
        w.pivots[i] = w.lu[P.diagonal[i]]


@kernel(inline=True)
def step_size(w, wanted, remaining):
    """At most the wanted step, a fraction of the distance to a singular pose and a limited turn.

    No sliver is left before the output.
    """
    h = min(wanted, remaining, APPROACH * time_to_zero(w))
    if w.state[LAST_STEP] == 0.0:
        far = travel(w, h)
        if far > FIRST_TURN:
            h *= FIRST_TURN / far
    if remaining - h < 1.0e-3 * h:
        h = remaining
    fastest = 0.0
    for j in range(2, w.q.size, 3):
        fastest = max(fastest, abs(w.qd[j]))
    if fastest * h > LARGEST_TURN:
        h = LARGEST_TURN / fastest
    return h


@kernel(inline=True)
def walk_to(S, P, w, t_end, smallest_step):
    """Substeps until t_end. Returns DONE, or why it stopped early; a pause does not change the steps."""
    while w.state[TIME] < t_end:
        if w.state[BUDGET] <= 0.0:
            return PAUSE
        w.state[BUDGET] -= 1.0
        if w.state[DISTANCE] < w.state[ALERT]:
            return SUSPECT
        t = w.state[TIME]
        h = step_size(w, w.state[WANTED], t_end - t)
        t_new = t_end if h == t_end - t else t + h
        last_try = 0.5 * h < smallest_step or t + 0.5 * h == t
        why = try_step(S, P, w, t_new, h, last_try)
        if why == DONE:
            accept_step(P, w, t_new, h)
            # the kink grows with the third power of the step
            w.state[WANTED] = 2.0 * h if w.state[KINK] < 0.1 * LARGEST_KINK else h
            continue
        if why == REPIVOT or last_try:
            return why
        w.state[REJECTED] += 1.0
        w.state[WANTED] = 0.5 * h
    w.state[WANTED] = FAR
    return DONE


@kernel(inline=True)
def largest_errors(S, w, worst):
    """Errors of all rows, redundant ones too, at the three levels."""
    start, column, data, qd, qdd = S.jac_start, S.jac_column, w.rows.data, w.qd, w.qdd
    phi(S, w.rows, w.Phi)
    for i in range(w.Phi.size):
        velocity, acceleration = -w.rows.f[i, 1], -w.rows.row[i]
        for p in range(start[i], start[i + 1]):
            velocity += data[p] * qd[column[p]]
            acceleration += data[p] * qdd[column[p]]
        worst[0] = max(worst[0], abs(w.Phi[i]))
        worst[1] = max(worst[1], abs(velocity))
        worst[2] = max(worst[2], abs(acceleration))


@kernel(entry=True)
def step_through(S, P, w, times, first, stop, motion, smallest_step):
    """Fill rows first..stop-1 of the motion. Returns (next row, why it ended).

    The stepper ends at the last good instant.
    """
    functions_at(S.functions, w.rows.scratch, w.state[TIME], w.rows.f)
    rates(S, P, w, w.state[TIME], w.q, w.qd, w.qdd)
    keep_pivots(P, w)
    for k in range(first, stop):
        why = walk_to(S, P, w, times[k], smallest_step)
        if why != DONE:
            return k, why
        largest_errors(S, w, motion.worst)
        if motion.worst[0] > VIOLATED * w.length[0]:
            return k, CONTRADICTION
        for j in range(w.q.size):
            motion.Q[k, j], motion.Qd[k, j], motion.Qdd[k, j] = w.q[j], w.qd[j], w.qdd[j]
    return stop, DONE
