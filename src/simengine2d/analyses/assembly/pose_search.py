"""The search for all poses in which a mechanism closes: by mirroring dyads, and by least squares from random poses."""

from __future__ import annotations

from math import pi

import numpy as np

from ...errors import UnsupportedError
from ...expressions.function import as_function
from ...numerics.arrays import Floats
from ...numerics.rank import row_space
from ...system.constraints import evaluate
from ...system.system import System
from ...system.workspace import new_workspace
from .closure import close, coordinate_scale
from .dyads import Dyads

SAME = 1e-6  # rad or lengths: poses closer than this are the same
# random starts without anything new after which the search ends: initially, more for each pose, and at most
FIRST_STARTS, STARTS_EACH, MOST_STARTS = 40, 30, 1000
MOST_SINGULAR = 4  # poses that can still move: where points coincide there are infinitely many of them


class HeldSystem:
    """The system with every function of time held at its value at t, except for one row that may be driven."""

    def __init__(self, system: System, t: float) -> None:
        if any(system.rows[i][1].formula is not None for i in system.moving_rows):
            raise UnsupportedError("assembly_modes cannot hold a Constraint that depends on time.")
        self.system, self.t = system, t
        self.values = system.functions_at(t)[:, 0]
        self.scale = coordinate_scale(system)
        self.hold()

    def hold(self, row: int | None = None, sign: float = 1.0) -> System:
        """Constants, and value + sign t in one row."""
        functions = [
            as_function(f"{value!r} {'+' if sign > 0.0 else '-'} t" if i == row else value)
            for i, value in enumerate(self.values.tolist())
        ]
        self.system = self.system.with_functions(functions)
        self.work, self.still = new_workspace(self.system.arrays), np.zeros(self.system.n)
        self.last = np.empty(0), np.empty(0), np.empty((0, 0))
        self.rows = np.repeat(np.arange(self.system.m), np.diff(self.system.arrays.jac_start))
        return self.system

    def evaluated(self, q: Floats) -> tuple[Floats, Floats]:
        """Phi, and Phi_q in scaled coordinates; one pose is often asked for several times in a row."""
        if not np.array_equal(q, self.last[0]):
            S, w, Phi, J = (
                self.system.arrays,
                self.work,
                np.empty(self.system.m),
                np.zeros((self.system.m, q.size)),
            )
            evaluate(S, 0.0, q, self.still, w, Phi, w.row)
            J[self.rows, S.jac_column] = w.data
            self.last = q.copy(), Phi, J * self.scale
        return self.last[1:]

    def gaps(self, q: Floats) -> tuple[Floats, Floats]:
        """Errors of the rows as lengths, and their Jacobian in scaled coordinates."""
        Phi, J = self.evaluated(q)
        norms = np.sqrt(np.einsum("ij,ij->i", J, J))
        norms[norms == 0.0] = 1.0
        return Phi / norms, J / norms[:, None]

    def closed(self, q: Floats) -> Floats | None:
        """The closed pose that damped least squares reach from q, or None.

        (J^T J + damping I) dq = -J^T Phi
        """
        length, damping = self.system.length, 1e-3
        gaps, J = self.gaps(q)
        error = float(gaps @ gaps)
        for _ in range(60):
            if error <= (1e-7 * length) ** 2:
                return self.polished(q)
            step = -np.linalg.solve(J.T @ J + damping * np.eye(q.size), J.T @ gaps)
            step *= min(1.0, length / (float(np.abs(step).max()) or 1.0))
            trial = q + self.scale * step
            new_gaps, new_J = self.gaps(trial)
            new = float(new_gaps @ new_gaps)
            if new < error:
                q, gaps, J, error, damping = trial, new_gaps, new_J, new, max(0.1 * damping, 1e-12)
            else:
                damping *= 10.0
                if damping > 1e6:
                    return None
        return None

    def polished(self, q: Floats) -> Floats | None:
        closure = close(self.system, 0.0, q)
        return closure.q if closure.closed else None


class PoseSearch:
    """The poses found so far, and the search for more."""

    def __init__(self, held: HeldSystem, first: Floats, seed: int) -> None:
        self.held, self.poses, self.starts = held, [first], 0
        self.singular = 0
        self.dyads = Dyads(held.system, first)
        self.random = np.random.default_rng(seed)
        index = {body.name: i for i, body in enumerate(held.system.bodies)}
        self.guides = [
            (index.get(term.a.body, -1), index.get(term.b.body, -1))  # type: ignore[union-attr]
            for _, row in held.system.rows
            for term in row.measure.terms
            if term.kind == "misalignment"
        ]

    def run(self) -> None:
        known = 0
        self.mirror(known)
        quiet = 0
        while quiet < FIRST_STARTS + STARTS_EACH * len(self.poses) and self.starts < MOST_STARTS:
            known = len(self.poses)
            self.starts += 1
            self.take(self.held.closed(self.random_pose()))
            self.mirror(known)
            quiet = 0 if len(self.poses) > known else quiet + 1

    def mirror(self, first: int) -> None:
        """Mirror every dyad of every pose from `first` on, including poses found on the way."""
        i = first
        while i < len(self.poses):
            for q in self.dyads.mirrored(self.poses[i]):
                self.take(self.held.closed(q))
            i += 1

    def take(self, q: Floats | None) -> None:
        """Add a pose if it is new. Full turns make no difference if the joints allow them."""
        if q is None:
            return
        nearest = q.copy()
        nearest[2::3] -= 2 * pi * np.round((q[2::3] - self.poses[0][2::3]) / (2 * pi))
        if np.abs(self.held.gaps(nearest)[0]).max(initial=0.0) > 1e-9 * self.held.system.length:
            nearest = q
        if not self.is_reversed(nearest) and all(self.distance(nearest, p) > SAME for p in self.poses):
            is_singular = self.is_singular(nearest)
            self.singular += is_singular
            if not is_singular or self.singular <= MOST_SINGULAR:
                self.poses.append(nearest)

    def is_singular(self, q: Floats) -> bool:
        """Whether bodies can move although all functions of time are held."""
        return row_space(self.held.gaps(q)[1]).rank < q.size

    def is_reversed(self, q: Floats) -> bool:
        """Whether a slider is turned by 180 degrees, which the equations allow but a real guide does not."""
        turns = (q - self.poses[0]).reshape(-1, 3)[:, 2]
        turns = np.append(turns, 0.0)  # the ground
        return any(np.cos(turns[b] - turns[a]) < 0.0 for a, b in self.guides)

    def distance(self, a: Floats, b: Floats) -> float:
        change = a - b
        change[2::3] = 2.0 * np.sin(0.5 * change[2::3])
        return float(np.abs(change / self.held.system.sizes).max())

    def random_pose(self) -> Floats:
        q = self.poses[self.random.integers(len(self.poses))].copy()
        q += self.held.system.sizes * self.random.standard_normal(q.size)
        q[2::3] = self.random.uniform(-pi, pi, q.size // 3)
        return q
