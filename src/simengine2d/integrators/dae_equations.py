"""The equations of a coordinate family, as an integration of differential-algebraic equations needs them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..coordinates import row_scales
from ..coordinates.base import Family
from ..coordinates.equations import TURNS, Configuration, EquationsOfMotion, projection
from ..coordinates.mapped import MappedEquations, MappedFamily
from ..coordinates.reference_point.sparse import SparseEquations
from ..coordinates.stages import KeptStages
from ..formulations.projection import Projection
from ..formulations.stage_iteration import StagedFormulation, stage_solver
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from ..numerics.rank import implied_rows
from .dae_step import Ending, Method, finish_dae_step, solve_step
from .integration import NONE
from .second_order_tables import SecondOrderTable

HELD = 1e-14  # constraints of interpolated states, in sizes
BROUGHT_BACK = 1e-13  # the same of states that are projected after each step
HEAVIEST = 1e10  # penalty that rounding leaves exact


class DaeEquations:
    """The equations of a family, and what an integration needs of them."""

    def __init__(self, family: Family, at: Configuration) -> None:
        self.family, self.at, self.redundant = family, at, at.redundant
        self.solvers: list[KeptStages] = []

    @cached_property
    def of_motion(self) -> EquationsOfMotion:
        """The accelerations at a state."""
        return self.family.equations_of_motion(Projection(), self.at)

    def onto_constraints(self, tolerance: float = HELD) -> BoundKernel:
        """The projection onto the constraints; compiled only if needed."""
        return projection(self.of_motion, np.array([tolerance * self.family.system.length]))

    @property
    def are_of_bodies(self) -> bool:
        """Whether coordinates and constraints are those of the bodies."""
        return isinstance(self.of_motion, SparseEquations)

    def accelerations(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        """zdd of the equations of motion at a state, and a small lam."""
        n, equations = self.family.n, self.of_motion if self.are_of_bodies else self.by_map
        yd, lam = np.empty(2 * n), np.empty(self.family.m)
        equations.accelerate(t, np.ascontiguousarray(y), yd)
        if equations.multipliers is None:
            lam[:] = equations.context.st.lam[0]
        else:
            equations.multipliers.pointer(t, np.concatenate([y, yd[n:]]), lam)
        return yd[n:].copy(), lam

    @cached_property
    def by_map(self) -> MappedEquations:
        """The equations of motion that also find the multipliers of all rows, which a recursion does not."""
        if isinstance(self.of_motion, MappedEquations):
            return self.of_motion
        assert isinstance(self.family, MappedFamily)
        return MappedEquations(self.family, Projection(), self.at)

    def compliances(self, formulation: StagedFormulation) -> Floats:
        """Of the constraints in Newton's equations: a share of what they give way at the start where others hold."""
        if not formulation.soft:
            return np.zeros(self.family.m)
        if self.are_of_bodies:
            felt = row_scales.felt_by_bodies(self.family.system, self.at.t, self.at.z)
            given = row_scales.given_by_bodies(self.family.system, self.at.t, self.at.z)
        else:
            felt = row_scales.felt(self.family, self.at.t, self.at.z)
            given = row_scales.given_in(self.family, self.at.t, self.at.z)
        # redundant ones leave each other nothing, whatever they carry
        return np.maximum(formulation.compliances(felt if self.redundant else given), felt / HEAVIEST)

    def method(
        self,
        formulation: StagedFormulation,
        T: SecondOrderTable,
        newton: str,
        tolerance: float | None,
        guess: tuple[Floats, Floats],
        past: Floats,
    ) -> tuple[BoundKernel, Floats]:
        """The kernel pointer that makes steps of a method, and the array `past` in which it is given that."""
        given = self.redundant, self.compliances(formulation)
        stages = stage_solver(formulation, self.family, T.B, newton, tolerance, *given)
        bound = solve_step.bind(Method(T, stages.iteration, past, *guess))
        self.solvers.append(KeptStages(stages.st, stages.factors, stages.iteration))
        return bound, past

    def ending(self, ends: Floats, correct: BoundKernel = NONE) -> BoundKernel:
        """What follows each step."""
        turns, notes = self.family.remember or NONE, np.zeros(TURNS)
        context = Ending(correct.f, correct.c, turns.f, turns.c, self.family.turns, ends, notes)
        return finish_dae_step.bind(context)


def is_redundant(family: Family, t: float, z: Floats) -> bool:
    """Whether constraints depend on each other."""
    return implied_rows(family.at(t, z).J * family.sizes).size > 0
