from __future__ import annotations

from collections.abc import Iterator

from ..elements import Number, Pair, Row
from ..measure import across


class RevoluteTranslational(Pair):
    """A massless slider with an arm: point b stays `offset` to the left of the axis of frame a.

    The arm slides along a and carries a pin for b, so the bodies also turn freely relative to each other.
    The offset is by default as drawn. A guide in the ground needs a `direction`, a global vector or angle.

    Phi = v_a . (r_b - r_a) - offset = 0
    """

    offset: Number | None = None
    freedom = 2
    slot = True

    def rows(self) -> Iterator[Row]:
        arm = across(self.a, self.b)
        yield Row("across", arm, arm.drawn if self.offset is None else self.offset)
