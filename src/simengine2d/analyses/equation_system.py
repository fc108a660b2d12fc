"""Equations of motion without bodies: what `dynamics`, `equilibrium` and `linearize` hand over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class EquationSystem(ABC):
    """A system that answers analyses itself; options are those of the analysis of the same name."""

    @abstractmethod
    def dynamics(self, **options: Any) -> Any: ...

    @abstractmethod
    def equilibrium(self, **options: Any) -> Any: ...

    @abstractmethod
    def linearize(self, **options: Any) -> Any: ...
