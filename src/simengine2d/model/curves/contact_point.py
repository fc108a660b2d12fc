"""Gap between a curve and a point.

F = c' . (P - c) = 0,      g = n . (P - c) - radius,      P = (along, across)
"""

from __future__ import annotations

from math import inf, isfinite, nan, sqrt

from ...numerics.kernel import kernel
from .contact_arrays import CURVE, ITERATIONS, NEAR, NEARLY, SIDE, TARGET, inside, shortened, snapped
from .piecewise import SAMPLES, curve_at, first_sample, period_of, size_of


@kernel
def point(c, k, x, y, out):
    """Distance of the point P = (x, y) from the curve, minus the radius; its gradient and second derivatives.

    g_P = n,      g_PP = n_P = -side psi' |c'| / F_sigma t t^T,      psi' = c' x c'' / |c'|^2
    """
    target, side, curve = c.constants[k, TARGET], c.constants[k, SIDE], c.contacts[k, CURVE]
    sigma = foot(c, k, c.memory[k, 0], x, y)
    g = distance(c, k, sigma, x, y)
    if not (abs(g - target) <= NEAR * size_of(c.curves, c.numbers, curve)):
        sigma = foot(c, k, nearest(c, k, x, y), x, y)
        g = distance(c, k, sigma, x, y)
    c.memory[k, 0] = sigma
    cx, cy, dx, dy, ddx, ddy, _, _ = curve_at(c.curves, c.numbers, curve, sigma)
    speed = sqrt(dx * dx + dy * dy)
    tx, ty = dx / speed, dy / speed
    slope = (x - cx) * ddx + (y - cy) * ddy - speed * speed  # F_sigma
    bend = -side * (dx * ddy - dy * ddx) / (speed * slope)
    out[0], out[1], out[2] = g - target, side * ty, -side * tx
    out[3], out[4], out[5], out[6] = bend * tx * tx, bend * tx * ty, bend * tx * ty, bend * ty * ty


@kernel
def distance(c, k, sigma, x, y):
    """n . (P - c) at the foot, infinite if there is none."""
    if not isfinite(sigma):
        return inf
    cx, cy, dx, dy, _, _, _, _ = curve_at(c.curves, c.numbers, c.contacts[k, CURVE], sigma)
    return c.constants[k, SIDE] * (dy * (x - cx) - dx * (y - cy)) / sqrt(dx * dx + dy * dy)


@kernel
def foot(c, k, sigma, x, y):
    """The nearest point of the curve from an initial guess; nan if Newton's method does not converge."""
    curve = c.contacts[k, CURVE]
    period = period_of(c.curves, c.numbers, curve)
    last = False
    for _ in range(ITERATIONS):
        if not isfinite(sigma):
            return nan
        # Newton's step for F = 0, or downhill where the distance is not convex
        cx, cy, dx, dy, ddx, ddy, _, _ = curve_at(c.curves, c.numbers, curve, sigma)
        ex, ey = x - cx, y - cy
        F, slope = ex * dx + ey * dy, ex * ddx + ey * ddy - dx * dx - dy * dy
        step = -F / slope if slope < 0.0 else F / (dx * dx + dy * dy)
        step = shortened(step, period)
        sigma += step
        # one more step after a small one, from the grid
        if last:
            return inside(c, curve, sigma, period)
        last = slope < 0.0 and abs(step) <= NEARLY * period
        if last:
            sigma = snapped(c, curve, sigma, period)
    return nan


@kernel
def nearest(c, k, x, y):
    """The parameter of the sample nearest to a point."""
    at, best, sigma = first_sample(c.curves, c.contacts[k, CURVE]), inf, nan
    for j in range(SAMPLES):
        dx, dy = x - c.numbers[at + 5 * j + 1], y - c.numbers[at + 5 * j + 2]
        if dx * dx + dy * dy < best:
            best, sigma = dx * dx + dy * dy, c.numbers[at + 5 * j]
    return sigma
