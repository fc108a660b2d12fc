"""Shaking force and shaking moment: what the accelerated masses of a mechanism do to its frame.

    F = -sum m a,      M = -sum (J alpha + (r - r_P) x m a)

about a point P of the ground. Weight and applied forces are not counted; without them these are the reactions of all
joints and drivers on the ground.
R. L. Norton, Design of Machinery, section 11.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...answer import PlottedAnswer
from ...errors import ModelError, UnsupportedError
from ...expressions.unit_system import SI, UnitSystem
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.peaks import rms
from ...results.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Shaking(PlottedAnswer):
    """Force on the ground and moment about a point of it, over a motion."""

    t: Floats
    fx: Floats
    fy: Floats
    moment: Floats
    about: tuple[float, float]
    units: UnitSystem = SI
    """In which force and moment are shown."""

    @property
    def force(self) -> Floats:
        """The size of the force."""
        return np.hypot(self.fx, self.fy)

    @property
    def largest_force(self) -> float:
        return float(self.force.max(initial=0.0))

    @property
    def largest_moment(self) -> float:
        return float(np.abs(self.moment).max(initial=0.0))

    @property
    def rms_force(self) -> float:
        """Root mean square over time."""
        return rms(self.t, self.force)

    def __str__(self) -> str:
        force, moment = self.units.shown("N"), self.units.shown("N m")
        return f"shaking force up to {force.text(self.largest_force)}, moment up to {moment.text(self.largest_moment)}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Force and moment over time."""
        from ...draw.linkage_plots import plot_shaking

        return plot_shaking(self, ax)

    def plot_polar(self, ax: Axes | None = None) -> Axes:
        """The tip of the force vector over the motion."""
        from ...draw.linkage_plots import plot_shaking_polar

        return plot_shaking_polar({"shaking force": self}, ax)


def shaking(results: Results, about: tuple[float, float] = (0.0, 0.0)) -> Shaking:
    """The shaking force of a motion, and the shaking moment about a point (x, y) of the ground."""
    if results.columns_only:
        raise UnsupportedError(
            "these results come from a CSV file, which holds no masses; save them as .npz or .parquet."
        )
    if np.shape(about) != (2,):
        raise ModelError(f"about = {about!r} must be a point (x, y) of the ground.")
    mass, inertia = results.system.arrays.mass, results.system.arrays.inertia
    q, qdd = (array.reshape(results.t.size, -1, 3) for array in (results.motion.q, results.motion.qdd))
    f_x, f_y = -mass * qdd[..., 0], -mass * qdd[..., 1]
    arm_x, arm_y = q[..., 0] - about[0], q[..., 1] - about[1]
    moment = -inertia * qdd[..., 2] + arm_x * f_y - arm_y * f_x
    point = (float(about[0]), float(about[1]))
    fx, fy, torque = (part.sum(axis=1) for part in (f_x, f_y, moment))
    return Shaking(results.t, fx, fy, torque, point, units_of(results.model))
