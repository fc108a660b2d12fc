"""Articulated bodies: M zdd = Q of a tree of bodies at a cost linear in their number.

Seen from its inboard joint, a body with everything outboard of it resists accelerations (alpha, a) of its point O with

    [ ww  wx  wy ] [ alpha ]   [ pw ]
    [ wx  xx  xy ] [ ax    ] + [ px ]
    [ wy  xy  yy ] [ ay    ]   [ py ]

From the leaves inward, each freedom of a joint is eliminated, one pivot and one force; what is left is passed to the
parent. From the ground outward, accelerations follow. This is M = L D L^T without M: the pivots are D, and a row of
Phi_q taken inward in the same way is a column of L^-1 Phi_z^T, so

    Phi_z M^-1 Phi_z^T = W^T D^-1 W,      W = L^-1 Phi_z^T

The ground accelerates with -g, so that no body needs its weight. R. Featherstone, Rigid Body Dynamics Algorithms,
Springer 2008, chapters 7 and 8.
"""

from __future__ import annotations

from ...numerics.kernel import kernel
from .tree_motion import (  # fmt: skip
    ALPHA,
    AX,
    AY,
    BX,
    BY,
    CX,
    CY,
    DW,
    DX,
    DY,
    EX,
    EY,
    FIRST,
    FLOAT,
    INERTIA,
    IX,
    IY,
    KIND,
    MASS,
    OMEGA,
    OWN_SLOT,
    PARENT,
    PIN,
    PS,
    PW,
    PX,
    PY,
    SH,
    SIGN,
    SLIDE,
    SLOT,
    SW,
    SX,
    SY,
    WB,
    WW,
    WX,
    WY,
    XX,
    XY,
    YY,
    H,
)


@kernel(inline=True)
def weigh(T):
    """Inertia of each body about O, and the force that its motion requires."""
    J, N = T.constant, T.state
    for k in range(J.shape[0]):
        m, cx, cy, omega = J[k, MASS], N[k, CX], N[k, CY], N[k, OMEGA]
        mx, my, omega2 = m * cx, m * cy, omega * omega
        N[k, WW], N[k, WX], N[k, WY] = J[k, INERTIA] + mx * cx + my * cy, -my, mx
        N[k, XX], N[k, XY], N[k, YY] = m, 0.0, m
        N[k, PW], N[k, PX], N[k, PY] = 0.0, -omega2 * mx, -omega2 * my


# Inward -----------------------------------------------------------------------------------------------


@kernel(inline=True)
def eliminate_joints(T):
    """Pivots of all freedoms, and the forces on them, from the leaves to the ground.

    A parent is most often the next body: then what it resists stays at hand. Each pivot waits for the one before, so
    what needs the reciprocal comes last.
    """
    index, N = T.numbers, T.state
    nb = index.shape[0]
    at_hand = False
    ww = wx = wy = xx = xy = yy = pw = px = py = 0.0
    for k in range(nb - 1, -1, -1):
        p = index[k, PARENT]
        if index[k, KIND] != PIN:
            eliminate_other(N, k, index[k, KIND], p, nb)
            continue
        if not at_hand:
            ww, wx, wy, xx, xy, yy = N[k, WW], N[k, WX], N[k, WY], N[k, XX], N[k, XY], N[k, YY]
            pw, px, py = N[k, PW], N[k, PX], N[k, PY]
        # its pivot; w . b and d x w
        bx, by, dx, dy = N[k, BX], N[k, BY], N[k, DX], N[k, DY]
        h, wb, dw = 1.0 / ww, wx * bx + wy * by, dx * wy - dy * wx
        N[k, H], N[k, WX], N[k, WY], N[k, PW], N[k, WB], N[k, DW] = h, wx, wy, pw, wb, dw
        at_hand = False
        if p == nb:
            continue
        # inertia and force about O of the parent; from both goes what the rotation does not resist
        turning, yielding = (pw + wb) * h, dw * h
        px, py = px + xx * bx + xy * by, py + xy * bx + yy * by
        tx, ty = dx * xy - dy * xx, dx * yy - dy * xy
        pw = N[p, PW] + (dx * py - dy * px) - dw * turning
        px, py = N[p, PX] + px - wx * turning, N[p, PY] + py - wy * turning
        ww = N[p, WW] + (dx * ty - dy * tx) - (dw * dw) * h
        xx = N[p, XX] + xx - (wx * wx) * h
        xy = N[p, XY] + xy - (wx * wy) * h
        yy = N[p, YY] + yy - (wy * wy) * h
        wx, wy = N[p, WX] + tx - wx * yielding, N[p, WY] + ty - wy * yielding
        at_hand = p == k - 1 and index[p, KIND] == PIN
        if not at_hand:
            N[p, WW], N[p, WX], N[p, WY], N[p, XX], N[p, XY], N[p, YY] = ww, wx, wy, xx, xy, yy
            N[p, PW], N[p, PX], N[p, PY] = pw, px, py


