"""Burmester theory: the cranks (RR dyads) that lead a moving plane through two to five poses.

A point w of the plane, as it is in the first pose, is carried to w_j = e_j w + t_j in the j-th, e_j = exp(i alpha_j).
It is a circle point if all w_j have the same distance from one center point m, |w_j - m| = |w - m|:

    Re(e_j conj(t_j) w) - Re(conj(t_j) m) + Re((1 - e_j) w conj(m)) + |t_j|^2 / 2 = 0,    j = 2 ... n

Each pose after the first is one equation for the two points: three poses leave one point free, four a curve of each,
five a finite number of pairs, at most four.

L. Burmester, Lehrbuch der Kinematik, 1888; J. M. McCarthy, G. S. Soh, Geometric Design of Linkages, 2nd ed., 2011,
chapters 3 and 5; G. N. Sandor, A. G. Erdman, Advanced Mechanism Design, vol. 2, 1984, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from math import pi
from typing import NamedTuple

import numpy as np

from ...errors import UnsupportedError
from ...numerics.arrays import Floats

ROUNDING = 1e-9
REAL = 1e-7  # imaginary part, relative to the size, of a root that counts as real


class Dyad(NamedTuple):
    """A crank: its center point m in the ground, and its circle point w as it is in the first pose."""

    m: complex
    w: complex


class Displacements:
    """w_j = e_j w + t_j: what carries the first pose to the j-th; `poses` are rows of x, y and angle."""

    def __init__(self, poses: Floats) -> None:
        d = poses[:, 0] + 1j * poses[:, 1]
        self.e = np.exp(1j * (poses[1:, 2] - poses[0, 2]))
        self.t = d[1:] - self.e * d[0]

    def first(self, count: int) -> Displacements:
        """To the first poses only."""
        fewer = copy(self)
        fewer.e, fewer.t = self.e[:count], self.t[:count]
        return fewer

    def places(self, w: complex) -> np.ndarray:
        """Where a point is in all poses, w_j = e_j w + t_j."""
        return np.append(w, self.e * w + self.t)

    @property
    def size(self) -> float:
        """How far the plane is moved."""
        return float(np.abs(self.t).max(initial=0.0)) or 1.0

    def rows(self) -> Floats:
        """The equations, linear in (x, y, u, v, P, Q, 1) with w = x + iy, m = u + iv, w conj(m) = P + iQ."""
        g, t, k = self.e * self.t.conj(), self.t, 1.0 - self.e
        columns = g.real, -g.imag, -t.real, -t.imag, k.real, -k.imag, 0.5 * np.abs(t) ** 2
        return np.column_stack(columns)

    def of_center(self, m: complex) -> Floats:
        """The equations for the circle point of a given center: rows of (x, y, 1)."""
        g, k = self.e * self.t.conj() + (1.0 - self.e) * np.conj(m), 0.5 * np.abs(self.t) ** 2
        return np.column_stack([g.real, -g.imag, k - (self.t.conj() * m).real])

    def of_circle_point(self, w: complex) -> Floats:
        """The equations for the center of a given circle point: rows of (u, v, 1)."""
        g = (1.0 - self.e) * w - self.t
        k = (self.e * self.t.conj() * w).real + 0.5 * np.abs(self.t) ** 2
        return np.column_stack([g.real, g.imag, k])

    def pole(self) -> complex:
        """The fixed point of a displacement between two of the poses, p = e p + t; it is on the center-point curve."""
        e, t = np.append(1.0, self.e), np.append(0.0, self.t)
        for j in range(len(e)):
            for i in range(j):
                turn = e[j] / e[i]
                if abs(1.0 - turn) > 1e-6:
                    return complex((t[j] - turn * t[i]) / (1.0 - turn))
        raise UnsupportedError(
            "the poses do not turn against each other. A plane that is only shifted is led by parallel cranks: "
            "choose any moving pivots and lead each by the circle through its places."
        )


def by_rotation(
    move: Displacements, beta: float, *, w: complex | None = None, m: complex | None = None
) -> Dyad:
    """Two poses: the crank turns by beta, e w + t - m = exp(i beta) (w - m), with one of its points given."""
    turn, e, t = np.exp(1j * beta), move.e[0], move.t[0]
    if w is not None:
        return Dyad(complex((e * w + t - turn * w) / (1.0 - turn)), complex(w))
    assert m is not None
    return Dyad(complex(m), complex((m - t - turn * m) / (e - turn)))


def by_center(move: Displacements, m: complex) -> Dyad:
    """Three poses: the circle point of a center."""
    return Dyad(complex(m), line_crossing(move.of_center(m)))


def by_circle_point(move: Displacements, w: complex) -> Dyad:
    """Three poses: the center of a circle point, where the bisectors of its places meet."""
    return Dyad(line_crossing(move.of_circle_point(w)), complex(w))


def line_crossing(rows: Floats) -> complex:
    """The point of two lines a x + b y + c = 0; nan if they are parallel."""
    (a, b, c), (d, e, f) = rows
    det = a * e - b * d
    if abs(det) <= ROUNDING * np.hypot(a, b) * np.hypot(d, e):
        return complex("nan")
    return complex(b * f - c * e, c * d - a * f) / det


def burmester_curves(move: Displacements, samples: int) -> list[Dyad]:
    """Four poses: cranks along the center-point curve, with their circle points.

    The three equations have a common circle point where det(m) = 0, a cubic curve of m. It passes through the poles,
    so a line through a pole, m = p + r exp(i tau), meets it at two other points: the roots of a quadratic.
    """
    p, scale = move.pole(), move.size
    dyads = []
    for tau in np.arange(samples) * pi / samples:
        direction = scale * np.exp(1j * tau)
        for r in roots_on_line(move.of_center, p, direction):
            m = complex(p + r * direction)
            dyads.append(Dyad(m, common_point(move.of_center(m))))
    return [dyad for dyad in dyads if np.isfinite(dyad.w)]


def roots_on_line(rows: Callable[[complex], Floats], p: complex, direction: complex) -> list[float]:
    """r of det(p + r direction) / r = 0, with p on the cubic det = 0 of three equations."""
    r = np.array([-1.0, -0.5, 0.5, 1.0])
    det = [np.linalg.det(rows(p + each * direction)) for each in r]
    quadratic = np.polyfit(r, np.array(det) / r, 2)  # det(p) = 0: the division leaves a polynomial
    roots = np.roots(quadratic) if np.abs(quadratic).max() > 0.0 else np.array([])
    return [float(root.real) for root in roots if abs(root.imag) <= REAL * abs(root) and abs(root) > 1e-6]


def common_point(rows: Floats) -> complex:
    """The point that all lines share; nan if it is at infinity."""
    x, y, h = np.linalg.svd(rows)[2][-1]
    return complex(x, y) / h if abs(h) > ROUNDING * np.hypot(x, y) else complex("nan")


def five_pose_dyads(move: Displacements) -> list[Dyad]:
    """Five poses: all cranks, at most four.

    Four linear equations in (x, y, u, v, P, Q, h) leave a plane of solutions. In it, P h = x u + y v and
    Q h = y u - x v are two conics, which meet in four points.
    """
    scale = move.size
    columns = np.array([scale, scale, scale, scale, scale**2, scale**2, 1.0])
    _, sizes, space = np.linalg.svd(move.rows() * columns / scale**2)
    if sizes[-1] <= ROUNDING * sizes[0]:
        raise UnsupportedError(
            "the five poses are not independent: the cranks through them form a curve. "
            "Leave out the pose that repeats another, and ask for four."
        )
    plane = space[4:].T @ _turned()
    first = _quadric(plane, ((0, 2), (1, 3)), ((4, 6),))
    second = _quadric(plane, ((1, 2),), ((0, 3), (5, 6)))
    dyads = [_dyad(plane @ each, scale) for each in conic_intersections(first, second)]
    return [dyad for dyad in dyads if dyad is not None]


def _turned() -> Floats:
    """A fixed general rotation, so that no solution has its first coordinate zero by the choice of a basis."""
    return np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]


def _quadric(plane: Floats, plus: Sequence[tuple[int, int]], minus: Sequence[tuple[int, int]]) -> Floats:
    """Products of coordinates as a symmetric matrix in the three coordinates of the plane."""
    total = np.zeros((3, 3))
    for sign, products in ((1.0, plus), (-1.0, minus)):
        for i, j in products:
            total += sign * np.outer(plane[i], plane[j])
    return 0.5 * (total + total.T)


def conic_intersections(first: Floats, second: Floats) -> list[Floats]:
    """The real points (1, p, q) at which two conics meet, by their resultant, a quartic in q.

    a p^2 + a1 p + a2 = 0 and b p^2 + b1 p + b2 = 0 have a common root where
    (a b2 - b a2)^2 = (a b1 - b a1) (a1 b2 - b1 a2), and then p = -(a b2 - b a2) / (a b1 - b a1).
    """
    (a, a1, a2), (b, b1, b2) = _in_p(first), _in_p(second)
    low, high = a * b2 - b * a2, a * b1 - b * a1
    quartic = low * low - high * (a1 * b2 - b1 * a2)
    points = []
    for q in quartic.roots:
        p = -low(q) / high(q)
        point = _sharpened(np.array([1.0, p, q]), first, second)
        if np.abs(point.imag).max() <= REAL * np.abs(point).max():
            points.append(point.real)
    return points


def _in_p(conic: Floats) -> tuple[np.poly1d, np.poly1d, np.poly1d]:
    """The coefficients of p^2, p and 1, polynomials in q."""
    return (
        np.poly1d([conic[1, 1]]),
        np.poly1d([2 * conic[1, 2], 2 * conic[0, 1]]),
        np.poly1d([conic[2, 2], 2 * conic[0, 2], conic[0, 0]]),
    )


def _sharpened(point: np.ndarray, first: Floats, second: Floats) -> np.ndarray:
    """Newton's steps on both conics: the roots of a quartic have lost some digits."""
    for _ in range(4):
        error = np.array([point @ first @ point, point @ second @ point])
        slope = 2.0 * np.array([(first @ point)[1:], (second @ point)[1:]])
        if abs(np.linalg.det(slope)) == 0.0:
            break
        point = point - np.append(0.0, np.linalg.solve(slope, error))
    return point


def _dyad(solution: Floats, scale: float) -> Dyad | None:
    """The points of a solution; None where one is at infinity: a slider has its center there."""
    x, y, u, v, _, _, h = solution
    if abs(h) <= 1e-7 * np.abs(solution).max():
        return None
    return Dyad(complex(u, v) / h * scale, complex(x, y) / h * scale)
