"""One long step across a singular pose.

There the accelerations lose their digits, and no step is short enough. The motion itself is smooth, so a step that
begins and ends well away from the pose is as accurate as any other. Two of different length must give the same motion.
"""

from __future__ import annotations

import numpy as np

from ...coordinates.equations import Configuration
from ...coordinates.ode_problem import Recoverer
from ...coordinates.reference_point.reference_point import ReferencePoint
from ...formulations.projection import Projection
from ...integrators import loop_state
from ...integrators.dop853 import DOP853
from ...integrators.integration import CompiledIntegration
from ...numerics.arrays import Floats
from ...system.system import System
from .approach import Approach
from .initial_state import InitialState
from .pose_crossing import PoseCrossing

TOLERANCE = 1e-10  # of the steps beside the long one
# to which states satisfy the constraints, relative to a length of the mechanism: near a pose, accelerations are large
# multiples of the residual
TIGHT = 1e-14
# the error estimate of the long step is pessimistic, since some of its stages are near the pose
CONCESSION = 1e6
SHORTER = 0.6  # the second of the two steps
LARGEST_MISS = 1e-4  # of the constraints after the long step, relative to a length of the mechanism
LARGEST_TURN = 0.5  # change of velocities in the step, relative to the velocities
AGREEMENT = 1e-8  # of the two steps, in lengths or radians
MOST_STEPS = 20_000


class Bridge:
    """The crossing of singular poses of a system: reference-point coordinates, projected onto the constraints."""

    def __init__(self, system: System, start: InitialState) -> None:
        self.system, at = system, start.assembly
        family = ReferencePoint(system, at.q)
        self.problem = Projection().problem(
            family, Configuration(at.t, at.q, not start.regular, start.implied)
        )
        assert self.problem.multipliers is not None
        lam = self.problem.multipliers.pointer
        pointers = (self.problem.finish, self.problem.rhs, family.to_bodies, lam)
        self.recovered = Recoverer(
            pointers, (system.n, system.n, system.m), self.problem.monitors, family.turns
        )
        self.problem.tolerance[0] = TIGHT * system.length
        self.scale = np.tile(system.sizes, 2)
        self.short, self.up_to = self.new_steps(), self.new_steps()
        self.approach: Approach | None = None
        """What the steps up to a pose belong to at present."""

    def new_steps(self) -> CompiledIntegration:
        integration = DOP853().integration(
            self.problem.rhs, 0.0, np.zeros(2 * self.system.n), rtol=TOLERANCE, atol=TOLERANCE * self.scale,
            finish=self.problem.finish, notes=np.zeros_like(self.problem.monitors),
        )  # fmt: skip
        assert isinstance(integration, CompiledIntegration)
        return integration

    def held(self, t: float, y: Floats) -> Floats:
        """A state projected onto the constraints; steps of index 3 leave velocities that they do not allow."""
        y = y.copy()
        self.problem.finish(t, y, np.zeros_like(self.problem.monitors))
        return y

    def acceleration(self, t: float, y: Floats) -> Floats:
        slope = np.empty_like(y)
        self.problem.rhs(t, y, slope)
        return slope[self.system.n :]

    # steps

    def integrate(self, t: float, y: Floats, times: Floats) -> Floats | None:
        """The states at some times, by steps as short as necessary; None if they fail."""
        return self.states_at(self.begun(t, y, float(times[-1])), times)

    def leap(self, t: float, y: Floats, end: float) -> Floats | None:
        """The state at the end of one step across a pose; None if it is not smooth."""
        steps = self.begun(t, y, end, CONCESSION)
        last = self.states_at(steps, np.array([end]), 2)
        missed = steps.path.notes[0] > LARGEST_MISS * self.system.length
        if last is None or steps.counts()["rejected steps"] or missed or not self.smooth(y, last[0]):
            return None
        return last[0]

    def begun(self, t: float, y: Floats, end: float, concession: float = 1.0) -> CompiledIntegration:
        """An integration from (t, y) on, which tries to reach `end` in one step; it replaces the one before."""
        self.short.path.notes[:] = 0.0
        tolerance = concession * TOLERANCE
        self.short.restart(t, y, tolerance, tolerance * self.scale, end)
        self.short.path.state[loop_state.STEP] = end - t
        return self.short

    def states_at(
        self, steps: CompiledIntegration, times: Floats, most_steps: int = MOST_STEPS
    ) -> Floats | None:
        """The states at some times; None where they are not reached."""
        Y = self.rows(times.size)
        done, _ = steps.integrate(times, 0, Y, most_steps)
        return Y[:, : self.scale.size] if done == times.size else None

    def rows(self, count: int) -> Floats:
        return np.zeros((count, self.scale.size + self.problem.monitors.size))

    # across a pose

    def across(self, approach: Approach, pose: float, width: float, clear: float) -> PoseCrossing | None:
        """The crossing of a pose from `width` before it to `clear` after it; None if two steps disagree."""
        before, after, end = max(approach.begin, pose - width), pose + width, pose + clear
        inner = max(before, pose - SHORTER * width), pose + SHORTER * width
        first = approach.state(before)
        whole = None if first is None else self.leap(before, first, after)
        if first is None or whole is None:
            return None
        near = self.moved(before, first, inner[0])
        beyond = None if near is None else self.leap(inner[0], near, inner[1])
        if near is None or beyond is None:
            return None
        last, other = self.moved(after, whole, end), self.moved(inner[1], beyond, end)
        if last is None or other is None or not self.agree(last, other):
            return None
        ends = [(before, first), (inner[0], near), (inner[1], beyond), (after, whole)]
        known = [(t, y, self.acceleration(t, y)) for t, y in dict(ends).items()]
        return PoseCrossing(self, approach, known, end, last)

    def moved(self, t: float, y: Floats, end: float) -> Floats | None:
        """The state at the end of a stretch, by steps as short as necessary; None if they fail."""
        if end <= t:
            return y
        states = self.integrate(t, y, np.array([end]))
        return None if states is None else states[0]

    def smooth(self, a: Floats, b: Floats) -> bool:
        """Whether velocities are continuous: on another branch they would jump."""
        n = self.system.n
        first, second = (y[n:] / self.system.sizes for y in (a, b))
        return bool(np.abs(second - first).max() <= LARGEST_TURN * np.abs(first).max())

    def agree(self, a: Floats, b: Floats) -> bool:
        n, apart = self.system.n, np.abs(a - b) / self.scale
        speed = float(np.abs(a[n:] / self.system.sizes).max())
        return bool(max(apart[:n].max(), apart[n:].max() / speed) <= AGREEMENT)

    def misses(self, t: float, y: Floats) -> float:
        """By how much a state misses the constraints, relative to a length of the mechanism."""
        notes = np.zeros_like(self.problem.monitors)
        self.problem.finish(t, y.copy(), notes)
        return float(notes[0]) / self.system.length

    def motion_at(self, times: Floats, states: Floats) -> list[Floats]:
        """Q, Qd, Qdd and Lam of states."""
        Y = self.rows(times.size)
        Y[:, : self.scale.size] = states
        return self.recovered(times, Y)
