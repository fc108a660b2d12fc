"""Gears whose centers are moved: their pitch circles go on touching, and their ratio stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import hypot
from typing import Any

from ...model.frame import as_frame
from ...model.joints.gear import Gear
from ...model.measure import distance
from ...model.resolved import ResolvedModel
from .sheet import Sheet, tidy
from .sketch import Sketch

CLOSE = 1e-6  # of the distance of the centers: how near to it the radii add up where circles touch


def keep_meshes(sheet: Sheet) -> None:
    """Radii that are plain numbers follow the distance of the centers; a wheel of several meshes stays as it is.

    R_a' = R_a d'/d,   R_b' = R_b d'/d
    """
    meshes = {name: gear for name, gear in sheet.resolved.elements.items() if isinstance(gear, Gear)}
    if not meshes:
        return
    uses = Counter(body for gear in meshes.values() for body in (gear.a.body, gear.b.body))
    moved = Sketch(sheet.data, sheet.pins, sheet.folder).first
    for name, gear in meshes.items():
        record = sheet.section("joints")[name]
        if max(uses[gear.a.body], uses[gear.b.body]) == 1 and _touch(gear, record):
            _rescale(sheet, gear, record, _apart(moved, record) / _apart(sheet.resolved, record))


def _touch(gear: Gear, record: dict[str, Any]) -> bool:
    radii = record.get("radii")
    if not isinstance(radii, list) or any(type(radius) not in (int, float) for radius in radii):
        return False
    radius_a, radius_b = gear.pitch_radii()
    apart = distance(gear.a, gear.b).drawn
    return abs((radius_b - radius_a if gear.internal else radius_a + radius_b) - apart) < CLOSE * apart


def _apart(resolved: ResolvedModel, record: dict[str, Any]) -> float:
    a, b = (resolved.frame(as_frame(record[side])) for side in ("a", "b"))
    return hypot(b.drawn_x - a.drawn_x, b.drawn_y - a.drawn_y)


def _rescale(sheet: Sheet, gear: Gear, record: dict[str, Any], factor: float) -> None:
    before = record["radii"]
    record["radii"] = [tidy(float(f"{radius * factor:.9g}")) for radius in before]
    for disk, old, new in zip(_disks(sheet, gear), before, record["radii"], strict=True):
        if disk.get("shape") == "disk" and disk.get("radius") == old:
            disk["radius"] = new


def _disks(sheet: Sheet, gear: Gear) -> Iterator[dict[str, Any]]:
    bodies = sheet.section_or_empty("bodies")
    yield from (bodies.get(frame.body) or {} for frame in (gear.a, gear.b))
