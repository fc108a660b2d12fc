"""Outlines: the shapes of links, blocks, gears and symbols as polygons. Geometry only."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, ceil, pi

import numpy as np
from numpy.typing import NDArray

from ..model.polygon import hull
from ..numerics.arrays import Floats

Point = NDArray[np.float64] | Sequence[float]
Points = NDArray[np.float64] | Sequence[tuple[float, float]]

TURN = 2 * pi
CORNER = pi / 24  # largest turn between two points of a round corner
ADDENDUM, DEDENDUM = 0.9, 1.1  # of a tooth, in modules
RACK_DEPTH = 2.8  # from the pitch line of a rack to its back, in modules


def arc(center: Point, radius: float, start: float, end: float) -> Floats:
    """Points on a circle from the angle `start` to `end`."""
    count = max(2, ceil(abs(end - start) / CORNER) + 1)
    angles = np.linspace(start, end, count)
    return np.asarray(center) + radius * np.column_stack([np.cos(angles), np.sin(angles)])


def circle(center: Point, radius: float, count: int = 72) -> Floats:
    angles = np.arange(count) * TURN / count
    return np.asarray(center) + radius * np.column_stack([np.cos(angles), np.sin(angles)])


def rectangle(center: Point, width: float, height: float, angle: float = 0.0) -> Floats:
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (width / 2, height / 2)
    return moved(corners, center, angle)


def rounded_rectangle(
    center: Point, width: float, height: float, radius: float, angle: float = 0.0
) -> Floats:
    radius = min(radius, width / 2, height / 2)
    inner = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (width / 2 - radius, height / 2 - radius)
    return moved(offset(inner, radius), center, angle)


def moved(points: Points, place: Point, angle: float = 0.0) -> Floats:
    """Turned about the origin, then shifted."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points) @ np.array([(c, s), (-s, c)]) + np.asarray(place)


def bar(a: Point, b: Point, radius: float) -> Floats:
    """A bar with round ends about a and b."""
    return offset(np.array([a, b], dtype=float), radius)


def link(points: Points, radius: float) -> Floats:
    """A body that reaches all points: a round plate, a bar with round ends, or a plate with round corners."""
    corners = hull(np.asarray(points, dtype=float), slack=0.3 * radius)
    return circle(corners[0], 1.3 * radius) if len(corners) == 1 else offset(corners, radius)


