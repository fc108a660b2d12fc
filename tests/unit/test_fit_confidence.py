"""Intervals where the noise of several channels is estimated: their weights are uncertain too."""

from __future__ import annotations

import numpy as np
from scipy import stats

from simengine2d.lab.fit.confidence import of_estimated_weights

COUNT, CHANNELS, VALUES, ROUNDS = 4000, 5, 10, 20


def straight_lines() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fits of y_j = a + b x + noise, whose size is estimated for each of five channels; a = b = 0.

    What is found, C, and the J_j in standard deviations, of each repetition.
    """
    x = np.linspace(-1, 1, VALUES)
    J = np.column_stack([np.ones_like(x), x])
    y = np.random.default_rng(0).standard_normal((COUNT, CHANNELS, VALUES))
    weights = np.ones((COUNT, CHANNELS))
    for _ in range(ROUNDS):
        C = np.linalg.inv(weights.sum(axis=1)[:, None, None] * (J.T @ J))
        found = np.einsum("cpq,qc->cp", C, J.T @ np.einsum("cj,cjn->nc", weights, y))
        nu = VALUES - weights * np.einsum("cpq,qp->c", C, J.T @ J)[:, None]
        weights = nu / np.sum((y - (found @ J.T)[:, None]) ** 2, axis=2)
    C = np.linalg.inv(weights.sum(axis=1)[:, None, None] * (J.T @ J))
    return found, C, np.sqrt(weights)[:, :, None, None] * J


def test_intervals_from_several_short_channels_hold_the_truth():
    """95 % are asked; C alone with N - p degrees of freedom holds it in 89 to 90 %, the second-order theory in 93 to
    94 %. Chance makes 0.4 % in 4000 repetitions, so that 92 % is about three standard deviations from both, or more."""
    none = np.zeros(2, bool)
    held, plain = np.zeros(2), np.zeros(2)
    for found, C, parts in zip(*straight_lines(), strict=True):
        wider, nu = of_estimated_weights(C, list(parts), none)
        held += np.abs(found) < stats.t.ppf(0.975, nu) * np.sqrt(np.diag(wider))
        plain += np.abs(found) < stats.t.ppf(0.975, CHANNELS * VALUES - 2) * np.sqrt(np.diag(C))
    assert (held > 0.92 * COUNT).all() and (held < 0.96 * COUNT).all()
    assert (plain < 0.92 * COUNT).all()


def test_of_one_channel_nothing_is_added():
    x = np.linspace(0, 1, 9)
    J = np.column_stack([np.ones_like(x), x, x**2])
    C = np.linalg.inv(J.T @ J)
    wider, nu = of_estimated_weights(C, [J], np.zeros(3, bool))
    np.testing.assert_allclose(wider, C, rtol=1e-9)
    np.testing.assert_allclose(nu, 9 - 3)


def test_of_two_like_channels():
    """By hand: A_j = C^-1/2, so C' = C (1 + 1/nu_1), and the degrees of freedom are those of both."""
    J = np.ones((5, 1))
    wider, nu = of_estimated_weights(np.array([[0.1]]), [J, J], np.zeros(1, bool))
    np.testing.assert_allclose(wider, 0.1 * (1 + 2 / 4.5))
    np.testing.assert_allclose(nu, 9)


def test_an_unknown_at_its_bound_counts_nowhere():
    J = np.column_stack([np.ones(5), np.arange(5.0)])
    C = np.full((2, 2), np.nan)
    C[0, 0] = 0.1
    wider, nu = of_estimated_weights(C, [J, J], np.array([False, True]))
    assert wider[0, 0] > 0.1 and np.isnan(wider[1, 1]) and nu[0] == 9
