"""The search for the parameters: SciPy's least squares, from one start or from several.

Where a trial does not run, its residuals are nan, and the trust region shrinks: the search turns back from it. Where
the noise is not known, it is estimated from what remains, and the search goes on with the new weights until they stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from ..sweep.samples import LatinHypercube
from .gradients import VANISHING, model_jacobian
from .losses import CONSTANTS, constant_of
from .noise import Noise, estimated
from .problem import FitProblem

TOLERANCE = 1e-10
CLOSE = 1e-8  # relative change of the parameters
MOST_TRIALS = 50  # of one search
ROUNDS = 8  # of weights
SLACK = 1e-3
"""What the data leave free stays near the start, as if that were known with this inverse relative error."""
AROUND = 5.0  # how far starts without bounds are from the given one, as a factor
SCREENED = 10  # samples for each further start
FEW = 4  # further starts, where the first has missed
MISSED, FOLLOWING = 0.1, 0.5
"""A fit has missed where the residuals are large, as a part of the spread, and each is like the one before."""


@dataclass(frozen=True)
class Minimum:
    """Where a search ended."""

    x: Floats
    cost: float
    J: Floats
    """d model / d x there."""
    difference: Floats
    """Model less data."""
    noise: Noise
    converged: bool
    starts: int = 1

    def missed(self, problem: FitProblem) -> bool:
        """Whether what remains is no noise, and not small."""
        return any(
            np.std(problem.of_channel(name, self.difference)) > MISSED * problem.spread(name)
            and following(problem, self.difference, name) > FOLLOWING
            for name in problem.channels
        )


def searched(problem: FitProblem, noise: Noise, loss: str, starts: int | None, seed: int) -> Minimum:
    """The best minimum of all starts; where none are asked for, further ones only if the first has missed."""
    x = np.array([each.start for each in problem.unknowns])
    problem.first(x)
    best = minimum(problem, x, noise, loss)
    further = starts - 1 if starts is not None else FEW if best.missed(problem) else 0
    others = [minimum(problem, at, noise, loss) for at in _further(problem, noise, loss, further, seed)]
    best = min([best, *others], key=lambda each: _score(problem, each))
    return replace(best, starts=1 + len(others))


def _score(problem: FitProblem, found: Minimum) -> float:
    """Compares minima of different weights: sum n_j log sigma_j, where these are estimated."""
    if found.noise.kind != "estimated":
        return found.cost
    sizes = {name: problem.of_channel(name, found.difference) for name in problem.channels}
    return float(sum(r.size * np.log(np.linalg.norm(r) + 1e-300) for r in sizes.values()))


def minimum(problem: FitProblem, x: Floats, noise: Noise, loss: str) -> Minimum:
    """From one start; the weights of several channels follow from what remains."""
    for _ in range(ROUNDS):
        found = _minimized(problem, x, noise, loss)
        if noise.kind != "estimated":
            return found
        again = estimated(problem, found.difference, found.J, noise.rows(problem), loss != "linear")
        settled = again.is_like(noise) or (loss == "linear" and len(problem.channels) == 1)
        noise, x = again, found.x
        if settled:
            break
    return replace(found, noise=noise)


def _minimized(problem: FitProblem, x: Floats, noise: Noise, loss: str) -> Minimum:
    from scipy.optimize import least_squares

    sigma, begin = noise.rows(problem), np.array([each.start for each in problem.unknowns])
    slack = SLACK / problem.sizes(begin)
    last: list[Any] = [None, None]

    def residuals(at: Floats) -> Floats:
        return np.append((problem.try_predicted(at) - problem.data) / sigma, slack * (at - begin))

    def jacobian(at: Floats) -> Floats:
        last[:] = at.copy(), model_jacobian(problem, at)
        return np.vstack([without_null(last[1] / sigma[:, None]), np.diag(slack)])

    found = least_squares(
        residuals, x, jacobian, (problem.low, problem.high), x_scale="jac", loss=loss, f_scale=CONSTANTS[loss],
        ftol=TOLERANCE, xtol=CLOSE, gtol=TOLERANCE, max_nfev=MOST_TRIALS,
    )  # fmt: skip
    if not np.array_equal(last[0], found.x):
        jacobian(found.x)
    difference = problem.predicted(found.x) - problem.data
    return Minimum(found.x, float(found.cost), last[1], difference, noise, bool(found.success))


def without_null(J: Floats) -> Floats:
    """J without what is only rounding in the directions that the data do not determine: no step leads there."""
    lengths = np.linalg.norm(J, axis=0)
    U, s, Vt = np.linalg.svd(J / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
    kept = s > VANISHING * s[0]
    return (U[:, kept] * s[kept]) @ Vt[kept] * lengths if not kept.all() else J


def following(problem: FitProblem, difference: Floats, channel: str) -> float:
    """The correlation of each residual of a channel with the next; that of noise is near 0."""
    above = below = 0.0
    for block in problem.blocks:
        r = difference[block.rows]
        if block.channel == channel and r.size > 2:
            above, below = above + float(r[1:] @ r[:-1]), below + float(r @ r)
    return above / below if below > 0.0 else 0.0


def _further(problem: FitProblem, noise: Noise, loss: str, count: int, seed: int) -> list[Floats]:
    """The best of some samples within the bounds, or around the start."""
    if count < 1:
        return []
    constant_of(loss)
    points = LatinHypercube(SCREENED * count, seed).points(len(problem.unknowns))
    samples = np.column_stack([_placed(problem, k, points[:, k]) for k in range(points.shape[1])])
    sigma = noise.rows(problem)
    costs = [np.linalg.norm((problem.try_predicted(at) - problem.data) / sigma) for at in samples]
    order = [i for i in np.argsort(costs).tolist() if isfinite(costs[i])]
    return [samples[i] for i in order[:count]]


def _placed(problem: FitProblem, k: int, u: Floats) -> Floats:
    """Numbers between 0 and 1 as values of an unknown: evenly in its logarithm, where it keeps its sign."""
    each = problem.unknowns[k]
    low, high = each.low, each.high
    if not isfinite(low):
        low = each.start / AROUND if each.start > 0.0 else each.start - AROUND * each.size
    if not isfinite(high):
        high = each.start * AROUND if each.start > 0.0 else each.start + AROUND * each.size
    if low > 0.0:
        return low * (high / low) ** u  # type: ignore[no-any-return]
    return low + (high - low) * u
