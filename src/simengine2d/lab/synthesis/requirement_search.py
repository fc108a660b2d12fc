"""The last steps of a search with requirements that need forces: these are run with the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .linkage_models import model_of
from .problem import LinkageProblem
from .requirements import Requirement, excesses
from .search import descend

STEPS = 40
DIFFERENCE = 1e-5  # of an unknown's range
WEIGHT = 10.0


@dataclass
class RequiredProblem:
    """The residuals of a linkage and, after them, by how much its model misses the requirements."""

    problem: LinkageProblem
    requirements: list[Requirement]

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        return self.problem.bounds

    def random_start(self, rng: np.random.Generator) -> Floats:
        return self.problem.random_start(rng)

    def residuals(self, x: Any) -> Any:
        return np.append(self.problem.residuals(x), self._excess(x))

    def _excess(self, x: Floats) -> Floats:
        theta = self.problem.inputs(x)
        values = self.problem.values(x) | {"crank_angle": theta[0]}
        span = 2 * np.pi if self.problem.full_turn or self.problem.target.closed else theta[-1] - theta[0]
        model = model_of(self.problem.kind, values, self.problem.sides, speed=float(span))
        return WEIGHT * excesses(self.requirements, model, 1.0)

    def jacobian(self, x: Floats) -> tuple[Floats, Floats]:
        r, slope = self.problem.jacobian(x)
        low, high = self.bounds
        here, columns = self._excess(x), []
        for k in range(len(x)):
            step = np.zeros(len(x))
            step[k] = DIFFERENCE * (high[k] - low[k]) * (1.0 if x[k] < 0.5 * (low[k] + high[k]) else -1.0)
            columns.append((self._excess(x + step) - here) / step[k])
        return np.append(r, here), np.vstack([slope, np.column_stack(columns)])


def within_requirements(problem: LinkageProblem, x: Floats, requirements: list[Requirement]) -> Floats:
    """The nearby optimum that keeps to the requirements, if there is one."""
    return descend(RequiredProblem(problem, requirements), x, STEPS)[1]
