"""Two source trees compared: CPU seconds of the first compilation, and milliseconds of typical calls.

    git worktree add ../before <commit>
    python benchmarks/before_after.py ../before .

Processes of the two trees alternate, and the least of all repetitions counts, so that other work on the machine matters
little. `--only newmark` chooses calls by parts of their names.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMPILED = "default", "relative", "natural", "newmark", "springs newmark", "index3"
"""The calls whose first compilation is measured."""


def calls() -> dict[str, Callable[[], Any]]:
    """Typical calls of `simengine2d`, which is that of this process."""
    import simengine2d as se

    four_bar, double, chain_10, chain_100 = (
        se.builders.four_bar(1, 4, 3, 4),
        se.builders.chain(2),
        se.builders.chain(10),
        se.builders.chain(100),
    )

    def springs(**options: Any) -> se.Model:
        model = se.builders.chain(8)
        bodies = list(model.bodies)
        for k in range(8):
            measure = se.distance(model.ground.at(0.3 * k, 1.0), model.bodies[bodies[k]])
            model.add(se.Spring(f"s{k}", measure, stiffness=50, damping=0.5, free=0.5, **options))
        return model

    def held(**options: Any) -> se.Model:
        """A free body on eight springs."""
        model = se.Model("held")
        body = model.body("body", mass=2, inertia=0.5, at=(0, 0))
        for k in range(8):
            x, y = math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)
            measure = se.distance(model.ground.at(2 * x, 2 * y), body.at(0.3 * x, 0.3 * y))
            model.add(se.Spring(f"s{k}", measure, stiffness=50, damping=0.5, free=1.5, **options))
        return model

    plain, actuated, cubic = springs(), springs(actuator="2*sin(3*t)"), springs(law="10*s^3")
    held_plain, held_actuated = held(), held(actuator="2*sin(3*t)")
    driven = se.builders.four_bar(1, 4, 3, 4, speed=3)
    newmark = {"integrator": "newmark", "step": 1e-3}
    run = se.dynamics
    return {
        "default": lambda: run(four_bar, t_end=2),
        "default, 10 ms": lambda: run(four_bar, t_end=0.01),
        "relative": lambda: run(four_bar, t_end=2, coordinates="relative"),
        "natural": lambda: run(four_bar, t_end=2, coordinates="natural"),
        "rk4": lambda: run(four_bar, t_end=1, integrator="rk4", step=1e-3),
        "newmark": lambda: run(four_bar, t_end=1, **newmark),
        "newmark modified": lambda: run(
            four_bar, t_end=1, integrator=se.Newmark(newton="modified"), step=1e-3
        ),
        "hht": lambda: run(four_bar, t_end=1, integrator="hht", step=1e-3),
        "generalized alpha": lambda: run(four_bar, t_end=1, integrator="generalized_alpha", step=1e-3),
        "bdf": lambda: run(four_bar, t_end=0.3, integrator="bdf", step=1e-3, formulation="index3"),
        "index3": lambda: run(four_bar, t_end=1, formulation="index3"),
        "ggl": lambda: run(four_bar, t_end=0.3, formulation="ggl"),
        "double pendulum": lambda: run(double, t_end=0.5),
        "chain of 10": lambda: run(chain_10, t_end=0.2),
        "chain of 10, newmark": lambda: run(chain_10, t_end=0.2, **newmark),
        "chain of 100, newmark": lambda: run(chain_100, t_end=0.05, **newmark),
        "springs": lambda: run(plain, t_end=1),
        "springs newmark": lambda: run(plain, t_end=0.5, **newmark),
        "eight springs newmark": lambda: run(held_plain, t_end=1, **newmark),
        "eight actuators newmark": lambda: run(held_actuated, t_end=1, **newmark),
        "springs with a law": lambda: run(cubic, t_end=0.3),
        "springs with a law, newmark": lambda: run(cubic, t_end=0.3, **newmark),
        "actuators": lambda: run(actuated, t_end=0.5),
        "actuators newmark": lambda: run(actuated, t_end=0.5, **newmark),
        "kinematics": lambda: se.kinematics(driven, t_end=2, step=0.01),
        "driven dynamics": lambda: run(driven, t_end=1),
    }


# In a process of one tree -------------------------------------------------------------------------------


def first_call(name: str) -> float:
    """CPU seconds of this process, which has no compiled kernels yet, and of its children."""
    calls()[name]()
    return sum(os.times()[:4])


def warm_calls(names: list[str], seconds: float) -> dict[str, float]:
    """The shortest of repeated calls, in milliseconds of wall or processor time, whichever is less."""
    known, best = calls(), {}
    for name in names:
        try:
            known[name]()
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            wall, processor = time.perf_counter(), time.process_time()
            known[name]()
            spent = 1e3 * min(time.perf_counter() - wall, time.process_time() - processor)
            best[name] = min(spent, best.get(name, spent))
    return best


# In the process that compares -----------------------------------------------------------------------------


def ask(tree: Path, cache: str, *question: str) -> Any:
    """What a new process of a tree answers."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "SIMENGINE2D_CACHE": cache}
    command = [sys.executable, str(Path(__file__).resolve()), *question]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def compare(label: str, before: float, after: float) -> None:
    print(f"{label:32} {before:9.3f} {after:9.3f} {after / before:7.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs="*", type=Path, help="the tree before and the tree after")
    parser.add_argument("--only", default="", help="part of the names of calls")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each tree")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each call in a process")
    parser.add_argument("--no-compile", action="store_true", help="warm calls only")
    parser.add_argument("--no-warm", action="store_true", help="first compilation only")
    parser.add_argument("--first-call", help=argparse.SUPPRESS)
    parser.add_argument("--warm-calls", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.first_call:
        print(json.dumps(first_call(given.first_call)))
    elif given.warm_calls:
        print(json.dumps(warm_calls(given.warm_calls, given.seconds)))
    else:
        print(f"{'':32} {'before':>9} {'after':>9} {'ratio':>7}")
        if not given.no_compile:
            compare_compilation(given)
        if not given.no_warm:
            compare_calls(given)


def compare_compilation(given: argparse.Namespace) -> None:
    for name in [name for name in COMPILED if given.only in name]:
        spent: list[list[float]] = [[], []]
        for _ in range(given.rounds):
            for tree, times in zip(given.trees, spent, strict=True):
                with tempfile.TemporaryDirectory() as cache:
                    times.append(ask(tree, cache, "--first-call", name))
        compare(f"{name}, first call [s]", *map(min, spent))


def compare_calls(given: argparse.Namespace) -> None:
    names = [name for name in calls() if given.only in name]
    best: list[dict[str, float]] = [{}, {}]
    with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as after:
        for _ in range(given.rounds):
            for tree, cache, times in zip(given.trees, (before, after), best, strict=True):
                question = "--seconds", str(given.seconds), "--warm-calls", *names
                for name, spent in ask(tree, cache, *question).items():
                    times[name] = min(spent, times.get(name, spent))
    for name in names:
        if name in best[0] and name in best[1]:
            compare(f"{name} [ms]", best[0][name], best[1][name])


if __name__ == "__main__":
    main()
