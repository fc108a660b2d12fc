from __future__ import annotations

from collections.abc import Iterator

from ..elements import Pair, Row
from ..measure import across


class PinSlot(Pair):
    """A pin in a straight slot: point b stays on the axis of frame a.

    A slot in the ground needs a `direction`, a global vector or angle.

    Phi = v_a . (r_b - r_a) = 0
    """

    freedom = 2
    slot = True

    def rows(self) -> Iterator[Row]:
        yield Row("across", across(self.a, self.b))
