"""Deleting, with all that hangs on what is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import ModelError, listed
from ...model.elements import Element
from ...model.frame import GROUND, Frame
from .locks import without_lock
from .sheet import Sheet


def delete(sheet: Sheet, elements: Any, **_: Any) -> str:
    """Delete bodies, joints, forces, parameters, or points such as `ground.A`; what hangs on them goes, too."""
    names = [str(name) for name in (elements if isinstance(elements, list) else [elements])]
    gone: list[str] = []
    for name in names:
        gone += _deleted(sheet, name)
    also = [name for name in dict.fromkeys(gone) if name not in names]
    if also:
        sheet.notes.append(f"Deleted with {listed(names)}: {listed(also)}.")
    _forget(sheet, {*names, *gone})
    return ""


def _deleted(sheet: Sheet, name: str) -> list[str]:
    if name == GROUND:
        raise ModelError("The ground cannot be deleted. Delete its points.")
    if name in sheet.section_or_empty("bodies"):
        hanging = _hanging(sheet, lambda frame: frame.body == name)
        return [*_dropped(sheet, "bodies", [name]), *hanging]
    for section in ("joints", "forces"):
        if name in sheet.section_or_empty(section):
            return _dropped(sheet, section, [name])
    if name in sheet.section_or_empty("parameters"):
        return _dropped(sheet, "parameters", [name])
    return _deleted_point(sheet, name)


def _deleted_point(sheet: Sheet, name: str) -> list[str]:
    if _is_gone(sheet, name):
        return []
    ref = name if "." in name else next(iter(sheet.pin(name).refs), "")
    body, _, point = ref.partition(".")
    record = (
        sheet.section_or_empty(GROUND) if body == GROUND else sheet.section_or_empty("bodies").get(body) or {}
    )
    for key in ("points", "through", "corners"):
        places = record.get(key)
        if isinstance(places, dict) and point in places:
            if key != "points" and len(places) <= (2 if key == "through" else 3):
                raise ModelError(f"'{body}' needs its last points. Delete the body.")
            del places[point]
            if not places:
                del record[key]
            return [ref, *_hanging(sheet, lambda frame: (frame.body, frame.point) == (body, point))]
    raise ModelError(f"'{name}' cannot be deleted on its own. Delete the body, or the joint there.")


def _is_gone(sheet: Sheet, name: str) -> bool:
    """What was deleted with something else of the same list."""
    assert sheet.draft.model is not None
    model = sheet.draft.model
    body = name.partition(".")[0]
    known = {*model.bodies, *model.elements}
    return name in known or (body in known and body not in sheet.section_or_empty("bodies"))


def _hanging(sheet: Sheet, is_hit: Any) -> list[str]:
    """Delete the joints and forces that refer to what is deleted."""
    assert sheet.draft.model is not None
    hit = [name for name, element in sheet.draft.model.elements.items() if any(map(is_hit, _frames(element)))]
    return [n for section in ("joints", "forces") for n in _dropped(sheet, section, hit)]


def _frames(element: Element) -> Iterator[Frame]:
    return element.frames()


def _dropped(sheet: Sheet, section: str, names: list[str]) -> list[str]:
    """Take entries out of a section; an empty one goes, too."""
    there = [name for name in names if name in sheet.section_or_empty(section)]
    for name in there:
        del sheet.data[section][name]
    if section in sheet.data and not sheet.data[section]:
        del sheet.data[section]
    return there


def _forget(sheet: Sheet, names: set[str]) -> None:
    """Traces, locks and actuators of what is gone."""
    without_lock(sheet.data, names)
    look, analysis = sheet.data.get("look"), sheet.data.get("analysis")
    if isinstance(look, dict) and isinstance(look.get("trace"), list):
        kept = [point for point in look["trace"] if not ({str(point), str(point).partition(".")[0]} & names)]
        look["trace"] = kept
        if not kept:
            del look["trace"]
        if not look:
            del sheet.data["look"]
    if isinstance(analysis, dict) and isinstance(analysis.get("actuators"), list):
        analysis["actuators"] = [name for name in analysis["actuators"] if name not in names]
        if not analysis["actuators"]:
            del analysis["actuators"]
