from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...methods import Formulation
from ...numerics.kernel_pointer import kernel_pointer
from ...system.elimination import elimination_program
from ...system.system import System
from ..base import Family
from ..equations import Configuration, EquationsOfMotion, OutputMultipliers
from ..row_scales import given_by_bodies
from ..stages import StageEquations, StageTask
from ..transform import transform, transform_masses
from .multipliers import latest_multipliers
from .sparse import SparseEquations, softened
from .stages import sparse_stages

Floats = NDArray[np.float64]


@kernel_pointer
def evaluate_matrices(c, t, y, out):
    """q = z"""
    E, n = c.E, y.size // 2
    for j in range(n):
        E.q[j], E.qd[j] = y[j], y[n + j]
        E.R[j, j] = 1.0
    transform(c, t)
    transform_masses(c.S, E)


class Nothing(NamedTuple):
    nothing: int


@kernel_pointer
def same(c, t, y, out):
    """The coordinates are those of the bodies."""
    for j in range(y.size):
        out[j] = y[j]


class ReferencePoint(Family):
    """x, y and phi of every body, at its mass center."""

    name: ClassVar[str] = "reference_point"
    evaluate = evaluate_matrices

    def __init__(self, system: System, q: Floats) -> None:
        super().__init__(system, q)
        self.sizes = system.sizes
        self.own_rows, self.remaining_rows, self.own_arrays = [], list(range(system.m)), 0
        self.to_bodies = same.bind(Nothing(0))

    @cached_property
    def names(self) -> list[str]:  # type: ignore[override]
        """Written when somebody asks; large mechanisms have many."""
        return list(self.system.coordinate_names)

    def equations_of_motion(self, formulation: Formulation, at: Configuration) -> EquationsOfMotion:
        """On the sparse factorization of the whole system."""
        system, d = self.system, elimination_program(self.system, at.redundant, False)
        d = d._replace(
            stabilization=np.array(formulation.stabilization), dropped=np.array(at.implied, dtype=np.int64)
        )
        if formulation.gives_way:
            d = softened(d, system.n, formulation.compliances(given_by_bodies(system, at.t, at.z)))
        equations = SparseEquations(system, d, system.new_workspace(d))
        lam, monitors = equations.bound(latest_multipliers), equations.context.monitors
        equations.multipliers = OutputMultipliers(lam, monitors)
        return equations

    def stage_equations(self, task: StageTask) -> StageEquations:
        """By the same factorization, with second derivatives."""
        return sparse_stages(self.system, task)

    def positions(self, q: Floats) -> Floats:
        return q.copy()

    def velocities(self, q: Floats, qd: Floats) -> Floats:
        return qd.copy()
