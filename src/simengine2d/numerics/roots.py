"""Roots of a function inside an interval, located by its turning points and not by its signs at the ends.

The function is approximated by Chebyshev polynomials on intervals that are halved until they fit. Between two adjacent
turning points there is at most one root, which is then located on the function itself. Kinks and jumps are enclosed by
bisection.

Intervals follow each other, as the steps of a run do. A function that comes nearer to zero than its errors is on a
*visit*, which may last for several intervals. Only where it leaves is it known what the visit was: a crossing if the
function leaves on the other side, a touch if it goes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache
from math import copysign, inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from .arrays import Floats

Function = Callable[[float], float]

DEGREE = 16
FITS = 1e-10  # last coefficients, relative to the values of a piece, at which a polynomial fits
NOISE = 1e-13  # rounding errors, relative to the values on the whole interval
SHORTEST = 1e-13  # length of a piece around a kink or a jump, relative to the interval
LASTS = 1e-5  # for how long a function must be zero to be more than a touch, relative to the interval
TOUCHES = 1e-11  # distance from zero, relative to the values, at which a function visits it
ROUNDING = 1e-15  # what a function that is zero from the start must exceed to leave, relative to the values
POLE = 10.0  # a sign change where the function exceeds all values by this factor is a pole


class Root(NamedTuple):
    """`sense` is 1 if the function rises through zero, -1 if it falls, 0 if it only touches zero.

    `leaves` says that the function was zero from the start, and leaves it here.
    """

    t: float
    sense: int
    leaves: bool = False


class Knot(NamedTuple):
    """A sampled value; between two knots the function is monotonic."""

    t: float
    value: float


def roots_in(value: Function, t0: float, t1: float) -> list[Root]:
    """The roots in (t0, t1], in order; see `ZeroSearch`."""
    search = ZeroSearch(int(np.sign(value(t0))))
    roots = [*search.until(value, t0, t1), *search.at_the_end()]
    return [root for root in roots if not root.leaves]


# Knots ------------------------------------------------------------------------------------------------


def knots_in(value: Function, t0: float, t1: float) -> tuple[list[Knot], float]:
    """The ends of the interval and of its pieces, and the turning points near zero; and the size of the values."""
    knots = [Knot(t0, value(t0))]
    size = 0.0
    pieces = [(t0, t1)]
    while pieces:
        a, b = pieces.pop()
        values = np.array([value(t) for t in _places(a, b)])
        local = float(np.abs(values).max())
        size = size or float(
            np.sort(np.abs(values))[-3]
        )  # not the largest: a pole would make all else look small
        with np.errstate(invalid="ignore"):  # one may be infinite
            c = _to_coefficients() @ values
        middle = 0.5 * (a + b)
        if _away_from_zero(values):
            pass
        elif local < inf and np.abs(c[-3:]).max() <= max(FITS * local, NOISE * size):
            if abs(c[0]) <= 1.001 * np.abs(c[1:]).sum():
                knots += [Knot(t, value(t)) for t in _turns(value, c, a, b)]
        elif b - a <= SHORTEST * (t1 - t0) or not a < middle < b:
            knots.append(Knot(middle, value(middle)))
        else:
            pieces += [(middle, b), (a, middle)]
            continue
        knots.append(Knot(b, float(values[-1])))
    return knots, size


def _away_from_zero(values: Floats) -> bool:
    """Whether a piece stays away from zero by more than its variation."""
    low, high = float(values.min()), float(values.max())
    return low > 2.0 * (high - low) or -high > 2.0 * (high - low)


def _places(a: float, b: float) -> list[float]:
    """Chebyshev points from a to b, both ends exactly."""
    inside = 0.5 * (a + b) + 0.5 * (b - a) * _points()[1:-1]
    return [a, *inside.tolist(), b]


def _turns(value: Function, c: Floats, a: float, b: float) -> list[float]:
    """Turning points between a and b of the function with the Chebyshev coefficients c."""
    slope = chebyshev.chebder(c)
    size = float(np.abs(slope).max())
    slope = np.trim_zeros(np.where(np.abs(slope) > 1e-14 * size, slope, 0.0), "b")
    if slope.size < 2:
        return []
    x = chebyshev.chebroots(slope)
    # two coinciding turning points may come out as a complex pair close to the real axis
    x = np.sort(x.real[np.abs(x.imag) < 1e-6])
    t = 0.5 * (a + b) + 0.5 * (b - a) * x
    return [_sharpened(value, float(each), a, b) for each in t if a < each < b]


def _sharpened(value: Function, t: float, a: float, b: float) -> float:
    """A turning point refined from four values close to it: a vertex of the cubic through them.

    All four are inside [a, b]: beyond its ends the function may be another one, or have no value.
    """
    reach = 0.01 * (b - a)
    center = min(max(t, a + reach), b - reach)
    x = np.array([-1.0, -0.4, 0.4, 1.0])
    places = np.clip(center + reach * x, a, b).tolist()
    try:
        _, *slopes = np.polynomial.polynomial.polyfit(x, [value(place) for place in places], 3).tolist()
    except (ValueError, np.linalg.LinAlgError):
        return t
    vertices = [center + reach * vertex for vertex in _vertices(*slopes)]
    near = [vertex for vertex in vertices if abs(vertex - t) < 0.5 * reach and a <= vertex <= b]
    return min(near, key=lambda vertex: abs(vertex - t), default=t)


def _vertices(b: float, c: float, d: float) -> list[float]:
    """Where b + 2 c x + 3 d x^2 = 0, without cancellation where d almost vanishes."""
    inside = c * c - 3.0 * b * d
    if not (inside >= 0.0 and c != 0.0):
        return []
    sum_ = c + copysign(sqrt(inside), c)
    return [-b / sum_, -sum_ / (3.0 * d)] if d != 0.0 else [-b / sum_]


@cache
def _points() -> Floats:
    return -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)


@cache
def _to_coefficients() -> Floats:
    """The matrix from values at Chebyshev points to the coefficients of the polynomial through them."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_points(), DEGREE)), dtype=float)


