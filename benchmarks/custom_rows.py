"""What a custom constraint costs: every built-in joint against the same joint written as formulas of x, y and phi.

    python benchmarks/custom_rows.py

prints microseconds per step of RK4 and of Newmark's method for a pendulum with a second body on it, and their ratio.
The model has one other joint and a spring, so the ratio is a worst case: in larger models the formulas share the step
with more that they do not change.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import simengine2d as se

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "unit")]

from test_custom_constraints import JOINTS, models  # noqa: E402

STEPS, REPEATS = 1000, 15


def step_times(pair: tuple[se.Model, se.Model], integrator: str) -> list[float]:
    """Microseconds of processor time per step of two models that take turns; the best of some runs."""
    h, best = 5e-4, [float("inf"), float("inf")]
    systems = [se.System(model) for model in pair]
    for repeat in range(REPEATS + 1):  # the first one loads the kernels
        for k, system in enumerate(systems):
            begin = time.process_time()
            se.dynamics(system, t_eval=[0.0, STEPS * h], step=h, integrator=integrator)
            if repeat:
                best[k] = min(best[k], time.process_time() - begin)
    return [1e6 * seconds / STEPS for seconds in best]


def main() -> None:
    integrators = ("rk4", "newmark")
    print("joint".ljust(24) + "".join(f"{name:>14}{'custom':>10}{'ratio':>8}" for name in integrators))
    for name in JOINTS:
        line = name.ljust(24)
        for integrator in integrators:
            ours, custom = step_times(models(name), integrator)
            line += f"{ours:14.2f}{custom:10.2f}{custom / ours:8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
