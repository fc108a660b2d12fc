"""Labels of a scene: the names of bodies and joints, and where there is space for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple

import numpy as np

from ..model.elements import Joint
from ..model.frame import GROUND
from ..model.joints.belt import Belt
from ..model.joints.driver import Driver
from ..model.joints.gear import Gear
from ..model.joints.rack_pinion import RackPinion
from ..model.joints.translational import Translational
from ..model.polygon import hull
from ..model.shape import Block, Disk, Plate
from ..numerics.arrays import Floats
from .layout import CarrierMotion, Layout, spot_of
from .marks import Bounds, Label, Spot
from .outlines import TURN

MOST_BODIES = 100
WITHOUT_PLACE = (Driver, Gear, Belt, RackPinion, Translational)
"""Joints that are not points; their names would cover those of pins."""


def labels(layout: Layout, spots: dict[str, list[Spot]]) -> Iterator[Label]:
    """The names of all bodies, and of the joints that are points; those of large models are left out."""
    if len(layout.resolved.model.bodies) > MOST_BODIES:
        return
    for name in layout.resolved.model.bodies:
        yield _body_label(name, spots.get(name, []), layout)
    yield from _joint_labels(layout, spots)


def _body_label(name: str, spots: Sequence[Spot], layout: Layout) -> Label:
    """In a plate, beside the middle of a bar, above a disk or block."""
    shape, ink = layout.resolved.model.bodies[name].shape, layout.inks[name]
    if isinstance(shape, Disk):
        radius = layout.number(shape.radius)
        gap = 0.62 * radius if radius > 5 * layout.size else radius + layout.size
        return Label(Spot(name, 0.0, 0.0), name, ink, gap, above=True)
    if isinstance(shape, Block | Plate):
        corners = layout.corners(name)
        gap, aside = float(corners[:, 1].max()) + 0.8 * layout.size, 0.0
        if layout.rack_of(name) is not None:
            # beside the pinion, above the teeth
            gap, aside = 2.0 * layout.size, 0.4 * float(np.ptp(corners[:, 0]))
        return Label(Spot(name, aside, 0.0), name, ink, gap, above=True)
    points = [(spot.x, spot.y) for spot in spots]
    points += [(x, y) for x, y, _ in layout.resolved.bodies[name].points.values()]
    corners = hull(np.array(points or [(0.0, 0.0)]), 0.3 * layout.size)
    x, y = corners.mean(axis=0)
    ends = tuple(Spot(name, float(u), float(v)) for u, v in corners) if len(corners) == 2 else ()
    gap = 1.5 * layout.size if len(corners) <= 2 else 0.0
    return Label(Spot(name, float(x), float(y)), name, ink, gap, ends)


def _joint_labels(layout: Layout, spots: dict[str, list[Spot]]) -> Iterator[Label]:
    """The names of the joints at a place, once for all that sit there."""
    by_place: dict[tuple[int, int], list[Joint]] = {}
    for element in layout.resolved.elements.values():
        if (
            isinstance(element, Joint)
            and not isinstance(element, WITHOUT_PLACE)
            and layout.frames[element.name]
        ):
            x, y = layout.motion.place(spot_of(layout.frames[element.name][-1]))[0]
            by_place.setdefault((round(x / layout.size), round(y / layout.size)), []).append(element)
    for joints in by_place.values():
        frames = [frame for joint in joints for frame in layout.frames[joint.name]]
        clear = [spot for f in frames for spot in spots.get(f.body, ()) if (spot.x, spot.y) != (f.x, f.y)]
        motor = any(layout.pivot(f.body, GROUND) == f for f in frames) and _has_motor(frames[-1].body, layout)
        yield Label(
            spot_of(frames[-1]),
            ", ".join(joint.name for joint in joints),
            "text",
            (3.1 if motor else 1.3) * layout.size,
            tuple(dict.fromkeys(clear)),
            above=any(f.body == GROUND for f in frames),
            is_pin=True,
        )


def _has_motor(body: str, layout: Layout) -> bool:
    """A driver turns the body against the ground."""
    drivers = [e for e in layout.resolved.elements.values() if isinstance(e, Driver)]
    return any({t.a.body, t.b.body} == {GROUND, body} for d in drivers for t in d.measure.terms)  # type: ignore[union-attr]


class LabelPlace(NamedTuple):
    """The place of a label, and its direction from its spot."""

    x: float
    y: float
    dx: float
    dy: float


def places(words: Sequence[Label], motion: CarrierMotion, i: int, size: float) -> list[LabelPlace]:
    """A place for every word at the i-th time: where there is most space, and not on another label or a pin."""
    spots = [motion.place(label.spot)[i] for label in words]
    middle = np.mean(spots, axis=0) if spots else np.zeros(2)
    taken = [_pin_box(x, y, label, size) for (x, y), label in zip(spots, words, strict=True) if label.is_pin]
    chosen = []
    for label, (x, y) in zip(words, spots, strict=True):
        options = list(_options(label, motion, i, (x - middle[0], y - middle[1])))
        boxes = [word_box(place, label.text, size) for place in options]
        free = [k for k, box in enumerate(boxes) if not any(_overlap(box, other) for other in taken)]
        best = free[0] if free else 0
        taken.append(boxes[best])
        chosen.append(options[best])
    return chosen


def _options(
    label: Label, motion: CarrierMotion, i: int, outward: tuple[float, float]
) -> Iterator[LabelPlace]:
    """Places beside a spot, the best first; a body's name may also slide along its bar."""
    x, y = motion.place(label.spot)[i]
    lines = [motion.place(spot)[i] - (x, y) for spot in label.clear]
    directions = _directions(label, lines, outward)
    slides = [(0.0, 0.0), *((0.4 * dx, 0.4 * dy) for dx, dy in lines)] if not label.is_pin else [(0.0, 0.0)]
    for sx, sy in slides:
        for dx, dy in directions:
            yield LabelPlace(x + sx + label.gap * dx, y + sy + label.gap * dy, dx, dy)


