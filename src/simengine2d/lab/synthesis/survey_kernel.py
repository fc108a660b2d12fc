"""A four-bar at a time, as a kernel: its class, the range of its input, and the path of a point of its coupler."""

from __future__ import annotations

from math import acos, cos, pi, sin, sqrt
from typing import NamedTuple

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer

INPUTS = 6
"""Of a linkage: input a, coupler b, output c, ground d, and the point's coordinates along and across the coupler."""
CLASS, TYPE, CIRCUITS, LOW, HIGH, MU, X0, X1, Y0, Y1, TRACED = range(11)
OUTPUTS = 11
OPEN, CLASS_I, CLASS_II, SPECIAL = 0.0, 1.0, 2.0, 3.0
EQUAL = 1e-9  # relative difference of two sums of lengths that counts as none; that of `grashof`


class SurveyContext(NamedTuple):
    """How many points of a path are traced."""

    points: int


@kernel_pointer
def survey(context: SurveyContext, t: float, y: Floats, out: Floats) -> None:
    """All linkages of y, a row of OUTPUTS numbers each."""
    for i in range(y.size // INPUTS):
        one(context.points, y, i * INPUTS, out, i * OUTPUTS)


@kernel(inline=True)
def one(points, y, i, out, k):
    """One linkage: classified, then traced on one circuit."""
    a, b, c, d = y[i], y[i + 1], y[i + 2], y[i + 3]
    classify(a, b, c, d, out, k)
    for j in range(LOW, OUTPUTS):
        out[k + j] = 0.0
    if out[k + CLASS] == OPEN:
        return
    full = input_range(a, b, c, d, out, k)
    trace(points, y, i, full, out, k)


@kernel(inline=True)
def classify(a, b, c, d, out, k):
    """Grashof: s + l against p + q. The type is the place of the shortest link, of class II 4, of change points 5."""
    s, l = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))  # noqa: E741
    short, long = s + l, a + b + c + d - s - l
    out[k + CLASS], out[k + TYPE], out[k + CIRCUITS] = OPEN, -1.0, 0.0
    if s <= 0.0 or 2.0 * l > (a + b + c + d) * (1.0 + 1e-12):
        return
    if abs(short - long) <= EQUAL * max(short, long):
        out[k + CLASS], out[k + TYPE], out[k + CIRCUITS] = SPECIAL, 5.0, 1.0
    elif short > long:
        out[k + CLASS], out[k + TYPE], out[k + CIRCUITS] = CLASS_II, 4.0, 1.0
    else:
        out[k + CLASS], out[k + CIRCUITS] = CLASS_I, 2.0
        out[k + TYPE] = 0.0 if a == s else 1.0 if b == s else 2.0 if c == s else 3.0


@kernel(inline=True)
def input_range(a, b, c, d, out, k):
    """Of one circuit, from the ground line: cos theta = (a^2 + d^2 - f^2) / (2 a d) with |b - c| <= f <= b + c."""
    low = (a * a + d * d - (b + c) * (b + c)) / (2.0 * a * d)
    high = (a * a + d * d - (b - c) * (b - c)) / (2.0 * a * d)
    if low <= -1.0 and high >= 1.0:
        out[k + LOW], out[k + HIGH] = -pi, pi
        return True
    if high >= 1.0:
        out[k + LOW], out[k + HIGH] = -acos(low), acos(low)
    elif low <= -1.0:
        out[k + LOW], out[k + HIGH] = acos(high), 2.0 * pi - acos(high)
    else:
        out[k + LOW], out[k + HIGH] = acos(high), acos(low)
    return False


@kernel(inline=True)
def trace(points, y, i, full, out, k):
    """The path over the whole circuit: around, or to and fro on both branches; its extent and its length.

    f^2 = a^2 + d^2 - 2 a d cos theta, C from B by two circles, P at (px, py) along and across BC. The direction of the
    input is turned by the same small angle from point to point; sin and cos are called once.
    """
    a, b, c, d, px, py = y[i], y[i + 1], y[i + 2], y[i + 3], y[i + 4], y[i + 5]
    low, high = out[k + LOW], out[k + HIGH]
    half = points // 2
    step = (high - low) / (2 * half if full else half)
    turn_c, turn_s = cos(step), sin(step)
    e_c, e_s, side, flattest, length = cos(low), sin(low), 1.0, 0.0, 0.0
    x0, x1, z0, z1, old_x, old_z = 1e300, -1e300, 1e300, -1e300, 0.0, 0.0
    for j in range(2 * half + 1):
        Bx, By = a * e_c, a * e_s
        f2 = a * a + d * d - 2.0 * a * d * e_c
        foot = (f2 + b * b - c * c) / (2.0 * f2)
        height = side * sqrt(max(b * b / f2 - foot * foot, 0.0))
        ux, uy = (foot * (d - Bx) + height * By) / b, (height * (d - Bx) - foot * By) / b
        x, z = Bx + px * ux - py * uy, By + px * uy + py * ux
        flattest = max(flattest, abs(b * b + c * c - f2))
        if j > 0:
            length += sqrt((x - old_x) * (x - old_x) + (z - old_z) * (z - old_z))
        x0, x1, z0, z1 = min(x0, x), max(x1, x), min(z0, z), max(z1, z)
        old_x, old_z = x, z
        if not full and j == half:
            turn_s, side = -turn_s, -1.0  # back on the other branch
        e_c, e_s = e_c * turn_c - e_s * turn_s, e_c * turn_s + e_s * turn_c
    out[k + X0], out[k + X1], out[k + Y0], out[k + Y1], out[k + TRACED] = x0, x1, z0, z1, length
    out[k + MU] = acos(min(1.0, flattest / (2.0 * b * c)))
