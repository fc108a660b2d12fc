"""Every force of a motion, from one pass for joints and one for loads with the arrays of the system.

A row of a joint resists its measure s with its multiplier, a spring with its law g; a formula drives one with F:

    Q = -lam s_q,      Q = -g s_q,      Q = F s_q
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.elements import MeasureForce, Wrench
from ..model.frame import GROUND, PlacedFrame
from ..numerics.arrays import Floats, Ints, constant
from ..numerics.kernel import kernel
from ..system.applied_forces import (
    MEASURE,
    TARGET,
    TARGET_END,
    evaluate_force,
    force_along,
    grouped,
    turned,
    wrench_values,
)
from ..system.constraints import move
from ..system.frames import EX, EY, term_gradient
from ..system.system import System
from ..system.workspace import once_per_system, refresh

if TYPE_CHECKING:
    from .results import MotionArrays, Results


@kernel(entry=True)
def joint_forces_along(S, w, pairs, T, Q, Qd, Lam, out, drivers):
    """Reactions on bodies over time, and the power -lam^T nu of all that moves in time.

    `pairs` says which entries of `out` the two sides of each term add to.
    """
    for t in range(T.size):
        move(S, T[t], Q[t], Qd[t], w)
        for i in range(Lam.shape[1]):
            drivers[t] -= Lam[t, i] * w.f[i, 1]
            for k in range(S.row_start[i], S.row_start[i + 1]):
                pull = -Lam[t, i] * w.weight[k]
                add_pull(out, t, pairs[k], pull, S.term_kind[k], w.F, S.term_a[k], S.term_b[k])


@kernel(entry=True)
def load_forces_along(S, L, w, pairs, T, Q, Qd, out, s, g):
    """Applied forces on bodies over time; of those along measures, also the first measure and the sum of the laws."""
    F = w.F
    for t in range(T.size):
        move(S, T[t], Q[t], Qd[t], w)
        p = 0
        # forces along measures
        for i in range(L.forces.shape[0]):
            g[i, t] = evaluate_force(L, i, T[t], F, w.scratch)
            s[i, t] = w.scratch.variables[0]
            for target in range(L.forces[i, TARGET], L.forces[i, TARGET_END]):
                m, force = L.targets[target, MEASURE], force_along(L, target, g[i, t], w.scratch.results)
                for k in range(L.measure_start[m], L.measure_start[m + 1]):
                    pull = force * L.term_weight[k]
                    add_pull(out, t, pairs[p], pull, L.term_kind[k], F, L.term_a[k], L.term_b[k])
                    p += 1
        # wrenches
        for i in range(L.wrench_frame.size):
            k = L.wrench_frame[i]
            own_x, own_y, torque = wrench_values(L, i, T[t], Q[t], Qd[t], 3 * S.frame_body[k], w.scratch)
            fx, fy = turned(L.wrench_turning[i], F, k, own_x, own_y)
            out[pairs[p, 0], 0, t] += fx
            out[pairs[p, 0], 1, t] += fy
            out[pairs[p, 0], 2, t] += torque + F[k, EX] * fy - F[k, EY] * fx
            p += 1


@kernel
def add_pull(out, t, pair, pull, kind, F, a, b):
    """pull * s_q onto the two bodies of a measure; -1 is the ground."""
    d = term_gradient(kind, F, a, b)
    if pair[0] >= 0:
        out[pair[0], 0, t] += pull * d[0]
        out[pair[0], 1, t] += pull * d[1]
        out[pair[0], 2, t] += pull * d[2]
    if pair[1] >= 0:
        out[pair[1], 0, t] += pull * d[3]
        out[pair[1], 1, t] += pull * d[4]
        out[pair[1], 2, t] += pull * d[5]


class ActingSides(NamedTuple):
    """Which elements act on which bodies, in the order of the kernels."""

    pairs: Ints
    """The two sides of every term, as pairs of an element and a body; -1 is the ground."""
    number: dict[tuple[str, str], int]
    laws: list[str]
    """The element of each group of forces that are evaluated together, where that is a law; else nothing."""
    loads: frozenset[str]


@once_per_system
def acting_sides(system: System) -> ActingSides:
    groups, owner = grouped(load for _, load in system.loads), {id(load): name for name, load in system.loads}
    number: dict[tuple[str, str], int] = {}
    pair = lambda name, frame: (
        -1 if frame.body == GROUND else number.setdefault((name, frame.body), len(number))
    )
    sides = [(pair(name, a), pair(name, b)) for name, a, b in _sides(system, groups, owner)]
    pairs = np.array(sides, dtype=np.int64).reshape(-1, 2)
    laws = [owner[id(group[0])] if group[0].is_law else "" for group in groups]
    return ActingSides(constant(pairs), number, laws, frozenset(owner.values()))


def _sides(
    system: System, groups: list[list[MeasureForce]], owner: dict[int, str]
) -> Iterator[tuple[str, PlacedFrame, PlacedFrame]]:
    """The element and the two frames of every term."""
    for name, row in system.rows:
        for term in row.measure.terms:
            yield name, term.a, term.b  # type: ignore[misc]
    for group in groups:
        for force in group if group[0].by >= 0 else group[:1]:
            for term in force.measure.terms:
                yield owner[id(force)], term.a, term.b  # type: ignore[misc]
    for name, load in system.loads:
        if isinstance(load, Wrench):
            yield name, load.frame, load.frame


class LoadHistory(NamedTuple):
    """Of loads: (F_x, F_y, torque about the mass center) of each pair, first measure and sum of laws of each group."""

    forces: Floats
    s: Floats
    g: Floats


class ForceHistory:
    """Every force of a motion: what each joint and each force element does to each of its bodies, over time."""

    def __init__(self, system: System, motion: MotionArrays) -> None:
        self.system = system
        self.motion = motion._replace(
            q=motion.q.copy(), qd=motion.qd.copy(), lam=motion.lam.copy(), t=motion.t.copy()
        )
        self.acting = acting_sides(system.named)
        self.number = self.acting.number
        """The place of each pair of an element and a body."""
        self.of_joints = np.zeros((len(self.number), 3, motion.t.size))
        """(F_x, F_y, torque about the mass center) of each pair of a joint and a body."""
        self.driver_power = np.zeros(motion.t.size)
        self._run()

    def _run(self) -> None:
        """The forces of joints; those of loads are found when somebody asks."""
        t, q, qd, _, lam = self.motion
        system, S = self.system, self.system.arrays
        if lam.shape[1]:
            pairs = self.acting.pairs[: S.term_kind.size]
            with system.evaluator() as at:
                refresh(at.w, S)
                joint_forces_along(S, at.w, pairs, t, q, qd, lam, self.of_joints, self.driver_power)

    @cached_property
    def of_loads(self) -> LoadHistory:
        (t, q, qd, *_), system, S = self.motion, self.system, self.system.arrays
        found = LoadHistory(np.zeros_like(self.of_joints), *np.zeros((2, len(self.acting.laws), t.size)))
        if self.acting.loads:
            pairs, L = self.acting.pairs[S.term_kind.size :], system.load_arrays
            with system.evaluator() as at:
                refresh(at.w, S)
                load_forces_along(S, L, at.w, pairs, t, q, qd, *found)
        return found

    def springs(self) -> Iterator[tuple[list[MeasureForce], Floats]]:
        """Forces by laws of one measure, and the measure over time."""
        groups = grouped(load for _, load in self.system.loads)
        measures = zip(groups, self.of_loads.s, strict=True)
        return ((group, s) for group, s in measures if group[0].formula is None)

    def pair(self, name: str, k: int) -> Floats:
        """What an element does to the body of pair k."""
        of_joint = self.of_joints[k]
        return of_joint + self.of_loads.forces[k] if name in self.acting.loads else of_joint

    def is_of(self, system: System, motion: MotionArrays) -> bool:
        """Whether this motion is still the one it was made from: users may write into the arrays of results."""
        mine = self.motion
        return self.system is system and all(
            np.array_equal(getattr(mine, name), getattr(motion, name)) for name in ("t", "q", "qd", "lam")
        )

    def on(self, name: str, body: str) -> Floats:
        """F_x, F_y and torque of an element on a body; about the origin on the ground, else about the mass center."""
        if body != GROUND:
            k = self.number.get((name, body))
            return np.zeros((3, self.motion.t.size)) if k is None else self.pair(name, k)
        total = np.zeros((3, self.motion.t.size))
        for (owner, other), k in self.number.items():  # the opposite of what it does to all bodies
            if owner == name:
                force_x, force_y, torque = self.pair(name, k)
                r_x, r_y = self._coordinates(other)[:2]
                total -= [force_x, force_y, torque + r_x * force_y - r_y * force_x]
        return total

    def applied_power(self) -> Floats:
        """qd^T QA over time."""
        system, qd = self.system, self.motion.qd
        g_x, g_y = system.resolved.gravity
        power = (g_x * qd[:, 0::3] + g_y * qd[:, 1::3]) @ system.arrays.mass
        for (name, body), k in self.number.items():
            if name in self.acting.loads:
                j = 3 * self.column(body)
                power = power + np.sum(self.of_loads.forces[k].T * qd[:, j : j + 3], axis=1)
        return np.asarray(power)

    def law(self, name: str) -> Floats:
        """The sum of the laws g with which an element resists the growth of its measures."""
        mine = [owner == name for owner in self.acting.laws]
        return np.asarray(self.of_loads.g[mine].sum(axis=0))

    def column(self, body: str) -> int:
        return self.system.body_names.index(body)

    def _coordinates(self, body: str) -> Floats:
        j = 3 * self.column(body)
        return self.motion.q[:, j : j + 3].T

    def angle(self, frame: PlacedFrame) -> Floats:
        """phi of a frame over time."""
        turn = 0.0 if frame.body == GROUND else self._coordinates(frame.body)[2]
        return np.full(self.motion.t.size, frame.angle) + turn

    def arm(self, frame: PlacedFrame, body: str) -> tuple[Floats, Floats]:
        """r_P - r over time; r is the mass center of the body, or the origin."""
        x, y = np.full(self.motion.t.size, frame.x), np.full(self.motion.t.size, frame.y)
        if frame.body != GROUND:
            r_x, r_y, phi = self._coordinates(frame.body)
            c, s = np.cos(phi), np.sin(phi)
            x, y = c * x - s * y, s * x + c * y
            if frame.body == body:
                return x, y
            x, y = r_x + x, r_y + y
        if body != GROUND:
            r_x, r_y, _ = self._coordinates(body)
            x, y = x - r_x, y - r_y
        return x, y


def forces_of(results: Results) -> ForceHistory:
    """The forces of results; those of unchanged arrays are found once."""
    motion = results.motion
    known: ForceHistory | None = results.__dict__.get("_forces")
    if known is None or not known.is_of(results.system, motion):
        known = results.__dict__["_forces"] = ForceHistory(results.system, motion)
    return known
