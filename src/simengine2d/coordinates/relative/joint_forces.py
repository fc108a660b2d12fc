"""Multipliers in relative coordinates: the forces in the joints of the tree, from the last bodies inward.

    f_k = m_k a_k - Q_k + sum f_j,      f_k = -Phi_q^T lam of the joint,      j: bodies on k, and rows that close loops

These are the Newton-Euler equations on the arms with which the accelerations were just computed, and with them the
multipliers of the rows that close loops. A pin carries the force, so the moment about it has to vanish; of other joints
the three equations of the body give the multipliers, by least squares. What is left over is checked, and so are all
rows. Where loops do not hold to the last digits, or are near a singular pose, the whole system is solved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ...numerics.lanes import anywhere, larger
from ...system.frames import EX as ARM_X
from ...system.frames import EY as ARM_Y
from ...system.frames import term_gradient
from ...system.kkt_refinement import SHARE, larger_share
from ..equations import OutputMonitors
from .held_rows import HeldRows, held_row, hold_body, parent_force, place_held
from .loops import OTHER, PINNED, ROW, Loops, place_tree_frames, spread_of_loops
from .row_errors import (
    GAP,
    SHARED,
    check_row,
    note_largest,
    note_row,
    pin_errors,
    point_at,
    point_errors,
)
from .tree_motion import (  # fmt: skip
    ALPHA,
    AX,
    AY,
    CX,
    CY,
    DX,
    DY,
    INERTIA,
    MASS,
    OMEGA,
    PARENT,
    Tree,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOLDS = 1e-11  # residual of an equation, relative to its terms, that is accepted
NEAR_SINGULAR = 1e6  # spread of the pivots of the loops from which the whole system is solved

# columns of `carried`: force and moment of the bodies outboard, and the sizes of the terms of both
FX, FY, MOMENT, OF_FORCES, OF_MOMENTS = range(5)


class JointForces(NamedTuple):
    """Context of `joint_forces`. Bodies are numbered as in the tree."""

    T: Tree
    arms: Floats  # lengths by which moments are compared with forces
    per_row: Floats  # the length of the mechanism that an error of a row corresponds to
    applied: Floats  # forces and moments about O; empty if there are none
    pin: Ints  # (bodies, 2): the rows of x and y in each pin; -1 for other joints
    weight: Floats  # (bodies, 2): Phi_q for x and y of the body in these rows
    carried: Floats  # (bodies, 5)
    held: HeldRows
    loops: Loops
    closing: Ints  # rows of the system that close loops
    follows: int  # 1 if accelerations are those of the equations of motion at the state
    errors: Floats  # (5): the largest of rows
    monitors: OutputMonitors
    whole_f: Any  # the same from the whole system; 0 if no loops are closed
    whole_c: Any


@kernel_pointer
def joint_forces(c, t, y, out):
    """lam of the state whose accelerations were just computed, with y = (q, qd, qdd)."""
    closed, errors, monitors = c.whole_f != 0, c.errors, c.monitors
    if closed and is_singular(c):
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    lost = balance(c, c, y, out)
    if closed and not lost <= HOLDS:
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    for k in range(3):
        monitors.errors[k] = max(monitors.errors[k], errors[k])
    monitors.lost[1] = max(monitors.lost[1], errors[GAP])
    monitors.changed[1] = larger_share(monitors.changed[1], errors[SHARED], 1.0)
    if not lost <= monitors.lost[0]:
        monitors.lost[0] = lost


@kernel(inline=True)
def balance(c, w, y, out):
    """lam, and what is left over of the equations, relative to its terms. What is written on the way is in `w`."""
    for a in range(w.errors.size):
        w.errors[a] = 0.0
    for k in range(c.pin.shape[0]):
        for a in range(5):
            w.carried[k, a] = 0.0
    # what is small against the usual acceleration need not vanish against terms that do
    usual = SHARE * mean_acceleration(w.T, c.arms, w.applied)
    close_rows(c, w, y, usual, out)
    lost = forces_inward(c, w, y, usual, out)
    if c.whole_f != 0 and c.follows == 1:  # else rows are pulled or give way, and need not hold
        lost = larger_share(lost, w.errors[SHARED], 1.0)
    return lost


# Rows that close loops --------------------------------------------------------------------------------


@kernel(inline=True)
def close_rows(c, w, y, usual, out):
    """The multipliers of rows that close loops, and their forces on the bodies at both ends."""
    loops = w.loops
    for g in range(loops.group.shape[0] - 1):
        i, j = loops.group[g, ROW], loops.group[g, OTHER]
        if loops.group[g, PINNED] == 1:
            out[c.closing[i]], out[c.closing[j]] = loops.lam[i], loops.lam[j]
            close_pin(w, y, i, j)
            continue
        close_row(c, w, i, usual, out)
        if j < c.closing.size:
            close_row(c, w, j, usual, out)


@kernel(inline=True)
def close_pin(w, y, i, j):
    loops, weight = w.loops, w.loops.weight
    r, s = loops.row_start[i], loops.row_start[j]
    a, b, fx, fy = loops.term[r, 1], loops.term[r, 2], weight[r] * loops.lam[i], weight[s] * loops.lam[j]
    press(w, b, fx, fy)
    press(w, a, -fx, -fy)
    one, other = point_at(w, y, b), point_at(w, y, a)
    # Phi = w (b - a) - f, with a constant f
    gap = (one[0] - other[0] - loops.f[i, 0] / weight[r], one[1] - other[1] - loops.f[j, 0] / weight[s])
    position, rate, second = point_errors(gap, one, other)
    size = abs(one[4]) + abs(one[5]) + abs(other[4]) + abs(other[5])
    note_row(w.errors, position, rate, second, position, size)


@kernel(inline=True)
def press(w, frame, fx, fy):
    """A force at a frame, taken to the pin of its body."""
    k, F, carried = w.loops.frame_body[frame], w.loops.F, w.carried
    if k < w.T.numbers.shape[0]:
        one, two = F[frame, ARM_X] * fy, F[frame, ARM_Y] * fx
        carried[k, FX] += fx
        carried[k, FY] += fy
        carried[k, MOMENT] += one - two
        carried[k, OF_FORCES] += abs(fx) + abs(fy)
        carried[k, OF_MOMENTS] += abs(one) + abs(two)


@kernel
def close_row(c, w, i, usual, out):
    """One row of any kind."""
    out[c.closing[i]] = w.loops.lam[i]
    press_row(w, i, w.loops.lam[i])
    check_row(c, w, i, c.per_row[c.closing[i]], usual)


@kernel
def press_row(w, i, lam):
    """Phi_q^T lam of one row on its bodies."""
    rows, carried = w.loops, w.carried
    term = rows.term
    for r in range(rows.row_start[i], rows.row_start[i + 1]):
        g = term_gradient(term[r, 0], rows.F, term[r, 1], term[r, 2])
        force = rows.weight[r] * lam
        for side in range(2):
            k = rows.frame_body[term[r, 1 + side]]
            if k == w.T.numbers.shape[0]:
                continue
            gx, gy, turn = (g[3], g[4], g[5]) if side else (g[0], g[1], g[2])
            carried[k, FX] += force * gx
            carried[k, FY] += force * gy
            carried[k, MOMENT] += force * turn
            carried[k, OF_FORCES] += abs(force * gx) + abs(force * gy)
            carried[k, OF_MOMENTS] += abs(force * turn)


# Inward -----------------------------------------------------------------------------------------------


@kernel(inline=True)
def forces_inward(c, w, y, usual, out):
    """The multipliers of all joints of the tree. Returns what is left over, relative to its terms.

    What is written on the way is in `w`.

    What a body hands to the one before it, which is most often its parent, stays at hand.
    """
    T, held, carried, applied = w.T, w.held, w.carried, w.applied
    J, N, nb = T.constant, T.state, T.numbers.shape[0]
    lost = position = velocity = acceleration = shared = 0.0
    hand_x = hand_y = hand_moment = hand_forces = hand_moments = 0.0
    if held.frame_body.size > 0:
        place_tree_frames(N, held.frame_body, held.frame, held.F)
    for k in range(nb - 1, -1, -1):
        m, cx, cy = J[k, MASS], N[k, CX], N[k, CY]
        mx, my, turning, one, two = inertial_force(J, N, k)
        fx, fy = hand_x + (carried[k, FX] + mx), hand_y + (carried[k, FY] + my)
        moment = hand_moment + (carried[k, MOMENT] + (turning + one - two))
        of_forces = hand_forces + (carried[k, OF_FORCES] + abs(mx) + abs(my))
        of_moments = hand_moments + (carried[k, OF_MOMENTS] + abs(turning) + abs(one) + abs(two))
        hand_x = hand_y = hand_moment = hand_forces = hand_moments = 0.0
        if applied.size > 0:
            fx, fy = fx - applied[3 * k], fy - applied[3 * k + 1]
            moment -= applied[3 * k + 2]
            of_forces += abs(applied[3 * k]) + abs(applied[3 * k + 1])
            of_moments += abs(applied[3 * k + 2])
        # what are rounding errors of other terms need not vanish
        arm = c.arms[k]
        of_moments += (m * (abs(cx) + abs(cy)) + J[k, INERTIA] / arm) * usual
        if c.pin[k, 0] < 0:
            place_held(held, k)
            lost = hold_body(held, k, arm, fx, fy, moment, of_forces + m * usual, of_moments, lost, out)
            pass_on_and_check(c, w, k, usual, out)
            continue
        # a pin carries a force alone
        lost = larger_share(lost, abs(moment), larger(of_moments, SHARE * of_forces * arm))
        out[c.pin[k, 0]], out[c.pin[k, 1]] = -fx / c.weight[k, 0], -fy / c.weight[k, 1]
        p = T.numbers[k, PARENT]
        if p < nb:
            one, two = N[k, DX] * fy, N[k, DY] * fx
            if p == k - 1:
                hand_x, hand_y, hand_moment = fx, fy, one - two
                hand_forces, hand_moments = abs(fx) + abs(fy), abs(one) + abs(two)
            else:
                carry(carried, p, fx, fy, one - two, abs(one) + abs(two))
        gap, rate, second, size = pin_errors(T, k, y)
        position, velocity = larger(position, gap), larger(velocity, rate)
        acceleration = larger(acceleration, second)
        if anywhere(second > 0.0):
            shared = larger_share(shared, second, size)
    note_largest(w.errors, position, velocity, acceleration, position)
    w.errors[SHARED] = larger_share(w.errors[SHARED], shared, 1.0)
    return lost


@kernel(inline=True)
def inertial_force(J, N, k):
    """m a of the mass center, and the terms of the moment about O; the ground accelerates with -g."""
    m, cx, cy, alpha, omega2 = J[k, MASS], N[k, CX], N[k, CY], N[k, ALPHA], N[k, OMEGA] * N[k, OMEGA]
    mx = m * (N[k, AX] - alpha * cy - omega2 * cx)
    my = m * (N[k, AY] + alpha * cx - omega2 * cy)
    return mx, my, J[k, INERTIA] * alpha, cx * my, cy * mx


@kernel(inline=True)
def carry(carried, p, fx, fy, moment, of_moments):
    """A force and a moment on a body, and the sizes of their terms."""
    carried[p, FX] += fx
    carried[p, FY] += fy
    carried[p, MOMENT] += moment
    carried[p, OF_FORCES] += abs(fx) + abs(fy)
    carried[p, OF_MOMENTS] += of_moments


@kernel
def pass_on_and_check(c, w, k, usual, out):
    """The reaction of a joint that is not a pin on the parent, and the errors of its rows."""
    T, held, p = w.T, w.held, w.T.numbers[k, PARENT]
    on_a_body = p < T.numbers.shape[0]
    for i in range(held.start[k], held.start[k + 1]):
        if on_a_body:
            fx, fy, moment = parent_force(held, i, out[held.number[i]])
            carry(w.carried, p, fx, fy, moment, abs(moment))
        parent_arm = c.arms[p] if on_a_body else 1.0
        value, rate, second, size = held_row(T, held, k, i, c.arms[k], parent_arm, usual)
        length = c.per_row[held.number[i]]
        note_row(w.errors, abs(value), abs(rate), abs(second), abs(value) * length, size)


@kernel(inline=True)
def mean_acceleration(T, arms, applied):
    """Of all bodies, weighted by mass: the actual one with the weight, or the one that applied forces would cause."""
    J, momenta, masses, forces = T.constant, 0.0, 0.0, 0.0
    for k in range(J.shape[0]):
        momenta += J[k, MASS] * reach_of_body(T, arms, k)
        masses += J[k, MASS]
    for k in range(applied.size // 3):
        forces += abs(applied[3 * k]) + abs(applied[3 * k + 1]) + abs(applied[3 * k + 2]) / arms[k]
    return larger(momenta, forces) / masses


@kernel(inline=True)
def reach_of_body(T, arms, k):
    """The acceleration of a body, its turning as a length."""
    N = T.state
    return abs(N[k, AX]) + abs(N[k, AY]) + arms[k] * abs(N[k, ALPHA])


@kernel
def is_singular(c):
    """Whether the pose may be singular, or what is usual is not known yet."""
    return np.isnan(c.monitors.singular_at[1]) or spread_of_loops(c.loops) > NEAR_SINGULAR
