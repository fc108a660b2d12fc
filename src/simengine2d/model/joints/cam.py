from __future__ import annotations

from collections.abc import Iterator
from math import cos, sin
from typing import Annotated, Any, Literal

from ...errors import ModelError
from ..curves.cam_design import FOLLOWERS
from ..curves.contact_arrays import FACE, POINT, Contact
from ..curves.contact_kernel import contact_values
from ..elements import CurveField, Flag, FrameField, Joint, Kind, Number, Row
from ..measure import across, angle
from .point_on_curve import contact_row, point_row

Follower = Annotated[Any, Kind("plain", Literal["knife", "roller", "flat"])]


class Cam(Joint):
    """A cam, whose profile is a `curve` in frame a, and a follower that always touches it.

    The follower is a "knife" edge at point b; a "roller" with center b and a `radius`; or "flat", a straight face along
    the axis of frame b. It runs outside a closed profile, or `inside`; along an open one, on the side as drawn. With
    the nearest point c of the profile, its normal n, and the face's normal m:

    Phi = n . (r_b - c) - radius = 0,      flat:  Phi = m . (r_b - c) = 0

    The joint holds the follower in both directions. A positive multiplier pulls: a real follower would lift off there
    unless a spring pressed it on. `-multiplier` is the contact force.
    """

    a: FrameField
    b: FrameField
    curve: CurveField
    follower: Follower = "knife"
    radius: Number | None = None
    inside: Flag = False
    freedom = 2

    def rows(self) -> Iterator[Row]:
        self._check()
        if self.follower == "flat":
            yield self._face_row()
            return
        base, side = self.curve.pieces, self._side()
        target = side * base.outward * self.curve.offset + (self.radius or 0.0)
        text = f"gap between cam and follower of {self.name}"
        yield point_row("gap", self.title, text, self.a, self.b, Contact(POINT, (base,), target, side))

    def _check(self) -> None:
        if self.follower not in FOLLOWERS:
            raise ModelError(f"{self.title} has the follower {self.follower!r}; give knife, roller or flat.")
        if self.follower == "roller" and not (self.radius is not None and self.radius > 0.0):
            raise ModelError(f"{self.title} has a roller, which needs a positive radius, not {self.radius}.")
        if self.follower != "roller" and self.radius is not None:
            raise ModelError(
                f"{self.title} has a {self.follower} follower, which has no radius. Leave it out."
            )
        if self.follower == "flat" and self.inside:
            raise ModelError(f"{self.title}: a flat follower cannot run inside its cam.")
        if self.inside and not self.curve.is_closed:
            raise ModelError(f"{self.title}: its profile is open, so it has no inside. Leave `inside` out.")

    def _side(self) -> float:
        """The side on which the follower runs: 1 on the right of the curve, -1 on its left."""
        base = self.curve.pieces
        if self.curve.is_closed:
            return -base.outward if self.inside else base.outward
        bare = point_row("gap", self.title, "", self.a, self.b, Contact(POINT, (base,), 0.0, 1.0))
        return 1.0 if drawn_value(bare) >= 0.0 else -1.0

    def _face_row(self) -> Row:
        # the middle of the cam shows on which side of the face it is
        x, y = self.curve.pieces.samples[:, 1:3].mean(axis=0)
        c, s = cos(self.a.drawn_angle), sin(self.a.drawn_angle)
        dx = self.a.drawn_x + c * x - s * y - self.b.drawn_x
        dy = self.a.drawn_y + s * x + c * y - self.b.drawn_y
        left = cos(self.b.drawn_angle) * dy - sin(self.b.drawn_angle) * dx
        contact = Contact(FACE, (self.curve.pieces,), self.curve.offset, -1.0 if left > 0.0 else 1.0)
        measures = (across(self.b, self.a), angle(self.a, self.b))
        return contact_row("gap", self.title, f"gap between cam and face of {self.name}", measures, contact)


def drawn_value(row: Row) -> float:
    """The gap in the initial pose, as drawn."""
    assert row.formula is not None and row.formula.contact is not None
    return contact_values(row.formula.contact, [measure.drawn for measure in row.formula.measures]).value
