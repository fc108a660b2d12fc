"""Flywheels: the inertia that keeps the speed of a shaft nearly constant while its torque varies.

A flywheel takes up what the torque exceeds its mean by, E(theta) = integral of (T - T_m) d theta. Over a cycle

    dE = max E - min E = J w^2 C,      C = (w_max - w_min) / w

with the coefficient of fluctuation C of the speed.
R. L. Norton, Design of Machinery, section 11.11; R. S. Khurmi, J. K. Gupta, Theory of Machines, chapter 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from ...answer import PlottedAnswer
from ...errors import ModelError
from ...expressions.unit_system import SI, UnitSystem
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.results import Results
from .free_motion import measure_of, the_driver, unit_of_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEEL = 7850.0  # kg/m^3


@dataclass(frozen=True, repr=False)
class Flywheel(PlottedAnswer):
    """The torque of a cycle, and the inertia that it needs."""

    angle: Floats
    torque: Floats
    speed: float
    fluctuation: float
    mean_torque: float
    energy: Floats
    """E at each angle, from zero on."""
    highest: tuple[float, float]
    """Angle and E where the shaft is fastest."""
    lowest: tuple[float, float]
    units: UnitSystem = SI
    """In which torque, energy and inertia are shown."""

    @property
    def energy_swing(self) -> float:
        """dE, the fluctuation of energy."""
        return self.highest[1] - self.lowest[1]

    @property
    def inertia(self) -> float:
        """J, of the flywheel and all that turns with it."""
        return self.energy_swing / (self.fluctuation * self.speed**2)

    @property
    def mean_power(self) -> float:
        return self.mean_torque * self.speed

    @property
    def speeds(self) -> tuple[float, float]:
        """The lowest and the highest speed: w (1 - C/2) and w (1 + C/2)."""
        return self.speed * (1.0 - 0.5 * self.fluctuation), self.speed * (1.0 + 0.5 * self.fluctuation)

    def disk_radius(self, thickness: float, density: float = STEEL) -> float:
        """The radius of a solid disk with this inertia: J = pi density thickness r^4 / 2."""
        if not thickness > 0.0 or not density > 0.0:
            raise ModelError(f"thickness = {thickness!r} and density = {density!r} must be positive.")
        return float((2.0 * self.inertia / (pi * density * thickness)) ** 0.25)

    def __str__(self) -> str:
        inertia, energy = self.units.shown("kg m²"), self.units.shown("J")
        swing = f"{energy.text(self.energy_swing)} within {self.fluctuation:.3g}"
        return f"flywheel of {inertia.text(self.inertia)} for {swing}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Torque and its mean over the angle, with the energy taken up and given back."""
        from ...draw.linkage_plots import plot_flywheel

        return plot_flywheel(self, ax)


def flywheel(
    angle: Sequence[float] | Floats, torque: Sequence[float] | Floats, *, speed: float, fluctuation: float
) -> Flywheel:
    """The flywheel for a torque curve over one cycle, at a mean speed and for a coefficient of fluctuation.

    The torque (engine minus load, or what a driver needs) is taken as straight between the angles, which must grow.
    """
    theta, T = np.asarray(angle, dtype=float), np.asarray(torque, dtype=float)
    _check(theta, T, speed, fluctuation)
    mean = float(np.sum(0.5 * (T[1:] + T[:-1]) * np.diff(theta)) / (theta[-1] - theta[0]))
    E = np.concatenate([[0.0], np.cumsum(0.5 * (T[1:] + T[:-1] - 2.0 * mean) * np.diff(theta))])
    places = [*zip(theta.tolist(), E.tolist(), strict=True), *_crossings(theta, T - mean, E)]
    highest, lowest = max(places, key=lambda place: place[1]), min(places, key=lambda place: place[1])
    return Flywheel(theta, T, float(speed), float(fluctuation), mean, E, highest, lowest)


def _crossings(theta: Floats, excess: Floats, E: Floats) -> list[tuple[float, float]]:
    """Angle and E where the excess of torque vanishes between two angles: E is a parabola there."""
    places = []
    for k in np.flatnonzero(excess[:-1] * excess[1:] < 0.0):
        part = excess[k] / (excess[k] - excess[k + 1])
        h = part * (theta[k + 1] - theta[k])
        places.append((float(theta[k] + h), float(E[k] + 0.5 * excess[k] * h)))
    return places


def flywheel_for(results: Results, driver: str | None = None, *, fluctuation: float) -> Flywheel:
    """The flywheel on the shaft of a driver, from one cycle of inverse dynamics or of dynamics with that driver.

    With it the driver delivers the mean torque. The results must span whole cycles of the torque.
    """
    name = the_driver(results.system, driver)
    measure = measure_of(results.model, name)
    if unit_of_measure(results.model, measure) != "rad":
        raise ModelError(f"driver '{name}' does not turn a shaft, so a flywheel cannot help it.")
    theta = results.measure(measure)[0]
    sign = 1.0 if theta[-1] >= theta[0] else -1.0
    wheel = flywheel(
        sign * theta, sign * results[f"{name}.effort"], speed=float(abs(theta[-1] - theta[0]) / np.ptp(results.t)),
        fluctuation=fluctuation,
    )  # fmt: skip
    return replace(wheel, units=units_of(results.model))


def _check(theta: Floats, T: Floats, speed: float, fluctuation: float) -> None:
    if theta.ndim != 1 or theta.shape != T.shape or theta.size < 3:
        raise ModelError(
            f"a flywheel needs a curve: angles and torques of one length, not {theta.shape} and {T.shape}."
        )
    if not (np.all(np.isfinite(theta)) and np.all(np.isfinite(T))):
        raise ModelError("the torque curve has entries that are not finite.")
    if np.any(np.diff(theta) <= 0.0):
        k = int(np.argmax(np.diff(theta) <= 0.0))
        raise ModelError(
            f"the angles of the torque curve must grow, but {theta[k]:g} is followed by {theta[k + 1]:g}."
        )
    if not (np.isfinite(speed) and speed > 0.0):
        raise ModelError(f"speed = {speed!r} must be a positive number of rad/s.")
    if not 0.0 < fluctuation < 2.0:
        raise ModelError(f"fluctuation = {fluctuation!r} must be a number such as 0.02, between 0 and 2.")
