"""Symbols: how each joint and force is shown. Elements know nothing of this; a symbol is found by their class.

A symbol yields marks, and the spots that the bodies must reach. A joint of your own gets one by

    @symbol.register
    def _(joint: Midpoint, plan: Plan): ...

and without it a pin where two of its points coincide, else a dashed line between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from itertools import pairwise
from math import pi

import numpy as np

from ..model.elements import Element, ForceElement, Joint
from ..model.forces.point_force import PointForce
from ..model.forces.torque import Torque
from ..model.frame import GROUND, PlacedFrame
from ..model.joints.absolute import AbsoluteAngle, AbsoluteDistance, AbsoluteX, AbsoluteY
from ..model.joints.belt import Belt
from ..model.joints.fixed import Fixed
from ..model.joints.gear import Gear
from ..model.joints.link import Link
from ..model.joints.revolute import Revolute
from . import outlines, stretches
from .marks import Layer, Mark, Outline, Spot, Stretched
from .motion import spot_of
from .plan import Plan, frames_of

Parts = Iterator[Mark | Spot]


@singledispatch
def symbol(element: Element, plan: Plan) -> Parts:
    """The marks of an element, and the spots that its bodies reach."""
    yield from frames_symbol(element, plan)


def frames_symbol(element: Element, plan: Plan) -> Parts:
    """For elements without a symbol of their own: a pin where two points coincide, else dashed lines."""
    frames = frames_of(element)
    yield from reach(*frames)
    for first, second in pairwise(frames):
        if plan.motion.distance(first, second)[1] < 0.1 * plan.size:
            yield from pin(second, plan, element.name)
        else:
            yield stretched(element, first, second, stretches.line(), "hint", plan)


# Parts that symbols share -----------------------------------------------------------------------------


def reach(*frames: PlacedFrame) -> Iterator[Spot]:
    """The bodies of these frames are drawn up to them."""
    for frame in frames:
        if frame.body != GROUND:
            yield spot_of(frame)


def pin(frame: PlacedFrame, plan: Plan, name: str) -> Iterator[Mark]:
    hole = outlines.circle((frame.x, frame.y), 0.5 * plan.size, 32)
    yield Outline(frame.body, [hole], "pin", Layer.PIN, name)


def ground_support(
    carrier: str, at: tuple[float, float], plan: Plan, name: str, front: bool
) -> Iterator[Mark]:
    """A triangle on a hatched line, below a point."""
    layer = Layer.FRONT if front else Layer.BACK
    triangle, strokes = outlines.support(plan.size)
    yield Outline(carrier, [outlines.moved(triangle, at)], "support", layer, name)
    yield Outline(carrier, [outlines.moved(s, at) for s in strokes], "ground", layer, name, area=False)


def stretched(
    element: Element, a: PlacedFrame, b: PlacedFrame, paths: list[stretches.Stops], ink: str, plan: Plan
) -> Stretched:
    return Stretched(spot_of(a), spot_of(b), paths, ink, Layer.SPRING, element.name)


# Pins and welds ---------------------------------------------------------------------------------------


@symbol.register
def _(joint: Revolute, plan: Plan) -> Parts:
    a, b = (joint.b, joint.a) if joint.b.body == GROUND else (joint.a, joint.b)
    yield from reach(a, b)
    if a.body == GROUND:
        yield from ground_support(GROUND, (a.x, a.y), plan, joint.name, front=plan.is_round(b))
    yield from pin(a, plan, joint.name)


@symbol.register
def _(joint: Fixed, plan: Plan) -> Parts:
    a, b = (joint.b, joint.a) if joint.b.body == GROUND else (joint.a, joint.b)
    yield from reach(a, b)
    if a.body == GROUND:
        strokes = outlines.hatching((-2 * plan.size, 0), (2 * plan.size, 0), plan.size)
        moved = [outlines.moved(stroke, (a.x, a.y - plan.size)) for stroke in strokes]
        yield Outline(GROUND, moved, "ground", Layer.FRONT, joint.name, area=False)
    square = outlines.rectangle((b.x, b.y), 0.8 * plan.size, 0.8 * plan.size, b.angle)
    yield Outline(b.body, [square], "weld", Layer.PIN, joint.name)


@symbol.register
def _(joint: Link, plan: Plan) -> Parts:
    yield from reach(joint.a, joint.b)
    rod = stretches.rod(0.55 * plan.size)
    yield Stretched(spot_of(joint.a), spot_of(joint.b), rod, "rod", Layer.LINK, joint.name, area=True)
    for frame in (joint.a, joint.b):
        if frame.body == GROUND:
            yield from ground_support(GROUND, (frame.x, frame.y), plan, joint.name, front=False)
        yield from pin(frame, plan, joint.name)


# Points held in the global frame ----------------------------------------------------------------------


@symbol.register
def _(joint: AbsoluteX, plan: Plan) -> Parts:
    yield from reach(joint.frame)
    carrier = plan.motion.follow(f"{joint.name} at {joint.frame.body}", joint.frame)
    if _partner(joint, AbsoluteY, plan):
        yield from ground_support(carrier, (0.0, 0.0), plan, joint.name, front=plan.is_round(joint.frame))
        yield from pin(joint.frame, plan, joint.name)
    else:
        yield from roller(carrier, plan, joint.name, -pi / 2 if plan.middle[0] > _x(joint, plan) else pi / 2)
        yield from pin(joint.frame, plan, joint.name)


@symbol.register
def _(joint: AbsoluteY, plan: Plan) -> Parts:
    yield from reach(joint.frame)
    if not _partner(joint, AbsoluteX, plan):
        carrier = plan.motion.follow(f"{joint.name} at {joint.frame.body}", joint.frame)
        yield from roller(carrier, plan, joint.name, 0.0)
        yield from pin(joint.frame, plan, joint.name)


@symbol.register
def _(joint: AbsoluteDistance, plan: Plan) -> Parts:
    frames = frames_of(joint)
    yield from reach(joint.frame)
    yield from ground_support(GROUND, joint.center, plan, joint.name, front=False)
    rod = stretches.rod(0.55 * plan.size)
    a, b = (spot_of(frame) for frame in frames)
    yield Stretched(a, b, rod, "rod", Layer.LINK, joint.name, area=True)
    for frame in frames:
        yield from pin(frame, plan, joint.name)


@symbol.register
def _(joint: AbsoluteAngle, plan: Plan) -> Parts:
    yield from ()


def roller(carrier: str, plan: Plan, name: str, angle: float) -> Iterator[Mark]:
    """A support that rolls on a hatched line: it holds a point across the line only."""
    size = plan.size
    triangle = np.array([(0.0, 0.0), (-1.15 * size, -1.5 * size), (1.15 * size, -1.5 * size)])
    wheels = [outlines.circle((x * size, -1.8 * size), 0.3 * size, 24) for x in (-0.7, 0.7)]
    strokes = outlines.hatching((-2.2 * size, -2.1 * size), (2.2 * size, -2.1 * size), size)
    shapes = [outlines.moved(shape, (0, 0), angle) for shape in (triangle, *wheels)]
    yield Outline(carrier, shapes, "support", Layer.BACK, name)
    lines = [outlines.moved(stroke, (0, 0), angle) for stroke in strokes]
    yield Outline(carrier, lines, "ground", Layer.BACK, name, area=False)


def _partner(joint: AbsoluteX | AbsoluteY, kind: type[Joint], plan: Plan) -> bool:
    """Another joint holds the other coordinate of the same point."""
    others = [e for e in plan.resolved.elements.values() if isinstance(e, kind)]
    return any(other.frame[:3] == joint.frame[:3] for other in others)  # type: ignore[attr-defined]


def _x(joint: AbsoluteX, plan: Plan) -> float:
    return float(plan.motion.place(spot_of(joint.frame))[0, 0])


# Wheels -----------------------------------------------------------------------------------------------


@symbol.register
def _(joint: Gear, plan: Plan) -> Parts:
    for frame, radius in zip((joint.a, joint.b), joint.pitch_radii(), strict=True):
        yield from reach(frame)
        pitch = outlines.circle((frame.x, frame.y), radius)
        closed = [np.vstack([pitch, pitch[:1]])]
        yield Outline(frame.body, closed, "pitch", Layer.SLOT, joint.name, area=False)


@symbol.register
def _(joint: Belt, plan: Plan) -> Parts:
    distance = plan.motion.distance(joint.a, joint.b)[0]
    for frame in (joint.a, joint.b):
        yield from reach(frame)
    radius_a, radius_b = joint.radii
    path = stretches.belt(radius_a, radius_b, distance, joint.crossed)
    yield stretched(joint, joint.a, joint.b, path, "belt", plan)


# Loads, which are shown as arrows ---------------------------------------------------------------------


@symbol.register
def _(force: PointForce, plan: Plan) -> Parts:
    yield from reach(force.frame)


@symbol.register
def _(force: Torque, plan: Plan) -> Parts:
    yield from ()


@symbol.register
def _(force: ForceElement, plan: Plan) -> Parts:
    yield from frames_symbol(force, plan)
