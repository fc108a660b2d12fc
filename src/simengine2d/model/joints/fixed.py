from __future__ import annotations

from collections.abc import Iterator
from math import tau

from ..elements import Pair, Row
from ..measure import angle, x, y


class Fixed(Pair):
    """A weld: two frames coincide. Bodies named without points are welded as drawn.

    Phi = [r_b - r_a, phi_b - phi_a - 2 pi k] = 0, with the whole number of turns k as drawn
    """

    freedom = 0
    welds = True

    def rows(self) -> Iterator[Row]:
        turn = angle(self.a, self.b)
        yield Row("x", x(self.a, self.b))
        yield Row("y", y(self.a, self.b))
        yield Row("angle", turn, tau * round(turn.drawn / tau))
