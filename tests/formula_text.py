"""Joints written again as formulas of x, y and phi of the bodies, as a textbook writes them."""

from __future__ import annotations

import simengine2d as se
from simengine2d.expressions.function import Function
from simengine2d.expressions.syntax import to_text
from simengine2d.model.frame import GROUND, PlacedFrame, quoted
from simengine2d.model.measure import Term


def as_custom(model: se.Model, name: str) -> se.Model:
    """The model with one of its joints replaced by a Constraint of the same name and the same rows."""
    other = model.copy()
    rows = model.check().rows[name]
    texts = [" + ".join(f"({t.weight!r})*({term_text(t)})" for t in row.measure.terms) for row in rows]
    texts = [f"{text} - ({value_text(row.value)})" for text, row in zip(texts, rows, strict=True)]
    order = list(other.elements)
    other.elements[name] = se.Constraint(name, texts)
    other.elements = {key: other.elements[key] for key in order}
    return other


def value_text(value: float | Function) -> str:
    if isinstance(value, Function):
        return to_text(value.tree) if value.tree is not None else repr(value.constant)
    return repr(value)


def point(frame: PlacedFrame) -> tuple[str, str, str]:
    """x, y and the angle of a frame."""
    if frame.body == GROUND:
        return repr(frame.x), repr(frame.y), repr(frame.angle)
    x, y, phi = (quoted(f"{frame.body}.{c}") for c in ("x", "y", "phi"))
    return (
        f"({x} + {frame.x!r}*cos({phi}) - {frame.y!r}*sin({phi}))",
        f"({y} + {frame.x!r}*sin({phi}) + {frame.y!r}*cos({phi}))",
        f"({phi} + {frame.angle!r})",
    )


def term_text(term: Term) -> str:
    """A measure by the coordinates of its two bodies."""
    (xa, ya, pa), (xb, yb, pb) = point(term.a), point(term.b)
    dx, dy = f"({xb} - {xa})", f"({yb} - {ya})"
    along, across = f"({dx}*cos({pa}) + {dy}*sin({pa}))", f"({dy}*cos({pa}) - {dx}*sin({pa}))"
    return {
        "x": dx,
        "y": dy,
        "angle": f"{pb} - {pa}",
        "along": along,
        "across": across,
        "misalignment": f"sin({pb} - {pa})",
        "distance": f"hypot({dx}, {dy})",
        "half_distance2": f"({dx}^2 + {dy}^2)/2",
        "direction": f"atan2({dy}, {dx}) - {pa}",  # which does not jump when body a turns
    }[term.kind]
