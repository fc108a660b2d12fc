"""Gradients of measures: the directions in which forces on them push."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.joints.driver import Driver
from ...model.measure import Measure
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System


class Gradients:
    """s_q of some measures of a model, at any pose."""

    def __init__(self, model: Model, measures: Sequence[Measure | str]) -> None:
        bare = model.in_si().copy()
        bare.elements = {}
        for i, measure in enumerate(measures):
            bare.add(Driver(f"measure {i}", measure, 0.0))
        self.system = System(bare)

    def at(self, q: Floats) -> Floats:
        """One row for each measure."""
        return self.system.Phi_q(0.0, q)

    def values(self, q: Floats) -> Floats:
        return self.system.Phi(0.0, q)
