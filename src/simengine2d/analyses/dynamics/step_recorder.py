"""Keeps every step of a run that is asked for its history."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...integrators import loop_state
from ...integrators.dae_integration import ConstrainedIntegration
from ...integrators.integration import CompiledIntegration
from ...results.step_history import StepHistory
from .stepper import DynamicsStepper


class RecordedStep(NamedTuple):
    t: float
    size: float
    error: float
    iterations: int
    residual: float
    taken: bool
    implicit: bool


class StepRecorder:
    """Looks at the integration after each step that was tried."""

    def __init__(self) -> None:
        self.steps: list[RecordedStep] = []
        self.counted: dict[int, tuple[int, int]] = {}  # steps tried and iterations of each stepper so far
        self.end = np.nan

    def begin(self, stepper: DynamicsStepper) -> None:
        self.end = stepper.integration.step_end

    def note(self, stepper: DynamicsStepper, implicit: bool) -> None:
        integration, begin = stepper.integration, self.end
        self.end = end = integration.step_end
        counted = stepper.tried, stepper.counts().get("Newton iterations", 0)
        attempts, iterations = np.subtract(counted, self.counted.get(id(stepper), (0, 0))).tolist()
        self.counted[id(stepper)] = counted
        error, tried = np.nan, np.nan
        if isinstance(integration, CompiledIntegration):
            state = integration.path.state
            tried = float(state[loop_state.TRIED])
            if integration.rules.kind == loop_state.ADAPTIVE:
                error = float(state[loop_state.ESTIMATE])
        residual = (
            integration.left_over()
            if isinstance(integration, ConstrainedIntegration) and iterations
            else np.nan
        )
        taken = end > begin
        if taken or attempts:
            size = end - begin if taken else tried
            self.steps.append(RecordedStep(begin, size, error, iterations, residual, taken, implicit))

    def history(self) -> StepHistory:
        columns = zip(*self.steps, strict=True) if self.steps else [()] * 7
        t, size, error, iterations, residual, taken, implicit = columns
        return StepHistory(
            np.array(t, dtype=float),
            np.array(size, dtype=float),
            np.array(error, dtype=float),
            np.array(iterations, dtype=np.int64),
            np.array(residual, dtype=float),
            np.array(taken, dtype=bool),
            np.array(implicit, dtype=bool),
        )
