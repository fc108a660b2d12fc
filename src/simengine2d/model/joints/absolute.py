"""Constraints on one point or angle in the global frame."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..elements import FrameField, Joint, Row, TimeFunction, Vector
from ..frame import GROUND, ORIGIN, PlacedFrame
from ..measure import angle, distance, x, y


class Absolute(Joint, abstract=True):
    """A global coordinate of one frame equals f(t)."""

    frame: FrameField
    value: TimeFunction = 0.0
    freedom = 2


class AbsoluteX(Absolute):
    """Phi = x_P - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("x", x(ORIGIN, self.frame), self.value)


class AbsoluteY(Absolute):
    """Phi = y_P - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("y", y(ORIGIN, self.frame), self.value)


class AbsoluteAngle(Absolute):
    """Phi = phi - f(t) = 0"""

    def rows(self) -> Iterator[Row]:
        yield Row("angle", angle(ORIGIN, self.frame), self.value)


class AbsoluteDistance(Absolute):
    """Distance of a point from the global point `center`.

    Phi = |r_P - c| - f(t) = 0
    """

    center: Vector = (0.0, 0.0)

    def rows(self) -> Iterator[Row]:
        if len(self.center) != 2:
            raise ModelError(f"{self.title}: center {list(self.center)} must be two numbers [x, y].")
        cx, cy = self.center
        yield Row("distance", distance(PlacedFrame(GROUND, cx, cy, 0.0, cx, cy, 0.0), self.frame), self.value)
