"""Curves as piecewise polynomials: the form in which kernels know a curve, and how any curve is converted to it.

On each piece, with w from -1 to 1, x and y are polynomials of degree 7 with the values and slopes of the curve at four
points. Their error falls with the eighth power of the length; pieces are halved until it is at rounding level, so that
x, y and their first three derivatives are those of the curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import atan2, hypot, sqrt
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from ...errors import ModelError
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel

Sampler = Callable[[Floats], Floats]
"""From parameters sigma to the columns x, y, dx/dsigma, dy/dsigma."""

DEGREE = 7
INNER = 1.0 - 1e-12  # not quite the ends, where derivatives may jump
NODES = np.array([-INNER, -sqrt(0.2), sqrt(0.2), INNER])
BETWEEN = np.array([-0.75, 0.0, 0.75])
FIRST_PIECES = 64
MOST_HALVINGS = 14
SMOOTH, SLOPE = 3e-14, 1e-13  # errors at which a piece is accepted, relative to the size of the curve
GOOD = 1e-6  # error of the smallest piece above which the curve is refused
CORNER = 1e-5  # rad
SAMPLES = 128  # points from which the search for a contact starts

QUADRATURE_NODES, QUADRATURE_WEIGHTS = (tuple(part.tolist()) for part in leggauss(8))


class Pieces(NamedTuple):
    """A curve in numbers. It is `closed` or has two ends; its tangent turns by `turning` in total."""

    knots: Floats  # (n + 1,)
    x: Floats  # (n, 8), ascending powers of w
    y: Floats
    lengths: Floats  # (n + 1,), arc length at the knots
    angles: Floats  # (n,), of the tangent at the start of each piece, continuous
    samples: Floats  # (SAMPLES, 5): sigma, x, y and the unit tangent
    closed: bool
    outward: float
    """1 if the outside is on the right of the direction of travel, -1 if on the left."""
    turning: float
    size: float
    """The largest extent."""


def fitted(sample: Sampler, breaks: Sequence[float], closed: bool, what: str) -> Pieces:
    """The pieces of a curve that is smooth between `breaks`."""
    count = max(1, FIRST_PIECES // (len(breaks) - 1))
    edges = np.concatenate([np.linspace(a, b, count + 1)[:-1] for a, b in pairwise(breaks)])
    edges = np.append(edges, breaks[-1])
    middles, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    size = _extent(sample(edges), what)
    done: list[tuple[Floats, Floats, Floats]] = []
    for halving in range(MOST_HALVINGS + 1):
        x, y, error, slope = _polynomials(sample, middles, half)
        fine = (error <= SMOOTH * size) & (slope <= SLOPE * size)
        if halving == MOST_HALVINGS:
            _refuse_jumps(middles, error, size, what)
            fine[:] = True
        done.append((np.column_stack([middles, half])[fine], x[fine], y[fine]))
        if fine.all():
            break
        middles, half = middles[~fine], half[~fine] / 2
        middles = np.concatenate([middles - half, middles + half])
        half = np.concatenate([half, half])
    places, x, y = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.argsort(places[:, 0])
    return _measured(places[order], x[order], y[order], closed, size, what)


def _extent(points: Floats, what: str) -> float:
    if not np.all(np.isfinite(points)):
        raise ModelError(f"{what} is not finite everywhere.")
    size = float(np.ptp(points[:, :2], axis=0).max())
    if size == 0.0:
        raise ModelError(f"{what} is a single point.")
    return size


def _polynomials(sample: Sampler, middles: Floats, half: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Coefficients of x and y, and the errors of values and slopes between the nodes."""
    powers = np.arange(DEGREE + 1)
    values = np.vander(NODES, DEGREE + 1, increasing=True)
    slopes = _slopes_of(NODES, powers)
    solve = np.linalg.inv(np.vstack([values, slopes]))
    at = sample((middles[:, None] + half[:, None] * NODES).ravel()).reshape(len(middles), len(NODES), 4)
    scale = half[:, None]
    coefficients = [np.hstack([at[:, :, c], at[:, :, c + 2] * scale]) @ solve.T for c in range(2)]
    true = sample((middles[:, None] + half[:, None] * BETWEEN).ravel()).reshape(len(middles), len(BETWEEN), 4)
    error, slope = np.zeros(len(middles)), np.zeros(len(middles))
    for c in range(2):
        off = coefficients[c] @ np.vander(BETWEEN, DEGREE + 1, increasing=True).T - true[:, :, c]
        slope_off = coefficients[c] @ _slopes_of(BETWEEN, powers).T - true[:, :, c + 2] * scale
        error = np.maximum(error, np.abs(off).max(axis=1))
        slope = np.maximum(slope, np.abs(slope_off).max(axis=1))
    return coefficients[0], coefficients[1], error, slope


