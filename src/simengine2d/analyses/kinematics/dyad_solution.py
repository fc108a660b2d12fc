"""Dyads in closed form: two bodies pinned together at C, each on a pin or a slide of a known body.

On a pin at A, C lies on the circle of radius L about A; on a slide, on a line with the axis u of the guide:

    RRR    |C - A| = L1, |C - B| = L2        RRP    |C - A| = L, C = P + s u        PRP    C = P1 + s1 u1 = P2 + s2 u2

Two circles, or a circle and a line, meet in two points, on either side of a singular pose; the side is that of the
assembled pose. With t = dC/dx, how C moves with the unknown x of a body (t = C - A turned by 90 degrees, or t = u), and
with b', b'' the velocity and acceleration of C while the unknowns are at rest,

    t1 x1' - t2 x2' = b2' - b1',      t1 x1'' - t2 x2'' = b2'' - b1'',      determinant t1 x t2
"""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np

from ...numerics.kernel import kernel
from .groups import PIN, SLIDE
from .hinges import (
    BAL,
    BC,
    BPHI,
    BS,
    BW,
    BX,
    BY,
    accelerate_on_hinge,
    angle_on_hinge,
    arm,
    axis,
    hold,
    hold_acceleration,
    hold_velocity,
    move_on_hinge,
    turn_body,
)


@kernel(inline=True)
def link(S, G, h):
    """The vector in the body from its hinge to C."""
    own, tip = G.own[h], G.tip[h]
    return S.frame_x[tip] - S.frame_x[own], S.frame_y[tip] - S.frame_y[own]


@kernel(inline=True)
def meeting_point(S, G, w, q, h1, h2, side):
    """C, and whether it exists. A body on a slide takes its angle."""
    x1, y1 = center(S, G, w, q, h1)
    x2, y2 = center(S, G, w, q, h2)
    dx, dy = x2 - x1, y2 - y1
    if G.kind[h1] == SLIDE:  # two lines
        ux, uy = axis(S, w.bodies, G.on[h1])
        vx, vy = axis(S, w.bodies, G.on[h2])
        between = ux * vy - uy * vx
        if between == 0.0:
            return x1, y1, False
        s = (dx * vy - dy * vx) / between
        return x1 + s * ux, y1 + s * uy, True
    lx, ly = link(S, G, h1)
    LL = lx * lx + ly * ly
    if G.kind[h2] == SLIDE:  # a circle and a line
        ux, uy = axis(S, w.bodies, G.on[h2])
        away = dx * uy - dy * ux
        rest = LL - away * away
        if not rest > 0.0:
            return x1, y1, False
        s = dx * ux + dy * uy + side * sqrt(rest)
        return x2 - s * ux, y2 - s * uy, True
    # two circles: C = A + along d + across d turned by 90 degrees
    lx, ly = link(S, G, h2)
    dd = dx * dx + dy * dy
    if dd == 0.0:
        return x1, y1, False
    along = 0.5 * (1.0 + (LL - lx * lx - ly * ly) / dd)
    rest = LL / dd - along * along
    if not rest > 0.0:
        return x1, y1, False
    across = side * sqrt(rest)
    return x1 + along * dx - across * dy, y1 + along * dy + across * dx, True


@kernel(inline=True)
def center(S, G, w, q, h):
    """The center A of the circle of a pin, or the point P of the line of a slide, whose body is turned."""
    x, y = hold(S, G, w, h)
    if G.kind[h] == SLIDE:
        i = G.body[h]
        turn_body(w, i, angle_on_hinge(S, G, w, h, q[3 * i + 2]))
        lx, ly = link(S, G, h)
        c, s = w.bodies[i, BC], w.bodies[i, BS]
        x, y = x + c * lx - s * ly, y + s * lx + c * ly
    return x, y


@kernel(inline=True)
def reach_for(S, G, w, q, h, x, y):
    """The pose of a body whose pin is at C = (x, y), counting the turns from the guess in q."""
    B, i = w.bodies, G.body[h]
    if G.kind[h] == SLIDE:
        ex, ey = arm(S, B, G.tip[h])
        B[i, BX], B[i, BY] = x - ex, y - ey
        return
    hx, hy = hold(S, G, w, h)
    rx, ry = x - hx, y - hy
    lx, ly = link(S, G, h)
    shorten = 1.0 / (lx * lx + ly * ly)
    B[i, BC], B[i, BS] = (lx * rx + ly * ry) * shorten, (lx * ry - ly * rx) * shorten
    phi = atan2(B[i, BS], B[i, BC])
    B[i, BPHI] = phi + 2.0 * pi * np.floor((q[3 * i + 2] - phi) / (2.0 * pi) + 0.5)
    ex, ey = arm(S, B, G.own[h])
    B[i, BX], B[i, BY] = hx - ex, hy - ey


