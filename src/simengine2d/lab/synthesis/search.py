"""Multi-start search: many random starts, the promising ones followed by Gauss-Newton steps within their limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...numerics.arrays import Floats

SCREENED = 20  # random points for each start, of which the best is taken
FIRST, LAST = 60, 400  # evaluations of a start, and of those that are followed to the end
FOLLOWED = 6
MET = 1e-8  # sum of squared residuals of a start that will meet its target

Progress = Callable[[int, int], None]


class LeastSquaresProblem(Protocol):
    """Residuals of unknowns between bounds."""

    @property
    def bounds(self) -> tuple[Floats, Floats]: ...

    def random_start(self, rng: np.random.Generator) -> Floats: ...

    def residuals(self, x: Any) -> Any: ...

    def jacobian(self, x: Floats) -> tuple[Floats, Floats]: ...


def best_points(
    problem: LeastSquaresProblem, starts: int, rng: np.random.Generator, done: Callable[[], None]
) -> list[tuple[float, Floats]]:
    """Local optima, the best first, each with its sum of squares."""
    tried = []
    for _ in range(starts):
        tried.append(descend(problem, screened(problem, rng), FIRST))
        done()
        if sum(cost < MET for cost, _ in tried) >= FOLLOWED:
            break
    tried.sort(key=lambda each: each[0])
    followed = [descend(problem, x, LAST) for _, x in tried[:FOLLOWED]]
    return sorted(followed, key=lambda each: each[0])


def screened(problem: LeastSquaresProblem, rng: np.random.Generator) -> Floats:
    """The best of some random points."""
    points = np.array([problem.random_start(rng) for _ in range(SCREENED)])
    cost = (problem.residuals(points.T) ** 2).sum(axis=0)
    return points[int(np.argmin(np.nan_to_num(cost, nan=np.inf)))]


def descend(problem: LeastSquaresProblem, x: Floats, most: int) -> tuple[float, Floats]:
    """A local optimum by SciPy's trust-region reflective least squares, and its sum of squares."""
    from scipy.optimize import least_squares

    low, high = problem.bounds
    inside = np.clip(x, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
    try:
        found = least_squares(
            problem.residuals,
            inside,
            jac=lambda z: problem.jacobian(z)[1],
            bounds=(low, high),
            x_scale=high - low,
            max_nfev=most,
            xtol=1e-14,
            ftol=1e-14,
            gtol=None,
        )
    except ValueError:  # residuals that are not finite at the start
        return np.inf, inside
    return 2.0 * float(found.cost), found.x
