"""Calls on models that differ in numbers from those of earlier calls: they are variants, and computed as such.

A script that tries lengths or masses makes a Model after the other, and each of them would be resolved, assembled and
laid out anew. From the third on that differs at the same places, what is computed with the numbers there is recorded,
and a prepared run takes them, as in a sweep (`lab/sweep/batches.py`). The answer is that of the analysis itself, to the
last bit; where there is none, the analysis has to run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ..errors import SimEngineError
from ..expressions.recorded import NotRecorded
from ..model.model import Model
from ..model.number_places import KnownModel, Place, with_numbers_at
from ..numerics.kernel import JIT
from ..results.results import Results
from ..system.recorded_system import RecordedSystem, SystemNumbers
from ..system.workspace import Pool

REPEATED = 3  # calls with other numbers at the same places, after which these are recorded
MOST_PLACES = 30
MOST_STRUCTURES = 8
MOST_MISSED = 3  # answers that there were not, after which nobody asks for more


class VariantRun(Protocol):
    """A run that takes numbers; it has one user at a time."""

    def results(
        self, numbers: SystemNumbers, models: Callable[[int], Callable[[], Model]]
    ) -> Iterator[Results | None]: ...


class EarlierModels:
    """The models of earlier calls of an analysis, by their structure; `prepare` makes a run for the first of them."""

    def __init__(self, prepare: Callable[[RecordedSystem, Mapping[str, Any]], VariantRun]) -> None:
        self.prepare = prepare
        self.known: dict[Hashable, AlikeModels] = {}

    def answer(self, model: Model, options: Mapping[str, Any]) -> Results | None:
        """What the analysis would answer; None if it has to run."""
        if not JIT or model.units is not None:
            return None
        key = (*model.bodies, None, *model.elements, *map(type, model.elements.values()))
        alike = self.known.get(key)
        numbers = None if alike is None else alike.known.differing_numbers(model)
        if alike is None or numbers is None:
            self.known.pop(key, None)
            self.known[key] = AlikeModels(model.snapshot())
            for oldest in list(self.known)[:-MOST_STRUCTURES]:
                self.known.pop(oldest, None)
            return None
        if not alike.repeats(numbers):
            return None
        return alike.answer(model, numbers, options, self.prepare)


class AlikeModels:
    """Models that differ from the first of them in numbers at some places."""

    def __init__(self, first: Model) -> None:
        self.first, self.known = first, KnownModel(first)
        self.values: dict[Place, float] = {}
        """Those of the first one, at the places that have changed since."""
        self.repeated = self.missed = 0
        self.idle = Pool()
        self.recorded: RecordedSystem | None = None

    def repeats(self, numbers: Mapping[Place, float]) -> bool:
        """Whether numbers have changed at these places often enough."""
        new = [place for place in numbers if place not in self.values]
        if new:
            self.values |= {place: float(_number_at(self.first, place)) for place in new}
            self.repeated, self.recorded, self.idle = 0, None, Pool()
        self.repeated += 1
        worthwhile = self.missed <= MOST_MISSED and len(self.values) <= MOST_PLACES
        return worthwhile and self.repeated > REPEATED

    def answer(
        self,
        model: Model,
        numbers: Mapping[Place, float],
        options: Mapping[str, Any],
        prepare: Callable[[RecordedSystem, Mapping[str, Any]], VariantRun],
    ) -> Results | None:
        kind, sample = kind_of(options), np.array([[*{**self.values, **numbers}.values()]])
        try:
            if self.recorded is None:
                self.recorded = RecordedSystem(self._model_of, np.stack([[*self.values.values()], sample[0]]))
            recorded, idle = self.recorded, self.idle
            run: VariantRun = idle.take(kind) or prepare(recorded, options)
        except NotRecorded:
            self.missed = MOST_MISSED + 1
            return None
        except SimEngineError:  # which the analysis will say better
            self.missed += 1
            return None
        given, right = recorded.numbers(sample)
        own = {place: _number_at(model, place) for place in numbers}
        written = lambda: with_numbers_at(self.first, own).snapshot()
        results = next(run.results(given, lambda k: written)) if right[0] else None
        idle.give(kind, run)
        self.missed = 0 if results is not None else self.missed + 1
        return results

    def _model_of(self, values: Any) -> Model:
        return with_numbers_at(self.first, dict(zip(self.values, values, strict=True)))


def _number_at(model: Model, place: Place) -> float:
    """As it is written there: it may be an integer."""
    part: Any = getattr(model, place[0])
    for name in place[1:]:
        part = part[name] if isinstance(part, dict | tuple | list) else getattr(part, name)
    number: float = part
    return number


def kind_of(options: Mapping[str, Any]) -> Hashable:
    """Equal for the same options."""
    return tuple(
        [
            (name, value if value is None or isinstance(value, (float, int)) else _written(value))
            for name, value in options.items()
        ]
    )


def _written(value: Any) -> bytes | str:
    """A list of numbers; what is none will be refused by the analysis."""
    try:
        return np.asarray(value, dtype=float).tobytes()
    except (TypeError, ValueError):
        return repr(value)
