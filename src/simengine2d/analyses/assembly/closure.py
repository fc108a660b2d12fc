"""Close the loops: q with Phi(q, t) = 0 near a rough guess, by damped Gauss-Newton with smallest corrections."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.rank import Matrix, times_rows, unit_rows
from ...system.system import System
from .projection import scaled_jacobian, smallest_change

Floats = NDArray[np.float64]

MOST_ITERATIONS = 200
PATIENCE = 12  # iterations within which the gaps must decrease clearly
LARGEST_TURN = 0.5  # rad in one iteration: beyond it a linear model of a rotation is useless
DAMPING = (1e-10, 1e-4, 1e-2, 1e0)


class Closure(NamedTuple):
    """The result of the iteration. `gaps` are the rows' errors as lengths."""

    q: Floats
    gaps: Floats
    closed: bool
    iterations: int


def coordinate_scale(system: System) -> Floats:
    """Scale of each coordinate such that scaled coordinates are all lengths: (1, 1, 1 / arm) for each body."""
    return system.sizes / np.repeat(system.arms, 3)


def close(system: System, t: float, q: Floats, weights: Floats | None = None) -> Closure:
    """Iterate from q until the weighted rows vanish or no step helps."""
    weights = np.ones(system.m) if weights is None else weights.copy()
    weights[system.velocity_rows] = 0.0  # they do not constrain positions
    used = weights > 0.0
    scale = coordinate_scale(system)
    q = q.copy()
    gaps, J = _gaps(system, t, q, scale)
    sizes: list[float] = []
    for iteration in range(MOST_ITERATIONS):
        sizes.append(_largest(gaps[used]))
        closed = sizes[-1] <= 1e-9 * system.length
        # iterate until rounding stops further progress
        slowed = iteration > 0 and sizes[-1] >= 0.9 * sizes[-2]
        if closed and (slowed or sizes[-1] <= 1e-15 * _span(system, q)):
            return Closure(q, gaps, True, iteration)
        if not closed and iteration >= PATIENCE and sizes[-1] > 0.98 * sizes[-1 - PATIENCE]:
            return Closure(q, gaps, False, iteration)
        better = _improve(system, t, q, gaps, J, weights, scale)
        if better is None:
            return Closure(q, gaps, closed, iteration)
        q, gaps, J = better
    return Closure(q, gaps, closed, MOST_ITERATIONS)


def _improve(
    system: System, t: float, q: Floats, gaps: Floats, J: Matrix, weights: Floats, scale: Floats
) -> tuple[Floats, Floats, Matrix] | None:
    """One step that reduces the weighted gaps, or None. Tries stronger damping, then shorter steps."""
    error = np.linalg.norm(weights * gaps)
    weighted = times_rows(weights, J) if np.any(weights != 1.0) else J
    for damping in DAMPING:
        step = scale * smallest_change(weighted, -weights * gaps, np.ones(system.n), damping)
        turn = _largest(step[2::3])
        reach = _largest(step / scale)
        factor = min(
            1.0, LARGEST_TURN / turn if turn else 1.0, 2.0 * _span(system, q) / reach if reach else 1.0
        )
        for _ in range(6):
            trial = q + factor * step
            new_gaps, new_J = _gaps(system, t, trial, scale)
            if np.linalg.norm(weights * new_gaps) < (1.0 - 1e-3 * factor) * error:
                return trial, new_gaps, new_J
            factor *= 0.5
    return None


def _gaps(system: System, t: float, q: Floats, scale: Floats) -> tuple[Floats, Matrix]:
    """Errors of the rows as lengths, and their Jacobian in scaled coordinates, rows of norm one."""
    J, norms = unit_rows(scaled_jacobian(system, t, q, scale))
    return system.Phi(t, q) / norms, J


def _span(system: System, q: Floats) -> float:
    """The extent of the mechanism."""
    return system.length + float(np.ptp(np.concatenate([q[0::3], q[1::3], [0.0]])))


def _largest(values: Floats) -> float:
    return float(np.max(np.abs(values))) if values.size else 0.0
