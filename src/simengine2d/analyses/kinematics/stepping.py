"""The compiled time loop of a driven mechanism: positions, velocities, accelerations.

    Phi(q, t) = 0,      Phi_q qd = nu,      Phi_q qdd = gamma

Positions group by group, or by Newton for the whole mechanism, from a third-order prediction. A step is accepted only
if Newton contracts fast, no body turns far from the prediction, the velocities change as the accelerations predict and
the determinant of Phi_q keeps its sign; else it is halved.

At a change point two branches meet, and a step from one onto the other after it keeps the sign. So the run never steps
over one: a step goes at most a fraction of the distance to where the determinant, extrapolated linearly, vanishes, and
from nearby (`ALERT`) `change_point` takes over and follows the branch by its smoothness.
"""

from __future__ import annotations

from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from .stepper import (
    ACCEPTED,
    ALERT,
    BUDGET,
    CONTEXT,
    CONTRADICTION,
    DETERMINANTS,
    DISTANCE,
    DONE,
    ENDED,
    FALL,
    FAR,
    KINK,
    LARGEST_TURN,
    LAST_STEP,
    MEASURE,
    NEARBY,
    NEXT,
    PAUSE,
    PIVOTS_EACH,
    REJECTED,
    REPIVOT,
    SIGN,
    SMALLEST,
    SOLVE,
    STOP,
    STUCK,
    SUSPECT,
    TIME,
    WANTED,
    WHY,
)

FIRST_TURN = 1e-3  # rad in the first substep, which shows the trend of the determinant
LARGEST_KINK = 5e-3  # change of velocity in one substep that the accelerations do not explain
APPROACH = 0.7  # fraction of the distance to a singular pose that one substep may go
SMALLEST_DIP = 0.3  # of the determinant between three poses, below which its minimum is examined closely
TOUCHED = 1e-6  # of the largest determinant so far: what grows again from there has left a change point, on any branch
FALLS = 1.0 + 1e-9  # a decrease of the determinant below which it is insignificant
VIOLATED = 1e-7  # a redundant row, relative to the mechanism's length


@kernel(inline=True)
def kink(w, h):
    """|qd_1 - qd_0 - h (qdd_0 + qdd_1) / 2| relative to the velocities: small on one smooth branch."""
    jump, fastest = 0.0, 0.0
    for j in range(w.q.size):
        jump = max(jump, abs(w.new_d[j] - w.qd[j] - 0.5 * h * (w.qdd[j] + w.new_dd[j])) * w.size[j])
        fastest = max(fastest, abs(w.qd[j]) * w.size[j], abs(w.new_d[j]) * w.size[j])
    return jump / fastest if fastest > 0.0 else 0.0


@kernel(inline=True)
def growth_of_determinant(w, g):
    """Determinant g at the pose just solved, relative to that at the last good pose; negative if its sign changed."""
    each, ratio = int(w.answer[PIVOTS_EACH]), 1.0
    for i in range(g * each, (g + 1) * each):
        ratio *= w.good_pivots[i] / w.pivots[i]
    return ratio


@kernel(inline=True)
def dips(before, h, fall, growth):
    """Whether the parabola through |det| at the last three poses, (fall, 1, growth), approaches zero between them."""
    if before == 0.0 or fall <= 1.0 or growth <= 1.0:
        return False
    left, right = (fall - 1.0) / before, (growth - 1.0) / h
    curvature = (left + right) / (before + h)
    slope = right - curvature * h
    return 1.0 - slope * slope / (4.0 * curvature) < SMALLEST_DIP


@kernel(inline=True)
def examine_determinants(w, h):
    """Whether each determinant keeps its sign and stays away from zero.

    Returns (DONE or why not, whether one has changed so much that branches are near).
    """
    why, near = DONE, False
    for g in range(int(w.answer[DETERMINANTS])):
        growth = growth_of_determinant(w, g)
        if not growth > 0.0 or (growth > 1.0 and w.level[g] < TOUCHED):
            return SIGN, True
        if dips(w.state[LAST_STEP], h, w.fall[g], growth):
            why = STUCK
        near = near or growth > 2.0 or growth < 0.5
        w.growth[g] = growth
    return why, near


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
        far = max(far, (abs(w.qd[j]) + 0.5 * h * abs(w.qdd[j])) * w.size[j])
    return far * h / w.length[0]


