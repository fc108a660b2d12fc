"""The branches that meet at a change point, by their velocities.

At the singular pose J = Phi_q has null vectors V and left null vectors W. The velocities of all branches are

    qd = J^+ nu + V a      with      W^T gamma(q, qd) = 0,

one quadratic equation in a for a simple change point. They identify the branches that were not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.rank import row_space
from .change_point import LARGEST_DENSE, SmoothPassage, size_of

if TYPE_CHECKING:
    from .run import KinematicsRun

NEAR_THE_POSE = 1e-7  # singular value of rows that are dependent in a pose, near it
MOST_LOOPS = 3  # loops that are singular at once, up to which the branches are counted


def other_velocities(run: KinematicsRun, crossing: SmoothPassage, s: float) -> list[Floats]:
    """Derivatives of q with respect to the clock on the other branches through the singular pose at s.

    W^T gamma(q, J^+ nu + V a) = 0, quadratic in a.
    """
    state = crossing.by_clock(s)
    if run.system.n > LARGEST_DENSE:
        return []
    space = row_space(crossing.clock.right_sides(*state[:3])[1] * run.scale, NEAR_THE_POSE)
    if not 0 < run.system.n - space.rank <= MOST_LOOPS:
        return []
    null = run.scale[:, None] * space.null * size_of(run, state.qd)
    weights = (space.idle / space.norms[:, None]).T
    error = lambda a: weights @ crossing.clock.right_sides(s, state.q, state.qd + null @ a)[3]
    return [state.qd + null @ a for a in _roots_beside_zero(error, null.shape[1])]


def _roots_beside_zero(error: Callable[[Floats], Floats], k: int) -> list[Floats]:
    """Roots a != 0 of quadratic equations that have the root 0."""
    if k == 1:  # c2 a^2 + c1 a = 0 for every left null vector
        up, down = error(np.ones(1)), error(-np.ones(1))
        c2, c1 = 0.5 * (up + down), 0.5 * (up - down)
        size = float(c2 @ c2)
        if size <= 1e-18 * float(c1 @ c1):
            return []
        a = -float(c1 @ c2) / size
        agrees = np.linalg.norm(c2 * a + c1) <= 1e-5 * (np.linalg.norm(c1) + np.linalg.norm(c2))
        return [np.array([a])] if agrees and abs(a) > 1e-7 else []
    return _roots_by_newton(error, k)


def _roots_by_newton(error: Callable[[Floats], Floats], k: int) -> list[Floats]:
    """The roots of k quadratic equations in k unknowns, from many starts.

    Loops that are singular at once change their branches almost independently, so sums of roots are good starts too.
    """
    random = np.random.default_rng(0)
    unit = max(float(np.linalg.norm(error(a))) for a in np.eye(k)) or 1.0
    roots: list[Floats] = []

    def search(starts: Iterable[Floats]) -> None:
        for start in starts:
            a = _newton(error, start)
            new = all(np.linalg.norm(a - b) > 1e-5 * (1.0 + np.linalg.norm(b)) for b in [np.zeros(k), *roots])
            if new and np.linalg.norm(error(a)) <= 1e-8 * unit * (1.0 + float(a @ a)):
                roots.append(a)

    search(random.standard_normal(k) * 10 ** random.uniform(-1, 1) for _ in range(16 * k))
    search([np.sum(some, axis=0) for count in range(2, k + 1) for some in combinations(roots, count)])
    return roots


def _newton(error: Callable[[Floats], Floats], a: Floats) -> Floats:
    """Newton's iteration, with derivatives by differences, which are exact for quadratic equations."""
    for _ in range(30):
        J = np.column_stack([(error(a + e) - error(a - e)) / 2 for e in np.eye(a.size)])
        a = a - np.linalg.lstsq(J, error(a), rcond=None)[0]
    return a
