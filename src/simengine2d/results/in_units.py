"""Results in units of your choice: what is asked for by name. The arrays of results are in SI units, always."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..answer import Answer
from ..errors import ModelError
from ..expressions.unit_system import IN_SI, SI, ShownUnit, UnitNames, UnitSystem, as_unit_system
from ..model.frame import GROUND, Frame
from ..model.si_values import sort_of_text, units_of
from ..numerics.arrays import Floats
from .channels import unit_of
from .energy import EnergyParts
from .pictures import PicturedResults
from .reactions import ReactionParts

if TYPE_CHECKING:
    from .results import Results


class ResultsInUnits(PicturedResults, Answer):
    """A view of results, `r.in_units(length="mm", force="kN")`, with what can be asked for by name."""

    def __init__(self, results: Results, units: UnitSystem) -> None:
        self.results, self.units = results, units

    @property
    def in_si(self) -> Results:
        return self.results

    @property
    def shown(self) -> ResultsInUnits:
        return self

    @property
    def t(self) -> Floats:
        """The times, in seconds."""
        return self.results.t

    @property
    def channels(self) -> list[str]:
        return self.results.channels

    def __getitem__(self, channel: str) -> Floats:
        """A channel as in `results[channel]`, in these units."""
        values: Floats = self.shown_unit(channel).of(self.results[channel])
        return values

    def unit(self, channel: str) -> str:
        """The unit of a channel, such as mm/s²."""
        return self.shown_unit(channel).name

    def shown_unit(self, channel: str) -> ShownUnit:
        """The unit of a channel, and how much it is in SI units."""
        results = self.results
        unit = unit_of(results, channel)
        if unit in IN_SI or self.units == SI:
            return self.units.shown(unit)
        if channel in results.model.formulas:
            dimension = sort_of_text(results.model, results.model.formulas[channel]).dimension
            return ShownUnit(self.units.name(dimension), self.units.factor(dimension))
        raise ModelError(
            f"what '{channel}' measures is not known; results['{channel}'] gives it in SI units."
        )

    def reaction(
        self, name: str, on: str | None = None, at: Frame | str | None = None, expressed_in: str = GROUND
    ) -> ReactionParts:
        """Force and torque as in `results.reaction(name)`, in these units."""
        force, torque = self.units.shown("N"), self.units.shown("N m")
        parts = zip((force, force, torque), self.results.reaction(name, on, at, expressed_in), strict=True)
        return ReactionParts(*(unit.of(part) for unit, part in parts))

    def energy(self) -> EnergyParts:
        """Kinetic and potential energy as in `results.energy()`, in these units."""
        joule = self.units.shown("J")
        return EnergyParts(*(joule.of(part) for part in self.results.energy()))

    def __str__(self) -> str:
        return f"{self.results!r}\nin {self.units.in_words}"


def view_of(results: Results, units: UnitNames) -> ResultsInUnits:
    """The view in these units, or else in those of the model."""
    return ResultsInUnits(results, as_unit_system(units) or SI if units else units_of(results.model))
