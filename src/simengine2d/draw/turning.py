"""Symbols of what holds an angle: a dashed ring about the place where two bodies turn, with the axis of each in it."""

from __future__ import annotations

import numpy as np

from ..model.elements import Element, Joint
from ..model.frame import GROUND, PlacedFrame
from ..model.joints.absolute import AbsoluteAngle
from ..model.joints.constraint import Constraint
from ..model.joints.coupler import Coupler
from ..model.joints.relative import RelativeAngle
from ..model.measure import Term
from . import outlines
from .layout import Layout
from .marks import Layer, Outline
from .symbols import Parts, frames_symbol, symbol

TURNING = ("angle", "direction", "misalignment")
RING = 1.5  # in symbol sizes


def center_of(term: Term, layout: Layout) -> PlacedFrame:
    """Where the bodies of an angle turn against each other."""
    a, b = term.a, term.b
    assert isinstance(a, PlacedFrame) and isinstance(b, PlacedFrame)
    return layout.pivot(a.body, b.body) or (b if b.body != GROUND else a)


@symbol.register
def _(joint: RelativeAngle | AbsoluteAngle, layout: Layout) -> Parts:
    yield from _rings(joint, layout)


@symbol.register
def _(joint: Constraint | Coupler, layout: Layout) -> Parts:
    yield from frames_symbol(joint, layout)
    yield from _rings(joint, layout)


def _rings(joint: Joint, layout: Layout) -> Parts:
    """A ring for every angle that the joint holds, also in a sum or a formula."""
    terms = [term for row in joint.rows() for term in row.measure.terms if term.kind in TURNING]
    for k, term in enumerate(terms):
        yield from _ring(joint, term, k, layout)


def _ring(element: Element, term: Term, k: int, layout: Layout) -> Parts:
    center, radius = center_of(term, layout), RING * layout.size
    place = layout.motion.follow(f"{element.name} ring {k}", center)
    circle = outlines.circle((0, 0), radius, 48)
    closed = np.vstack([circle, circle[:1]])
    yield Outline(place, [closed], "hint", Layer.DRIVE, element.name, area=False)
    for side, frame, inner in (("a", term.a, 0.0), ("b", term.b, 0.45)):
        assert isinstance(frame, PlacedFrame)
        carrier = layout.motion.follow(f"{element.name} axis {k}{side}", center, frame)
        axis = np.array([(inner * radius, 0.0), (1.35 * radius, 0.0)])
        yield Outline(carrier, [axis], "line", Layer.DRIVE, element.name, area=False)