@kernel(inline=True)
def tangent(S, G, w, h, x, y):
    """t of a body whose pin is at C = (x, y)."""
    if G.kind[h] == SLIDE:
        return axis(S, w.bodies, G.on[h])
    hx, hy = hold(S, G, w, h)
    return hy - y, x - hx


@kernel(inline=True)
def carried_velocity(S, G, w, h, x, y):
    """b' of a body whose pin is at C = (x, y)."""
    vx, vy = hold_velocity(S, G, w, h)
    if G.kind[h] == SLIDE:
        hx, hy = hold(S, G, w, h)
        omega = w.bodies[S.frame_body[G.on[h]], BW]
        vx, vy = vx - omega * (y - hy), vy + omega * (x - hx)
    return vx, vy


@kernel(inline=True)
def carried_acceleration(S, G, w, h, x, y, rate):
    """b'' of a body whose pin is at C = (x, y), with the rate of its unknown."""
    ax, ay = hold_acceleration(S, G, w, h)
    hx, hy = hold(S, G, w, h)
    rx, ry = x - hx, y - hy
    if G.kind[h] == PIN:
        return ax - rate * rate * rx, ay - rate * rate * ry
    omega, alpha = w.bodies[S.frame_body[G.on[h]], BW], w.bodies[S.frame_body[G.on[h]], BAL]
    ux, uy = axis(S, w.bodies, G.on[h])
    ax += -alpha * ry - omega * (omega * rx + 2.0 * rate * uy)
    ay += alpha * rx - omega * (omega * ry - 2.0 * rate * ux)
    return ax, ay


@kernel(inline=True)
def solve_dyad(S, G, w, q, g):
    """The motion of a dyad. Returns (smallest pivot, determinant), zeros if it does not close."""
    h1 = G.hinge_start[g]
    h2 = h1 + 1
    x, y, closes = meeting_point(S, G, w, q, h1, h2, w.side[g])
    if not closes:
        return 0.0, 0.0
    reach_for(S, G, w, q, h1, x, y)
    reach_for(S, G, w, q, h2, x, y)
    t1x, t1y = tangent(S, G, w, h1, x, y)
    t2x, t2y = tangent(S, G, w, h2, x, y)
    determinant = t1x * t2y - t1y * t2x
    if determinant == 0.0:
        return 0.0, 0.0
    # velocities
    b1x, b1y = carried_velocity(S, G, w, h1, x, y)
    b2x, b2y = carried_velocity(S, G, w, h2, x, y)
    dx, dy, inverse = b2x - b1x, b2y - b1y, 1.0 / determinant
    rate1, rate2 = (dx * t2y - dy * t2x) * inverse, (dx * t1y - dy * t1x) * inverse
    w.x[0], w.x[1] = rate1, rate2
    move_on_hinge(S, G, w, h1, w.x)
    move_on_hinge(S, G, w, h2, w.x)
    # accelerations
    b1x, b1y = carried_acceleration(S, G, w, h1, x, y, rate1)
    b2x, b2y = carried_acceleration(S, G, w, h2, x, y, rate2)
    dx, dy = b2x - b1x, b2y - b1y
    w.x[0], w.x[1] = (dx * t2y - dy * t2x) * inverse, (dx * t1y - dy * t1x) * inverse
    accelerate_on_hinge(S, G, w, h1, w.x)
    accelerate_on_hinge(S, G, w, h2, w.x)
    # pivots of the matrix [t1, -t2], with unknowns measured as lengths
    first = G.unknown_start[g]
    scale1, scale2 = w.scale[G.coordinate[first]], w.scale[G.coordinate[first + 1]]
    pivot = max(abs(t1x), abs(t1y)) * scale1
    return min(1.0, pivot, abs(determinant) * scale1 * scale2 / pivot), determinant
