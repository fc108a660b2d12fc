"""Copies and mirror images of bodies, with the joints and forces between them and with the ground.

A place r goes to c + R (r - c) + d, where R is the identity or a reflection. A reflection turns every body around: its
angle phi becomes -phi, or pi - phi, and in its own axes (x, y) becomes (x, -y).
"""

from __future__ import annotations

import copy as copying
import re
from dataclasses import dataclass
from math import floor, log10, pi
from typing import Any

from ...errors import ModelError, listed
from ...model.elements import Element, Joint
from ...model.frame import GROUND, Frame, as_frame
from .sheet import Place, Sheet, tidy

SHAPED = ("bar", "link", "plate")
"""Bodies whose points are given globally."""
SHIFT = 0.25  # of the size of the drawing


@dataclass
class Image:
    """Where a place goes: `signs` reflect about `center`, `shift` moves."""

    signs: tuple[int, int] = (1, 1)
    center: Place = (0.0, 0.0)
    shift: Place = (0.0, 0.0)

    @property
    def reflects(self) -> bool:
        return self.signs[0] * self.signs[1] < 0

    def place(self, place: Place) -> Place:
        x, y = (
            c + s * (p - c) + d for p, s, c, d in zip(place, self.signs, self.center, self.shift, strict=True)
        )
        return x, y

    def angle(self, phi: float) -> float:
        if not self.reflects:
            return phi
        return -phi if self.signs[1] < 0 else pi - phi


def copy(sheet: Sheet, elements: Any, by: Any = None, **_: Any) -> str:
    """Draw bodies once more, a part of the drawing's size to the right, or moved `by` a vector."""
    step = SHIFT * (sheet.size or 1.0)
    step = round(step, -floor(log10(step)))
    x, y = (step, 0.0) if by is None else sheet.place(by)
    return _copied(sheet, elements, Image(shift=(x, y)))


def mirror(sheet: Sheet, elements: Any, axis: Any = "y", at: Any = None, **_: Any) -> str:
    """The mirror image of bodies about a vertical axis ("y") or a horizontal one ("x"), by default at their edge."""
    if axis not in ("x", "y"):
        raise ModelError(f"The axis of a mirror is x or y, not {axis!r}.")
    bodies = set(_bodies(sheet, elements))
    places = [(pin.x, pin.y) for pin in sheet.pins if bodies & set(pin.bodies)] or [(0.0, 0.0)]
    edge = (max(x for x, _ in places), min(y for _, y in places))
    center = edge if at is None else sheet.place(at)
    return _copied(sheet, elements, Image((-1, 1) if axis == "y" else (1, -1), center))


def _bodies(sheet: Sheet, elements: Any) -> list[str]:
    names = [str(name) for name in (elements if isinstance(elements, list) else [elements])]
    known = [name for name in dict.fromkeys(names) if name in sheet.section_or_empty("bodies")]
    if not known:
        raise ModelError("Select the links to copy.")
    return known


def _copied(sheet: Sheet, elements: Any, image: Image) -> str:
    names: dict[str, str] = {}
    for name in _bodies(sheet, elements):
        names[name] = sheet.fresh(re.sub(r"\d+$", "", name))
        sheet.section("bodies")[names[name]] = _body(sheet, name, image)
    _copy_elements(sheet, names, image)
    return next(iter(names.values()))


# Bodies -----------------------------------------------------------------------------------------------


def _body(sheet: Sheet, name: str, image: Image) -> dict[str, Any]:
    record = copying.deepcopy(sheet.section("bodies")[name] or {})
    pose = sheet.resolved.bodies[name].pose
    if record.get("shape") in SHAPED:
        _move_points(sheet, name, record, image)
    else:
        record["at"] = sheet.numbers(image.place((pose[0], pose[1])))
        if record.get("angle") is not None or image.reflects:
            record["angle"] = float(f"{image.angle(pose[2]):.9g}") + 0.0
    if image.reflects and isinstance(record.get("points"), dict):
        record["points"] = {point: _flipped(place) for point, place in record["points"].items()}
    return record


