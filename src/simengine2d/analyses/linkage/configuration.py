"""The curve of all configurations that a mechanism reaches while its input is free, followed by arc length.

Without the row of the input, the constraints of a mechanism with one input leave a curve, Phi(q) = 0. In coordinates
that are all lengths, y, its tangent is the null vector of Phi_y; the next point is found by Newton's method
perpendicular to it:

    [ Phi_y ]        [ -Phi ]
    [  t^T  ] dy  =  [   0  ]

The input is a function s(q) on the curve like any other, so nothing special happens where it turns back (a dead point,
s_y t = 0). Where det [Phi_y; t^T] changes its sign, another curve crosses: a change point.
E. L. Allgower, K. Georg, Introduction to Numerical Continuation Methods, 2003, chapters 2 and 8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.rank import rank_of_rows, row_space
from ...system.system import System
from ..assembly.closure import close
from ..assembly.pose_search import HeldSystem

FIRST, LONGEST, SHORTEST = 0.01, 0.06, 1e-7  # steps, in lengths of the mechanism
MOST_STEPS = 6000
FAR_OUT = 10.0  # lengths of the mechanism up to which a sliding input is followed
CORRECTIONS = 8
STRAIGHT = 0.98  # least cosine between tangents of adjacent points
CLOSED, SAME = 1e-12, 1e-7  # gaps and distances relative to the length of the mechanism
MOST_HALVINGS = 80


@dataclass(frozen=True)
class CurvePoint:
    """A configuration with the tangent of the curve in scaled coordinates."""

    q: Floats
    tangent: Floats
    value: float
    """The input s."""
    rate: float
    """ds per length of arc."""
    determinant: float
    """det [Phi_y; t^T], which vanishes where another curve crosses; 1 where rows are always redundant."""
    arc: float


@dataclass
class ConfigurationCurve:
    """The points of a curve in order, and whether it returns to its first point."""

    points: list[CurvePoint]
    closed: bool
    ends: tuple[str, str] = ("", "")
    """Why an open curve ends, at its first and its last point."""


class ReleasedSystem(HeldSystem):
    """The system with every function of time held at its value at t, and without one row, the input."""

    def __init__(self, system: System, t: float, row: int) -> None:
        self.row = row
        super().__init__(system, t)

    def gaps(self, q: Floats) -> tuple[Floats, Floats]:
        gaps, J = super().gaps(q)
        return np.delete(gaps, self.row), np.delete(J, self.row, axis=0)

    def polished(self, q: Floats) -> Floats | None:
        weights = np.ones(self.system.m)
        weights[self.row] = 0.0
        closure = close(self.system, 0.0, q, weights)
        return closure.q if closure.closed else None


class ConfigurationSpace:
    """The curves of a system whose functions of time are held, with one row, the input, released."""

    def __init__(self, held: ReleasedSystem, q: Floats) -> None:
        self.held, self.row, self.system = held, held.row, held.system
        self.scale, self.length = held.scale, held.system.length
        _, J = held.gaps(q)
        self.independent = np.array(
            sorted(rank_of_rows(J, list(range(J.shape[0]))).independent), dtype=np.int64
        )
        self.is_square = self.independent.size == self.system.n - 1

    def value(self, q: Floats) -> float:
        """The input."""
        return float(self.held.evaluated(q)[0][self.row] + self.held.values[self.row])

    def gradient(self, q: Floats) -> Floats:
        """s_y of the input."""
        return self.held.evaluated(q)[1][self.row]

    def point(self, q: Floats, along: Floats, arc: float) -> CurvePoint | None:
        """The configuration q with its tangent, oriented along a vector; None where there is not exactly one."""
        J = self.held.gaps(q)[1][self.independent]
        null = row_space(J).null
        if null.shape[1] != 1:
            return None
        t = null[:, 0] * (1.0 if null[:, 0] @ along >= 0.0 else -1.0)
        det = float(np.linalg.det(np.vstack([J, t]))) if self.is_square else 1.0
        return CurvePoint(q, t, self.value(q), float(self.gradient(q) @ t), det, arc)

    def ahead(self, here: CurvePoint, h: float) -> CurvePoint | None:
        """The point at the distance h along the tangent; None where Newton's method does not reach it."""
        q = here.q + h * self.scale * here.tangent
        before = np.inf
        for _ in range(CORRECTIONS):
            gaps, J = self.held.gaps(q)
            size = float(np.abs(gaps).max(initial=0.0))
            if size <= CLOSED * self.length or (size <= 1e-9 * self.length and size > 0.5 * before):
                return self.point(q, here.tangent, here.arc + h)
            if size > 2.0 * before:
                return None
            before = size
            dy = np.linalg.lstsq(np.vstack([J, here.tangent]), np.append(-gaps, 0.0), rcond=None)[0]
            if np.linalg.norm(dy) > 0.5 * abs(h) + SAME * self.length:
                return None
            q = q + self.scale * dy
        return None

    def unwound(self, q: Floats, reference: Floats) -> Floats:
        """q with bodies turned back by full turns to the reference, where the joints do not count turns."""
        nearest = q.copy()
        nearest[2::3] -= 2 * pi * np.round((q[2::3] - reference[2::3]) / (2 * pi))
        gaps = self.held.gaps(nearest)[0]
        return nearest if np.abs(gaps).max(initial=0.0) <= 1e-9 * self.length else q

    def between(self, a: Floats, b: Floats) -> Floats:
        """From b to a in scaled coordinates, not counting full turns."""
        return (self.unwound(a, b) - b) / self.scale

    # following

    def follow(self, q: Floats, direction: float) -> ConfigurationCurve:
        """The curve through q, both ways; `direction` +1 or -1 says which way first."""
        start = self.first(q, direction)
        if start is None:
            return ConfigurationCurve([], False, ("singular pose", "singular pose"))
        points, end = self._one_way(start)
        if end == "closed":
            return ConfigurationCurve(points, True)
        turned = CurvePoint(q, -start.tangent, start.value, -start.rate, -start.determinant, 0.0)
        back, other_end = self._one_way(turned)
        if other_end == "closed":  # only one way was difficult
            return ConfigurationCurve(back, True)
        return ConfigurationCurve([*map(_reversed, back[:0:-1]), *points], False, (other_end, end))

    def first(self, q: Floats, direction: float) -> CurvePoint | None:
        """The point at q, in the direction in which the input grows or falls."""
        gradient = self.gradient(q)
        return self.point(q, direction * gradient, 0.0)

    def _one_way(self, start: CurvePoint) -> tuple[list[CurvePoint], str]:
        points, h = [start], FIRST * self.length
        while len(points) < MOST_STEPS:
            here = points[-1]
            there = self.ahead(here, h)
            if there is None or there.tangent @ here.tangent < STRAIGHT:
                h *= 0.5
                if h < SHORTEST * self.length:
                    return points, "not followed further"
                continue
            if here.arc > 3.0 * LONGEST * self.length and self._returns(start, here, h):
                last = self.unwound_point(start, here)
                return [*points, last], "closed"
            points.append(there)
            if self._is_far(there, start):
                return points, "no limit found"
            h = min(1.5 * h, LONGEST * self.length)
        return points, "not closed after many turns"

    def _returns(self, start: CurvePoint, here: CurvePoint, h: float) -> bool:
        """Whether the next step of length h leads over the start, in its direction."""
        return bool(start.tangent @ here.tangent > 0.5) and self.reaches(start.q, here, h) is not None

    def unwound_point(self, start: CurvePoint, here: CurvePoint) -> CurvePoint:
        """The start, after the turns that the bodies have made until here."""
        q = start.q.copy()
        q[2::3] += 2 * pi * np.round((here.q[2::3] - q[2::3]) / (2 * pi))
        arc = here.arc + float(np.linalg.norm((q - here.q) / self.scale))
        return CurvePoint(q, start.tangent, self.value(q), start.rate, start.determinant, arc)

    def reaches(self, q: Floats, here: CurvePoint, h: float) -> CurvePoint | None:
        """The point within a step of length h at which the curve passes through q; None where it passes beside it."""
        way = self.between(q, here.q)
        s = float(way @ here.tangent)
        if not -SAME * self.length <= s <= 1.02 * h or np.linalg.norm(way - s * here.tangent) > 0.3 * h:
            return None
        there: CurvePoint | None = here
        for _ in range(6):
            there = self.ahead(here, s)
            if there is None:
                return None
            miss = self.between(q, there.q)
            if np.linalg.norm(miss) <= SAME * self.length:
                return there
            s += float(miss @ there.tangent)
        return None

    def _is_far(self, there: CurvePoint, start: CurvePoint) -> bool:
        moved = np.abs(there.q - start.q).reshape(-1, 3)[:, :2].max(initial=0.0)
        return bool(moved > FAR_OUT * self.length)

    # places on the curve

    def zero_between(self, a: CurvePoint, b: CurvePoint, g: Callable[[CurvePoint], float]) -> CurvePoint:
        """Where g, of different signs at two adjacent points, vanishes."""
        low, high, g_low, g_high = a, b, g(a), g(b)
        for i in range(MOST_HALVINGS):
            # secants, and bisection in between so that both ends move
            part = g_low / (g_low - g_high) if i % 3 != 2 else 0.5
            s = low.arc + min(0.99, max(0.01, part)) * (high.arc - low.arc)
            there = self.ahead(a, s - a.arc)
            if there is None or high.arc - low.arc <= 1e-13 * self.length:
                break
            value = g(there)
            if value == 0.0:
                return there
            if value * g_low > 0.0:
                low, g_low = there, value
            else:
                high, g_high = there, value
        return self._in_between(low, high, g_low / (g_low - g_high))

    def _in_between(self, low: CurvePoint, high: CurvePoint, part: float) -> CurvePoint:
        """A point on the straight line between two close ones: at a change point Newton's method fails."""
        q = low.q + part * (high.q - low.q)
        arc = low.arc + part * (high.arc - low.arc)
        return CurvePoint(q, low.tangent, self.value(q), low.rate, low.determinant, arc)


def _reversed(point: CurvePoint) -> CurvePoint:
    return CurvePoint(point.q, -point.tangent, point.value, -point.rate, -point.determinant, -point.arc)
