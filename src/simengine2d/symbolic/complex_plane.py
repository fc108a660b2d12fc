"""The plane as complex numbers x + iy, in symbols."""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp


class PlaneVector(NamedTuple):
    x: sp.Expr
    y: sp.Expr

    def plus(self, other: PlaneVector) -> PlaneVector:
        return PlaneVector(self.x + other.x, self.y + other.y)

    def minus(self, other: PlaneVector) -> PlaneVector:
        return PlaneVector(self.x - other.x, self.y - other.y)

    def times(self, other: PlaneVector) -> PlaneVector:
        return PlaneVector(self.x * other.x - self.y * other.y, self.y * other.x + self.x * other.y)

    def over(self, other: PlaneVector) -> PlaneVector:
        size = other.size2
        return PlaneVector(
            (self.x * other.x + self.y * other.y) / size, (self.y * other.x - self.x * other.y) / size
        )

    @property
    def size2(self) -> sp.Expr:
        return self.x**2 + self.y**2


def turned(angle: sp.Expr) -> PlaneVector:
    """The unit vector at an angle."""
    return PlaneVector(sp.cos(angle), sp.sin(angle))


ZERO, ONE = PlaneVector(sp.Integer(0), sp.Integer(0)), PlaneVector(sp.Integer(1), sp.Integer(0))
