"""The work arrays of the steps of a run, laid out in memory once and reused by the next run of its kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...coordinates.base import Family
from ...coordinates.equations import OutputMultipliers
from ...coordinates.ode_problem import OdeProblem, Recoverer
from ...integrators.integration import Broken, CompiledIntegration
from ...methods import Formulation, Integrator
from ...numerics.kernel_pointer import BoundKernel
from ..singular_poses import RankWatch
from .bridge import Bridge
from .options import Task

Floats = NDArray[np.float64]


class StepKind(NamedTuple):
    """Runs that agree in this can share the same memory, one after another."""

    coordinates: str
    formulation: Formulation
    integrator: Integrator | None
    t0: float
    step: float | None
    max_step: float | None

    @classmethod
    def of(cls, task: Task) -> StepKind:
        step = task.step if task.fixed else None
        return cls(task.coordinates, task.formulation, task.integrator, task.t0, step, task.max_step)


@dataclass
class StepWorkspace:
    """Coordinates, equations, the step loop and the map back to the bodies; nothing of a motion."""

    family: Family
    rank: RankWatch | None
    bridge: Bridge | None
    first: Floats
    """The state at the start."""
    problem: OdeProblem
    multipliers: OutputMultipliers
    finish: BoundKernel
    integration: CompiledIntegration
    recovered: Recoverer

    def break_at(self, broken: Broken | None) -> None:
        """The breaks of the run that works here; None when it has ended."""
        if broken is not self.integration.problem.broken:
            self.integration.problem = replace(self.integration.problem, broken=broken)