def _slopes_of(w: Floats, powers: Ints) -> Floats:
    raised = np.maximum(powers - 1, 0).astype(float)
    return np.asarray(powers * w[:, None] ** raised, dtype=float)


def _refuse_jumps(middles: Floats, error: Floats, size: float, what: str) -> None:
    if error.max() > GOOD * size:
        where = middles[int(error.argmax())]
        raise ModelError(f"{what} jumps near {where:.6g}; a contact needs a smooth curve.")


def _measured(places: Floats, x: Floats, y: Floats, closed: bool, size: float, what: str) -> Pieces:
    """Lengths, angles and samples of the polynomials."""
    knots = np.append(places[:, 0] - places[:, 1], places[-1].sum())
    nodes, weights = leggauss(16)
    slopes = [part[:, 1:] * np.arange(1, DEGREE + 1) for part in (x, y)]
    dx, dy = (part @ np.vander(nodes, DEGREE, increasing=True).T for part in slopes)
    speed = np.hypot(dx, dy)
    if speed.min() <= 1e-9 * speed.max() * float(places[:, 1].min() / places[:, 1].max()):
        raise ModelError(f"{what} has zero speed near {places[int(speed.min(axis=1).argmin()), 0]:.6g}.")
    lengths = np.append(0.0, np.cumsum(speed @ weights))
    ends = np.array([-1.0, *nodes, 1.0])
    dx, dy = (part @ np.vander(ends, DEGREE, increasing=True).T for part in slopes)
    angles = np.unwrap(np.arctan2(dy, dx).ravel()).reshape(dx.shape)
    _refuse_corners(places, angles, what)
    turning = float(angles[-1, -1] - angles[0, 0])
    bare = Pieces(knots, x, y, lengths, angles[:, 0].copy(), np.zeros((0, 5)), closed, 1.0, turning, size)
    marks = np.interp(np.linspace(0.0, lengths[-1], SAMPLES + 1)[:SAMPLES], lengths, knots)
    samples = np.array([_sampled(bare, float(sigma)) for sigma in marks])
    area = float(
        np.sum(samples[:, 1] * np.roll(samples[:, 2], -1) - samples[:, 2] * np.roll(samples[:, 1], -1))
    )
    return bare._replace(samples=samples, outward=-1.0 if closed and area < 0.0 else 1.0)


def _refuse_corners(places: Floats, angles: Floats, what: str) -> None:
    """Refuse tangents that jump between two pieces, or inside one that was halved without end."""
    between = np.append(np.abs(angles[1:, 0] - angles[:-1, -1]), 0.0) > CORNER
    tiny = places[:, 1] < 1e-4 * places[:, 1].sum()
    corners = between | (tiny & (np.ptp(angles, axis=1) > 0.01))
    if corners.any():
        middle, half = places[int(corners.argmax())]
        raise ModelError(f"{what} has a corner near {middle + half:.6g}; a contact needs a smooth curve.")


def _sampled(pieces: Pieces, sigma: float) -> list[float]:
    x, y, dx, dy, *_ = at(pieces, sigma)
    speed = hypot(dx, dy)
    return [sigma, x, y, dx / speed, dy / speed]


def at(pieces: Pieces, sigma: float) -> tuple[float, ...]:
    """x, y and their first, second and third derivatives."""
    table, numbers = packed([pieces])
    return tuple(float(part) for part in curve_at(table, numbers, 0, float(sigma)))


# Kernels ----------------------------------------------------------------------------------------------

# columns of the table of curves: start of its numbers, count of pieces, whether it is closed
START, COUNT, CLOSED = range(3)
KNOTS_FIRST = 2  # after turning and size
COEFFICIENTS = 2 * (DEGREE + 1)


