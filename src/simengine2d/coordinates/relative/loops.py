"""Loops of a tree of bodies: the multipliers of the rows that close them.

    (W^T D^-1 W + c) lam = Phi_q qdd of the free tree - gamma,      W = L^-1 Phi_z^T

Each row goes inward along the paths of its bodies. Redundant rows are made legal by a small eps in place of c, whose
effect refinement removes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...expressions.function_table import FunctionTable, functions_at
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ...numerics.lanes import chosen, floored, larger
from ...numerics.ldl import Elimination
from ...numerics.pair_elimination import eliminate_pairs, solve_pair, solve_pairs_again, substitute_pairs
from ...numerics.refinement import MOST_REFINEMENTS, refine
from ...system.constraints import weigh_rows
from ...system.frames import EX as ARM_X
from ...system.frames import EY as ARM_Y
from ...system.frames import OMEGA as TURNING
from ...system.frames import PHI as ANGLE
from ...system.frames import PX as PLACE_X
from ...system.frames import PY as PLACE_Y
from ...system.frames import UX, UY, term_gradient, term_rate, term_second_order, term_value
from ...system.frames import VX as SPEED_X
from ...system.frames import VY as SPEED_Y
from ...system.workspace import Workspace
from ..equations import POSITION
from .articulated import accelerate_joints, eliminate_joints, take_inward, weigh
from .tree_motion import AX, AY, BX, BY, COS, CX, CY, IX, IY, OMEGA, PHI, SIN, VX, VY, Tree, X, Y  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# of a group: its rows, its first node and entry, the slots of its diagonal block and of its right-hand sides; 1 where
# it is x and y of a pin
ROW, OTHER, NODE, ENTRY, DIAGONAL, RIGHT, PINNED = range(7)


class Loops(NamedTuple):
    """Context of `solve_loops`. Bodies are numbered as in the tree."""

    T: Tree
    flat: Floats  # the state of the tree in one row
    functions: FunctionTable
    rows: Workspace  # where formulas write the weights of their terms
    frame_body: Ints
    frame: Floats  # (frames, 5): x, y, cos, sin, angle in the body
    term: Ints  # (terms, 3): kind, a, b
    weight: Floats
    period: Floats
    row_start: Ints
    group: Ints  # (groups + 1, 7); see `Paths`
    node: Ints
    freedom: Ints
    pair: Ints
    program: Elimination
    f: Floats
    F: Floats
    G: Floats  # (bodies + 1, 6): forces of the two rows of a group
    W: Floats  # (entries, 4): for each row the force on a freedom, and the same divided by the pivot
    V: Floats  # (slots, 4): W^T D^-1 W + soft in blocks of two rows
    b: Floats  # the last one belongs to missing rows, as does that of lam
    lam: Floats
    work: Floats  # (groups, 2)
    stabilization: Floats  # 2 alpha and beta^2
    compliance: Floats  # of each row, as `soft`; the last one belongs to missing rows
    soft: Floats  # compliance or eps


class Closing(NamedTuple):
    """Context of `solve_loops`; a kernel pointer that is not needed is 0."""

    c: Loops
    timed_f: Any
    timed_c: Any
    nonlinear_f: Any
    nonlinear_c: Any
    stabilize_f: Any
    stabilize_c: Any
    refine_f: Any
    refine_c: Any


class Refining(NamedTuple):
    """Context of `refine_multipliers`."""

    c: Loops
    rest: Floats
    change: Floats
    share: Floats  # of each freedom


# Rows -------------------------------------------------------------------------------------------------


@kernel(inline=True)
def place_tree_frames(N, body, frame, F):
    """Frames of rows and forces; their arms begin at O."""
    for i in range(body.size):
        k, x, y, turn_cos, turn_sin = body[i], frame[i, 0], frame[i, 1], frame[i, 2], frame[i, 3]
        c, s, omega = N[k, COS], N[k, SIN], N[k, OMEGA]
        ex, ey = N[k, CX] + c * x - s * y, N[k, CY] + s * x + c * y
        F[i, ARM_X], F[i, ARM_Y] = ex, ey
        F[i, PLACE_X], F[i, PLACE_Y], F[i, ANGLE] = N[k, X] + ex, N[k, Y] + ey, N[k, PHI] + frame[i, 4]
        F[i, UX], F[i, UY] = c * turn_cos - s * turn_sin, s * turn_cos + c * turn_sin
        F[i, SPEED_X], F[i, SPEED_Y], F[i, TURNING] = N[k, VX] - omega * ey, N[k, VY] + omega * ex, omega


@kernel(inline=True)
def place_rows(closing, t):
    """Frames and functions of all rows; c.f holds the constants from the beginning."""
    c = closing.c
    place_tree_frames(c.T.state, c.frame_body, c.frame, c.F)
    if closing.timed_f != 0:
        invoke(closing.timed_f, closing.timed_c, t, c.soft, c.soft)


@kernel_pointer
def timed_rows(c, t, y, out):
    """Functions of time, and rows that are formulas."""
    functions_at(c.functions, c.rows.scratch, t, c.f)
    weigh_rows(t, c.rows)


@kernel(inline=True)
def row_rate(c, i):
    """nu - Phi_z zd of one row"""
    term, total = c.term, c.f[i, 1]
    for r in range(c.row_start[i], c.row_start[i + 1]):
        total -= c.weight[r] * term_rate(term[r, 0], c.F, term[r, 1], term[r, 2])
    return total


@kernel(inline=True)
def row_value(c, i):
    """Phi of one row; if it contains a direction, reduced to the nearest turn."""
    term, total = c.term, -c.f[i, 0]
    for r in range(c.row_start[i], c.row_start[i + 1]):
        total += c.weight[r] * term_value(term[r, 0], c.F, term[r, 1], term[r, 2])
    if c.period[i] > 0.0:
        total -= c.period[i] * floored(total / c.period[i] + 0.5)
    return total


@kernel(inline=True)
def pin_force(c, i, j):
    """Phi_q of x in row i and y in row j as forces on their bodies, and what `row_force` returns."""
    N, F, G, body, ground = c.T.state, c.F, c.G, c.frame_body, c.T.numbers.shape[0]
    r = c.row_start[i]
    a, b, wx, wy = c.term[r, 1], c.term[r, 2], c.weight[r], c.weight[c.row_start[j]]
    ka, kb = body[a], body[b]
    exa, eya, exb, eyb = F[a, ARM_X], F[a, ARM_Y], F[b, ARM_X], F[b, ARM_Y]
    turning_a, turning_b, free = F[a, TURNING] * F[a, TURNING], F[b, TURNING] * F[b, TURNING], 0.0
    if ka != ground:
        free -= 1.0
        G[ka, 0] += wx * eya
        G[ka, 1] -= wx
        G[ka, 3] -= wy * exa
        G[ka, 5] -= wy
    if kb != ground:
        free += 1.0
        G[kb, 0] -= wx * eyb
        G[kb, 1] += wx
        G[kb, 3] += wy * exb
        G[kb, 5] += wy
    one = wx * (turning_a * exa - turning_b * exb - free * N[ground, AX]) - c.f[i, 2]
    two = wy * (turning_a * eya - turning_b * eyb - free * N[ground, AY]) - c.f[j, 2]
    return one, two


@kernel_pointer
def nonlinear_group(c, number, y, out):
    """Forces of a group that is not a pin; its number is passed in place of the time."""
    g = int(number)
    i, j = c.group[g, ROW], c.group[g, OTHER]
    c.b[i] += row_force(c, i, 0)
    if j < c.f.shape[0]:
        c.b[j] += row_force(c, j, 3)


@kernel
def row_force(c, i, o):
    """Phi_q of one row as forces on its bodies; returns -gamma, minus their work on the acceleration of the ground."""
    N, F, G, ground = c.T.state, c.F, c.G, c.T.numbers.shape[0]
    total = -c.f[i, 2]
    for r in range(c.row_start[i], c.row_start[i + 1]):
        kind, a, b, w = c.term[r, 0], c.term[r, 1], c.term[r, 2], c.weight[r]
        g = term_gradient(kind, F, a, b)
        total += w * term_second_order(kind, F, a, b)
        for side in range(2):
            k = c.frame_body[b if side else a]
            gx, gy, turn = (g[3], g[4], g[5]) if side else (g[0], g[1], g[2])
            if k != ground:
                G[k, o] += w * turn
                G[k, o + 1] += w * gx
                G[k, o + 2] += w * gy
                total -= w * (gx * N[ground, AX] + gy * N[ground, AY])
    return total


# Multipliers ------------------------------------------------------------------------------------------


@kernel(inline=True)
def close_loops(closing):
    """lam, and the resulting forces on the freedoms; c.b holds what is added to -gamma."""
    c = closing.c
    group, freedom, W, V, b, lam = c.group, c.freedom, c.W, c.V, c.b, c.lam
    forget_products(c)
    # rows of each group as forces on the bodies, taken inward: right-hand side and diagonal block
    for g in range(group.shape[0] - 1):
        i, j, at, right = group[g, ROW], group[g, OTHER], group[g, DIAGONAL], group[g, RIGHT]
        if group[g, PINNED] == 1:
            one, two = pin_force(c, i, j)
            b[i] += one
            b[j] += two
        else:
            invoke(closing.nonlinear_f, closing.nonlinear_c, float(g), c.soft, c.soft)
        one, two, l11, l12, l22 = take_inward(
            c.T, c.G, c.node, group[g, NODE], group[g + 1, NODE], group[g, ENTRY], W
        )
        b[i] += one
        b[j] += two
        V[right, 0], V[right, 1] = b[i], b[j]
        V[at, 0], V[at, 1], V[at, 3] = c.soft[i] + l11, l12, c.soft[j] + l22
    # W^T D^-1 W lam = b
    if group.shape[0] == 2:
        solve_pair(V, group[0, DIAGONAL], group[0, RIGHT], lam, group[0, ROW], group[0, OTHER])
    else:
        multiply_paths(c)
        eliminate_pairs(c.program, V)
        substitute_pairs(c.program, V, group, lam, c.work)
    if closing.refine_f != 0:
        invoke(closing.refine_f, closing.refine_c, 0.0, c.soft, c.soft)
    # the multipliers as forces on the freedoms
    for g in range(group.shape[0] - 1):
        one, two = lam[group[g, ROW]], lam[group[g, OTHER]]
        for e in range(group[g, ENTRY], group[g + 1, ENTRY]):
            c.flat[freedom[e]] += W[e, 0] * one + W[e, 2] * two


@kernel(inline=True)
def forget_products(c):
    """Blocks of groups whose paths meet are sums."""
    if c.pair.shape[0] > 0:
        for p in range(c.program.column.size):
            c.V[p, 0] = c.V[p, 1] = c.V[p, 2] = c.V[p, 3] = 0.0


@kernel(inline=True)
def multiply_paths(c):
    """W^T D^-1 W of groups whose paths meet."""
    pair, W, V = c.pair, c.W, c.V
    for p in range(pair.shape[0]):
        d, e, at = pair[p, 0], pair[p, 1], pair[p, 2]
        one, two, v1, v2 = W[d, 0], W[d, 2], W[e, 1], W[e, 3]
        V[at, 0] += one * v1
        V[at, 1] += one * v2
        V[at, 2] += two * v1
        V[at, 3] += two * v2


@kernel
def spread_of_loops(c):
    """How much smaller a pivot of W^T D^-1 W is than its diagonal; infinite in a singular pose."""
    V, group, spread = c.V, c.group, 1.0
    for g in range(group.shape[0] - 1):
        one, two, at = 0.0, 0.0, group[g, DIAGONAL]
        for e in range(group[g, ENTRY], group[g + 1, ENTRY]):
            one += c.W[e, 0] * c.W[e, 1]
            two += c.W[e, 2] * c.W[e, 3]
        one, two = one * abs(V[at, 0]), two * abs(V[at, 3])
        spread = chosen(one + two < np.inf, larger(larger(spread, one), two), np.inf)
    return spread


@kernel_pointer
def solve_loops(closing, t, y, out):
    """lam of the tree as it moves, and the resulting forces on the freedoms."""
    place_rows(closing, t)
    for i in range(closing.c.b.size):
        closing.c.b[i] = 0.0
    if closing.stabilize_f != 0:
        invoke(closing.stabilize_f, closing.stabilize_c, t, y, y)
    close_loops(closing)


@kernel_pointer
def stabilize(c, t, y, out):
    """2 alpha (Phi_z zd - nu) + beta^2 Phi"""
    for i in range(c.f.shape[0]):
        c.b[i] = c.stabilization[1] * row_value(c, i) - c.stabilization[0] * row_rate(c, i)


@kernel_pointer
def refine_multipliers(r, t, y, out):
    """lam += (W^T D^-1 W + eps)^-1 (b - (W^T D^-1 W + c) lam): eps goes, or what c has in its place comes."""
    refine(left_over, correct, r, MOST_REFINEMENTS)


@kernel
def left_over(r):
    """b - (W^T D^-1 W + c) lam into r.rest; returns the largest relative to the terms of its equation."""
    # share = D^-1 W lam
    c, group, lam, share = r.c, r.c.group, r.c.lam, r.share
    for e in range(c.freedom.size):
        share[c.freedom[e]] = 0.0
    for g in range(group.shape[0] - 1):
        one, two = lam[group[g, ROW]], lam[group[g, OTHER]]
        for e in range(group[g, ENTRY], group[g + 1, ENTRY]):
            share[c.freedom[e]] += c.W[e, 1] * one + c.W[e, 3] * two
    # residual of each row, and the size of its terms
    lost = 0.0
    for g in range(group.shape[0] - 1):
        for side in range(2):
            i = group[g, OTHER if side else ROW]
            rest = c.b[i] - c.compliance[i] * lam[i]
            size = abs(c.b[i]) + abs(c.compliance[i] * lam[i])
            for e in range(group[g, ENTRY], group[g + 1, ENTRY]):
                term = c.W[e, 2 * side] * share[c.freedom[e]]
                rest -= term
                size += abs(term)
            r.rest[i] = rest
            if i < lam.size - 1 and not abs(rest) <= lost * size:
                lost = abs(rest) / size
    return lost


@kernel
def correct(r):
    """lam += (W^T D^-1 W + eps)^-1 r.rest"""
    solve_pairs_again(r.c.program, r.c.V, r.c.group, r.rest, r.change, r.c.work)
    for i in range(r.c.lam.size - 1):
        r.c.lam[i] += r.change[i]


@kernel(inline=True)
def row_residual(c, level, i):
    """-Phi, or nu - Phi_z zd, of one row."""
    return -row_value(c, i) if level == POSITION else row_rate(c, i)


@kernel
def at_rest(c):
    """Remove from tree and rows the accelerations they have without forces."""
    N, ground = c.T.state, c.T.numbers.shape[0]
    for i in range(c.f.shape[0]):
        c.f[i, 2] = 0.0
    for i in range(c.frame_body.size):
        c.F[i, SPEED_X] = c.F[i, SPEED_Y] = c.F[i, TURNING] = 0.0
    N[ground, AX] = N[ground, AY] = 0.0
    for k in range(ground):
        N[k, BX] = N[k, BY] = N[k, IX] = N[k, IY] = N[k, OMEGA] = 0.0


@kernel(inline=True)
def change_of(closing, row, x):
    """x of M x + Phi_z^T lam = 0, Phi_z x = row, of the tree and the rows as they were placed."""
    c = closing.c
    at_rest(c)
    weigh(c.T)
    eliminate_joints(c.T)
    for i in range(row.size):
        c.b[i] = -row[i]
    c.b[row.size] = 0.0
    close_loops(closing)
    accelerate_joints(c.T, x)
