from __future__ import annotations

from collections.abc import Iterator

from ..elements import Pair, Row
from ..measure import x, y


class Revolute(Pair):
    """A pin: two points coincide, the bodies turn freely.

    Phi = r_b - r_a = 0
    """

    freedom = 1

    def rows(self) -> Iterator[Row]:
        yield Row("x", x(self.a, self.b))
        yield Row("y", y(self.a, self.b))
