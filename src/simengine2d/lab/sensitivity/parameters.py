"""The numbers of a model that are varied, and the systems of the model with slightly other numbers.

The numbers of a System are functions of its parameters in closed form. So are Phi, QA and all channels at a given
state. Differences of order 4 of them are exact to about 1e-12 of their size:

    D(h) = (g(h) - g(-h)) / 2h,      g_p = (4 D(h) - D(2h)) / 3

These are differences of formulas at one state. No analysis is run for another parameter. Where D(h) and D(2h)
disagree, as in sin(p t) for large t or in a law that is steep, the step is made smaller; where they never agree there
is no derivative, such as in a kink, and that is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError, SimEngineError, UnsupportedError, ended
from ...expressions.function import Function
from ...expressions.recorded import NotRecorded
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...system.recorded_system import RecordedSystem
from ...system.system import System
from ..sweep.variants import refuse_unknown, variant

STEPS = (2.5e-4, 2.5e-4 / 16, 2.5e-4 / 256, 2.5e-4 / 1024)
"""Of the size of a number, tried one after another."""
AGREEING = 1e-4
"""Difference of D(h) and D(2h) against the largest slope; that of order 4 has an error of about its square."""
SMOOTH = 1e-7
"""Jump of the slope at p against the largest slope."""
ROUNDING = 2.5e-13
"""Of the values of a function."""


class Stencil(NamedTuple):
    """At which multiples of a step a function is evaluated, and how much each value weighs."""

    offsets: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def multiples(self) -> list[float]:
        """Where values are needed to know the slope, and to check it."""
        checked = [0.0, *self.offsets] if 0.0 not in self.offsets else [2.0 * x for x in self.offsets]
        return sorted({*self.offsets, *checked})

    def slope(self, values: Sequence[Any], step: Any) -> Any:
        total = sum(weight * np.asarray(value) for weight, value in zip(self.weights, values, strict=True))
        return total / step


CENTRAL = Stencil((-2.0, -1.0, 1.0, 2.0), (1 / 12, -8 / 12, 8 / 12, -1 / 12))
AFTER = Stencil((0.0, 1.0, 2.0, 3.0, 4.0), (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4))
"""For a number that cannot be smaller, such as a mass of zero."""
BEFORE = Stencil(tuple(-x for x in AFTER.offsets), tuple(-w for w in AFTER.weights))


class CheckedSlope(NamedTuple):
    """A slope by one step, and whether it can be trusted."""

    slope: Floats
    holds: bool


def largest(array: Floats) -> float:
    return float(np.max(np.abs(array), initial=0.0))


@kernel(entry=True)
def central_slopes(g_2, g_1, g, g1, g2, h, slope, largest):
    """The slope of order 4, and the largest sizes of: values, slopes, D(2h) - D(h), and the jump of the slope at p.

    With s(h) = g(h) - 2 g(0) + g(-h), which is a jump times h and a curvature times h^2, the jump is
    (4 s(h) - s(2h)) / 2h; D is the mean of both sides there.
    """
    spoiled = 0.0
    for i in range(g.size):
        wide, narrow = (g2[i] - g_2[i]) / (4.0 * h), (g1[i] - g_1[i]) / (2.0 * h)
        slope[i] = (4.0 * narrow - wide) / 3.0
        jump = (4.0 * (g1[i] - 2.0 * g[i] + g_1[i]) - (g2[i] - 2.0 * g[i] + g_2[i])) / (2.0 * h)
        largest[0] = max(largest[0], abs(g[i]), abs(g_2[i]), abs(g2[i]))
        largest[1] = max(largest[1], abs(slope[i]))
        largest[2] = max(largest[2], abs(wide - narrow))
        largest[3] = max(largest[3], abs(jump))
        spoiled += 0.0 * (slope[i] + jump)
    largest[1] += spoiled  # nan, where a value is not finite


def central_trial(values: Mapping[float, Floats], step: float, terms: float, size: float) -> CheckedSlope:
    """The slope of order 4 by values at -2, -1, 0, 1 and 2 steps; `size` is a large change."""
    slope, sizes = np.empty(values[0.0].size), np.zeros(4)
    around = [np.ascontiguousarray(values[multiple]).ravel() for multiple in (-2.0, -1.0, 0.0, 1.0, 2.0)]
    central_slopes(*around, step, slope, sizes)
    value, steepest, apart, jump = sizes.tolist()
    rounding = rounding_of(max(terms, value), size)
    holds = apart <= AGREEING * steepest + rounding and jump <= SMOOTH * steepest + rounding
    return CheckedSlope(slope.reshape(values[0.0].shape), holds)


def rounding_of(value: float, size: float) -> float:
    """What rounding of values does to a slope."""
    return ROUNDING * value / (STEPS[0] * size)


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

    def slope_by(self, around: Floats, here: Floats, function: Callable[[System, float], Any]) -> Floats:
        """d/ds of a function of a change that any system allows, with its values at the first step known."""
        values = dict(zip(CENTRAL.offsets, around, strict=True)) | {0.0: here}
        trial = central_trial(values, STEPS[0] * self.size, 0.0, self.size)
        if trial.holds:
            return trial.slope
        return VariedTime(self.system(0.0), self.size, self.name, self.value).slope(function)

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


@dataclass(frozen=True)
class VariedNumber(Varied):
    """One number of a model, and the systems with other values of it."""

    model: Model
    name: str
    value: float
    size: float
    stencil: Stencil
    made: dict[float, System] = field(default_factory=dict, repr=False)
    """By the change of the number."""

    def variant(self, change: float) -> Model:
        return variant(self.model, {self.name: self.value + change})

    def system(self, change: float) -> System:
        if change not in self.made:
            self.made[change] = System(self.variant(change))
        return self.made[change]

    @property
    def drawn_slope(self) -> Floats:
        """How the initial pose changes."""
        return np.asarray(self.slope(lambda system, _: system.drawn_q))


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


def varied_numbers(model: Model, names: Sequence[str]) -> list[VariedNumber]:
    """The numbers by name, as in sweeps: `L`, `spring.stiffness`, `crank.mass`. The model is in SI units.

    Those that are named are independent of each other: each varies while the others keep their values, even where the
    model computes one from another.
    """
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
    values = {name: value_of(model, system, name) for name in names}
    model = variant(model, values)
    made = neighbors(model, system, values)
    return [_varied(model, name, value, made[name]) for name, value in values.items()]


def neighbors(model: Model, system: System, values: Mapping[str, float]) -> dict[str, dict[float, System]]:
    """Systems around a model, by name and change, where their numbers can be computed all at once."""
    made = {name: {0.0: system} for name in values}
    changes = [(k, STEPS[0] * size_of(p) * x) for k, p in enumerate(values.values()) for x in CENTRAL.offsets]
    center = np.array([*values.values()])
    samples = np.tile(center, (len(changes), 1))
    for row, (k, change) in zip(samples, changes, strict=True):
        row[k] += change
    model_of = lambda sample: variant(model, dict(zip(values, sample, strict=True)))
    try:
        recorded = RecordedSystem(model_of, np.stack([center, samples.mean(axis=0)]))
    except (NotRecorded, SimEngineError):
        return made
    numbers, right = recorded.numbers(samples)
    names = list(values)
    for i in np.flatnonzero(right).tolist():
        k, change = changes[i]
        again = partial(variant, model, {names[k]: float(samples[i, k])})
        made[names[k]][change] = recorded.system_of(numbers, i, again)
    return made


def size_of(value: float) -> float:
    """A large change of a number."""
    return abs(value) or 1.0


def _varied(model: Model, name: str, value: float, made: dict[float, System]) -> VariedNumber:
    reasons = []
    for stencil in (CENTRAL, AFTER, BEFORE):
        number = VariedNumber(model, name, value, size_of(value), stencil, made)
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