def _directions(
    label: Label, lines: Sequence[Floats], outward: tuple[float, float]
) -> list[tuple[float, float]]:
    """Directions between the lines that leave a spot: in the middle of the widest gap first, then outward."""
    if label.gap == 0.0:
        return [(0.0, 0.0)]
    taken = sorted([atan2(dy, dx) for dx, dy in lines if abs(dx) + abs(dy) > 0.0] + [-pi / 2] * label.above)
    if not taken:
        return [(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0)]
    gaps = [
        (second - first, first) for first, second in zip(taken, [*taken[1:], taken[0] + TURN], strict=True)
    ]
    directions = [(gap, part != 0.5, first + part * gap) for gap, first in gaps for part in (0.5, 0.25, 0.75)]
    ranked = sorted(directions, key=lambda one: (-round(one[0]), one[1], -_cosine(one[2], outward)))
    return [(cos(angle), sin(angle)) for _, _, angle in ranked]


def _cosine(angle: float, outward: tuple[float, float]) -> float:
    return (cos(angle) * outward[0] + sin(angle) * outward[1]) / (hypot(*outward) or 1.0)


def word_box(place: LabelPlace, text: str, size: float) -> Bounds:
    """About the room that a word takes."""
    width, height = (0.75 * len(text) + 0.2) * size, 1.3 * size
    x, y, dx, dy = place
    left = x if dx > 0.4 else x - width if dx < -0.4 else x - width / 2
    low = y if dy > 0.4 else y - height if dy < -0.4 else y - height / 2
    return left, low, left + width, low + height


def _pin_box(x: float, y: float, label: Label, size: float) -> Bounds:
    """The room of a pin, of the support below it, and of the arrow of a motor around it."""
    half = (2.6 if label.gap > 2 * size else 0.9) * size
    return x - half, y - (2.6 * size if label.above else half), x + half, y + half


def _overlap(a: Bounds, b: Bounds) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
