"""Points that bodies share: a pin between two bodies is one point of both, and its equations vanish.

Places in the plane are complex numbers here: x + iy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...model.elements import Row
from ...model.frame import GROUND, PlacedFrame
from ...system.system import System

SAME = 1e-12  # distance of positions that count as one, relative to the length of the mechanism and their own


@dataclass(eq=False)
class SharedPoint:
    """A point of some bodies, named after its first pin, or as it was chosen; `fixed` is its position on the ground."""

    name: str
    places: dict[str, complex] = field(default_factory=dict)
    """Its position in each body, in the axes of the body."""
    fixed: complex | None = None


class Pin(NamedTuple):
    """Two frames whose points coincide, and the rows of their joint that say so."""

    a: PlacedFrame
    b: PlacedFrame
    rows: tuple[int, int]


def shared_points(system: System, further: Mapping[str, PlacedFrame]) -> tuple[list[SharedPoint], set[int]]:
    """The points at the pins of a system, in the order of its joints, then further ones of single bodies by name; and
    the rows that they satisfy.
    """
    points: list[SharedPoint] = []
    of_body: dict[str, list[SharedPoint]] = defaultdict(list)
    satisfied: set[int] = set()
    first = 0
    for joint, rows in system.resolved.rows.items():
        pin = pin_of(rows)
        if pin is not None:
            satisfied |= {first + row for row in pin.rows}
            a, b = (_point_at(joint, frame, of_body, points, system.length) for frame in (pin.a, pin.b))
            _unite(a, b, of_body, points)
        first += len(rows)
    for name, frame in further.items():
        _point_at(name, frame, of_body, points, system.length)
    return points, satisfied


def pin_of(rows: Sequence[Row]) -> Pin | None:
    """The rows x(a, b) = 0 and y(a, b) = 0 of a joint, if it has both."""
    held: dict[tuple[str, PlacedFrame, PlacedFrame], int] = {}
    for i, row in enumerate(rows):
        term, *others = row.measure.terms
        if not others and term.weight == 1.0 and row.value == 0.0 and row.formula is None:
            held[term.kind, term.a, term.b] = i  # type: ignore[index]
    for (kind, a, b), i in held.items():
        if kind == "x" and ("y", a, b) in held:
            return Pin(a, b, (i, held["y", a, b]))
    return None


def place(frame: PlacedFrame) -> complex:
    """Position of a frame in its body."""
    return complex(frame.x, frame.y)


def _point_at(
    name: str,
    frame: PlacedFrame,
    of_body: dict[str, list[SharedPoint]],
    points: list[SharedPoint],
    length: float,
) -> SharedPoint:
    """The point of a frame; a new one by this name if there is none yet."""
    s = place(frame)
    for known in of_body[frame.body]:
        there = known.fixed if frame.body == GROUND else known.places[frame.body]
        if there is not None and abs(there - s) <= SAME * (length + abs(s)):
            return known
    new = SharedPoint(name, fixed=s) if frame.body == GROUND else SharedPoint(name, {frame.body: s})
    of_body[frame.body].append(new)
    points.append(new)
    return new


def _unite(
    kept: SharedPoint, gone: SharedPoint, of_body: dict[str, list[SharedPoint]], points: list[SharedPoint]
) -> None:
    """Merge two points into one; it keeps the name of the older one."""
    if kept is gone:
        return
    if points.index(gone) < points.index(kept):
        kept, gone = gone, kept
    points.remove(gone)
    for body in (*gone.places, GROUND):
        if gone in of_body[body]:
            of_body[body].remove(gone)
            of_body[body] += [] if kept in of_body[body] else [kept]
    kept.places = gone.places | kept.places
    kept.fixed = gone.fixed if kept.fixed is None else kept.fixed
