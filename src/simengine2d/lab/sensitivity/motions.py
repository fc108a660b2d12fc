"""Motions whose derivatives are known: what an analysis has computed, at its own times or at any between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...analyses.dynamics.dynamics import dynamics
from ...analyses.inverse.inverse_dynamics import inverse_dynamics
from ...analyses.kinematics.kinematics import kinematics
from ...analyses.statics.equilibrium import equilibrium
from ...errors import ModelError, UnsupportedError, unknown
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from .dynamic_slopes import Variational
from .motion_slopes import MotionSlopes, equilibrium_slopes, inverse_slopes, kinematic_slopes
from .varied import Varied, VariedNumber, VariedTime

TICK = 10.0
"""Of the time between outputs: a long time for the forces."""
TIMES = ("t_end", "step", "t_eval")


class DifferentiatedMotion(ABC):
    """The results of an analysis, its states at other places, and their derivatives."""

    in_time: ClassVar[bool] = True
    """Whether places are times; else they are the numbers of the rows."""

    def __init__(self, numbers: Sequence[VariedNumber]) -> None:
        self.numbers = numbers

    @cached_property
    @abstractmethod
    def results(self) -> Results:
        """Those of the analysis."""

    @cached_property
    def clock(self) -> VariedTime:
        """Time, as if it were a parameter."""
        t = self.results.t
        return VariedTime(self.results.system, TICK * float(np.ptp(t)) / max(t.size - 1, 1) or 1.0)

    @property
    def places(self) -> Floats:
        """Where the outputs of the analysis are."""
        return self.results.t

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last of these."""
        return float(self.places[0]), float(self.places[-1])

    @property
    def samples(self) -> Floats:
        """Places that show where a channel may be largest."""
        return self.places

    @property
    def jumps(self) -> Sequence[float]:
        """The times at which accelerations jump, where they are known."""
        return ()

    @abstractmethod
    def at(self, places: Floats) -> Results:
        """The states there."""

    @abstractmethod
    def slopes(self, results: Results) -> MotionSlopes:
        """The derivatives of states, which `at` has given."""

    @abstractmethod
    def rates(self, results: Results) -> MotionSlopes:
        """Their derivatives with respect to time, as if that were a parameter."""


class DrivenMotion(DifferentiatedMotion):
    """A motion that drivers prescribe, with or without the forces that it takes."""

    def __init__(
        self,
        run: Callable[[Any], Results],
        options: Mapping[str, Any],
        numbers: Sequence[VariedNumber],
        slopes: Callable[[Results, Sequence[Varied]], MotionSlopes],
    ) -> None:
        super().__init__(numbers)
        self.run = lambda: run(options)
        others = {name: value for name, value in options.items() if name not in TIMES}
        self.again = lambda times: run({**others, "t_eval": times})
        self.slopes_of = slopes

    @cached_property
    def results(self) -> Results:
        return self.run()

    def at(self, places: Floats) -> Results:
        """The motion is followed from its start, so that it stays on its branch."""
        times = np.union1d(self.results.t, places)
        motion = self.results if times.size == self.results.t.size else self.again(times)
        return motion.at_rows(np.searchsorted(times, places))

    def slopes(self, results: Results) -> MotionSlopes:
        return self.slopes_of(results, self.numbers)

    def rates(self, results: Results) -> MotionSlopes:
        return self.slopes_of(results, [self.clock])


class RestingPoses(DifferentiatedMotion):
    """Equilibria; the places are their numbers."""

    in_time = False

    def __init__(self, found: Results, numbers: Sequence[VariedNumber]) -> None:
        super().__init__(numbers)
        self.found = found

    @cached_property
    def results(self) -> Results:
        return self.found

    @property
    def places(self) -> Floats:
        return np.arange(float(self.results.t.size))

    def at(self, places: Floats) -> Results:
        return self.results.at_rows(places.astype(np.int64))

    def slopes(self, results: Results) -> MotionSlopes:
        return equilibrium_slopes(results, self.numbers)

    def rates(self, results: Results) -> MotionSlopes:
        raise UnsupportedError("equilibria do not depend on time.")


class ForcedMotion(DifferentiatedMotion):
    """A motion under forces."""

    def __init__(self, model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> None:
        super().__init__(numbers)
        self.model, self.options = model, options
        self.system = numbers[0].system(0.0) if numbers else System(model)
        self.variational = Variational(self.system, numbers, lambda: self.results, options)

    @cached_property
    def results(self) -> Results:
        """Not needed where the panels are known, and an output asks for the motion between its ends only."""
        return replace(dynamics(self.model, **self.options), system=self.system)

    @property
    def ends(self) -> tuple[float, float]:
        return self.variational.ends

    @property
    def samples(self) -> Floats:
        """The nodes, where the motion is known."""
        nodes, (first, last) = self.variational.panels.results.t, self.ends
        inside = nodes[(nodes >= first) & (nodes <= last)]
        return inside if inside.size else np.array([first, last])

    @property
    def jumps(self) -> Sequence[float]:
        return [jump.t for jump in self.variational.jumps]

    def at(self, places: Floats) -> Results:
        return self.variational.at(places)

    def slopes(self, results: Results) -> MotionSlopes:
        return self.variational.slopes(results)

    def rates(self, results: Results) -> MotionSlopes:
        return self.variational.rates(results, self.clock)


# By analysis ------------------------------------------------------------------------------------------


def moved(
    model: Model, numbers: Sequence[VariedNumber], analysis: str, options: Mapping[str, Any]
) -> DifferentiatedMotion:
    """The motion of an analysis, with its derivatives."""
    if analysis not in ANALYSES:
        hint = unknown("analysis", analysis, ANALYSES, plural="analyses")
        raise ModelError(f"there are no derivatives of the analysis '{analysis}'. {hint}")
    return ANALYSES[analysis](model, numbers, options)


def _kinematics(
    model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]
) -> DifferentiatedMotion:
    return DrivenMotion(lambda given: kinematics(model, **given), options, numbers, kinematic_slopes)


def _inverse_dynamics(
    model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]
) -> DifferentiatedMotion:
    for option in ("motion", "actuators", "limits", "noise"):
        if options.get(option) is not None:
            raise UnsupportedError(
                f"inverse_dynamics with {option} has no derivatives; drivers of the model must prescribe the motion."
            )
    return DrivenMotion(lambda given: inverse_dynamics(model, **given), options, numbers, inverse_slopes)


def _equilibrium(
    model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]
) -> DifferentiatedMotion:
    return RestingPoses(equilibrium(model, **options).results, numbers)


def _dynamics(
    model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]
) -> DifferentiatedMotion:
    return ForcedMotion(model, numbers, options)


ANALYSES: dict[str, Callable[[Model, Sequence[VariedNumber], Mapping[str, Any]], DifferentiatedMotion]] = {
    "kinematics": _kinematics,
    "inverse_dynamics": _inverse_dynamics,
    "equilibrium": _equilibrium,
    "dynamics": _dynamics,
}
