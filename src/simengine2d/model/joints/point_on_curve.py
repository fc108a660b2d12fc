from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..curves.contact_arrays import POINT, Contact
from ..curves.contact_kernel import contact_values
from ..elements import CurveField, FrameField, Joint, Row
from ..formula import contact_formula
from ..frame import PlacedFrame
from ..measure import Measure, across, along


class PointOnCurve(Joint):
    """A pin in a curved slot, a bead on a wire: point b stays on a curve fixed in frame a.

    With the point c of the curve nearest to b, and the normal n there:

    Phi = n . (r_b - c) = 0
    """

    a: FrameField
    b: FrameField
    curve: CurveField
    freedom = 2

    def rows(self) -> Iterator[Row]:
        base = self.curve.pieces
        text = f"distance of the point from the curve of {self.name}"
        yield point_row(
            "on", self.title, text, self.a, self.b, Contact(POINT, (base,), self.curve.offset, base.outward)
        )


def point_row(label: str, title: str, text: str, a: PlacedFrame, b: PlacedFrame, contact: Contact) -> Row:
    """The row that holds point b at a distance from a curve in frame a."""
    return contact_row(label, title, text, (along(a, b), across(a, b)), contact)


def contact_row(label: str, title: str, text: str, measures: tuple[Measure, ...], contact: Contact) -> Row:
    """A row that holds a contact, which must exist as drawn."""
    drawn = contact_values(contact, [measure.drawn for measure in measures]).value
    if not abs(drawn) < float("inf"):
        raise ModelError(
            f"{title} has no contact as drawn: the curve ends before it, or is curved too sharply. Place the bodies "
            "where they touch, at least approximately."
        )
    terms = tuple(measure.terms[0] for measure in measures)
    return Row(label, Measure(terms), formula=contact_formula(text, measures, contact))
