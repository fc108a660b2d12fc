"""Shapes of bodies: what their look or shape says, else a link that reaches everything attached to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..model.body import Body
from ..model.frame import GROUND
from ..model.shape import Block, Disk, Plate
from ..numerics.arrays import Floats
from . import outlines
from .gears import Wheel
from .layout import Layout
from .marks import Layer, Outline, Spot

RADIUS = 0.95  # of links, in symbol sizes


def body_marks(body: Body, spots: Sequence[Spot], layout: Layout) -> Iterator[Outline]:
    """The outlines of one body; `spots` are the places that it must reach."""
    name, ink = body.name, layout.inks[body.name]
    if body.look.get("hidden") is True:
        return
    if own := layout.own_outlines[name]:
        yield Outline(name, own, ink, Layer.LINK, name)
        return
    wheels = [wheel for wheel in layout.wheels.values() if wheel.center.body == name]
    for wheel in wheels:
        yield from _wheel(wheel, ink, name)
    if name != GROUND:
        yield from _shape(body, spots, wheels, ink, layout)


def _wheel(wheel: Wheel, ink: str, name: str) -> Iterator[Outline]:
    center = wheel.center.x, wheel.center.y
    teeth = outlines.gear(center, wheel.radius, wheel.teeth, wheel.tooth, wheel.internal)
    if wheel.internal:
        paths = [outlines.circle(center, wheel.radius + 3.2 * wheel.module, 120), teeth[::-1]]
    else:
        paths = [teeth, *_holes(center, wheel)]
    yield Outline(wheel.center.body, paths, ink, Layer.ROUND, name)


def _holes(center: tuple[float, float], wheel: Wheel) -> list[Floats]:
    """Holes in a large gear, which show how it turns."""
    if wheel.teeth < 18:
        return []
    angles = wheel.tooth + np.arange(5) * outlines.TURN / 5
    r = 0.55 * wheel.radius
    return [
        outlines.circle((center[0] + r * np.cos(a), center[1] + r * np.sin(a)), 0.16 * wheel.radius, 32)[::-1]
        for a in angles
    ]


def _shape(
    body: Body, spots: Sequence[Spot], wheels: Sequence[Wheel], ink: str, layout: Layout
) -> Iterator[Outline]:
    points = {(spot.x, spot.y) for spot in spots}
    if isinstance(body.shape, Disk) and not wheels:
        yield from _disk(body, layout.number(body.shape.radius), ink, layout)
    if isinstance(body.shape, Block | Plate) and not layout.is_drawn_by_a_joint(body.name):
        yield Outline(body.name, [_plate(body, layout)], ink, Layer.BLOCK, body.name)
    outside = points - {point for point in points if _covers(body, wheels, point, layout)}
    if not isinstance(body.shape, Disk | Block | Plate):
        points |= {(x, y) for x, y, _ in layout.resolved.bodies[body.name].points.values()}
        yield from _link(body, points, wheels, ink, layout)
    elif outside:  # arms to what is attached beside the disk or plate
        yield _link_mark(body, {(0.0, 0.0), *outside}, ink, layout)


def _plate(body: Body, layout: Layout) -> Floats:
    """A plate as it is, a rectangle with round corners."""
    corners = layout.corners(body.name)
    if isinstance(body.shape, Plate):
        return corners
    width, height = np.ptp(corners, axis=0)
    return outlines.rounded_rectangle((0, 0), width, height, 0.3 * layout.size)


def _disk(body: Body, radius: float, ink: str, layout: Layout) -> Iterator[Outline]:
    """A disk, with lines that show how it turns."""
    yield Outline(body.name, [outlines.circle((0, 0), radius)], ink, Layer.ROUND, body.name)
    spokes = [
        radius * np.array([(0.45 * np.cos(a), 0.45 * np.sin(a)), (0.85 * np.cos(a), 0.85 * np.sin(a))])
        for a in np.arange(3) * outlines.TURN / 3
    ]
    yield Outline(body.name, spokes, ink, Layer.ROUND, body.name, area=False)


def _link(
    body: Body, points: set[tuple[float, float]], wheels: Sequence[Wheel], ink: str, layout: Layout
) -> Iterator[Outline]:
    """A link through the points; a body that nothing is attached to is a dot, one point makes a pendulum."""
    if not points and not wheels:
        dot = outlines.circle((0, 0), 1.1 * layout.size)
        yield Outline(body.name, [dot], ink, Layer.LINK, body.name)
    elif len(points) == 1:
        (point,) = points
        if np.hypot(*point) > layout.size:
            bob = outlines.circle((0, 0), 1.6 * layout.size)
            yield _link_mark(body, {point, (0.0, 0.0)}, ink, layout, 0.6)
            yield Outline(body.name, [bob], ink, Layer.BLOCK, body.name)
        elif not wheels:
            yield _link_mark(body, points, ink, layout)
    elif points:
        yield _link_mark(body, points, ink, layout)


def _link_mark(
    body: Body, points: set[tuple[float, float]], ink: str, layout: Layout, width: float = 1.0
) -> Outline:
    outline = outlines.link(sorted(points), width * RADIUS * layout.size)
    return Outline(body.name, [outline], ink, Layer.LINK, body.name)


def _covers(body: Body, wheels: Sequence[Wheel], point: tuple[float, float], layout: Layout) -> bool:
    """The disk, plate or wheel of a body reaches a point of it."""
    x, y = point
    if isinstance(body.shape, Disk) and np.hypot(x, y) <= layout.number(body.shape.radius):
        return True
    if isinstance(body.shape, Block | Plate):
        return outlines.reaches(layout.corners(body.name), point, layout.size)
    return any(np.hypot(x - w.center.x, y - w.center.y) <= w.radius for w in wheels)
