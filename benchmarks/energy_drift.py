"""Energy of a conservative pendulum and four-bar over 1,000 periods, for every method.

    python benchmarks/energy_drift.py [--periods 100] [--picture docs/pictures/energy_drift.png]

The change of the total energy is given relative to the energy that the motion exchanges, its largest kinetic energy.
Methods of fixed steps take 200 steps a period.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ours
from cases import Case, chain, four_bar
from numpy.typing import NDArray
from references import TIGHT, Linkage
from references import four_bar as four_bar_linkage

import simengine2d as se

Floats = NDArray[np.float64]

ALLOWED = 1e-4
STEPS_A_PERIOD, SAMPLES_A_PERIOD = 200, 8
METHODS: dict[str, dict[str, Any]] = {
    "default, rtol 1e-4": {"rtol": 1e-4},
    "default, rtol 1e-6": {"rtol": 1e-6},
    "default, rtol 1e-9": {"rtol": 1e-9},
    "newmark": {"integrator": "newmark"},
    "newmark, gamma = 1/2": {"integrator": se.Newmark(gamma=0.5)},
    "hht": {"integrator": "hht"},
    "generalized_alpha": {"integrator": "generalized_alpha"},
}
# Okabe and Ito's colors; the default methods are full lines, those of fixed steps are dashed
STYLES = {
    "default, rtol 1e-4": ("#56B4E9", "-"),
    "default, rtol 1e-6": ("#000000", "-"),
    "default, rtol 1e-9": ("#0072B2", "-"),
    "newmark": ("#D55E00", "--"),
    "newmark, gamma = 1/2": ("#E69F00", "--"),
    "hht": ("#009E73", "--"),
    "generalized_alpha": ("#CC79A7", "--"),
}


class Drift(NamedTuple):
    """The relative change of the energy at the samples, or why there is none."""

    method: str
    change: Floats
    seconds: float
    steps: int
    failed: str = ""


def pendulum_linkage() -> Linkage:
    return Linkage(np.zeros(1, complex), np.array([[0.5 + 0j]]), np.ones(1), np.full(1, 1 / 12), np.zeros(1))


def period(linkage: Linkage) -> float:
    """From rest to rest and back again."""
    from scipy.integrate import solve_ivp

    rest = lambda t, y: y[1]
    motion = solve_ivp(linkage.rates, (0.0, 20.0), [linkage.a[0], 0.0], events=rest, **TIGHT)
    return float([t for t in motion.t_events[0] if t > 1e-3][1])


def energies(case: Case, results: se.Results) -> tuple[Floats, Floats]:
    """Total and kinetic energy, from the case's own masses."""
    states = [(q.reshape(-1, 3), qd.reshape(-1, 3)) for q, qd in zip(results.q, results.qd, strict=True)]
    total = np.array([case.energy(*state) for state in states])
    rest = np.zeros_like(case.qd0)
    return total, total - np.array([case.energy(q, rest) for q, _ in states])


def measure(case: Case, system: se.System, times: Floats, method: str, one_period: float) -> Drift:
    settings = dict(METHODS[method])
    if "integrator" in settings:
        settings["step"] = one_period / STEPS_A_PERIOD
    start = time.perf_counter()
    try:
        results, failed = se.dynamics(system, t_eval=times, **settings), ""
    except se.SimEngineError as error:
        results, failed = getattr(error, "results", None), str(error).splitlines()[0]
        if results is None or results.t.size < 2:
            return Drift(method, np.zeros(0), 0.0, 0, failed)
    seconds = time.perf_counter() - start
    total, kinetic = energies(case, results)
    counts = results.statistics
    return Drift(method, (total - total[0]) / kinetic.max(), seconds, counts["steps"], failed)


def measure_all(case: Case, one_period: float, periods: int) -> list[Drift]:
    system = se.System(ours.model(case))
    times = np.linspace(0.0, periods * one_period, SAMPLES_A_PERIOD * periods + 1)
    return [measure(case, system, times, method, one_period) for method in METHODS]


def print_table(title: str, drifts: list[Drift]) -> None:
    print(f"\n{title}")
    print(f"{'method':24} {'at the end':>11} {'largest':>9} {'steps':>8} {'s':>7}")
    for method, change, seconds, steps, failed in drifts:
        if change.size:
            print(
                f"{method:24} {change[-1]:+11.2e} {np.abs(change).max():9.2e} {steps:8,} {seconds:7.2f}  {failed[:80]}"
            )
        else:
            print(f"{method:24} {failed[:100]}")
    default = next(d for d in drifts if d.method == "default, rtol 1e-6")
    largest = np.abs(default.change).max(initial=0.0)
    verdict = "holds" if default.change.size and not default.failed and largest < ALLOWED else "DOES NOT HOLD"
    print(f"the default's drift below {ALLOWED:g}: {largest:.1e}, {verdict}")


def draw(panels: dict[str, list[Drift]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(1, len(panels), figsize=(10.0, 4.6), sharey=True, layout="constrained")
    for axes, (title, drifts) in zip(grid, panels.items(), strict=True):
        for drift in drifts:
            # the largest change so far, once a period
            so_far = np.maximum.accumulate(np.abs(drift.change))[SAMPLES_A_PERIOD::SAMPLES_A_PERIOD]
            color, dashes = STYLES[drift.method]
            count = np.arange(1, so_far.size + 1)
            axes.loglog(
                count, np.maximum(so_far, 1e-15), dashes, color=color, label=drift.method, linewidth=1.8
            )
        axes.axhline(ALLOWED, color="#808080", linewidth=1.0, linestyle=":")
        axes.annotate("asked of rtol 1e-6", (1.0, 1.2 * ALLOWED), color="#606060", fontsize=8)
        axes.set(title=title, xlabel="periods")
        axes.grid(True, which="major", alpha=0.25, linewidth=0.6)
    grid[0].set_ylabel("largest change of energy so far,\nrelative to the largest kinetic energy")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--periods", type=int, default=1000)
    picture = Path(__file__).parents[1] / "docs/pictures/energy_drift.png"
    parser.add_argument("--picture", type=Path, default=picture)
    chosen = parser.parse_args()
    mechanisms = {
        "pendulum": (chain(1), period(pendulum_linkage())),
        "four-bar": (four_bar(), period(four_bar_linkage())),
    }
    panels = {}
    for name, (case, one_period) in mechanisms.items():
        drifts = measure_all(case, one_period, chosen.periods)
        print_table(f"{name}, {chosen.periods:,} periods of {one_period:.4f} s", drifts)
        panels[name] = drifts
    draw(panels, chosen.picture)
    print(f"\npicture: {chosen.picture}")


if __name__ == "__main__":
    main()
