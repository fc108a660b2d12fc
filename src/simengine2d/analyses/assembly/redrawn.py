"""A model with another initial pose: the same mechanism, so that an analysis can continue from there."""

from __future__ import annotations

from dataclasses import replace
from math import atan2, cos, sin

from ...model.body import Body
from ...model.drawn import written_out
from ...model.elements import Joint, Pair
from ...model.frame import Frame, PlacedFrame
from ...model.measure import Measure
from ...model.model import Model
from ...model.resolved import ResolvedModel
from ...model.shape import Bar, LinkShape, Plate
from ...numerics.arrays import Floats


def with_initial_pose(model: Model, q: Floats, qd: Floats | None = None) -> Model:
    """A copy whose bodies start at q, which must close the joints, and move with qd (or as before).

    Every frame stays fixed in its body. What joints hold as drawn, such as the length of a link, is the same in every
    pose that closes them.
    """
    model = model.in_si()
    resolved, other = model.check(), model.copy()
    for i, body in enumerate(other.bodies.values()):
        _move(body, resolved, *map(float, q[3 * i : 3 * i + 3]))
        if qd is not None:
            xd, yd, body.angular_velocity = map(float, qd[3 * i : 3 * i + 3])
            body.velocity = (xd, yd)
    for name, element in model.elements.items():
        if isinstance(element, Joint) and (values := written_out(element, resolved)):
            other.elements[name] = replace(element, **values)  # type: ignore[arg-type]
        if isinstance(element, Pair):
            pair = resolved.elements[name]
            assert isinstance(pair, Pair)
            sides = {"a": as_written(pair.a), "b": as_written(pair.b)}
            other.elements[name] = replace(element, **sides, at=None, direction=None)  # type: ignore[arg-type]
    return other


def _move(body: Body, resolved: ResolvedModel, x: float, y: float, phi: float) -> None:
    """Bars and links keep their points, unless they have turned further than two points can show."""
    drawn = resolved.bodies[body.name]
    if isinstance(body.shape, Bar | LinkShape):
        names = body.shape.point_names
        places = {name: _place(x, y, phi, *drawn.points[name]) for name in names}
        start, end = places[names[0]], places[names[1]]
        if abs(atan2(end[1] - start[1], end[0] - start[0]) - phi) < 1e-9:
            body.shape = Bar(start, end) if isinstance(body.shape, Bar) else LinkShape(places)
            return
    if isinstance(body.shape, Plate):
        outline = body.shape.outline(**resolved.shape_numbers(body)).tolist()
        body.look = {"outline": outline} | body.look
    if isinstance(body.shape, Bar | LinkShape | Plate):
        body.shape, body.density = None, None
        body.mass, body.inertia, body.points = drawn.mass, drawn.inertia, dict(drawn.points)
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
