"""Groups that are neither driven directly nor dyads, by Newton in the unknowns of their hinges.

With the bodies of a group on their hinges, the rows that close it are functions of its unknowns x alone:

    c(x) = 0,      K x' = -c' at x' = 0,      K x'' = -c'' at x'' = 0,      K = dc/dx

From a good prediction one correction is usually enough.
"""

from __future__ import annotations

from ...numerics.kernel import kernel
from ...numerics.rank import LOST_PIVOT
from .group_rows import (
    accelerate_frame,
    gap_of_row,
    gradient_of_row,
    move_frame,
    place_frame,
    rate_of_row,
    second_rate_of_row,
)
from .groups import PIN, SLIDE
from .hinges import BPHI, BX, BY, accelerate_on_hinge, arm, axis, move_on_hinge, place_on_hinge

MOST_ITERATIONS = 10
LARGEST_TURN = 0.5  # rad in one correction
CONTRACTION = 0.2  # ratio of successive corrections
EXACT = 2e-15  # correction, relative to the extent of the group, below which nothing is left but rounding


# Small matrices ---------------------------------------------------------------------------------------


@kernel
def factor_small(K, k, norms, exchanged):
    """L U of the first k rows, divided by their norms, and columns, in place, with reciprocals of the pivots.

    Returns (smallest pivot, determinant); zeros if K is singular or not finite.
    """
    determinant, smallest = 1.0, 1.0
    for i in range(k):
        if not norms[i] > 0.0:
            return 0.0, 0.0
        determinant *= norms[i]
        norms[i] = 1.0 / norms[i]
        for j in range(k):
            K[i, j] *= norms[i]
    for p in range(k):
        best = p
        for i in range(p + 1, k):
            if abs(K[i, p]) > abs(K[best, p]):
                best = i
        exchanged[p] = best
        if best != p:
            determinant = -determinant
            for j in range(k):
                K[p, j], K[best, j] = K[best, j], K[p, j]
        pivot = K[p, p]
        if not abs(pivot) > 0.0:
            return 0.0, 0.0
        determinant *= pivot
        smallest = min(smallest, abs(pivot))
        K[p, p] = 1.0 / pivot
        for i in range(p + 1, k):
            K[i, p] *= K[p, p]
            for j in range(p + 1, k):
                K[i, j] -= K[i, p] * K[p, j]
    return smallest, determinant


@kernel
def solve_small(K, k, norms, exchanged, x):
    """x of K x = b with the factors of K; b is in x."""
    for i in range(k):
        x[i] *= norms[i]
    for i in range(k):
        other = exchanged[i]
        x[i], x[other] = x[other], x[i]
    for i in range(k):
        for j in range(i):
            x[i] -= K[i, j] * x[j]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            x[i] -= K[i, j] * x[j]
        x[i] *= K[i, i]


# Positions --------------------------------------------------------------------------------------------


@kernel
def tangents_on_hinge(S, G, w, h):
    """How the body moves with each unknown of its group, (x, y, phi) for one unit, into T."""
    B, T, i, kind, on, carrier = w.bodies, w.T, G.body[h], G.kind[h], G.on[h], G.carrier[h]
    p, stop = G.chain_start[h], G.chain_start[h + 1]
    ex, ey = arm(S, B, G.own[h])
    if carrier >= 0:  # what moves its carrier
        b = G.body[carrier]
        ox, oy = arm(S, B, on)
        for c in range(G.chain_start[carrier], G.chain_start[carrier + 1]):
            tx, ty, tw = T[c, 0], T[c, 1], T[c, 2]
            if kind == SLIDE:
                T[p, 0], T[p, 1] = tx - tw * (B[i, BY] - B[b, BY]), ty + tw * (B[i, BX] - B[b, BX])
                T[p, 2] = tw
            else:
                turns = tw * G.turns_along[h]
                T[p, 0], T[p, 1], T[p, 2] = tx - tw * oy + turns * ey, ty + tw * ox - turns * ex, turns
            p += 1
    if p == stop:  # its angle is given
        return
    if kind == PIN:
        T[p, 0], T[p, 1], T[p, 2] = ey, -ex, 1.0
    elif kind == SLIDE:
        T[p, 0], T[p, 1] = axis(S, B, on)
        T[p, 2] = 0.0
    else:
        for c in range(3):
            T[p + c, 0], T[p + c, 1], T[p + c, 2] = 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)


