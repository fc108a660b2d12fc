"""Adjoints of frames: how weighted measures change with the frames that they are between, all numbers at once.

A measure s(d_x, d_y, phi_a, phi_b) has the gradient g and the Hessian H. With the rates w, the accelerations a, and a
virtual displacement e of these four,

    G = y0 s + y1 s' + y2 s'' + y3 e . g      with      s' = g . w,      s'' = g . a + w . H w

changes with each of them by

    G_z = y0 g + y1 H w + y2 (H a + (w . H w)_z) + y3 H e,      G_w = y1 g + 2 y2 H w,      G_a = y2 g,      G_e = y3 g

From there it goes backward: to the frames, and from a frame at the arm A s on its body to s and to q and qd.
"""

from __future__ import annotations

from ...model.measure import X, Y, gradient, hessian, second_order, third_order, value
from ...numerics.kernel import kernel
from ...system.frames import EX, EY, OMEGA, PHI, PX, PY, UX, UY, VX, VY

# columns of the further motion of frames: accelerations of point and angle, and their virtual displacements
AX, AY, ALPHA, DX, DY, TURN = range(6)
FURTHER = 6
# columns of adjoints: of the position of a frame, of its rates, of its accelerations, of its virtual displacement
POSITION, RATE, ACCELERATION, DISPLACEMENT = 0, 3, 6, 9
ADJOINTS = 12


@kernel(inline=True)
def move_further(S, qd, qdd, y, F, E):
    """Accelerations of all frames, and their displacements when the bodies are displaced by y."""
    body, nb = S.frame_body, S.mass.size
    for k in range(body.size):
        i = body[k]
        if i == nb:
            for c in range(FURTHER):
                E[k, c] = 0.0
            continue
        omega, alpha, turn = qd[3 * i + 2], qdd[3 * i + 2], y[3 * i + 2]
        E[k, AX] = qdd[3 * i] - F[k, EY] * alpha - F[k, EX] * omega * omega
        E[k, AY] = qdd[3 * i + 1] + F[k, EX] * alpha - F[k, EY] * omega * omega
        E[k, DX] = y[3 * i] - F[k, EY] * turn
        E[k, DY] = y[3 * i + 1] + F[k, EX] * turn
        E[k, ALPHA], E[k, TURN] = alpha, turn


@kernel(inline=True)
def times_hessian(h, x, y, a, b):
    """H v"""
    xx, xy, yy, xa, ya, aa, ab, bb = h
    return (
        xx * x + xy * y + xa * a,
        xy * x + yy * y + ya * a,
        xa * x + ya * y + aa * a + ab * b,
        ab * a + bb * b,
    )


@kernel(inline=True)
def add_adjoint(A, a, b, first, x, y, turn_a, turn_b):
    """What d and the angles contribute, at both frames."""
    A[a, first] -= x
    A[a, first + 1] -= y
    A[a, first + 2] += turn_a
    A[b, first] += x
    A[b, first + 1] += y
    A[b, first + 2] += turn_b


@kernel
def virtual_change(kind, F, E, a, b):
    """e . g of one measure."""
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    gx, gy, ga, gb = gradient(kind, dx, dy, F[a, UX], F[a, UY], F[b, UX], F[b, UY])
    return gx * (E[b, DX] - E[a, DX]) + gy * (E[b, DY] - E[a, DY]) + ga * E[a, TURN] + gb * E[b, TURN]


@kernel(inline=True)
def add_coordinate(c, F, E, a, b, weight, y0, y1, y2, y3, A):
    """The same as `add_term` of s = d_x or d_y, which does not bend."""
    p, v, acceleration, displacement = POSITION + c, RATE + c, ACCELERATION + c, DISPLACEMENT + c
    A[a, p], A[b, p] = A[a, p] - weight * y0, A[b, p] + weight * y0
    A[a, v], A[b, v] = A[a, v] - weight * y1, A[b, v] + weight * y1
    A[a, acceleration], A[b, acceleration] = (
        A[a, acceleration] - weight * y2,
        A[b, acceleration] + weight * y2,
    )
    A[a, displacement], A[b, displacement] = (
        A[a, displacement] - weight * y3,
        A[b, displacement] + weight * y3,
    )
    of_place = y0 * (F[b, PX + c] - F[a, PX + c]) + y1 * (F[b, VX + c] - F[a, VX + c])
    return of_place + y2 * (E[b, AX + c] - E[a, AX + c]) + y3 * (E[b, DX + c] - E[a, DX + c])


