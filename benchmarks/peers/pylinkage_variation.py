"""pylinkage over lengths of a four-bar's rocker: processor time of a variant, positions only.

python -m peers.pylinkage_variation 200 360
"""

from __future__ import annotations

import sys
import time
from math import pi

import pylinkage as pl

CRANK, COUPLER, GROUND = 1.0, 2.0, 4.0


def linkage_with(rocker: float, points: int) -> pl.simulation.Linkage:
    """A compiled linkage with its crank at 0: the other two links are drawn as a triangle on the rest of the ground."""
    rest = GROUND - CRANK
    along = (rest**2 + COUPLER**2 - rocker**2) / (2.0 * rest)
    a, d = pl.Ground(0.0, 0.0), pl.Ground(GROUND, 0.0)
    crank = pl.Crank(a, CRANK, angular_velocity=2.0 * pi / points, initial_angle=0.0)
    place = {"x": CRANK + along, "y": (COUPLER**2 - along**2) ** 0.5}
    dyad = pl.RRRDyad(crank.output, d, COUPLER, rocker, **place)
    made = pl.simulation.Linkage([a, d, crank, dyad])
    made.compile()
    return made


def main() -> None:
    count, points = int(sys.argv[1]), int(sys.argv[2])
    lengths = [3.2 + 0.8 * k / count for k in range(count)]
    linkage_with(3.5, points).step_fast(points, 1.0)  # compiles
    start = time.process_time()
    made = [linkage_with(length, points) for length in lengths]
    for linkage in made:
        linkage.step_fast(points, 1.0)
    middle = time.process_time()
    for linkage in made:
        linkage.step_fast(points, 1.0)
    new, again = middle - start, time.process_time() - middle
    times = f"{1e3 * new / count:.3f} ms a variant, {1e3 * again / count:.3f} the same linkage again"
    print(f"pylinkage, {count} x {points} positions: {times}")


if __name__ == "__main__":
    main()