@kernel(inline=True)
def try_step(w, t, h, last_try):
    """From w.q, h before time t, to w.new at t. Returns DONE, or why the step is rejected."""
    for j in range(w.q.size):  # prediction q + h qd + h^2/2 qdd + h^3/6 jerk
        w.new[j] = w.q[j] + h * (w.qd[j] + h * (0.5 * w.qdd[j] + h / 6.0 * w.jerk[j]))
    invoke(w.calls[SOLVE], w.calls[CONTEXT], t, w.new, w.answer)
    why = int(w.answer[WHY])
    if why != DONE:
        return why
    for j in range(w.q.size):
        if not abs(w.new_dd[j]) < 1.0e100:
            return STUCK
    # the same branch, if velocities change smoothly and no determinant comes near zero
    w.state[KINK] = kink(w, h)
    why, near = examine_determinants(w, h)
    if why == SIGN:
        return SIGN
    if last_try:  # a driver may have a kink, which stops the shortest step only if branches are near
        return STUCK if near and w.state[KINK] > LARGEST_KINK else DONE
    return STUCK if w.state[KINK] > LARGEST_KINK else why


@kernel(inline=True)
def accept_step(w, t, h):
    w.state[TIME] = t
    w.state[ACCEPTED] += 1.0
    moved, frequency = 0.0, 1.0 / h
    for j in range(w.q.size):
        moved = max(moved, abs(w.new[j] - w.q[j]) * w.size[j])
        w.jerk[j] = (w.new_dd[j] - w.qdd[j]) * frequency
        w.q[j], w.qd[j], w.qdd[j] = w.new[j], w.new_d[j], w.new_dd[j]
    # the determinant that falls most
    fall = 0.0
    for g in range(int(w.answer[DETERMINANTS])):
        w.fall[g] = 1.0 / w.growth[g]
        w.level[g] = min(1.0, w.level[g] * w.growth[g])
        fall = max(fall, w.fall[g])
    for i in range(int(w.answer[DETERMINANTS] * w.answer[PIVOTS_EACH])):
        w.good_pivots[i] = w.pivots[i]
    w.state[FALL], w.state[LAST_STEP] = fall, h
    w.state[DISTANCE] = moved / w.length[0] / (fall - 1.0) if fall > FALLS else FAR
    if fall < 1.0:  # the singular pose has been passed
        w.state[ALERT] = NEARBY


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
def walk_to(w, t_end):
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
        last_try = 0.5 * h < w.state[SMALLEST] or t + 0.5 * h == t
        why = try_step(w, t_new, h, last_try)
        if why == DONE:
            accept_step(w, t_new, h)
            # the kink grows with the third power of the step
            w.state[WANTED] = 2.0 * h if w.state[KINK] < 0.1 * LARGEST_KINK else h
            continue
        if why == REPIVOT or last_try:
            return why
        w.state[REJECTED] += 1.0
        w.state[WANTED] = 0.5 * h
    w.state[WANTED] = FAR
    return DONE


@kernel_pointer
def step_through(c, t, times, motion):
    """Fill the outputs NEXT .. STOP - 1 of a motion (q, qd and qdd; times; coordinates).

    The stepper ends at the last good instant, with NEXT at the next output and ENDED at the reason.
    """
    w, n = c.w, c.w.q.size
    level = times.size * n
    w.state[ENDED] = DONE
    for k in range(int(w.state[NEXT]), int(w.state[STOP])):
        w.state[NEXT] = k
        why = walk_to(w, times[k])
        if why == DONE:
            invoke(w.calls[MEASURE], w.calls[CONTEXT], times[k], w.q, w.worst)
            if w.worst[0] > VIOLATED * w.length[0]:
                why = CONTRADICTION
        if why != DONE:
            w.state[ENDED] = why
            return
        at = k * n
        for j in range(n):
            motion[at + j], motion[level + at + j], motion[2 * level + at + j] = w.q[j], w.qd[j], w.qdd[j]
    w.state[NEXT] = w.state[STOP]
