from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ..elements import Flag, Pair, Row, Vector
from ..measure import distance, rolling


class Gear(Pair):
    """Two gears in mesh: their pitch circles roll on each other, whatever carries the centers.

    Frames a and b are the centers. Give the pitch `radii` or the numbers of `teeth` (the circles then touch as
    drawn); `internal` means that a runs inside b. Hold the centers apart with a carrier: the ground or an arm.
    The rolling is measured against the line of centers, of angle beta, so the tooth force reaches the bearings.

    Phi = R_a (phi_a - beta) + R_b (phi_b - beta) - as drawn = 0   (internal: R_b < 0)
    """

    radii: Vector | None = None
    teeth: Vector | None = None
    internal: Flag = False
    freedom = 2

    def rows(self) -> Iterator[Row]:
        radius_a, radius_b = self.pitch_radii()
        mesh = rolling(self.a, self.b, radius_a, -radius_b if self.internal else radius_b)
        yield Row("mesh", mesh, mesh.drawn)

    def pitch_radii(self) -> tuple[float, float]:
        """The radii given, or those that follow from the teeth and the distance between the centers."""
        given = self.radii or self.teeth
        if given is None or (self.radii and self.teeth):
            raise ModelError(f"{self.title} needs either radii or teeth, two numbers.")
        if len(given) != 2 or min(given) <= 0.0:
            raise ModelError(f"{self.title}: radii or teeth {list(given)} must be two positive numbers.")
        if self.internal and given[0] >= given[1]:
            raise ModelError(
                f"{self.title} is internal, so gear a ({given[0]:g}) must be smaller than b ({given[1]:g})."
            )
        centers = distance(self.a, self.b).drawn
        if centers == 0.0:
            raise ModelError(f"{self.title}: the centers coincide as drawn; a mesh needs two centers.")
        if self.radii:
            return given[0], given[1]
        module = centers / (given[1] - given[0] if self.internal else given[0] + given[1])
        return module * given[0], module * given[1]
