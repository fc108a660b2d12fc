"""Contact of two curves: the gap between them, and how far one has rolled on the other.

With u = (d_x, d_y, theta), the pose of frame b in frame a, and the second curve as seen from a, w = R(theta) c_b:

    P = d + w,   e = P - c,      F_1 = e . c' = 0,   F_2 = c' x w' = 0,      gap = n . e

The contact point moves along both curves, without slip by equal lengths: s_a - sense s_b is constant. Closed curves are
measured over any number of turns: their tangents show how often b has turned relative to a. It remains open how often
the contact has gone around both, so the sum is known up to that of the two circumferences.
"""

from __future__ import annotations

from math import cos, floor, inf, isfinite, nan, pi, sin, sqrt

from ...numerics.kernel import kernel
from .contact_arrays import (
    CURVE,
    GAP,
    ITERATIONS,
    KIND,
    NEAR,
    NEARLY,
    OTHER,
    SENSE,
    SIDE,
    TARGET,
    inside,
    shortened,
    snapped,
)
from .piecewise import (
    CLOSED,
    SAMPLES,
    START,
    curve_at,
    first_sample,
    length_at,
    period_of,
    size_of,
    tangent_angle,
    total_length,
)

ALIGNED = 0.9  # cosine of the angle between the tangents from which the search for a contact begins


@kernel
def mesh(c, k, x, y, theta, out):
    """The gap or the rolling, its gradient and second derivatives with respect to d_x, d_y and theta."""
    sigma, tau = touch(c, k, c.memory[k, 0], c.memory[k, 1], x, y, theta)
    gap = gap_at(c, k, sigma, tau, x, y, theta)
    if not (abs(gap) <= NEAR * size_of(c.curves, c.numbers, c.contacts[k, CURVE])):
        sigma, tau = search(c, k, x, y, theta)
        sigma, tau = touch(c, k, sigma, tau, x, y, theta)
        gap = gap_at(c, k, sigma, tau, x, y, theta)
    c.memory[k, 0], c.memory[k, 1] = sigma, tau
    if c.contacts[k, KIND] == GAP:
        out[0] = gap - c.constants[k, TARGET]
    else:
        out[0] = lengths_rolled(c, k, sigma, tau, theta)
    # along one direction after another; 2 g_jk = g''(e_j + e_k) - g''(e_j) - g''(e_k)
    for j in range(3):
        out[1 + j], out[4 + 4 * j] = along(c, k, sigma, tau, x, y, theta, j, j)
    for j in range(3):
        for i in range(j):
            _, both = along(c, k, sigma, tau, x, y, theta, i, j)
            out[4 + 3 * i + j] = out[4 + 3 * j + i] = 0.5 * (both - out[4 + 4 * i] - out[4 + 4 * j])


@kernel
def along(c, k, sigma, tau, x, y, theta, i, j):
    """First and second derivatives along the direction in which the measures i and j grow."""
    if not (isfinite(sigma) and isfinite(tau)):
        return nan, nan
    x1, y1 = 1.0 if i == 0 or j == 0 else 0.0, 1.0 if i == 1 or j == 1 else 0.0
    t1 = 1.0 if i == 2 or j == 2 else 0.0
    cx, cy, c1x, c1y, c2x, c2y, c3x, c3y = curve_at(c.curves, c.numbers, c.contacts[k, CURVE], sigma)
    w, w1, w2, w3 = turned_curve(c, c.contacts[k, OTHER], tau, theta)
    ex, ey = x + w[0] - cx, y + w[1] - cy
    jacobian = matrix(ex, ey, c1x, c1y, c2x, c2y, w1, w2)
    # F' = 0 gives sigma' and tau';   V = d' + theta' J w is the velocity of P for constant tau
    vx, vy = x1 - t1 * w[1], y1 + t1 * w[0]
    s1, r1 = solve(jacobian, -(vx * c1x + vy * c1y), -t1 * (c1x * w1[0] + c1y * w1[1]))
    if c.contacts[k, KIND] == GAP:
        return gap_along(c, k, t1, c1x, c1y, c2x, c2y, w, w1, vx, vy, s1, r1)
    # F'' = 0 gives sigma'' and tau''; these are the terms without them
    e1x, e1y = vx + w1[0] * r1 - c1x * s1, vy + w1[1] * r1 - c1y * s1
    e2x = -t1 * w[0] - 2.0 * t1 * w1[1] * r1 + w2[0] * r1 * r1 - c2x * s1 * s1
    e2y = -t1 * w[1] + 2.0 * t1 * w1[0] * r1 + w2[1] * r1 * r1 - c2y * s1 * s1
    F1 = e2x * c1x + e2y * c1y + 2.0 * s1 * (e1x * c2x + e1y * c2y) + s1 * s1 * (ex * c3x + ey * c3y)
    p1x, p1y = w2[0] * r1 - t1 * w1[1], w2[1] * r1 + t1 * w1[0]
    p2x = w3[0] * r1 * r1 - 2.0 * t1 * r1 * w2[1] - t1 * w1[0]
    p2y = w3[1] * r1 * r1 + 2.0 * t1 * r1 * w2[0] - t1 * w1[1]
    F2 = s1 * s1 * (c3x * w1[1] - c3y * w1[0]) + 2.0 * s1 * (c2x * p1y - c2y * p1x) + c1x * p2y - c1y * p2x
    s2, r2 = solve(jacobian, -F1, -F2)
    return rolling_along(c.constants[k, SENSE], c1x, c1y, c2x, c2y, w1, w2, s1, r1, s2, r2)


