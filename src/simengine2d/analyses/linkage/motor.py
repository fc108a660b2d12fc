"""Motor sizing: what a driver demands of a motor over a run, against what the motor can deliver.

With a gear of ratio N (motor turns per turn of the load) and efficiency eta, the motor with the inertia J turns with
N w and needs

    T_m = T / (N eta) + J N alpha        (T eta / N where the load drives the motor)

It fits if T_m stays below its peak curve at all times, and if the root mean square of T_m, which heats it, is below the
continuous curve at the mean speed. The inertia of the mechanism at the motor's shaft is

    dq^T M dq / N^2,      dq the free motion for a unit rate of the driver

R. L. Norton, Design of Machinery, section 2.19; G. Younkin, Industrial Servo Control Systems, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...answer import Answer, Part, PlottedAnswer, Rows
from ...errors import ModelError, UnsupportedError
from ...expressions.unit_system import SI, ShownUnit, UnitSystem
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.peaks import rms
from ...results.results import Results
from .free_motion import FreeMotion, MeasureRates, measure_of, the_driver, unit_of_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, repr=False)
class Motor(Answer):
    """A motor: continuous and peak torque as points (speed, torque), and the inertia of its rotor.

    Torques are straight between the points; the motor does not turn faster than the last one. A linear motor has
    forces, velocities and a mass.
    """

    continuous: Points
    peak: Points
    inertia: float = 0.0
    name: str = "motor"

    def __post_init__(self) -> None:
        for word in ("continuous", "peak"):
            _check_curve(self.name, word, getattr(self, word))
        if not (np.isfinite(self.inertia) and self.inertia >= 0.0):
            raise ModelError(f"motor '{self.name}': inertia = {self.inertia!r} must be zero or positive.")

    def continuous_torque(self, speed: float | Floats) -> Floats:
        return _along(self.continuous, speed)

    def peak_torque(self, speed: float | Floats) -> Floats:
        return _along(self.peak, speed)

    def __str__(self) -> str:
        stall, peak, top = self.continuous[0][1], max(p[1] for p in self.peak), self.peak[-1][0]
        return f"Motor '{self.name[:20]}': {stall:.4g} N m, peak {peak:.4g} N m, up to {top:.4g} rad/s"


@dataclass(frozen=True, repr=False)
class MotorSizing(PlottedAnswer):
    """Speed and torque at the motor's shaft over a run, and how they compare with what it can deliver."""

    motor: Motor
    driver: str
    ratio: float
    efficiency: float
    t: Floats
    speed: Floats
    torque: Floats
    load_inertia: Floats
    """Of the mechanism, at the motor's shaft."""
    best_ratio: float
    """The gear ratio with the least rms torque where nothing is lost: sqrt(rms T / (J rms alpha))."""
    is_linear: bool
    units: UnitSystem = SI
    """In which torque, speed and inertia are shown."""

    @property
    def rms_torque(self) -> float:
        return rms(self.t, self.torque)

    @property
    def peak_torque(self) -> float:
        return float(np.abs(self.torque).max(initial=0.0))

    @property
    def mean_speed(self) -> float:
        return float(
            np.sum(0.5 * np.abs(self.speed[1:] + self.speed[:-1]) * np.diff(self.t)) / np.ptp(self.t)
        )

    @property
    def top_speed(self) -> float:
        return float(np.abs(self.speed).max(initial=0.0))

    @property
    def continuous_margin(self) -> float:
        """Continuous torque at the mean speed by rms torque: above 1 it stays cool enough."""
        return _margin(float(self.motor.continuous_torque(self.mean_speed)), self.rms_torque)

    @property
    def peak_margin(self) -> float:
        """The least of peak torque by torque, at the speed of each time: above 1 it is strong enough."""
        available, needed = self.motor.peak_torque(np.abs(self.speed)), np.abs(self.torque)
        return float(np.min(available[needed > 0.0] / needed[needed > 0.0], initial=np.inf))

    @property
    def inertia_ratio(self) -> float:
        """The largest inertia of the load by that of the rotor."""
        return _margin(float(self.load_inertia.max()), self.motor.inertia)

    @property
    def fits(self) -> bool:
        return self.continuous_margin >= 1.0 and self.peak_margin >= 1.0

    @property
    def shown_units(self) -> tuple[ShownUnit, ShownUnit, ShownUnit]:
        """Of torque, speed and inertia; of a linear motor, of force, velocity and mass."""
        force, speed, mass = ("N", "m/s", "kg") if self.is_linear else ("N m", "rad/s", "kg m²")
        return self.units.shown(force), self.units.shown(speed), self.units.shown(mass)

    def rows(self) -> list[list[str]]:
        """The table: what is needed, and what the motor has."""
        effort, speed, inertia = self.shown_units
        has = float(self.motor.continuous_torque(self.mean_speed)), float(self.motor.peak[-1][0])
        return [
            [
                "rms",
                effort.text(self.rms_torque),
                effort.text(has[0]),
                f"{self.continuous_margin:.3g}",
            ],
            ["peak", effort.text(self.peak_torque), "curve", f"{self.peak_margin:.3g}"],
            [
                "speed",
                speed.text(self.top_speed),
                speed.text(has[1]),
                f"{_margin(has[1], self.top_speed):.3g}",
            ],
            [
                "inertia",
                inertia.text(self.load_inertia.max()),
                inertia.text(self.motor.inertia),
                f"{self.inertia_ratio:.3g}",
            ],
        ]

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        margins = f"margins {self.continuous_margin:.3g} continuous, {self.peak_margin:.3g} peak"
        return f"'{self.motor.name[:16]}' {verdict} '{self.driver[:16]}': {margins}"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        yield Rows(["", "needed", "available", "margin"], self.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Torque against speed over the run, in the motor's continuous and peak range."""
        from ...draw.linkage_plots import plot_motor

        return plot_motor(self, ax)


def motor_sizing(
    results: Results, motor: Motor, driver: str | None = None, *, ratio: float = 1.0, efficiency: float = 1.0
) -> MotorSizing:
    """How a motor with a gear meets what a driver demands over a run of inverse dynamics, or of dynamics."""
    if not (np.isfinite(ratio) and ratio > 0.0):
        raise ModelError(f"ratio = {ratio!r} must be a positive number, motor turns per turn of the load.")
    if not 0.0 < efficiency <= 1.0:
        raise ModelError(f"efficiency = {efficiency!r} must be a number above 0, up to 1.")
    if results.t.size < 2:
        raise UnsupportedError("a motor is sized over a run of two times at least.")
    name = the_driver(results.system, driver)
    measure = measure_of(results.model, name)
    _, w, alpha = results.measure(measure)
    T = results[f"{name}.effort"]
    losses = np.where(T * w >= 0.0, 1.0 / efficiency, efficiency)
    torque = T * losses / ratio + motor.inertia * ratio * alpha
    speeding = motor.inertia * rms(results.t, alpha)
    best = np.sqrt(rms(results.t, T) / speeding) if speeding > 0.0 else float("inf")
    is_linear = unit_of_measure(results.model, measure) == "m"
    return MotorSizing(
        motor, name, float(ratio), float(efficiency), results.t, ratio * w, torque,
        reflected_inertia(results, name) / ratio**2, float(best), is_linear, units_of(results.model),
    )  # fmt: skip


def reflected_inertia(results: Results, driver: str | None = None) -> Floats:
    """dq^T M dq: the inertia, or mass, of the whole mechanism as its driver feels it, over a motion."""
    name = the_driver(results.system, driver)
    free, rates = (
        FreeMotion(results.system, name),
        MeasureRates(results.model, [measure_of(results.model, name)]),
    )
    inertia = []
    for t, q in zip(results.t, results.q, strict=True):
        dq = free.at(float(t), q)
        inertia.append(float(results.system.masses @ dq**2) / float(rates.of(q, dq)[0]) ** 2)
    return np.array(inertia)


def _margin(available: float, needed: float) -> float:
    return available / needed if needed > 0.0 else float("inf")


def _along(points: Points, speed: float | Floats) -> Floats:
    """Torque at a speed; zero beyond the last point."""
    w, T = np.array(points, dtype=float).T
    return np.interp(np.abs(speed), w, T, right=0.0)


def _check_curve(name: str, word: str, points: Points) -> None:
    array = np.array(points, dtype=float)
    if array.ndim != 2 or array.shape[1:] != (2,) or array.shape[0] < 2 or not np.all(np.isfinite(array)):
        raise ModelError(
            f"motor '{name}': {word} = {points!r} must be points (speed, torque), such as [(0, 2), (300, 1.5)]."
        )
    if array[0, 0] != 0.0 or np.any(np.diff(array[:, 0]) <= 0.0) or np.any(array[:, 1] < 0.0):
        raise ModelError(
            f"motor '{name}': the speeds of {word} must grow from 0, and no torque may be negative."
        )