@kernel(inline=True)
def eliminate_other(N, k, kind, p, nb):
    """The same for a body that is not on a pin, freedom by freedom."""
    # a slide outboard of the rotation
    if kind in (SLIDE, OWN_SLOT):
        eliminate_slide(N, k)
    if kind == OWN_SLOT:
        push_back(N, k, N[k, IX], N[k, IY])
    # the rotation, its pivot is ww
    ww, wx, wy, pw = N[k, WW], N[k, WX], N[k, WY], N[k, PW]
    if kind in (SLOT, OWN_SLOT, FLOAT):
        h = 1.0 / ww
        hx, hy = wx * h, wy * h
        N[k, H] = h
        N[k, XX] -= wx * hx
        N[k, XY] -= wx * hy
        N[k, YY] -= wy * hy
        N[k, PX] -= hx * pw
        N[k, PY] -= hy * pw
        ww, wx, wy, pw = 0.0, 0.0, 0.0, 0.0
    # translations, or a slide inboard of the rotation
    if kind == FLOAT:
        eliminate_place(N, k)
        return
    if kind == SLOT:
        slide_block(N, k)
    if p == nb:
        return
    # what is left goes to the parent, moved along d to its point O
    xx, xy, yy, bx, by, dx, dy = N[k, XX], N[k, XY], N[k, YY], N[k, BX], N[k, BY], N[k, DX], N[k, DY]
    pw += wx * bx + wy * by
    px = N[k, PX] + xx * bx + xy * by
    py = N[k, PY] + xy * bx + yy * by
    tx, ty = dx * xy - dy * xx, dx * yy - dy * xy
    N[p, WW] += ww + 2.0 * (dx * wy - dy * wx) + dx * ty - dy * tx
    N[p, WX] += wx + tx
    N[p, WY] += wy + ty
    N[p, XX] += xx
    N[p, XY] += xy
    N[p, YY] += yy
    N[p, PW] += pw + dx * py - dy * px
    N[p, PX] += px
    N[p, PY] += py


@kernel(inline=True)
def eliminate_slide(N, k):
    """A slide along e."""
    ex, ey = N[k, EX], N[k, EY]
    sw = N[k, WX] * ex + N[k, WY] * ey
    slide_block(N, k)
    h, r = N[k, SH], N[k, PS] * N[k, SH]
    N[k, SW] = sw
    N[k, WW] -= sw * sw * h
    N[k, WX] -= sw * h * N[k, SX]
    N[k, WY] -= sw * h * N[k, SY]
    N[k, PW] -= sw * r


@kernel(inline=True)
def slide_block(N, k):
    """The same if the body does not resist rotation."""
    ex, ey = N[k, EX], N[k, EY]
    sx, sy = N[k, XX] * ex + N[k, XY] * ey, N[k, XY] * ex + N[k, YY] * ey
    h = 1.0 / (sx * ex + sy * ey)
    ps = N[k, PX] * ex + N[k, PY] * ey
    N[k, PS] = ps
    N[k, SW], N[k, SX], N[k, SY], N[k, SH] = 0.0, sx, sy, h
    N[k, XX] -= sx * sx * h
    N[k, XY] -= sx * sy * h
    N[k, YY] -= sy * sy * h
    N[k, PX] -= sx * h * ps
    N[k, PY] -= sy * h * ps


