"""Sweeps: milliseconds of a variant, of one core, and how much two threads gain.

    python benchmarks/sweeps.py
    python benchmarks/sweeps.py --peers-python ~/peers/bin/python

Two studies: the four-bar linkage with 10,000 lengths of its rocker, kinematics at 360 points; and the slider-crank of
`cases.py` with 1,000 masses of its slider, dynamics over 5 s with rtol = 1e-6. Processor time per variant is that of a
sweep by one thread; the bare solve is the same analysis of some of the variants, of each again and again; the shortest
of several turns counts. The gain of two threads is a ratio of wall times, also of the best turns: it needs a quiet
machine. Beside them, where they are installed: pylinkage (positions only) and Exudyn's ParameterVariation
(generalized-alpha, steps of 1 ms).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cases
import numpy as np
import ours

import simengine2d as se

POINTS = 360
TURNS = 10  # of each measurement in time
SOME = 10  # variants that are also solved by themselves


def processor_ms(run: Callable[[], object], count: int) -> float:
    """Milliseconds of the processor for each of `count` variants."""
    start = time.process_time()
    run()
    return 1e3 * (time.process_time() - start) / count


def gain(run: Callable[[int], object]) -> float:
    """Wall time of one thread against that of two, in turn."""
    best = {1: np.inf, 2: np.inf}
    for _ in range(TURNS):
        for workers in best:
            start = time.perf_counter()
            run(workers)
            best[workers] = min(best[workers], time.perf_counter() - start)
    return best[1] / best[2]


def bare_ms(solves: list[Callable[[], object]]) -> float:
    """The same of analyses that are repeated: the shortest time of each, on average."""
    return float(np.mean([min(processor_ms(solve, 1) for _ in range(30)) for solve in solves]))


def report(
    name: str, study: Callable[..., object], bare: Callable[[float], Callable[[], object]], values: np.ndarray
) -> None:
    """One line of the table; `bare` prepares the analysis of one value."""
    study(values[:200], 1)  # compiled and loaded; less than two samples in a chunk are no batch
    each = min(processor_ms(lambda: study(values, 1), values.size) for _ in range(3))
    solve = bare_ms([bare(value) for value in values[:: values.size // SOME]])
    faster = gain(lambda workers: study(values[: values.size // 2], workers))
    print(f"{name:32} {each:8.3f} ms a variant, {solve:.3f} ms the bare solve ({each / solve:.2f} times), "
          f"two threads {faster:.2f} times one")  # fmt: skip


def of_kinematics(count: int) -> None:
    model, times = se.load("four_bar"), np.linspace(0.0, 1.0, POINTS, endpoint=False)

    def study(values: np.ndarray, workers: int) -> se.SweepTable:
        outputs = {"top": "max(coupler.y)"}
        return se.sweep(model, {"rocker": values}, "kinematics", outputs, t_eval=times, workers=workers)

    values = np.linspace(3.2, 4.0, count)

    def bare(value: float) -> Callable[[], object]:
        one = model.with_parameters(rocker=float(value))
        return lambda: se.kinematics(one, t_eval=times)

    report(f"kinematics, {count} x {POINTS} points", study, bare, values)


def of_dynamics(count: int) -> None:
    model = ours.model(cases.CASES["slider_crank"]())
    name = list(model.bodies)[-1]
    mass = float(model.bodies[name].mass)

    def studied(output: str) -> Callable[..., se.SweepTable]:
        def study(values: np.ndarray, workers: int) -> se.SweepTable:
            parameters, times = {f"{name}.mass": values}, {"t_end": 5.0}
            return se.sweep(model, parameters, "dynamics", [output], **times, rtol=1e-6, workers=workers)

        return study

    def bare(value: float) -> Callable[[], object]:
        model.bodies[name].mass = float(value)
        system = se.System(model)
        return lambda: se.dynamics(system, t_end=5.0, rtol=1e-6)

    masses, joint = mass * np.linspace(1.0, 1.5, count), next(iter(model.elements))
    report(f"dynamics, {count} x 5 s", studied(f"final({name}.x)"), bare, masses)
    report("  its largest force in a joint", studied(f"max({joint}.force)"), bare, masses)


def peer(python: str, module: str, *words: int) -> None:
    """Measured by an interpreter that has it."""
    command = [python, "-m", f"peers.{module}", *map(str, words)]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    left_out = f"{module} is left out: {done.stderr.strip()[-200:]}"
    print(done.stdout.strip().splitlines()[-1] if done.returncode == 0 else left_out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--kinematics", type=int, default=10_000, metavar="N", help="variants of the four-bar"
    )
    parser.add_argument(
        "--dynamics", type=int, default=1_000, metavar="N", help="variants of the slider-crank"
    )
    parser.add_argument("--peers-python", default=sys.executable, help="a Python that has the peers")
    chosen = parser.parse_args()
    of_kinematics(chosen.kinematics)
    of_dynamics(chosen.dynamics)
    peer(chosen.peers_python, "pylinkage_variation", max(1, chosen.kinematics // 20), POINTS)
    peer(chosen.peers_python, "exudyn_variation", max(1, chosen.dynamics // 50))


if __name__ == "__main__":
    main()
