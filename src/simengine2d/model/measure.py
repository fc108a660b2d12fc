"""Measures: scalars between two frames, with their derivatives, on which joints, forces and channels are built.

With d = r_b - r_a, the axes u_a, v_a of frame a, u_b of frame b, and the angles phi_a, phi_b of the frames:

    x               d_x                       y                d_y
    along           u_a . d                   across           v_a . d
    angle           phi_b - phi_a             misalignment     v_a . u_b = sin(phi_b - phi_a)
    distance        |d|                       half_distance2   d . d / 2
    direction       angle of d, seen from frame a (multivalued: turns are not counted)

Each measure depends on (d_x, d_y, phi_a, phi_b) only. `value`, `gradient` and `hessian` are written in these
four; a coordinate family says how frames depend on its q. The functions run on SymPy symbols unchanged, which is
how the tests prove every derivative.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from ..errors import ModelError
from ..expressions.recorded import called
from ..numerics.kernel import kernel
from ..numerics.lanes import atan2, or_one, sqrt
from .frame import Frame, PlacedFrame, Side, as_frame

X, Y, ANGLE, ALONG, ACROSS, MISALIGNMENT, DISTANCE, HALF_DISTANCE2, DIRECTION = range(9)

KINDS = {
    "x": X,
    "y": Y,
    "angle": ANGLE,
    "along": ALONG,
    "across": ACROSS,
    "misalignment": MISALIGNMENT,
    "distance": DISTANCE,
    "half_distance2": HALF_DISTANCE2,
    "direction": DIRECTION,
}


# Calculus ---------------------------------------------------------------------------------------------


@kernel(inline=True)
def value(kind, dx, dy, uax, uay, ubx, uby, phi_a, phi_b):
    """The measure itself."""
    if kind == X:
        return dx
    if kind == Y:
        return dy
    if kind == ANGLE:
        return phi_b - phi_a
    if kind == ALONG:
        return uax * dx + uay * dy
    if kind == ACROSS:
        return -uay * dx + uax * dy
    if kind == MISALIGNMENT:
        return uax * uby - uay * ubx
    if kind == DISTANCE:
        return sqrt(dx * dx + dy * dy)
    if kind == HALF_DISTANCE2:
        return 0.5 * (dx * dx + dy * dy)
    return atan2(-uay * dx + uax * dy, uax * dx + uay * dy)  # DIRECTION


@kernel(inline=True)
def gradient(kind, dx, dy, uax, uay, ubx, uby):
    """Derivatives of the measure with respect to d_x, d_y, phi_a, phi_b.

    du_a/dphi_a = v_a = (-u_ay, u_ax),  dv_a/dphi_a = -u_a.
    """
    if kind == X:
        return 1.0, 0.0, 0.0, 0.0
    if kind == Y:
        return 0.0, 1.0, 0.0, 0.0
    if kind == ANGLE:
        return 0.0, 0.0, -1.0, 1.0
    if kind == ALONG:
        return uax, uay, -uay * dx + uax * dy, 0.0
    if kind == ACROSS:
        return -uay, uax, -uax * dx - uay * dy, 0.0
    if kind == MISALIGNMENT:
        c = uax * ubx + uay * uby
        return 0.0, 0.0, -c, c
    if kind == DISTANCE:
        length = or_one(sqrt(dx * dx + dy * dy))  # where it is zero, no direction is preferred
        return dx / length, dy / length, 0.0, 0.0
    if kind == HALF_DISTANCE2:
        return dx, dy, 0.0, 0.0
    length2 = or_one(dx * dx + dy * dy)  # DIRECTION
    return -dy / length2, dx / length2, -1.0, 0.0


@kernel(inline=True)
def hessian(kind, dx, dy, uax, uay, ubx, uby):
    """Second derivatives (xx, xy, yy, xa, ya, aa, ab, bb), where a, b are phi_a, phi_b.

    The mixed ones of d and phi_b vanish for every measure.
    """
    if kind == ALONG:
        return 0.0, 0.0, 0.0, -uay, uax, -uax * dx - uay * dy, 0.0, 0.0
    if kind == ACROSS:
        return 0.0, 0.0, 0.0, -uax, -uay, uay * dx - uax * dy, 0.0, 0.0
    if kind == MISALIGNMENT:
        s = uax * uby - uay * ubx
        return 0.0, 0.0, 0.0, 0.0, 0.0, -s, s, -s
    if kind == DISTANCE:
        length = or_one(sqrt(dx * dx + dy * dy))
        nx, ny = dx / length, dy / length
        return ny * ny / length, -nx * ny / length, nx * nx / length, 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == HALF_DISTANCE2:
        return 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == DIRECTION:
        length4 = or_one((dx * dx + dy * dy) * (dx * dx + dy * dy))
        xx, xy = 2.0 * dx * dy / length4, (dy * dy - dx * dx) / length4
        return xx, xy, -xx, 0.0, 0.0, 0.0, 0.0, 0.0
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # X, Y, ANGLE are linear


@kernel(inline=True)
def second_order(h, dxd, dyd, phid_a, phid_b):
    """The part of the measure's second time derivative that is quadratic in the rates: w^T H w."""
    xx, xy, yy, xa, ya, aa, ab, bb = h
    return (
        xx * dxd * dxd
        + 2.0 * xy * dxd * dyd
        + yy * dyd * dyd
        + 2.0 * (xa * dxd + ya * dyd) * phid_a
        + aa * phid_a * phid_a
        + 2.0 * ab * phid_a * phid_b
        + bb * phid_b * phid_b
    )


