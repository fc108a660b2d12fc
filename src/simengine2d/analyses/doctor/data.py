"""Numbers that look like mistakes: degrees for radians, millimeters for meters, an impossible inertia."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, pi
from numbers import Real
from typing import Any

import numpy as np

from ...model.elements import Element
from ...model.frame import GROUND
from ...model.resolved import ResolvedModel
from ...model.resolved_body import ResolvedBody
from .finding import NOTE, WARNING, Finding

TURNS = 2.0 * pi  # an angle beyond one turn is rarely meant
MILLI = (300.0, 3000.0)  # how much larger something in millimeters is than its neighbors in meters
LIGHT = 0.02  # kg per meter: less than a steel wire of 2 mm
LONG = 20.0  # m
UNITS = "Numbers without units are in SI units, or in those of the model, such as units: {length: mm}."
GYRATION = (1e-2, 3.0)  # radius of gyration relative to the size of a body


def suspicions(resolved: ResolvedModel) -> Iterator[Finding]:
    yield from _angles(resolved)
    yield from _lengths(resolved)
    yield from _thin(resolved)
    yield from _inertias(resolved)
    yield from _gravity(resolved)


# Degrees ----------------------------------------------------------------------------------------------


def looks_like_degrees(given: Any) -> bool:
    """A bare whole number beyond one turn; in an expression, units are probably deliberate."""
    bare = isinstance(given, Real) and not isinstance(given, bool)
    return bool(bare and abs(given) > TURNS and float(given) == round(float(given)))


def _angles(resolved: ResolvedModel) -> Iterator[Finding]:
    model = resolved.model
    for body in model.bodies.values():
        for word, given in _angles_of(body):
            if looks_like_degrees(given):
                yield _degrees(f"body '{body.name}'", body.name, word, given)
    for name, element in model.elements.items():
        for word, given in _angles_in(element, resolved):
            if looks_like_degrees(given):
                yield _degrees(element.title, name, word, given)


def _angles_of(body: Any) -> Iterator[tuple[str, Any]]:
    yield "angle", body.angle
    for name, place in body.points.items():
        if len(place) == 3:
            yield f"the angle of point '{name}'", place[2]


def _angles_in(element: Element, resolved: ResolvedModel) -> Iterator[tuple[str, Any]]:
    direction = getattr(element, "direction", None)
    if not isinstance(direction, str):
        yield "direction", direction
    at = getattr(element, "at", None)
    if isinstance(at, tuple) and len(at) == 3:
        yield "the angle of at", at[2]
    if _measures_angles(resolved.elements.get(element.name)):
        for word in ("free", "value"):
            yield word, getattr(element, word, None)


def _measures_angles(element: Any) -> bool:
    measure = getattr(element, "measure", None)
    if measure is None:
        return type(element).__name__ == "AbsoluteAngle"
    return all(term.kind == "angle" for term in measure.terms)


def _degrees(title: str, name: str, word: str, given: float) -> Finding:
    text = f"{title}: {word} = {given:g} is taken as radians, which is {given / TURNS:.1f} turns."
    remedy = f"If degrees were meant, write '{given:g} deg', or units: {{angle: deg}} for the whole model."
    return Finding(WARNING, "degrees", (name,), text, remedy, {"radians": float(given)})


# Lengths ----------------------------------------------------------------------------------------------


def size_of(body: ResolvedBody, resolved: ResolvedModel) -> float:
    """The largest distance between points of a body that are named or have something attached."""
    places = [(x, y) for x, y, _ in body.points.values()]
    for element in resolved.elements.values():
        for frame in _placed(element):
            if frame.body == body.name:
                places.append((frame.x, frame.y))
    places.append((0.0, 0.0))
    spread = np.ptp(np.array(places), axis=0)
    return float(hypot(*spread))


def _placed(element: Element) -> Iterator[Any]:
    for name, kind in element.kinds().items():
        given = getattr(element, name)
        if kind.name == "frame" and given is not None:
            yield given
        elif kind.name == "measure" and given is not None:
            for term in given.terms:
                yield from (term.a, term.b)


def _lengths(resolved: ResolvedModel) -> Iterator[Finding]:
    """A body a thousand times larger or smaller than the others."""
    sizes = {name: size_of(body, resolved) for name, body in resolved.bodies.items() if name != GROUND}
    sizes = {name: size for name, size in sizes.items() if size > 0.0}
    for name, size in sizes.items():
        others = [other for key, other in sizes.items() if key != name]
        if not others:
            continue
        usual = float(np.median(others))
        for ratio, word in ((size / usual, "larger"), (usual / size, "smaller")):
            if MILLI[0] < ratio < MILLI[1]:
                text = f"body '{name}' is {size:.4g} m large, {ratio:.0f} times {word} than the others ({usual:.4g} m)."
                remedy = f"Was one given in other units? {UNITS}"
                yield Finding(WARNING, "units", (name,), text, remedy, {"size": size, "others": usual})


def _thin(resolved: ResolvedModel) -> Iterator[Finding]:
    for name, body in resolved.bodies.items():
        size = size_of(body, resolved)
        if name != GROUND and size > LONG and 0.0 < body.mass < LIGHT * size:
            text = f"body '{name}' is {size:.4g} m long and weighs {body.mass:.4g} kg."
            remedy = f"Were they given in other units? {UNITS}"
            yield Finding(WARNING, "units", (name,), text, remedy, {"size": size, "mass": body.mass})


# Masses -----------------------------------------------------------------------------------------------


def _inertias(resolved: ResolvedModel) -> Iterator[Finding]:
    for name, body in resolved.bodies.items():
        size = size_of(body, resolved)
        if name == GROUND or resolved.model.bodies[name].inertia is None or size == 0.0:
            continue
        if body.mass == 0.0 or body.inertia == 0.0:
            continue
        radius = (body.inertia / body.mass) ** 0.5
        if GYRATION[0] * size <= radius <= GYRATION[1] * size:
            continue
        usual = body.mass * size**2 / 12.0
        what = "larger" if radius > size else "smaller"
        text = (
            f"body '{name}' has the inertia {body.inertia:.4g} kg m^2, much {what} than a body of {body.mass:.4g} kg "
            f"and {size:.4g} m can have: a bar of that size has {usual:.4g} kg m^2."
        )
        remedy = "Inertias are about the mass center, in kg m^2."
        values = {"inertia": body.inertia, "bar": usual, "radius of gyration": radius}
        yield Finding(WARNING, "inertia", (name,), text, remedy, values)


def _gravity(resolved: ResolvedModel) -> Iterator[Finding]:
    gx, gy = resolved.gravity
    size = hypot(gx, gy)
    for factor, unit in ((1000.0, "millimeters"), (100.0, "centimeters")):
        if 9.7 * factor < size < 9.9 * factor:
            text = f"gravity is {size:.5g} m/s^2, {factor:g} times that of the earth."
            remedy = f"Lengths are meters: was it given in {unit}?"
            yield Finding(WARNING, "units", ("gravity",), text, remedy, {"gravity": size})
    if gy > 0.0 and gx == 0.0:
        yield Finding(NOTE, "gravity", ("gravity",), f"gravity points up, ({gx:g}, {gy:g}) m/s^2.")
