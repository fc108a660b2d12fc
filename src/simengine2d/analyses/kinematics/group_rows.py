"""Rows of any measure in terms of the bodies' states: gaps, their rates and second rates, and derivatives by unknowns.

Phi = s - f,      Phi' = s_q qd - f',      Phi'' = s_q qdd + (s_q qd)_q qd - f''
"""

from __future__ import annotations

import numpy as np

from ...model.measure import gradient, hessian, second_order
from ...numerics.kernel import kernel
from ...system.frames import EX, EY, OMEGA, PHI, PX, PY, UX, UY, VX, VY, term_rate, term_value
from .hinges import BAL, BPHI, BW, BX, BY, acceleration_of, arm, axis, velocity_of

# columns of the accelerations of frames
AX, AY, ALPHA = range(3)


@kernel
def place_frame(S, w, k):
    """The position of frame k from that of its body."""
    B, F, i = w.bodies, w.rows.F, S.frame_body[k]
    F[k, EX], F[k, EY] = arm(S, B, k)
    F[k, UX], F[k, UY] = axis(S, B, k)
    F[k, PX], F[k, PY], F[k, PHI] = B[i, BX] + F[k, EX], B[i, BY] + F[k, EY], B[i, BPHI] + S.frame_angle[k]


@kernel
def move_frame(S, w, k):
    B, F = w.bodies, w.rows.F
    F[k, VX], F[k, VY] = velocity_of(S, B, k)
    F[k, OMEGA] = B[S.frame_body[k], BW]


@kernel
def accelerate_frame(S, w, k):
    B, A = w.bodies, w.A
    A[k, AX], A[k, AY] = acceleration_of(S, B, k)
    A[k, ALPHA] = B[S.frame_body[k], BAL]


@kernel
def gap_of_row(S, rows, i):
    """Phi of one row; a row with a direction is reduced to the nearest turn."""
    total = -rows.f[i, 0]
    for k in range(S.row_start[i], S.row_start[i + 1]):
        total += S.term_weight[k] * term_value(S.term_kind[k], rows.F, S.term_a[k], S.term_b[k])
    if S.row_period[i] > 0.0:
        total -= S.row_period[i] * np.floor(total / S.row_period[i] + 0.5)
    return total


@kernel
def rate_of_row(S, rows, i):
    total = -rows.f[i, 1]
    for k in range(S.row_start[i], S.row_start[i + 1]):
        total += S.term_weight[k] * term_rate(S.term_kind[k], rows.F, S.term_a[k], S.term_b[k])
    return total


@kernel
def second_rate_of_row(S, rows, A, i):
    total = -rows.f[i, 2]
    for k in range(S.row_start[i], S.row_start[i + 1]):
        total += S.term_weight[k] * term_second_rate(S.term_kind[k], rows.F, A, S.term_a[k], S.term_b[k])
    return total


@kernel
def term_second_rate(kind, F, A, a, b):
    """Second time derivative of one measure, from the velocities and accelerations of its frames."""
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    uax, uay, ubx, uby = F[a, UX], F[a, UY], F[b, UX], F[b, UY]
    gx, gy, ga, gb = gradient(kind, dx, dy, uax, uay, ubx, uby)
    h = hessian(kind, dx, dy, uax, uay, ubx, uby)
    vx, vy = F[b, VX] - F[a, VX], F[b, VY] - F[a, VY]
    curvature = second_order(h, vx, vy, F[a, OMEGA], F[b, OMEGA])
    ax, ay = A[b, AX] - A[a, AX], A[b, AY] - A[a, AY]
    return gx * ax + gy * ay + ga * A[a, ALPHA] + gb * A[b, ALPHA] + curvature


@kernel
def gradient_of_row(S, G, w, i, r, first, stop):
    """Row r of K: derivatives of row i by the unknowns of the group with the hinges first .. stop - 1.

    Returns the largest derivative by a coordinate of the bodies of the group, as a length.
    """
    F, T, K, largest = w.rows.F, w.T, w.K, 0.0
    for k in range(S.row_start[i], S.row_start[i + 1]):
        a, b, weight = S.term_a[k], S.term_b[k], S.term_weight[k]
        dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
        gx, gy, ga, gb = gradient(S.term_kind[k], dx, dy, F[a, UX], F[a, UY], F[b, UX], F[b, UY])
        for side in range(2):
            frame, sign, turns = (a, -weight, weight * ga) if side == 0 else (b, weight, weight * gb)
            body = S.frame_body[frame]
            h = G.hinge_of[body]
            if h < first or h >= stop:  # a body that is known
                continue
            turns += sign * (gy * F[frame, EX] - gx * F[frame, EY])
            turn_size = abs(turns) * w.scale[3 * body + 2]
            largest = max(largest, abs(weight * gx), abs(weight * gy), turn_size)
            for c in range(G.chain_start[h], G.chain_start[h + 1]):
                K[r, G.chain[c]] += sign * (gx * T[c, 0] + gy * T[c, 1]) + turns * T[c, 2]
    return largest
