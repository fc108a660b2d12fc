"""Results in units of your choice: what is asked for by name. The arrays of results are in SI units, always."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..answer import Answer
from ..errors import ModelError
from ..expressions.unit_system import (
    ANGLE,
    FORCE,
    LENGTH,
    NOTHING,
    TIME,
    TORQUE,
    UnitNames,
    UnitSystem,
    as_unit_system,
)
from ..expressions.units import Dimension
from ..model.si_values import sort_of_text, units_of
from ..model.unit_fields import ACCELERATION, POWER, SPIN, VELOCITY
from ..numerics.arrays import Floats
from .channels import unit_of
from .reactions import ReactionParts
from .tables import TabularResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .results import Results

SI = UnitSystem()
DIMENSIONS: dict[str, Dimension] = {
    "1": NOTHING,
    "s": TIME,
    "m": LENGTH,
    "m²": (0, 2, 0, 0),
    "rad": ANGLE,
    "m/s": VELOCITY,
    "rad/s": SPIN,
    "m/s²": ACCELERATION,
    "rad/s²": (0, 0, -2, 1),
    "N": FORCE,
    "N m": TORQUE,
    "N/m": (1, 0, -2, 0),
    "J": TORQUE,
    "W": POWER,
}
"""What the SI units of channels measure."""


class ResultsInUnits(TabularResults, Answer):
    """A view of results, `r.in_units(length="mm", force="kN")`, with what can be asked for by name."""

    always_with_units = True

    def __init__(self, results: Results, units: UnitSystem) -> None:
        self.results, self.units = results, units
        self.units_in_words = ", ".join(vars(units).values())

    @property
    def in_si(self) -> Results:
        return self.results

    @property
    def t(self) -> Floats:
        """The times, in seconds."""
        return self.results.t

    @property
    def channels(self) -> list[str]:
        return self.results.channels

    def __getitem__(self, channel: str) -> Floats:
        """A channel as in `results[channel]`, in these units."""
        values = self.results[channel]
        return values if self.units == SI else self._scaled(values, self._dimension(channel))

    def unit(self, channel: str) -> str:
        """The unit of a channel, such as mm/s²."""
        if self.units == SI:
            return unit_of(self.results, channel)
        dimension = self._dimension(channel)
        if (
            self.units.powers(dimension) == SI.powers(dimension)
            and channel not in self.results.model.formulas
        ):
            return unit_of(self.results, channel)  # J and W have names of their own
        return self.units.name(dimension)

    def reaction(self, name: str, **options: Any) -> ReactionParts:
        """Force and torque as in `results.reaction(name)`, in these units."""
        fx, fy, torque = self.results.reaction(name, **options)
        return ReactionParts(self._scaled(fx, FORCE), self._scaled(fy, FORCE), self._scaled(torque, TORQUE))

    def plot(self, *channels: str, ax: Axes | None = None) -> Axes:
        """Channels over time, in these units."""
        from ..draw.plots import plot

        return plot(self, *channels, ax=ax)

    def __str__(self) -> str:
        return f"{self.results!r}\nin {self.units_in_words}"

    def _scaled(self, values: Floats, dimension: Dimension) -> Floats:
        factor = self.units.factor(dimension)
        return values if factor == 1.0 else values / factor

    def _dimension(self, channel: str) -> Dimension:
        model = self.results.model
        if channel in model.formulas:
            return sort_of_text(model, model.formulas[channel]).dimension
        unit = unit_of(self.results, channel)
        if unit not in DIMENSIONS:
            raise ModelError(
                f"what '{channel}' measures is not known; results['{channel}'] gives it in SI units."
            )
        return DIMENSIONS[unit]


def view_of(results: Results, units: UnitNames) -> ResultsInUnits:
    """The view in these units, or else in those of the model."""
    return ResultsInUnits(results, as_unit_system(units) or SI if units else units_of(results.model))
