"""Drift of a pendulum's pin: without stabilization, with Baumgarte's terms, with projection.

    python benchmarks/baumgarte_drift.py [--seconds 60] [--picture docs/pictures/baumgarte_drift.png]

The same equations, the same RK4 steps of 0.02 s; only what is done about the constraints differs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import simengine2d as se

STEP = 0.02
# Okabe and Ito's colors
FORMULATIONS = {
    "augmented, alpha = beta = 0": (se.Augmented(0, 0), "#D55E00", "-"),
    "augmented, alpha = beta = 5": (se.Augmented(5, 5), "#0072B2", "-"),
    "penalty, alpha = 1e7": (se.Penalty(), "#E69F00", "--"),
    "projection": (se.Projection(), "#009E73", "-"),
}


def pin_errors(results: se.Results) -> np.ndarray:
    """Distance of the pin from its place."""
    pairs = zip(results.t, results.q, strict=True)
    return np.array([np.linalg.norm(results.system.Phi(t, q)) for t, q in pairs])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    picture = Path(__file__).parents[1] / "docs/pictures/baumgarte_drift.png"
    parser.add_argument("--picture", type=Path, default=picture)
    chosen = parser.parse_args()

    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    model = se.builders.chain(1, angle=0.3)
    for name, (formulation, color, dashes) in FORMULATIONS.items():
        run = se.dynamics(model, t_end=chosen.seconds, step=STEP, integrator="rk4", formulation=formulation)
        errors = pin_errors(run)
        print(f"{name:30} largest {errors.max():.1e} m, at the end {errors[-1]:.1e} m")
        so_far = np.maximum.accumulate(errors)
        ax.semilogy(run.t[1:], so_far[1:], dashes, color=color, label=name, linewidth=1.8)
    ax.set(xlabel="t [s]", ylabel="largest distance of the pin\nfrom its place so far [m]")
    ax.set_title(f"a pendulum of 1 m, RK4 in steps of {STEP} s", fontsize=11)
    ax.grid(True, alpha=0.25, linewidth=0.6)
    ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    chosen.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(chosen.picture, dpi=130)
    print(f"picture: {chosen.picture}")


if __name__ == "__main__":
    main()
