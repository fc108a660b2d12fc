"""A model with another initial pose: the same mechanism, so that an analysis can continue from there."""

from __future__ import annotations

from dataclasses import replace
from math import atan2, cos, sin

from ...model.body import Bar, Body
from ...model.elements import Pair
from ...model.frame import Frame, PlacedFrame
from ...model.measure import Measure
from ...model.model import Model
from ...model.resolved import ResolvedBody
from ...numerics.arrays import Floats


def with_initial_pose(model: Model, q: Floats, qd: Floats | None = None) -> Model:
    """A copy whose bodies start at q, which must close the joints, and move with qd (or as before).

    Every frame stays fixed in its body. What joints hold as drawn, such as the length of a link, is the same in every
    pose that closes them.
    """
    resolved, other = model.check(), model.copy()
    for i, (name, body) in enumerate(other.bodies.items()):
        _move(body, resolved.bodies[name], *map(float, q[3 * i : 3 * i + 3]))
        if qd is not None:
            xd, yd, body.angular_velocity = map(float, qd[3 * i : 3 * i + 3])
            body.velocity = (xd, yd)
    for name, element in model.elements.items():
        if isinstance(element, Pair):
            pair = resolved.elements[name]
            assert isinstance(pair, Pair)
            sides = {"a": as_written(pair.a), "b": as_written(pair.b)}
            other.elements[name] = replace(element, **sides, at=None, direction=None)  # type: ignore[arg-type]
    return other


def _move(body: Body, drawn: ResolvedBody, x: float, y: float, phi: float) -> None:
    """A bar keeps its ends, unless it has turned further than two points can show."""
    points = drawn.points
    if isinstance(body.shape, Bar):
        start, end = (_place(x, y, phi, *points[name]) for name in ("start", "end"))
        if abs(atan2(end[1] - start[1], end[0] - start[0]) - phi) < 1e-9:
            body.shape = Bar(start, end)
            return
        body.shape, body.inertia = None, drawn.inertia
        body.points = dict(points)
    body.position, body.angle = (x, y), phi


def _place(x: float, y: float, phi: float, along: float, across: float, _: float) -> tuple[float, float]:
    """r_P = r + A s."""
    c, s = cos(phi), sin(phi)
    return x + c * along - s * across, y + s * along + c * across


def as_written(frame: PlacedFrame) -> Frame:
    """The frame by its position in its body."""
    return Frame(frame.body, place=(frame.x, frame.y, frame.angle))


def measure_as_written(measure: Measure) -> Measure:
    """The measure between frames given by their positions."""
    terms = [replace(t, a=as_written(t.a), b=as_written(t.b)) for t in measure.terms]  # type: ignore[arg-type]
    return Measure(tuple(terms))
