"""The numbers of a model that are varied, and the systems of the model with slightly other numbers.

The numbers of a System are functions of its parameters in closed form. So are Phi, QA and all channels at a given
state. Differences of order 4 of them, extrapolated from the steps h and h/2, are exact to about 1e-12 of their size:

    D(h) = (g(-2h) - 8 g(-h) + 8 g(h) - g(2h)) / 12 h,      g_p = (16 D(h/2) - D(h)) / 15

These are differences of formulas at one state. No analysis is run for another parameter. Where D(h) and D(h/2)
disagree, as in sin(p t) for large t or in a law that is steep, the step is made smaller; where they never agree there
is no derivative, such as in a kink, and that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError, SimEngineError, UnsupportedError, ended
from ...expressions.function import Function
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from ..sweep.variants import refuse_unknown, variant

STEPS = (1e-3, 1e-3 / 16, 1e-3 / 256, 1e-3 / 4096)
"""Of the size of a number, tried one after another."""
AGREEING = 1e-7
"""Difference of D(h) and D(h/2) against the largest slope; the extrapolated one is better by about (h/p)^2."""
ROUNDING = 1e-12
"""Of the values of a function."""


class Stencil(NamedTuple):
    """At which multiples of a step a function is evaluated, and how much each value weighs."""

    offsets: tuple[float, ...]
    weights: tuple[float, ...]

    def slope(self, values: Sequence[Any], step: Any) -> Any:
        total = sum(weight * np.asarray(value) for weight, value in zip(self.weights, values, strict=True))
        return total / step


CENTRAL = Stencil((-2.0, -1.0, 1.0, 2.0), (1 / 12, -8 / 12, 8 / 12, -1 / 12))
AFTER = Stencil((0.0, 1.0, 2.0, 3.0, 4.0), (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4))
"""For a number that cannot be smaller, such as a mass of zero."""
BEFORE = Stencil(tuple(-x for x in AFTER.offsets), tuple(-w for w in AFTER.weights))


class CheckedSlope(NamedTuple):
    """A slope by one step, and whether half the step gives the same."""

    slope: Floats
    holds: bool


def largest(array: Floats) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def _kink(values: Mapping[float, Floats], step: float) -> float:
    """How much the slope jumps at p itself, where D is the mean of both sides: with S(h) = g(h) + g(-h), what
    (S(2h) - S(h)) / h and (S(h) - S(h/2)) / (h/2) have in common; of a smooth function they are as 2 to 1.
    """
    S = {multiple: values[multiple] + values[-multiple] for multiple in (0.5, 1.0, 2.0)}
    return largest((S[2.0] - S[1.0]) - 4.0 * (S[1.0] - S[0.5])) / step


@dataclass(frozen=True)
class VariedNumber:
    """One number of a model, and the systems with other values of it."""

    model: Model
    name: str
    value: float
    stencil: Stencil
    made: dict[float, System] = field(default_factory=dict, repr=False)
    """By the change of the number."""

    @property
    def size(self) -> float:
        return abs(self.value) or 1.0

    def system(self, change: float) -> System:
        if change not in self.made:
            self.made[change] = System(variant(self.model, {self.name: self.value + change}))
        return self.made[change]

    def slope(self, function: Callable[[System, float], Any]) -> Floats:
        """d/dp of a function of the system and of the change of p."""
        return self.slopes(lambda system, change: (function(system, change),))[0]

    def slopes(
        self, function: Callable[[System, float], Sequence[Any]], terms: Sequence[float] | None = None
    ) -> list[Floats]:
        """d/dp of several arrays at once, each of one kind; `terms` are the sizes of what adds up to them."""
        found: dict[float, list[Floats]] = {}

        def at(change: float) -> list[Floats]:
            if change not in found:
                answer = function(self.system(change), change)
                found[change] = [np.asarray(array, dtype=float) for array in answer]
            return found[change]

        for part in STEPS:
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
        multiples = sorted({scale * offset for offset in self.stencil.offsets for scale in (0.5, 1.0)})
        found = {multiple: at(step * multiple) for multiple in multiples}
        return [{m: found[m][i] for m in multiples} for i in range(len(found[multiples[0]]))]

    def _trial(self, values: dict[float, Floats], step: float, terms: float) -> CheckedSlope:
        coarse, fine = (
            self.stencil.slope([values[scale * offset] for offset in self.stencil.offsets], scale * step)
            for scale in (1.0, 0.5)
        )
        value = max(terms, *(largest(array) for array in values.values()))
        allowed = AGREEING * largest(fine) + ROUNDING * value / (STEPS[0] * self.size)
        kink = _kink(values, step) if self.stencil is CENTRAL else 0.0
        return CheckedSlope((16.0 * fine - coarse) / 15.0, bool(max(largest(coarse - fine), kink) <= allowed))

    @property
    def drawn_slope(self) -> Floats:
        """How the initial pose changes."""
        return np.asarray(self.slope(lambda system, _: system.drawn_q))


def varied_numbers(model: Model, names: Sequence[str]) -> list[VariedNumber]:
    """The numbers by name, as in sweeps: `L`, `spring.stiffness`, `crank.mass`. The model is in SI units."""
    if isinstance(names, str):
        raise ModelError(f"parameters is {names!r}; give a list of names, such as ['{names}'].")
    names = list(names)
    if not names:
        raise ModelError("parameters is empty; name at least one number of the model.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ModelError(f"the parameter '{repeated}' is named twice.")
    refuse_unknown(model, names)
    system = System(model)
    return [_varied(model, system, name) for name in names]


def _varied(model: Model, system: System, name: str) -> VariedNumber:
    value, reasons = value_of(model, system, name), []
    for stencil in (CENTRAL, AFTER, BEFORE):
        number = VariedNumber(model, name, value, stencil)
        try:
            for offset in stencil.offsets:
                number.system(STEPS[0] * number.size * offset)
        except SimEngineError as error:
            reasons.append(ended(error))
            continue
        return number
    raise ModelError(f"the parameter '{name}' = {value:g} cannot be varied: {reasons[0]}")


def value_of(model: Model, system: System, name: str) -> float:
    """The value of a parameter, or of a number of a body, a joint or a force."""
    parameters = system.resolved.parameters
    if "." not in name:
        return parameters[name]
    owner, _, field = name.rpartition(".")
    if owner in model.bodies:
        resolved = system.resolved.bodies[owner]
        given = getattr(model.bodies[owner], field)
        known = getattr(resolved, field, None) if field != "angle" else resolved.pose[2]
        value = system.resolved.number(given, owner) if field == "density" and given is not None else known  # type: ignore[arg-type]
        if field in ("mass", "inertia") and given is None:
            value = None  # it follows from the shape
    else:
        value = getattr(system.resolved.elements[owner], field)
        if isinstance(value, Function):
            value = value.constant if value.is_constant else None
    if value is None or not isinstance(value, float | int):
        raise ModelError(
            f"'{name}' is not given as a number in model '{model.name}', so there is nothing to vary; "
            "name the parameters that it is computed from."
        )
    return float(value)
