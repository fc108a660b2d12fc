"""Symbols of joints that slide: blocks in guides, pins in slots, racks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.frame import GROUND, PlacedFrame
from ..model.joints.pin_slot import PinSlot
from ..model.joints.rack_pinion import RackPinion
from ..model.joints.revolute_translational import RevoluteTranslational
from ..model.joints.translational import Translational
from . import outlines
from .gears import rack_tooth
from .layout import Layout, SliderBlock
from .marks import Layer, Mark, Outline, Spot
from .symbols import Parts, pin, reach, symbol

SHORT_RAIL = 6.0  # in symbol sizes; a slider that covers less at all times gets a rail along its stroke
PAD = 1.2  # how far a guide extends past the block at the end of its stroke, in symbol sizes


def on_axis(frame: PlacedFrame, along: float, across: float = 0.0) -> Spot:
    """A spot given in the axes of a frame."""
    x, y = outlines.moved([(along, across)], (frame.x, frame.y), frame.angle)[0]
    return Spot(frame.body, float(x), float(y))


def in_frame(paths: list[outlines.Floats], frame: PlacedFrame) -> list[outlines.Floats]:
    """Paths in the axes of a frame, in those of its body."""
    return [outlines.moved(path, (frame.x, frame.y), frame.angle) for path in paths]


def ground_rail(
    frame: PlacedFrame, start: float, end: float, across: float, layout: Layout, name: str
) -> Iterator[Mark]:
    """A hatched line along a frame of the ground; the hatching is on the far side of the axis."""
    first, last = (start, end) if across <= 0.0 else (end, start)
    strokes = outlines.hatching((first, across), (last, across), layout.size)
    yield Outline(GROUND, in_frame(strokes, frame), "ground", Layer.BACK, name, area=False)


@symbol.register
def _(joint: Translational, layout: Layout) -> Parts:
    guide, slider = (joint.b, joint.a) if joint.b.body == GROUND else (joint.a, joint.b)
    block = layout.block(slider)
    yield from reach(slider)
    if not block.is_drawn:
        shape = outlines.rounded_rectangle((0, 0), block.end - block.start, block.width, 0.25 * layout.size)
        middle = outlines.moved(shape, ((block.start + block.end) / 2, 0))
        yield Outline(slider.body, in_frame([middle], slider), f"of {slider.body}", Layer.BLOCK, joint.name)
    first, last = layout.travel(guide, slider)
    if guide.body == GROUND:
        yield from _ground_guide(guide, block, first, last, layout, joint.name)
    else:
        yield on_axis(guide, first + block.start - PAD * layout.size)
        yield on_axis(guide, last + block.end + PAD * layout.size)


def _ground_guide(
    guide: PlacedFrame, block: SliderBlock, first: float, last: float, layout: Layout, name: str
) -> Iterator[Mark]:
    """A rail along the whole stroke of a short slider; a long one passes over a short rail that it always covers."""
    start, end = first + block.start - PAD * layout.size, last + block.end + PAD * layout.size
    always = last + block.start, first + block.end
    if always[1] - always[0] > SHORT_RAIL * layout.size and last > first:
        middle, half = sum(always) / 2, min(4 * layout.size, (always[1] - always[0]) / 2)
        start, end = middle - half, middle + half
    yield from ground_rail(guide, start, end, layout.free_side(guide) * block.width / 2, layout, name)


@symbol.register
def _(joint: PinSlot, layout: Layout) -> Parts:
    first, last = layout.travel(joint.a, joint.b)
    yield from reach(joint.b)
    ends = (first - 0.6 * layout.size, 0.0), (last + 0.6 * layout.size, 0.0)
    slot = outlines.bar(*ends, 0.62 * layout.size)
    if joint.a.body == GROUND:
        yield Outline(GROUND, in_frame([slot], joint.a), "support", Layer.BACK, joint.name)
    else:
        rim = outlines.bar(*ends, 1.25 * layout.size)
        yield Outline(joint.a.body, in_frame([rim], joint.a), f"of {joint.a.body}", Layer.LINK, joint.name)
        yield Outline(joint.a.body, in_frame([slot], joint.a), "slot", Layer.SLOT, joint.name)
        yield on_axis(joint.a, (first + last) / 2)
    yield from pin(joint.b, layout, joint.name)


@symbol.register
def _(joint: RevoluteTranslational, layout: Layout) -> Parts:
    along, across = layout.motion.seen_from(joint.a, joint.b).T
    carrier = layout.motion.follow(f"{joint.name} on {joint.a.body}", joint.b, joint.a)
    arm, size = float(-across[0]), layout.size
    yield from reach(joint.b)
    block = outlines.rounded_rectangle((0, arm), 3.2 * size, 1.8 * size, 0.25 * size)
    yield Outline(carrier, [block], "rod", Layer.BLOCK, joint.name)
    yield Outline(carrier, [np.array([(0, 0), (0, arm)])], "spring", Layer.BLOCK, joint.name, area=False)
    margin = (1.6 + PAD) * size
    if joint.a.body == GROUND:
        side = layout.free_side(joint.a) * 0.9 * size
        yield from ground_rail(joint.a, along.min() - margin, along.max() + margin, side, layout, joint.name)
    else:
        yield on_axis(joint.a, float(along.min()) - margin)
        yield on_axis(joint.a, float(along.max()) + margin)
    yield from pin(joint.b, layout, joint.name)


@symbol.register
def _(joint: RackPinion, layout: Layout) -> Parts:
    pinion, block = layout.wheel_at(joint.b), layout.block(joint.a)
    assert pinion is not None
    side = 1.0 if joint.radius > 0.0 else -1.0
    start, end = sorted([side * block.start, side * block.end])
    teeth = outlines.rack(start, end, pinion.module, side * rack_tooth(joint, pinion))
    # the teeth point up, to a pinion on the left of the axis; for one on its right the rack is turned over
    pitch_line = float(layout.motion.seen_from(joint.a, joint.b)[0, 1]) - joint.radius
    turned = outlines.moved(teeth, (0, pitch_line), 0.0 if side > 0.0 else np.pi)
    paths = in_frame([turned], joint.a)
    yield Outline(joint.a.body, paths, f"of {joint.a.body}", Layer.ROUND, joint.name)
    yield from reach(joint.b)
