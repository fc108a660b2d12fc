"""Where joints sit and along what they slide, in words.

The ground named without a point is where the other side is; a body named without a point is its mass center.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, degrees, sin
from typing import NamedTuple

import numpy as np

from ..expressions.unit_system import LENGTH
from .elements import Element, Pair, Row
from .frame import GROUND, Frame, PlacedFrame
from .resolved import ResolvedModel
from .si_values import units_of

NOTHING = 1e-15  # meters: the rounding of a place, not a place
ROUGH = 0.01  # of the mechanism: gaps of a rough drawing, which the assembly closes


def sides_in_words(element: Element, resolved: ResolvedModel) -> str:
    """`ground at (3.8, 0), slider (center)`"""
    if not isinstance(element, Pair):
        return ", ".join(dict.fromkeys(frame.text for frame in element.frames()))
    placed = resolved.elements[element.name]
    assert isinstance(placed, Pair)
    if element.at is not None:
        return f"{element.a.text}, {element.b.text} at {_place(placed.b, resolved)}"
    return ", ".join(_side(*pair, resolved) for pair in ((element.a, placed.a), (element.b, placed.b)))


def _side(frame: Frame, placed: PlacedFrame, resolved: ResolvedModel) -> str:
    if not frame.is_whole_body:
        return frame.text
    return f"{frame.text} at {_place(placed, resolved)}" if frame.body == GROUND else f"{frame.text} (center)"


def _place(placed: PlacedFrame, resolved: ResolvedModel) -> str:
    """In the units of the model."""
    meter = 1.0 / units_of(resolved.written).factor(LENGTH)
    return _numbers(placed.drawn_x * meter, placed.drawn_y * meter)


def _numbers(x: float, y: float) -> str:
    least = max(1e-12 * max(abs(x), abs(y)), NOTHING)
    return "({:.4g}, {:.4g})".format(*(part if abs(part) > least else 0.0 for part in (x, y)))


def slides_along(element: Element, resolved: ResolvedModel) -> str:
    """The direction of a slot or guide: as a vector in the ground, else as the axis of its body."""
    axis = next(
        (
            term.a
            for row in resolved.rows[element.name]
            for term in row.measure.terms
            if term.kind == "across"
        ),
        None,
    )
    if not isinstance(axis, PlacedFrame) or not isinstance(element, Pair):
        return ""
    if axis.body != GROUND:
        turned = f", turned by {degrees(axis.angle):.4g} deg" if axis.angle else ""
        return f"axis of {axis.body}{turned}"
    vector = _numbers(cos(axis.angle), sin(axis.angle))
    unsaid = element.direction is None and element.at is None and element.a.is_whole_body
    return f"{vector} as {element.b.body} is drawn" if unsaid else vector


# Mass centers by mistake ------------------------------------------------------------------------------


class CenterGap(NamedTuple):
    """A joint at a mass center that is drawn elsewhere."""

    joint: str
    text: str
    remedy: str
    gap: float


def center_gaps(resolved: ResolvedModel) -> Iterator[CenterGap]:
    """Joints that would pull a mass center to a place drawn far from it: perhaps a point of the body was meant."""
    rough = ROUGH * extent(resolved)
    for name, pair in resolved.written.elements.items():
        if not isinstance(pair, Pair) or pair.at is not None or pair.welds:
            continue
        sides = (pair.a, pair.b)
        centers = [side.body for side in sides if side.is_whole_body and side.body != GROUND]
        gap = max((_gap(row) for row in resolved.rows[name]), default=0.0)
        if centers and gap > rough:
            yield _center_gap(pair, centers[-1], gap, resolved)


def _gap(row: Row) -> float:
    """How far a measure of length is from its value as drawn."""
    lengths = all(term.kind in ("x", "y", "across", "distance") for term in row.measure.terms)
    return abs(row.measure.drawn - row.value) if lengths and isinstance(row.value, float) else 0.0


def _center_gap(pair: Pair, body: str, gap: float, resolved: ResolvedModel) -> CenterGap:
    other = (pair.a if pair.b.body == body else pair.b).text
    points = list(resolved.bodies[body].points)
    point = f"{body}.{points[0]}" if points else f"{body}.at(0.5, 0)"
    return CenterGap(
        pair.name,
        f"{pair.title} joins the mass center of {body} to {other}, {gap:.4g} m away as drawn: "
        "a body named without a point means its mass center.",
        f"Name the point that is meant, such as {point}, or give the place of the joint, at=[x, y].",
        gap,
    )


def extent(resolved: ResolvedModel) -> float:
    """The size of the mechanism as drawn."""
    places = [body.pose[:2] for body in resolved.bodies.values()]
    places += [
        (body.pose[0] + x, body.pose[1] + y)
        for body in resolved.bodies.values()
        for x, y, _ in body.points.values()
    ]
    return float(np.ptp(np.array(places), axis=0).max()) or 1.0
