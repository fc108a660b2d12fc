"""How often the 95 % intervals of a fit hold the true numbers: repetitions of the same measurement with new noise.

    python benchmarks/fit_coverage.py [REPETITIONS]

Counted is, for each parameter, in how many repetitions its own interval holds its true value. All intervals at once do
so less often; what holds all true values in 95 of 100 is the ellipsoid of the covariance C,

    (x - x_true)^T C^-1 (x - x_true) < p F(0.95; p, n - p)

with p parameters and n values (G. A. F. Seber, C. J. Wild, Nonlinear Regression, 1989, section 5.2). Of N repetitions
0.95 N are expected, and chance alone makes sqrt(0.05 0.95 N): each count is printed with its distance in these standard
deviations. Repetition i has the seed i.
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
    """Name, the model where the search starts, exact data, times, noise of each channel, the true numbers."""
    swing = se.dynamics(pendulum(), t_eval=T, rtol=1e-10)
    yield (
        "torsion pendulum, 51 angles, noise 0.01 rad", pendulum(3.0, 0.2, 1.5),
        {"bar.phi": swing["bar.phi"]}, T, [0.01], {"k": 4.0, "c": 0.3, "m": 1.2},
    )  # fmt: skip
    model = se.load("four_bar")
    lengths = {"crank": 1.0, "coupler": 2.0, "rocker": 13**0.5, "ground": 4.0}
    for title, count, noise in (
        ("four-bar, 51 points of the coupler, noise 1 mm", 51, [1e-3, 1e-3]),
        ("four-bar, 11 points of the coupler, noise 1 mm in x, 10 mm in y", 11, [1e-3, 1e-2]),
    ):
        motion = se.kinematics(model, t_eval=np.linspace(0, 1, count))
        yield (
            title, model.with_parameters(crank=1.05, coupler=2.1, rocker=3.5, ground=4.1),
            {f"coupler.end.{x}": motion[f"coupler.end.{x}"] for x in "xy"}, motion.t, noise, lengths,
        )  # fmt: skip


def in_ellipsoid(found: se.Fit, truth: dict[str, float], count: int) -> bool:
    """Whether the region of all parameters at once holds the true values; `count` are the data."""
    names = list(truth)
    off = [(found.parameters[name] - truth[name]) / found.errors[name] for name in names]
    distance = np.dot(off, np.linalg.solve(found.correlation, off))
    return bool(distance < len(names) * fisher.ppf(found.level, len(names), count - len(names)))


def counted(count: int, repetitions: int) -> str:
    """As a percentage, and how far from 95 %, in standard deviations of chance."""
    off = (count - 0.95 * repetitions) / np.sqrt(0.05 * 0.95 * repetitions)
    return f"{100 * count / repetitions:.1f} % ({off:+.1f})"


def main(repetitions: int) -> None:
    print(f"chance makes {100 * np.sqrt(0.05 * 0.95 / repetitions):.1f} % of {repetitions} repetitions")
    for title, model, exact, t, noise, truth in tasks():
        held = dict.fromkeys(truth, 0)
        all_held = together = succeeded = 0
        for seed in range(repetitions):
            rng = np.random.default_rng(seed)
            data = {
                name: values + sigma * rng.standard_normal(t.size)
                for (name, values), sigma in zip(exact.items(), noise, strict=True)
            }
            found = se.fit(model, {"t": t} | data, list(truth))
            inside = {
                name: found.intervals[name][0] < value < found.intervals[name][1]
                for name, value in truth.items()
            }
            held = {name: held[name] + inside[name] for name in truth}
            all_held += all(inside.values())
            together += in_ellipsoid(found, truth, t.size * len(exact))
            succeeded += found.success
        print(f"{title}: {succeeded} of {repetitions} successful; the true value is held by")
        for name, count in held.items():
            print(f"  the interval of {name} in {counted(count, repetitions)}")
        print(f"  the ellipsoid in {counted(together, repetitions)}")
        print(f"  all intervals at once in {100 * all_held / repetitions:.1f} %", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
