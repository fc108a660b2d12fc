"""The numbers of a model that are varied, and the systems of the model with slightly other numbers.

The numbers of a System are functions of its parameters in closed form. So are Phi, QA and all channels at a given
state, and differences of them are exact to about 1e-12 (`differences.py`). These are differences of formulas at one
state: no analysis is run for another parameter. Where two steps disagree, smaller ones are tried; where they never
agree there is no derivative, such as in a kink, and that is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError, SimEngineError, UnsupportedError, ended
from ...expressions.function import Function
from ...expressions.recorded import NotRecorded
from ...model.model import Model
from ...model.number_places import differing_numbers
from ...numerics.arrays import Floats
from ...system.recorded_system import RecordedSystem, SystemNumbers
from ...system.system import System
from ..sweep.variants import refuse_unknown, variant
from .differences import (
    AFTER,
    BEFORE,
    CENTRAL,
    SMOOTH,
    STEPS,
    CheckedSlope,
    Stencil,
    central_trial,
    central_trials,
    largest,
    rounding_of,
)
from .number_slopes import Around, NumberSlopes, number_slopes


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
    beside: Callable[[float], System | None] = field(default=lambda change: None, repr=False)
    """Those that are computed together."""
    slopes_of_numbers: NumberSlopes | None = None
    """Of the numbers of the System, where they are known."""
    around: Around | None = None
    """The numbers of the Systems around it, likewise."""

    @classmethod
    def of(cls, model: Model, name: str, value: float, center: System) -> VariedNumber:
        return cls(model, name, value, size_of(value), CENTRAL, {0.0: center})

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


def system_slopes(
    numbers: Sequence[VariedNumber], read: Callable[[System], Floats], rows: Callable[[Around], Floats]
) -> Floats:
    """Derivatives of an array of a System by all numbers, these last; `rows` gives it where Systems are known together."""
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
    try:
        return neighborhood(model, system, values).varied_numbers()
    except (NotRecorded, SimEngineError):
        return [checked(VariedNumber.of(model, name, p, system)) for name, p in values.items()]


class KeptRecording(NamedTuple):
    """How the numbers of a System follow from some of those of its model; `model` has ones in place of these."""

    model: Model
    system: RecordedSystem
    moved: tuple[str, ...] = ()
    """Numbers that are taken beside zero, where they are zero."""
    settled: bool = False
    """Whether it is known which these are."""


_recordings: dict[Hashable, KeptRecording] = {}
MOST_RECORDINGS = 8
BESIDE_ZERO = 1e-200
"""As a number it is nothing, but a force has such a law, and a frame has such an angle."""


def neighborhood(model: Model, system: System, values: Mapping[str, float]) -> Neighborhood:
    """The Systems around a model, as they were recorded for one that differs in these values only, if there was one.

    Raises NotRecorded where their numbers cannot be computed together.
    """
    others = variant(model, dict.fromkeys(values, 1.0))
    key = (*values, None, *model.bodies, None, *model.elements)
    kept = _recordings.get(key)
    if kept is None or differing_numbers(others, kept.model) != {}:
        kept = KeptRecording(others.snapshot(), _recorded(model, values))
    found = Neighborhood(model, system, values, kept)
    if not kept.settled:
        kept, found = _settled(found, kept)
    _recordings.pop(key, None)
    _recordings[key] = kept
    for oldest in list(_recordings)[:-MOST_RECORDINGS]:
        _recordings.pop(oldest, None)
    return found


def _recorded(model: Model, values: Mapping[str, float]) -> RecordedSystem:
    """Proved at the values and near them."""
    center = np.array([*values.values()])
    near = center + STEPS[0] / center.size * np.array([size_of(p) for p in values.values()])
    model_of = lambda sample: variant(model, dict(zip(values, sample, strict=True)))
    return RecordedSystem(model_of, np.stack([center, near]))


def _settled(found: Neighborhood, kept: KeptRecording) -> tuple[KeptRecording, Neighborhood]:
    """Where a System has other parts as soon as a number is not zero, it is taken beside zero, if that helps."""
    if found.other_zeros:
        try:
            recorded = _recorded(found.model, beside_zero(found.values, found.other_zeros))
            beside = kept._replace(system=recorded, moved=found.other_zeros)
            moved = Neighborhood(found.model, found.center, found.values, beside)
        except (NotRecorded, SimEngineError):
            pass
        else:
            if moved.right.sum() > found.right.sum():
                kept, found = beside, moved
    return kept._replace(settled=True), found


def beside_zero(values: Mapping[str, float], moved: Sequence[str]) -> dict[str, float]:
    return {name: BESIDE_ZERO if name in moved and p == 0.0 else p for name, p in values.items()}


class Neighborhood:
    """A model, and the Systems around it at the first steps of each of its numbers, which are computed together."""

    def __init__(
        self, model: Model, system: System, values: Mapping[str, float], kept: KeptRecording
    ) -> None:
        self.values, beside = values, beside_zero(values, kept.moved)
        is_moved = beside != dict(values)
        self.model = variant(model, beside) if is_moved else model
        self.center = System(self.model) if is_moved else system
        if self.center.row_names != system.row_names:
            raise NotRecorded("beside zero there are other constraints")
        self.sizes = np.array([size_of(p) for p in values.values()])
        self.steps = STEPS[0] * self.sizes[:, None] * CENTRAL.offsets
        self.samples, rows = np.tile([*beside.values()], (self.steps.size + 1, 1)), np.arange(self.steps.size)
        self.samples[rows, rows // len(CENTRAL.offsets)] += self.steps.ravel()
        self.recorded = kept.system
        self.numbers, right = self.recorded.numbers(self.samples)
        self.right = right[:-1].reshape(self.steps.shape) & right[-1]

    @property
    def other_zeros(self) -> tuple[str, ...]:
        """Numbers that are zero, and around which Systems are of another kind."""
        wrong = ~self.right.all(axis=1)
        return tuple(name for k, (name, p) in enumerate(self.values.items()) if wrong[k] and p == 0.0)

    def varied_numbers(self) -> list[VariedNumber]:
        around = SystemNumbers(*(each[:-1] for each in self.numbers))
        slopes, parts = number_slopes(around, self.numbers.sample(-1), self.sizes), Around.each(around)
        found = []
        for k, (name, value) in enumerate(self.values.items()):
            number = VariedNumber.of(self.model, name, value, self.center)
            number = replace(number, beside=partial(self.system, k))
            if self.right[k].all():
                found.append(replace(number, slopes_of_numbers=slopes[k], around=parts[k]))
            else:
                found.append(checked(number))
        return found

    def system(self, k: int, change: float) -> System | None:
        """Where a number is changed by one of its steps, if the System there is like the others."""
        for i in np.flatnonzero((self.steps[k] == change) & self.right[k]).tolist():
            row = len(CENTRAL.offsets) * k + i
            again = partial(variant, self.model, {[*self.values][k]: float(self.samples[row, k])})
            return self.recorded.system_of(self.numbers, row, again)
        return None


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
    raise ModelError(
        f"the parameter '{number.name}' = {number.value:g} cannot be varied: {reasons[0]}"
    )


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
