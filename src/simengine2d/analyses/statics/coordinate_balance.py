"""Statics in the coordinates z of a family: the methods of this package take their steps in z instead of q.

With q = f(z), qd = R zd and the constraints J zd = 0 that these coordinates leave, the free motions are J N = 0, and

    N^T Q = 0,      N^T K N with K = (J^T lam - Q)_z      and for the bodies  Z = R N

N is orthonormal in coordinates that are all lengths, so the components of N^T Q are forces of comparable size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...coordinates.base import Family, family_of
from ...methods import ChosenCoordinates
from ...numerics.arrays import Floats
from ..coordinate_motion import closed_in, with_turns_of
from .statics import Balance
from .tangent_space import tangent_space

DEPENDENT = 1e-9  # singular value of J, against the largest, below which its rows depend on each other
DIFFERENCE = 6e-6  # cube root of the rounding error: best for central differences


@dataclass(frozen=True)
class CoordinateBalance(Balance):
    """Forces at rest in a pose given by z."""

    family: Family | None = field(default=None, repr=False)
    z: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def coordinates(self) -> str | None:
        return self._family.spelling

    @property
    def _family(self) -> Family:
        assert self.family is not None
        return self.family

    @property
    def scale(self) -> Floats:
        """From lengths to coordinates."""
        return self._family.sizes / self.system.length

    @cached_property
    def _rows(self) -> tuple[Floats, Floats]:
        """Q and J, for coordinates that are lengths."""
        e = self._family.at(self.t, self.z)
        return e.Q * self.scale, e.J * self.scale

    @cached_property
    def N(self) -> Floats:
        """J N = 0, orthonormal."""
        J = self._rows[1]
        _, sizes, axes = np.linalg.svd(J)
        rank = int(np.sum(sizes > DEPENDENT * sizes.max(initial=0.0)))
        return np.asarray(axes[rank:].T)

    @cached_property
    def Z(self) -> Floats:
        """R N: what the bodies do."""
        R = self._family.motion_matrix(self.t, self.z)
        return np.asarray(R @ (self.scale[:, None] * self.N))

    @cached_property
    def force(self) -> Floats:
        return np.asarray(self.N.T @ self._rows[0])

    @cached_property
    def stiffness(self) -> Floats:
        """By central differences along the free motions; the multipliers do not change."""
        Q, J = self._rows
        lam = np.asarray(np.linalg.lstsq(J.T, Q, rcond=DEPENDENT)[0], dtype=float)
        h = DIFFERENCE * self.system.length
        slopes: list[Floats] = [
            (self._left(h * y, lam) - self._left(-h * y, lam)) / (2.0 * h) for y in self.N.T
        ]
        return np.asarray(self.N.T @ np.column_stack(slopes)) if slopes else np.zeros((0, 0))

    def _left(self, motion: Floats, lam: Floats) -> Floats:
        """J^T lam - Q a little away."""
        e = self._family.at(self.t, self.z + self.scale * motion)
        return np.asarray((e.J.T @ lam - e.Q) * self.scale)

    def moved(self, y: Floats) -> Balance | None:
        return balance_in(self._family, self.t, self.z + self.scale * (self.N @ y), self.q)

    def near(self, q: Floats) -> Balance | None:
        return balance_in(self._family, self.t, self._family.positions(q), q)


def balance_in(family: Family, t: float, z: Floats, q: Floats) -> CoordinateBalance | None:
    """Forces in the closed pose near z, with the turns of q; None if there is none, or if forces are unreliable."""
    closed = closed_in(family, t, z)
    if closed is None:
        return None
    still = np.zeros(family.n)
    q = with_turns_of(q, family.bodies(t, closed, still, still).q)
    space = tangent_space(family.system, t, q)
    here = CoordinateBalance(family.system, t, space, None, family, closed)
    return here if np.all(np.isfinite(here.applied)) and not space.nearly_singular else None


def in_family(start: Balance, coordinates: ChosenCoordinates) -> CoordinateBalance:
    """The balance of a closed pose, in the coordinates of a family."""
    family = family_of(coordinates, start.system, start.q)
    z = family.positions(start.q)
    return CoordinateBalance(start.system, start.t, start.space, None, family, z)


def of_bodies(here: Balance) -> Balance:
    """The same pose, with forces and stiffness in the coordinates of the bodies."""
    if here.coordinates is None:
        return here
    return Balance(here.system, here.t, tangent_space(here.system, here.t, here.q))
