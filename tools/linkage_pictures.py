"""Draw the pictures of docs/how-to/design-a-linkage.md.

python tools/linkage_pictures.py [NAME ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

import simengine2d as se
from simengine2d import builders

FOLDER = Path(__file__).parents[1] / "docs" / "pictures" / "linkage"

CRANK_ROCKER = builders.four_bar(0.05, 0.12, 0.1, 0.13, speed="10*pi", density=2)
TURN = 0.2  # s


def turn() -> se.Results:
    """One turn of the crank-rocker, with its forces."""
    return se.inverse_dynamics(CRANK_ROCKER, t_end=TURN, step=TURN / 360)


def grashof() -> Axes:
    return se.grashof(CRANK_ROCKER).plot()


def circuits() -> Axes:
    return se.circuits(builders.four_bar(2, 2.2, 1.5, 3.5, crank_angle=0.5, speed=1)).plot(output="rocker")


def transmission() -> Axes:
    return se.transmission_angle(turn()).plot()


def advantage() -> Axes:
    results = se.kinematics(se.load("toggle_press"), t_end=1, step=1 / 360)
    return se.mechanical_advantage(results, "motor", "ram").plot()


def centers() -> Axes:
    return se.instant_centers(turn()).plot(t=0.72 * TURN)


def centrodes() -> Axes:
    results = se.kinematics(se.load("elliptic_trammel"), t_end=1, step=1 / 360)
    return se.centrodes(results, "rod").plot(t=0.12)


def velocities() -> Axes:
    return se.velocity_polygon(turn(), 0.1 * TURN).plot()


def accelerations() -> Axes:
    return se.acceleration_polygon(turn(), 0.1 * TURN).plot()


def shaking() -> Axes:
    return se.shaking(turn()).plot()


def balance() -> Axes:
    return se.balance(CRANK_ROCKER, {"crank": 0.03}, t_end=TURN).plot()


def flywheel() -> Axes:
    return se.flywheel_for(turn(), fluctuation=0.02).plot()


def motor() -> Axes:
    servo = se.Motor(
        [(0, 0.1), (300, 0.08)], [(0, 0.28), (200, 0.28), (300, 0.15)], inertia=4e-6, name="servo"
    )
    swing = builders.four_bar(0.05, 0.12, 0.1, 0.13, driver="60*deg + 1.5*sin(12*t)", density=4)
    results = se.inverse_dynamics(swing, t_end=0.6, step=0.001)
    return se.motor_sizing(results, servo, ratio=12, efficiency=0.85).plot()


PICTURES: dict[str, Callable[[], Axes]] = {
    each.__name__: each
    for each in (
        grashof, circuits, transmission, advantage, centers, centrodes, velocities, accelerations, shaking, balance,
        flywheel, motor,
    )
}  # fmt: skip


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        figure = PICTURES[name]().figure
        figure.savefig(FOLDER / f"{name}.png", dpi=90, metadata={"Software": None})
        plt.close("all")
        print(FOLDER / f"{name}.png")
