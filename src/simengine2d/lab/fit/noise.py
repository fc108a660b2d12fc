"""The noise of the data: known, known but for a common factor, or estimated for each channel from what remains.

    sigma_j^2 = sum_i r_ij^2 / nu_j,    nu_j = n_j - sum_i h_ii,    H = J (J^T J)^-1 J^T

nu_j are the degrees of freedom of channel j: its data less its share h_ii in the parameters, so that all nu_j add up to
those of the fit. Where a loss gives way to outliers, the median of |r| takes the place of the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ...errors import ModelError, unknown
from ...expressions.evaluate import number
from ...numerics.arrays import Floats
from .problem import FitProblem

Sizes: TypeAlias = Mapping[str, Any] | float | str | None

TO_SIGMA = 1.4826  # of the median of |r|, where the noise is normal
LEAST = 1e-10  # of the spread of a channel
CLOSE = 1e-3


@dataclass(frozen=True)
class Noise:
    """Standard deviations by channel; what is known of them."""

    kind: Literal["known", "weights", "estimated"]
    sigma: dict[str, float]

    def rows(self, problem: FitProblem) -> Floats:
        return problem.per_value(self.sigma)

    def is_like(self, other: Noise) -> bool:
        return all(abs(self.sigma[name] / other.sigma[name] - 1.0) < CLOSE for name in self.sigma)


def noise_of(problem: FitProblem, noise: Sizes, weights: Sizes) -> Noise:
    """What is said of the noise; where nothing is, a first guess."""
    if noise is not None and weights is not None:
        raise ModelError(
            "give noise, the standard deviations of the channels, or weights, their relative importance, not both."
        )
    if noise is not None:
        return Noise("known", _by_channel(problem, noise, "noise"))
    if weights is not None:
        given = _by_channel(problem, weights, "weights")
        return Noise("weights", {name: 1.0 / weight for name, weight in given.items()})
    return Noise("estimated", {name: 0.01 * problem.spread(name) for name in problem.channels})


def _by_channel(problem: FitProblem, given: Sizes, what: str) -> dict[str, float]:
    """Positive numbers, one for each channel."""
    if not isinstance(given, Mapping):
        given = dict.fromkeys(problem.channels, given)
    for name in given:
        if name not in problem.channels:
            raise ModelError(
                f"{what}: '{name}' is not a channel of the data. {unknown('channel', str(name), problem.channels)}"
            )
    sizes = {}
    for name in problem.channels:
        if name not in given:
            raise ModelError(f"{what} is missing for the channel '{name}'; give it for all, or for none.")
        try:
            sizes[name] = number(given[name])
        except ModelError as error:
            raise ModelError(f"{what} of '{name}': {error}") from None
        if not 0.0 < sizes[name] < np.inf:
            raise ModelError(f"{what} of '{name}' = {sizes[name]:g} must be a positive number.")
    return sizes


def estimated(problem: FitProblem, difference: Floats, J: Floats, sigma: Floats, robust: bool) -> Noise:
    """From what remains between model and data, `difference`, and the Jacobian of it."""
    shares = leverages(J / sigma[:, None])
    sizes = {}
    for name in problem.channels:
        r, share = problem.of_channel(name, difference), problem.of_channel(name, shares)
        left = max(r.size - float(share.sum()), 1e-9)
        size = (
            TO_SIGMA * float(np.median(np.abs(r))) if robust else float(np.linalg.norm(r)) / np.sqrt(r.size)
        )
        sizes[name] = max(size * float(np.sqrt(r.size / left)), LEAST * problem.spread(name))
    return Noise("estimated", sizes)


def leverages(J: Floats) -> Floats:
    """h_ii: how much each value counts in the parameters."""
    lengths = np.linalg.norm(J, axis=0)
    U, s, _ = np.linalg.svd(J / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
    kept: Floats = U[:, s > 1e-10 * max(s[0], 1e-300)]
    return np.einsum("ij,ij->i", kept, kept)
