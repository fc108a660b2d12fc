"""What `solve` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Floats

FINISHED, TERMINATED, FAILED = 0, 1, -1
# Chebyshev points in [0, 1], dense enough for every dense output, with their barycentric weights
_POINTS = 0.5 - 0.5 * np.cos(np.pi * np.arange(9) / 8)
_WEIGHTS = np.array([0.5, -1, 1, -1, 1, -1, 1, -1, 0.5])


class Interpolant:
    """y(t) between the ends of an integration: a polynomial for each step."""

    def __init__(self, ends: Floats, values: Floats) -> None:
        self.ends = ends  # (steps + 1,), rising or falling
        self.values = values  # (steps, points, n)

    def __call__(self, t: float | Floats) -> Floats:
        """y at a time, (n,), or at several, (n, len(t)); outside the span the nearest polynomial is extrapolated."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        y = np.array([self._at(time) for time in times]).T
        return y[:, 0] if np.ndim(t) == 0 else y

    def _at(self, t: float) -> Floats:
        sense = 1.0 if self.ends[-1] >= self.ends[0] else -1.0
        step = int(np.searchsorted(sense * self.ends, sense * t, side="right")) - 1
        step = min(max(step, 0), len(self.values) - 1)
        a, b = self.ends[step], self.ends[step + 1]
        away = (t - a) / (b - a) - _POINTS
        hit = np.flatnonzero(away == 0.0)
        if hit.size:
            return np.array(self.values[step, hit[0]])
        shares = _WEIGHTS / away
        return np.asarray(shares @ self.values[step] / shares.sum())


def points_between(a: float, b: float) -> Floats:
    """Times at which a step is sampled."""
    points = a + (b - a) * _POINTS
    points[-1] = b
    return points


@dataclass
class Solution:
    """As SciPy returns it: y has one column for each entry of t."""

    t: Floats
    y: Floats
    method: str
    success: bool
    status: int
    """0: the end was reached; 1: an event ended it; -1: it failed."""
    message: str
    nfev: int
    njev: int
    nlu: int
    steps: int
    rejected: int
    t_events: list[Floats] | None = None
    y_events: list[Floats] | None = None
    sol: Interpolant | None = None
