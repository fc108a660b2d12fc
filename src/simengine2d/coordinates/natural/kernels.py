"""Natural and mixed coordinates as kernels: z holds points, unit vectors, and angles and distances where needed.

A body is at r_G = r_1 + c_G D and is turned as its base vector D, or by its own angle alpha. Its rows are

    length     D . D - L^2 = 0
    point      r_3 - (r_1 + c D) = 0
    angle      D_x - L cos(alpha + heading) = 0,   or   D_y - L sin(alpha + heading) = 0
    distance   d . d - s^2 = 0

where heading is the angle of D in the body. The mass matrix is constant, so Q = R^T QA without velocity terms.
"""

from __future__ import annotations

from math import atan2, cos, floor, pi, sin
from typing import NamedTuple

from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ..transform import transform_rows

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
def evaluate_matrices(c, t, y, out):
    Z, E = c.Z, c.E
    base_vectors(Z, y)
    place_bodies(Z, E, y)
    turn_bodies(Z, E, t, y)
    length_rows(Z, E)
    point_rows(Z, E, y)
    angle_rows(Z, E, y)
    invoke(c.bodies_f, c.bodies_c, t, E.q, E.qd)
    transform_rows(c.S, E)
    project_forces(Z, E)
    distance_rows(c.S, Z, E, y)


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
def place_bodies(Z, E, y):
    """r_G = r_1 + c_G D"""
    D = Z.D
    for b in range(Z.tip.size):
        o, cx, cy = Z.origin[b], Z.center[b, 0], Z.center[b, 1]
        E.q[3 * b] = position(Z, y, o) + cx * D[b, 0] - cy * D[b, 1]
        E.q[3 * b + 1] = position(Z, y, o + 1) + cy * D[b, 0] + cx * D[b, 1]
        E.qd[3 * b] = rate(y, o) + cx * D[b, 2] - cy * D[b, 3]
        E.qd[3 * b + 1] = rate(y, o + 1) + cy * D[b, 2] + cx * D[b, 3]


@kernel
def turn_bodies(Z, E, t, y):
    """phid = D x Dd / D.D;   phidd has the bias -2 (D.Dd) (D x Dd) / (D.D)^2, which is zero on the constraints"""
    D = Z.D
    for b in range(Z.tip.size):
        k = 3 * b + 2
        E.q[k], E.qd[k] = angle_at(Z, t, y, b), rate_at(Z, y, b)
        if Z.alpha[b] < 0 and Z.tip[b] >= 0:
            dx, dy, vx, vy = D[b, 0], D[b, 1], D[b, 2], D[b, 3]
            d2 = dx * dx + dy * dy
            E.bias[k] = -2.0 * (dx * vx + dy * vy) * E.qd[k] / d2
            by_base(Z, b, -dy / d2, dx / d2, E.R[k])


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
    return phi + TURN * floor((last - phi) / TURN + 0.5)


@kernel
def by_base(Z, b, gx, gy, row):
    """Derivatives with respect to z, given those (gx, gy) with respect to D of body b; fixed points have no column."""
    n = row.size
    if Z.tip[b] < n:
        row[Z.tip[b]], row[Z.tip[b] + 1] = gx, gy
    if Z.origin[b] < n and Z.reach[b] == 1.0:
        row[Z.origin[b]], row[Z.origin[b] + 1] = -gx, -gy


@kernel
def length_rows(Z, E):
    """Phi = D.D - L^2,   gamma = -2 Dd.Dd"""
    D = Z.D
    for b in range(Z.tip.size):
        i = Z.length_row[b]
        if i >= 0:
            dx, dy, vx, vy = D[b, 0], D[b, 1], D[b, 2], D[b, 3]
            E.Phi[i] = dx * dx + dy * dy - Z.length[b] * Z.length[b]
            E.gamma[i] = -2.0 * (vx * vx + vy * vy)
            by_base(Z, b, 2.0 * dx, 2.0 * dy, E.J[i])


