"""The sheet on which one edit works: what the text says as plain data, and the points of its drawing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from itertools import count
from math import floor, hypot, isfinite, log10
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from ...errors import ModelError, unknown
from ...expressions.unit_system import LENGTH
from ...model.frame import GROUND, Frame, as_frame, quoted
from ...model.names import check_name
from ...model.resolved import ResolvedModel
from ...model.si_values import units_of
from .draft import TextDraft, read_draft
from .pins import DrawnPin, find_pin, pins_of

ORDER = (
    "simengine2d", "name", "units", "gravity", "parameters", "tables", "formulas", "ground", "bodies", "joints",
    "forces", "analysis", "look",
)  # fmt: skip
DIGITS = 4  # of a coordinate, relative to the size of the drawing

Place = tuple[float, float]


class Sheet:
    """`data` is changed by the edit; `draft` is what was there before."""

    def __init__(self, text: str, folder: str | Path = ".") -> None:
        self.draft: TextDraft = read_draft(text, folder)
        if self.draft.problems:
            raise ModelError(f"The text has to be mended first: {self.draft.problems[0]}")
        self.folder = folder
        self.data: dict[str, Any] = copy.deepcopy(self.draft.data)
        self.notes: list[str] = []

    @property
    def resolved(self) -> ResolvedModel:
        return self.draft.resolved

    @cached_property
    def pins(self) -> list[DrawnPin]:
        return pins_of(self.resolved)

    @cached_property
    def meter(self) -> float:
        """A meter in the units of the text."""
        assert self.draft.model is not None
        return 1.0 / units_of(self.draft.model).factor(LENGTH)

    @cached_property
    def size(self) -> float:
        """The size of the drawing, in meters."""
        xs, ys = [pin.x for pin in self.pins], [pin.y for pin in self.pins]
        return max(max(xs) - min(xs), max(ys) - min(ys)) if xs else 0.0

    # sections and names

    def section(self, name: str) -> dict[str, Any]:
        """A section, a new one in its usual place."""
        if not isinstance(self.data.get(name), dict):
            self.data[name] = {}
            known = [key for key in ORDER if key in self.data]
            ordered = {key: self.data[key] for key in (*known, *(k for k in self.data if k not in known))}
            self.data.clear()
            self.data.update(ordered)
        section: dict[str, Any] = self.data[name]
        return section

    @property
    def names(self) -> set[str]:
        """All names that are taken."""
        sections = (self.data.get(name) or {} for name in ("bodies", "joints", "forces"))
        return {GROUND, "t", *(name for section in sections for name in section)}

    def fresh(self, word: str) -> str:
        """`link1`, or the next number that is free."""
        return next(f"{word}{i}" for i in count(1) if f"{word}{i}" not in self.names)

    def free(self, word: str) -> str:
        """The word itself, or with a number."""
        return word if word not in self.names else self.fresh(word)

    def letter(self) -> str:
        """A name for a pin: A, B, C, ... then A2, B2, ..."""
        records = (self.section_or_empty(GROUND), *self.section_or_empty("bodies").values())
        points = (record.get(key) for record in records if record for key in ("points", "through"))
        taken = self.names | {name for named in points if isinstance(named, dict) for name in named}
        letters = (letter + (str(i) if i > 1 else "") for i in count(1) for letter in ascii_uppercase)
        return next(letter for letter in letters if letter not in taken)

    def section_or_empty(self, name: str) -> dict[str, Any]:
        found = self.data.get(name)
        return found if isinstance(found, dict) else {}

    def home(self, name: str) -> str:
        """The section in which a body, joint or force is."""
        for section in ("bodies", "joints", "forces"):
            if name in self.section_or_empty(section):
                return section
        known = [n for s in ("bodies", "joints", "forces") for n in self.section_or_empty(s)]
        raise ModelError(f"There is no '{name}' in the drawing. {unknown('name', name, known)}")

    def body(self, name: Any) -> str:
        """The name of a body that is there."""
        if name != GROUND and name not in self.section_or_empty("bodies"):
            bodies = list(self.section_or_empty("bodies"))
            raise ModelError(
                f"There is no body '{name}'. {unknown('body', str(name), bodies, plural='bodies')}"
            )
        return str(name)

    # places

    def pin(self, name: Any) -> DrawnPin:
        return find_pin(self.pins, str(name))

    def place(self, point: Any) -> Place:
        """Where a point is, in meters: coordinates, the id of a point, or {body, at} for a place on a body."""
        if isinstance(point, str):
            pin = self.pin(point)
            return pin.x, pin.y
        if isinstance(point, dict):
            return self.place_on(self.body(point.get("body")), finite_pair(point.get("at")))
        return finite_pair(point)

    def place_on(self, body: str, place: Place) -> Place:
        """The place on a body that is meant: that of a bar is on its line."""
        line = self.line_of(body)
        if line is None:
            return place
        (x0, y0), (dx, dy) = line
        u = ((place[0] - x0) * dx + (place[1] - y0) * dy) / (dx * dx + dy * dy)
        return x0 + u * dx, y0 + u * dy

    def line_of(self, body: str) -> tuple[Place, Place] | None:
        """A point and the direction of the line of a bar; None for other bodies."""
        if (self.section_or_empty("bodies").get(body) or {}).get("shape") != "bar":
            return None
        start, end = (self.resolved.frame(Frame(body, name)) for name in ("start", "end"))
        x, y = start.drawn_x, start.drawn_y
        return (x, y), (end.drawn_x - x, end.drawn_y - y)

    def crossing(self, bodies: list[str], place: Place) -> Place:
        """Where the lines of two bars meet; of other bodies the place itself."""
        lines = [self.line_of(body) for body in bodies]
        if len(lines) != 2 or lines[0] is None or lines[1] is None:
            return place
        ((x0, y0), (ux, uy)), ((x1, y1), (vx, vy)) = lines[0], lines[1]
        across = ux * vy - uy * vx
        if abs(across) < 1e-6 * hypot(ux, uy) * hypot(vx, vy):
            return place
        part = ((x1 - x0) * vy - (y1 - y0) * vx) / across
        return x0 + part * ux, y0 + part * uy

    def written(self, point: Any) -> list[Any]:
        """The coordinates of a point for the text: those of a point that is there as it writes them."""
        if isinstance(point, str):
            pin = self.pin(point)
            for ref in pin.refs:
                given = self.written_place(as_frame(ref))
                if given is not None:
                    return list(given)
        return self.numbers(self.place(point))

    def written_place(self, frame: Frame) -> list[Any] | None:
        """The global place of a named point as the text gives it; None where it follows from a body's pose."""
        if frame.body == GROUND:
            place = (self.section_or_empty(GROUND).get("points") or {}).get(frame.point)
            return None if place is None else place[:2]
        record = self.section_or_empty("bodies").get(frame.body) or {}
        if frame.point in ("start", "end") and record.get("shape") == "bar":
            return record[frame.point]
        named = record.get("through") or record.get("corners")
        return named.get(frame.point) if isinstance(named, dict) else None

    def numbers(self, place: Place) -> list[Any]:
        """A place in the units of the text, rounded to the fineness of the drawing."""
        size = max(self.size, 0.1, hypot(*place)) if not self.size else self.size
        return [tidy(self.rounded(part * self.meter, size * self.meter)) for part in place]

    @staticmethod
    def rounded(value: float, size: float, digits: int = DIGITS) -> float:
        return round(value, digits - 1 - floor(log10(size))) if size > 0.0 else value

    def ref(self, point: Any, name: str = "") -> str:
        """A reference to a point; coordinates become a point of the ground, a place on a body a point of that."""
        if isinstance(point, dict):
            return self.body_point(self.body(point.get("body")), self.place(point))
        if not isinstance(point, str):
            return self.ground_point(self.written(point), name)
        pin = self.pin(point)
        if pin.refs:
            return pin.refs[0]
        return self.place_in_body(pin.bodies[-1], (pin.x, pin.y))

    def place_in_body(self, body: str, place: Place) -> str:
        """`crank.at(0.5, 0)`"""
        if body == GROUND:
            return self.ground_point(self.numbers(place), "")
        frame = self.resolved.frame_at(body, *place, self.resolved.bodies[body].pose[2])
        x, y = self.numbers((frame.x, frame.y))
        return Frame(body, place=(x, y, 0.0)).text

    def body_point(self, body: str, place: Place) -> str:
        """A new named point of a body. Plates and links give their points globally, other bodies in their own axes."""
        if body == GROUND:
            return self.ground_point(self.numbers(place), "")
        record, name = self.section("bodies")[body], self.letter()
        through = record.get("through")
        if isinstance(through, dict):
            through[name] = self.numbers(place)
            return f"{quoted(body)}.{name}"
        frame = self.resolved.frame_at(body, *place, self.resolved.bodies[body].pose[2])
        # in axes of its own a place of the grid has many digits; fewer would tear a pin of two bodies apart
        own = [tidy(float(f"{part * self.meter:.9g}")) for part in (frame.x, frame.y)]
        record.setdefault("points", {})[name] = [
            part if abs(part) > 1e-12 * self.meter else 0 for part in own
        ]
        return f"{quoted(body)}.{name}"

    def ground_point(self, place: list[Any], name: str) -> str:
        name = name or self.letter()
        points = self.section(GROUND).setdefault("points", {})
        points[name] = place
        return f"{GROUND}.{name}"

    def checked_name(self, name: Any, kind: str) -> str:
        check_name(name, kind)
        if name in self.names:
            raise ModelError(f"The name '{name}' is taken. Choose another one.")
        return str(name)


def finite_pair(point: Any) -> Place:
    """Two finite numbers, or a sentence."""
    try:
        x, y = (float(part) for part in point)
    except (TypeError, ValueError):
        raise ModelError(f"A place is two numbers [x, y], not {point!r}.") from None
    if not (isfinite(x) and isfinite(y) and max(abs(x), abs(y)) < 1e9):
        raise ModelError(f"The place {point!r} is too far away.")
    return x, y


def tidy(value: float) -> float | int:
    """2 instead of 2.0."""
    return int(value) if value == int(value) else value


def texts_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text inside mappings and lists, with its path."""
    if isinstance(value, str):
        yield path, value
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from texts_in(item, (*path, key))
