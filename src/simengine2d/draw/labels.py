"""Labels of a scene: the names of bodies and joints, and what they stay clear of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from .layout import Layout, spot_of
from .marks import Label, Spot

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
    by_place: list[tuple[Floats, list[Joint]]] = []
    for element in layout.resolved.elements.values():
        if (
            not isinstance(element, Joint)
            or isinstance(element, WITHOUT_PLACE)
            or not layout.frames[element.name]
        ):
            continue
        path = layout.motion.place(spot_of(layout.frames[element.name][-1]))
        same = [joints for other, joints in by_place if np.abs(other - path).max() < 0.5 * layout.size]
        if same:
            same[0].append(element)
        else:
            by_place.append((path, [element]))
    for _, joints in by_place:
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
