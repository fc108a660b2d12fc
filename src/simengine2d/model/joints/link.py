from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..elements import Number, Pair, Row
from ..measure import distance, half_distance2


class Link(Pair):
    """A massless rod with pins at both ends: two points keep their distance L (as drawn by default).

    Phi = (d . d - L^2) / (2 L) = 0, d = r_b - r_a; its multiplier is the force in the rod
    """

    length: Number | None = None
    freedom = 2

    def rows(self) -> Iterator[Row]:
        length = distance(self.a, self.b).drawn if self.length is None else self.length
        if length <= 0.0:
            raise ModelError(f"{self.title} has the length {length:g}; it must be positive.")
        yield Row("length", half_distance2(self.a, self.b) / length, length / 2)