@kernel
def point_rows(Z, E, y):
    """Phi = r_3 - r_1 - c D; the derivatives are constant"""
    for k in range(Z.point.size):
        b, i, p = Z.point_body[k], Z.point_row[k], Z.point[k]
        o, dx, dy = Z.origin[b], Z.D[b, 0], Z.D[b, 1]
        cx, cy = Z.point_weight[k, 0], Z.point_weight[k, 1]
        E.Phi[i] = position(Z, y, p) - position(Z, y, o) - cx * dx + cy * dy
        E.Phi[i + 1] = position(Z, y, p + 1) - position(Z, y, o + 1) - cy * dx - cx * dy


@kernel
def angle_rows(Z, E, y):
    """Phi = D_x - L cos theta  or  D_y - L sin theta,   theta = alpha + heading"""
    D = Z.D
    for b in range(Z.tip.size):
        i, alpha = Z.angle_row[b], Z.alpha[b]
        if i < 0:
            continue
        L, w = Z.length[b], rate(y, alpha)
        theta = position(Z, y, alpha) + Z.heading[b]
        c, s = cos(theta), sin(theta)
        if by_x(Z.turns[b] + Z.heading[b], c, s):
            E.Phi[i], E.gamma[i] = D[b, 0] - L * c, -L * c * w * w
            by_base(Z, b, 1.0, 0.0, E.J[i])
            E.J[i, alpha] = L * s
        else:
            E.Phi[i], E.gamma[i] = D[b, 1] - L * s, -L * s * w * w
            by_base(Z, b, 0.0, 1.0, E.J[i])
            E.J[i, alpha] = -L * c


@kernel
def by_x(last, c, s):
    """The row in x if |sin| >= |cos| at the end of the last step; the other one if this has become flat."""
    if abs(sin(last)) >= abs(cos(last)):
        return abs(s) >= STEEP
    return abs(c) < STEEP


@kernel
def project_forces(Z, E):
    """Q = R^T QA; a body has only a few columns"""
    for j in range(E.Q.size):
        E.Q[j] = 0.0
    for b in range(Z.tip.size):
        add_force(E, b, Z.origin[b])
        add_force(E, b, Z.origin[b] + 1)
        if Z.tip[b] >= 0:
            add_force(E, b, Z.tip[b])
            add_force(E, b, Z.tip[b] + 1)
        if Z.alpha[b] >= 0:
            add_force(E, b, Z.alpha[b])


@kernel
def add_force(E, b, j):
    """Add the force and torque on body b to coordinate j."""
    if j < E.Q.size:
        for k in range(3 * b, 3 * b + 3):
            E.Q[j] += E.R[k, j] * E.QA[k]


@kernel
def distance_rows(S, Z, E, y):
    """If the system holds |d| = f(t):   d.d - s^2 = 0   and   s - f(t) = 0

    (d.d)'' = 2 |d| |d|'' + 2 |d|'^2, and the row of |d| has been evaluated.
    """
    n, own = E.Q.size, E.Phi.size - (S.row_start.size - 1)
    for k in range(Z.distance.size):
        column, i, j = Z.distance[k], Z.distance_row[k], own + Z.distance_kept[k]
        f, slope, curve = E.f[j - own, 0], E.f[j - own, 1], E.f[j - own, 2]
        s, sd = position(Z, y, column), rate(y, column)
        d, dd, second = E.Phi[j] + f, 0.0, curve - E.gamma[j]
        for p in range(n):
            dd += E.J[j, p] * y[n + p]
            E.J[i, p] = 2.0 * d * E.J[j, p]
            E.J[j, p] = 0.0
        E.Phi[i], E.gamma[i] = d * d - s * s, -2.0 * (d * second + dd * dd - sd * sd)
        E.J[i, column] = -2.0 * s
        E.Phi[j], E.nu[j], E.gamma[j] = s - f, slope, curve
        E.J[j, column] = 1.0
