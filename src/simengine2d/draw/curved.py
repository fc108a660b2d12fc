"""Symbols of curves and cams: the profile as the outline of its body, the roller, the face."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.curves.curve import Curve
from ..model.frame import GROUND, PlacedFrame
from ..model.joints.cam import Cam
from ..model.joints.point_on_curve import PointOnCurve
from ..model.joints.rolling_curves import RollingCurves
from . import outlines
from .layout import Layout
from .marks import Layer, Outline
from .symbols import Parts, pin, reach, symbol


def profile(frame: PlacedFrame, curve: Curve, name: str, *, solid: bool = True) -> Iterator[Outline]:
    """A curve fixed in a frame: an area where it is closed and `solid`, else a line."""
    points = outlines.moved(curve.outline(), (frame.x, frame.y), frame.angle)
    ink = "ground" if frame.body == GROUND else f"of {frame.body}"
    if curve.is_closed and solid:
        yield Outline(frame.body, [points[:-1]], ink, Layer.ROUND, name)
    else:
        yield Outline(frame.body, [points], ink, Layer.ROUND, name, area=False)


@symbol.register
def _(joint: PointOnCurve, layout: Layout) -> Parts:
    yield from reach(joint.b)
    yield from profile(joint.a, joint.curve, joint.name, solid=False)
    yield from pin(joint.b, layout, joint.name)


@symbol.register
def _(joint: Cam, layout: Layout) -> Parts:
    yield from reach(joint.b)
    yield from profile(joint.a, joint.curve, joint.name, solid=not joint.inside)
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
    return Outline(
        joint.b.body,
        [outlines.moved(corners, (joint.b.x, joint.b.y), joint.b.angle)],
        ink,
        Layer.LINK,
        joint.name,
    )


@symbol.register
def _(joint: RollingCurves, layout: Layout) -> Parts:
    yield from profile(joint.a, joint.curve_a, joint.name, solid=not joint.internal)
    yield from profile(joint.b, joint.curve_b, joint.name)
