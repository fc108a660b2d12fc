from __future__ import annotations

from collections.abc import Iterator
from math import cos, isclose, pi, sin
from typing import Annotated, Any, Literal

import numpy as np

from ...errors import ModelError
from ..curves.contact_arrays import GAP, POINT, ROLL, Contact
from ..curves.contact_kernel import contact_values
from ..curves.curve import Curve
from ..elements import CurveField, Flag, FrameField, Joint, Kind, Row
from ..frame import PlacedFrame
from ..measure import across, along, angle
from .point_on_curve import contact_row

Held = Annotated[Any, Kind("plain", Literal["both", "gap", "roll"])]


class RollingCurves(Joint):
    """Two profiles touch and roll on each other: non-circular gears, a rocker on a table, a wheel on a rail.

    `curve_a` is fixed in frame a, `curve_b` in frame b. Closed curves touch from outside; `internal` means that b runs
    inside a. Open ones touch on the side as drawn. `holds` is "both"; "gap" if the curves may slip; "roll" if bearings
    already keep them in contact, as in non-circular gears. With the points c of the curves that are nearest to each
    other, the normal n there, and the arc lengths s up to them:

    Phi = n . (c_b - c_a) = 0,      Phi = s_a + s_b - as drawn = 0   (curves that run in the same sense: s_a - s_b)
    """

    a: FrameField
    b: FrameField
    curve_a: CurveField
    curve_b: CurveField
    internal: Flag = False
    holds: Held = "both"

    def rows(self) -> Iterator[Row]:
        if self.holds not in ("both", "gap", "roll"):
            raise ModelError(f"{self.title} holds {self.holds!r}; give both, gap or roll.")
        touching = self._contact()
        measures = (along(self.a, self.b), across(self.a, self.b), angle(self.a, self.b))
        if self.holds != "roll":
            yield contact_row("gap", self.title, f"gap between the curves of {self.name}", measures, touching)
        if self.holds != "gap":
            self._check_rolling()
            start = touching._replace(kind=ROLL, target=0.0)
            drawn = contact_values(start, [measure.drawn for measure in measures]).value
            text = f"slip between the curves of {self.name}"
            yield contact_row("roll", self.title, text, measures, start._replace(target=drawn))

    def _contact(self) -> Contact:
        """The gap; parallel curves touch where the distance of their base curves equals the offsets."""
        out_a = _outward(self.curve_a, self.a, self.curve_b, self.b)
        out_b = _outward(self.curve_b, self.b, self.curve_a, self.a)
        curves, offset_a, offset_b = (
            (self.curve_a.pieces, self.curve_b.pieces),
            self.curve_a.offset,
            self.curve_b.offset,
        )
        if self.internal:
            return Contact(GAP, curves, offset_b - offset_a, -out_a, out_a * out_b)
        return Contact(GAP, curves, offset_a + offset_b, out_a, -out_a * out_b)

    def _check_rolling(self) -> None:
        for word, curve in (("curve_a", self.curve_a), ("curve_b", self.curve_b)):
            if curve.offset:
                raise ModelError(
                    f"{self.title}: {word} is a cam's profile, which slides. Let the joint hold the gap only."
                )
            if curve.is_closed and not isclose(abs(curve.pieces.turning), 2 * pi, rel_tol=1e-6):
                raise ModelError(f"{self.title}: {word} crosses itself, so nothing can roll around it.")


def _outward(curve: Curve, frame: PlacedFrame, other: Curve, other_frame: PlacedFrame) -> float:
    """1 if the outside of a curve is on its right. For an open curve, it is the side of the other curve as drawn."""
    if curve.is_closed:
        return curve.pieces.outward
    middle = _global(other_frame, *other.pieces.samples[:, 1:3].mean(axis=0))
    dx, dy = middle - _global(frame, 0.0, 0.0)
    c, s = cos(frame.drawn_angle), sin(frame.drawn_angle)
    seen = contact_values(Contact(POINT, (curve.pieces,), 0.0, 1.0), (c * dx + s * dy, c * dy - s * dx))
    return -1.0 if seen.value < 0.0 else 1.0


def _global(frame: PlacedFrame, x: float, y: float) -> np.ndarray:
    """Global position of a point of a frame, as drawn."""
    c, s = cos(frame.drawn_angle), sin(frame.drawn_angle)
    return np.array([frame.drawn_x + c * x - s * y, frame.drawn_y + s * x + c * y])
