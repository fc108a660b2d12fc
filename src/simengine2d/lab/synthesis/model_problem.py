"""Any model against a target: its parameters vary, and its kinematics are run at every step of the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analyses.kinematics.kinematics import kinematics
from ...errors import ModelError, SimEngineError
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from .requirements import Requirement, excesses
from .targets import FUNCTION, POSES, SynthesisTarget

DIFFERENCE = (
    1e-6  # of a parameter's range: positions are solved to 1e-12, which leaves six digits of the slope
)
MISSED = 10.0  # residual of a model that does not run


@dataclass
class ModelProblem:
    """Residuals of a model's channels at times between 0 and t_end."""

    model: Model
    target: SynthesisTarget
    limits: dict[str, tuple[float, float]]
    output: str
    """The point that is led, such as coupler.P; of a function, the channel that is generated."""
    t_end: float
    requirements: list[Requirement]

    @property
    def names(self) -> list[str]:
        return list(self.limits)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        low, high = np.array(list(self.limits.values()), dtype=float).T
        return low, high

    @property
    def times(self) -> Floats:
        """Of the positions: in proportion to the inputs, else evenly."""
        shares = self.target.inputs
        if shares is None:
            return np.linspace(0.0, self.t_end, len(self.target))
        return (shares - shares[0]) / (shares[-1] - shares[0]) * self.t_end

    def random_start(self, rng: np.random.Generator) -> Floats:
        low, high = self.bounds
        return low + (high - low) * rng.random(len(low))

    def changed(self, x: Floats) -> Model:
        """The model with these values."""
        return self.model.with_parameters(**dict(zip(self.names, map(float, x), strict=True)))

    def residuals(self, x: Any) -> Any:
        if np.ndim(x) == 2:
            return np.array([self.residuals(column) for column in x.T]).T
        count = len(self.target) * self.target.rows.shape[1]
        try:
            errors = self.errors(kinematics(self.changed(x), t_eval=self.times, on_singular="raise"))
        except ModelError:
            raise
        except SimEngineError:
            return np.full(count + len(self.requirements), MISSED)
        if not self.requirements:
            return errors / self.target.size
        return np.append(errors / self.target.size, excesses(self.requirements, self.changed(x), self.t_end))

    def errors(self, results: Results) -> Floats:
        """Differences to the target at its times; angles of poses times the size of the target."""
        rows = self.target.rows
        if self.target.kind == FUNCTION:
            output = results[self.output]
            return output - output[0] - (rows[:, 0] - rows[0, 0])
        x, y = results[f"{self.output}.x"], results[f"{self.output}.y"]
        parts = [x - rows[:, 0], y - rows[:, 1]]
        if self.target.kind == POSES:
            parts.append(self.target.size * (results[f"{self.output.split('.')[0]}.phi"] - rows[:, 2]))
        return np.concatenate(parts)

    def jacobian(self, x: Floats) -> tuple[Floats, Floats]:
        """r and dr/dx by central differences, within the limits."""
        low, high = self.bounds
        r, columns = self.residuals(x), []
        for k in range(len(x)):
            step = np.zeros(len(x))
            step[k] = DIFFERENCE * (high[k] - low[k])
            up, down = np.minimum(x + step, high), np.maximum(x - step, low)
            columns.append((self.residuals(up) - self.residuals(down)) / (up - down)[k])
        return r, np.column_stack(columns)