@kernel
def turned_curve(c, b, tau, theta):
    """The second curve and its derivatives, in frame a."""
    x, y, x1, y1, x2, y2, x3, y3 = curve_at(c.curves, c.numbers, b, tau)
    u, v = cos(theta), sin(theta)
    return (
        (u * x - v * y, v * x + u * y),
        (u * x1 - v * y1, v * x1 + u * y1),
        (u * x2 - v * y2, v * x2 + u * y2),
        (u * x3 - v * y3, v * x3 + u * y3),
    )


@kernel
def matrix(ex, ey, c1x, c1y, c2x, c2y, w1, w2):
    """Derivatives of F_1 and F_2 with respect to sigma and tau."""
    return (
        ex * c2x + ey * c2y - c1x * c1x - c1y * c1y,
        w1[0] * c1x + w1[1] * c1y,
        c2x * w1[1] - c2y * w1[0],
        c1x * w2[1] - c1y * w2[0],
    )


@kernel
def solve(m, f1, f2):
    determinant = m[0] * m[3] - m[1] * m[2]
    if determinant == 0.0:
        return nan, nan
    return (f1 * m[3] - m[1] * f2) / determinant, (m[0] * f2 - m[2] * f1) / determinant


@kernel
def gap_along(c, k, t1, c1x, c1y, c2x, c2y, w, w1, vx, vy, s1, r1):
    """g' = n . V      g'' = n' . V + n . V',   V' = theta' J (w' tau' + theta' J w)"""
    side, speed2 = c.constants[k, SIDE], c1x * c1x + c1y * c1y
    speed = sqrt(speed2)
    nx, ny = side * c1y / speed, -side * c1x / speed
    turn = side * (c1x * c2y - c1y * c2x) / speed2 * s1
    ax, ay = -t1 * (w1[1] * r1 + t1 * w[0]), t1 * (w1[0] * r1 - t1 * w[1])
    return nx * vx + ny * vy, turn * (c1x * vx + c1y * vy) / speed + nx * ax + ny * ay


@kernel
def rolling_along(sense, c1x, c1y, c2x, c2y, w1, w2, s1, r1, s2, r2):
    """Of s_a - sense s_b:   s' = |c'| sigma',   s'' = |c'| sigma'' + c' . c'' / |c'| sigma'^2"""
    va, vb = sqrt(c1x * c1x + c1y * c1y), sqrt(w1[0] * w1[0] + w1[1] * w1[1])
    g2 = va * s2 + (c1x * c2x + c1y * c2y) / va * s1 * s1
    return va * s1 - sense * vb * r1, g2 - sense * (vb * r2 + (w1[0] * w2[0] + w1[1] * w2[1]) / vb * r1 * r1)


