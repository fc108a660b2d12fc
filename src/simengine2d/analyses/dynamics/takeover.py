"""Stiff motions: implicit steps take over from explicit ones, and these return when the motion is no longer stiff.

Explicit steps notice stiffness themselves. Whether it has passed is found by trying: after some implicit steps, a few
explicit ones show how far they lead. If that is not far enough, implicit steps continue for twice as long as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...formulations.index3 import Index3
from ...integrators import loop_state
from ...numerics.arrays import Floats
from .dae_stepper import DaeStepper, radau_in_words
from .passing import Passing
from .stepper import DynamicsStepper

if TYPE_CHECKING:
    from .run import Run

FIRST_WAIT = 50  # implicit steps before explicit ones are tried
TRIAL = 15  # explicit steps that become longer, and as many that show how far they lead
MOST_NOTES = 10
IMPLICIT = "implicit_"
"""Of the second stepper in a checkpoint."""

# entries of `marks`: whether implicit steps are taken, how many before explicit ones are tried, and when that is
ACTIVE, WAIT, UNTIL = range(3)


class Takeover:
    """The steppers of a run, each with its passage over singular poses, and which of them is active."""

    def __init__(self, run: Run, first: DynamicsStepper, t: float) -> None:
        self.run, self.first = run, first
        self.passings, self.steppers = [Passing(run, first, t)], [first]
        self.marks = np.array([0.0, FIRST_WAIT, 0.0])
        first.say = run.notes.append

    @property
    def passing(self) -> Passing:
        """Of the active stepper."""
        return self.passings[int(self.marks[ACTIVE])]

    @property
    def in_words(self) -> str:
        """What has taken over, if it has."""
        implicit = radau_in_words(self.run.options.rtol)
        words = f"; {implicit} in reference_point coordinates while the motion was stiff"
        return words if len(self.steppers) > 1 else ""

    def note(self, words: str) -> None:
        if sum("stiff" in note for note in self.run.notes) < MOST_NOTES:
            self.run.notes.append(words)

    # implicit steps

    def turn_implicit(self) -> None:
        """The other stepper goes on; times, outputs and events stay the same."""
        t, state = self.run.t, self.first.state
        self.note(stiff_from(t, self.run.options.rtol))
        if len(self.passings) == 1:
            self.add_implicit(t, state)
        else:
            self.passings[1].restart_at(t, *state)
        stepper = self.steppers[1]
        assert isinstance(stepper, DaeStepper)
        stepper.begin_with(self.first.integration.step_ahead)
        self.marks[:] = 1.0, FIRST_WAIT, stepper.tried + FIRST_WAIT

    def add_implicit(self, t: float, state: tuple[Floats, Floats]) -> None:
        """Its steps are those of reference points, whatever the coordinates of the explicit ones."""
        options = self.run.options
        theirs = options.coordinates != "reference_point" and np.ndim(options.atol) > 0  # type: ignore[arg-type]
        options = replace(
            options,
            integrator=None,
            formulation=Index3(),
            coordinates="reference_point",
            atol=None if theirs else options.atol,
        )
        stepper = DaeStepper.taking_over(options, self.run.start, (t, *state))
        stepper.say = self.run.notes.append
        self.passings.append(Passing(self.run, stepper, t))
        self.steppers.append(stepper)

    # explicit steps again

    def pace(self, most_steps: int) -> int:
        """How many steps to try; explicit ones are tried again after the same number of implicit ones in every run."""
        if self.marks[ACTIVE] == 0.0:
            return most_steps
        attempts = self.steppers[1].tried
        if attempts < self.marks[UNTIL]:
            return min(most_steps, int(self.marks[UNTIL]) - attempts)
        if self.try_explicit():
            return most_steps
        self.marks[WAIT] *= 2.0
        self.marks[UNTIL] = attempts + self.marks[WAIT]
        return min(most_steps, int(self.marks[WAIT]))

    def try_explicit(self) -> bool:
        """Whether explicit steps are long enough again; if so, they go on.

        That is from the beginning of the last implicit step, up to which outputs are written.
        """
        t, (q, qd), first = self.run.t, self.passing.stepper.state, self.passings[0]
        implicit = self.passing.stepper.integration.step_ahead
        first.restart_at(t, q, qd)
        if not self.lead_far(implicit):
            return False
        first.restart_at(t, q, qd)
        self.run.forget_events_after(t, q, qd)
        self.marks[ACTIVE] = 0.0
        self.note(f"at t = {t:.6g} s the motion is no longer stiff; explicit steps go on")
        return True

    def lead_far(self, step: float) -> bool:
        """Whether explicit steps from the present state on are longer than a `step` of the implicit method.

        Shorter ones would also be cheaper, but a stiff force turns their errors into accelerations. One step of that
        size, which stiffness refuses, tells of most motions that they are stiff still.
        """
        stepper, ends = self.first, []
        stepper.begin_with(step)
        stepper.step_again(self.run.outputs, self.run.t, 1)
        if stepper.integration.step_end == self.run.t:
            return False
        for _ in range(2):
            if stepper.step_again(self.run.outputs, self.run.t, TRIAL) != loop_state.PAUSED:
                return False
            ends.append(stepper.integration.step_end)
        return bool(ends[1] - ends[0] > TRIAL * step)

    # saving

    def checkpoint(self) -> dict[str, Floats]:
        """Everything that the steps need to continue later."""
        if not self.first.compiled:
            return {}
        first, *others = [passing.stepper.checkpoint() | passing.checkpoint() for passing in self.passings]
        for other in others:
            first |= {IMPLICIT + name: array for name, array in other.items()}
            first["takeover"] = self.marks.copy()
        return first

    def restore(self, saved: Mapping[str, Floats]) -> None:
        """Go on from a checkpoint; a ValueError where it does not fit."""
        self.passings[0].restore(saved)
        names = [name for name in saved if name.startswith(IMPLICIT)]
        if not names:
            return
        if len(self.passings) == 1:
            start = self.run.start.assembly
            self.add_implicit(start.t, (start.q, start.qd))
        self.passings[1].restore({name.removeprefix(IMPLICIT): saved[name] for name in names})
        self.marks[:] = saved["takeover"]


def stiff_from(t: float, rtol: float) -> str:
    """A sentence on when implicit steps took over."""
    return f"at t = {t:.6g} s the motion is stiff; the implicit method {radau_in_words(rtol)} goes on"
