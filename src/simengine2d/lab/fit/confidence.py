"""How far the parameters can be trusted: covariance, intervals, correlation.

    C = s^2 (J^T J)^-1        x_k +- t sqrt(C_kk)        J in standard deviations of the data

s^2 = 1 where the noise is known, else the residuals' own, with N - p degrees of freedom; t is the quantile of Student's
distribution. Where the noise of several channels is estimated, so are their weights (`of_estimated_weights`).
This is the linear theory: it holds for noise that is independent from value to value, and for intervals over which the
model is nearly linear in its parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Bools, Floats
from .losses import psi
from .problem import FitProblem
from .search import Minimum

LOOSE = 1e-3  # part in a free direction beyond which an unknown is not determined
AT_BOUND = 1e-6  # of the range of an unknown
LEAST = 1e-9  # degrees of freedom of a channel


@dataclass(frozen=True)
class Confidence:
    """Standard errors, intervals and correlation; not finite for what the data do not determine."""

    errors: Floats
    half_widths: Floats
    correlation: Floats
    freedom: int
    """Values less parameters."""
    scale: float
    """The residuals' standard deviation, in those of the noise."""


def confidence_of(
    problem: FitProblem, found: Minimum, null: Floats, held: Bools, level: float, loss: str
) -> Confidence:
    """`null` are the free directions, a column each; `held` says which unknowns are at a bound."""
    from scipy import stats

    sigma = found.noise.rows(problem)
    r = found.difference / sigma
    freedom = r.size - (len(problem.unknowns) - null.shape[1] - int(held.sum()))
    known = found.noise.kind == "known"
    J = found.J / sigma[:, None]
    C = spread_of(J, null, held)
    freedoms = np.full(held.size, float(max(freedom, 1)))
    if found.noise.kind == "estimated" and freedom > 0:
        C, freedoms = of_estimated_weights(
            C, [problem.of_channel(name, J) for name in problem.channels], held
        )
    lengths = np.sqrt(np.diag(C))
    loose = np.any(np.abs(null) > LOOSE, axis=1)
    errors = np.where(loose, np.inf, lengths * np.sqrt(_variance(r, freedom, loss, known)))
    t = stats.norm.ppf(0.5 + level / 2) if known else stats.t.ppf(0.5 + level / 2, freedoms)
    products = np.outer(lengths, lengths)
    correlation = np.divide(C, products, out=np.eye(lengths.size), where=products > 0.0)
    correlation[loose, :] = correlation[:, loose] = np.nan
    scale = float(np.sqrt(r @ r / freedom)) if freedom > 0 else np.nan
    return Confidence(errors, t * errors, correlation, freedom, scale)


def of_estimated_weights(C: Floats, parts: Sequence[Floats], held: Bools) -> tuple[Floats, Floats]:
    """C and the degrees of freedom of each unknown, where each channel's weight is from its own nu_j residuals.

        C' = C + 2 C [ sum_j 2/nu_j (A_j - A_j C A_j) ] C        A_j = J_j^T J_j,  sum_j A_j = C^-1
        1/nu_k = sum_j w_jk^2 / nu_j                             w_jk = (C A_j C)_kk / C_kk

    `parts` are the J_j, a channel each. What is added is what C lacks: the errors that wrong weights make, and that C
    comes out too small on average (M. G. Kenward, J. H. Roger, Small sample inference for fixed effects from restricted
    maximum likelihood, Biometrics 53 (1997) 983-997); nu_k is Satterthwaite's. Of one channel C' = C and nu_k = nu.
    """
    used = np.ix_(~held, ~held)
    K = C[used]
    A = [J[:, ~held].T @ J[:, ~held] for J in parts]
    nu = [max(len(J) - float(np.sum(K * each)), LEAST) for J, each in zip(parts, A, strict=True)]
    lacking = sum(2.0 / n * (each - each @ K @ each) for n, each in zip(nu, A, strict=True))
    sizes = np.where(np.diag(K) > 0.0, np.diag(K), np.inf)
    shares = np.array([np.diag(K @ each @ K) / sizes for each in A])
    wider, freedoms = C.copy(), np.ones(held.size)
    wider[used] = K + 2.0 * K @ lacking @ K
    freedoms[~held] = 1.0 / np.maximum(np.sum(shares**2 / np.array(nu)[:, None], axis=0), 1.0 / sum(nu))
    return wider, freedoms


def _variance(r: Floats, freedom: int, loss: str, known: bool) -> float:
    """s^2; of losses, s^2 = mean(psi^2) / mean(psi')^2 (Huber)."""
    if loss == "linear":
        return 1.0 if known else float(r @ r / freedom) if freedom > 0 else np.inf
    force, slope = psi(loss, r)
    return float(np.mean(force**2) / np.mean(slope) ** 2 * r.size / freedom) if freedom > 0 else np.inf


def spread_of(J: Floats, null: Floats, held: Bools) -> Floats:
    """(J^T J)^-1 of the unknowns that are determined; nan at bounds."""
    lengths = np.linalg.norm(J, axis=0)
    sizes, used = np.where(lengths > 0.0, lengths, 1.0), ~held
    C = np.full((J.shape[1],) * 2, np.nan)
    C[np.ix_(used, used)] = _pseudo_inverse(J[:, used] / sizes[used], null.shape[1])
    return C / np.outer(sizes, sizes)


def _pseudo_inverse(J: Floats, loose: int) -> Floats:
    """(J^T J)^+ without the `loose` smallest singular values."""
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    kept = s.size - loose
    V: Floats = Vt[:kept].T / s[:kept]
    return V @ V.T


def at_bounds(problem: FitProblem, x: Floats) -> Bools:
    """Which unknowns lie at a bound."""
    span = np.where(
        np.isfinite(problem.high - problem.low), problem.high - problem.low, np.maximum(np.abs(x), 1.0)
    )
    return (x - problem.low <= AT_BOUND * span) | (problem.high - x <= AT_BOUND * span)
