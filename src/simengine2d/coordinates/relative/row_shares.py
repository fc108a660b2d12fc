"""How independent the rows that close loops are, in a pose of the bodies: g of `formulations/rank_watch`.

The joints of the tree are eliminated first, and they are always independent. So what a row keeps of itself is the pivot
of its multiplier in W^T D^-1 W, relative to Phi_q M^-1 Phi_q^T of the free bodies. M contains lengths but no masses.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer
from ...numerics.pair_elimination import eliminate_pairs
from ...numerics.rotation import rotate
from .articulated import eliminate_joints, take_inward, weigh
from .loop_arrays import RowLimits, new_loops
from .loops import (
    DIAGONAL,
    ENTRY,
    NODE,
    OTHER,
    PINNED,
    ROW,
    Closing,
    forget_products,
    multiply_paths,
    nonlinear_group,
    pin_force,
    place_rows,
    timed_rows,
)
from .recursive import is_timed, words
from .tree_motion import (  # fmt: skip
    BODY,
    COS,
    CX,
    CX0,
    CY,
    CY0,
    DX,
    DY,
    EX,
    EX0,
    EY,
    EY0,
    FLOAT,
    GX0,
    GY0,
    INERTIA,
    KIND,
    MASS,
    OWN_SLOT,
    PARENT,
    PHI,
    PIN,
    PX0,
    PY0,
    SIN,
    WELD,
    Tree,
    X,
    Y,
)

if TYPE_CHECKING:
    from .relative import Relative


TINY = 1e-12  # compliance of a row relative to its own share: every pivot exists


class RowShares(NamedTuple):
    """Context of `shares_in_tree`."""

    closing: Closing
    row: Ints  # of the system, for each that closes a loop
    whole: Floats  # Phi_q M^-1 Phi_q^T of each of them; the last belongs to missing rows


@kernel_pointer
def shares_in_tree(c, t, q, g):
    """g of all rows; it is 1 for those that joints of the tree hold."""
    loops = c.closing.c
    place_tree(loops.T, q)
    place_rows(c.closing, t)
    weigh(loops.T)
    eliminate_joints(loops.T)
    for i in range(g.size):
        g[i] = 1.0
    couple_rows(c)
    group, V = loops.group, loops.V
    for k in range(group.shape[0] - 1):
        i, j, at = group[k, ROW], group[k, OTHER], group[k, DIAGONAL]
        # the pivot of the first row alone; that of the second, when the first is gone
        one = V[at, 0] - V[at, 1] * V[at, 1] / V[at, 3]
        g[c.row[i]] = share(one, c.whole[i])
        if j < c.row.size:
            g[c.row[j]] = share(V[at, 3], c.whole[j])


@kernel(inline=True)
def share(reciprocal, whole):
    """g of a row, from the reciprocal of its pivot."""
    part = abs(reciprocal) * whole
    if not part > 0.0:
        return 1.0
    return sqrt(1.0 / part) if part < np.inf else 0.0


@kernel(inline=True)
def couple_rows(c):
    """W^T D^-1 W, eliminated; and what the rows are on free bodies."""
    closing, L, J, N = c.closing, c.closing.c, c.closing.c.T.constant, c.closing.c.T.state
    group, G, V = L.group, L.G, L.V
    forget_products(L)
    for g in range(group.shape[0] - 1):
        if group[g, PINNED] == 1:
            pin_force(L, group[g, ROW], group[g, OTHER])
        else:
            invoke(closing.nonlinear_f, closing.nonlinear_c, float(g), L.soft, L.soft)
        one = two = 0.0
        for r in range(group[g, NODE], group[g + 1, NODE]):
            k = ~L.node[r]
            if k >= 0:  # a body on which the rows act
                m, inertia, cx, cy = J[k, MASS], J[k, INERTIA], N[k, CX], N[k, CY]
                turn1, turn2 = (
                    G[k, 0] - cx * G[k, 2] + cy * G[k, 1],
                    G[k, 3] - cx * G[k, 5] + cy * G[k, 4],
                )
                one += (G[k, 1] * G[k, 1] + G[k, 2] * G[k, 2]) / m + turn1 * turn1 / inertia
                two += (G[k, 4] * G[k, 4] + G[k, 5] * G[k, 5]) / m + turn2 * turn2 / inertia
        c.whole[group[g, ROW]], c.whole[group[g, OTHER]] = one, two
        start, stop, e, at = group[g, NODE], group[g + 1, NODE], group[g, ENTRY], group[g, DIAGONAL]
        _, _, l11, l12, l22 = take_inward(L.T, G, L.node, start, stop, e, L.W)
        V[at, 0], V[at, 1] = TINY * one + l11, l12
        V[at, 3] = TINY * two + L.soft[group[g, OTHER]] + l22
    multiply_paths(L)
    eliminate_pairs(L.program, V)


@kernel(inline=True)
def place_tree(T, q):
    """Angles, arms and places of the bodies, of which q says the angles, and how far they slide.

    Mass centers that are not quite where the joints want them, as between two poses, do not matter.
    """
    index, J, N, largest = T.numbers, T.constant, T.state, 0.0
    for k in range(index.shape[0]):
        T.angles[k] = N[k, PHI] = phi = q[3 * index[k, BODY] + 2]
        largest = abs(phi) if not abs(phi) <= largest else largest
    rotate(T.angles, T.cosines, T.sines, index.shape[0], largest)
    for k in range(index.shape[0]):
        p, kind, c, s = index[k, PARENT], index[k, KIND], N[index[k, PARENT], COS], N[index[k, PARENT], SIN]
        dx = N[p, CX] + c * J[k, PX0] - s * J[k, PY0]
        dy = N[p, CY] + s * J[k, PX0] + c * J[k, PY0]
        c, s = T.cosines[k], T.sines[k]
        N[k, COS], N[k, SIN] = c, s
        N[k, CX], N[k, CY] = c * J[k, CX0] - s * J[k, CY0], s * J[k, CX0] + c * J[k, CY0]
        if kind != PIN:
            dx, dy = slid(T, k, kind, p, q, dx, dy)
        N[k, DX], N[k, DY] = dx, dy
        N[k, X], N[k, Y] = N[p, X] + dx + J[k, GX0], N[p, Y] + dy + J[k, GY0]


@kernel(inline=True)
def slid(T, k, kind, p, q, dx, dy):
    """d of a body that is not on a pin, from that it would have if it did not slide; its axis, and its c."""
    J, N, i, px, py = T.constant, T.state, 3 * T.numbers[k, BODY], 0.0, 0.0
    if kind == FLOAT:
        return q[i], q[i + 1]
    if kind == WELD:
        return dx, dy
    owner = k if kind == OWN_SLOT else p
    c, s = N[owner, COS], N[owner, SIN]
    ex, ey = c * J[k, EX0] - s * J[k, EY0], s * J[k, EX0] + c * J[k, EY0]
    N[k, EX], N[k, EY] = ex, ey
    # how far it slides follows from both mass centers
    if p < T.numbers.shape[0]:
        h = 3 * T.numbers[p, BODY]
        px, py = q[h] - N[p, CX], q[h + 1] - N[p, CY]
    far = (q[i] - N[k, CX] - px - dx) * ex + (q[i + 1] - N[k, CY] - py - dy) * ey
    if kind == OWN_SLOT:
        N[k, CX], N[k, CY] = N[k, CX] + far * ex, N[k, CY] + far * ey
        return dx, dy
    return dx + far * ex, dy + far * ey


def row_shares(family: Relative, masses: Floats) -> BoundKernel:
    """`shares_in_tree`, for bodies of these masses in the order of their coordinates."""
    system, own = family.system, family.tree
    tree = own._replace(constant=own.constant.copy(), state=own.state.copy())

    def write_numbers() -> None:
        tree.constant[:] = own.constant
        tree.constant[:, MASS], tree.constant[:, INERTIA] = masses.reshape(-1, 3)[
            tree.numbers[:, BODY], ::2
        ].T

    system.follow_numbers(write_numbers)
    return shares_in_tree.bind(_context(family, tree))


def _context(family: Relative, tree: Tree) -> RowShares:
    nothing = np.zeros(family.m)
    loops = new_loops(family, tree, np.zeros(2), RowLimits(nothing, nothing, nothing))
    timed = timed_rows.bind(loops) if is_timed(family) else None
    nonlinear = nonlinear_group.bind(loops) if np.any(loops.group[:-1, PINNED] == 0) else None
    closing = Closing(loops, *words(timed), *words(nonlinear), *words(None), *words(None))
    return RowShares(closing, np.array(family.remaining_rows, dtype=np.int64), np.zeros(family.m + 1))
