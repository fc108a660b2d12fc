"""Numbers of the columns, pairs of columns, rows and couples of bodies that a map of a family has."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..system.applied_forces import Loads
from ..system.constraints import SystemArrays
from ..system.elimination import coupled_coordinates, couplings_of, term_blocks
from .body_map import BodyMap, Distances, MapShape, TangentSlots, integers, starts
from .stages import ACCELERATION, POSITION, VELOCITY

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
        return [TangentSlots(term_blocks(self.S, each), couplings_of(self.groups, each)) for each in both]


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
