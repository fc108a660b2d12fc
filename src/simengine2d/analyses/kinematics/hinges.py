"""Bodies on hinges: where a body is, how fast it moves and how it accelerates, from its carrier and its own unknown.

With r_o the point at which the carrier holds the body, e = A s the arm of that point in the body, and u the axis of the
guide:

    pin      r + e = r_o                  slide    r + e = r_o + s u
             v + w x e = v_o                       v + w x e = v_o + w x s u + s' u
             a + w' x e - w^2 e = a_o              a + w' x e - w^2 e = a_o + w' x s u - w^2 s u + 2 w x s' u + s'' u

The angle is the unknown of a pin, or given by a row; on a slide it is that of the guide. A pin may be displaced by
functions of time.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from ...numerics.kernel import kernel
from .groups import FREE, SLIDE

# columns of the states of bodies: position, angle, its cosine and sine, velocity, acceleration
BX, BY, BPHI, BC, BS, BVX, BVY, BW, BAX, BAY, BAL = range(11)
BODY_STATE = 11


# Points of bodies -------------------------------------------------------------------------------------


@kernel(inline=True)
def arm(S, B, k):
    """The vector from the origin of its body to frame k."""
    i = S.frame_body[k]
    c, s, x, y = B[i, BC], B[i, BS], S.frame_x[k], S.frame_y[k]
    return c * x - s * y, s * x + c * y


@kernel(inline=True)
def axis(S, B, k):
    """The axis of frame k."""
    i = S.frame_body[k]
    c, s, x, y = B[i, BC], B[i, BS], S.frame_cos[k], S.frame_sin[k]
    return c * x - s * y, s * x + c * y


@kernel(inline=True)
def position_of(S, B, k):
    """r + e."""
    ex, ey = arm(S, B, k)
    i = S.frame_body[k]
    return B[i, BX] + ex, B[i, BY] + ey


@kernel(inline=True)
def velocity_of(S, B, k):
    """v + w x e."""
    ex, ey = arm(S, B, k)
    i = S.frame_body[k]
    return B[i, BVX] - B[i, BW] * ey, B[i, BVY] + B[i, BW] * ex


@kernel(inline=True)
def acceleration_of(S, B, k):
    """a + w' x e - w^2 e."""
    ex, ey = arm(S, B, k)
    i = S.frame_body[k]
    w2, alpha = B[i, BW] * B[i, BW], B[i, BAL]
    return B[i, BAX] - alpha * ey - w2 * ex, B[i, BAY] + alpha * ex - w2 * ey


# Where carriers hold bodies -----------------------------------------------------------------------------


@kernel(inline=True)
def hold(S, G, w, h):
    """r_o, the place at which the carrier holds the body."""
    x, y = position_of(S, w.bodies, G.on[h])
    if G.moving[h] != 0:
        x += G.sense[h] * w.rows.f[G.row_x[h], 0]
        y += G.sense[h] * w.rows.f[G.row_y[h], 0]
    return x, y


@kernel(inline=True)
def hold_velocity(S, G, w, h):
    """v_o."""
    x, y = velocity_of(S, w.bodies, G.on[h])
    if G.moving[h] != 0:
        x += G.sense[h] * w.rows.f[G.row_x[h], 1]
        y += G.sense[h] * w.rows.f[G.row_y[h], 1]
    return x, y


@kernel(inline=True)
def hold_acceleration(S, G, w, h):
    """a_o."""
    x, y = acceleration_of(S, w.bodies, G.on[h])
    if G.moving[h] != 0:
        x += G.sense[h] * w.rows.f[G.row_x[h], 2]
        y += G.sense[h] * w.rows.f[G.row_y[h], 2]
    return x, y


# Poses ------------------------------------------------------------------------------------------------


@kernel(inline=True)
def angle_on_hinge(S, G, w, h, guess):
    """The angle of a body: the guess where it is unknown."""
    B, own = w.bodies, G.own[h]
    if G.turn_row[h] >= 0:
        on = G.turn_on[h]
        level = B[S.frame_body[on], BPHI] + S.frame_angle[on] - S.frame_angle[G.turn_own[h]]
        return level + G.turn_sense[h] * w.rows.f[G.turn_row[h], 0]
    if G.kind[h] != SLIDE:
        return guess
    # as the guide, turned by the half turns of the guess
    on = G.on[h]
    level = B[S.frame_body[on], BPHI] + S.frame_angle[on] - S.frame_angle[own]
    return level + pi * np.floor((guess - level) / pi + 0.5)