@kernel(inline=True)
def eliminate_place(N, k):
    """x, then y of a body that floats; the pivots are SH and SY, the forces PX and PY."""
    xy = N[k, XY]
    h = 1.0 / N[k, XX]
    N[k, SX], N[k, SH] = xy, h
    N[k, SY] = 1.0 / (N[k, YY] - xy * xy * h)
    N[k, PY] -= xy * h * N[k, PX]


@kernel(inline=True)
def push_back(N, k, bx, by):
    """The force that an acceleration (0, bx, by) requires."""
    N[k, PW] += N[k, WX] * bx + N[k, WY] * by
    N[k, PX] += N[k, XX] * bx + N[k, XY] * by
    N[k, PY] += N[k, XY] * bx + N[k, YY] * by


# Rows of Phi_q inward ---------------------------------------------------------------------------------


@kernel(inline=True)
def take_inward(T, G, nodes, start, stop, e, W):
    """Take the forces G of two rows on the same bodies from these to the ground, along the nodes of their paths.

    Entries e.. of W are the forces on the freedoms, and these divided by the pivots, of the first and the second row.
    Where a branch begins, or meets another, the node is marked by ~. Returns Phi_q qdd of the free tree, W^T D^-1 W.
    """
    index, N = T.numbers, T.state
    nb = index.shape[0]
    one = two = l11 = l12 = l22 = w1 = x1 = y1 = w2 = x2 = y2 = 0.0
    ax, ay = N[nb, AX], N[nb, AY]
    for r in range(start, stop):
        # a branch begins with the forces on its first body
        k = nodes[r]
        if k < 0:
            k = ~k
            w1, x1, y1, w2, x2, y2 = G[k, 0], G[k, 1], G[k, 2], G[k, 3], G[k, 4], G[k, 5]
            G[k, 0] = G[k, 1] = G[k, 2] = G[k, 3] = G[k, 4] = G[k, 5] = 0.0
        # the freedoms of the joint: entries of W, sums of W^T D^-1 W, and the force that passes
        # through, moved on to the point of the parent
        p, kind, dx, dy = index[k, PARENT], index[k, KIND], N[k, DX], N[k, DY]
        if kind == PIN:
            h, wx, wy, bx, by, dw = N[k, H], N[k, WX], N[k, WY], N[k, BX], N[k, BY], N[k, DW]
            v1, v2, turning = w1 * h, w2 * h, N[k, PW] + N[k, WB]
            W[e, 0], W[e, 1], W[e, 2], W[e, 3] = w1, v1, w2, v2
            e += 1
            l11, l12, l22 = l11 + w1 * v1, l12 + w1 * v2, l22 + w2 * v2
            one += x1 * bx + y1 * by - v1 * turning
            two += x2 * bx + y2 * by - v2 * turning
            w1, w2 = dx * y1 - dy * x1 - v1 * dw, dx * y2 - dy * x2 - v2 * dw
            x1, y1, x2, y2 = x1 - v1 * wx, y1 - v1 * wy, x2 - v2 * wx, y2 - v2 * wy
        else:
            first = e
            part, _, w1, x1, y1 = take_through(N, kind, k, w1, x1, y1, e, W, 0)
            one += part
            part, e, w2, x2, y2 = take_through(N, kind, k, w2, x2, y2, e, W, 2)
            two += part
            for i in range(first, e):
                l11 += W[i, 0] * W[i, 1]
                l12 += W[i, 0] * W[i, 3]
                l22 += W[i, 2] * W[i, 3]
            w1, w2 = w1 + dx * y1 - dy * x1, w2 + dx * y2 - dy * x2
        # at the ground the path ends
        if p == nb:
            one += x1 * ax + y1 * ay
            two += x2 * ax + y2 * ay
            continue
        # where branches meet, their forces add up on the body
        if r + 1 == stop or nodes[r + 1] < 0:
            G[p, 0] += w1
            G[p, 1] += x1
            G[p, 2] += y1
            G[p, 3] += w2
            G[p, 4] += x2
            G[p, 5] += y2
    return one, two, l11, l12, l22


