"""Paths of equilibria by arc length, which pass folds.

A family of statics problems has one parameter s. Its equilibria Z^T QA(q, s) = 0 form curves; along one,

    [ Z^T K Z   -d(Z^T QA)/ds ] [ dy ]
                                [ ds ] = 0

gives the direction, and Newton's method at right angles to it the next point. At a fold the parameter turns back:
ds = 0.
H. B. Keller, Numerical Solution of Bifurcation and Nonlinear Eigenvalue Problems, 1977.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .statics import Balance

Floats = NDArray[np.float64]

FIRST, LONGEST, SHORTEST = 0.02, 0.2, 1e-7  # steps: typical lengths of displacement, units of the parameter
MOST_CORRECTIONS = 8
CORRECTED = 1e-11  # forces left over on the path, against all forces


class Family(ABC):
    """Statics problems with a parameter s. A change of s by `unit` counts as much as one of a typical length."""

    unit: float = 1.0

    @abstractmethod
    def closed(self, q: Floats, s: float) -> Balance | None:
        """The forces in the pose next to q that closes at s; None where there is none."""

    @abstractmethod
    def slope(self, here: Balance, s: float) -> Floats:
        """d(Z^T QA) / ds, while the mechanism stays closed."""


@dataclass(frozen=True)
class Point:
    """A point of a path. Its direction: dx of the coordinates as lengths over a typical one, ds over the unit of s."""

    family: Family
    balance: Balance
    s: float
    dx: Floats
    ds: float

    def ahead(self, h: float) -> Point | None:
        """The point of the path near the distance h; None where Newton's method does not reach it."""
        length, unit = self.balance.system.length, self.family.unit
        move = h * length * self.balance.space.scale * self.dx
        s = self.s + h * unit * self.ds
        here = self.family.closed(self.balance.q + move, s)
        for _ in range(MOST_CORRECTIONS):
            if here is None:
                return None
            if here.left_over <= CORRECTED * here.size:
                return point(self.family, here, s, self.dx, self.ds)
            slopes = np.column_stack([length * here.stiffness, -unit * self.family.slope(here, s)])
            along = np.append(_motions(here).T @ self.dx, self.ds)
            change = np.linalg.lstsq(
                np.vstack([slopes, along * np.abs(slopes).max()]), np.append(here.force, 0.0)
            )[0]
            s += unit * float(change[-1])
            here = self.family.closed(here.q + length * (here.Z @ change[:-1]), s)
        return None


def _motions(here: Balance) -> Floats:
    """Z by the coordinates as lengths: orthonormal."""
    return here.Z / here.space.scale[:, None]


def point(family: Family, here: Balance, s: float, dx: Floats, ds: float) -> Point:
    """A point with the direction of the path in it, the one that goes on along (dx, ds)."""
    slopes = np.column_stack([here.system.length * here.stiffness, -family.unit * family.slope(here, s)])
    direction = np.linalg.svd(slopes)[2][-1]
    new_dx, new_ds = _motions(here) @ direction[:-1], float(direction[-1])
    sign = 1.0 if new_dx @ dx + new_ds * ds >= 0.0 else -1.0
    return Point(family, here, s, sign * new_dx, sign * new_ds)


def follow(family: Family, q: Floats, s: float, towards: float) -> Iterator[Point]:
    """Points from the equilibrium q at s on, first towards another s; it ends where no step can be made."""
    first = family.closed(q, s)
    if first is None:
        return
    here = point(family, first, s, np.zeros(q.size), np.sign(towards - s))
    yield here
    h = FIRST
    while h > SHORTEST:
        there = here.ahead(h)
        if there is None or there.dx @ here.dx + there.ds * here.ds < 0.8:  # too far, or a sharp bend
            h *= 0.5
            continue
        here, h = there, min(1.5 * h, LONGEST)
        yield here


def fold_between(before: Point, after: Point) -> Point | None:
    """Where the parameter turns back between two neighboring points."""
    from scipy.optimize import brentq

    length = before.balance.system.length
    x = (after.balance.q - before.balance.q) / before.balance.space.scale / length
    far = float(x @ before.dx + (after.s - before.s) / before.family.unit * before.ds)

    def turn(h: float) -> float:
        there = before.ahead(h)
        if there is None:
            raise ArithmeticError
        return there.ds

    try:
        return before.ahead(brentq(turn, 0.0, far, xtol=1e-13 * abs(far), rtol=1e-14))
    except (ArithmeticError, ValueError):
        return None
