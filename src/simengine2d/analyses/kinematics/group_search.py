"""The search for the groups of a mechanism, once for all models of the same structure.

The constraints of a fully driven mechanism are as many as its coordinates. Each row is assigned to one of its bodies,
three to a body; a body then depends on the other bodies of its rows. Bodies that depend on each other form a group, and
groups are solved one after the other: a driven crank, the dyad that hangs on it, the next dyad, and so on.

A pin that joins three bodies or more is written as two pins or more, in one of several ways. So that the groups do not
depend on which, the common point is a node of its own with two unknowns, and its pins are chosen anew: from the body
that is known first to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np

from ...expressions.function_table import CONSTANT, KIND, NUMBER
from ...model.measure import ACROSS, ANGLE, MISALIGNMENT, X, Y
from ...numerics.arrays import Ints
from ...system.constraints import SystemArrays
from .dependence import assigned_rows, in_order_of_dependence
from .groups import (
    DRIVEN,
    DYAD,
    FREE,
    LARGER,
    NO_GROUPS,
    NOT_GROUPED,
    PIN,
    SLIDE,
    CheckedRows,
    Group,
    Groups,
    Hinge,
    KnownGroups,
    pack_groups,
)

PAIRS = {PIN: (X, Y), SLIDE: (ACROSS, MISALIGNMENT)}  # the rows that make a hinge
MOST_BODIES = 8  # of a group; beyond it a sparse factorization of the whole mechanism is quicker

# forms of rows: a single measure of weight one that follows a function of time, or that is held at zero
FOLLOWS, AT_ZERO = 1, 2


class Structure(NamedTuple):
    """What groups depend on: the rows that determine the motion, and which frames they connect, not their numbers."""

    bodies: int
    determining: bytes
    row_start: bytes
    kind: bytes
    a: bytes
    b: bytes
    frame_body: bytes
    form: bytes  # FOLLOWS or AT_ZERO of each row, else 0


def groups_of(S: SystemArrays, determining: Ints) -> Groups:
    """The groups of a mechanism, given the rows that determine its motion."""
    if S.formulas.row.size:
        return NO_GROUPS
    functions, numbers = S.functions.functions, S.functions.numbers
    unit = (np.diff(S.row_start) == 1) & (S.term_weight[S.row_start[:-1]] == 1.0)
    form = np.where(unit, FOLLOWS, 0)
    held = np.flatnonzero(unit & (functions[:, KIND] == CONSTANT))
    form[held[numbers[functions[held, NUMBER]] == 0.0]] = AT_ZERO
    parts = (determining, S.row_start, S.term_kind, S.term_a, S.term_b, S.frame_body, form)
    return find_groups(Structure(S.mass.size, *(part.tobytes() for part in parts))).groups


@lru_cache(maxsize=64)
def find_groups(structure: Structure) -> KnownGroups:
    for shared_pins in (True, False):
        groups = GroupSearch(structure).groups(shared_pins)
        if groups is not None:
            return KnownGroups(groups)
    return NOT_GROUPED


class GroupSearch:
    """The search for the groups of one structure."""

    def __init__(self, structure: Structure) -> None:
        self.ground = structure.bodies
        numbers = [np.frombuffer(part, dtype=np.int64).tolist() for part in structure[1:]]
        self.determining, start, self.kind, self.a, self.b, self.frame_body, self.form = numbers
        self.terms = [range(*ends) for ends in pairwise(start)]
        self.frames_of = [[side[k] for k in terms for side in (self.a, self.b)] for terms in self.terms]
        self.bodies_of = [self._bodies_of(frames) for frames in self.frames_of]
        self.written = len(self.terms)
        """The number of rows of the model; pins that are chosen anew come after them."""
        self.known = {self.ground}
        """Bodies of earlier groups."""

    def _bodies_of(self, frames: list[int]) -> list[int]:
        return [body for body in dict.fromkeys(self.frame_body[f] for f in frames) if body != self.ground]

    def groups(self, shared_pins: bool) -> Groups | None:
        """The groups, or None if the mechanism is better solved as a whole."""
        shared = self._shared_pins() if shared_pins else []
        nodes_of = self._nodes_of(shared)
        # a shared pin is known if it is on the ground
        grounded = [any(self.frame_body[frame] == self.ground for frame in frames) for frames in shared]
        rows_of = assigned_rows(nodes_of, [3] * self.ground + [0 if known else 2 for known in grounded])
        if rows_of is None:
            return None
        shared_by: dict[int, list[list[int]]] = {}
        for frames in shared:
            for frame in frames:
                shared_by.setdefault(self.frame_body[frame], []).append(frames)
        groups = []
        for nodes in in_order_of_dependence(
            [[node for row in rows for node in nodes_of[row]] for rows in rows_of]
        ):
            bodies = sorted(node for node in nodes if node < self.ground)
            rows = sorted(row for node in nodes for row in rows_of[node] if row >= 0)
            if len(bodies) > MOST_BODIES:
                return None
            ours = {id(frames): frames for body in bodies for frames in shared_by.get(body, [])}
            group = self._group(bodies, rows + self._pins_anew(ours.values(), bodies))
            if group.form == LARGER and max(group.closing) >= self.written:
                return None
            if bodies:
                groups.append(group)
            self.known.update(bodies)
        return pack_groups(groups, self._checked_rows(), self.frame_body, self.ground)

    # pins of three bodies or more

    def _shared_pins(self) -> list[list[int]]:
        """The frames that pins hold together in one point, where these are three or more."""
        points: dict[int, list[int]] = {}
        for a, b, _, _ in self._pins(self.determining, AT_ZERO):
            first, second = points.get(a, [a]), points.get(b, [b])
            if first is not second:
                first += second
                points |= dict.fromkeys(first, first)
        return [frames for frames in {id(f): f for f in points.values()}.values() if len(frames) > 2]

    def _pins(self, rows: Iterable[int], form: int) -> Iterator[tuple[int, int, int, int]]:
        """Frames and rows of the pins among rows."""
        y_of = {tuple(self.frames_of[row]): row for row in rows if self._is(row, Y, form)}
        for row in rows:
            if self._is(row, X, form) and (a_b := tuple(self.frames_of[row])) in y_of:
                yield a_b[0], a_b[1], row, y_of.pop(a_b)

    def _nodes_of(self, shared: list[list[int]]) -> dict[int, list[int]]:
        """The bodies of each row that determines the motion; of a shared pin two rows, below 0, for each body."""
        shared_frames = {frame for frames in shared for frame in frames}
        pins = self._pins(self.determining, AT_ZERO)
        replaced = {row for a, _, *rows in pins for row in rows if a in shared_frames}
        nodes_of = {row: self.bodies_of[row] for row in self.determining if row not in replaced}
        new = count(-1, -1)
        for number, frames in enumerate(shared):
            bodies = [self.frame_body[frame] for frame in frames]
            point = [] if self.ground in bodies else [self.ground + number]
            for body in bodies:
                if body != self.ground:
                    nodes_of |= {next(new): [body, *point], next(new): [body, *point]}
        return nodes_of

    def _pins_anew(self, shared: Iterable[list[int]], bodies: list[int]) -> list[int]:
        """The rows of pins from a known body, else from the first of these bodies, to the others at a shared pin."""
        rows = []
        for frames in shared:
            ours = [frame for frame in frames if self.frame_body[frame] in bodies]
            known = [frame for frame in frames if self.frame_body[frame] in self.known]
            root, *others = known[:1] + ours
            for frame in others:
                rows += [self._new_row(X, root, frame), self._new_row(Y, root, frame)]
        return rows

    def _new_row(self, kind: int, a: int, b: int) -> int:
        self.terms.append(range(len(self.kind), len(self.kind) + 1))
        self.kind.append(kind)
        self.form.append(AT_ZERO)
        self.frames_of.append([a, b])
        self.bodies_of.append(self._bodies_of([a, b]))
        return len(self.terms) - 1

    # hinges

    def _group(self, waiting: list[int], left: list[int]) -> Group:
        """Hang the bodies of a group on hinges, on known bodies first; the rows that are left close it."""
        hinges: list[Hinge] = []
        while waiting:
            inside = {hinge.body for hinge in hinges}
            hinge = next(self._hinges(waiting, left, self.known), None)
            hinge = hinge or next(self._hinges(waiting, left, inside), Hinge(waiting[0], FREE))
            left = [row for row in left if row not in (hinge.row_x, hinge.row_y, hinge.turn_row)]
            waiting = [body for body in waiting if body != hinge.body]
            hinges.append(hinge)
        if not left:
            return Group(DRIVEN, hinges, [], [])
        if self._is_dyad(hinges, left):
            pinned = [hinge._replace(tip=self._sides(left[0], hinge.body)[1]) for hinge in hinges]
            return Group(DYAD, pinned, left, [])
        return Group(LARGER, hinges, left, sorted({frame for row in left for frame in self.frames_of[row]}))

    def _hinges(self, bodies: list[int], rows: list[int], carriers: set[int]) -> Iterator[Hinge]:
        """Pins, then slides, by which one of the bodies hangs on one of the carriers."""
        for kind in PAIRS:
            for body in bodies:
                for row, other in self._pairs(body, carriers, rows, kind):
                    moving = int(min(self.form[row], self.form[other]) < AT_ZERO)
                    hinge = Hinge(body, kind, *self._sides(row, body), row, other, moving)
                    yield self._turned(hinge, rows) if kind == PIN else hinge

    def _pairs(self, body: int, others: set[int], rows: list[int], kind: int) -> Iterator[tuple[int, int]]:
        """Two rows between the same frames that make a hinge; slides are held at zero, pins may be displaced."""
        form = AT_ZERO if kind == SLIDE else FOLLOWS
        first, second = (self._between(body, others, rows, measure, form) for measure in PAIRS[kind])
        for row in first:
            for other in second:
                if self._sides(row, body) == self._sides(other, body):
                    yield row, other

    def _between(self, body: int, others: set[int], rows: list[int], measure: int, form: int) -> list[int]:
        """Rows that are a measure between a body and one of the others."""
        return [
            row
            for row in rows
            if self._is(row, measure, form)
            and body in self.bodies_of[row]
            and self.frame_body[self._sides(row, body)[0]] in others
        ]

    def _is(self, row: int, measure: int, form: int) -> bool:
        return self.form[row] >= form and self.kind[self.terms[row][0]] == measure

    def _sides(self, row: int, body: int) -> tuple[int, int, float]:
        """Frame of the other body, own frame, and the sense of a row."""
        a, b = self.frames_of[row][:2]
        return (a, b, 1.0) if self.frame_body[b] == body else (b, a, -1.0)

    def _turned(self, hinge: Hinge, rows: list[int]) -> Hinge:
        """The same pin, with the row that gives the angle relative to a known body or to the carrier."""
        references = self.known | {self.frame_body[hinge.on]}
        for row in self._between(hinge.body, references, rows, ANGLE, FOLLOWS):
            on, own, sense = self._sides(row, hinge.body)
            return hinge._replace(turn_row=row, turn_on=on, turn_own=own, turn_sense=sense)
        return hinge

    def _is_dyad(self, hinges: list[Hinge], closing: list[int]) -> bool:
        """Whether two bodies, on one hinge of a known body each, are closed by a pin between them."""
        if len(hinges) != 2 or any(hinge.kind == FREE or hinge.turn_row >= 0 for hinge in hinges):
            return False
        if any(self.frame_body[hinge.on] not in self.known for hinge in hinges):
            return False
        first, second = hinges
        pairs = self._pairs(first.body, {second.body}, closing, PIN)
        return any(self.form[row] == self.form[other] == AT_ZERO for row, other in pairs)

    # all rows

    def _checked_rows(self) -> CheckedRows:
        written = range(self.written)
        pins = list(self._pins(written, FOLLOWS))
        angles = [(*self.frames_of[row][:2], row) for row in written if self._is(row, ANGLE, FOLLOWS)]
        checked = {row for pin in pins for row in pin[2:]} | {angle[2] for angle in angles}
        others = [row for row in written if row not in checked]
        frames = sorted({frame for row in others for frame in self.frames_of[row]})
        return CheckedRows(pins, angles, others, frames)
