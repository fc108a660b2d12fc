"""Fields, types, names, parameters and locks of what is there."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from ...errors import ModelError, unknown
from ...io.yaml_reader import read_yaml
from ...model.elements import Element, Joint, Pair
from ...model.frame import GROUND
from ...model.names import check_name
from .draft import number_in, with_number
from .locks import KINDS, locks_in, set_locks
from .sheet import Sheet

TOP = {"model": "", "": ""}


def set_field(sheet: Sheet, element: Any, field: Any, text: Any = "", **_: Any) -> str:
    """Write a field of a body, joint, force, the ground, the analysis or the model; an empty text removes it."""
    record, name = _record(sheet, str(element))
    *way, last = str(field).split(".")
    for key in way:
        if not isinstance(record.get(key), dict):
            raise ModelError(f"'{name}' has no field '{key}'.")
        record = record[key]
    if str(text).strip() == "":
        record.pop(last, None)
    else:
        record[last] = value_of(str(text), last)
    return name


def _record(sheet: Sheet, name: str) -> tuple[dict[str, Any], str]:
    if name in ("model", ""):
        return sheet.data, name
    if name in (GROUND, "analysis", "look", "units", "parameters", "formulas", "tables"):
        return sheet.section(name), name
    section = sheet.section(sheet.home(name))
    if not isinstance(section[name], dict):
        section[name] = {}
    return section[name], name


def value_of(text: str, field: str = "value") -> Any:
    """What a text means as the value of a field."""
    document = read_yaml(f"value: {text}\n", f"the field '{field}'")
    if document.collected or set(document.data) != {"value"}:
        raise ModelError(f"'{text}' cannot be the value of '{field}'. Write one value on one line.")
    return document.data["value"]


def set_joint_type(sheet: Sheet, joint: Any, type: Any, **options: Any) -> str:
    """Another kind of joint between the same two points."""
    name = (
        str(joint) if str(joint) in sheet.section_or_empty("joints") else (sheet.pin(joint).joints or [""])[0]
    )
    record = sheet.section("joints").get(name)
    cls = Element.registry.loaded().get(str(type))
    if record is None:
        raise ModelError(f"There is no joint '{joint}'.")
    if cls is None or not issubclass(cls, Pair):
        pairs = [n for n, c in Element.registry.loaded().items() if issubclass(c, Pair)]
        raise ModelError(f"'{type}' is not a joint between two points. {unknown('joint', str(type), pairs)}")
    if not ("a" in record and "b" in record):
        raise ModelError(
            f"'{name}' is a {record.get('type')} and has no two sides; delete it and draw another joint."
        )
    known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
    kept = {key: value for key, value in record.items() if key in known}
    if str(type) in ("Translational", "PinSlot"):
        kept.setdefault("direction", [1, 0])
    else:
        kept.pop("direction", None)
    given = {key: value for key, value in options.items() if key in known and value is not None}
    section = sheet.section("joints")
    section[name] = {"type": str(type)} | kept | given
    return name


def set_parameter(sheet: Sheet, name: Any, value: Any, **_: Any) -> str:
    """A parameter with another value, or a new one; a number keeps the unit of the text."""
    check_name(str(name), "a parameter")
    parameters = sheet.section("parameters")
    plain = number_in(value)
    if plain is None:
        parameters[name] = value_of(str(value), str(name))
    else:
        number, unit = plain
        parameters[name] = value if unit else with_number(parameters.get(name), number)
    return str(name)


# Locks and pictures -----------------------------------------------------------------------------------


def lock(sheet: Sheet, kind: Any, of: Any, **_: Any) -> str:
    """Keep a length, an angle or a point when others are dragged."""
    if kind not in KINDS:
        raise ModelError(f"A lock keeps a length, an angle or a point, not {kind!r}.")
    name = sheet.pin(of).id if kind == "point" else sheet.body(of)
    if kind == "length" and (sheet.section_or_empty("bodies").get(name) or {}).get("shape") != "bar":
        raise ModelError(f"'{name}' is not a bar. Lock its points.")
    entries = [{each["kind"]: each["of"]} for each in locks_in(sheet.data)]
    if {kind: name} not in entries:
        sheet.section("look")
        set_locks(sheet.data, [*entries, {str(kind): name}])
    return name


def unlock(sheet: Sheet, kind: Any = None, of: Any = None, **_: Any) -> str:
    """Remove a lock; without a kind all of a thing, without anything all."""
    names = {str(of)}
    if kind in ("point", None) and of is not None and _is_pin(sheet, of):
        there = sheet.pin(of)
        names |= {there.id, *there.refs, *there.joints}
    left = [
        {each["kind"]: each["of"]}
        for each in locks_in(sheet.data)
        if (kind is not None and each["kind"] != kind) or (of is not None and each["of"] not in names)
    ]
    if "look" in sheet.data:
        set_locks(sheet.data, left)
    return str(of or "")


def _is_pin(sheet: Sheet, name: Any) -> bool:
    return any(name in (pin.id, *pin.refs, *pin.joints) for pin in sheet.pins)


def set_picture(sheet: Sheet, picture: Any = None, **_: Any) -> str:
    """The picture behind the drawing: {file, at: [x, y], width, angle, opacity}; none removes it."""
    look = sheet.section("look")
    if picture is None:
        look.pop("picture", None)
        if not look:
            del sheet.data["look"]
    elif not isinstance(picture, dict):
        raise ModelError("A picture is a mapping with file, at, width.")
    else:
        look["picture"] = picture
    return ""


def scale_picture(sheet: Sheet, points: Any, length: Any, **_: Any) -> str:
    """Scale the picture about the first of two places so that they are a length apart."""
    picture = sheet.section("look").get("picture")
    if not isinstance(picture, dict) or not isinstance(picture.get("width"), int | float):
        raise ModelError("There is no picture to scale.")
    (x0, y0), (x1, y1) = (sheet.place(point) for point in points)
    apart = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    if apart == 0.0 or float(length) <= 0.0:
        raise ModelError("Mark two different places, and give the positive length between them.")
    factor = float(length) / apart
    px, py = picture.get("at", [0.0, 0.0])
    picture["width"] = float(f"{picture['width'] * factor:.6g}")
    picture["at"] = [float(f"{p + factor * (q - p):.6g}") for p, q in ((x0, px), (y0, py))]
    return ""


def set_analysis(sheet: Sheet, analysis: Any = None, **_: Any) -> str:
    """What the file runs: {kind, t_end, ...}; none removes it."""
    if analysis is None:
        sheet.data.pop("analysis", None)
    else:
        sheet.section("analysis")
        sheet.data["analysis"] = dict(analysis)
    return "analysis"


def is_driver(record: Any) -> bool:
    cls = Element.registry.loaded().get(str((record or {}).get("type")))
    return cls is not None and issubclass(cls, Joint) and cls.drives


WORD = re.compile(r"\w+")
