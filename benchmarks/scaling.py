"""A chain of 10 to 100,000 links: time to build its model, from the model to the end of the first step, cost of an
implicit step and of an evaluation per link.

Then a step per link of other implicit methods on differential-algebraic equations, of 30 links and of 300, in all
coordinates.

python benchmarks/scaling.py                     # some minutes; --quick stops at 10,000 links
python benchmarks/scaling.py --staged            # only the last table
python benchmarks/scaling.py --picture docs/pictures/scaling.png
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import ours
from cases import chain
from measuring import best_seconds, seconds_of

import simengine2d as se

FULL = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
QUICK = FULL[:-2]
STEP = 1e-4
STAGED = (
    {"integrator": "radau_iia", "formulation": "index3"},
    {"integrator": "radau_iia", "formulation": "ggl"},
    {"integrator": "bdf", "formulation": "index3"},
    {"integrator": "bdf", "formulation": "ggl"},
    {"integrator": "generalized_alpha", "formulation": "ggl"},
    {"integrator": "newmark", "formulation": "index3"},
)
FAMILIES = ("reference_point", "natural", "mixed", "relative")
FEW, MANY, STEPS = 30, 300, 60_000  # steps of all links together


class Cost(NamedTuple):
    """Seconds of building the model, from there to the first step of a plain call, with the memory in gigabytes up to
    then, and of preparing implicit steps; then microseconds per link."""

    links: int
    build: float
    first: float
    memory: float
    order: float
    step: float
    iterations: float
    evaluation: float


def measure(links: int) -> Cost:
    """Two runs of different length; their difference has no set-up in it."""
    models: list[se.Model] = []
    made: list[se.System] = []
    case = chain(links)
    build = seconds_of(lambda: models.append(ours.model(case)))
    first = seconds_of(lambda: made.append(first_step(models[0])))
    system, memory = made[0], getrusage(RUSAGE_SELF).ru_maxrss / 1e6
    order = seconds_of(lambda: se.dynamics(system, **implicit(2)))
    count = max(20, min(1000, 200_000 // links))
    (short, _), (long, results) = timed(system, implicit(2)), timed(system, implicit(2 + count))
    iterations = results.statistics["Newton iterations"] / results.statistics["steps"]
    few, many = (timed(system, {"t_eval": [0.0, t_end], "rtol": 1e-6}) for t_end in (1e-3, 0.3))
    evaluations = many[1].statistics["evaluations"] - few[1].statistics["evaluations"]
    step, evaluation = (long - short) / count, (many[0] - few[0]) / evaluations
    return Cost(links, build, first, memory, order, 1e6 * step / links, iterations, 1e6 * evaluation / links)


def first_step(model: se.Model) -> se.System:
    """What a plain call on a model does up to the end of its first step."""
    system = se.System(model)
    assert se.dynamics(system, t_eval=[0.0, 1e-6]).statistics["steps"] == 1
    return system


def implicit(steps: int) -> dict[str, Any]:
    return {"t_eval": [0.0, steps * STEP], "step": STEP, "integrator": "generalized_alpha"}


def timed(system: se.System, options: dict[str, Any]) -> tuple[float, se.Results]:
    kept: list[se.Results] = []
    seconds = best_seconds(lambda: seconds_of(lambda: kept.append(se.dynamics(system, **options))), 0.3)
    return seconds, kept[-1]


def measure_all(sizes: tuple[int, ...]) -> list[Cost]:
    measure(sizes[0])  # compiles
    return [measure(links) for links in sizes]


def print_table(costs: list[Cost]) -> None:
    heads = (
        "links", "build s", "first s", "GB", "order s", "step us/link", "iterations", "us/link/iteration",
        "evaluation us/link",
    )  # fmt: skip
    print(" ".join(f"{head:>{max(8, len(head))}}" for head in heads))
    for c in costs:
        numbers = (
            c.build,
            c.first,
            c.memory,
            c.order,
            c.step,
            c.iterations,
            c.step / c.iterations,
            c.evaluation,
        )
        cells = (f"{number:{max(8, len(head))}.3f}" for head, number in zip(heads[1:], numbers, strict=True))
        print(f"{c.links:8,}", *cells)
    large = [c for c in costs if c.links >= 100]
    for what, values in (
        ("step", [c.step for c in large]),
        ("iteration", [c.step / c.iterations for c in large]),
        ("evaluation", [c.evaluation for c in large]),
    ):
        print(
            f"    {what}: largest against smallest cost per link from 100 links on {max(values) / min(values):.2f}"
        )


def print_staged() -> None:
    """Microseconds of a step per link; two runs of different length have no set-up in their difference."""
    systems = {links: se.System(ours.model(chain(links))) for links in (FEW, MANY)}
    print(f"{'method':>45} {FEW:>8} {MANY:>8}   ratio")
    for family, method in product(FAMILIES, STAGED):
        how = {"coordinates": family, **method}
        timed(systems[FEW], {"t_eval": [0.0, STEP], "step": STEP, **how})  # compiles
        cost = {links: staged_step(system, how) / links for links, system in systems.items()}
        name = ", ".join(how.values())
        print(f"{name:>45} {cost[FEW]:8.2f} {cost[MANY]:8.2f} {cost[MANY] / cost[FEW]:7.2f}")


def staged_step(system: se.System, how: dict[str, Any]) -> float:
    """Microseconds."""
    steps = STEPS // len(system.bodies)
    options = [{"t_eval": [0.0, count * STEP], "step": STEP, **how} for count in (1, 1 + steps)]
    (short, _), (long, _) = (timed(system, each) for each in options)
    return 1e6 * (long - short) / steps


def draw(costs: list[Cost], path: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    links = [c.links for c in costs]
    axes.loglog(
        links, [c.step for c in costs], "o-", color="#0072B2", label="implicit step (generalized-alpha)"
    )
    axes.loglog(
        links, [c.evaluation for c in costs], "s--", color="#D55E00", label="one evaluation of accelerations"
    )
    axes.set(
        xlabel="links of the chain", ylabel="microseconds per link", title="Cost per link of a growing chain"
    )
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.set_ylim(0.005, 2.0)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--staged", action="store_true", help="only the last table")
    parser.add_argument(
        "--picture", type=Path, default=Path(__file__).parents[1] / "docs/pictures/scaling.png"
    )
    chosen = parser.parse_args()
    if chosen.staged:
        print_staged()
        return
    costs = measure_all(QUICK if chosen.quick else FULL)
    print_table(costs)
    print_staged()
    draw(costs, chosen.picture)
    print(f"picture: {chosen.picture}")


if __name__ == "__main__":
    main()
