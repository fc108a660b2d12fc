"""Symbols of drivers, springs and dampers: they follow from the measure on which these act."""

from __future__ import annotations

from math import atan2, pi

import numpy as np

from ..errors import UnsupportedError
from ..model.elements import Element
from ..model.forces.spring import Spring
from ..model.frame import GROUND, PlacedFrame
from ..model.joints.driver import Driver
from ..model.measure import Term
from . import outlines, stretchable
from .layout import Layout, spot_of
from .marks import Layer, Outline, Stretched
from .symbols import Parts, reach, symbol
from .turning import TURNING, center_of

SHORTEST = 0.2  # of the longest length; a spring that vanishes is drawn as if it kept this much


@symbol.register
def _(driver: Driver, layout: Layout) -> Parts:
    for term in driver.measure.terms:
        if term.kind in TURNING:
            yield from _turning_arrow(driver, term, layout)
        elif term.kind in ("x", "y"):
            yield from _moving_arrow(driver, term, layout)
        else:
            yield from _ends(driver, term, layout)
            barrel = stretchable.cylinder(layout.size, _lengths(term, layout)[0])
            yield Stretched(
                spot_of(term.a), spot_of(term.b), barrel, "rod", Layer.SPRING, driver.name, area=True
            )


def _turning_arrow(element: Element, term: Term, layout: Layout) -> Parts:
    """An arc about the pivot of the two bodies; its heads show in which directions it turns."""
    center, size = center_of(term, layout), layout.size
    carrier = center.body
    if carrier != GROUND:  # the arrow does not turn with the body
        carrier = layout.motion.follow(f"{element.name} at {center.body}", center)
    place = (center.x, center.y) if carrier == GROUND else (0.0, 0.0)
    for sense in _senses(term, layout):
        start, sweep = (-0.15 * pi, 1.25 * pi) if sense > 0.0 else (1.15 * pi, -1.25 * pi)
        line, head = outlines.arc_arrow(2.2 * size, start, sweep, 1.1 * size)
        yield Outline(carrier, [outlines.moved(line, place)], "drive", Layer.DRIVE, element.name, area=False)
        yield Outline(carrier, [outlines.moved(head, place)], "drive", Layer.DRIVE, element.name)


def _senses(term: Term, layout: Layout) -> list[float]:
    """+1 for counter-clockwise, -1 for clockwise, both for a motion to and fro."""
    rates = layout.motion.rates[term.b.body][:, 2] - layout.motion.rates[term.a.body][:, 2]
    largest = np.abs(rates).max()
    if largest == 0.0:
        return [1.0]
    return [sense for sense in (1.0, -1.0) if (sense * rates).max() > 1e-6 * largest]


def _moving_arrow(element: Element, term: Term, layout: Layout) -> Parts:
    """A straight arrow beside a point that is led along x or y."""
    frame = term.b if term.b.body != GROUND else term.a  # type: ignore[union-attr]
    assert isinstance(frame, PlacedFrame)
    yield from reach(frame)
    carrier = layout.motion.follow(f"{element.name} at {frame.body}", frame)
    angle, size = (0.0 if term.kind == "x" else pi / 2), layout.size
    line = outlines.moved([(0.9 * size, 0), (3 * size, 0)], (0, 0), angle)
    head = outlines.arrow_head(3.6 * size * np.array([np.cos(angle), np.sin(angle)]), angle, 1.1 * size)
    yield Outline(carrier, [line], "drive", Layer.DRIVE, element.name, area=False)
    yield Outline(carrier, [head], "drive", Layer.DRIVE, element.name)


@symbol.register
def _(spring: Spring, layout: Layout) -> Parts:
    try:
        forces = list(spring.loads())
    except UnsupportedError:  # its law is only named, and may be anything
        forces = []
    for term in forces[0].measure.terms if forces else ():
        if term.kind in TURNING:
            yield from _spiral(spring, term, layout)
        else:
            yield from _ends(spring, term, layout)
            yield _spring_between(spring, term, layout)


def _ends(element: Element, term: Term, layout: Layout) -> Parts:
    """The bodies reach the ends; where an end is on the ground, a wall across the line to the other one."""
    for frame, other in ((term.a, term.b), (term.b, term.a)):
        assert isinstance(frame, PlacedFrame) and isinstance(other, PlacedFrame)
        yield from reach(frame)
        if frame.body == GROUND:
            d = layout.motion.place(spot_of(other))[0] - (frame.x, frame.y)
            half = 1.8 * layout.size
            strokes = outlines.hatching((-half, 0), (half, 0), layout.size)
            turned = [outlines.moved(s, (frame.x, frame.y), atan2(d[1], d[0]) - pi / 2) for s in strokes]
            yield Outline(GROUND, turned, "ground", Layer.BACK, element.name, area=False)


def _spiral(spring: Spring, term: Term, layout: Layout) -> Parts:
    center = center_of(term, layout)
    path = outlines.moved(outlines.spiral(1.7 * layout.size), (center.x, center.y))
    yield Outline(center.body, [path], "spring", Layer.SPRING, spring.name, area=False)


def _spring_between(spring: Spring, term: Term, layout: Layout) -> Stretched:
    """A zigzag, a damper, both side by side, or a cylinder for what only pushes."""
    size, (shortest, longest) = layout.size, _lengths(term, layout)
    a, b = spot_of(term.a), spot_of(term.b)  # type: ignore[arg-type]
    springs = spring.stiffness != 0.0 or spring.law is not None
    if not springs and spring.damping == 0.0:
        barrel = stretchable.cylinder(size, shortest)
        return Stretched(a, b, barrel, "rod", Layer.SPRING, spring.name, area=True)
    if springs and spring.damping != 0.0:
        inner = stretchable.ENDS[1] - stretchable.ENDS[0]
        pot = stretchable.damper(size, inner * shortest, inner * longest, -0.9 * size)
        paths = stretchable.side_by_side(stretchable.zigzag(size, 0.9 * size), pot, 0.9 * size)
    elif springs:
        paths = stretchable.zigzag(size)
    else:
        paths = stretchable.damper(size, shortest, longest)
    return Stretched(a, b, paths, "spring", Layer.SPRING, spring.name)


def _lengths(term: Term, layout: Layout) -> tuple[float, float]:
    assert isinstance(term.a, PlacedFrame) and isinstance(term.b, PlacedFrame)
    shortest, longest = layout.motion.distance(term.a, term.b)
    return max(shortest, SHORTEST * longest), longest
