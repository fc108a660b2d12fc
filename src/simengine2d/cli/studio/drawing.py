"""What can be grabbed in a drawing: points, bodies and elements as plain data, in SI units, as drawn."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, hypot, pi, sin
from typing import Any

import numpy as np

from ...io.text_writer import flow
from ...model.elements import Element, ForceElement, Joint, Pair
from ...model.frame import GROUND, Frame, PlacedFrame, to_global
from ...model.polygon import hull
from ...model.resolved import ResolvedModel
from ...model.shape import Bar, Block, Disk, LinkShape, Plate
from .draft import TextDraft
from .locks import locks_in
from .pins import DrawnPin, pins_of

ROUND = 32  # corners of a disk
Places = list[list[float]]


def drawing_of(draft: TextDraft, pins: list[DrawnPin] | None = None) -> dict[str, Any]:
    """Points, bodies, elements and locks of a model."""
    resolved = draft.resolved
    pins = pins_of(resolved) if pins is None else pins
    locks = locks_in(draft.data)
    locked = {lock["of"] for lock in locks if lock["kind"] == "point"}
    return {
        "points": [_point(pin, resolved, locked) for pin in pins],
        "bodies": [_body(name, draft, pins) for name in resolved.bodies],
        "elements": [_element(name, draft) for name in resolved.elements],
        "locks": locks,
        "picture": draft.section("look").get("picture"),
    }


def _point(pin: DrawnPin, resolved: ResolvedModel, locked: set[str]) -> dict[str, Any]:
    joint = pin.joints[0] if pin.joints else None
    return {
        "id": pin.id,
        "x": pin.x,
        "y": pin.y,
        "refs": pin.refs,
        "joint": joint,
        "joints": pin.joints,
        "bodies": pin.bodies,
        "kind": type(resolved.elements[joint]).__name__ if joint else None,
        "ground": pin.grounded,
        "locked": bool(locked & {pin.id, *pin.refs, *pin.joints}),
    }


# Bodies -----------------------------------------------------------------------------------------------


def _body(name: str, draft: TextDraft, pins: list[DrawnPin]) -> dict[str, Any]:
    body, written = draft.resolved.bodies[name], draft.resolved.written.find_body(name)
    path = ("ground",) if name == GROUND else ("bodies", name)
    ends = [
        to_global(body.pose, *body.points[point])[:2] for point in ("start", "end") if point in body.points
    ]
    data: dict[str, Any] = {
        "name": name,
        "points": [pin.id for pin in pins if name in pin.bodies],
        "outline": outline_of(name, draft.resolved),
        "ground": name == GROUND,
        "shape": None if written.shape is None else written.shape.word,
        "mass": body.mass,
        "inertia": body.inertia,
        "pose": list(body.pose),
        "line": draft.document.line(path),
        "editable": editable(draft.section(GROUND) if name == GROUND else draft.section("bodies").get(name)),
    }
    if isinstance(written.shape, Bar):
        (x0, y0), (x1, y1) = ends
        data |= {"length": hypot(x1 - x0, y1 - y0), "angle": atan2(y1 - y0, x1 - x0)}
    return data


def editable(record: Any) -> dict[str, str]:
    """The fields of a record as they are written, for a form."""
    return {key: flow(value) for key, value in record.items()} if isinstance(record, dict) else {}


def outline_of(name: str, resolved: ResolvedModel) -> Places:
    """Corners of a body as drawn; two of a bar, one of a point mass."""
    body, written = resolved.bodies[name], resolved.written.find_body(name)
    if name == GROUND:
        return []
    numbers = {} if written.shape is None else resolved.shape_numbers(written)
    match written.shape:
        case Bar():
            return [list(numbers["start"]), list(numbers["end"])]
        case LinkShape():
            return _hull(list(numbers["through"].values()))
        case Plate():
            return [list(corner) for corner in numbers["corners"].values()]
        case Block():
            corners = written.shape.outline(**numbers)
        case Disk():
            turns = np.linspace(0.0, 2.0 * pi, ROUND, endpoint=False)
            corners = numbers["radius"] * np.column_stack([np.cos(turns), np.sin(turns)])
        case _:
            corners = np.array([(0.0, 0.0), *((x, y) for x, y, _ in body.points.values())])
    places = [list(to_global(body.pose, float(x), float(y), 0.0)[:2]) for x, y in corners]
    return places if isinstance(written.shape, Block | Disk) else _hull(places)


def _hull(places: Any) -> Places:
    points = np.array(places, dtype=float)
    size = float(np.ptp(points, axis=0).max())
    return hull(points, 1e-9 * size).tolist() if size else points[:1].tolist()


# Elements ---------------------------------------------------------------------------------------------


def _element(name: str, draft: TextDraft) -> dict[str, Any]:
    resolved = draft.resolved
    element = resolved.elements[name]
    written = (resolved.written.written or resolved.written).elements[name]
    places = list(_places(element, resolved))
    record = draft.section(element.section).get(name)
    return {
        "name": name,
        "type": type(element).__name__,
        "kind": kind_of(element),
        "refs": list(dict.fromkeys(frame.text for frame in written.frames())),
        "bodies": list(dict.fromkeys(frame.body for frame in written.frames())),
        "at": np.mean(places, axis=0).tolist() if places else [0.0, 0.0],
        "places": places,
        "line": draft.document.line((element.section, name)),
        "editable": editable(record),
    } | _direction(element)


def kind_of(element: Element) -> str:
    """`joint`, `driver` or `force`."""
    if isinstance(element, ForceElement):
        return "force"
    return "driver" if isinstance(element, Joint) and element.drives else "joint"


def _places(element: Element, resolved: ResolvedModel) -> Iterator[list[float]]:
    """Where an element is attached, as drawn."""
    written = resolved.written.elements[element.name]
    frames: list[PlacedFrame | Frame] = (
        [element.a, element.b] if isinstance(element, Pair) else list(written.frames())
    )
    for frame in frames:
        placed = frame if isinstance(frame, PlacedFrame) else resolved.frame(frame)
        yield [placed.drawn_x, placed.drawn_y]


def _direction(element: Element) -> dict[str, Any]:
    """Along what a guide or a slot leads."""
    if isinstance(element, Pair) and isinstance(element.a, PlacedFrame):
        angle = element.a.drawn_angle
        return {"direction": [cos(angle), sin(angle)]}
    return {}
