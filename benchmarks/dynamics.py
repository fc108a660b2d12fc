"""Dynamics: milliseconds to a given accuracy, and microseconds per link of a growing chain.

    python benchmarks/dynamics.py

Every case is run at several tolerances and compared with the same case at rtol 1e-11. The time is that of the whole
call (assembly included) with few outputs, the best of several; compare ratios, not figures of different machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import simengine2d as se
from simengine2d import builders

TOLERANCES = (1e-3, 1e-6, 1e-9)


def best(run: Callable[[], se.Results], repetitions: int = 5) -> tuple[float, se.Results]:
    """Shortest of several runs in seconds, and the last results."""
    shortest, results = np.inf, None
    for _ in range(repetitions):
        start = time.perf_counter()
        results = run()
        shortest = min(shortest, time.perf_counter() - start)
    assert results is not None
    return shortest, results


def cases() -> dict[str, tuple[se.Model, float]]:
    """Models with the length of their run in seconds."""
    return {
        "double pendulum, 2 s": (builders.chain(2), 2.0),
        "four-bar, 5 s": (builders.four_bar(1.0, 2.0, 2.5, 3.0, crank_angle=0.5), 5.0),
        "slider-crank, 5 s": (builders.slider_crank(1.0, 3.0, crank_angle=0.5), 5.0),
        "chain of 10, 1 s": (builders.chain(10), 1.0),
        "chain of 100, 1 s": (builders.chain(100), 1.0),
        "ladder of 1 window, 10 s": (builders.four_bar_ladder(1), 10.0),
        "ladder of 40 windows, 10 s": (builders.four_bar_ladder(40), 10.0),
    }


def largest_error(results: se.Results, reference: se.Results) -> float:
    """Largest difference of a mass center at the end."""
    x, y = results.q[-1, 0::3] - reference.q[-1, 0::3], results.q[-1, 1::3] - reference.q[-1, 1::3]
    return float(np.hypot(x, y).max())


def accuracy() -> None:
    print(f"{'case':28} {'rtol':>7} {'error m':>9} {'ms':>8} {'steps':>6} {'evaluations':>11}")
    for name, (model, t_end) in cases().items():
        reference = se.dynamics(model, t_eval=[0.0, t_end], rtol=1e-11)
        for rtol in TOLERANCES:
            seconds, results = best(lambda: se.dynamics(model, t_eval=[0.0, t_end], rtol=rtol))  # noqa: B023
            error, counts = largest_error(results, reference), results.statistics
            print(
                f"{name:28} {rtol:7.0e} {error:9.1e} {seconds * 1e3:8.2f} {counts['steps']:6} "
                f"{counts['evaluations']:11}"
            )


def steps() -> None:
    """Implicit steps of fixed size: the cost of one step and Newton iteration."""
    print(
        f"\n{'generalized_alpha, 1000 steps':28} {'us/step':>9} {'us/step/body':>13} {'iterations/step':>16}"
    )
    models = {"four-bar": builders.four_bar(1.0, 2.0, 2.5, 3.0, crank_angle=0.5)}
    models |= {f"chain of {n}": builders.chain(n) for n in (10, 100, 1000)}
    for name, model in models.items():
        short, _ = best(lambda: march(model, 10), 3)  # noqa: B023
        long, results = best(lambda: march(model, 1010), 3)  # noqa: B023
        step = (long - short) / 1000 * 1e6
        iterations = results.statistics["Newton iterations"] / results.statistics["steps"]
        print(f"{name:28} {step:9.2f} {step / len(model.bodies):13.3f} {iterations:16.2f}")


def march(model: se.Model, count: int) -> se.Results:
    """`count` steps of a tenth of a millisecond."""
    h = 1e-4
    return se.dynamics(model, t_eval=[0.0, count * h], step=h, integrator="generalized_alpha")


if __name__ == "__main__":
    accuracy()
    steps()
