"""Paths of equilibria by arc length, which pass folds.

A family of statics problems has one parameter s. Its equilibria Z^T QA(q, s) = 0 form curves; along one,

    [ Z^T K Z   -d(Z^T QA)/ds ] [ dy ]
                                [ ds ] = 0

gives the direction, and Newton's method perpendicular to it the next point. At a fold the parameter turns back:
ds = 0.
H. B. Keller, Numerical Solution of Bifurcation and Nonlinear Eigenvalue Problems, 1977.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Floats
from .statics import Balance

FIRST, LONGEST, SHORTEST = 0.02, 0.2, 1e-7  # steps: typical lengths of displacement, units of the parameter
MOST_CORRECTIONS = 10
LARGEST_BEND = 0.5  # lateral distance of the next point, relative to the step
CORRECTED = 1e-10  # residual forces on the path, relative to all forces
TURNED, MOST_HALVINGS = 1e-9, 60  # slope of the parameter at a fold, and bisections to locate it


class ProblemFamily(ABC):
    """Statics problems with a parameter s. A change of s by `unit` counts as much as a typical length."""

    unit: float = 1.0

    @abstractmethod
    def closed(self, q: Floats, s: float) -> Balance | None:
        """The forces in the pose closest to q that closes at s; None if there is none."""

    @abstractmethod
    def slope(self, here: Balance, s: float) -> Floats:
        """d(Z^T QA) / ds, while the mechanism stays closed."""


@dataclass(frozen=True)
class PathPoint:
    """A point of a path. Its direction: dx of the coordinates as lengths over a typical one, ds over the unit of s."""

    family: ProblemFamily
    balance: Balance
    s: float
    dx: Floats
    ds: float

    def ahead(self, h: float) -> PathPoint | None:
        """The point of the path at about the distance h; None if Newton's method does not reach it."""
        length, unit = self.balance.system.length, self.family.unit
        move = h * length * self.balance.space.scale * self.dx
        s = self.s + h * unit * self.ds
        here, before = self.family.closed(self.balance.q + move, s), np.inf
        for _ in range(MOST_CORRECTIONS):
            if here is None:
                return None
            # iterate until rounding stops further progress
            if here.left_over <= CORRECTED * here.size and not 0.0 < here.left_over < 0.5 * before:
                return point(self.family, here, s, self.dx, self.ds)
            before = here.left_over
            slopes = np.column_stack([length * here.stiffness, -unit * self.family.slope(here, s)])
            along = np.append(_motions(here).T @ self.dx, self.ds)
            change = np.linalg.lstsq(
                np.vstack([slopes, along * np.abs(slopes).max()]), np.append(here.force, 0.0)
            )[0]
            s += unit * float(change[-1])
            here = self.family.closed(here.q + length * (here.Z @ change[:-1]), s)
        return None


def _motions(here: Balance) -> Floats:
    """Z in coordinates that are lengths: orthonormal."""
    return here.Z / here.space.scale[:, None]


def point(family: ProblemFamily, here: Balance, s: float, dx: Floats, ds: float) -> PathPoint:
    """A point with the direction of the path, oriented along (dx, ds)."""
    slopes = np.column_stack([here.system.length * here.stiffness, -family.unit * family.slope(here, s)])
    direction = np.linalg.svd(slopes)[2][-1]
    new_dx, new_ds = _motions(here) @ direction[:-1], float(direction[-1])
    sign = 1.0 if new_dx @ dx + new_ds * ds >= 0.0 else -1.0
    return PathPoint(family, here, s, sign * new_dx, sign * new_ds)


def follow(family: ProblemFamily, q: Floats, s: float, towards: float) -> Iterator[PathPoint]:
    """Points from the equilibrium q at s on, first towards another s; it ends where no step succeeds."""
    first = family.closed(q, s)
    if first is None:
        return
    here = point(family, first, s, np.zeros(q.size), np.sign(towards - s))
    yield here
    h = FIRST
    while h > SHORTEST:
        there = here.ahead(h)
        if there is None or there.dx @ here.dx + there.ds * here.ds < 0.8 or _jumped(here, there, h):
            h *= 0.5  # too far, a sharp bend, or another path
            continue
        here, h = there, min(1.5 * h, LONGEST)
        yield here


def _jumped(here: PathPoint, there: PathPoint, h: float) -> bool:
    """Whether Newton's corrections were longer than the step."""
    x = (there.balance.q - here.balance.q) / here.balance.space.scale / here.balance.system.length
    aside = np.append(x - h * here.dx, (there.s - here.s) / here.family.unit - h * here.ds)
    return bool(np.linalg.norm(aside) > LARGEST_BEND * h)


def folds_between(before: PathPoint, after: PathPoint, depth: int = 3) -> list[PathPoint]:
    """Where the parameter turns back between two adjacent points: once, or twice."""
    if before.ds * after.ds < 0.0:
        return [_turning_point(before, after)]
    part = _flattest(before, after)
    middle = before.ahead(part * distance(before, after)) if part is not None and depth else None
    if middle is None:
        return []
    return [*folds_between(before, middle, depth - 1), *folds_between(middle, after, depth - 1)]


def distance(before: PathPoint, after: PathPoint) -> float:
    """How far `after` is ahead along the direction of `before`."""
    x = (after.balance.q - before.balance.q) / before.balance.space.scale / before.balance.system.length
    return float(x @ before.dx + (after.s - before.s) / before.family.unit * before.ds)


def _flattest(before: PathPoint, after: PathPoint) -> float | None:
    """Where the slope of Hermite's cubic of s comes near zero inside; None if it does not.

    p'(x) = a + 2 (3 d - 2 a - b) x + 3 (a + b - 2 d) x^2 with the slopes a, b at the ends and the rise d
    """
    h, a, b = distance(before, after), before.ds, after.ds
    d = (after.s - before.s) / before.family.unit / h if h else a
    bend, curve = 3.0 * d - 2.0 * a - b, 3.0 * (a + b - 2.0 * d)
    x = -bend / curve if curve else -1.0
    slope = a + bend * x  # at the vertex of the parabola
    return x if 0.0 < x < 1.0 and slope * a < 0.2 * min(abs(a), abs(b)) * abs(a) else None


def _turning_point(before: PathPoint, after: PathPoint) -> PathPoint:
    """Where ds = 0, by bisection and secants between points of the path."""
    for _ in range(MOST_HALVINGS):
        if min(abs(before.ds), abs(after.ds)) < TURNED:
            break
        far = distance(before, after)
        part = min(0.95, max(0.05, before.ds / (before.ds - after.ds)))
        there = before.ahead(part * far) or before.ahead(0.5 * far)
        if there is None:
            break
        before, after = (there, after) if there.ds * before.ds > 0.0 else (before, there)
    return min(before, after, key=lambda point: abs(point.ds))
