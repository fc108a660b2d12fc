from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..elements import Flag, Pair, Row, Vector
from ..measure import distance, rolling


class Belt(Pair):
    """A belt or chain over two pulleys with centers a and b, without slip or stretch; `crossed` reverses the turn.

    Its two strands share the load evenly about an unknown pretension, which is not part of the reactions.

    Phi = R_a (phi_a - beta) -+ R_b (phi_b - beta) - as drawn = 0, beta the angle of the line of centers
    """

    radii: Vector
    crossed: Flag = False
    freedom = 2

    def rows(self) -> Iterator[Row]:
        if len(self.radii) != 2 or min(self.radii) <= 0.0:
            raise ModelError(f"{self.title}: radii {list(self.radii)} must be two positive numbers.")
        if distance(self.a, self.b).drawn == 0.0:
            raise ModelError(f"{self.title}: the centers coincide as drawn; a belt needs two centers.")
        run = rolling(self.a, self.b, self.radii[0], self.radii[1] if self.crossed else -self.radii[1])
        yield Row("run", run, run.drawn)
