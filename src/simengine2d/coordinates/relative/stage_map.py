"""Relative coordinates as a map for implicit stages: a body has the columns of the joints on its way from the ground.

    turn about O      R = sign i (G - O),     Rd = sign i (Gd - Od),     Rdd = sign i (Gdd - Odd)
    slide along e     R = e,                  Rd = i omega e,            Rdd = (i alpha - omega^2) e

with i a right angle to the left, and G the mass center of the body. A turn moves what comes after it: the derivative of
a column by an earlier turn is sign i R. On long ways, every few bodies one is pivotal: a column of its own for x, y and
a turn about its mass center.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ..body_map import BodyMap, MapContext, MapPointers, MapShape, integers
from .tree_motion import (
    ALPHA,
    AX,
    AY,
    BODY,
    CX,
    CY,
    EX,
    EY,
    FIRST,
    FLOAT,
    IX,
    IY,
    KIND,
    OMEGA,
    OWN_SLOT,
    PARENT,
    PIN,
    SIGN,
    SLIDE,
    SLOT,
    VX,
    VY,
    Tree,
    X,
    Y,
    accelerate_tree,
    move_tree,
    write_place,
)

if TYPE_CHECKING:
    from .relative import Relative

EVERY = 8  # bodies on a way from one that is pivotal to the next

ALONG_X, ALONG_Y, ALONG_E, TURN, SPIN = range(5)
"""What a column does: shift along an axis or a slide, turn about a joint or about a mass center."""


class WayColumns(NamedTuple):
    """Of each column of each body: what it does, and the joint that does it."""

    does: Ints
    node: Ints
    sign: Floats
    body: Ints  # of each body and ghost: whose mass center it is


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def place(c, t, y, lam):
    """The bodies, from the ground outward, then R."""
    M, T, n = c.X, c.Z, y.size // 3
    N = T.state
    move_tree(T, y[: 2 * n], True)
    accelerate_tree(T, y[2 * n :])
    for k in range(T.numbers.shape[0]):
        i, alpha, omega2 = 3 * T.numbers[k, BODY], N[k, ALPHA], N[k, OMEGA] * N[k, OMEGA]
        write_place(N, k, i, M.q, M.qd)
        M.qdd[i] = N[k, AX] - alpha * N[k, CY] - omega2 * N[k, CX]
        M.qdd[i + 1] = N[k, AY] + alpha * N[k, CX] - omega2 * N[k, CY]
        M.qdd[i + 2] = alpha
    for b in range(M.start.size - 1):
        g = 3 * c.W.body[b]
        for p in range(M.start[b], M.start[b + 1]):
            write_column(c, p, g)


@kernel
def write_column(c, p, g):
    """R of one column; where it shifts along an axis, it is constant."""
    M, N, does, k, sign = c.X, c.Z.state, c.W.does[p], c.W.node[p], c.W.sign[p]
    if does == ALONG_E:
        M.R[p, 0], M.R[p, 1] = N[k, EX], N[k, EY]
    elif does == TURN:
        M.R[p, 0], M.R[p, 1] = -sign * (M.q[g + 1] - N[k, Y]), sign * (M.q[g] - N[k, X])
    elif does == SPIN:
        i = 3 * c.Z.numbers[k, BODY]
        M.R[p, 0], M.R[p, 1] = -sign * (M.q[g + 1] - M.q[i + 1]), sign * (M.q[g] - M.q[i])


@kernel_pointer
def bend(c, t, y, lam):
    """Rd, Rdd, and the derivatives of R times the forces."""
    M, n = c.X, y.size // 3
    for b in range(M.start.size - 1):
        g = 3 * c.W.body[b]
        for p in range(M.start[b], M.start[b + 1]):
            move_column(c, p, g, y[n:])
        bend_columns(c, b)


@kernel
def move_column(c, p, g, rates):
    """Rd and Rdd of one column; `rates` are zd and zdd."""
    M, N, T, does, k, sign = c.X, c.Z.state, c.Z, c.W.does[p], c.W.node[p], c.W.sign[p]
    kind, first, n = T.numbers[k, KIND], T.numbers[k, FIRST], rates.size // 2
    if does == ALONG_E:
        turning = k if kind == OWN_SLOT else T.numbers[k, PARENT]
        omega, alpha, ex, ey = N[turning, OMEGA], N[turning, ALPHA], N[k, EX], N[k, EY]
        M.Rd[p, 0], M.Rd[p, 1] = -omega * ey, omega * ex
        M.Rdd[p, 0], M.Rdd[p, 1] = -alpha * ey - omega**2 * ex, alpha * ex - omega**2 * ey
        return
    if does == TURN:
        vx, vy, ax, ay = N[k, VX], N[k, VY], N[k, AX], N[k, AY]
        if kind == OWN_SLOT:  # O is a point of the parent, along which the body slides
            sd, sdd = rates[first], rates[n + first]
            vx, vy = vx - sd * N[k, EX], vy - sd * N[k, EY]
            ax, ay = ax - sdd * N[k, EX] - N[k, IX], ay - sdd * N[k, EY] - N[k, IY]
    elif does == SPIN:
        i = 3 * T.numbers[k, BODY]
        vx, vy, ax, ay = M.qd[i], M.qd[i + 1], M.qdd[i], M.qdd[i + 1]
    else:
        return
    M.Rd[p, 0], M.Rd[p, 1] = -sign * (M.qd[g + 1] - vy), sign * (M.qd[g] - vx)
    M.Rdd[p, 0], M.Rdd[p, 1] = -sign * (M.qdd[g + 1] - ay), sign * (M.qdd[g] - ax)


@kernel
def bend_columns(c, b):
    """force . sign i R of each column and the turns before it."""
    M, fx, fy, first = c.X, c.X.force[3 * b], c.X.force[3 * b + 1], c.X.start[b]
    at, columns = M.pair_start[b], M.start[b + 1] - first
    for p in range(columns):
        if c.W.does[first + p] < TURN:
            continue
        for u in range(p, columns):
            bent = c.W.sign[first + p] * (fy * M.R[first + u, 0] - fx * M.R[first + u, 1])
            M.tangent[M.pair[at + p * columns + u], 0] += bent
            if u != p:
                M.tangent[M.pair[at + u * columns + p], 0] += bent


# Building ---------------------------------------------------------------------------------------------


class WayColumn(NamedTuple):
    column: int
    does: int
    node: int
    sign: float


class Ways(NamedTuple):
    """Columns of the bodies, then of the ghosts."""

    columns: list[list[WayColumn]]
    order: list[int]
    body: list[int]


def ways(T: Tree, n: int) -> Ways:
    """The way to every body from the ground, or from the last pivotal body on it."""
    nodes = len(T.numbers)
    has_children = np.isin(np.arange(nodes), T.numbers[:, PARENT])
    way: list[list[WayColumn]] = [[] for _ in range(nodes + 1)]
    depth = [0] * (nodes + 1)
    of_body: list[list[WayColumn]] = [[] for _ in range(nodes)]
    of_ghost: list[list[WayColumn]] = []
    order, pivotal = [], []
    for k, (parent, body) in enumerate(T.numbers[:, [PARENT, BODY]].tolist()):
        way[k], depth[k] = way[parent] + _own(T, k), depth[parent] + 1
        order.append(body)
        if depth[k] > EVERY and has_children[k]:
            first = n + 3 * len(of_ghost)
            order.insert(-1, nodes + len(of_ghost))
            of_ghost.append(way[k])
            pivotal.append(body)
            way[k], depth[k] = _free(first, k), 0
        of_body[body] = way[k]
    return Ways(of_body + of_ghost, order[::-1], [*range(nodes), *pivotal])


def _own(T: Tree, k: int) -> list[WayColumn]:
    """The columns of the joint of a body, in the order in which they move it."""
    kind, first = T.numbers[k, [KIND, FIRST]].tolist()
    sign = float(T.constant[k, SIGN])
    if kind == FLOAT:
        return _free(first, k)
    slide = [WayColumn(first, ALONG_E, k, 1.0)] if kind in (SLIDE, SLOT, OWN_SLOT) else []
    turn = [WayColumn(first + len(slide), TURN, k, sign)] if kind in (PIN, SLOT, OWN_SLOT) else []
    return turn + slide if kind == OWN_SLOT else slide + turn


def _free(first: int, k: int) -> list[WayColumn]:
    return [WayColumn(first + r, does, k, 1.0) for r, does in enumerate((ALONG_X, ALONG_Y, SPIN))]


def map_shape(family: Relative) -> MapShape:
    found = ways(family.tree, family.n)
    return MapShape([[each.column for each in way] for way in found.columns], found.order, [])


def map_pointers(family: Relative, M: BodyMap) -> MapPointers:
    found = ways(family.tree, family.n)
    flat = [each for way in found.columns for each in way]
    for p, (_, does, _, sign) in enumerate(flat):
        M.R[p] = (does == ALONG_X, does == ALONG_Y, sign if does >= TURN else 0.0)
    W = WayColumns(
        integers(each.does for each in flat), integers(each.node for each in flat),
        np.array([each.sign for each in flat]), integers(found.body),
    )  # fmt: skip
    tree = family.tree._replace(state=family.tree.state.copy())
    pointer = place.bind(MapContext(M, tree, W))
    return MapPointers(pointer, bend.bind_like(pointer))
