"""Kinematics: microseconds per output point (position, velocity and acceleration), and what peers take.

    python benchmarks/kinematics.py

Cases: the four-bar linkage over 100 crank turns in 100,000 points, shipped mechanisms made of dyads, a whole call for
one turn, and ladders of four-bars of growing size. Peers are measured in the same run where they are installed (pip
install pylinkage mechanism). Times are processor times of whole calls, the best of several; the first column of ratios
is against ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import simengine2d as se
from simengine2d import builders
from simengine2d.model import library

CRANK, COUPLER, ROCKER, GROUND = 1.0, 2.0, 2.5, 3.0
POINTS = 100_000
TURNS = 100
SHIPPED = {"slider_crank": 1, "stephenson_six_bar": 2, "klann_leg": 2, "jansen_leg": 3}  # and their dyads


def best(
    run: Callable[[], object], repetitions: int = 15, clock: Callable[[], float] = time.thread_time
) -> float:
    """Shortest of several runs, in seconds of the processor."""
    times = []
    for _ in range(repetitions):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def four_bar() -> se.Model:
    return builders.four_bar(CRANK, COUPLER, ROCKER, GROUND, crank_angle=1.0, speed=2 * np.pi * TURNS)


def closed_form(angle: np.ndarray) -> np.ndarray:
    """The pin between coupler and rocker, from the intersection of two circles (open branch)."""
    a = CRANK * np.column_stack([np.cos(angle), np.sin(angle)])
    d = np.array([GROUND, 0.0]) - a
    length = np.hypot(*d.T)
    along = (COUPLER**2 - ROCKER**2 + length**2) / (2 * length)
    across = np.sqrt(COUPLER**2 - along**2)
    u = d / length[:, None]
    return a + along[:, None] * u + across[:, None] * np.column_stack([-u[:, 1], u[:, 0]])


def ours() -> tuple[float, float]:
    """Seconds per point, and the largest error of the pin against the closed form."""
    model = four_bar()
    times = np.linspace(0.0, 1.0, POINTS)
    results = se.kinematics(model, t_eval=times)
    pin = closed_form(1.0 + 2 * np.pi * TURNS * times)
    error = max(
        np.abs(results["coupler.end.x"] - pin[:, 0]).max(), np.abs(results["coupler.end.y"] - pin[:, 1]).max()
    )
    return best(lambda: se.kinematics(model, t_eval=times)) / POINTS, error


def shipped() -> None:
    print(f"\nshipped mechanisms, {POINTS:,} points")
    print(f"{'mechanism':28} {'us/point':>9} {'us/point/dyad':>14}")
    for name, dyads in SHIPPED.items():
        with library.file(name) as path:
            model = se.load(path)
        times = np.linspace(0.0, float(TURNS), POINTS)
        point = best(lambda: se.kinematics(model, t_eval=times), 5) / POINTS * 1e6  # noqa: B023
        print(f"{name:28} {point:9.2f} {point / dyads:14.2f}")


def whole_call() -> None:
    """A model that is new in its numbers, one turn in 361 points; the clock on the wall, the best of many."""
    model = builders.four_bar(CRANK, COUPLER, ROCKER, GROUND, crank_angle=1.0, speed=2 * np.pi)
    times = np.linspace(0.0, 1.0, 361)
    call = best(lambda: se.kinematics(model, t_eval=times), 300, time.perf_counter)
    build = best(lambda: se.System(model), 300, time.perf_counter)
    print(
        f"\nfour-bar, one turn in 361 points: {call * 1e3:.2f} ms a call, of which its System {build * 1e3:.2f}"
    )


def pylinkage_peer() -> float:
    """pylinkage, compiled positions only."""
    import pylinkage as pl

    start = closed_form(np.array([1.0]))[0]

    def run() -> object:
        a, d = pl.Ground(0.0, 0.0), pl.Ground(GROUND, 0.0)
        crank = pl.Crank(a, CRANK, angular_velocity=2 * np.pi * TURNS / POINTS, initial_angle=1.0)
        dyad = pl.RRRDyad(crank.output, d, COUPLER, ROCKER, x=start[0], y=start[1])
        linkage = pl.simulation.Linkage([a, d, crank, dyad])
        linkage.compile()
        return linkage.step_fast(POINTS, 1.0)

    run()
    return best(run) / POINTS


def mechanism_peer(points: int = 200) -> float:
    """mechanism, positions, velocities and accelerations by fsolve."""
    from mechanism import Mechanism, Vector, get_joints

    o, a, b, d = get_joints("O A B D")
    va, vb, vc = Vector((o, a), r=CRANK), Vector((a, b), r=COUPLER), Vector((d, b), r=ROCKER)
    vd = Vector((o, d), r=GROUND, theta=0.0)
    angle = 1.0 + np.linspace(0.0, 2 * np.pi, points)
    pin, crank = closed_form(angle[:1])[0], CRANK * np.array([np.cos(1.0), np.sin(1.0)])
    guess = np.array([np.arctan2(*(pin - crank)[::-1]), np.arctan2(pin[1], pin[0] - GROUND)])

    def loops(x: np.ndarray, i: float) -> np.ndarray:
        return np.array(va(i) + vb(x[0]) - vc(x[1]) - vd()).flatten()

    solver = Mechanism(
        vectors=(va, vb, vc, vd), origin=o, loops=loops, pos=angle, vel=np.full(points, 6.3), acc=np.zeros(points),
        guess=(guess, np.ones(2), np.ones(2)),
    )  # fmt: skip
    return best(solver.iterate, 2) / points


def ladders() -> None:
    print("\nladder of four-bars, driven by its first crank, 1,000 points")
    print(f"{'windows':>8} {'bodies':>7} {'us/point':>9} {'us/point/body':>14}")
    for windows in (1, 10, 100, 500):
        model = builders.four_bar_ladder(windows, driver="pi/2 + 0.5*sin(2*pi*t)")
        times = np.linspace(0.0, 1.0, 1000)
        # the cost of assembly is taken out by comparing two lengths
        long = best(lambda: se.kinematics(model, t_eval=times), 3)  # noqa: B023
        short = best(lambda: se.kinematics(model, t_eval=times[:10]), 3)  # noqa: B023
        point = (long - short) / 990 * 1e6
        print(f"{windows:8} {len(model.bodies):7} {point:9.2f} {point / len(model.bodies):14.3f}")


def main() -> None:
    seconds, error = ours()
    print(f"four-bar, {POINTS:,} points, {TURNS} turns; largest error of a pin {error:.1e} m")
    print(f"{'engine':28} {'us/point':>9} {'ratio':>8}")
    print(f"{'simengine2d (p, v, a)':28} {seconds * 1e6:9.2f} {1.0:8.1f}")
    for name, peer in (("pylinkage (p only)", pylinkage_peer), ("mechanism (p, v, a)", mechanism_peer)):
        try:
            other = peer()
        except ImportError:
            print(f"{name:28} {'not installed':>9}")
            continue
        print(f"{name:28} {other * 1e6:9.2f} {other / seconds:8.1f}")
    shipped()
    whole_call()
    ladders()


if __name__ == "__main__":
    main()