@kernel(inline=True)
def third_order(kind, dx, dy, uax, uay, ubx, uby, vx, vy, va, vb):
    """Derivatives of w^T H w with respect to d_x, d_y, phi_a, phi_b, for w = (vx, vy, va, vb).

    Along a line, d = l n turns by the part tau = n' . v of the rates across it and grows by rho = n . v.
    """
    if kind in (ALONG, ACROSS):
        ux, uy = (uax, uay) if kind == ALONG else (-uay, uax)
        turn = 2.0 * (ux * vx + uy * vy) + va * (ux * dy - uy * dx)
        return -ux * va * va, -uy * va * va, -va * turn, 0.0
    if kind == MISALIGNMENT:
        turn = (uax * ubx + uay * uby) * (vb - va) * (vb - va)
        return 0.0, 0.0, turn, -turn
    if kind != DISTANCE and kind != DIRECTION:
        return 0.0, 0.0, 0.0, 0.0
    length = sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    nx, ny = dx / length, dy / length
    rho, tau = nx * vx + ny * vy, nx * vy - ny * vx
    if kind == DISTANCE:
        along, across = -tau * tau / (length * length), -2.0 * rho * tau / (length * length)
    else:
        along, across = 4.0 * rho * tau / length**3, 2.0 * (rho * rho - tau * tau) / length**3
    return along * nx - across * ny, along * ny + across * nx, 0.0, 0.0


# Names ------------------------------------------------------------------------------------------------

Attached = Side | str | PlacedFrame


@dataclass(frozen=True, slots=True)
class Term:
    """weight * kind(a, b)."""

    weight: float
    kind: str
    a: Frame | PlacedFrame
    b: Frame | PlacedFrame

    @property
    def drawn(self) -> float:
        """Value in the initial pose, as drawn."""
        a, b = self.a, self.b
        assert isinstance(a, PlacedFrame) and isinstance(b, PlacedFrame)
        drawn: float = called(_drawn, KINDS[self.kind], a, b)
        return self.weight * drawn


def _drawn(kind: int, a: PlacedFrame, b: PlacedFrame) -> float:
    """A measure between two frames as drawn."""
    ua, ub = (cos(a.drawn_angle), sin(a.drawn_angle)), (cos(b.drawn_angle), sin(b.drawn_angle))
    dx, dy = b.drawn_x - a.drawn_x, b.drawn_y - a.drawn_y
    return float(value(kind, dx, dy, *ua, *ub, a.drawn_angle, b.drawn_angle))