@kernel
def lengths_rolled(c, k, sigma, tau, theta):
    """s_a - sense s_b - target, with the full turns counted by theta."""
    if not (isfinite(sigma) and isfinite(tau)):
        return nan
    a, b, sense = c.contacts[k, CURVE], c.contacts[k, OTHER], c.constants[k, SENSE]
    total = length_at(c.curves, c.numbers, a, sigma) - sense * length_at(c.curves, c.numbers, b, tau)
    # the tangents agree, except for full turns of closed curves
    turns = tangent_angle(c.curves, c.numbers, b, tau) + theta - tangent_angle(c.curves, c.numbers, a, sigma)
    turns = floor((turns + (pi if sense < 0.0 else 0.0)) / (2.0 * pi) + 0.5)
    around_a = total_length(c.curves, c.numbers, a) * (1.0 if c.numbers[c.curves[a, START]] > 0.0 else -1.0)
    around_b = total_length(c.curves, c.numbers, b) * (1.0 if c.numbers[c.curves[b, START]] > 0.0 else -1.0)
    if c.curves[b, CLOSED] == 1:
        total += sense * turns * around_b
    elif c.curves[a, CLOSED] == 1:
        total += turns * around_a
    total -= c.constants[k, TARGET]
    period = abs(around_a - sense * around_b)
    both = c.curves[a, CLOSED] == 1 and c.curves[b, CLOSED] == 1
    if both and period > 1e-9 * abs(around_a):
        total -= period * floor(total / period + 0.5)
    return total


@kernel
def gap_at(c, k, sigma, tau, x, y, theta):
    """n . e, infinite if there is no contact or the curves run in the wrong direction."""
    if not (isfinite(sigma) and isfinite(tau)):
        return inf
    cx, cy, c1x, c1y, _, _, _, _ = curve_at(c.curves, c.numbers, c.contacts[k, CURVE], sigma)
    w, w1, _, _ = turned_curve(c, c.contacts[k, OTHER], tau, theta)
    if (c1x * w1[0] + c1y * w1[1]) * c.constants[k, SENSE] < 0.0:
        return inf
    ex, ey = x + w[0] - cx, y + w[1] - cy
    return c.constants[k, SIDE] * (c1y * ex - c1x * ey) / sqrt(c1x * c1x + c1y * c1y)


@kernel
def touch(c, k, sigma, tau, x, y, theta):
    """The contact point from an initial guess; nan if Newton's method does not converge to one."""
    a, b = c.contacts[k, CURVE], c.contacts[k, OTHER]
    period_a, period_b = period_of(c.curves, c.numbers, a), period_of(c.curves, c.numbers, b)
    last = False
    for _ in range(ITERATIONS):
        if not (isfinite(sigma) and isfinite(tau)):
            return nan, nan
        # Newton's step for F_1 = F_2 = 0
        cx, cy, c1x, c1y, c2x, c2y, _, _ = curve_at(c.curves, c.numbers, a, sigma)
        w, w1, w2, _ = turned_curve(c, b, tau, theta)
        ex, ey = x + w[0] - cx, y + w[1] - cy
        F1, F2 = ex * c1x + ey * c1y, c1x * w1[1] - c1y * w1[0]
        s, r = solve(matrix(ex, ey, c1x, c1y, c2x, c2y, w1, w2), -F1, -F2)
        s, r = shortened(s, period_a), shortened(r, period_b)
        sigma, tau = sigma + s, tau + r
        # one more step after a small one, from the grid
        size = max(abs(s) / period_a, abs(r) / period_b)
        if last:
            return inside(c, a, sigma, period_a), inside(c, b, tau, period_b)
        last = size <= NEARLY
        if last:
            sigma, tau = snapped(c, a, sigma, period_a), snapped(c, b, tau, period_b)
    return nan, nan


@kernel
def search(c, k, x, y, theta):
    """The nearest pair of samples with suitable tangents."""
    at_a = first_sample(c.curves, c.contacts[k, CURVE])
    at_b = first_sample(c.curves, c.contacts[k, OTHER])
    u, v, sense = cos(theta), sin(theta), c.constants[k, SENSE]
    best, sigma, tau = inf, nan, nan
    for j in range(SAMPLES):
        p = at_b + 5 * j
        bx, by = c.numbers[p + 1], c.numbers[p + 2]
        px, py = x + u * bx - v * by, y + v * bx + u * by
        tx, ty = u * c.numbers[p + 3] - v * c.numbers[p + 4], v * c.numbers[p + 3] + u * c.numbers[p + 4]
        for i in range(SAMPLES):
            o = at_a + 5 * i
            ex, ey = px - c.numbers[o + 1], py - c.numbers[o + 2]
            if (tx * c.numbers[o + 3] + ty * c.numbers[o + 4]) * sense > ALIGNED and ex * ex + ey * ey < best:
                best, sigma, tau = ex * ex + ey * ey, c.numbers[o], c.numbers[p]
    return sigma, tau
