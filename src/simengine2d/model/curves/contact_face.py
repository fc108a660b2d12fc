"""Gap between a curve and a straight face with the normal m in the frame of the curve.

F = c' . m = 0,      g = -side across - c . m,      m = (cos alpha, sin alpha)
"""

from __future__ import annotations

from math import cos, inf, isfinite, nan, pi, sin

from ...numerics.kernel import kernel
from .contact_arrays import CURVE, ITERATIONS, NEAR, NEARLY, SIDE, TARGET, inside, shortened, snapped
from .piecewise import SAMPLES, curve_at, first_sample, period_of, size_of


@kernel
def face(c, k, across, angle, out):
    """The gap, its gradient and second derivatives; p = c . m is the extent of the curve along the normal.

    g = -side across - p - target,     p_alpha = c . l,     p_alphaalpha = -c . m - (c' . l)^2 / F_sigma,   l = m_alpha
    """
    target, side, curve = c.constants[k, TARGET], c.constants[k, SIDE], c.contacts[k, CURVE]
    alpha = angle + 0.5 * pi * side
    mx, my = cos(alpha), sin(alpha)
    sigma = summit(c, curve, c.memory[k, 0], mx, my)
    g = -side * across - reach(c, curve, sigma, mx, my) - target
    if not (abs(g) <= NEAR * size_of(c.curves, c.numbers, curve)):
        sigma = summit(c, curve, farthest(c, curve, mx, my), mx, my)
        g = -side * across - reach(c, curve, sigma, mx, my) - target
    c.memory[k, 0] = sigma
    cx, cy, dx, dy, ddx, ddy, _, _ = curve_at(c.curves, c.numbers, curve, sigma)
    by_l = -my * dx + mx * dy
    bend = -(cx * mx + cy * my) - by_l * by_l / (ddx * mx + ddy * my)
    out[0], out[1], out[2] = g, -side, my * cx - mx * cy
    out[3], out[4], out[5], out[6] = 0.0, 0.0, 0.0, -bend


@kernel
def reach(c, curve, sigma, mx, my):
    """c . m, infinite if there is no maximum."""
    if not isfinite(sigma):
        return inf
    cx, cy, _, _, _, _, _, _ = curve_at(c.curves, c.numbers, curve, sigma)
    return cx * mx + cy * my


@kernel
def summit(c, curve, sigma, mx, my):
    """Where the curve extends farthest along m, from an initial guess; nan if Newton's method does not converge."""
    period = period_of(c.curves, c.numbers, curve)
    last = False
    for _ in range(ITERATIONS):
        if not isfinite(sigma):
            return nan
        _, _, dx, dy, ddx, ddy, _, _ = curve_at(c.curves, c.numbers, curve, sigma)
        F, slope = dx * mx + dy * my, ddx * mx + ddy * my
        step = -F / slope if slope < 0.0 else F * period / abs(F) if F != 0.0 else 0.0
        step = shortened(step, period)
        sigma += step
        if last:
            return inside(c, curve, sigma, period)
        last = slope < 0.0 and abs(step) <= NEARLY * period
        if last:
            sigma = snapped(c, curve, sigma, period)
    return nan


@kernel
def farthest(c, curve, mx, my):
    """The parameter of the sample that extends farthest along m."""
    at, best, sigma = first_sample(c.curves, curve), -inf, nan
    for j in range(SAMPLES):
        height = c.numbers[at + 5 * j + 1] * mx + c.numbers[at + 5 * j + 2] * my
        if height > best:
            best, sigma = height, c.numbers[at + 5 * j]
    return sigma
