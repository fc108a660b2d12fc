"""How bodies depend on the coordinates of a family, as lists: a few columns for each body.

    dq = R dX,      dqd = R dXd + Rd dX,      dqdd = R dXdd + 2 Rd dXd + Rdd dX

X are the coordinates z, then x, y and phi of some *pivotal* bodies. On a long way from the ground R would be dense; so
those beyond a pivotal body depend on it alone, and the rows of a *ghost* say where the coordinates before it put it.
Families whose bodies depend on a few coordinates each have no ghosts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints, ShortInts
from ..numerics.kernel_pointer import BoundKernel
from ..system.applied_forces import Loads
from ..system.constraints import SystemArrays
from ..system.elimination import bends_in, coupled_coordinates, couplings_of, term_blocks
from ..system.formulas.derivatives import Couplings
from .stages import ACCELERATION, POSITION, VELOCITY


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

    term_blocks: ShortInts
    bends: ShortInts
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


# Numbers of the columns, pairs of columns, rows and couples of bodies ---------------------------------


LEVELS = POSITION, VELOCITY, ACCELERATION


class MapLayout:
    """The map of a shape, for the rows that remain and the forces of a system."""

    def __init__(self, shape: MapShape, S: SystemArrays, L: Loads) -> None:
        self.shape, self.S, self.L = shape, S, L
        self.bodies, self.own = S.mass.size, len(shape.own_rows)
        self.pairs: dict[tuple[int, int], int] = {}
        self.levels: list[set[int]] = []
        self.groups = coupled_coordinates(S, L)
        self.of_one_body = [self._square(c, c, self._levels(b)) for b, c in enumerate(shape.columns)]
        for p, u in shape.masses or ():
            self.number(p, u, (ACCELERATION,))
        self.couples = self._couples()
        self.of_couple = [
            self._square(shape.columns[one], shape.columns[other], levels)
            for (one, other), levels in self.couples.items()
        ]
        self._number_rows()
        self.of_distance = [
            self._square(self.rows[i], self.rows[i], (POSITION,)) for _, i, _ in shape.distances
        ]

    def _levels(self, b: int) -> Collection[int]:
        """At which levels the columns of a body are coupled by the body itself."""
        return LEVELS if self.shape.masses is None and b < self.bodies else (POSITION,)

    def number(self, p: int, u: int, levels: Iterable[int]) -> int:
        """The number of a pair of columns that is coupled at some levels."""
        k = self.pairs.setdefault((p, u), len(self.pairs))
        if k == len(self.levels):
            self.levels.append(set())
        self.levels[k].update(levels)
        return k

    def _square(self, rows: Iterable[int], columns: Collection[int], levels: Collection[int]) -> list[int]:
        return [self.number(p, u, levels) for p in rows for u in columns]

    def _couples(self) -> dict[tuple[int, int], set[int]]:
        """Couples of bodies that second derivatives couple, and at which levels."""
        of_frame, found = self.S.frame_body, dict[tuple[int, int], set[int]]()
        terms = zip(of_frame[self.S.term_a].tolist(), of_frame[self.S.term_b].tolist(), strict=True)
        groups: list[tuple[set[int], set[int]]] = [({*two} - {self.bodies}, {POSITION}) for two in terms]
        for k, group in enumerate(self.groups):
            levels = {POSITION} if k < self.S.formulas.row.size else {POSITION, VELOCITY}
            groups.append(({c // 3 for c in group}, levels))
        for members, levels in groups:
            for one in members:
                for other in members:
                    found.setdefault((one, other), set()).update(levels)
        return found

    def _number_rows(self) -> None:
        """Columns of every row; what a distance depends on is in the family's own row."""
        S, columns = self.S, self.shape.columns
        count = S.jac_start.size - 1
        self.target = np.arange(self.own, self.own + count)
        rows = [{*row} for row in (*self.shape.own_rows, *[()] * count)]
        for kept, own_row, u in self.shape.distances:
            self.target[kept] = own_row
            rows[own_row].add(u)
            rows[self.own + kept].add(u)
        of_row = [(S.jac_column[first:last] // 3).tolist() for first, last in pairwise(S.jac_start)]
        for target, members in zip(self.target, of_row, strict=True):
            rows[target].update(u for b in members for u in columns[b])
        self.rows = [sorted(row) for row in rows]
        self.row_start = starts(map(len, self.rows))
        self.entry = [
            {u: p for p, u in enumerate(row, int(first))}
            for row, first in zip(self.rows, self.row_start[:-1], strict=True)
        ]
        self.slopes = [
            [self.entry[target][u] for u in columns[b]]
            for target, members in zip(self.target, of_row, strict=True)
            for b in members
        ]

    def body_map(self, n: int) -> tuple[Floats, BodyMap]:
        """All numbers of a stage in one array, and the map, which has parts of it; one and others follow there."""
        columns = integers(u for part in self.shape.columns for u in part)
        entries, count = int(self.row_start[-1]), 3 * columns.size
        sizes = [3 * len(self.pairs), entries, entries, count, count, count]
        self.tangent, self.J, self.G, self.R, self.Rd, self.Rdd, self.one = starts(sizes).tolist()
        V = np.zeros(self.one + 1 + n + 4 * len(self.rows))
        part = lambda first, size: V[first : first + size]
        self.start = starts(map(len, self.shape.columns))
        q, qd, qdd = np.zeros((3, 3 * self.bodies))
        return V, BodyMap(
            start=self.start,
            column=columns,
            order=integers(self.shape.order),
            R=part(self.R, count).reshape(-1, 3),
            Rd=part(self.Rd, count).reshape(-1, 3),
            Rdd=part(self.Rdd, count).reshape(-1, 3),
            q=q,
            qd=qd,
            qdd=qdd,
            force=np.zeros(3 * len(self.shape.columns)),
            tangent=part(self.tangent, sizes[0]).reshape(-1, 3),
            pair_start=starts(map(len, self.of_one_body)),
            pair=integers(k for part in self.of_one_body for k in part),
            row_start=self.row_start,
            row_column=integers(u for row in self.rows for u in row),
            J=part(self.J, entries),
            G=part(self.G, entries),
            own_phi=np.zeros(self.own),
            own_gamma=np.zeros(self.own),
        )

    def distances(self) -> Distances:
        listed = integers(k for each in self.shape.distances for k in each).reshape(-1, 3)
        kept, own_row, u = np.ascontiguousarray(listed.T)
        return Distances(
            kept,
            own_row,
            u,
            integers(self.entry[i][c] for _, i, c in self.shape.distances),
            integers(self.entry[self.own + j][c] for j, _, c in self.shape.distances),
            starts(map(len, self.of_distance)),
            integers(k for part in self.of_distance for k in part),
        )

    @cached_property
    def slots(self) -> list[TangentSlots]:
        """Where second derivatives of the bodies go: above the diagonal, and below."""
        number = {couple: k for k, couple in enumerate(self.couples)}
        both = (CoupleSlots(number, crossed) for crossed in (False, True))
        blocks = [(term_blocks(self.S, each), couplings_of(self.groups, each)) for each in both]
        return [TangentSlots(each, bends_in(each), couplings) for each, couplings in blocks]


class CoupleSlots:
    """Slots of pairs of coordinates of bodies; crossed, those below the diagonal, which itself goes nowhere."""

    def __init__(self, number: dict[tuple[int, int], int], crossed: bool) -> None:
        self.number, self.crossed = number, crossed

    def slots(self, i: Ints, j: Ints) -> Ints:
        return integers(self.slot(p, u) for p, u in zip(i.tolist(), j.tolist(), strict=True))

    def slot(self, p: int, u: int) -> int:
        if self.crossed and p == u:
            return 9 * len(self.number)
        p, u = (u, p) if self.crossed else (p, u)
        return 9 * self.number[p // 3, u // 3] + 3 * (p % 3) + u % 3
