"""Rigid elements of natural coordinates: a body represented by a few points and vectors.

The plane is complex here, x + iy. A body carries a point r_1 and a base vector D that turns with it: the vector to a
second point, or a unit vector. With s_1 and d their coordinates in the body, any of its points is at

    r_P = r_1 + c D,      c = (s_P - s_1) / d

which is linear in the coordinates, r_P = C_P q; so the mass matrix, the integral of C^T C dm, is constant.

Garcia de Jalon and Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994, chapters 2 and 4.
"""

from __future__ import annotations

from cmath import phase
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ...numerics.arrays import Floats
from .points import SharedPoint

SHORT = 1e-3  # base vectors shorter than this, relative to the mechanism, are replaced by a unit vector


@dataclass(frozen=True)
class RigidElement:
    """A body's first point, and what turns with the body: a second point, a unit vector, or nothing."""

    body: str
    origin: SharedPoint
    tip: SharedPoint | None = None
    has_vector: bool = False
    further: list[SharedPoint] = field(default_factory=list)
    """Shared points beyond those: each adds two linear rows r_3 - C_P q = 0."""

    @property
    def turns(self) -> bool:
        return self.tip is not None or self.has_vector

    @property
    def is_fixed(self) -> bool:
        """Whether both points are on the ground."""
        return self.tip is not None and self.tip.fixed is not None and self.origin.fixed is not None

    @property
    def s1(self) -> complex:
        return self.origin.places[self.body]

    @property
    def d(self) -> complex:
        """The base vector in the body; a unit vector is the body's x axis."""
        return 1.0 + 0.0j if self.tip is None else self.tip.places[self.body] - self.s1

    @property
    def reach(self) -> float:
        """1 if D = r_2 - r_1, 0 if D itself is a coordinate."""
        return 0.0 if self.tip is None else 1.0

    @property
    def length(self) -> float:
        return abs(self.d)

    @property
    def heading(self) -> float:
        """Angle of the base vector in the body."""
        return phase(self.d)

    def weight(self, s: complex) -> complex:
        """c of a point at s: r_P = r_1 + c D"""
        return (s - self.s1) / self.d if self.turns else 0.0j

    def matrix(self, s: complex) -> Floats:
        """C_P of a point at s, 2 x 4: r_P = C_P (x_1, y_1, x_2, y_2)

        For two points with s = (x, y) in axes along the base: [L - x, y, x, -y; -y, L - x, y, x] / L
        """
        c = self.weight(s)
        return np.hstack([_block(1.0 - self.reach * c), _block(c)])

    def mass_matrix(self, mass: float, inertia: float) -> Floats:
        """4 x 4, of a body with its mass center at 0 of its axes; I_1 is the inertia about the first point.

        On the diagonal m - 2 m x_G / L + I_1 / L^2 and I_1 / L^2, beside it m x_G / L - I_1 / L^2 and +- m y_G / L
        """
        c = self.weight(0.0)
        spin = (inertia + mass * abs(self.s1) ** 2) / self.length**2 if self.turns else 0.0
        first = mass - self.reach * (2.0 * mass * c.real - spin)
        beside = _block(mass * c - self.reach * spin)
        return np.block([[first * np.eye(2), beside], [beside.T, spin * np.eye(2)]])


def rigid_element(
    body: str, points: Sequence[SharedPoint], can_be_point: bool, length: float, with_vector: bool = False
) -> RigidElement:
    """The element of a body with these shared points; `length` is one of the mechanism.

    The two points that are farthest apart, fixed ones first; a point and a unit vector if there is no such pair or
    `with_vector`; without any point, the mass center takes its place. `can_be_point`: the body need not turn.
    """
    here = sorted(points, key=lambda p: p.fixed is None) or [SharedPoint(body, {body: 0.0j})]
    if len(here) == 1 and can_be_point:
        return RigidElement(body, here[0])
    apart = lambda pair: abs(pair[1].places[body] - pair[0].places[body])
    pairs = [pair for pair in combinations(here, 2) if apart(pair) > SHORT * length]
    if with_vector or not pairs:
        return RigidElement(body, here[0], has_vector=True, further=here[1:])
    longest = max(map(apart, pairs))
    origin, tip = next(pair for pair in pairs if apart(pair) >= (1.0 - 1e-9) * longest)
    return RigidElement(body, origin, tip, further=[p for p in here if p not in (origin, tip)])


def _block(c: complex) -> Floats:
    """The matrix that multiplies a vector of the plane by a complex number."""
    return np.array([[c.real, -c.imag], [c.imag, c.real]])