def _move_points(sheet: Sheet, name: str, record: dict[str, Any], image: Image) -> None:
    """The ends of a bar, the points of a link, the corners of a plate."""
    for key in ("start", "end"):
        if key in record:
            record[key] = _there(sheet, Frame(name, key), image)
    for key in ("through", "corners"):
        if isinstance(record.get(key), dict):
            record[key] = {point: _there(sheet, Frame(name, point), image) for point in record[key]}
        elif isinstance(record.get(key), list):
            corners = sheet.resolved.shape_numbers(sheet.resolved.written.find_body(name))[key]
            record[key] = [sheet.numbers(image.place(place)) for place in corners.values()]


def _there(sheet: Sheet, frame: Frame, image: Image) -> list[Any]:
    placed = sheet.resolved.frame(frame)
    return sheet.numbers(image.place((placed.drawn_x, placed.drawn_y)))


def _flipped(place: Any) -> Any:
    """(x, -y), and -phi, in the axes of a body that was turned around."""
    x, *others = place
    return [x, *(f"-({v})" if isinstance(v, str) else -v + 0 for v in others)]


# Joints and forces ------------------------------------------------------------------------------------


def _copy_elements(sheet: Sheet, names: dict[str, str], image: Image) -> None:
    assert sheet.draft.model is not None
    left_out = []
    for name, element in sheet.draft.model.elements.items():
        bodies = {frame.body for frame in element.frames()}
        if not bodies & set(names) or not bodies <= {GROUND, *names}:
            continue
        if isinstance(element, Joint) and element.drives:
            left_out.append(name)
            continue
        section = sheet.section(element.section)
        fresh = sheet.letter() if re.fullmatch(r"[A-Z]\d*", name) else sheet.fresh(re.sub(r"\d+$", "", name))
        section[fresh] = _record(sheet, element, copying.deepcopy(section[name]), names, image)
    if left_out:
        sheet.notes.append(f"Not copied: {listed(left_out)}. Give the copy a motor of its own.")


def _record(
    sheet: Sheet, element: Element, record: dict[str, Any], names: dict[str, str], image: Image
) -> dict[str, Any]:
    """A joint or force that refers to the copies."""
    texts = {frame.text: _frame(sheet, frame, names, image).text for frame in element.frames()}
    for key, value in record.items():
        if isinstance(value, str):
            record[key] = _referring(value, texts)
        elif key == "at":
            record[key] = sheet.numbers(image.place(sheet.place(value)))
        elif key == "direction" and isinstance(value, list):
            record[key] = [tidy(s * part) for s, part in zip(image.signs, value, strict=False)]
    if image.reflects:
        for key, sign in (("fx", image.signs[0]), ("fy", image.signs[1]), ("torque", -1), ("value", -1)):
            if isinstance(record.get(key), int | float):
                record[key] = sign * record[key]
    return record


def _referring(text: str, texts: dict[str, str]) -> str:
    """A reference, or a measure with references in it, with others in their place."""
    try:
        if as_frame(text).text in texts:
            return texts[as_frame(text).text]
    except ModelError:
        pass
    found = "|".join(re.escape(old) for old in sorted(texts, key=len, reverse=True))
    return re.sub(rf"(?<![\w.])({found})(?![\w.])", lambda match: texts[match[0]], text)


def _frame(sheet: Sheet, frame: Frame, names: dict[str, str], image: Image) -> Frame:
    if frame.body != GROUND:
        place = frame.place
        if place is not None and image.reflects:
            place = tuple(_flipped(place))  # type: ignore[assignment]
        return Frame(names[frame.body], frame.point, place)
    if frame.is_whole_body:
        return frame
    placed = sheet.resolved.frame(frame)
    moved = sheet.numbers(image.place((placed.drawn_x, placed.drawn_y)))
    points = sheet.section(GROUND).setdefault("points", {})
    known = [name for name, place in points.items() if place == moved]
    return as_frame(f"{GROUND}.{known[0]}" if known else sheet.ground_point(moved, ""))
