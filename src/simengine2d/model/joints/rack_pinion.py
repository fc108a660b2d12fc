from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..elements import Number, Pair, Row
from ..measure import along, angle


class RackPinion(Pair):
    """A pinion with center b rolls on a rack: the pitch line is `radius` to the right of b, along the axis of a.

    Give a negative radius for a pinion on the other side. The distance between pinion and rack is held by their guides,
    or by a RevoluteTranslational joint. `phase` is the constant c; by default, the teeth mesh as drawn.

    Phi = u_a . (r_b - r_a) + R (phi_b - phi_a) - c = 0
    """

    radius: Number
    phase: Number | None = None
    freedom = 2

    def rows(self) -> Iterator[Row]:
        if self.radius == 0.0:
            raise ModelError(f"{self.title} has the radius 0.")
        rolls = along(self.a, self.b) + self.radius * angle(self.a, self.b)
        yield Row("mesh", rolls, rolls.drawn if self.phase is None else self.phase)
