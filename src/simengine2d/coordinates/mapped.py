"""Families whose bodies depend on a few coordinates each."""

from __future__ import annotations

from abc import abstractmethod

from .base import Family
from .body_map import BodyMap, MapPointers, MapShape
from .stage_setup import mapped_stages
from .stages import StageEquations, StageTask


class MappedFamily(Family, abstract=True):
    """A family that says which coordinates move which bodies, and how; its implicit stages are sparse."""

    @abstractmethod
    def map_shape(self) -> MapShape:
        """Which coordinates each body depends on."""

    @abstractmethod
    def map_pointers(self, X: BodyMap) -> MapPointers:
        """The kernels that fill the map at a state."""

    def stage_equations(self, task: StageTask) -> StageEquations:
        return mapped_stages(self, self.map_shape(), self.map_pointers, task)