@kernel
def add_term(kind, F, E, a, b, weight, y0, y1, y2, y3, A):
    """Add the adjoints of weight G of one measure at its frames; returns G."""
    if kind in (X, Y):
        return add_coordinate(0 if kind == X else 1, F, E, a, b, weight, y0, y1, y2, y3, A)
    dx, dy = F[b, PX] - F[a, PX], F[b, PY] - F[a, PY]
    uax, uay, ubx, uby = F[a, UX], F[a, UY], F[b, UX], F[b, UY]
    gx, gy, ga, gb = gradient(kind, dx, dy, uax, uay, ubx, uby)
    h = hessian(kind, dx, dy, uax, uay, ubx, uby)
    total = y0 * value(kind, dx, dy, uax, uay, ubx, uby, F[a, PHI], F[b, PHI])
    x, y, turn_a, turn_b = y0 * gx, y0 * gy, y0 * ga, y0 * gb
    if y1 != 0.0 or y2 != 0.0:
        wx, wy, wa, wb = F[b, VX] - F[a, VX], F[b, VY] - F[a, VY], F[a, OMEGA], F[b, OMEGA]
        hx, hy, ha, hb = times_hessian(h, wx, wy, wa, wb)
        total += y1 * (gx * wx + gy * wy + ga * wa + gb * wb)
        x, y, turn_a, turn_b = x + y1 * hx, y + y1 * hy, turn_a + y1 * ha, turn_b + y1 * hb
        c, d = weight * y1, 2.0 * weight * y2
        add_adjoint(A, a, b, RATE, c * gx + d * hx, c * gy + d * hy, c * ga + d * ha, c * gb + d * hb)
    if y2 != 0.0:
        ax, ay, aa, ab = E[b, AX] - E[a, AX], E[b, AY] - E[a, AY], E[a, ALPHA], E[b, ALPHA]
        total += y2 * (gx * ax + gy * ay + ga * aa + gb * ab + second_order(h, wx, wy, wa, wb))
        hx, hy, ha, hb = times_hessian(h, ax, ay, aa, ab)
        tx, ty, ta, tb = third_order(kind, dx, dy, uax, uay, ubx, uby, wx, wy, wa, wb)
        x, y = x + y2 * (hx + tx), y + y2 * (hy + ty)
        turn_a, turn_b = turn_a + y2 * (ha + ta), turn_b + y2 * (hb + tb)
        c = weight * y2
        add_adjoint(A, a, b, ACCELERATION, c * gx, c * gy, c * ga, c * gb)
    if y3 != 0.0:
        ex, ey, ea, eb = E[b, DX] - E[a, DX], E[b, DY] - E[a, DY], E[a, TURN], E[b, TURN]
        total += y3 * (gx * ex + gy * ey + ga * ea + gb * eb)
        hx, hy, ha, hb = times_hessian(h, ex, ey, ea, eb)
        x, y, turn_a, turn_b = x + y3 * hx, y + y3 * hy, turn_a + y3 * ha, turn_b + y3 * hb
        c = weight * y3
        add_adjoint(A, a, b, DISPLACEMENT, c * gx, c * gy, c * ga, c * gb)
    add_adjoint(A, a, b, POSITION, weight * x, weight * y, weight * turn_a, weight * turn_b)
    return total


@kernel(inline=True)
def pull_back(S, F, E, A, by_q, by_qd, frame_x, frame_y, frame_angle):
    """Add what the adjoints of frames mean for the state and for their places on bodies; they are zero afterward.

    r = r_0 + arm,  v = v_0 + omega arm',  a = a_0 + alpha arm' - omega^2 arm,  arm = A s,  arm' = (-arm_y, arm_x)
    """
    nb = S.mass.size
    for k in range(S.frame_body.size):
        i, omega, alpha, turn = S.frame_body[k], F[k, OMEGA], E[k, ALPHA], E[k, TURN]
        vx, vy, ax, ay = A[k, RATE], A[k, RATE + 1], A[k, ACCELERATION], A[k, ACCELERATION + 1]
        ex = A[k, 0] + omega * vy + alpha * ay - omega * omega * ax + turn * A[k, DISPLACEMENT + 1]
        ey = A[k, 1] - omega * vx - alpha * ax - omega * omega * ay - turn * A[k, DISPLACEMENT]
        # the axes of the body, from those of the frame
        cosine = F[k, UX] * S.frame_cos[k] + F[k, UY] * S.frame_sin[k]
        sine = F[k, UY] * S.frame_cos[k] - F[k, UX] * S.frame_sin[k]
        frame_x[k] += cosine * ex + sine * ey
        frame_y[k] += cosine * ey - sine * ex
        frame_angle[k] += A[k, 2]
        if i < nb:
            by_q[3 * i] += A[k, 0]
            by_q[3 * i + 1] += A[k, 1]
            by_q[3 * i + 2] += A[k, 2] + F[k, EX] * ey - F[k, EY] * ex
            by_qd[3 * i] += vx
            by_qd[3 * i + 1] += vy
            by_qd[3 * i + 2] += A[k, RATE + 2] + F[k, EX] * vy - F[k, EY] * vx
            by_qd[3 * i + 2] -= 2.0 * omega * (F[k, EX] * ax + F[k, EY] * ay)
        for c in range(ADJOINTS):
            A[k, c] = 0.0
