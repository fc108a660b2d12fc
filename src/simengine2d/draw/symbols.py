"""Symbols: how each joint and force is shown. Elements know nothing of this; a symbol is found by their class.

A symbol yields marks, and the spots that the bodies must reach. A joint of your own gets one by

    @symbol.register
    def _(joint: Midpoint, layout: Layout): ...

and without it a pin where two of its points coincide, else a dashed line between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from itertools import pairwise
from math import pi

import numpy as np

from ..model.curves.curve import Curve
from ..model.elements import Element, ForceElement, Joint
from ..model.forces.point_force import PointForce
from ..model.forces.torque import Torque
from ..model.frame import GROUND, PlacedFrame
from ..model.joints.absolute import AbsoluteDistance, AbsoluteX, AbsoluteY
from ..model.joints.belt import Belt
from ..model.joints.cam import Cam
from ..model.joints.fixed import Fixed
from ..model.joints.gear import Gear
from ..model.joints.link import Link
from ..model.joints.point_on_curve import PointOnCurve
from ..model.joints.revolute import Revolute
from ..model.joints.rolling_curves import RollingCurves
from . import outlines, stretchable
from .layout import Layout, frames_of, spot_of
from .marks import Layer, Mark, Outline, Spot, Stretched

Parts = Iterator[Mark | Spot]


@singledispatch
def symbol(element: Element, layout: Layout) -> Parts:
    """The marks of an element, and the spots that its bodies reach."""
    yield from frames_symbol(element, layout)


def frames_symbol(element: Element, layout: Layout) -> Parts:
    """For elements without a symbol of their own: a pin where two points coincide, else dashed lines."""
    frames = frames_of(element)
    yield from reach(*frames)
    for first, second in pairwise(frames):
        if layout.motion.distance(first, second)[1] < 0.1 * layout.size:
            yield from pin(second, layout, element.name)
        else:
            yield stretched(element, first, second, stretchable.line(), "hint", layout)


# Parts that symbols share -----------------------------------------------------------------------------


def reach(*frames: PlacedFrame) -> Iterator[Spot]:
    """The bodies of these frames are drawn up to them."""
    for frame in frames:
        if frame.body != GROUND:
            yield spot_of(frame)


def pin(frame: PlacedFrame, layout: Layout, name: str) -> Iterator[Mark]:
    hole = outlines.circle((frame.x, frame.y), 0.5 * layout.size, 32)
    yield Outline(frame.body, [hole], "pin", Layer.PIN, name)


def ground_support(
    carrier: str, at: tuple[float, float], layout: Layout, name: str, front: bool
) -> Iterator[Mark]:
    """A triangle on a hatched line, below a point."""
    layer = Layer.FRONT if front else Layer.BACK
    triangle, strokes = outlines.support(layout.size)
    yield Outline(carrier, [outlines.moved(triangle, at)], "support", layer, name)
    yield Outline(carrier, [outlines.moved(s, at) for s in strokes], "ground", layer, name, area=False)


def stretched(
    element: Element, a: PlacedFrame, b: PlacedFrame, paths: list[stretchable.Stops], ink: str, layout: Layout
) -> Stretched:
    return Stretched(spot_of(a), spot_of(b), paths, ink, Layer.SPRING, element.name)


# Pins and welds ---------------------------------------------------------------------------------------


@symbol.register
def _(joint: Revolute, layout: Layout) -> Parts:
    a, b = (joint.b, joint.a) if joint.b.body == GROUND else (joint.a, joint.b)
    yield from reach(a, b)
    if a.body == GROUND:
        yield from ground_support(GROUND, (a.x, a.y), layout, joint.name, front=layout.is_round(b))
    yield from pin(a, layout, joint.name)


@symbol.register
def _(joint: Fixed, layout: Layout) -> Parts:
    a, b = (joint.b, joint.a) if joint.b.body == GROUND else (joint.a, joint.b)
    yield from reach(a, b)
    if a.body == GROUND:
        strokes = outlines.hatching((-2 * layout.size, 0), (2 * layout.size, 0), layout.size)
        moved = [outlines.moved(stroke, (a.x, a.y - layout.size)) for stroke in strokes]
        yield Outline(GROUND, moved, "ground", Layer.FRONT, joint.name, area=False)
    square = outlines.rectangle((b.x, b.y), 0.8 * layout.size, 0.8 * layout.size, b.angle)
    yield Outline(b.body, [square], "weld", Layer.PIN, joint.name)


@symbol.register
def _(joint: Link, layout: Layout) -> Parts:
    yield from reach(joint.a, joint.b)
    rod = stretchable.rod(0.55 * layout.size)
    yield Stretched(spot_of(joint.a), spot_of(joint.b), rod, "rod", Layer.LINK, joint.name, area=True)
    for frame in (joint.a, joint.b):
        if frame.body == GROUND:
            yield from ground_support(GROUND, (frame.x, frame.y), layout, joint.name, front=False)
        yield from pin(frame, layout, joint.name)


# Points held in the global frame ----------------------------------------------------------------------


@symbol.register
def _(joint: AbsoluteX, layout: Layout) -> Parts:
    yield from reach(joint.frame)
    carrier = layout.motion.follow(f"{joint.name} at {joint.frame.body}", joint.frame)
    if _partner(joint, AbsoluteY, layout):
        yield from ground_support(carrier, (0.0, 0.0), layout, joint.name, front=layout.is_round(joint.frame))
        yield from pin(joint.frame, layout, joint.name)
    else:
        yield from roller(
            carrier, layout, joint.name, -pi / 2 if layout.middle[0] > _x(joint, layout) else pi / 2
        )
        yield from pin(joint.frame, layout, joint.name)


@symbol.register
def _(joint: AbsoluteY, layout: Layout) -> Parts:
    yield from reach(joint.frame)
    if not _partner(joint, AbsoluteX, layout):
        carrier = layout.motion.follow(f"{joint.name} at {joint.frame.body}", joint.frame)
        yield from roller(carrier, layout, joint.name, 0.0)
        yield from pin(joint.frame, layout, joint.name)


@symbol.register
def _(joint: AbsoluteDistance, layout: Layout) -> Parts:
    frames = frames_of(joint)
    yield from reach(joint.frame)
    yield from ground_support(GROUND, joint.center, layout, joint.name, front=False)
    rod = stretchable.rod(0.55 * layout.size)
    a, b = (spot_of(frame) for frame in frames)
    yield Stretched(a, b, rod, "rod", Layer.LINK, joint.name, area=True)
    for frame in frames:
        yield from pin(frame, layout, joint.name)


def roller(carrier: str, layout: Layout, name: str, angle: float) -> Iterator[Mark]:
    """A support that rolls on a hatched line: it holds a point across the line only."""
    size = layout.size
    triangle = np.array([(0.0, 0.0), (-1.15 * size, -1.5 * size), (1.15 * size, -1.5 * size)])
    wheels = [outlines.circle((x * size, -1.8 * size), 0.3 * size, 24) for x in (-0.7, 0.7)]
    strokes = outlines.hatching((-2.2 * size, -2.1 * size), (2.2 * size, -2.1 * size), size)
    shapes = [outlines.moved(shape, (0, 0), angle) for shape in (triangle, *wheels)]
    yield Outline(carrier, shapes, "support", Layer.BACK, name)
    lines = [outlines.moved(stroke, (0, 0), angle) for stroke in strokes]
    yield Outline(carrier, lines, "ground", Layer.BACK, name, area=False)


def _partner(joint: AbsoluteX | AbsoluteY, kind: type[Joint], layout: Layout) -> bool:
    """Another joint holds the other coordinate of the same point."""
    others = [e for e in layout.resolved.elements.values() if isinstance(e, kind)]
    return any(other.frame[:3] == joint.frame[:3] for other in others)  # type: ignore[attr-defined]


def _x(joint: AbsoluteX, layout: Layout) -> float:
    return float(layout.motion.place(spot_of(joint.frame))[0, 0])


# Wheels -----------------------------------------------------------------------------------------------


@symbol.register
def _(joint: Gear, layout: Layout) -> Parts:
    for frame, radius in zip((joint.a, joint.b), joint.pitch_radii(), strict=True):
        yield from reach(frame)
        pitch = outlines.circle((frame.x, frame.y), radius)
        closed = [np.vstack([pitch, pitch[:1]])]
        yield Outline(frame.body, closed, "pitch", Layer.SLOT, joint.name, area=False)


@symbol.register
def _(joint: Belt, layout: Layout) -> Parts:
    distance = layout.motion.distance(joint.a, joint.b)[0]
    for frame in (joint.a, joint.b):
        yield from reach(frame)
    radius_a, radius_b = joint.radii
    path = stretchable.belt(radius_a, radius_b, distance, joint.crossed)
    yield stretched(joint, joint.a, joint.b, path, "belt", layout)


# Loads, which are shown as arrows ---------------------------------------------------------------------


@symbol.register
def _(force: PointForce, layout: Layout) -> Parts:
    yield from reach(force.frame)


@symbol.register
def _(force: Torque, layout: Layout) -> Parts:
    yield from ()


@symbol.register
def _(force: ForceElement, layout: Layout) -> Parts:
    yield from frames_symbol(force, layout)


# Curves and cams --------------------------------------------------------------------------------------


def profile(
    frame: PlacedFrame, curve: Curve, name: str, layout: Layout, *, solid: bool = True
) -> Iterator[Outline]:
    """A curve fixed in a frame: an area where it is closed and `solid`, else a line, hatched on the ground."""
    points = outlines.moved(curve.outline(), (frame.x, frame.y), frame.angle)
    ink = "ground" if frame.body == GROUND else f"of {frame.body}"
    if frame.body == GROUND and not curve.is_closed:
        strokes = outlines.hatched_below(points, layout.size)
        yield Outline(GROUND, strokes, "ground", Layer.BACK, name, area=False)
    if curve.is_closed and solid:
        yield Outline(frame.body, [points[:-1]], ink, Layer.ROUND, name)
    else:
        yield Outline(frame.body, [points], ink, Layer.ROUND, name, area=False)


@symbol.register
def _(joint: PointOnCurve, layout: Layout) -> Parts:
    yield from reach(joint.b)
    yield from profile(joint.a, joint.curve, joint.name, layout, solid=False)
    yield from pin(joint.b, layout, joint.name)


@symbol.register
def _(joint: Cam, layout: Layout) -> Parts:
    yield from reach(joint.b)
    yield from profile(joint.a, joint.curve, joint.name, layout, solid=not joint.inside)
    ink = "ground" if joint.b.body == GROUND else f"of {joint.b.body}"
    if joint.radius is not None:
        wheel = outlines.circle((joint.b.x, joint.b.y), joint.radius)
        yield Outline(joint.b.body, [wheel], ink, Layer.FRONT, joint.name)
        yield from pin(joint.b, layout, joint.name)
    if joint.follower == "flat":
        yield _face(joint, ink, layout)


def _face(joint: Cam, ink: str, layout: Layout) -> Outline:
    """A bar whose edge is the face, as long as the cam needs, on the side where the cam is not."""
    seen = layout.motion.seen_from(joint.b, joint.a)
    reach_of_cam = 0.6 * float(np.ptp(joint.curve.outline(91), axis=0).max())
    start, end = float(seen[:, 0].min()) - reach_of_cam, float(seen[:, 0].max()) + reach_of_cam
    thick = 1.2 * layout.size * (1.0 if seen[:, 1].mean() < 0.0 else -1.0)
    corners = np.array([(start, 0.0), (end, 0.0), (end, thick), (start, thick)])
    bar = outlines.moved(corners, (joint.b.x, joint.b.y), joint.b.angle)
    return Outline(joint.b.body, [bar], ink, Layer.LINK, joint.name)


@symbol.register
def _(joint: RollingCurves, layout: Layout) -> Parts:
    yield from profile(joint.a, joint.curve_a, joint.name, layout, solid=not joint.internal)
    yield from profile(joint.b, joint.curve_b, joint.name, layout)
