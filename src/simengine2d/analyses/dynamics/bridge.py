"""One long step across a singular pose.

There the accelerations lose their digits, and no step is short enough. The motion itself is smooth, so a step that
begins and ends well away from the pose is as accurate as any other. Two of different length must give the same motion.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

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
from .initial_state import InitialState

TOLERANCE = 1e-10  # of the steps up to the pose
# to which states satisfy the constraints, relative to a length of the mechanism: near a pose, accelerations are large
# multiples of the residual
TIGHT = 1e-14
# the error estimate of the long step is pessimistic, since some of its stages are near the pose
CONCESSION = 1e6
SHORTER = 0.6  # the second of the two steps
LARGEST_MISS = 1e-4  # of the constraints after the long step, relative to a length of the mechanism
LARGEST_TURN = 0.5  # change of velocities in the step, relative to the velocities


class Way(NamedTuple):
    """From a state before a pose to a time after it, with a step across the pose of this width on both sides."""

    t: float
    q: Floats
    qd: Floats
    pose: float
    width: float
    end: float


class Crossed(NamedTuple):
    """The other side of a pose: time, q, qd; and the rows of the outputs in between."""

    t: float
    q: Floats
    qd: Floats
    times: Floats
    Y: Floats


class Bridge:
    """The passage through singular poses of a system: reference-point coordinates, projected onto the constraints."""

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
        self.atol = TOLERANCE * np.tile(system.sizes, 2)
        self.problem.tolerance[0] = TIGHT * system.length

    @cached_property
    def steps(self) -> CompiledIntegration:
        """What takes all steps, one integration after another."""
        integration = DOP853().integration(
            self.problem.rhs, 0.0, np.zeros(2 * self.system.n), rtol=TOLERANCE, atol=self.atol,
            finish=self.problem.finish, notes=np.zeros_like(self.problem.monitors),
        )  # fmt: skip
        assert isinstance(integration, CompiledIntegration)
        return integration

    def integration(self, t: float, y: Floats, end: float, concession: float = 1.0) -> CompiledIntegration:
        """An integration from (t, y) on, whose last step ends at `end`; it replaces the one before."""
        self.steps.path.notes[:] = 0.0
        self.steps.restart(t, y, concession * TOLERANCE, concession * self.atol, end)
        return self.steps

    def motion_from(self, t: float, q: Floats, qd: Floats) -> Followed:
        """The motion from a state on, as far as short steps lead."""
        return Followed(self, t, self.held(t, q, qd))

    def held(self, t: float, q: Floats, qd: Floats) -> Floats:
        """A state projected onto the constraints; steps of index 3 leave velocities that they do not allow."""
        y = np.concatenate([q, qd])
        self.problem.finish(t, y, np.zeros_like(self.problem.monitors))
        return y

    def integrate(self, t: float, y: Floats, times: Floats) -> Floats | None:
        """The states at some times, by steps as short as necessary; None if they fail."""
        Y = self.rows(times.size)
        done, _ = self.integration(t, y, float(times[-1])).integrate(times, 0, Y, 20_000)
        return Y if done == times.size else None

    def leap(self, t: float, y: Floats, times: Floats) -> Floats | None:
        """The states at some times, the last of which is the end of one step."""
        end = times[-1:]
        long, last = self.integration(t, y, float(end[0]), CONCESSION), self.rows(1)
        long.path.state[loop_state.STEP] = end[0] - t
        row, _ = long.integrate(end, 0, last, 2)
        missed = long.path.notes[0] > LARGEST_MISS * self.system.length
        if row < 1 or long.counts()["rejected steps"] or missed:
            return None
        Y = self.rows(times.size)
        Y[:, : y.size] = self.between(t, y, float(end[0]), last[0, : y.size], times)
        Y[-1] = last[0]
        return Y

    def between(self, t0: float, y0: Floats, t1: float, y1: Floats, times: Floats) -> Floats:
        """The states in between, by the polynomial through positions, velocities and accelerations around the pose.

        Known are both ends of the step and a state equally far after it, where the steps are short again. Stages of the
        step itself, which are near the pose, have lost their digits.
        """
        from scipy.interpolate import KroghInterpolator  # takes a while to import

        n, h = self.system.n, t1 - t0
        after = self.integrate(t1, y1.copy(), np.array([t1 + h]))
        known = [(t0, y0), (t1, y1)] + ([] if after is None else [(t1 + h, after[0, : y0.size])])
        x, values = [], []
        for t, y in known:
            slope = np.empty(y0.size)
            self.problem.rhs(t, y.copy(), slope)
            x += 3 * [(t - t0) / h]
            values += [y[:n], h * y[n:], h * h * slope[n:]]
        motion = KroghInterpolator(x, np.array(values))
        at = (times - t0) / h
        return np.hstack([motion(at), motion.derivative(at, 1) / h])

    def rows(self, count: int) -> Floats:
        return np.zeros((count, 2 * self.system.n + self.problem.monitors.size))

    def over(self, way: Way, times: Floats, agreement: float) -> Crossed | None:
        """The end of a way, with the outputs on it; None if two steps across the pose disagree."""
        inside = times[(times > way.t) & (times <= way.end)]
        rows = self.follow(way, inside)
        other = self.follow(way._replace(width=SHORTER * way.width), inside[:0])
        if rows is None or other is None or not self.agree(rows[-1], other[-1], agreement):
            return None
        n = self.system.n
        return Crossed(way.end, rows[-1, :n].copy(), rows[-1, n : 2 * n].copy(), inside, rows[:-1])

    def follow(self, way: Way, inside: Floats) -> Floats | None:
        """Rows of the outputs inside and of the end, by steps up to the pose, one across it and steps to the end."""
        before, beyond, size = max(way.t, way.pose - way.width), way.pose + way.width, 2 * self.system.n
        rows, parts = self.held(way.t, way.q, way.qd)[None], []
        stretches = [
            (way.t, before, self.integrate),
            (before, beyond, self.leap),
            (beyond, way.end, self.integrate),
        ]
        for begin, end, go in stretches:
            if begin >= end:
                continue
            times = np.append(inside[(inside > begin) & (inside < end)], end)
            found = go(begin, rows[-1, :size].copy(), times)
            if found is None or (go == self.leap and not self.smooth(rows[-1], found[-1])):
                return None
            rows = found
            parts.append(found if end in inside else found[:-1])
        return np.vstack([*parts, rows[-1:]])

    def smooth(self, a: Floats, b: Floats) -> bool:
        """Whether velocities are continuous: on another branch they would jump."""
        n, scale = self.system.n, self.system.sizes
        first, second = a[n : 2 * n] / scale, b[n : 2 * n] / scale
        return bool(np.abs(second - first).max() <= LARGEST_TURN * np.abs(first).max())

    def agree(self, a: Floats, b: Floats, agreement: float) -> bool:
        n, scale = self.system.n, self.system.sizes
        apart = np.abs(a - b)[: 2 * n] / np.tile(scale, 2)
        speed = float(np.abs(a[n : 2 * n] / scale).max())
        self.apart = max(apart[:n].max(), apart[n:].max() / speed)
        return bool(self.apart <= agreement)

    def motion_at(self, times: Floats, Y: Floats) -> list[Floats]:
        """Q, Qd, Qdd and Lam of rows."""
        return self.recovered(times, Y)


class Followed:
    """A motion from (t, y) on; `lost` if some time could not be reached."""

    def __init__(self, bridge: Bridge, t: float, y: Floats) -> None:
        self.bridge, self.t, self.y, self.lost = bridge, t, y, False

    def __call__(self, times: Floats) -> list[tuple[Floats, Floats]] | None:
        rows, n = self.bridge.integrate(self.t, self.y, times), self.bridge.system.n
        self.lost = self.lost or rows is None
        return None if rows is None else [(row[:n].copy(), row[n : 2 * n].copy()) for row in rows]