@kernel
def correction(S, G, w, q, g):
    """Newton's correction of the unknowns of a group, from its pose in q, into w.x. Returns (pivot, determinant)."""
    first, stop, start = G.hinge_start[g], G.hinge_start[g + 1], G.unknown_start[g]
    k = G.unknown_start[g + 1] - start
    for h in range(first, stop):
        place_on_hinge(S, G, w, q, h)
        tangents_on_hinge(S, G, w, h)
    for f in range(G.frame_start[g], G.frame_start[g + 1]):
        place_frame(S, w, G.frames[f])
    for r in range(k):
        i = G.closing[start + r]
        w.x[r] = -gap_of_row(S, w.rows, i)
        for c in range(k):
            w.K[r, c] = 0.0
        w.norms[r] = gradient_of_row(S, G, w, i, r, first, stop)
        for c in range(k):
            w.K[r, c] *= w.scale[G.coordinate[start + c]]
    pivot, determinant = factor_small(w.K, k, w.norms, w.exchanged)
    if pivot > 0.0:
        solve_small(w.K, k, w.norms, w.exchanged, w.x)
    return pivot, determinant


@kernel
def correct(G, w, q, g):
    """Move the bodies of a group along their tangents."""
    start = G.unknown_start[g]
    for h in range(G.hinge_start[g], G.hinge_start[g + 1]):
        i = G.body[h]
        q[3 * i], q[3 * i + 1], q[3 * i + 2] = w.bodies[i, BX], w.bodies[i, BY], w.bodies[i, BPHI]
        for c in range(G.chain_start[h], G.chain_start[h + 1]):
            unknown = G.chain[c]
            step = w.x[unknown] * w.scale[G.coordinate[start + unknown]]
            q[3 * i] += step * w.T[c, 0]
            q[3 * i + 1] += step * w.T[c, 1]
            q[3 * i + 2] += step * w.T[c, 2]


@kernel
def close_group(S, G, w, q, g):
    """The pose of a group, from the guess in q. Returns (smallest pivot, determinant); zeros on failure."""
    start, length, before = G.unknown_start[g], w.length[0], 1.0e300
    for iteration in range(MOST_ITERATIONS):
        pivot, determinant = correction(S, G, w, q, g)
        if not pivot > LOST_PIVOT:
            return 0.0, 0.0
        # the size of the correction as a length
        size, turn, reach = 0.0, 0.0, length
        for p in range(G.unknown_start[g + 1] - start):
            j = G.coordinate[start + p]
            size = max(size, abs(w.x[p]))
            reach = max(reach, abs(q[j]) * w.size[j])
            if j % 3 == 2:
                turn = max(turn, abs(w.x[p]) * w.scale[j])
        # converged, or too slow
        only_rounding_left = iteration > 0 and size <= 1.0e-9 * length and size >= 0.5 * before
        if size <= EXACT * reach or only_rounding_left:
            return pivot, determinant
        too_slow = size > CONTRACTION * before and size > 1.0e-9 * length
        if too_slow or not size < 1.0e100 or turn > LARGEST_TURN:
            return 0.0, 0.0
        correct(G, w, q, g)
        before = size
    return 0.0, 0.0


# Rates ------------------------------------------------------------------------------------------------


@kernel
def move_group(S, G, w, g):
    """Velocities of the bodies of a group and of the frames of its closing rows, from the rates in w.x."""
    for h in range(G.hinge_start[g], G.hinge_start[g + 1]):
        move_on_hinge(S, G, w, h, w.x)
    for f in range(G.frame_start[g], G.frame_start[g + 1]):
        move_frame(S, w, G.frames[f])


@kernel
def accelerate_group(S, G, w, g):
    for h in range(G.hinge_start[g], G.hinge_start[g + 1]):
        accelerate_on_hinge(S, G, w, h, w.x)
    for f in range(G.frame_start[g], G.frame_start[g + 1]):
        accelerate_frame(S, w, G.frames[f])


@kernel
def solve_closing_rows(G, w, g):
    """Rates of the unknowns, from the factors of K and the right-hand side in w.x."""
    start, k = G.unknown_start[g], G.unknown_start[g + 1] - G.unknown_start[g]
    solve_small(w.K, k, w.norms, w.exchanged, w.x)
    for p in range(k):
        w.x[p] *= w.scale[G.coordinate[start + p]]


@kernel
def rates_of_group(S, G, w, g):
    """Velocities and accelerations in the closed pose: first with the unknowns at rest, then as the rows demand."""
    start, k = G.unknown_start[g], G.unknown_start[g + 1] - G.unknown_start[g]
    for p in range(k):
        w.x[p] = 0.0
    move_group(S, G, w, g)
    for r in range(k):
        w.x[r] = -rate_of_row(S, w.rows, G.closing[start + r])
    solve_closing_rows(G, w, g)
    move_group(S, G, w, g)
    for p in range(k):
        w.x[p] = 0.0
    accelerate_group(S, G, w, g)
    for r in range(k):
        w.x[r] = -second_rate_of_row(S, w.rows, w.A, G.closing[start + r])
    solve_closing_rows(G, w, g)
    accelerate_group(S, G, w, g)
