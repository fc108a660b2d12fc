"""A drawing as a function of the numbers in its text: where the points are, and what the joints leave open.

A coordinate may be a number, or follow from parameters, `crank*cos(crank_angle)`. Dragging a point looks for the
numbers u with which it is where it should be, joints stay as closed as they were, and locks hold,

    h(u) = 0,      |s(u)| as small as possible

where s are the shifts of all other points. Newton's method solves the first, least squares in its null space the
second.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ModelError
from ...expressions.evaluate import evaluate, names_in
from ...expressions.parser import parse
from ...io.files import Document
from ...io.model_reader import unchecked_model
from ...io.named_laws import NamedLaws
from ...model.elements import Joint
from ...model.frame import GROUND, as_frame
from ...model.resolved import ResolvedModel
from ...numerics.arrays import Floats
from .draft import NAME, number_in, with_number
from .pins import DrawnPin

Keys = tuple[str | int, ...]

SHAPED = ("bar", "link", "plate")
PLACED = ("Revolute", "Translational", "PinSlot", "Fixed", "RevoluteTranslational", "Link")
"""Joints that a drag keeps as closed as they are."""
SECTIONS = ("units", "parameters", "tables", "ground", "bodies")
MOST_ITERATIONS = 30
CLOSED = 1e-10  # of the size of the drawing
NOISE = 1e-6  # of the largest singular value: what only rounding makes of a Jacobian by differences
LAZY = 1e-3  # weight of changing a number, relative to moving a point
SETTLED, FAR, LONGEST = (
    1e-3,
    1e-2,
    0.5,
)  # of the size of the drawing: steps that are small, large, and the longest
PULL = 0.25  # of the size of the drawing: the longest pull
HARDLY = 2e-3  # of the size of the drawing: a change that is not worth a number
OTHERS = 0.03  # weight of the other points, relative to the mouse, where locks prevail


class Sketch:
    """The numbers of a text that place its points; those of them that may change are selected."""

    def __init__(self, data: dict[str, Any], pins: Sequence[DrawnPin], folder: str | Path = ".") -> None:
        self.data = copy.deepcopy(data)
        self.folder = Path(folder)
        self.pins = pins
        _place_bodies(self.data)
        self.work = {name: self.data[name] for name in SECTIONS if self.data.get(name)}
        joints = self.data.get("joints") or {}
        self.work["joints"] = {
            name: record
            for name, record in joints.items()
            if isinstance(record, dict) and record.get("type") in PLACED
        }
        self.entries = list(number_paths(self.work))
        """All that may place a point, numbers and expressions."""
        self.select(self.entries)
        self.first = self.resolved(self.start)
        self.size = _size(self.places(self.first))

    def select(self, paths: Iterable[Keys]) -> None:
        """Let these numbers change, and no others."""
        known = {path: number for path in paths if (number := self.number(path)) is not None}
        self.paths, self.start = list(known), np.array(list(known.values()))

    def number(self, path: Keys) -> float | None:
        """A number of the text, or that of a parameter without names in it, such as `sqrt(13)`."""
        given = at(self.work, path)
        plain = number_in(given)
        if plain is not None:
            return plain[0]
        if path[0] == "parameters" and "units" not in self.work and not names_in(parse(given)):
            return evaluate(parse(given))
        return None

    def behind(self, paths: Iterable[Keys]) -> list[Keys]:
        """The numbers on which some entries depend: themselves, or the parameters in them."""
        found: dict[Keys, None] = {}
        left = list(paths)
        while left:
            path = left.pop()
            if path in found:
                continue
            if self.number(path) is None:
                left += [("parameters", name) for name in names_in(parse(str(at(self.work, path))))]
            found[path] = None
        return [path for path in self.entries if path in found]

    def resolved(self, u: Floats) -> ResolvedModel:
        """The bodies and joints with these numbers."""
        before = [at(self.work, path) for path in self.paths]
        try:
            for path, value in zip(self.paths, u, strict=True):
                put(self.work, path, with_number(at(self.work, path), float(value)))
            document = Document(NAME, self.work)
            model = unchecked_model(document, self.folder, NamedLaws(None, NAME))
        finally:
            for path, value in zip(self.paths, before, strict=True):
                put(self.work, path, value)
        if document.collected:
            raise ModelError(document.problems)
        return model.check()

    def places(self, resolved: ResolvedModel) -> Floats:
        """x and y of every point, in SI units."""
        return np.array([place for pin in self.pins for place in self.places_of(pin, resolved)[:1]])

    def places_of(self, pin: DrawnPin, resolved: ResolvedModel) -> list[tuple[float, float]]:
        """Where each reference to a point is; they coincide, where its joints are closed."""
        frames: list[Any] = [resolved.frame(as_frame(ref)) for ref in pin.refs]
        if not frames:
            frames = [resolved.elements[name].a for name in pin.joints if name in resolved.elements]  # type: ignore[attr-defined]
        return [(frame.drawn_x, frame.drawn_y) for frame in frames] or [(pin.x, pin.y)]

    def gaps(self, resolved: ResolvedModel) -> Floats:
        """What the joints leave open as drawn."""
        return np.array(
            [
                row.measure.drawn - row.value
                for name, joint in resolved.elements.items()
                if isinstance(joint, Joint)
                for row in resolved.rows[name]
                if isinstance(row.value, float) and row.formula is None
            ]
        )


# Paths ------------------------------------------------------------------------------------------------


def at(data: Any, path: Keys) -> Any:
    for key in path:
        data = data[key]
    return data


def put(data: Any, path: Keys, value: Any) -> None:
    at(data, path[:-1])[path[-1]] = value


def _place_bodies(data: dict[str, Any]) -> None:
    """Write out where bodies are that are not said to be anywhere."""
    for record in (data.get("bodies") or {}).values():
        if isinstance(record, dict) and record.get("shape") not in SHAPED:
            record.setdefault("at", [0, 0])


def number_paths(data: dict[str, Any]) -> Iterator[Keys]:
    """The entries of a text that may place a point."""
    yield from (("parameters", name) for name in data.get("parameters") or {})
    yield from _pairs((data.get(GROUND) or {}).get("points"), (GROUND, "points"))
    for name, record in (data.get("bodies") or {}).items():
        for key in ("start", "end", "at"):
            yield from _pairs({key: (record or {}).get(key)}, ("bodies", name))
        if (record or {}).get("angle") is not None:
            yield "bodies", name, "angle"
        for key in ("through", "corners", "points"):
            yield from _pairs((record or {}).get(key), ("bodies", name, key))
    for name, record in (data.get("joints") or {}).items():
        yield from _pairs({"at": record.get("at")}, ("joints", name))
        for side in ("a", "b"):
            if isinstance(record.get(side), dict):
                yield from _pairs({"at": record[side].get("at")}, ("joints", name, side))


def _pairs(places: Any, path: Keys) -> Iterator[Keys]:
    """x and y of places in a mapping or a list."""
    items = (
        places.items() if isinstance(places, dict) else enumerate(places) if isinstance(places, list) else ()
    )
    for key, place in items:
        if isinstance(place, list) and len(place) >= 2:
            yield (*path, key, 0)
            yield (*path, key, 1)


def _size(places: Floats) -> float:
    return float(np.ptp(places, axis=0).max()) or 1.0 if len(places) else 1.0


# Solution ---------------------------------------------------------------------------------------------

Conditions = Callable[[ResolvedModel], tuple[Floats, Floats]]
"""h and s at a drawing; both as lengths."""


def solved(sketch: Sketch, conditions: Conditions, pulled: int = 0) -> Floats | None:
    """The selected numbers as they should be; those that would hardly change stay, if the others are enough."""
    found = _solved(sketch, conditions, pulled)
    if found is None:
        return None
    u, reach = found
    selected, change = list(sketch.paths), np.abs(u - sketch.start) * reach
    needed = change > HARDLY * sketch.size
    if np.all(needed | (change == 0.0)) or not np.any(needed):
        return u
    sketch.select(path for path, much in zip(selected, needed, strict=True) if much)
    fewer = _solved(sketch, conditions, pulled)
    if fewer is None:
        sketch.select(selected)
        return u
    return fewer[0]


def _solved(sketch: Sketch, conditions: Conditions, pulled: int) -> tuple[Floats, Floats] | None:
    """The numbers with h = 0 and the smallest s near those of the text; None where there are none.

    The first rows of s, so many as are `pulled`, lead to a place that need not be reached: it is approached bit by bit.
    """
    u = sketch.start.copy()
    h, s = conditions(sketch.first)
    jacobian, settled = None, False
    for k in range(MOST_ITERATIONS):
        if jacobian is None:
            jacobian = _jacobian(sketch, conditions, u, h, s)
        H, S, reach = jacobian
        aim = 0.0 * s if settled else _shortened(s, pulled, PULL * 0.8**k * sketch.size)
        du = _step(H, S, reach, h, aim)
        moved = _moved(sketch, conditions, u, du, (h, reach))
        if moved is None:
            return None
        far, gap = _norm((moved[0] - u) * reach), _norm(h)
        u, h, s = moved
        settled = settled or far <= SETTLED * sketch.size or k > MOST_ITERATIONS - 6
        if settled and _norm(h) <= CLOSED * sketch.size:
            return u, reach
        if _norm(h) > 0.1 * gap or far > FAR * sketch.size:
            jacobian = None
    return None


def _shortened(s: Floats, pulled: int, longest: float) -> Floats:
    """A pull of at most this length: where the mouse is far away, a long one would lead around in circles."""
    length = float(np.linalg.norm(s[:pulled]))
    return np.concatenate([s[:pulled] * min(1.0, longest / (length or 1.0)), s[pulled:]])


def _norm(values: Floats) -> float:
    return float(np.abs(values).max(initial=0.0))


def _jacobian(
    sketch: Sketch, conditions: Conditions, u: Floats, h: Floats, s: Floats
) -> tuple[Floats, Floats, Floats]:
    """H, S by differences, and the size of the columns: how far a number moves the drawing."""
    base, columns = np.concatenate([h, s]), np.zeros((h.size + s.size, u.size))
    for i, value in enumerate(u):
        step = 1e-7 * max(abs(value), 1e-3 * sketch.size)
        v = u.copy()
        v[i] = value + step
        try:
            columns[:, i] = (np.concatenate(conditions(sketch.resolved(v))) - base) / step
        except ModelError:
            continue
    reach = np.linalg.norm(columns, axis=0)
    return columns[: h.size], columns[h.size :], reach


def _step(H: Floats, S: Floats, reach: Floats, h: Floats, s: Floats) -> Floats:
    """H du = -h, and of all such du the one with the smallest s + S du."""
    scale = np.where(reach > 1e-12 * reach.max(initial=0.0), 1.0 / np.where(reach > 0.0, reach, 1.0), 0.0)
    H, S = H * scale, S * scale
    U, sigma, Vt = np.linalg.svd(H, full_matrices=True)
    rank = int(np.count_nonzero(sigma > NOISE * sigma.max(initial=0.0)))
    first = Vt[:rank].T @ ((U[:, :rank].T @ -h) / sigma[:rank])
    free = Vt[rank:].T
    rows = np.vstack([S @ free, LAZY * free])
    rest = -np.concatenate([s + S @ first, LAZY * first])
    return scale * (first + free @ np.linalg.lstsq(rows, rest, rcond=None)[0])


def _moved(
    sketch: Sketch, conditions: Conditions, u: Floats, du: Floats, here: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats] | None:
    """A step, halved until the drawing exists and what it tears open is less than it moves."""
    gap, reach = _norm(here[0]), here[1]
    part = du * min(1.0, LONGEST * sketch.size / (_norm(du * reach) or 1.0))
    for _ in range(8):
        try:
            h, s = conditions(sketch.resolved(u + part))
            if np.all(np.isfinite(h)) and _norm(h) <= max(gap, 0.5 * _norm(part * reach)):
                return u + part, h, s
        except ModelError:
            pass
        part = 0.5 * part
    return None
