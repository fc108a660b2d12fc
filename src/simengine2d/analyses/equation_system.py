"""Equations of motion without bodies: what `dynamics`, `equilibrium` and `linearize` hand over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypedDict, Unpack


class RunOptions(TypedDict, total=False):
    """Those of `dynamics`."""

    t_end: float | None
    step: float | None
    t_eval: Any
    integrator: Any
    formulation: Any
    coordinates: Any
    rtol: float
    atol: Any
    max_step: float | None
    events: Any
    second_opinion: bool
    history: bool
    progress: Any
    keep: Any


class RestOptions(TypedDict, total=False):
    """Those of `equilibrium`."""

    method: Any
    start: Any
    t: float
    all: bool
    region: Any


class SmallMotionOptions(TypedDict, total=False):
    """Those of `linearize`."""

    at: Any
    inputs: Any
    outputs: Any
    states: Any
    t: float


class EquationSystem(ABC):
    """A system that answers analyses itself; options are those of the analysis of the same name."""

    @abstractmethod
    def dynamics(self, **options: Unpack[RunOptions]) -> Any: ...

    @abstractmethod
    def equilibrium(self, **options: Unpack[RestOptions]) -> Any: ...

    @abstractmethod
    def linearize(self, **options: Unpack[SmallMotionOptions]) -> Any: ...
