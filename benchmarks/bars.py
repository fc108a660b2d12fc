"""The bars besides the table: cost of a step against Exudyn and C, of outputs and calls, of compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import ours
import scaling
from cases import CASES
from measuring import Row, seconds_of
from targets import OURS

import simengine2d as se


class StepBar(NamedTuple):
    """A step of ours may cost at most so much of a step of a peer."""

    title: str
    case: str
    peer: str
    method: str
    ours: str
    at_most: float


STEP_BARS = [
    StepBar("(b) four-bar", "four_bar", "Exudyn", "generalized-alpha", "generalized_alpha", 0.4),
    StepBar("(c) four-bar", "four_bar", "C", "KKT 17x17, RK4", "rk4", 1.0),
    *(
        StepBar(f"(d) chain of {n}", f"chain{n}", "Exudyn", "generalized-alpha", "generalized_alpha", 0.25)
        for n in (10, 100, 1000)
    ),
]


def run_with_step(rows: list[Row], peer: str, case: str, method: str, h: float = 1e-3) -> Row | None:
    """The run of a method with the step h, or None where there is none."""
    for row in rows:
        if (row.peer, row.case, row.method) == (peer, case, method) and abs(row.value / h - 1.0) < 1e-6:
            return row
    return None


def print_step_costs(rows: list[Row]) -> None:
    """Bars (b), (c) and (d): microseconds of a step of a millisecond."""
    print("\nMicroseconds a step of 1 ms, error (m) at the end, and largest gap of a joint there")
    print(
        f"{'':18} {'':26} {'us':>8} {'error':>8}   {'ours us':>8} {'error':>8} {'gap':>7} {'ratio':>6}  asked"
    )
    for bar in STEP_BARS:
        theirs = run_with_step(rows, bar.peer, bar.case, bar.method)
        mine = run_with_step(rows, OURS, bar.case, bar.ours)
        print(f"{bar.title:18} {f'{bar.peer}, {bar.method}':26} {costs(theirs)}   {costs(mine)}", end="")
        if mine is not None and mine.failed:
            print(f" {mine.failed[:60]}", end="")
        if theirs and mine and theirs.seconds and mine.seconds:
            ratio = (mine.seconds / mine.steps) / (theirs.seconds / theirs.steps)
            verdict = "" if ratio <= bar.at_most else "  NOT HELD"
            print(f" {mine.gap:7.0e} {ratio:6.2f}  {bar.at_most:g}{verdict}", end="")
        print()


def costs(row: Row | None) -> str:
    """Microseconds and error of a run."""
    if row is None or row.seconds is None:
        return f"{'-':>8} {'-':>8}"
    return f"{1e6 * row.seconds / row.steps:8.2f} {row.error:8.1e}"


def print_all(*, quick: bool) -> None:
    print("\n(d) cost per link of a growing chain; asked: within 1.5 from 100 links on")
    scaling.print_table(scaling.measure_all(scaling.QUICK if quick else scaling.FULL))
    print_outputs()
    print_compilation()


# Outputs and calls ------------------------------------------------------------------------------------


def print_outputs() -> None:
    """Bar (e): what outputs and progress add to a run, and what a call costs beside its solution."""
    case = CASES["four_bar"]()
    system = se.System(ours.model(case))
    print("\n(e) four-bar, 5 s; asked: outputs below 10 %, progress below 2 %, a call below 40 us")
    print_added("default, rtol 1e-6", system, case.t_end, rtol=1e-6)
    print_added("generalized_alpha, 1 ms", system, case.t_end, integrator="generalized_alpha", step=1e-3)
    tiny = 1e-9
    call, solved = best_of_each(
        lambda: seconds_of(lambda: se.dynamics(system, t_eval=[0.0, tiny])), advanced(system, tiny, rtol=1e-6)
    )
    print(
        f"    a call that takes one tiny step, with two outputs, on a prepared System: {1e6 * call:.0f} us; ",
        end="",
    )
    print(f"a Simulator takes the step in {1e6 * solved:.0f} us")
    print_whole_call()


def print_added(title: str, system: se.System, t_end: float, **settings: Any) -> None:
    """Percents that 101 outputs and progress add to a run with two outputs."""
    few, many = np.array([0.0, t_end]), np.linspace(0.0, t_end, 101)
    noted: list[float] = []
    run = lambda times, **more: seconds_of(lambda: se.dynamics(system, t_eval=times, **settings, **more))
    two, all_outputs, told = best_of_each(
        lambda: run(few), lambda: run(many), lambda: run(few, progress=noted.append)
    )
    print(f"    {title:26} {1e3 * two:7.2f} ms, 101 outputs {all_outputs / two - 1.0:+6.1%}", end="")
    print(f", progress {told / two - 1.0:+6.1%}")


def print_whole_call() -> None:
    """From a Model that is new in its numbers, against the call on a System and the solution alone."""
    case, rtol = CASES["slider_crank"](), 1e-6
    system = se.System(ours.model(case))
    plain, whole = ours.PlainCall(case, system, rtol), ours.WholeCall(case, system, rtol)

    def new_model() -> float:
        whole.reset()
        return seconds_of(whole.run)

    solved, called, built = best_of_each(
        advanced(system, case.t_end, rtol=rtol), lambda: seconds_of(plain.run), new_model
    )
    print(f"    slider-crank, 5 s, rtol 1e-6: solution {1e3 * solved:.2f} ms, ", end="")
    print(f"call on a System {1e3 * called:.2f} ms ({called / solved:.2f} x), ", end="")
    print(f"on a new Model {1e3 * built:.2f} ms ({built / solved:.2f} x)")


def advanced(system: se.System, t_end: float, **settings: Any) -> Callable[[], float]:
    """Seconds of the solution alone: a Simulator goes to the end."""
    simulator = se.Simulator(system, **settings)

    def seconds() -> float:
        simulator.reset()
        return seconds_of(lambda: simulator.advance_to(t_end))

    return seconds


def best_of_each(*runs: Callable[[], float], lasting: float = 3.0) -> list[float]:
    """The least seconds of each; they take turns, so that a busy moment of the machine meets all alike."""
    for run in runs:
        run()
    start, best = time.perf_counter(), [float("inf")] * len(runs)
    while time.perf_counter() - start < lasting:
        best = [min(least, run()) for least, run in zip(best, runs, strict=True)]
    return best


# Compilation ------------------------------------------------------------------------------------------


def print_compilation() -> None:
    """Bar (f): the first run ever, and a command when all is compiled."""
    script = "import simengine2d as se; se.dynamics(se.builders.four_bar(1, 4, 3, 4), t_end=5)"
    with tempfile.TemporaryDirectory() as folder:
        # bytecode is there, as in an installed package
        fresh = os.environ | {"SIMENGINE2D_CACHE": folder, "PYTHONDONTWRITEBYTECODE": ""}
        modules = "simengine2d.io.job, simengine2d.analyses.dynamics.dynamics"
        wall_seconds([sys.executable, "-c", f"import {modules}"], fresh)
        cold = wall_seconds([sys.executable, "-c", script], fresh)
        warm = min(wall_seconds([sys.executable, "-c", script], fresh) for _ in range(3))
        command = [sys.executable, "-m", "simengine2d", "dynamics", "four_bar", "--t-end", "5"]
        wall_seconds(command, fresh)  # what the command compiles beside
        whole = min(wall_seconds(command, fresh) for _ in range(3))
    print(
        f"\n(f) cold compile of the default path {cold - warm:.1f} s; asked: 15 s, and 1.5 s for the command"
    )
    print(
        f"    warm script {warm:.2f} s, warm command `simengine2d dynamics four_bar --t-end 5` {whole:.2f} s"
    )


def wall_seconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"    {' '.join(command[1:])} failed: {done.stderr.strip()[-200:]}")
    return time.perf_counter() - start
