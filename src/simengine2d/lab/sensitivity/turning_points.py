"""Where a channel is largest between its outputs: polynomials through a few of its values.

On a short interval a smooth channel is a Chebyshev series whose coefficients vanish quickly. Where they do not, the
interval is made smaller; where that does not help, the channel has a kink.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebpts1, chebvander

from ...numerics.arrays import Floats

DEGREE = 12
RESOLVED, SHARP = 1e-6, 1e-9
"""Parts of the change within an interval that the last coefficients may have; and those at which peaks are sharp."""
ROUNDING = 1e-10
"""Of the values."""
SMALLEST = 1e-6
"""Of the first interval."""
NARROW = 0.25
CANDIDATES = 4
"""Peaks that are looked at."""

ITERATIONS, CLOSE = 6, 1e-11
"""Of Newton's method; in parts of the interval."""
SETTLING = 4
"""Of Newton's method from the highest of many places: its errors are squared each time."""

Rate = Callable[[float], float]
"""The rate of change at a time."""
Read = Callable[[Floats], Floats]
"""The values at some times."""


class TurningPoint(NamedTuple):
    """A largest value; `at_end` where the interval ends there, `kink` where the slope jumps."""

    t: float
    value: float
    at_end: bool = False
    kink: bool = False


ORDERS = np.arange(DEGREE + 1.0)
SIGNS = (-1.0) ** ORDERS
_GRID, _GAP = np.linspace(0.0, np.pi, 8 * DEGREE + 1, retstep=True)
_ON_GRID = np.cos(np.multiply.outer(_GRID, ORDERS))

POINTS = chebpts1(DEGREE + 1)
_FITTED = np.linalg.inv(chebvander(POINTS, DEGREE))


def places_of_series(low: float, high: float) -> Floats:
    """Where a series needs values."""
    return 0.5 * (low + high) + 0.5 * (high - low) * POINTS


def series_through(values: Floats, low: float, high: float) -> Chebyshev:
    return Chebyshev(_FITTED @ values, domain=[low, high])


def series(read: Read, low: float, high: float) -> Chebyshev:
    return series_through(read(places_of_series(low, high)), low, high)


def is_resolved(polynomial: Chebyshev) -> bool:
    return _last_part(polynomial, ROUNDING) <= RESOLVED


def is_sharp(polynomial: Chebyshev) -> bool:
    return _last_part(polynomial, 0.0) <= SHARP


def _last_part(polynomial: Chebyshev, rounding: float) -> float:
    """The last coefficients against the change within the interval, but for rounding of the values."""
    coefficients = np.abs(polynomial.coef)
    rest, change = coefficients[-2:].max() - rounding * coefficients[0], coefficients[1:].max(initial=0.0)
    return float(rest / change) if rest > 0.0 else 0.0


def largest_values(read: Read, t: Floats, begin: float, end: float) -> list[TurningPoint]:
    """The peaks that may be the largest, sharpened beside the samples at t; the largest first."""
    if begin == end:
        return [TurningPoint(end, float(read(np.array([end]))[0]), at_end=True)]
    values = read(t)
    largest, between = float(values.max()), np.concatenate([[begin], t, [end]])
    spans = [_beside(between, k) for k, reach in _highest(values) if not reach < largest]
    around = read(np.concatenate([places_of_series(*span) for span in spans]))
    parts = np.split(around, len(spans))
    first = [series_through(part, *span) for part, span in zip(parts, spans, strict=True)]
    return sorted((_sharpened(read, begin, end, each) for each in first), key=lambda peak: -peak.value)


def _beside(between: Floats, k: int) -> tuple[float, float]:
    """From the sample before to the one after, or to the ends."""
    return float(between[k]), float(between[k + 2])


def _highest(values: Floats) -> list[tuple[int, float]]:
    """The outputs beside which the largest value may be, and what it may reach.

    A parabola rises above its largest output by at most an eighth of the second difference, other channels by twice
    that. Beyond the first and the last output, which the ends are closer to than to the next one, it rises by at most
    twice what it has just risen.
    """
    beside = np.concatenate([[-np.inf], values, [-np.inf]])
    local = np.flatnonzero((values >= beside[:-2]) & (values >= beside[2:]))
    rise = 0.25 * (2.0 * values - beside[:-2] - beside[2:])
    at_ends = 2.0 * np.abs(np.diff(values, prepend=values[:1], append=values[-1:]))
    at_ends = np.maximum(at_ends[:-1], at_ends[1:]) if values.size > 1 else np.array([np.inf])
    reach = values + np.where(np.isfinite(rise), rise, at_ends)
    order = local[np.argsort(-reach[local], kind="stable")][:CANDIDATES].tolist()
    return [(k, float(reach[k])) for k in dict.fromkeys([int(np.argmax(values)), *order])]


def _sharpened(read: Read, begin: float, end: float, polynomial: Chebyshev) -> TurningPoint:
    """The peak on an interval: with a part of it that polynomials resolve, and once more on a part of that."""
    low, high = polynomial.domain.tolist()
    smallest, resolved = SMALLEST * (high - low), False
    while True:
        place = _place_of_maximum(polynomial)
        if resolved or is_sharp(polynomial) or (is_resolved(polynomial) and place in (low, high)):
            return TurningPoint(place, float(polynomial(place)), at_end=place in (begin, end))
        resolved = is_resolved(polynomial)
        if not resolved and high - low < smallest:
            return TurningPoint(place, float(polynomial(place)), kink=True)
        half = 0.5 * NARROW * (high - low)
        low, high = max(place - half, low), min(place + half, high)
        polynomial = series(read, low, high)


def _place_of_maximum(polynomial: Chebyshev) -> float:
    """The highest of all peaks and ends, by Newton's method for f' = 0 of f(u) = sum c_k cos(k u), x = -cos u."""
    low, high = polynomial.domain.tolist()
    c = np.asarray(polynomial.coef, dtype=np.float64) * SIGNS
    values = _ON_GRID @ c
    beside = np.concatenate([[-np.inf], values, [-np.inf]])
    u = _GRID[(values >= beside[:-2]) & (values >= beside[2:])]
    for _ in range(SETTLING):
        angles = np.multiply.outer(u, ORDERS)
        slope, bend = -np.sin(angles) @ (ORDERS * c), -np.cos(angles) @ (ORDERS**2 * c)
        step = np.where(bend < 0.0, -slope / np.where(bend < 0.0, bend, 1.0), 0.0)
        u = np.clip(u + np.clip(step, -_GAP, _GAP), 0.0, np.pi)
    best = float(u[np.argmax(np.cos(np.multiply.outer(u, ORDERS)) @ c)])
    if best in (0.0, np.pi):
        return low if best == 0.0 else high
    return 0.5 * (low + high) - 0.5 * (high - low) * math.cos(best)


def newton(value: Rate, slope: Rate, t: float, low: float, high: float) -> float:
    """The zero of a function near t, where its slope is known roughly."""
    for _ in range(ITERATIONS):
        steepness = slope(t)
        step = value(t) / steepness if steepness else 0.0
        t = min(max(t - step, low), high)
        if abs(step) <= CLOSE * (high - low):
            break
    return t