def packed(curves: Sequence[Pieces]) -> tuple[Ints, Floats]:
    """Curves as a table and one array: turning, size, knots, coefficients by piece, lengths, angles, samples."""
    table, parts, start = [], [], 0
    for curve in curves:
        coefficients = np.hstack([curve.x, curve.y]).ravel()
        head = np.array([curve.turning, curve.size])
        numbers = [head, curve.knots, coefficients, curve.lengths, curve.angles, curve.samples.ravel()]
        table.append((start, len(curve.x), int(curve.closed)))
        parts += numbers
        start += sum(part.size for part in numbers)
    return np.array(table, dtype=np.int64).reshape(-1, 3), np.concatenate([*parts, np.zeros(0)])


@kernel
def size_of(table, numbers, k):
    return numbers[table[k, START] + 1]


@kernel
def period_of(table, numbers, k):
    """The parameter range of a closed curve once around, or of an open one from end to end."""
    first = table[k, START] + KNOTS_FIRST
    return numbers[first + table[k, COUNT]] - numbers[first]


@kernel
def piece_at(table, numbers, k, sigma):
    """The piece of curve k that contains sigma, and sigma wrapped into the range of a closed curve."""
    first, n = table[k, START] + KNOTS_FIRST, table[k, COUNT]
    low = numbers[first]
    if table[k, CLOSED] == 1:
        sigma = low + (sigma - low) % (numbers[first + n] - low)
    i, after = 0, n
    while after - i > 1:
        middle = (i + after) // 2
        if sigma < numbers[first + middle]:
            after = middle
        else:
            i = middle
    return i, sigma


@kernel
def curve_at(table, numbers, k, sigma):
    """x, y and their first, second and third derivatives of curve k."""
    i, sigma = piece_at(table, numbers, k, sigma)
    first, n = table[k, START] + KNOTS_FIRST, table[k, COUNT]
    a, b = numbers[first + i], numbers[first + i + 1]
    half = 0.5 * (b - a)
    w = (sigma - 0.5 * (a + b)) / half
    row = first + n + 1 + COEFFICIENTS * i
    x, x1, x2, x3 = polynomial(numbers, row, w)
    y, y1, y2, y3 = polynomial(numbers, row + DEGREE + 1, w)
    f1, f2, f3 = 1.0 / half, 1.0 / (half * half), 1.0 / (half * half * half)
    return x, y, x1 * f1, y1 * f1, x2 * f2, y2 * f2, x3 * f3, y3 * f3


@kernel
def polynomial(c, row, w):
    """Value and first three derivatives, by Horner's scheme."""
    p0, p1, p2, p3 = c[row + DEGREE], 0.0, 0.0, 0.0
    for j in range(DEGREE - 1, -1, -1):
        p3 = p3 * w + p2
        p2 = p2 * w + p1
        p1 = p1 * w + p0
        p0 = p0 * w + c[row + j]
    return p0, p1, 2.0 * p2, 6.0 * p3


@kernel
def length_at(table, numbers, k, sigma):
    """Arc length from the first knot; for a closed curve within one turn."""
    i, sigma = piece_at(table, numbers, k, sigma)
    first, n = table[k, START] + KNOTS_FIRST, table[k, COUNT]
    a = numbers[first + i]
    half, total = 0.5 * (sigma - a), 0.0
    for j in range(len(QUADRATURE_NODES)):
        _, _, x1, y1, _, _, _, _ = curve_at(table, numbers, k, a + half * (1.0 + QUADRATURE_NODES[j]))
        total += QUADRATURE_WEIGHTS[j] * hypot(x1, y1)
    return numbers[first + n + 1 + COEFFICIENTS * n + i] + half * total


@kernel
def total_length(table, numbers, k):
    first, n = table[k, START] + KNOTS_FIRST, table[k, COUNT]
    return numbers[first + n + 1 + COEFFICIENTS * n + n]


@kernel
def tangent_angle(table, numbers, k, sigma):
    """Angle of the tangent, continuous from the first knot."""
    i, sigma = piece_at(table, numbers, k, sigma)
    first, n = table[k, START] + KNOTS_FIRST, table[k, COUNT]
    _, _, ax, ay, _, _, _, _ = curve_at(table, numbers, k, numbers[first + i])
    _, _, bx, by, _, _, _, _ = curve_at(table, numbers, k, sigma)
    start = numbers[first + n + 1 + COEFFICIENTS * n + n + 1 + i]
    return start + atan2(ax * by - ay * bx, ax * bx + ay * by)


@kernel
def first_sample(table, k):
    """Index of the first sample of a curve."""
    n = table[k, COUNT]
    return table[k, START] + KNOTS_FIRST + (n + 1) + COEFFICIENTS * n + (n + 1) + n