@kernel(inline=True)
def turn_body(w, i, phi):
    B = w.bodies
    B[i, BPHI], B[i, BC], B[i, BS] = phi, cos(phi), sin(phi)


@kernel
def place_on_hinge(S, G, w, q, h):
    """The pose of a body; of that in q only what the hinge leaves open counts."""
    B, i, kind = w.bodies, G.body[h], G.kind[h]
    turn_body(w, i, angle_on_hinge(S, G, w, h, q[3 * i + 2]))
    x, y = q[3 * i], q[3 * i + 1]
    if kind != FREE:
        hx, hy = hold(S, G, w, h)
        ex, ey = arm(S, B, G.own[h])
        if kind == SLIDE:
            ux, uy = axis(S, B, G.on[h])
            along = (x + ex - hx) * ux + (y + ey - hy) * uy
            hx, hy = hx + along * ux, hy + along * uy
        x, y = hx - ex, hy - ey
    B[i, BX], B[i, BY] = x, y


# Rates ------------------------------------------------------------------------------------------------


@kernel
def move_on_hinge(S, G, w, h, rate):
    """The velocity of a body, from the rates of the unknowns of its group."""
    B, i, kind, on, own, first = w.bodies, G.body[h], G.kind[h], G.on[h], G.own[h], G.own_start[h]
    if kind == FREE:
        B[i, BVX], B[i, BVY], B[i, BW] = rate[first], rate[first + 1], rate[first + 2]
        return
    vx, vy = hold_velocity(S, G, w, h)
    ex, ey = arm(S, B, own)
    if kind == SLIDE:
        omega = B[S.frame_body[on], BW]
        ux, uy = axis(S, B, on)
        hx, hy = position_of(S, B, on)
        vx += rate[first] * ux - omega * (B[i, BY] + ey - hy)
        vy += rate[first] * uy + omega * (B[i, BX] + ex - hx)
    elif G.turn_row[h] >= 0:
        omega = B[S.frame_body[G.turn_on[h]], BW] + G.turn_sense[h] * w.rows.f[G.turn_row[h], 1]
    else:
        omega = rate[first]
    B[i, BVX], B[i, BVY], B[i, BW] = vx + omega * ey, vy - omega * ex, omega


@kernel
def accelerate_on_hinge(S, G, w, h, rate):
    """The acceleration of a body, from the second rates of the unknowns of its group."""
    B, i, kind, on, own, first = w.bodies, G.body[h], G.kind[h], G.on[h], G.own[h], G.own_start[h]
    if kind == FREE:
        B[i, BAX], B[i, BAY], B[i, BAL] = rate[first], rate[first + 1], rate[first + 2]
        return
    ax, ay = hold_acceleration(S, G, w, h)
    ex, ey = arm(S, B, own)
    omega = B[i, BW]
    if kind == SLIDE:
        alpha = B[S.frame_body[on], BAL]
        ux, uy = axis(S, B, on)
        hx, hy = position_of(S, B, on)
        rx, ry = B[i, BX] + ex - hx, B[i, BY] + ey - hy
        # s' u, the velocity of the body's point as seen from the guide
        hx, hy = velocity_of(S, B, on)
        slip_x, slip_y = B[i, BVX] - omega * ey - hx + omega * ry, B[i, BVY] + omega * ex - hy - omega * rx
        ax += rate[first] * ux - alpha * ry - omega * (omega * rx + 2.0 * slip_y)
        ay += rate[first] * uy + alpha * rx - omega * (omega * ry - 2.0 * slip_x)
    elif G.turn_row[h] >= 0:
        alpha = B[S.frame_body[G.turn_on[h]], BAL] + G.turn_sense[h] * w.rows.f[G.turn_row[h], 2]
    else:
        alpha = rate[first]
    B[i, BAX] = ax + alpha * ey + omega * omega * ex
    B[i, BAY] = ay - alpha * ex + omega * omega * ey
    B[i, BAL] = alpha


@kernel(inline=True)
def report_body(w, i, q):
    """The state of a body as coordinates."""
    B, j, qd, qdd = w.bodies, 3 * i, w.new_d, w.new_dd
    q[j], q[j + 1], q[j + 2] = B[i, BX], B[i, BY], B[i, BPHI]
    qd[j], qd[j + 1], qd[j + 2] = B[i, BVX], B[i, BVY], B[i, BW]
    qdd[j], qdd[j + 1], qdd[j + 2] = B[i, BAX], B[i, BAY], B[i, BAL]
