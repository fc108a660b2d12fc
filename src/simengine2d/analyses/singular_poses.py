"""Poses in which constraints lose rank for a moment: detected during a motion, located, and named."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..coordinates.base import Family
from ..coordinates.reference_point.multipliers import new_sparse
from ..coordinates.reference_point.sparse import pivots
from ..formulations import rank_watch
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from ..numerics.rank import unit_rows
from ..system.elimination import drawn_slopes, elimination_program
from ..system.equations_of_motion import EquationArrays
from ..system.geometry import once_per_geometry
from ..system.system import System
from ..system.workspace import once_per_system
from .assembly.closure import coordinate_scale
from .assembly.diagnose import names_of_rows

# distances from a singular pose, in lengths or radians, at which constraints are examined
FAR, NEAR, NEARER = 0.1, 0.03, 0.01
PLACES = np.array([1.0, 0.8, 0.6, 0.5])  # fractions of these distances
MOST_SHIFTS = 5
WEAKEST = 3  # rows that are examined where steps fail
NEARLY_REAL = 0.2  # relative imaginary part of a double root, which rounding makes complex
FARTHEST = 1.0  # distance between a suspicion and the pose that causes it
ZERO = 0.1  # smallest g near a singular pose, relative to that at half the smallest distance
LARGEST_EXAMINED = 900  # coordinates up to which ranks are computed by dense factorization
SOON = 1e-6  # displacement after which the last state of a run is examined
TINY = 1e-12  # compliance of a row relative to its own share: every pivot exists


Motion = Callable[[Floats], "Floats | None"]
"""States (q, qd) at some times, one row each; None if the motion cannot be followed so far."""


class SingularPose(NamedTuple):
    """A singular pose during a motion: its time, pose, and speed in lengths or radians."""

    t: float
    q: Floats
    speed: float


CUBIC = np.linalg.inv(
    np.vander(-PLACES)
)  # coefficients of the cubic through values there, the highest power first


class NearPose(NamedTuple):
    """A pose that may be singular, seen from states before it: its time, the row of the smallest g, and the speed."""

    t: float
    row: int
    speed: float
    q: Floats = np.zeros(0)  # there
    usual: Floats = np.zeros(0)  # the pose farthest from it
    low: float = 0.0  # the square of its g
    g: float = 1.0  # at the nearest state


def lowest(values: Floats) -> tuple[float, float]:
    """Place and value of the minimum of the cubic through values at -PLACES; nan if it has none.

    3 a x^2 + 2 b x + c = 0 has two roots; the minimum is where 6 a x + 2 b > 0:

        x = -c / (b + sqrt(b^2 - 3 a c))
    """
    a, b, c, d = CUBIC @ values
    square = b * b - 3.0 * a * c
    if square < 0.0 and -square < (3.0 * NEARLY_REAL * a) ** 2:
        square = 0.0
    if square < 0.0 or b + np.sqrt(square) == 0.0:
        return np.nan, np.nan
    x = -c / (b + np.sqrt(square))
    return float(x), float(((a * x + b) * x + c) * x + d)


@once_per_geometry
def geometric_masses(system: System) -> Floats:
    """Bodies of mass 1 whose inertia follows from their size: a purely geometric measure."""
    S, nb = system.arrays, len(system.bodies)
    reach = np.zeros(nb + 1)
    np.maximum.at(reach, S.frame_body, np.hypot(S.frame_x, S.frame_y))
    reach = np.where(reach[:nb] > 0.0, reach[:nb], system.length)
    return np.column_stack([np.ones(nb), np.ones(nb), reach**2]).ravel()


@once_per_system
def geometric_program(system: System, regular: bool) -> EquationArrays:
    """The elimination program of the system, with these masses and a trace of compliance."""
    masses, d = geometric_masses(system), elimination_program(system, not regular, False)
    template = np.zeros_like(d.template)
    template[d.diagonal[: system.n]] = masses
    rows = np.repeat(np.arange(system.m), np.diff(system.arrays.jac_start))
    data = drawn_slopes(system)
    shares = np.bincount(rows, data**2 / masses[system.arrays.jac_column], minlength=system.m)
    template[d.diagonal[system.n :]] = -TINY * np.maximum(shares, shares.mean() if shares.size else 0.0)
    nothing = np.zeros(1, dtype=np.int64)
    return d._replace(template=template, refinements=nothing, stabilization=np.zeros(2))


def shares_by_elimination(system: System, regular: bool) -> BoundKernel:
    """g of all rows by elimination of all bodies and multipliers, for any system."""
    d, S = geometric_program(system, regular), system.arrays
    context, weight = new_sparse(system, d, system.new_workspace(d)), np.zeros(S.jac_column.size)

    def weigh() -> None:
        weight[:] = 1.0 / geometric_masses(system)[S.jac_column]

    system.follow_numbers(weigh)
    solve, w, pivot = pivots.bind(context), context.w, np.ascontiguousarray(d.diagonal[system.n :])
    parts = (S.jac_start, weight, pivot, w.data, w.v)
    return rank_watch.shares_of_pivots.bind(rank_watch.PivotShares(solve.f, solve.c, *parts))


class RankWatch:
    """The watch over one motion: its arrays, and what it has noticed."""

    def __init__(self, system: System, family: Family, regular: bool) -> None:
        self.system, self.family, self.regular = system, family, regular
        n, m = system.n, system.m
        in_tree = family.row_shares(geometric_masses(system)) if regular else None
        self.shares_at = in_tree or shares_by_elimination(system, regular)
        self.state, self.alarm_rows = np.zeros(rank_watch.STATE_SIZE), np.zeros((rank_watch.MOST_ALARMS, 3))
        self.top, self.first, self.first_g = np.zeros(m), np.zeros((2, n)), np.zeros(m)
        self.scratch = (np.zeros(3 * family.n), np.zeros(3 * n), np.zeros(n))
        self.trail = np.zeros((rank_watch.TRAIL, 1 + 2 * n))
        self.alarm = np.zeros(1)
        """Set to 1 with every suspicion: steps then pause."""

    def around(self, finish: BoundKernel) -> BoundKernel:
        """The kernel pointer that finishes a step and then examines the constraints."""
        look = self.looking
        after = rank_watch.finish_and_watch.bind(rank_watch.Watched(finish.f, finish.c, look.f, look.c))
        return after._replace(kept=(*after.kept, finish, look))  # the only reference that keeps them alive

    @cached_property
    def looking(self) -> BoundKernel:
        """The kernel pointer that examines the constraints."""
        system, n, m = self.system, self.system.n, self.system.m
        bodies, shares = self.family.to_bodies, self.shares_at
        z, b, y = self.scratch
        return rank_watch.watching(
            rank_watch.RankContext(
                bodies.f, bodies.c, shares.f, shares.c, system.sizes, z, b, y, np.zeros((3, m)), np.zeros((2, m)),
                self.top, self.first, self.first_g, np.zeros(n), np.zeros((2, n)), np.zeros((2, n)), np.zeros(2),
                self.state, self.alarm_rows, self.alarm, self.trail, np.zeros(4),
            )
        )  # fmt: skip

    @cached_property
    def measured(self) -> BoundKernel:
        """The kernel pointer that measures g of one row in some poses."""
        return rank_watch.measure_along.bind_like(self.looking)

    def begin(self) -> None:
        """Forget the previous motion."""
        self.state[:] = self.alarm[0] = 0.0

    def look_soon(self) -> None:
        """Examine the next state, however small the displacement."""
        self.state[rank_watch.SHORTEST] = SOON

    def alarms(self) -> list[list[float]]:
        """Time, row and speed of each suspicion."""
        count = int(min(self.state[rank_watch.ALARMS], rank_watch.MOST_ALARMS))
        rows: list[list[float]] = self.alarm_rows[:count].tolist()
        return rows

    def keep_alarms(self, alarms: list[list[float]]) -> None:
        """These are still to be examined."""
        self.state[rank_watch.ALARMS] = len(alarms)
        self.alarm_rows[: len(alarms)] = np.array(alarms).reshape(-1, 3)

    def kept(self) -> dict[str, Floats]:
        """What it remembers from step to step."""
        return {
            "rank_state": self.state, "rank_top": self.top, "rank_first": self.first, "rank_g": self.first_g,
            "rank_alarms": self.alarm_rows, "rank_trail": self.trail,
        }  # fmt: skip

    def put_back(self, saved: dict[str, Floats]) -> None:
        """Restore what was saved."""
        self.alarm[0] = 0.0
        for name, array in self.kept().items():
            array[...] = saved[name]

    def states(self) -> list[tuple[float, Floats, Floats]]:
        """Time, q and qd of the poses looked at last, in their order."""
        last, known, n = int(self.state[rank_watch.LAST]), int(self.state[rank_watch.KNOWN]), self.system.n
        rows = self.trail[np.arange(last - known + 1, last + 1) % rank_watch.TRAIL]
        return [(float(row[0]), row[1 : n + 1], row[n + 1 :]) for row in rows]

    # what is known about a pose

    def shares(self, t: float, q: Floats) -> Floats:
        """g of all rows."""
        g = np.empty(self.system.m)
        self.shares_at(t, q, g)
        return g

    def speed(self, qd: Floats) -> float:
        """In lengths or radians per second."""
        return float(np.max(np.abs(qd) / self.system.sizes, initial=0.0))

    def weakest_rows(self, t: float, q: Floats) -> list[int]:
        """The rows closest to dependence, except those that are always redundant.

        Near a singular pose the latter look as if they were not, so one row may not be enough.
        """
        g = np.where(self.top > rank_watch.ALWAYS_ZERO, self.shares(t, q), np.inf)
        rows: list[int] = np.argsort(g)[:WEAKEST].tolist()
        return [row for row in rows if g[row] < np.inf]

    def g_along(self, row: int, times: Floats, states: Floats) -> Floats:
        """g of a row along a motion."""
        g, poses = np.empty(times.size), np.column_stack([times, states[:, : self.system.n]])
        self.measured(float(row), poses.reshape(-1), g)
        return g

    def rough_pose(self, motion: Motion, earliest: float, alarm: list[float]) -> NearPose | None:
        """Where g of the row of an alarm would fall to zero, seen from some distance.

        That is earlier than the alarm if the motion leads away from the pose there.
        """
        t, row, speed = alarm[0], int(alarm[1]), alarm[2]
        for _ in range(MOST_SHIFTS):
            near = self.look_ahead(motion, NearPose(t, row, speed), FAR, earliest)
            if near is not None or t - FAR / speed <= earliest:
                return near
            t -= FAR / speed
        return self.look_ahead(motion, NearPose(t, row, speed), FAR, earliest)

    def look_ahead(self, motion: Motion, pose: NearPose, farthest: float, earliest: float) -> NearPose | None:
        """A closer look at a pose, from states before it; None if the motion does not lead there.

        Before a singular pose g falls to zero in proportion to the distance, so that g^2 is nearly a parabola.
        """
        reach = min(farthest / pose.speed, 0.8 * (pose.t - earliest))
        times = pose.t - reach * PLACES
        states = motion(times) if reach > 0.0 else None
        if states is None:
            return None
        g = self.g_along(pose.row, times, states)
        place, low = lowest(g**2)
        if not np.isfinite(place) or not np.all(g[1:] < g[:-1]):
            return None
        n, t = self.system.n, pose.t + place * reach
        usual, q, qd = states[0, :n], states[-1, :n], states[-1, n:]
        return NearPose(
            t, pose.row, self.speed(qd), q + (t - times[-1]) * qd, usual, float(low), float(g[-1])
        )

    def pose_ahead(
        self, motion: Motion, rough: NearPose, earliest: float, alarm: float
    ) -> SingularPose | None:
        """The singular pose of which a rough place is known, on a motion known up to the pose.

        It is examined at decreasing distances; None if g stays above zero, or if the motion turns back.
        """
        near: NearPose | None = rough
        for farthest in (NEAR, NEARER):
            near = None if near is None else self.look_ahead(motion, near, farthest, earliest)
        if near is None or near.low > (ZERO * near.g) ** 2 or abs(near.t - alarm) * near.speed > FARTHEST:
            return None
        if not self.regular and not self.loses_rank(near.t, near.q, near.usual):
            return None
        return SingularPose(near.t, near.q, near.speed)

    def scaled(self, t: float, q: Floats) -> Floats:
        J = self.system.Phi_q(t, q) * coordinate_scale(self.system)
        return unit_rows(J)[0]

    def loses_rank(self, t: float, q: Floats, usual: Floats) -> bool:
        """Whether one more singular value nearly vanishes than at some distance: some rows may always be redundant."""
        if self.system.n > LARGEST_EXAMINED:
            return True
        there, off = (np.linalg.svd(self.scaled(t, pose), compute_uv=False) for pose in (q, usual))
        rank = int(np.sum(off > 1e-6 * off[0]))
        return bool(there[rank - 1] < 0.2 * off[rank - 1])

    def dependent(self, t: float, q: Floats) -> list[str]:
        """Names of the rows that are dependent in a pose."""
        if self.system.n > LARGEST_EXAMINED:
            return []
        u, s, _ = np.linalg.svd(self.scaled(t, q))
        lost = u[:, max(0, int(np.sum(s > 1e-3 * s[0]))) :]
        rows = np.flatnonzero(np.abs(lost).max(axis=1, initial=0.0) > 1e-3)
        return names_of_rows(self.system, rows.tolist())
