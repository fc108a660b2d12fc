"""A million random four-bars: classified (Grashof, circuits, range of the input) and traced.

    python benchmarks/million_four_bars.py [--count 1000000] [--points 72] [--threads 2]

Prints the rate with one thread and with several, how many there are of each type, and how a random sample compares with
`grashof`, `circuits` and `kinematics` of the same linkages as models.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import simengine2d as se


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--points", type=int, default=72)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--sample", type=int, default=20)
    given = options.parse_args()
    lengths = np.random.default_rng(0).uniform(0.1, 1.0, (given.count, 4))
    se.synthesis.survey_four_bars(lengths[:10])  # compiles
    for threads in sorted({1, given.threads}):
        start = time.perf_counter()
        survey = se.synthesis.survey_four_bars(lengths, points=given.points, threads=threads)
        seconds = time.perf_counter() - start
        rate = given.count / seconds
        work = f"{given.count:,} four-bars x {given.points} points, {threads} thread(s)"
        print(f"{work}: {seconds:.2f} s, {rate:,.0f} a second")
    print(survey)
    compare(survey, given.sample)


def compare(survey: se.synthesis.FourBarSurvey, sample: int) -> None:
    """A sample against the analyses of the library."""
    closing = np.flatnonzero(survey.circuits > 0)
    chosen = np.random.default_rng(1).choice(closing, sample, replace=False)
    differences = [difference(survey, int(i)) for i in chosen]
    print(
        f"{sample} of them as models: same class and circuits; ranges and paths within {max(differences):.1e}"
    )


def difference(survey: se.synthesis.FourBarSurvey, i: int) -> float:
    """Largest difference of the input's range and of the path's extent; class and circuits must be the same."""
    a, b, c, d = survey.lengths[i]
    assert se.grashof([a, b, c, d]).type == survey.types[i]
    low, high = survey.input_range[i]
    model = se.builders.four_bar(a, b, c, d, crank_angle=0.5 * (low + high) + 0.01, speed=1.0)
    circuits = se.circuits(model)
    assert len(circuits) == survey.circuits[i], (survey.lengths[i], circuits)
    first = circuits[0]
    if math.isclose(high - low, 2 * math.pi):
        assert first.input_turns_fully
        return path_difference(survey, i)
    ends = sorted((first.branches[0].low, first.branches[0].high))
    return float(np.abs(np.array(ends) - [low, high]).max())


def path_difference(survey: se.synthesis.FourBarSurvey, i: int) -> float:
    """The extent of the path against kinematics at the same angles; C is left of the line from B to D in both."""
    model = se.builders.four_bar(*survey.lengths[i], crank_angle=-math.pi, speed=2 * math.pi)
    results = se.kinematics(model, t_end=1, step=1 / 72)
    x, y = results["coupler.x"], results["coupler.y"]
    extent = [x.min(), x.max(), y.min(), y.max()]
    return float(np.abs(survey.extent[i] - extent).max())


if __name__ == "__main__":
    main()
