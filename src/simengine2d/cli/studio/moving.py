"""Points that are dragged, lengths and angles that are set: the numbers of the text follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import atan2, cos, hypot, log10, sin
from typing import Any

import numpy as np

from ...errors import ModelError, listed
from ...model.frame import GROUND, as_frame
from ...model.resolved import ResolvedModel
from ...numerics.arrays import Floats
from .draft import number_in, with_number
from .locks import locks_in
from .meshes import keep_meshes
from .pins import DrawnPin, find_pin
from .sheet import DIGITS, Place, Sheet, finite_pair, tidy
from .sketch import OTHERS, Keys, Sketch, at, put, solved

Rows = Callable[[ResolvedModel], Iterable[float]]

FINENESS = (DIGITS, 5, 6, 8, 10, 13)  # significant digits that are tried for numbers that follow
KEPT = 1e-6  # of the size of the drawing: how far rounding may open joints and locks
NEAR = 2e-3  # of the size of the drawing: how far rounding may move a point


def move_point(sheet: Sheet, point: Any, to: Any, **_: Any) -> str:
    """Bring a point to a place; all bodies that share it follow, and parameters that place it."""
    pin = sheet.pin(point)
    _move(sheet, pin, finite_pair(to))
    keep_meshes(sheet)
    return pin.id


def _move(sheet: Sheet, pin: DrawnPin, target: Place) -> None:
    locks = locks_in(sheet.data)
    held = {find_pin(sheet.pins, lock["of"]).id for lock in locks if lock["kind"] == "point"}
    if pin.id in held:
        raise ModelError(f"'{pin.id}' is locked. Unlock it to move it.")
    wanted = sheet.numbers(target)
    if not locks and _place_directly(sheet, pin, wanted):
        return
    place = (wanted[0] / sheet.meter, wanted[1] / sheet.meter)
    if locks:
        _drag_locked(sheet, pin, place, locks)
    elif not _follow(sheet, lambda sketch: _to_place(sketch, pin, place), pin):
        _write_out(sheet, pin, wanted)


def _place_directly(sheet: Sheet, pin: DrawnPin, wanted: list[Any]) -> bool:
    """Write the numbers where every reference to a point is a pair of plain numbers, and nothing else follows."""
    paths = [_path(sheet, ref) for ref in pin.refs]
    if not paths or any(path is None for path in paths) or _carries_more(sheet, pin):
        return False
    if any(type(part) not in (int, float) for path in paths for part in at(sheet.data, path)[:2]):  # type: ignore[arg-type]
        return False
    for path in paths:
        at(sheet.data, path)[:2] = wanted  # type: ignore[arg-type]
    return True


def _path(sheet: Sheet, ref: str) -> tuple[Any, ...] | None:
    """Where the text gives the global place of a point."""
    frame = as_frame(ref)
    if sheet.written_place(frame) is None:
        record = sheet.section_or_empty("bodies").get(frame.body) or {}
        return (
            ("bodies", frame.body, "at")
            if frame.is_whole_body and isinstance(record.get("at"), list)
            else None
        )
    if frame.body == GROUND:
        return GROUND, "points", frame.point
    record = sheet.section("bodies")[frame.body]
    keys = () if frame.point in record else ("through",) if "through" in record else ("corners",)
    return ("bodies", frame.body, *keys, frame.point)


def _carries_more(sheet: Sheet, pin: DrawnPin) -> bool:
    """Whether other joints sit on points that move with the bodies of a pin."""
    others = [ref for each in sheet.pins if each is not pin and each.joints for ref in each.refs]
    placed = {as_frame(ref).body for ref in others if _path(sheet, ref) is None}
    loose = {body for each in sheet.pins if not each.refs for body in each.bodies}
    return bool((placed | loose) & (set(pin.bodies) - {GROUND}))


def _to_place(sketch: Sketch, pin: DrawnPin, place: Place) -> Rows:
    def rows(resolved: ResolvedModel) -> Iterable[float]:
        for x, y in sketch.places_of(pin, resolved):
            yield x - place[0]
            yield y - place[1]

    return rows


def _write_out(sheet: Sheet, pin: DrawnPin, wanted: list[Any]) -> None:
    """Numbers instead of the expressions that place a point, where no parameters bring it there."""
    written = []
    for path in [path for ref in pin.refs if (path := _path(sheet, ref)) is not None]:
        place = at(sheet.data, path)
        written += [str(part) for part in place[:2] if number_in(part) is None]
        place[:2] = wanted
    if not written:
        raise ModelError(f"'{pin.id}' cannot be moved there: its place follows from other points.")
    sheet.notes.append(
        f"The place of '{pin.id}' was {listed(dict.fromkeys(written))} and is now given in numbers."
    )
    place = [float(part) / sheet.meter for part in wanted]
    if not _follow(sheet, lambda sketch: _to_place(sketch, pin, (place[0], place[1])), pin, torn=True):
        raise ModelError(f"'{pin.id}' cannot be moved there. Change a length or a parameter instead.")


# Lengths and angles -----------------------------------------------------------------------------------


def set_length(sheet: Sheet, body: Any, length: Any, **_: Any) -> str:
    """Give a bar another length; the end in the ground stays, or else its start, and its direction."""
    wanted = _number(length, "length")
    if wanted <= 0.0:
        raise ModelError(f"A length is positive, not {wanted:g}.")
    fixed, moved = _ends(sheet, body)
    angle = _direction(_frames(sheet.resolved, fixed, moved))
    return _with_end_at(
        sheet, fixed, moved, lambda p: (p[0] + wanted * cos(angle), p[1] + wanted * sin(angle))
    )


def set_angle(sheet: Sheet, body: Any, angle: Any, **_: Any) -> str:
    """Turn a bar to an angle; the end in the ground stays, or else its start, and its length."""
    wanted, (fixed, moved) = _number(angle, "angle"), _ends(sheet, body)
    wanted += np.pi if moved.endswith(".start") else 0.0
    (x0, y0), (x1, y1) = _frames(sheet.resolved, fixed, moved)
    length = hypot(x1 - x0, y1 - y0)
    return _with_end_at(
        sheet, fixed, moved, lambda p: (p[0] + length * cos(wanted), p[1] + length * sin(wanted))
    )


def _number(given: Any, what: str) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise ModelError(f"The {what} is a number, not {given!r}.") from None


def _ends(sheet: Sheet, body: Any) -> tuple[str, str]:
    """The references to the end of a bar that stays and to the one that moves."""
    record = sheet.section_or_empty("bodies").get(sheet.body(body)) or {}
    if record.get("shape") != "bar":
        raise ModelError(f"'{body}' is not a bar; it has no length and angle of its own. Move its points.")
    start, end = f"{body}.start", f"{body}.end"
    if sheet.pin(end).grounded and not sheet.pin(start).grounded:
        return end, start
    return start, end


def _frames(resolved: ResolvedModel, *refs: str) -> list[Place]:
    frames = [resolved.frame(as_frame(ref)) for ref in refs]
    return [(frame.drawn_x, frame.drawn_y) for frame in frames]


def _direction(ends: list[Place]) -> float:
    (x0, y0), (x1, y1) = ends
    return atan2(y1 - y0, x1 - x0)


def _with_end_at(sheet: Sheet, fixed: str, moved: str, place: Callable[[Place], Place]) -> str:
    pin, other = sheet.pin(moved), sheet.pin(fixed)
    target = place((other.x, other.y))
    exact = [tidy(float(f"{part * sheet.meter:.9g}")) for part in target]

    def rows(sketch: Sketch) -> Rows:
        ends = _to_place(sketch, pin, target), _to_place(sketch, other, (other.x, other.y))
        return lambda resolved: [*ends[0](resolved), *ends[1](resolved)]

    if not _place_directly(sheet, pin, exact) and not _follow(sheet, rows, pin):
        _write_out(sheet, pin, exact)
    keep_meshes(sheet)
    return as_frame(moved).body


# Solving ----------------------------------------------------------------------------------------------


def _follow(sheet: Sheet, wanted: Callable[[Sketch], Rows], pin: DrawnPin, torn: bool = False) -> bool:
    """Change numbers so that some rows vanish and joints stay as closed as they are; False where none do.

    First those that place the pin, then any. A pin that was `torn` from its partners is closed again.
    """
    try:
        sketch = Sketch(sheet.data, sheet.pins, sheet.folder)
    except ModelError:
        return False
    rows, first, gaps = wanted(sketch), sketch.places(sketch.first), sketch.gaps(sketch.first)
    gaps = 0.0 * gaps if torn else gaps

    def conditions(resolved: ResolvedModel) -> tuple[Floats, Floats]:
        h = np.concatenate([list(rows(resolved)), sketch.gaps(resolved) - gaps])
        return h, (sketch.places(resolved) - first).ravel()

    for paths in (sketch.behind(_placing(sketch, pin)), sketch.entries):
        sketch.select(paths)
        u = solved(sketch, conditions)
        if u is not None:
            _write(sheet, sketch, u, lambda resolved: sketch.gaps(resolved) - gaps)
            return True
    return False


def _placing(sketch: Sketch, pin: DrawnPin) -> Iterable[Keys]:
    """The entries of the text that place a pin: its own coordinates, or those of the bodies it is fixed to."""
    for ref in pin.refs:
        frame = as_frame(ref)
        mine = [e for e in sketch.entries if e[: 1 if frame.body == GROUND else 2] == _home(frame.body)]
        direct = [entry for entry in mine if frame.point is not None and frame.point in entry[1:-1]]
        fixed = [entry for entry in mine if entry[2] != "points" or entry in direct]
        yield from direct if direct and direct[0][2] != "points" else fixed
    for name in () if pin.refs else pin.joints:
        yield from (entry for entry in sketch.entries if entry[:2] == ("joints", name))


def _home(body: str) -> Keys:
    return (GROUND,) if body == GROUND else ("bodies", body)


def _drag_locked(sheet: Sheet, pin: DrawnPin, place: Place, locks: list[dict[str, str]]) -> None:
    """The drawing closest to the mouse in which joints and locks hold."""
    sketch = Sketch(sheet.data, sheet.pins, sheet.folder)
    held = [_lock_rows(sheet, sketch, lock) for lock in locks]
    held += [_to_place(sketch, each, (0.0, 0.0)) for each in sheet.pins if each.grounded and each is not pin]
    to, first, gaps = _to_place(sketch, pin, place), sketch.places(sketch.first), sketch.gaps(sketch.first)
    before = [np.array(list(rows(sketch.first))) for rows in held]

    def conditions(resolved: ResolvedModel) -> tuple[Floats, Floats]:
        kept = [np.array(list(rows(resolved))) - was for rows, was in zip(held, before, strict=True)]
        h = np.concatenate([sketch.gaps(resolved) - gaps, *kept])
        return h, np.concatenate([list(to(resolved)), OTHERS * (sketch.places(resolved) - first).ravel()])

    u = solved(sketch, conditions, pulled=len(list(to(sketch.first))))
    if u is None:
        raise ModelError(
            f"'{pin.id}' cannot be moved: the locks hold it. Unlock a length, an angle or a point."
        )
    _write(sheet, sketch, u, lambda resolved: conditions(resolved)[0])


def _lock_rows(sheet: Sheet, sketch: Sketch, lock: dict[str, str]) -> Rows:
    """What a lock keeps, as lengths."""
    kind, of = lock["kind"], lock["of"]
    if kind == "point":
        return _to_place(sketch, sheet.pin(of), (0.0, 0.0))
    refs = f"{of}.start", f"{of}.end"
    if (sheet.section_or_empty("bodies").get(of) or {}).get("shape") != "bar":
        return lambda resolved: [sketch.size * resolved.bodies[of].pose[2]] if kind == "angle" else []

    def rows(resolved: ResolvedModel) -> Iterable[float]:
        (x0, y0), (x1, y1) = _frames(resolved, *refs)
        yield hypot(x1 - x0, y1 - y0) if kind == "length" else _across(x1 - x0, y1 - y0)

    (p0, p1), (q0, q1) = _frames(sketch.first, *refs)
    direction = atan2(q1 - p1, q0 - p0)

    def _across(dx: float, dy: float) -> float:
        return -sin(direction) * dx + cos(direction) * dy

    return rows


def _write(sheet: Sheet, sketch: Sketch, u: Floats, kept: Callable[[ResolvedModel], Floats]) -> None:
    """Put the numbers that changed into the text, with as few digits as keep the drawing what it is."""
    changed = np.abs(u - sketch.start) > 1e-9 * np.maximum(np.abs(u), 1e-3 * sketch.size)
    exact = sketch.places(sketch.resolved(u))
    for digits in FINENESS:
        v = np.where(changed, [_rounded(value, digits) for value in u], sketch.start)
        try:
            resolved = sketch.resolved(v)
        except ModelError:
            continue
        fine = digits == FINENESS[-1]
        near = np.abs(sketch.places(resolved) - exact).max() <= NEAR * 10.0 ** (DIGITS - digits) * sketch.size
        if fine or (near and np.abs(kept(resolved)).max(initial=0.0) <= KEPT * sketch.size):
            break
    for path, value, new in zip(sketch.paths, v, changed, strict=True):
        if new:
            _put(sheet.data, path, float(value))


def _rounded(value: float, digits: int) -> float:
    if abs(value) < 1e-12:
        return 0.0
    return round(value, digits - 1 - int(np.floor(log10(abs(value)))))


def _put(data: dict[str, Any], path: tuple[Any, ...], value: float) -> None:
    """Write a number; the place of a body that the text left out is written, too."""
    if path[0] == "bodies" and path[2] == "at":
        data["bodies"][path[1]].setdefault("at", [0, 0])
    put(data, path, with_number(at(data, path), value))
