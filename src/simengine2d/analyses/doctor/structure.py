"""Elements one by one: those that repeat others, do nothing, or do not fit where they were drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import hypot
from typing import Any

from ...errors import listed
from ...expressions.function import Function
from ...model.attachment import center_gaps, extent
from ...model.elements import Element, ForceElement
from ...model.forces.point_force import PointForce
from ...model.forces.spring import Spring
from ...model.forces.torque import Torque
from ...model.frame import GROUND
from ...model.joints.belt import Belt
from ...model.joints.gear import Gear
from ...model.resolved import ResolvedModel
from .finding import ERROR, NOTE, WARNING, Finding

FITS = 1e-3  # by how much pitch circles may miss each other, relative to the distance between their centers


def remarks(resolved: ResolvedModel) -> Iterator[Finding]:
    yield from _without_bodies(resolved)
    yield from _gears(resolved)
    yield from _belts(resolved)
    yield from _springs(resolved)
    yield from _mass_centers(resolved)
    yield from _repeated(resolved)
    yield from _idle(resolved)
    yield from _unconnected(resolved)
    yield from _unused_parameters(resolved)


def _without_bodies(resolved: ResolvedModel) -> Iterator[Finding]:
    if len(resolved.bodies) == 1:
        text = f"model '{resolved.model.name}' has no bodies."
        remedy = "Add one with model.body(...)."
        yield Finding(ERROR, "empty", (), text, remedy)


# Things that do not fit -------------------------------------------------------------------------------


def _gears(resolved: ResolvedModel) -> Iterator[Finding]:
    for name, gear in _of_type(resolved, Gear):
        if not gear.radii:
            continue
        a, b = gear.pitch_radii()
        needed = b - a if gear.internal else a + b
        centers = hypot(gear.a.drawn_x - gear.b.drawn_x, gear.a.drawn_y - gear.b.drawn_y)
        if abs(centers - needed) > FITS * centers:
            word = "difference" if gear.internal else "sum"
            text = (
                f"{gear.title}: the centers are {centers:.5g} m apart as drawn, but the {word} of the radii {a:g} and "
                f"{b:g} m is {needed:.5g} m, so the pitch circles do not touch."
            )
            remedy = "Move a center or change a radius; teeth=[...] instead of radii fit any distance."
            yield Finding(WARNING, "gear", (name,), text, remedy, {"centers": centers, "radii": needed})


def _belts(resolved: ResolvedModel) -> Iterator[Finding]:
    for name, belt in _of_type(resolved, Belt):
        a, b = belt.radii
        centers = hypot(belt.a.drawn_x - belt.b.drawn_x, belt.a.drawn_y - belt.b.drawn_y)
        if centers < a + b:
            text = (
                f"{belt.title}: its pulleys of the radii {a:g} and {b:g} m overlap, since the centers are only "
                f"{centers:.5g} m apart as drawn."
            )
            remedy = "Move a center or change a radius."
            yield Finding(WARNING, "belt", (name,), text, remedy, {"centers": centers, "radii": a + b})


def _springs(resolved: ResolvedModel) -> Iterator[Finding]:
    size = extent(resolved)
    for name, spring in _of_type(resolved, Spring):
        kinds = [term.kind for term in spring.measure.terms]
        if kinds == ["distance"] and abs(spring.measure.drawn) < 1e-9 * size:
            text = f"{spring.title} acts between two points that coincide as drawn, so it has no direction."
            remedy = "Attach it elsewhere, or let it act on x(a, b), y(a, b) or angle(a, b)."
            yield Finding(WARNING, "no length", (name,), text, remedy)


def _mass_centers(resolved: ResolvedModel) -> Iterator[Finding]:
    for joint, text, remedy, gap in center_gaps(resolved):
        yield Finding(WARNING, "center", (joint,), text, remedy, {"gap": gap})


# Things that do nothing -------------------------------------------------------------------------------


def _repeated(resolved: ResolvedModel) -> Iterator[Finding]:
    """Joints of one type between the same frames."""
    seen: dict[Any, str] = {}
    for name in resolved.rows:
        joint = resolved.elements[name]
        key = (type(joint).__name__, tuple(_value(joint, field) for field in joint.kinds()))
        if key in seen:
            text = f"{joint.title} repeats '{seen[key]}': the same joint at the same place."
            remedy = "Remove one of them; reactions of both together are not unique."
            yield Finding(WARNING, "repeated", (name, seen[key]), text, remedy)
        else:
            seen[key] = name


def _value(joint: Element, field: str) -> Any:
    """A field for comparison; frames by their positions in their bodies."""
    given = getattr(joint, field)
    if isinstance(given, Function):
        return given.constant if given.is_constant else given.text
    placed = tuple(given[:4]) if hasattr(given, "drawn_x") else given
    return placed if _is_plain(placed) else str(placed)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | float | int | tuple)


def _idle(resolved: ResolvedModel) -> Iterator[Finding]:
    """Forces that are always zero."""
    for name, element in resolved.elements.items():
        zero = _what_is_zero(element)
        if zero:
            text = f"{element.title} exerts no force: {zero}."
            yield Finding(WARNING, "idle", (name,), text, "Give it a value, or remove it.")


def _what_is_zero(element: Element) -> str:
    """Of a force that is always zero, in words; else nothing."""
    match element:
        case Spring(law=None, stiffness=0.0, damping=0.0) if _vanishes(element.actuator):
            return "stiffness, damping, actuator and law are not given or zero"
        case PointForce(law=None) if _vanishes(element.fx) and _vanishes(element.fy):
            return "fx and fy are zero"
        case Torque(law=None) if _vanishes(element.value):
            return "its value is zero"
    return ""


def _vanishes(given: Any) -> bool:
    if isinstance(given, Function):
        return given.is_zero
    return given is None or given == 0.0


def _unconnected(resolved: ResolvedModel) -> Iterator[Finding]:
    """Bodies that nothing holds or pushes, and groups that are not connected to the ground."""
    held: set[str] = set()
    pushed: set[str] = set()
    for element in resolved.model.elements.values():
        bodies = {frame.body for frame in element.frames()}
        (pushed if isinstance(element, ForceElement) else held).update(bodies)
    # bodies without joints
    for name in resolved.bodies:
        if name == GROUND or name in held:
            continue
        what = "no joint holds it" if name in pushed else "neither a joint nor a force acts on it"
        text = f"body '{name}' flies freely: {what}."
        remedy = "" if name in pushed else "Connect it, or remove it."
        yield Finding(NOTE if name in pushed else WARNING, "unconnected", (name,), text, remedy)
    # groups without a connection to the ground
    grounded = _reached(resolved, GROUND)
    adrift = [name for name in resolved.bodies if name in held and name not in grounded and name != GROUND]
    if adrift:
        text = f"{listed(adrift)} {'is' if len(adrift) == 1 else 'are'} not connected to the ground by any joint."
        yield Finding(NOTE, "adrift", tuple(adrift), text)


def _reached(resolved: ResolvedModel, start: str) -> set[str]:
    """Bodies connected to one by joints."""
    neighbors = [{f.body for f in resolved.model.elements[name].frames()} for name in resolved.rows]
    reached = {start}
    while True:
        more = set().union(reached, *(bodies for bodies in neighbors if bodies & reached))
        if more == reached:
            return reached
        reached = more


def _unused_parameters(resolved: ResolvedModel) -> Iterator[Finding]:
    model = resolved.model
    parts = (
        model.parameters,
        model.formulas,
        model.gravity,
        model.analysis,
        model.bodies,
        model.ground,
        model.elements,
    )
    words = set().union(*(re.findall(r"\w+", text) for text in _texts(list(parts))))
    unused = [name for name in model.parameters if name not in words]
    if unused:
        reads = "is not used by any expression" if len(unused) == 1 else "are not used by any expression"
        yield Finding(NOTE, "unused", tuple(unused), f"{listed(unused)} {reads} of the model.")


def _texts(thing: Any) -> Iterator[str]:
    """Every text inside bodies, elements and lists of them; names among them do no harm."""
    if isinstance(thing, str):
        yield thing
        return
    if isinstance(thing, dict):
        thing = list(thing.values())
    elif is_dataclass(thing):
        thing = [getattr(thing, field.name) for field in fields(thing)]
    for part in thing if isinstance(thing, list | tuple) else ():
        yield from _texts(part)


def _of_type(resolved: ResolvedModel, kind: type[Any]) -> Iterator[tuple[str, Any]]:
    return ((name, element) for name, element in resolved.elements.items() if isinstance(element, kind))
