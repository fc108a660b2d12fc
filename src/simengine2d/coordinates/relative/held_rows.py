"""The rows of joints of the tree that are not pins: their multipliers, and whether they hold.

Each row has slopes for the outboard body and for its parent; all that is asked of it follows from these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import kernel
from ...numerics.lanes import larger, sqrt
from ...system.frames import term_gradient, term_second_order
from ...system.kkt_refinement import SHARE, larger_share
from .loops import row_value
from .tree_motion import ALPHA, AX, AY, OMEGA, PARENT, VX, VY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# columns of `slope`: Phi_q for (x, y, phi) of the outboard body and of its parent, at their points O; the second-order
# part of the acceleration of the row
OWN, PARENTS, BEND = 0, 3, 6


class HeldRows(NamedTuple):
    """These rows, and of their frames what the same fields of `Loops` are."""

    number: Ints  # in the system
    start: Ints  # those of the joint of body k: start[k] : start[k + 1]
    frame_body: Ints
    frame: Floats
    F: Floats
    term: Ints
    weight: Floats
    period: Floats
    row_start: Ints
    f: Floats
    slope: Floats  # (rows, 7)
    basis: Floats  # (3, 3)
    R: Floats  # (3, 3)


@kernel(inline=True)
def place_held(held, k):
    """Slopes of the rows of the joint of body k."""
    slope, F, term = held.slope, held.F, held.term
    for i in range(held.start[k], held.start[k + 1]):
        x = y = turn = px = py = parent_turn = bend = 0.0
        for r in range(held.row_start[i], held.row_start[i + 1]):
            kind, a, b, w = term[r, 0], term[r, 1], term[r, 2], held.weight[r]
            ax, ay, aturn, bx, by, bturn = term_gradient(kind, F, a, b)
            if held.frame_body[a] == k:
                ax, ay, aturn, bx, by, bturn = bx, by, bturn, ax, ay, aturn
            x, y, turn = x + w * bx, y + w * by, turn + w * bturn
            px, py, parent_turn = px + w * ax, py + w * ay, parent_turn + w * aturn
            bend += w * term_second_order(kind, F, a, b)
        slope[i, OWN], slope[i, OWN + 1], slope[i, OWN + 2] = x, y, turn
        slope[i, PARENTS], slope[i, PARENTS + 1], slope[i, PARENTS + 2] = px, py, parent_turn
        slope[i, BEND] = bend


@kernel
def hold_body(held, k, arm, fx, fy, moment, of_forces, of_moments, lost, out):
    """lam of the rows of a joint, by least squares from the three equations of its body.

    Gram and Schmidt on the rows of Phi_q for this body, moments over an arm: v_a = sum_b R_ba e_b.
    """
    slope, e, R = held.slope, held.basis, held.R
    first, count, m = held.start[k], held.start[k + 1] - held.start[k], moment / arm
    for a in range(count):
        # the row for this body, orthogonal to those before it
        x, y, turn = slope[first + a, OWN], slope[first + a, OWN + 1], slope[first + a, OWN + 2] / arm
        for b in range(a):
            R[b, a] = share = e[b, 0] * x + e[b, 1] * y + e[b, 2] * turn
            x, y, turn = x - share * e[b, 0], y - share * e[b, 1], turn - share * e[b, 2]
        R[a, a] = 1.0 / sqrt(x * x + y * y + turn * turn)
        e[a, 0], e[a, 1], e[a, 2] = x * R[a, a], y * R[a, a], turn * R[a, a]
        # its share of the force on the body
        force = e[a, 0] * fx + e[a, 1] * fy + e[a, 2] * m
        fx, fy, m = fx - force * e[a, 0], fy - force * e[a, 1], m - force * e[a, 2]
        out[held.number[first + a]] = -force
    # R lam = shares
    for a in range(count - 1, -1, -1):
        i = held.number[first + a]
        for b in range(a + 1, count):
            out[i] -= R[a, b] * out[held.number[first + b]]
        out[i] *= R[a, a]
    # what the joint does not carry
    share = SHARE * larger(of_forces, of_moments / arm)
    lost = larger_share(lost, larger(abs(fx), abs(fy)), larger(of_forces, share))
    return larger_share(lost, abs(m) * arm, larger(of_moments, share * arm))


@kernel(inline=True)
def parent_force(held, i, lam):
    """Phi_q^T lam of one row on the parent."""
    slope = held.slope
    return lam * slope[i, PARENTS], lam * slope[i, PARENTS + 1], lam * slope[i, PARENTS + 2]


@kernel(inline=True)
def held_row(T, held, k, i, arm, parent_arm, usual):
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma of one row, and the size of the terms of the last."""
    N, slope, ground = T.state, held.slope, T.numbers.shape[0]
    p, rate, bend = T.numbers[k, PARENT], -held.f[i, 1], slope[i, BEND]
    second, size = bend - held.f[i, 2], abs(bend) + abs(held.f[i, 2])
    for side in range(2):
        body, length, first = (p, parent_arm, PARENTS) if side else (k, arm, OWN)
        if body == ground:
            continue
        x, y, turn = slope[i, first], slope[i, first + 1], slope[i, first + 2]
        ax, ay, alpha = N[body, AX] - N[ground, AX], N[body, AY] - N[ground, AY], N[body, ALPHA]
        rate += x * N[body, VX] + y * N[body, VY] + turn * N[body, OMEGA]
        second += x * ax + y * ay + turn * alpha
        reach = larger(larger(usual, abs(ax)), larger(abs(ay), length * abs(alpha)))
        size += (abs(x) + abs(y) + abs(turn) / length) * reach
    return row_value(held, i), rate, second, size
