"""Dynamics with error control: explicit where that is possible, implicit where it must be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...coordinates.reference_point.multipliers import spread_of_pivots
from ...formulations.index3 import Index3
from ...integrators import time_loop
from ...integrators.integration import CompiledIntegration, OdeMethod
from ...integrators.runge_kutta import RungeKutta
from .dae_run import DaeRun
from .general_run import CHATTER, WHY, OdeRun
from .run import STEPS_A_CHUNK

Floats = NDArray[np.float64]

NEARLY_SINGULAR = 1e5  # spread of the pivots near which steps collapse for that reason


class AdaptiveRun(OdeRun):
    """Error-controlled explicit steps on the index-1 equations.

    Where these equations are stiff, error-controlled implicit steps take over; where
    they are singular, one long step leads over the singular pose.
    """

    method: RungeKutta
    integration: CompiledIntegration

    def begin(self) -> None:
        super().begin()
        self.implicit: DaeRun | None = None
        self.earlier = self.t  # at the beginning of a chunk of attempts

    def new_integration(self, method: OdeMethod, **options: Any) -> CompiledIntegration:
        integration = super().new_integration(method, watch=True, **options)
        assert isinstance(integration, CompiledIntegration)
        return integration

    def in_words(self) -> str:
        return f"integrated by {self.method.name}, for smooth motions, with rtol = {self.task.rtol:g}"

    def advance(self, most_steps: int) -> None:
        if self.implicit is not None:
            self.implicit.advance(most_steps)
            self.done = self.implicit.done
            self.take_notes()
            return
        why = self.integrate(self.attempts_left(most_steps))
        if why == time_loop.COLLAPSED and not self.near_a_singular_pose():
            why = time_loop.PAUSED
        if self.passing.passed(why):
            return
        if why == time_loop.TOO_STIFF:
            self.notes.append(
                f"at t = {self.t:.6g} s the motion is stiff; the implicit method esdirk4 with error control goes on"
            )
            self.turn_implicit()
        elif why in WHY or why == time_loop.JUMPS:
            self.refuse(why)
        elif (attempts := self.attempts) > 0 and attempts % STEPS_A_CHUNK == 0:
            if self.chatters():
                raise self.failure(CHATTER)
            self.earlier = self.t

    def attempts_left(self, most_steps: int) -> int:
        """Up to the end of the chunk: pauses come at the same steps, whether a run was interrupted or not."""
        return min(most_steps, STEPS_A_CHUNK - self.attempts % STEPS_A_CHUNK)

    @property
    def attempts(self) -> int:
        return self.integration.steps + int(self.integration.path.state[time_loop.REJECTED])

    def chatters(self) -> bool:
        """Whether the last chunk of steps got nowhere: tiny steps, many of them refused, no end in sight."""
        went, longest = self.t - self.earlier, self.integration.path.state[time_loop.LONGEST]
        span = self.span
        refused = self.integration.path.state[time_loop.REJECTED] / self.attempts
        tiny = went / STEPS_A_CHUNK < 1e-3 * longest or longest < 1e-6 * span
        return bool(self.done < self.times.size and went < 1e-4 * span and tiny and refused > 0.15)

    # stiff motions

    def turn_implicit(self) -> None:
        """Hand the run over; times, outputs and events stay the same."""
        task = replace(self.task, integrator=None, formulation=Index3())
        implicit = DaeRun(task, self.start, (self.t, *self.state))
        implicit.go_on_in(self.times, self.history, self.done)
        implicit.watch, implicit.crossings = self.watch, self.crossings
        implicit.notes.clear()
        self.implicit = implicit

    def take_notes(self) -> None:
        """What the implicit run has to say is said here."""
        assert self.implicit is not None
        self.notes += self.implicit.notes
        self.implicit.notes.clear()

    @property
    def t(self) -> float:
        return self.implicit.t if self.implicit is not None else super().t

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.implicit.state if self.implicit is not None else super().state

    @property
    def tried(self) -> int:
        return super().tried + (self.implicit.tried if self.implicit is not None else 0)

    @property
    def step_ahead(self) -> float:
        return self.implicit.step_ahead if self.implicit is not None else super().step_ahead

    @property
    def outputs_per_step(self) -> float:
        return self.implicit.outputs_per_step if self.implicit is not None else super().outputs_per_step

    @property
    def can_go_back(self) -> bool:
        return self.implicit is None

    def make_room(self, later: Floats) -> None:
        super().make_room(later)
        if self.implicit is not None:
            self.implicit.go_on_in(self.times, self.history, self.done)

    @property
    def step_end(self) -> float:
        return self.implicit.step_end if self.implicit is not None else super().step_end

    def between(self, t: float) -> tuple[Floats, Floats]:
        return self.implicit.between(t) if self.implicit is not None else super().between(t)

    def end_at(self, t: float) -> None:
        if self.implicit is None:
            super().end_at(t)
            return
        self.implicit.end_at(t)
        self.times, self.history, self.done = self.implicit.times, self.implicit.history, self.implicit.done

    def near_a_singular_pose(self) -> bool:
        """Whether the multipliers of the step that was refused could hardly be solved for."""
        context = self.problem.rhs.kept[1]
        return bool(spread_of_pivots(context.D, self.system.n, context.w.v) > NEARLY_SINGULAR)

    # what is reported and kept

    @property
    def worst(self) -> Floats:
        worst = super().worst
        return worst if self.implicit is None else np.maximum(worst, self.implicit.worst)

    def statistics(self) -> dict[str, int]:
        named = super().statistics()
        counts = {name: named[name] for name in ("steps", "rejected steps", "evaluations")}
        if self.implicit is not None:
            counts["implicit steps"] = self.implicit.statistics()["steps"]
        return counts

    def checkpoint(self) -> dict[str, Floats]:
        saved = super().checkpoint()
        saved["earlier"] = np.array(self.earlier)
        if self.implicit is not None:
            saved |= {f"implicit_{name}": array for name, array in self.implicit.checkpoint().items()}
        return saved

    def restore(self, saved: dict[str, Floats]) -> None:
        super().restore(saved)
        self.earlier = float(saved["earlier"])
        implicit = {
            name.removeprefix("implicit_"): array
            for name, array in saved.items()
            if name.startswith("implicit_")
        }
        if implicit:
            self.turn_implicit()
            assert self.implicit is not None
            self.implicit.restore(implicit)
