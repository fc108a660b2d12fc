"""What the constraints leave free at a pose: the motions Z with Phi_q Z = 0, and the multipliers of the rest.

One singular value decomposition of Phi_q answers both, whether rows are redundant or not. Angles are scaled to lengths
and rows have norm one, so that ranks do not depend on units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ConvergenceError
from ...numerics.arrays import Floats
from ...numerics.rank import RowSpace, row_space
from ...system.system import System
from ..assembly.closure import coordinate_scale

CLOSED, ROUNDING, MOST_CLOSINGS = 1e-10, 1e-16, 20  # gaps relative to a typical length, and iterations
NEARLY_SINGULAR = 1e-4  # smallest singular value that counts, below which forces in a pose are unreliable
# how much a coordinate must move, relative to the one that moves most, to describe a motion
INDEPENDENT = 0.3


class TangentSpace(NamedTuple):
    """Phi_q at q by scaled coordinates, and what its rows leave free."""

    q: Floats
    scale: Floats
    rows: RowSpace

    @property
    def rank(self) -> int:
        return self.rows.rank

    @property
    def freedom(self) -> int:
        return self.q.size - self.rank

    @property
    def motions(self) -> Floats:
        """Z, n x d: an orthonormal basis in scaled coordinates, in the units of q."""
        return self.scale[:, None] * self.rows.null

    @property
    def nearly_singular(self) -> bool:
        """Some rows are about to become dependent: a dead point or a change point."""
        return bool(self.rank and self.rows.sizes[self.rank - 1] < NEARLY_SINGULAR)

    def multipliers(self, force: Floats) -> Floats:
        """lam of Phi_q^T lam = force, for each column of a matrix."""
        return self.rows.multipliers((self.scale * force.T).T)

    def change(self, Phi: Floats) -> Floats:
        """The smallest dq with Phi_q dq = Phi, or one for each column."""
        return (self.scale * self.rows.smallest_solution(Phi).T).T


def tangent_space(system: System, t: float, q: Floats, rows: NDArray[np.int64] | None = None) -> TangentSpace:
    """At the pose q; optionally of some rows only."""
    J = system.Phi_q(t, q)
    return tangent_space_of(system, t, q, J if rows is None else J[rows])


def tangent_space_of(system: System, t: float, q: Floats, J: Floats) -> TangentSpace:
    """The same of rows that are known."""
    if not np.all(np.isfinite(J)):
        raise ConvergenceError(
            f"at t = {t:g} s the joints have no finite slopes in the pose that was reached."
        )
    scale = coordinate_scale(system)
    return TangentSpace(q, scale, row_space(J * scale))


def closed_near(system: System, t: float, q: Floats) -> TangentSpace | None:
    """The tangent space at the closed pose near q; None if Newton's method does not reach one."""
    before, q = np.inf, np.array(q, dtype=float)
    for _ in range(MOST_CLOSINGS):
        if not np.all(np.isfinite(system.Phi_q(t, q))):
            return None
        space, Phi = tangent_space(system, t, q), system.Phi(t, q)
        gap = float(np.abs(Phi / space.rows.norms).max(initial=0.0))
        if gap <= ROUNDING * system.length or 0.5 * before <= gap <= CLOSED * system.length:
            return space
        if not gap < 1e3 * before:
            return None
        before, q = gap, q - space.change(Phi)
    return None


def named_motions(
    system: System, space: TangentSpace, wanted: list[int] | None = None
) -> tuple[Floats, list[int]]:
    """Z with independent coordinates: Z[chosen] = 1. They are the `wanted` ones, or those that move most."""
    chosen = list(wanted) if wanted is not None else _pivots(space.rows.null)
    Z = space.motions @ np.linalg.inv(space.motions[chosen])
    Z[np.abs(Z / space.scale[:, None]) < 1e-14 * np.abs(Z / space.scale[:, None]).max(initial=0.0)] = 0.0
    Z[chosen] = np.eye(len(chosen))
    return Z, chosen


def _pivots(null: Floats) -> list[int]:
    """Rows of a basis that are independent enough; angles first, then the bodies in order."""
    rest, chosen = null.copy(), []
    for _ in range(null.shape[1]):
        sizes = np.linalg.norm(rest, axis=1)
        good = np.flatnonzero(sizes > INDEPENDENT * sizes.max())
        pivot = int(min(good, key=lambda i: (i % 3 != 2, i)))
        chosen.append(pivot)
        direction = rest[pivot] / sizes[pivot]
        rest = rest - np.outer(rest @ direction, direction)
    return sorted(chosen)
