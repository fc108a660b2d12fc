"""One long step over a singular pose.

There the accelerations lose their digits, and no step is short enough. The motion itself is smooth, so a step that
begins and ends well away from the pose is as exact as any other. Two of different length must lead to the same motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.reference_point import ReferencePoint
from ..formulations import lanes
from ..formulations.posed import Recoverer
from ..formulations.projection import Projection
from ..integrators import march
from ..integrators.dop853 import DOP853
from ..integrators.marcher import CompiledMarcher
from ..posing import posed
from ..system import System
from .singular_poses import Motion
from .start import Start

Floats = NDArray[np.float64]

TOLERANCE = 1e-10  # of the steps up to the pose
TIGHT = 1e-14  # to which outputs meet the constraints, against a length of the mechanism
CONCESSION = (
    1e6  # the error estimate of the long step is pessimistic, since some of its stages lie near the pose
)
SHORTER = 0.6  # the second of the two steps
LARGEST_MISS = 1e-4  # of the constraints behind the long step, against a length of the mechanism
LARGEST_TURN = 0.5  # change of velocities on the way, against these


class Crossed(NamedTuple):
    """The other side of a pose: time, q, qd; and the rows of the outputs on the way."""

    t: float
    q: Floats
    qd: Floats
    times: Floats
    Y: Floats


class Bridge:
    """The way over singular poses of a system: reference-point coordinates, kept on the constraints by projection."""

    def __init__(self, system: System, start: Start) -> None:
        self.system, at = system, start.assembly
        family = ReferencePoint(system, at.q)
        d = posed(system, not start.regular, False)
        d = d._replace(dropped=np.array(start.implied, dtype=np.int64))
        self.posed = lanes.pose(Projection(), family, d, at.t, at.q, not start.regular, 0.0)
        assert self.posed.lam is not None
        self.found: Floats = self.posed.lam.kept[1].found
        doors = (self.posed.finish, self.posed.rhs, family.to_bodies, self.posed.lam)
        self.recovered = Recoverer(doors, (system.n, system.n, system.m), self.posed.notes, family.turns)
        self.atol = TOLERANCE * np.tile(system.sizes, 2)
        self.in_steps = 0.003 * TOLERANCE * system.length

    def marcher(self, t: float, y: Floats, end: float, concession: float = 1.0) -> CompiledMarcher:
        """An integration from (t, y) on, whose last step ends at `end`."""
        self.posed.tolerance[0] = self.in_steps
        marcher = DOP853().marcher(
            self.posed.rhs, t, y, rtol=concession * TOLERANCE, atol=concession * self.atol, finish=self.posed.finish,
            notes=np.zeros_like(self.posed.notes), span=(t, end),
        )  # fmt: skip
        assert isinstance(marcher, CompiledMarcher)
        return marcher

    def motion_from(self, t: float, q: Floats, qd: Floats) -> Motion:
        """The motion from a state on, as far as short steps lead."""
        y, n = np.concatenate([q, qd]), q.size

        def motion(times: Floats) -> list[tuple[Floats, Floats]] | None:
            rows = self.march(t, y, times)
            return None if rows is None else [(row[:n].copy(), row[n : 2 * n].copy()) for row in rows]

        return motion

    def march(self, t: float, y: Floats, times: Floats) -> Floats | None:
        """The states at some times, by steps as short as they must be; None where they lead nowhere."""
        Y = self.rows(times.size)
        done, _ = self.marcher(t, y, float(times[-1])).march(times, 0, Y, 20_000)
        return Y if done == times.size else None

    def leap(self, t: float, y: Floats, times: Floats) -> Floats | None:
        """The states at some times, the last of which is the end of one step."""
        end = times[-1:]
        long, last = self.marcher(t, y, float(end[0]), CONCESSION), self.rows(1)
        long.path.state[march.STEP] = end[0] - t
        row, _ = long.march(end, 0, last, 2)
        missed = long.path.notes[0] > LARGEST_MISS * self.system.length
        if row < 1 or long.counts()["rejected steps"] or missed:
            return None
        Y = self.rows(times.size)
        Y[:, : y.size] = self.between(t, y, float(end[0]), last[0, : y.size], times)
        Y[-1] = last[0]
        return Y

    def between(self, t0: float, y0: Floats, t1: float, y1: Floats, times: Floats) -> Floats:
        """The states on the way by Hermite's quintic, from positions, velocities and accelerations at its ends.

        q = sum_k a_k x^k,   x = (t - t0) / h;   stages of the step near the pose have lost their digits

        """
        n, h, slopes = self.system.n, t1 - t0, np.empty((2, y0.size))
        self.posed.rhs(t0, y0, slopes[0])
        self.posed.rhs(t1, y1, slopes[1])
        v0, v1, a0, a1 = h * y0[n:], h * y1[n:], h * h * slopes[0, n:], h * h * slopes[1, n:]
        d = y1[:n] - y0[:n] - v0 - 0.5 * a0
        e, f = v1 - v0 - a0, a1 - a0
        c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * f, -15.0 * d + 7.0 * e - f, 6.0 * d - 3.0 * e + 0.5 * f
        x = ((times - t0) / h)[:, None]
        q = y0[:n] + x * (v0 + x * (0.5 * a0 + x * (c3 + x * (c4 + x * c5))))
        qd = (v0 + x * (a0 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))) / h
        return np.hstack([q, qd])

    def rows(self, count: int) -> Floats:
        return np.zeros((count, 2 * self.system.n + self.posed.notes.size))

    def over(
        self, t: float, q: Floats, qd: Floats, pose: float, width: float, times: Floats, agreement: float
    ) -> Crossed | None:
        """From a state at t to pose + width, with the outputs on the way; None where two ways disagree."""
        begin = np.concatenate([q, qd])
        behind = pose + width
        inside = times[(times > t) & (times <= behind)]
        rows = self.way(t, begin, pose, width, inside, behind)
        other = self.way(t, begin, pose, SHORTER * width, inside[:0], behind)
        if rows is None or other is None or not self.agree(rows[-1], other[-1], agreement):
            return None
        n = self.system.n
        return Crossed(behind, rows[-1, :n].copy(), rows[-1, n : 2 * n].copy(), inside, rows[:-1])

    def way(
        self, t: float, y: Floats, pose: float, width: float, inside: Floats, behind: float
    ) -> Floats | None:
        """Rows of the outputs inside and of the end, by steps up to pose - width, one over it and steps to the end."""
        before, beyond, size = max(t, pose - width), pose + width, 2 * self.system.n
        rows, parts = y[None], []
        stretches = [(t, before, self.march), (before, beyond, self.leap), (beyond, behind, self.march)]
        for begin, end, go in stretches:
            if begin >= end:
                continue
            times = np.append(inside[(inside > begin) & (inside < end)], end)
            found = go(begin, rows[-1, :size].copy(), times)
            if found is None or (go == self.leap and not self.smooth(rows[-1], found[-1])):
                return None
            rows = found
            parts.append(found if end in inside else found[:-1])
        last = np.vstack([*parts, rows[-1:]])
        return last

    def smooth(self, a: Floats, b: Floats) -> bool:
        """Whether velocities went on: on another branch they would jump."""
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
        self.posed.tolerance[0] = TIGHT * self.system.length
        return self.recovered(times, Y)
