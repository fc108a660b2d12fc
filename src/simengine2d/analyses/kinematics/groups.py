"""Assur groups: the smallest sets of bodies whose motion follows from what is known before them, as constant arrays.

In a group each body hangs on a hinge: on a pin or a slide of a body that is placed before it. That leaves one unknown,
its angle or its displacement along the guide; none if a row gives its angle, three where there is no hinge. The rows
that remain close the group: none for a driven crank, two for the two unknowns of a dyad.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints, constant
from ...numerics.contexts import lay_out_once

PIN, SLIDE, FREE = range(3)  # kinds of hinges
DRIVEN, DYAD, LARGER = range(3)  # forms of groups


class Groups(NamedTuple):
    """The groups in the order of their solution; none if the mechanism is solved as a whole."""

    form: Ints
    # where the hinges of each group begin, its unknowns and closing rows, and the frames of these rows
    hinge_start: Ints
    unknown_start: Ints
    frame_start: Ints
    # of each hinge
    body: Ints
    kind: Ints
    on: Ints  # frame of the carrier
    own: Ints  # frame of the body that hangs on it
    sense: Floats  # 1 if its rows count from the carrier to the body, else -1
    row_x: Ints  # its two rows
    row_y: Ints
    moving: Ints  # 1 if functions of time displace it
    turn_row: Ints  # that gives the angle of the body relative to a frame; -1 if it is unknown
    turn_on: Ints
    turn_own: Ints
    turn_sense: Floats
    tip: Ints  # frame of the pin that closes a dyad
    turns_along: Floats  # 1 if the angle is given relative to the carrier, else 0
    carrier: Ints  # hinge of the carrier, if it belongs to the same group; else -1
    own_start: Ints  # the first of its own unknowns, of those of its group
    # the unknowns of its group that move the body of each hinge, inherited ones first
    chain_start: Ints
    chain: Ints
    # of each unknown: the coordinate that measures it, and a closing row
    coordinate: Ints
    closing: Ints
    frames: Ints  # of closing rows
    hinge_of: Ints  # of each body; -1 for the ground, the last
    # all rows: (frames a and b, rows x and y) of pins, (frames a and b, row) of angles; others, and their frames
    pins: Ints
    angles: Ints
    others: Ints
    other_frames: Ints

    @property
    def members(self) -> list[list[int]]:
        """The bodies of each group."""
        return [self.body[a:b].tolist() for a, b in pairwise(self.hinge_start)]

    @property
    def most_unknowns(self) -> int:
        return int(np.diff(self.unknown_start).max(initial=2))


class KnownGroups:
    """Groups that many contexts will hold: they are laid out in memory once."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        lay_out_once(self, groups)


class Hinge(NamedTuple):
    body: int
    kind: int
    on: int = 0
    own: int = 0
    sense: float = 1.0
    row_x: int = -1
    row_y: int = -1
    moving: int = 0
    turn_row: int = -1
    turn_on: int = 0
    turn_own: int = 0
    turn_sense: float = 1.0
    tip: int = 0

    @property
    def coordinates(self) -> list[int]:
        """Those that measure its unknowns."""
        first = 3 * self.body
        if self.turn_row >= 0:
            return []
        return {PIN: [first + 2], SLIDE: [first], FREE: [first, first + 1, first + 2]}[self.kind]


class Group(NamedTuple):
    form: int
    hinges: list[Hinge]
    closing: list[int]
    frames: list[int]


class CheckedRows(NamedTuple):
    """All rows, sorted by how their errors are measured."""

    pins: list[tuple[int, int, int, int]]
    angles: list[tuple[int, int, int]]
    others: list[int]
    other_frames: list[int]


def pack_groups(groups: Sequence[Group], rows: CheckedRows, frame_body: list[int], bodies: int) -> Groups:
    """The arrays of groups and of all rows."""
    hinges = [hinge for group in groups for hinge in group.hinges]
    hinge_of = np.full(bodies + 1, -1)
    hinge_of[[hinge.body for hinge in hinges]] = np.arange(len(hinges))
    chains, carriers, own_start = _chains(groups, frame_body, hinge_of)
    of_hinges: dict[str, Any] = {
        name: np.array(field) for name, field in zip(Hinge._fields, zip(*hinges, strict=True), strict=True)
    }
    along = [h.turn_row >= 0 and frame_body[h.turn_on] == frame_body[h.on] for h in hinges]
    return constant(
        Groups(
            form=_integers(group.form for group in groups),
            hinge_start=_starts([group.hinges for group in groups]),
            unknown_start=_starts([group.closing for group in groups]),
            frame_start=_starts([group.frames for group in groups]),
            **of_hinges,
            turns_along=np.array(along, dtype=np.float64),
            carrier=_integers(carriers),
            own_start=_integers(own_start),
            chain_start=_starts(chains),
            chain=_integers(unknown for chain in chains for unknown in chain),
            coordinate=_integers(c for hinge in hinges for c in hinge.coordinates),
            closing=_integers(row for group in groups for row in group.closing),
            frames=_integers(frame for group in groups for frame in group.frames),
            hinge_of=hinge_of,
            pins=_integers(rows.pins).reshape(-1, 4),
            angles=_integers(rows.angles).reshape(-1, 3),
            others=_integers(rows.others),
            other_frames=_integers(rows.other_frames),
        )
    )


def _chains(
    groups: Sequence[Group], frame_body: list[int], hinge_of: Ints
) -> tuple[list[list[int]], list[int], list[int]]:
    """Of each hinge: the unknowns that move its body, its carrier in its group, and its own first unknown."""
    chains: list[list[int]] = []
    carriers: list[int] = []
    own_start: list[int] = []
    for group in groups:
        chain_of: dict[int, list[int]] = {}
        unknowns = 0
        for hinge in group.hinges:
            carrier = frame_body[hinge.on] if hinge.kind != FREE else -1
            carriers.append(int(hinge_of[carrier]) if carrier in chain_of else -1)
            own_start.append(unknowns)
            unknowns += len(hinge.coordinates)
            chain_of[hinge.body] = [*chain_of.get(carrier, []), *range(own_start[-1], unknowns)]
        chains += chain_of.values()
    return chains, carriers, own_start


def _integers(numbers: Iterable[Any]) -> Ints:
    return np.array(list(numbers), dtype=np.int64)


def _starts(lists: Sequence[Sequence[Any]]) -> Ints:
    return np.concatenate([[0], np.cumsum([len(each) for each in lists], dtype=np.int64)])


_WITH_NUMBERS = ("sense", "turn_sense", "turns_along")
_SHAPES = {"pins": (0, 4), "angles": (0, 3), "hinge_start": 1, "unknown_start": 1, "frame_start": 1}
NOT_GROUPED = KnownGroups(
    constant(
        Groups(
            *(
                np.zeros(_SHAPES.get(field, 0), dtype=np.float64 if field in _WITH_NUMBERS else np.int64)
                for field in Groups._fields
            )
        )
    )
)
NO_GROUPS = NOT_GROUPED.groups