@dataclass(frozen=True, slots=True)
class Measure:
    """A weighted sum of measures: `angle(a, b)`, `along(rack, pinion) + 0.2 * angle(rack, pinion)`."""

    terms: tuple[Term, ...]

    def __add__(self, other: Measure) -> Measure:
        return Measure(self.terms + other.terms)

    def __sub__(self, other: Measure) -> Measure:
        return self + (-other)

    def __neg__(self) -> Measure:
        return -1.0 * self

    def __mul__(self, factor: float) -> Measure:
        return Measure(tuple(Term(factor * t.weight, t.kind, t.a, t.b) for t in self.terms))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Measure:
        return self * (1.0 / divisor)

    @property
    def drawn(self) -> float:
        """Value in the initial pose, as drawn."""
        return sum(term.drawn for term in self.terms)

    @property
    def period(self) -> float:
        """The jump of the value when a direction completes a full turn; 0 for single-valued measures."""
        directions = [term for term in self.terms if term.kind == "direction"]
        if not directions:
            return 0.0
        if len(directions) == 1:  # as a rule
            return 2 * pi * abs(directions[0].weight)
        weights: dict[tuple[Any, Any], float] = {}
        for term in directions:
            weights[term.a, term.b] = weights.get((term.a, term.b), 0.0) + term.weight
        sizes = [abs(weight) for weight in weights.values() if weight != 0.0]
        if sizes and max(sizes) - min(sizes) > 1e-12 * max(sizes):
            raise ModelError(
                f"directions with the different weights {sizes} are added; since a direction does not count "
                "turns, such a sum has no definite value. Use angle(a, b), which counts them."
            )
        return 2 * pi * sizes[0] if sizes else 0.0

    @property
    def text(self) -> str:
        """As written in model files."""
        parts = []
        for term in self.terms:
            assert isinstance(term.a, Frame) and isinstance(term.b, Frame)
            call = f"{term.kind}({term.a.text}, {term.b.text})"
            parts.append(call if term.weight == 1 else f"{float(term.weight)!r}*{call}")
        return " + ".join(parts)


def _measure(kind: str, a: Attached, b: Attached) -> Measure:
    first = a if isinstance(a, PlacedFrame) else as_frame(a)
    second = b if isinstance(b, PlacedFrame) else as_frame(b)
    return Measure((Term(1.0, kind, first, second),))


def x(a: Attached, b: Attached) -> Measure:
    """Global x component of the vector from a to b."""
    return _measure("x", a, b)


def y(a: Attached, b: Attached) -> Measure:
    """Global y component of the vector from a to b."""
    return _measure("y", a, b)


def angle(a: Attached, b: Attached) -> Measure:
    """Angle of b relative to a, continuous over any number of turns."""
    return _measure("angle", a, b)


def along(a: Attached, b: Attached) -> Measure:
    """Component of the vector from a to b along the axis of a."""
    return _measure("along", a, b)


def across(a: Attached, b: Attached) -> Measure:
    """Component of the vector from a to b across the axis of a, positive on its left."""
    return _measure("across", a, b)


def misalignment(a: Attached, b: Attached) -> Measure:
    """Sine of the angle between the axes."""
    return _measure("misalignment", a, b)


def distance(a: Attached, b: Attached) -> Measure:
    """Distance between the points."""
    return _measure("distance", a, b)


def half_distance2(a: Attached, b: Attached) -> Measure:
    """Half the squared distance between the points."""
    return _measure("half_distance2", a, b)


def direction(a: Attached, b: Attached) -> Measure:
    """Angle of the line from a to b, seen from the axis of a."""
    return _measure("direction", a, b)


def rolling(a: PlacedFrame, b: PlacedFrame, radius_a: float, radius_b: float) -> Measure:
    """Slip between two circles about a and b, measured against the line of centers of angle beta:

    R_a (phi_a - beta) + R_b (phi_b - beta);  R_b < 0 if both circles turn in the same sense.
    """
    return radius_b * angle(a, b) - (radius_a + radius_b) * direction(a, b)
