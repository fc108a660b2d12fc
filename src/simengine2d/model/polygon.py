"""Polygons: area, centroid, polar moment, convex hull; and what is wrong with one that is no shape."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..numerics.arrays import Floats

FLAT = 1e-9  # of its length: a polygon not wider than this is a line


def area(corners: Floats) -> float:
    """A = 1/2 sum_i (x_i y_i+1 - x_i+1 y_i), positive in either sense."""
    return abs(float(_crosses(corners - corners[0]).sum())) / 2


def centroid(corners: Floats) -> Floats:
    """r_C = 1 / (6 A) sum_i (r_i + r_i+1) (x_i y_i+1 - x_i+1 y_i)."""
    r = corners - corners[0]
    crosses = _crosses(r)
    return corners[0] + (crosses[:, None] * (r + _next(r))).sum(axis=0) / (3 * crosses.sum())  # type: ignore[no-any-return]


def gyration2(corners: Floats) -> float:
    """J / m about the centroid, 1 / (12 A) sum_i (r_i . r_i + r_i . r_i+1 + r_i+1 . r_i+1) (x_i y_i+1 - x_i+1 y_i)."""
    r = corners - centroid(corners)
    after, crosses = _next(r), _crosses(r)
    squares = (r * r + r * after + after * after).sum(axis=1)
    return float((squares * crosses).sum() / (6 * crosses.sum()))


def _next(r: Floats) -> Floats:
    return np.roll(r, -1, axis=0)


def _crosses(r: Floats) -> Floats:
    """x_i y_i+1 - x_i+1 y_i of each side."""
    after = _next(r)
    return r[:, 0] * after[:, 1] - after[:, 0] * r[:, 1]  # type: ignore[no-any-return]


def check_polygon(corners: Floats, names: list[str]) -> None:
    """Refuse corners that do not enclose an area without crossing themselves."""
    if len(corners) < 3:
        raise ModelError(f"{len(corners)} corners enclose no area; give at least 3.")
    sides = _next(corners) - corners
    for i in np.flatnonzero(~sides.any(axis=1)):
        after = names[(i + 1) % len(names)]
        raise ModelError(
            f"the corners {names[i]} and {after} are the same point {corners[i].tolist()}; leave out one."
        )
    if len(hull(corners, FLAT * float(np.ptp(corners, axis=0).max()))) < 3:
        raise ModelError("the corners lie on one line and enclose no area; a slender body is a bar.")
    crossing = _first_crossing(corners, sides)
    if crossing is not None:
        (a, b), (c, d) = ([names[k], names[(k + 1) % len(names)]] for k in crossing)
        raise ModelError(
            f"the side from {a} to {b} meets the side from {c} to {d}; list the corners in order around the plate."
        )


def _first_crossing(corners: Floats, sides: Floats) -> tuple[int, int] | None:
    """Two sides that meet where they should not: those that are no neighbors, or neighbors that fold back."""
    n = len(corners)
    for i in range(n):
        before = (i - 1) % n
        folds = abs(_cross(sides[before], sides[i])) <= FLAT * abs(float(sides[before] @ sides[i]))
        if folds and sides[before] @ sides[i] < 0.0:
            return before, i
        others = np.array([j for j in range(i + 2, n) if (j + 1) % n != i], dtype=int)
        hits = others[_meets(corners[i], sides[i], corners[others], sides[others])]
        if hits.size:
            return i, int(hits[0])
    return None


def _meets(p: Floats, u: Floats, q: Floats, v: Floats) -> Floats:
    """Which of the segments q + b v the segment p + a u meets, with 0 <= a, b <= 1."""
    w, turns = q - p, _cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = _cross(w, v) / turns, _cross(w, u) / turns
    inside: Floats = (a >= 0.0) & (a <= 1.0) & (b >= 0.0) & (b <= 1.0) & (turns != 0.0)
    # parallel ones meet where they lie on one line and overlap
    s, e = (w @ u) / (u @ u), ((w + v) @ u) / (u @ u)
    overlap = (np.maximum(s, e) >= 0.0) & (np.minimum(s, e) <= 1.0)
    return inside | ((turns == 0.0) & (_cross(w, u) == 0.0) & overlap)


def _cross(a: Floats, b: Floats) -> Floats:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]  # type: ignore[no-any-return]


# Convex hull ------------------------------------------------------------------------------------------


def hull(points: Floats, slack: float = 0.0) -> Floats:
    """Convex hull, counter-clockwise; points within `slack` of a line or of each other count as one."""
    if np.ptp(points, axis=0).max() <= slack:
        return points.mean(axis=0, keepdims=True)
    center, axes = points.mean(axis=0), np.linalg.svd(points - points.mean(axis=0))[2]
    along, across = (points - center) @ axes.T[:, 0], (points - center) @ axes.T[:, 1]
    if np.ptp(across) <= slack:
        return points[[int(along.argmin()), int(along.argmax())]]
    return _monotone_chain(points)


def _monotone_chain(points: Floats) -> Floats:
    """Andrew's algorithm: the lower side from left to right, the upper one back."""
    ordered = [points[i] for i in np.lexsort((points[:, 1], points[:, 0]))]
    sides = []
    for half in (ordered, ordered[::-1]):
        side: list[Floats] = []
        for point in half:
            while len(side) > 1 and _turn(side[-2], side[-1], point) <= 0.0:
                side.pop()
            side.append(point)
        sides += side[:-1]
    return np.array(sides)


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
