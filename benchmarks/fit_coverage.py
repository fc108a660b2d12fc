"""How often the 95 % intervals of a fit hold the true numbers: repetitions of the same measurement with new noise.

    python benchmarks/fit_coverage.py [REPETITIONS]

Counted is, for each parameter, in how many repetitions its own interval holds its true value. All intervals at once do
so less often; what holds all true values in 95 of 100 is the ellipsoid of the covariance C,

    (x - x_true)^T C^-1 (x - x_true) < p F(0.95; p, n - p)

with p parameters and n values (G. A. F. Seber, C. J. Wild, Nonlinear Regression, 1989, section 5.2). Of 100, 95 are
expected; 91 to 99 are within two standard deviations of chance.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import f as fisher

import simengine2d as se

T = np.linspace(0, 2.5, 51)


def pendulum(k: float = 4.0, c: float = 0.3, m: float = 1.2) -> se.Model:
    """A bar on a torsion spring with a damper; a known torque gives the scale of forces."""
    model = se.Model("torsion pendulum", parameters={"k": k, "c": c, "m": m, "L": 0.6})
    bar = model.bar("bar", (0, 0), ("L*cos(0.5)", "L*sin(0.5)"), mass="m")
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Spring("spring", "angle(ground, bar)", stiffness="k", damping="c"))
    model.add(se.Torque("motor", bar, "2*sin(2*t)"))
    return model


def tasks():
    """Name, the model where the search starts, exact data, noise, the true numbers."""
    swing = se.dynamics(pendulum(), t_eval=T, rtol=1e-10)
    yield (
        "torsion pendulum, 51 angles, noise 0.01 rad", pendulum(3.0, 0.2, 1.5),
        {"bar.phi": swing["bar.phi"]}, T, 0.01, {"k": 4.0, "c": 0.3, "m": 1.2},
    )  # fmt: skip
    model = se.load("four_bar")
    motion = se.kinematics(model, t_eval=np.linspace(0, 1, 51))
    lengths = {"crank": 1.0, "coupler": 2.0, "rocker": 13**0.5, "ground": 4.0}
    yield (
        "four-bar, 51 points of the coupler, noise 1 mm",
        model.with_parameters(crank=1.05, coupler=2.1, rocker=3.5, ground=4.1),
        {f"coupler.end.{x}": motion[f"coupler.end.{x}"] for x in "xy"}, motion.t, 1e-3, lengths,
    )  # fmt: skip


def in_ellipsoid(found: se.Fit, truth: dict[str, float], count: int) -> bool:
    """Whether the region of all parameters at once holds the true values; `count` are the data."""
    names = list(truth)
    off = [(found.parameters[name] - truth[name]) / found.errors[name] for name in names]
    distance = np.dot(off, np.linalg.solve(found.correlation, off))
    return bool(distance < len(names) * fisher.ppf(found.level, len(names), count - len(names)))


def main(repetitions: int) -> None:
    for title, model, exact, t, noise, truth in tasks():
        held = dict.fromkeys(truth, 0)
        all_held = together = succeeded = 0
        for seed in range(repetitions):
            rng = np.random.default_rng(seed)
            data = {name: values + noise * rng.standard_normal(t.size) for name, values in exact.items()}
            found = se.fit(model, {"t": t} | data, list(truth))
            inside = {
                name: found.intervals[name][0] < value < found.intervals[name][1]
                for name, value in truth.items()
            }
            held = {name: held[name] + inside[name] for name in truth}
            all_held += all(inside.values())
            together += in_ellipsoid(found, truth, t.size * len(exact))
            succeeded += found.success
        print(f"{title}: {repetitions} repetitions, {succeeded} successful")
        for name, count in held.items():
            print(f"  the interval of {name} holds its true value in {count}")
        print(f"  all intervals at once in {all_held}, the ellipsoid in {together}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
