"""Reference-point coordinates: q = (x, y, phi) of every body, at its mass center.

A frame at s in its body is at r_P = r + A s, turned by phi. With the arm A s = (e, f):

    d r_P / d phi = B s = (-f, e),      d2 r_P / d phi2 = -A s = (-e, -f)

Sines and cosines are computed here, once per body; after that everything is polynomial.
"""

from __future__ import annotations

from math import cos, sin

from ..model.measure import gradient, hessian, second_order, value
from ..numerics.kernel import kernel

# columns of the frame state: position, axis, angle, arm; then the rates of position and angle
PX, PY, UX, UY, PHI, EX, EY, VX, VY, OMEGA = range(10)
FRAME_STATE = 10


@kernel(inline=True)
def place_frames(S, q, F):
    """Positions, axes and arms of all frames."""
    body, sx, sy = S.frame_body, S.frame_x, S.frame_y
    turn, cos_turn, sin_turn = S.frame_angle, S.frame_cos, S.frame_sin
    nb = S.mass.size
    x = y = phi = s = 0.0  # the pose of the present body; the ground, which comes last, is at the origin
    c = 1.0
    for k in range(body.size):
        i = body[k]
        # frames are sorted by body, so the pose changes only with the body
        if k == 0 or body[k - 1] != i:
            if i < nb:
                x, y, phi = q[3 * i], q[3 * i + 1], q[3 * i + 2]
                c, s = cos(phi), sin(phi)
            else:
                x, y, phi, c, s = 0.0, 0.0, 0.0, 1.0, 0.0
        F[k, EX] = c * sx[k] - s * sy[k]
        F[k, EY] = s * sx[k] + c * sy[k]
        F[k, PX] = x + F[k, EX]
        F[k, PY] = y + F[k, EY]
        F[k, PHI] = phi + turn[k]
        F[k, UX] = c * cos_turn[k] - s * sin_turn[k]
        F[k, UY] = s * cos_turn[k] + c * sin_turn[k]


@kernel(inline=True)
def move_frames(S, qd, F):
    """Velocities of all frames: rd_P = rd + B s phid."""
    body, nb = S.frame_body, S.mass.size
    for k in range(body.size):
        i = body[k]
        if i == nb:
            F[k, VX] = F[k, VY] = F[k, OMEGA] = 0.0
            continue
        omega = qd[3 * i + 2]
        F[k, VX] = qd[3 * i] - F[k, EY] * omega
        F[k, VY] = qd[3 * i + 1] + F[k, EX] * omega
        F[k, OMEGA] = omega


@kernel(inline=True)
def term_value(kind, F, a, b):
    """Value of one measure between frames a and b."""
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    return value(kind, dx, dy, F[a, UX], F[a, UY], F[b, UX], F[b, UY], F[a, PHI], F[b, PHI])


@kernel(inline=True)
def term_gradient(kind, F, a, b):
    """Derivatives of one measure by (x, y, phi) of body a, then of body b.

    d = r_b - r_a, so d_x and d_y enter with -1 for body a and, through the arms, with B s for the angles.
    """
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    gx, gy, ga, gb = gradient(kind, dx, dy, F[a, UX], F[a, UY], F[b, UX], F[b, UY])
    return (
        -gx,
        -gy,
        ga + gx * F[a, EY] - gy * F[a, EX],
        gx,
        gy,
        gb - gx * F[b, EY] + gy * F[b, EX],
    )


@kernel(inline=True)
def term_second_order(kind, F, a, b):
    """(s_q qd)_q qd of one measure: its curvature in d and angles, plus the centripetal part of the arms."""
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    uax, uay, ubx, uby = F[a, UX], F[a, UY], F[b, UX], F[b, UY]
    gx, gy, _, _ = gradient(kind, dx, dy, uax, uay, ubx, uby)
    h = hessian(kind, dx, dy, uax, uay, ubx, uby)
    wa, wb = F[a, OMEGA], F[b, OMEGA]
    centripetal_x = F[a, EX] * wa * wa - F[b, EX] * wb * wb
    centripetal_y = F[a, EY] * wa * wa - F[b, EY] * wb * wb
    curvature = second_order(h, F[b, VX] - F[a, VX], F[b, VY] - F[a, VY], wa, wb)
    return curvature + gx * centripetal_x + gy * centripetal_y


@kernel(inline=True)
def term_rate(kind, F, a, b):
    """Rate of one measure, s_q qd, from the velocities of the frames."""
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    gx, gy, ga, gb = gradient(kind, dx, dy, F[a, UX], F[a, UY], F[b, UX], F[b, UY])
    return gx * (F[b, VX] - F[a, VX]) + gy * (F[b, VY] - F[a, VY]) + ga * F[a, OMEGA] + gb * F[b, OMEGA]


@kernel(inline=True)
def term_curvature(kind, F, a, b):
    """Second derivatives of one measure by d, by d and an angle, and by two angles: h_dd, p_a, p_b, h_aa, h_ab, h_bb.

    J^T h J + g . d2 d, where J takes (x, y, phi)_a, (x, y, phi)_b to d_x, d_y, phi_a, phi_b, and
    the arms turn: d2 r / d phi2 = -A s, and d = r_b - r_a.
    """
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    uax, uay, ubx, uby = F[a, UX], F[a, UY], F[b, UX], F[b, UY]
    eax, eay, ebx, eby = F[a, EX], F[a, EY], F[b, EX], F[b, EY]
    gx, gy, _, _ = gradient(kind, dx, dy, uax, uay, ubx, uby)
    xx, xy, yy, xa, ya, aa, ab, bb = hessian(kind, dx, dy, uax, uay, ubx, uby)
    pax, pay = xx * eay - xy * eax + xa, xy * eay - yy * eax + ya
    pbx, pby = xy * ebx - xx * eby, yy * ebx - xy * eby
    haa = pax * eay - pay * eax + xa * eay - ya * eax + aa + gx * eax + gy * eay
    hab = pay * ebx - pax * eby + ab
    hbb = pby * ebx - pbx * eby + bb - gx * ebx - gy * eby
    return xx, xy, yy, pax, pay, pbx, pby, haa, hab, hbb


@kernel
def term_hessian(kind, F, a, b, H):
    """Second derivatives of one measure by (x, y, phi) of body a and of body b, 6 x 6, into H.

    h_dd    -p_a      -h_dd    -p_b
            h_aa       p_a^T    h_ab
                       h_dd     p_b
    (symmetric)                 h_bb
    """
    xx, xy, yy, pax, pay, pbx, pby, haa, hab, hbb = term_curvature(kind, F, a, b)
    H[0, 0] = H[3, 3] = xx
    H[0, 1] = H[1, 0] = H[3, 4] = H[4, 3] = xy
    H[1, 1] = H[4, 4] = yy
    H[0, 3] = H[3, 0] = -xx
    H[0, 4] = H[1, 3] = H[3, 1] = H[4, 0] = -xy
    H[1, 4] = H[4, 1] = -yy
    H[0, 2] = H[2, 0] = -pax
    H[1, 2] = H[2, 1] = -pay
    H[2, 3] = H[3, 2] = pax
    H[2, 4] = H[4, 2] = pay
    H[0, 5] = H[5, 0] = -pbx
    H[1, 5] = H[5, 1] = -pby
    H[3, 5] = H[5, 3] = pbx
    H[4, 5] = H[5, 4] = pby
    H[2, 2], H[5, 5] = haa, hbb
    H[2, 5] = H[5, 2] = hab
