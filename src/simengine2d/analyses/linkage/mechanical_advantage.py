"""Mechanical advantage: how much more force, or torque, an output has than the input.

Without losses the power that enters is the power that leaves, F_in sd_in = F_out sd_out, so

    F_out / F_in = sd_in / sd_out = (s_in,q dq) / (s_out,q dq)

for the free motion dq of the mechanism. It grows beyond all bounds where the output stands still: a toggle position.
R. L. Norton, Design of Machinery, section 6.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...answer import PlottedAnswer
from ...errors import ModelError
from ...expressions.unit_system import SI, ShownUnit, UnitSystem
from ...model.measure import Measure
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.results import Results
from .free_motion import FreeMotion, MeasureRates, measure_of, unit_of_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STILL = 1e-12  # rate of a measure that counts as none


@dataclass(frozen=True, repr=False)
class MechanicalAdvantage(PlottedAnswer):
    """The ratio over a motion; its sign says whether the output moves with the input or against it."""

    input: str
    output: str
    unit: str
    """Of the ratio: "" for torques or forces alike, "1/m" for a force by a torque, "m" for a torque by a force."""
    t: Floats
    ratio: Floats
    units: UnitSystem = SI
    """In which it is shown."""

    @property
    def smallest(self) -> float:
        """The smallest size."""
        return float(np.nanmin(np.abs(self.ratio)))

    @property
    def largest(self) -> float:
        """The largest size; infinite at a toggle position."""
        return float(np.nanmax(np.abs(self.ratio)))

    @property
    def shown_unit(self) -> ShownUnit:
        return self.units.shown(self.unit)

    def __str__(self) -> str:
        unit = self.shown_unit
        span = f"{unit.of(self.smallest):.4g} to {unit.text(self.largest)}".rstrip()
        return f"mechanical advantage of '{self.output[:18]}' over '{self.input[:14]}': {span}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """The size of the ratio over time."""
        from ...draw.linkage_plots import plot_advantage

        return plot_advantage(self, ax)


def mechanical_advantage(
    results: Results, input: Measure | str, output: Measure | str
) -> MechanicalAdvantage:
    """The ratio of the output's force or torque to the input's, over a motion.

    Both are named by a driver, a pin, a guide, a body on a bearing in the ground, a channel such as "slider.x", or a
    measure such as "distance(a.P, b.Q)". Drivers other than the input are held.
    """
    model, system = results.model, results.system
    measures = [measure_of(model, named) for named in (input, output)]
    words = [named if isinstance(named, str) else named.text for named in (input, output)]
    free = FreeMotion(system, _released(results, input))
    rates = MeasureRates(model, measures)
    pairs = [rates.of(q, free.at(float(t), q)) for t, q in zip(results.t, results.q, strict=True)]
    into, out = np.array(pairs).T.reshape(2, -1)
    unit = _unit(*(unit_of_measure(model, measure) for measure in measures))
    return MechanicalAdvantage(words[0], words[1], unit, results.t, _ratio(into, out), units_of(model))


def _released(results: Results, input: Measure | str) -> str | None:
    """The driver of the input: its own, or the only one."""
    system = results.system
    drivers = list(dict.fromkeys(system.rows[i][0] for i in system.driver_rows))
    if isinstance(input, str) and input in drivers:
        return input
    if len(drivers) > 1:
        raise ModelError(f"the model has the drivers {', '.join(drivers)}; name the one that is the input.")
    return drivers[0] if drivers else None


def _ratio(into: Floats, out: Floats) -> Floats:
    """Infinite where the output stands still, nan where both do."""
    still = np.abs(out) <= STILL * np.abs(out).max(initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(still & (into != 0.0), np.inf, into / np.where(still, 0.0, out))


def _unit(into: str, out: str) -> str:
    return {("rad", "m"): "1/m", ("m", "rad"): "m"}.get((into, out), "")
