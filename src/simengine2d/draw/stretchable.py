"""Shapes that stretch: springs, dampers, actuators, rods and belts, as paths of (fixed, part, side).

See `marks.Stretched` for what the three numbers mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, pi

import numpy as np

from .marks import Stops
from .outlines import arc

COILS = 6
ENDS = 0.06, 0.94  # the part of the length that a spring and a damper side by side take


def stops(points: Sequence[tuple[float, float, float]]) -> Stops:
    return np.array(points, dtype=float)


def line() -> list[Stops]:
    return [stops([(0, 0, 0), (0, 1, 0)])]


def zigzag(size: float, side: float = 0.0) -> list[Stops]:
    """A spring: straight ends and coils between them, at `side` of the line of its ends."""
    first, last, half = 0.15, 0.85, 0.75 * size
    parts = np.linspace(first, last, 2 * COILS + 2)
    sides = [0.0, *(half * (-1) ** i for i in range(2 * COILS)), 0.0]
    coils = [(0.0, part, side + s) for part, s in zip(parts, sides, strict=True)]
    return [stops([(0, 0, side), *coils, (0, 1, side)])]


def damper(size: float, shortest: float, longest: float, side: float = 0.0) -> list[Stops]:
    """A pot on the first end, a piston on the other. The piston stays in the pot, which is long enough, or scaled.

    Its place in the pot is c + k L, so that it goes through most of the pot between the shortest and longest L.
    """
    half, pot_start, pot_end = 0.6 * size, 0.25 * shortest, 0.7 * shortest
    k = min(1.0, 0.8 * (pot_end - pot_start) / max(longest - shortest, 1e-300))
    c = (pot_start + pot_end - k * (shortest + longest)) / 2
    corners = [(pot_end, half), (pot_start, half), (pot_start, -half), (pot_end, -half)]
    return [
        stops([(0, 0, side), (pot_start, 0, side)]),
        stops([(x, 0, side + s) for x, s in corners]),
        stops([(c, k, side + 0.85 * half), (c, k, side - 0.85 * half)]),
        stops([(c, k, side), (0, 1, side)]),
    ]


def side_by_side(spring: Sequence[Stops], damper: Sequence[Stops], side: float) -> list[Stops]:
    """A spring and a damper at both sides of the inner part of the length, held by a cross piece at each end."""
    first, last = ENDS
    inner = [
        np.column_stack([p[:, 0], first + (last - first) * p[:, 1], p[:, 2]]) for p in (*spring, *damper)
    ]
    crosses = [stops([(0, part, side), (0, part, -side)]) for part in ENDS]
    return [*inner, *crosses, stops([(0, 0, 0), (0, first, 0)]), stops([(0, last, 0), (0, 1, 0)])]


def cylinder(size: float, shortest: float) -> list[Stops]:
    """An actuator as an area: the barrel on the first end, and the rod that comes out of it."""
    half, rod, barrel = 0.75 * size, 0.25 * size, 0.7 * shortest
    return [
        stops([(0, 0, -half), (barrel, 0, -half), (barrel, 0, half), (0, 0, half)]),
        stops([(barrel, 0, -rod), (0, 1, -rod), (0, 1, rod), (barrel, 0, rod)]),
    ]


def rod(radius: float) -> list[Stops]:
    """A bar with round ends."""
    far = [(x, 1.0, y) for x, y in arc((0, 0), radius, -pi / 2, pi / 2)]
    near = [(x, 0.0, y) for x, y in arc((0, 0), radius, pi / 2, 3 * pi / 2)]
    return [stops([*far, *near])]


def belt(radius_a: float, radius_b: float, distance: float, crossed: bool) -> list[Stops]:
    """A closed belt over two pulleys whose centers are `distance` apart.

    Its strands touch the circles where the radii make the angle w with the line of centers:
    cos w = (R_a - R_b) / distance, or (R_a + R_b) / distance where they cross.
    """
    reach = radius_a + radius_b if crossed else radius_a - radius_b
    w = acos(max(-1.0, min(1.0, reach / distance)))
    start, end = (pi - w, w - pi) if crossed else (-w, w)
    around_a = [(x, 0.0, y) for x, y in arc((0, 0), radius_a, w, 2 * pi - w)]
    around_b = [(x, 1.0, y) for x, y in arc((0, 0), radius_b, start, end)]
    return [stops([*around_a, *around_b, around_a[0]])]
