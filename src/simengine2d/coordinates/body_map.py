"""How bodies depend on the coordinates of a family, as lists: a few columns for each body.

    dq = R dX,      dqd = R dXd + Rd dX,      dqdd = R dXdd + 2 Rd dXd + Rdd dX

X are the coordinates z, then x, y and phi of some *pivotal* bodies. On a long way from the ground R would be dense; so
those beyond a pivotal body depend on it alone, and the rows of a *ghost* say where the coordinates before it put it.
Families whose bodies depend on a few coordinates each have no ghosts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..numerics.kernel_pointer import BoundKernel
from ..system.formulas.derivatives import Couplings


class MapShape(NamedTuple):
    """What a family says of its map."""

    columns: list[list[int]]
    """Of each body, then of each ghost."""
    order: list[int]
    """Bodies and ghosts, those that depend on others before these."""
    own_rows: list[list[int]]
    """Columns of each row of the family's own."""
    masses: dict[tuple[int, int], float] | None = None
    """M where it is constant; None if it is R^T M R."""
    distances: tuple[tuple[int, int, int], ...] = ()
    """(row of a distance among those that remain, own row, coordinate) that parts a distance."""


class BodyMap(NamedTuple):
    """The map at a state; what a family fills in, by its kernel pointers."""

    start: Ints  # columns of body or ghost b: start[b] : start[b + 1]
    column: Ints
    order: Ints
    R: Floats  # (columns, 3)
    Rd: Floats
    Rdd: Floats
    q: Floats  # (3 bodies)
    qd: Floats
    qdd: Floats
    force: Floats  # (3 bodies and ghosts): forces upon them, with the opposite sign
    # derivatives of R^T force by pairs of columns, with respect to positions, velocities and accelerations
    tangent: Floats  # (pairs, 3)
    pair_start: Ints  # those of a body with itself, row by row
    pair: Ints
    # rows: those of the family's own, then the others
    row_start: Ints
    row_column: Ints
    J: Floats  # Phi_X
    G: Floats  # (Phi_X Xd - nu)_X
    own_phi: Floats
    own_gamma: Floats


class MapPointers(NamedTuple):
    """(t, (z, zd, zdd), lam): `place` fills q, qd, qdd, R and own rows; `bend` Rd, Rdd, and adds to G and tangent."""

    place: BoundKernel
    bend: BoundKernel


class MapContext(NamedTuple):
    """Context of these pointers; Z are arrays of the family."""

    X: BodyMap
    Z: Any
    W: Any


class TangentSlots(NamedTuple):
    """Where second derivatives of bodies go: 3 x 3 numbers for each pair of bodies that is coupled."""

    term_blocks: Ints
    couplings: Couplings


class Distances(NamedTuple):
    """Rows |d| = f(t) that are d . d - s^2 = 0 and s - f(t) = 0."""

    kept: Ints  # which of the rows that remain
    own: Ints
    column: Ints  # s
    own_slope: Ints  # entries of J in both
    kept_slope: Ints
    square_start: Ints  # pairs of the columns of d, row by row
    square: Ints


def integers(values: Iterable[Any]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def starts(sizes: Iterable[int]) -> Ints:
    """Where parts of these sizes begin, and the end of the last one."""
    return np.cumsum(integers([0, *sizes]))
