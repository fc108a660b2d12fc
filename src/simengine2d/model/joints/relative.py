"""Constraints between a point or angle of one body and one of another."""

from __future__ import annotations

from collections.abc import Iterator

from ..elements import FrameField, Joint, Row, TimeFunction
from ..measure import angle, distance, x, y


class RelativeJoint(Joint, abstract=True):
    """A coordinate of frame b relative to frame a equals f(t)."""

    a: FrameField
    b: FrameField
    value: TimeFunction = 0.0
    freedom = 2


class RelativeX(RelativeJoint):
    """Phi = x_b - x_a - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("x", x(self.a, self.b), self.value)


class RelativeY(RelativeJoint):
    """Phi = y_b - y_a - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("y", y(self.a, self.b), self.value)


class RelativeAngle(RelativeJoint):
    """Phi = phi_b - phi_a - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("angle", angle(self.a, self.b), self.value)


class RelativeDistance(RelativeJoint):
    """Phi = |r_b - r_a| - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("distance", distance(self.a, self.b), self.value)