# Roots ------------------------------------------------------------------------------------------------


@dataclass
class Visit:
    """A stay near zero that has not ended yet."""

    counts: bool  # whether it may be a root
    t: float = inf  # where the function is deepest: nearest to zero, or farthest beyond it
    depth: float = inf
    crossed: float = inf  # first time at which the function is not on its old side; inf if there is none
    zero_since: float = inf  # time, and first knot, since which the function is zero; inf if it is not
    zero_knot: float = inf


class ZeroSearch:
    """The roots of a function in consecutive intervals.

    `side` is the sign of the function at the start; 0 if it is zero there, and then the moment at which it leaves is
    a root. Zero that lasts is a root where it begins, and one where it ends if the function returns to its old side.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        self.size, self.longest = 0.0, 0.0  # largest value, longest interval
        self.visit: Visit | None = Visit(counts=False)  # a start near zero is not a root

    def until(
        self, value: Function, t0: float, t1: float, *, error: float = 0.0, rounding: float = 0.0
    ) -> list[Root]:
        """The roots that are certain at t1.

        `error` is that of the values, relative to the largest: closer to zero, a sign means nothing. `rounding` is what
        a function that is zero from the start must exceed to leave.
        """
        knots, size = knots_in(value, t0, t1)
        self.size = max(self.size, size)
        self.longest = max(self.longest, t1 - t0)
        near, rounding = max(rounding, max(error, TOUCHES) * self.size), max(rounding, ROUNDING * self.size)
        lasts = LASTS * self.longest
        roots, before = [], knots[0]
        for knot in knots:
            at_zero = abs(knot.value) <= near
            if self.side == 0:
                roots += self._start(value, before.t, knot, rounding)
            elif at_zero and knot is before and self.visit is None:
                pass  # the interval before ended here, and its values did not reach as far
            elif at_zero:
                roots += [] if knot.value == 0.0 else self._lasting(before.t, lasts)
                self._stay(value, before.t, knot)
            else:
                roots += self._lasting(before.t, lasts)
                roots += self._away(value, before.t, knot, size)
            before = knot
        return roots + self._lasting(t1, lasts)

    def at_the_end(self) -> list[Root]:
        """The root with which the last interval ends: the function reaches zero there, and does not go on."""
        visit = self.visit
        if visit is None or not visit.counts or visit.crossed == inf:
            return []
        self.side, visit.counts = -self.side, False
        return [Root(visit.crossed, self.side)]

    def _start(self, value: Function, before: float, knot: Knot, rounding: float) -> list[Root]:
        """A function that is zero from the start leaves as soon as it exceeds its rounding errors."""
        if abs(knot.value) <= rounding:
            return []
        self.side = _sign(knot.value)
        return [Root(_departure(value, before, knot.t, self.side), self.side, leaves=True)]

    def _stay(self, value: Function, before: float, knot: Knot) -> None:
        """A visit begins or goes on."""
        visit = self.visit = self.visit or Visit(counts=True)
        depth = self.side * knot.value
        if depth < visit.depth:
            visit.t, visit.depth = knot.t, depth
        if depth <= 0.0 and visit.crossed == inf:
            visit.crossed = _arrival(value, before, knot.t, self.side)
        if depth != 0.0:
            visit.zero_since = visit.zero_knot = inf
        elif visit.zero_knot == inf:
            visit.zero_since, visit.zero_knot = _arrival(value, before, knot.t, self.side), knot.t

    def _lasting(self, now: float, lasts: float) -> list[Root]:
        """Zero that has lasted is a root before it ends."""
        visit = self.visit
        if visit is None or not (visit.counts and now - visit.zero_knot > lasts):
            return []
        self.side, visit.counts = -self.side, False
        return [Root(visit.zero_since, self.side)]

    def _away(self, value: Function, before: float, knot: Knot, size: float) -> list[Root]:
        """The function is away from zero: a visit has ended, or the sign has changed on the way, or neither."""
        sign, side, visit = _sign(knot.value), self.side, self.visit
        self.side, self.visit = sign, None
        if sign == side:
            return [Root(visit.t, 0)] if visit is not None and visit.counts else []
        if visit is None:
            return _passage(value, before, knot.t, sign, size)
        if visit.counts and visit.crossed < inf:
            return [Root(visit.crossed, sign)]
        return [Root(_departure(value, before, knot.t, sign), sign)]

    # what is kept of a search

    def state(self) -> list[float]:
        visit = self.visit or Visit(False)
        numbers = (self.side, self.size, self.longest, self.visit is not None, *astuple(visit))
        return [float(number) for number in numbers]

    def restore(self, state: list[float]) -> None:
        side, self.size, self.longest, visiting, counts, *times = state
        if side not in (-1.0, 0.0, 1.0):
            raise ValueError(f"a side of zero cannot be {side}")
        self.side = int(side)
        self.visit = Visit(bool(counts), *times) if visiting else None


def _sign(value: float) -> int:
    return (value > 0.0) - (value < 0.0)


def _passage(value: Function, a: float, b: float, sense: int, size: float) -> list[Root]:
    """The root between two values of opposite sign; none if it is a pole."""
    from scipy.optimize import brentq

    ends = value(a), value(b)
    if ends[0] * ends[1] >= 0.0:  # the function has jumped between two intervals
        return [Root(a, sense)]
    t = float(brentq(value, a, b, xtol=1e-15, rtol=1e-14, maxiter=1000))
    return [] if abs(value(t)) > POLE * size else [Root(t, sense)]


def _arrival(value: Function, a: float, b: float, side: int) -> float:
    """The first time in (a, b] at which the value no longer has the sign `side`."""
    for _ in range(60):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if value(middle) * side > 0.0 else (a, middle)
    return b


def _departure(value: Function, a: float, b: float, side: int) -> float:
    """The last time in [a, b) at which the value does not yet have the sign `side`."""
    for _ in range(60):
        middle = 0.5 * (a + b)
        a, b = (a, middle) if value(middle) * side > 0.0 else (middle, b)
    return a
