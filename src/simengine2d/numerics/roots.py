"""Roots of a function inside an interval, located by its turning points and not by its signs at the ends.

The function is approximated by Chebyshev polynomials on intervals that are halved until they fit. Between two adjacent
turning points there is at most one root, which is then located on the function itself. Kinks and jumps are enclosed by
bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from .arrays import Floats

Function = Callable[[float], float]

DEGREE = 16
FITS = 1e-10  # last coefficients, relative to the values of a piece, at which a polynomial fits
NOISE = 1e-13  # rounding errors, relative to the values on the whole interval
SHORTEST = 1e-13  # length of a piece around a kink or a jump, relative to the interval
TOUCHES = 1e-11  # distance from zero, relative to the values, at which a turning point touches it
POLE = 10.0  # a sign change where the function exceeds all values by this factor is a pole


class Root(NamedTuple):
    """`sense` is 1 if the function rises through zero, -1 if it falls, 0 if it only touches zero."""

    t: float
    sense: int


class Knot(NamedTuple):
    """A sampled value; between two knots the function is monotonic."""

    t: float
    value: float
    turns: bool


class Sign(NamedTuple):
    t: float
    sign: int


def roots_in(
    value: Function, t0: float, t1: float, *, touching: float = 0.0, side: int | None = None
) -> list[Root]:
    """The roots in (t0, t1], in order.

    A turning point whose value is at most `touching` (or rounding) touches zero. `side` is the sign that the function
    had at t0 and before; None takes that of its value, and a zero there does not count. With 0, the function starts
    at zero, and the moment at which it leaves counts. An interval of zeros counts at its beginning, and at its end
    too if the function returns to the side it came from.
    """
    knots, size = knots_in(value, t0, t1)
    touching = max(touching, TOUCHES * size)
    signs = [0 if k.turns and abs(k.value) <= touching else int(np.sign(k.value)) for k in knots]
    signs[0] = signs[0] if side is None else side
    roots = _roots_of(value, [Sign(knot.t, sign) for knot, sign in zip(knots, signs, strict=True)], size)
    return roots[1:] if side is None and signs[0] == 0 else roots


def turning_points_in(value: Function, t0: float, t1: float) -> list[tuple[float, float]]:
    """The extrema inside the interval, (t, value), in order."""
    knots, _ = knots_in(value, t0, t1, everywhere=True)
    return [
        (knot.t, knot.value)
        for before, knot, after in zip(knots, knots[1:], knots[2:], strict=False)
        if (knot.value - before.value) * (after.value - knot.value) < 0.0
    ]


# Knots ------------------------------------------------------------------------------------------------


def knots_in(value: Function, t0: float, t1: float, everywhere: bool = False) -> tuple[list[Knot], float]:
    """The ends of the interval and of its pieces, and the turning points in each; and the size of the values.

    Turning points of pieces that stay away from zero are omitted unless they are wanted `everywhere`.
    """
    knots = [Knot(t0, value(t0), False)]
    size = 0.0
    pieces = [(t0, t1)]
    while pieces:
        a, b = pieces.pop()
        values = np.array([value(t) for t in _places(a, b)])
        local = float(np.abs(values).max())
        size = size or local
        c = _to_coefficients() @ values
        middle = 0.5 * (a + b)
        if not everywhere and _away_from_zero(values):
            pass
        elif np.abs(c[-3:]).max() <= max(FITS * local, NOISE * size):
            if everywhere or abs(c[0]) <= 1.001 * np.abs(c[1:]).sum():
                knots += [Knot(t, value(t), True) for t in _turns(value, c, a, b)]
        elif b - a <= SHORTEST * (t1 - t0) or not a < middle < b:
            knots.append(Knot(middle, value(middle), True))
        else:
            pieces += [(middle, b), (a, middle)]
            continue
        knots.append(Knot(b, float(values[-1]), False))
    return _with_corners(knots), size


def _with_corners(knots: list[Knot]) -> list[Knot]:
    """The same knots with corners marked: the function may turn where two pieces meet."""
    inner = [
        knot._replace(turns=knot.turns or (knot.value - before.value) * (after.value - knot.value) < 0.0)
        for before, knot, after in zip(knots, knots[1:], knots[2:], strict=False)
    ]
    return [knots[0], *inner, knots[-1]]


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
    return [_sharpened(value, float(each), 0.01 * (b - a)) for each in t if a < each < b]


def _sharpened(value: Function, t: float, reach: float) -> float:
    """A turning point refined from four values close to it: the vertex of the cubic through them."""
    x = np.array([-1.0, -0.4, 0.4, 1.0])
    try:
        _, b, c, d = np.polynomial.polynomial.polyfit(x, [value(t + reach * each) for each in x], 3)
    except (ValueError, np.linalg.LinAlgError):
        return t
    # the root of b + 2 c x + 3 d x^2 that is near zero
    inside = c * c - 3.0 * b * d
    moved = -b / (c + np.copysign(np.sqrt(inside), c)) if inside > 0.0 and c != 0.0 else 0.0
    return t + reach * float(moved) if abs(moved) < 0.5 else t


@cache
def _points() -> Floats:
    return -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)


@cache
def _to_coefficients() -> Floats:
    """The matrix from values at Chebyshev points to the coefficients of the polynomial through them."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_points(), DEGREE)), dtype=float)


# Roots ------------------------------------------------------------------------------------------------


def _roots_of(value: Function, signs: list[Sign], size: float) -> list[Root]:
    """The roots between knots of known sign."""
    roots: list[Root] = []
    side, k = signs[0].sign, 1
    while k < len(signs):
        before, now = signs[k - 1], signs[k]
        if side == 0:
            if now.sign != 0:
                roots.append(Root(_departure(value, before.t, now.t, now.sign), now.sign))
            side = now.sign
        elif now.sign == -side:
            roots += _passage(value, before.t, now.t, now.sign, size)
            side = now.sign
        elif now.sign == 0:
            after = next((j for j in range(k + 1, len(signs)) if signs[j].sign != 0), None)
            roots += _at_zero(value, signs, k, after, side, size)
            side = -side if after is None else signs[after].sign
            k = len(signs) if after is None else after
        k += 1
    return roots


def _passage(value: Function, a: float, b: float, sense: int, size: float) -> list[Root]:
    """The root between two values of opposite sign; none if it is a pole."""
    from scipy.optimize import brentq

    ends = value(a), value(b)
    if ends[0] * ends[1] >= 0.0:  # the sign at the beginning was carried over from an earlier step
        return [Root(a if abs(ends[0]) < abs(ends[1]) else b, sense)]
    t = float(brentq(value, a, b, xtol=1e-15, rtol=1e-14, maxiter=1000))
    return [] if abs(value(t)) > POLE * size else [Root(t, sense)]


def _at_zero(
    value: Function, signs: list[Sign], k: int, after: int | None, side: int, size: float
) -> list[Root]:
    """The roots where the function becomes zero at knot k and nonzero again at the knot `after`."""
    last = signs[-1 if after is None else after - 1].t
    lasts = last - signs[k].t > 1e3 * SHORTEST * (signs[-1].t - signs[0].t)
    begin = _arrival(value, signs[k - 1].t, signs[k].t, side) if lasts else signs[k].t
    if after is None:
        return [Root(begin, -side)]
    if signs[after].sign == -side:
        return [Root(begin, -side)] if lasts else _passage(value, signs[k - 1].t, signs[after].t, -side, size)
    if not lasts:
        return [Root(begin, 0)]
    return [Root(begin, -side), Root(_departure(value, last, signs[after].t, side), side)]


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
