"""The numbers of a model that are varied, and the systems of the model with slightly other numbers.

The numbers of a System are functions of its parameters in closed form. So are Phi, QA and all channels at a given
state, and differences of them are exact to about 1e-12 (`differences.py`). These are differences of formulas at one
state: no analysis is run for another parameter. Where two steps disagree, smaller ones are tried; where they never
agree there is no derivative, such as in a kink, and that is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import ModelError, SimEngineError, UnsupportedError, ended
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from ..sweep.variants import variant
from .differences import (
    AFTER,
    BEFORE,
    CENTRAL,
    LONG,
    SMOOTH,
    STEPS,
    CheckedSlope,
    Stencil,
    central_trial,
    central_trials,
    largest,
    rounding_of,
)
from .number_slopes import Around, NumberSlopes


class Varied(ABC):
    """A quantity on which formulas depend, with systems for other values of it."""

    name: str
    value: float
    size: float
    """A large change of it."""
    stencil: Stencil

    @abstractmethod
    def system(self, change: float) -> System:
        """The system where the quantity is changed."""

    def slope(self, function: Callable[[System, float], Any]) -> Floats:
        """d/dp of a function of the system and of the change of p."""
        return self.slopes(lambda system, change: (function(system, change),))[0]

    def slope_at_center(self, function: Callable[[float], Any]) -> Floats:
        """d/ds of a function of a change that is one of the state alone."""
        center = VariedTime(self.system(0.0), self.size, self.name, self.value)
        return center.slope(lambda _, change: function(change))

    def slopes(
        self,
        function: Callable[[System, float], Sequence[Any]],
        terms: Sequence[float] | None = None,
        here: Sequence[Any] | None = None,
    ) -> list[Floats]:
        """d/dp of several arrays at once, each of one kind; `terms` are the sizes of what adds up to them.

        `here` are the arrays at p itself, where they are known.
        """
        found: dict[float, list[Floats]] = {}

        def at(change: float) -> list[Floats]:
            if change not in found:
                known = here is not None and change == 0.0
                answer = here if known else function(self.system(change), change)
                found[change] = [np.asarray(array, dtype=float) for array in answer or ()]
            return found[change]

        for part in (*STEPS, LONG):
            step = part * self.size
            around = self._around(at, step)
            trials = [
                self._trial(values, step, size)
                for values, size in zip(around, terms or [0.0] * len(around), strict=True)
            ]
            if all(trial.holds for trial in trials):
                return [trial.slope for trial in trials]
        raise UnsupportedError(
            f"there is no derivative with respect to '{self.name}' = {self.value:g}: something that depends on it "
            "has a kink or a jump there, such as a law at a switch. Move the number or the times a little, or use a "
            "smooth law."
        )

    def _around(self, at: Callable[[float], list[Floats]], step: float) -> list[dict[float, Floats]]:
        """The values of each array around p, by multiples of the step."""
        multiples = self.stencil.multiples
        found = {multiple: at(step * multiple) for multiple in multiples}
        return [{m: found[m][i] for m in multiples} for i in range(len(found[multiples[0]]))]

    def _trial(self, values: dict[float, Floats], step: float, terms: float) -> CheckedSlope:
        """The slope of order 4, and whether two coarser ones agree with each other."""
        if self.stencil is CENTRAL:
            return central_trial(values, step, terms, self.size)
        slope = self.stencil.slope([values[offset] for offset in self.stencil.offsets], step)
        value = max(terms, *(largest(values[m]) for m in (min(values), 0.0, max(values))))
        wide = self.stencil.slope([values[2.0 * offset] for offset in self.stencil.offsets], 2.0 * step)
        holds = largest(wide - slope) <= SMOOTH * largest(slope) + rounding_of(value, self.size)
        return CheckedSlope(slope, holds)


@dataclass(frozen=True, eq=False)
class VariedNumber(Varied):
    """One number of a model, and the systems with other values of it."""

    model: Model
    name: str
    value: float
    size: float
    stencil: Stencil
    made: dict[float, System] = field(default_factory=dict, repr=False)
    """By the change of the number."""
    beside: Callable[[float], System | None] = field(default=lambda change: None, repr=False)
    """Those that are computed together."""
    slopes_of_numbers: NumberSlopes | None = None
    """Of the numbers of the System, where they are known."""
    around: Around | None = None
    """The numbers of the Systems around it, likewise."""

    @classmethod
    def of(cls, model: Model, name: str, value: float, center: System, *known: Any) -> VariedNumber:
        """`known` are what is known of the Systems around it."""
        return cls(model, name, value, size_of(value), CENTRAL, {0.0: center}, *known)

    def variant(self, change: float) -> Model:
        return variant(self.model, {self.name: self.value + change})

    def system(self, change: float) -> System:
        if change not in self.made:
            self.made[change] = self.beside(change) or System(self.variant(change))
        return self.made[change]

    @property
    def drawn_slope(self) -> Floats:
        """How the initial pose changes."""
        if self.slopes_of_numbers is not None:
            return self.slopes_of_numbers.drawn_q
        return np.asarray(self.slope(lambda system, _: system.drawn_q))

    @property
    def drawn_rate_slope(self) -> Floats:
        """How the velocities change that are given; those that are not stay zero."""
        if self.slopes_of_numbers is not None:
            return self.slopes_of_numbers.drawn_qd
        return np.asarray(self.slope(lambda system, _: np.nan_to_num(system.drawn_qd)))


@dataclass(frozen=True)
class VariedTime(Varied):
    """Time itself: the same system at other times, by which motions are differentiated to find their rates."""

    own: System
    size: float
    name: str = "t"
    value: float = 0.0
    stencil: Stencil = CENTRAL

    def system(self, change: float) -> System:
        return self.own


def size_of(value: float) -> float:
    """A large change of a number."""
    return abs(value) or 1.0


def checked(number: VariedNumber) -> VariedNumber:
    """With the stencil by which it can be varied."""
    reasons = []
    for stencil in (CENTRAL, AFTER, BEFORE):
        try:
            for offset in stencil.offsets:
                number.system(STEPS[0] * number.size * offset)
        except SimEngineError as error:
            reasons.append(ended(error))
            continue
        return replace(number, stencil=stencil)
    raise ModelError(f"the parameter '{number.name}' = {number.value:g} cannot be varied: {reasons[0]}")


def system_slopes(
    numbers: Sequence[VariedNumber], read: Callable[[System], Floats], rows: Callable[[Around], Floats]
) -> Floats:
    """Derivatives of an array of a System by all numbers, these last; `rows` gives it where many are known together."""
    here = np.asarray(read(numbers[0].system(0.0)), dtype=float)
    slopes, together = np.empty((len(numbers), *here.shape)), {}
    known = {k: each.around for k, each in enumerate(numbers) if each.around is not None}
    if known:
        sizes = np.array([numbers[k].size for k in known])
        trials = central_trials(np.stack([rows(each) for each in known.values()]), here, 0.0, sizes)
        together = {k: slope for k, slope, holds in zip(known, *trials, strict=True) if holds}
    for k, number in enumerate(numbers):
        slopes[k] = together[k] if k in together else number.slope(lambda system, _: read(system))
    return np.moveaxis(slopes, 0, -1)