@kernel(inline=True)
def take_through(N, kind, k, w, fx, fy, e, W, c):
    """Through one joint that is not a pin: the contribution to the row, the next entry, the remaining force."""
    total = 0.0
    # in the order of `eliminate_other`: an outboard slide, the rotation, an inboard slide or both translations
    if kind in (SLIDE, OWN_SLOT):
        g = fx * N[k, EX] + fy * N[k, EY]
        v = g * N[k, SH]
        W[e, c], W[e, c + 1] = g, v
        w, fx, fy = w - v * N[k, SW], fx - v * N[k, SX], fy - v * N[k, SY]
        total -= v * N[k, PS]
        e += 1
    if kind == OWN_SLOT:
        total += fx * N[k, IX] + fy * N[k, IY]
    if kind in (SLOT, OWN_SLOT, FLOAT):
        v = w * N[k, H]
        W[e, c], W[e, c + 1] = w, v
        w, fx, fy = 0.0, fx - v * N[k, WX], fy - v * N[k, WY]
        total -= v * N[k, PW]
        e += 1
    if kind == SLOT:
        g = fx * N[k, EX] + fy * N[k, EY]
        v = g * N[k, SH]
        W[e, c], W[e, c + 1] = g, v
        fx, fy = fx - v * N[k, SX], fy - v * N[k, SY]
        total -= v * N[k, PS]
        e += 1
    if kind == FLOAT:
        v = fx * N[k, SH]
        W[e, c], W[e, c + 1] = fx, v
        fy -= v * N[k, SX]
        W[e + 1, c], W[e + 1, c + 1] = fy, fy * N[k, SY]
        total -= v * N[k, PX] + fy * N[k, SY] * N[k, PY]
        return total, e + 2, 0.0, 0.0, 0.0
    return total + fx * N[k, BX] + fy * N[k, BY], e, w, fx, fy


# Outward ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def accelerate_joints(T, zdd):
    """zdd, from the ground to the leaves."""
    index, J, N = T.numbers, T.constant, T.state
    alpha = ax = ay = 0.0
    for k in range(index.shape[0]):
        p, kind, j = index[k, PARENT], index[k, KIND], index[k, FIRST]
        if p != k - 1:
            alpha, ax, ay = N[p, ALPHA], N[p, AX], N[p, AY]
        # w . a, with a = a_p + alpha_p x d + b, from what is known before a
        before, rest = alpha, N[k, PW] + N[k, WB] + N[k, WX] * ax + N[k, WY] * ay
        ax, ay = ax - before * N[k, DY] + N[k, BX], ay + before * N[k, DX] + N[k, BY]
        if kind == PIN:
            alpha = -(rest + before * N[k, DW]) * N[k, H]
            zdd[j] = J[k, SIGN] * (alpha - before)
        else:
            alpha, ax, ay = accelerate_other(N, k, kind, j, J[k, SIGN], p, before, ax, ay, zdd)
        N[k, ALPHA], N[k, AX], N[k, AY] = alpha, ax, ay


@kernel(inline=True)
def accelerate_other(N, k, kind, j, sign, p, alpha, ax, ay, zdd):
    """The same for a body that is not on a pin; alpha, ax, ay are those of the parent at O."""
    before = alpha
    if kind == FLOAT:
        y = -N[k, PY] * N[k, SY]
        x = -(N[k, PX] + N[k, SX] * y) * N[k, SH]
        alpha = -(N[k, PW] + N[k, WX] * x + N[k, WY] * y) * N[k, H]
        # the ground accelerates with -g
        zdd[j], zdd[j + 1], zdd[j + 2] = x - N[p, AX], y - N[p, AY], alpha
        return alpha, x, y
    if kind == SLOT:
        s = -(N[k, PS] + N[k, SX] * ax + N[k, SY] * ay) * N[k, SH]
        zdd[j] = s
        ax, ay = ax + s * N[k, EX], ay + s * N[k, EY]
    if kind in (SLOT, OWN_SLOT):
        alpha = -(N[k, PW] + N[k, WX] * ax + N[k, WY] * ay) * N[k, H]
        zdd[j + 1] = sign * (alpha - before)
    if kind == OWN_SLOT:
        ax, ay = ax + N[k, IX], ay + N[k, IY]
    if kind in (SLIDE, OWN_SLOT):
        s = -(N[k, PS] + N[k, SW] * alpha + N[k, SX] * ax + N[k, SY] * ay) * N[k, SH]
        zdd[j] = s
        ax, ay = ax + s * N[k, EX], ay + s * N[k, EY]
    return alpha, ax, ay
