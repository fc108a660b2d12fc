"""Natural and mixed coordinates as kernels: z holds points, unit vectors, and angles and distances where needed.

A body is at r_G = r_1 + c_G D and is turned as its base vector D, or by its own angle alpha. Its rows are

    length     D . D - L^2 = 0
    point      r_3 - (r_1 + c D) = 0
    angle      D_x - L cos(alpha + heading) = 0,   or   D_y - L sin(alpha + heading) = 0
    distance   d . d - s^2 = 0

where heading is the angle of D in the body. The mass matrix is constant, so Q = R^T QA without velocity terms.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer

# after the angles and the rates of all bodies: the time of both, 1 where they are known, and how doubtful turns are
TIME, KNOWN, DOUBT = range(3)
TAIL = 3
TURN = 2.0 * pi
STEEP = 0.25  # slope of an angle row, relative to L, down to which the row of the last step is used


class NaturalArrays(NamedTuple):
    """How the bodies are composed. A place is an index into z; from n on, it denotes a fixed number."""

    turns: Floats  # angles of the bodies at the end of the last step, their rates, and the tail
    fixed: Floats  # coordinates of the points on the ground
    # one of each per body
    origin: Ints  # place of x_1; y_1 follows
    tip: Ints  # place of x_2 or of the unit vector; -1 if the body is a point
    reach: Floats  # 1 if D = r_2 - r_1, 0 if D is the unit vector
    center: Floats  # (bodies, 2), c_G
    heading: Floats
    length: Floats
    alpha: Ints  # place of the body's own angle; -1 if it has none
    length_row: Ints  # -1 if there is none
    angle_row: Ints
    D: Floats  # (bodies, 4), D and its rate
    # one of each per further point
    point_body: Ints
    point: Ints
    point_row: Ints
    point_weight: Floats  # (points, 2), c
    # one of each per distance
    distance: Ints
    distance_row: Ints
    distance_kept: Ints  # which of the remaining rows holds it


@kernel_pointer
def remember(c, t, y, out):
    """The angles of the bodies and their rates."""
    Z, bodies = c.Z, c.Z.tip.size
    last = Z.turns[2 * bodies :]
    base_vectors(Z, y)
    doubt = last[DOUBT]
    for b in range(bodies):
        phi, w = angle_at(Z, t, y, b), rate_at(Z, y, b)
        if last[KNOWN] == 1.0 and Z.alpha[b] < 0:
            doubt = max(doubt, doubt_of_turn(Z, t, b, phi, w))
        out[b], out[bodies + b] = phi, w
    out[2 * bodies + TIME], out[2 * bodies + KNOWN], out[2 * bodies + DOUBT] = t, 1.0, doubt


@kernel
def doubt_of_turn(Z, t, b, phi, w):
    """How close a step came to miscounting the turns of a body; from 1 on it may have done so.

    h |w|: a full turn in one step. h |w - w_0| / 2: half a turn, by which the mean of both rates may be wrong.
    |phi - phi_0 - h (w_0 + w) / 2|: a quarter, since this is known up to full turns and never larger than a half.
    """
    bodies = Z.tip.size
    h, w0 = t - Z.turns[2 * bodies + TIME], Z.turns[bodies + b]
    missed = abs(phi - Z.turns[b] - 0.5 * h * (w0 + w))
    return max(h * abs(w), h * abs(w0), h * abs(w - w0), 4.0 * missed) / TURN


@kernel(inline=True)
def position(Z, y, slot):
    n = y.size // 2
    return y[slot] if slot < n else Z.fixed[slot - n]


@kernel(inline=True)
def rate(y, slot):
    n = y.size // 2
    return y[n + slot] if slot < n else 0.0


@kernel
def base_vectors(Z, y):
    """D = r_2 - r_1, or the unit vector itself; and its rate"""
    D = Z.D
    for b in range(Z.tip.size):
        if Z.tip[b] < 0:
            continue
        for k in range(2):
            origin, tip = Z.origin[b] + k, Z.tip[b] + k
            D[b, k] = position(Z, y, tip) - Z.reach[b] * position(Z, y, origin)
            D[b, 2 + k] = rate(y, tip) - Z.reach[b] * rate(y, origin)


@kernel
def place_bodies(Z, X, y):
    """r_G = r_1 + c_G D"""
    D = Z.D
    for b in range(Z.tip.size):
        o, cx, cy = Z.origin[b], Z.center[b, 0], Z.center[b, 1]
        X.q[3 * b] = position(Z, y, o) + cx * D[b, 0] - cy * D[b, 1]
        X.q[3 * b + 1] = position(Z, y, o + 1) + cy * D[b, 0] + cx * D[b, 1]
        X.qd[3 * b] = rate(y, o) + cx * D[b, 2] - cy * D[b, 3]
        X.qd[3 * b + 1] = rate(y, o + 1) + cy * D[b, 2] + cx * D[b, 3]


@kernel
def rate_at(Z, y, b):
    """phid of a body."""
    if Z.alpha[b] >= 0:
        return rate(y, Z.alpha[b])
    if Z.tip[b] < 0:
        return 0.0
    dx, dy, vx, vy = Z.D[b, 0], Z.D[b, 1], Z.D[b, 2], Z.D[b, 3]
    return (dx * vy - dy * vx) / (dx * dx + dy * dy)


@kernel
def angle_at(Z, t, y, b):
    """Angle of a body: its own coordinate, or that of its base vector at the turn that its rates predict.

    phi ~ phi_0 + (t - t_0) (phid_0 + phid) / 2 from the end of the last step, which must be right to half a turn.
    """
    bodies = Z.tip.size
    last = Z.turns[b]
    if Z.turns[2 * bodies + KNOWN] == 1.0:
        last += 0.5 * (t - Z.turns[2 * bodies + TIME]) * (Z.turns[bodies + b] + rate_at(Z, y, b))
    if Z.alpha[b] >= 0:
        return position(Z, y, Z.alpha[b])
    if Z.tip[b] < 0:
        return Z.turns[b]
    phi = atan2(Z.D[b, 1], Z.D[b, 0]) - Z.heading[b]
    return phi + TURN * np.floor((last - phi) / TURN + 0.5)


@kernel
def point_rows(Z, Phi, y):
    """Phi = r_3 - r_1 - c D; the derivatives are constant"""
    for k in range(Z.point.size):
        b, i, p = Z.point_body[k], Z.point_row[k], Z.point[k]
        o, dx, dy = Z.origin[b], Z.D[b, 0], Z.D[b, 1]
        cx, cy = Z.point_weight[k, 0], Z.point_weight[k, 1]
        Phi[i] = position(Z, y, p) - position(Z, y, o) - cx * dx + cy * dy
        Phi[i + 1] = position(Z, y, p + 1) - position(Z, y, o + 1) - cy * dx - cx * dy


@kernel
def by_x(last, c, s):
    """The row in x if |sin| >= |cos| at the end of the last step; the other one if this has become flat."""
    if abs(sin(last)) >= abs(cos(last)):
        return abs(s) >= STEEP
    return abs(c) < STEEP