def reaches(corners: Floats, point: Point, slack: float) -> bool:
    """Whether a point is inside a polygon or within `slack` of it."""
    r, sides = corners - np.asarray(point), np.roll(corners, -1, axis=0) - corners
    after = np.roll(r, -1, axis=0)
    # sides that a ray along x meets, and the nearest place of each side
    crossing = (r[:, 1] > 0.0) != (after[:, 1] > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = r[:, 0] - r[:, 1] * sides[:, 0] / sides[:, 1] > 0.0
    part = np.clip(-(r * sides).sum(axis=1) / (sides * sides).sum(axis=1), 0.0, 1.0)
    nearest = np.hypot(*(r + part[:, None] * sides).T).min()
    return bool(np.count_nonzero(crossing & ahead) % 2 == 1 or nearest <= slack)


def offset(corners: Floats, radius: float) -> Floats:
    """The outline at a distance around a convex polygon (or a segment) given counter-clockwise."""
    edges = np.roll(corners, -1, axis=0) - corners
    normals = [atan2(-dx, dy) for dx, dy in edges]  # to the right of each edge
    parts = []
    for corner, before, after in zip(corners, np.roll(normals, 1), normals, strict=True):
        sweep = (after - before) % TURN
        parts.append(arc(corner, radius, before, before + sweep))
    return np.vstack(parts)


# Gears ------------------------------------------------------------------------------------------------


def gear(center: Point, radius: float, teeth: int, phase: float, internal: bool = False) -> Floats:
    """Outline of a gear with pitch `radius`; `phase` is the angle of a tooth's middle.

    An internal gear's teeth point to the center. Flanks are straight: at this size the involute cannot be seen.
    """
    module = 2 * radius / teeth
    sign = -1.0 if internal else 1.0
    tip, root = radius + sign * ADDENDUM * module, radius - sign * DEDENDUM * module
    pitch = TURN / teeth
    # half widths of a tooth, as parts of the pitch, at its root and at its tip
    angles = phase + pitch * (np.arange(teeth)[:, None] + np.array([-0.36, -0.13, 0.13, 0.36]))
    radii = np.tile([root, tip, tip, root], teeth)
    return np.asarray(center) + radii[:, None] * np.column_stack(
        [np.cos(angles.ravel()), np.sin(angles.ravel())]
    )


def rack(start: float, end: float, module: float, phase: float) -> Floats:
    """Outline of a rack along x with its pitch line at y = 0 and teeth upward; `phase` is the x of a tooth."""
    pitch = pi * module
    first = ceil((start - phase) / pitch + 0.36)
    last = int((end - phase) / pitch - 0.36)
    x = phase + pitch * (np.arange(first, last + 1)[:, None] + np.array([-0.36, -0.13, 0.13, 0.36]))
    y = np.tile([-DEDENDUM * module, ADDENDUM * module, ADDENDUM * module, -DEDENDUM * module], len(x))
    root, base = -DEDENDUM * module, -RACK_DEPTH * module
    teeth = np.column_stack([x.ravel(), y])
    return np.vstack([[(start, base), (start, root)], teeth, [(end, root), (end, base)]])


# Symbols ----------------------------------------------------------------------------------------------


def hatching(start: Point, end: Point, size: float) -> list[Floats]:
    """A line from start to end, with short oblique strokes on its right."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.hypot(*(b - a)))
    if length == 0.0:
        return []
    along = (b - a) / length
    right = np.array([along[1], -along[0]])
    count = max(2, round(length / (0.55 * size)))
    feet = a + along * length * (np.arange(count)[:, None] + 0.7) / count
    strokes = [np.array([foot, foot + 0.5 * size * (right - along)]) for foot in feet]
    return [np.array([a, b]), *strokes]


def hatched_below(points: Floats, size: float) -> list[Floats]:
    """Short oblique strokes along a curve, on the side that is mostly below it."""
    steps = np.diff(points, axis=0)
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*steps.T))])
    side = (
        1.0 if points[-1, 0] >= points[0, 0] else -1.0
    )  # a curve that goes to the right has its right side below
    at = np.arange(0.35 * size, s[-1], 0.55 * size)
    feet = np.column_stack([np.interp(at, s, points[:, c]) for c in (0, 1)])
    k = np.clip(np.searchsorted(s, at) - 1, 0, len(steps) - 1)
    along = steps[k] / np.maximum(np.hypot(*steps[k].T), 1e-300)[:, None]
    right = side * np.column_stack([along[:, 1], -along[:, 0]])
    return [np.array([foot, foot + 0.5 * size * d]) for foot, d in zip(feet, right - along, strict=True)]


def support(size: float) -> tuple[Floats, list[Floats]]:
    """A pin's support on the ground: a triangle below the origin, and the hatched line under it."""
    half, height = 1.15 * size, 1.9 * size
    triangle = np.array([(0.0, 0.0), (-half, -height), (half, -height)])
    return triangle, hatching((-1.7 * size, -height), (1.7 * size, -height), size)


def arc_arrow(radius: float, start: float, sweep: float, head: float) -> tuple[Floats, Floats]:
    """An arc about the origin with its arrow head at the end: the line and the head."""
    end = start + sweep
    line = arc((0, 0), radius, start, end - np.sign(sweep) * min(0.6 * head / radius, abs(sweep)))
    direction = end - np.sign(sweep) * 0.5 * head / radius + np.sign(sweep) * pi / 2
    tip = radius * np.array([np.cos(end), np.sin(end)])
    return line, arrow_head(tip, direction, head)


def arrow_head(tip: Point, angle: float, size: float) -> Floats:
    """A triangle that ends at `tip` and points along `angle`."""
    return moved([(0, 0), (-size, 0.38 * size), (-size, -0.38 * size)], tip, angle)


def center_of_mass(radius: float) -> Floats:
    """The dark quarters of the sign for a mass center: a circle of which two quarters are filled."""
    first, third = (arc((0, 0), radius, start, start + pi / 2) for start in (0.0, pi))
    return np.vstack([[(0, 0)], first, [(0, 0)], third, [(0, 0)]])


def spiral(radius: float, turns: float = 2.25) -> Floats:
    """A spiral spring about the origin."""
    angles = np.linspace(0.0, TURN * turns, 60)
    radii = radius * (0.35 + 0.65 * angles / angles[-1])
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
