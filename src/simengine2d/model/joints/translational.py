from __future__ import annotations

from collections.abc import Iterator

from ..elements import Pair, Row
from ..measure import across, misalignment


class Translational(Pair):
    """A slider in a guide: b moves along the axis of a and does not turn relative to it.

    A guide in the ground has the given `direction`, a global vector or angle, or else that of b's own axis as drawn.

    Phi = [v_a . (r_b - r_a), v_a . u_b] = 0
    """

    freedom = 1

    def rows(self) -> Iterator[Row]:
        yield Row("across", across(self.a, self.b))
        yield Row("turn", misalignment(self.a, self.b))
