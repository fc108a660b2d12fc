"""The Systems around a model, at the first steps of each of its numbers, which are computed together.

They come from one recording of how a model is resolved, which is kept for models that differ in the same numbers. Where
a System has other parts as soon as a number is not zero, such as an actuator, it is taken beside zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ...errors import SimEngineError
from ...expressions.recorded import NotRecorded
from ...model.model import Model
from ...model.number_places import differing_numbers
from ...system.recorded_system import RecordedSystem, SystemNumbers
from ...system.system import System
from ..sweep.variants import variant
from .differences import CENTRAL, STEPS
from .number_slopes import Around, number_slopes
from .varied import VariedNumber, checked, size_of


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
    others, zeros = (
        variant(model, dict.fromkeys(values, 1.0)),
        [name for name, p in values.items() if p == 0.0],
    )
    key = (*values, None, *zeros, None, *model.bodies, None, *model.elements)
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
            alike, beside = bool(self.right[k].all()), partial(self.system, k)
            known = (slopes[k], parts[k]) if alike else (None, None)
            number = VariedNumber.of(self.model, name, value, self.center, beside, *known)
            found.append(number if alike else checked(number))
        return found

    def system(self, k: int, change: float) -> System | None:
        """Where a number is changed by one of its steps, if the System there is like the others."""
        for i in np.flatnonzero((self.steps[k] == change) & self.right[k]).tolist():
            row = len(CENTRAL.offsets) * k + i
            again = partial(variant, self.model, {[*self.values][k]: float(self.samples[row, k])})
            return self.recorded.system_of(self.numbers, row, again)
        return None
