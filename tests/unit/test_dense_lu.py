"""Small dense LU factors against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.numerics.dense_lu import lu_factor, lu_solve, lu_solve_transposed
from simengine2d.numerics.kernel import kernel


@kernel(entry=True)
def solve(A, pivots, b):
    """As kernels use it: compiled where there is a compiler."""
    quality = lu_factor(A, pivots)
    if quality > 0.0:
        lu_solve(A, pivots, b)
    return quality


def factored(A):
    lu, pivots = np.array(A, dtype=float), np.zeros(len(A), dtype=np.int64)
    return lu_factor(lu, pivots), lu, pivots


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_it_solves_what_numpy_solves(n, seed):
    """To the rounding that the condition of a matrix allows."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    x = b.copy()
    assert solve(A.copy(), np.zeros(n, dtype=np.int64), x) > 0.0
    np.testing.assert_allclose(
        x, np.linalg.solve(A, b), rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(x).max()
    )


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_same_factors_solve_the_transposed_equations(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    _, lu, pivots = factored(A)
    x = b.copy()
    lu_solve_transposed(lu, pivots, x)
    np.testing.assert_allclose(x @ A, b, rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(b).max())


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_factors_multiply_to_the_matrix(n):
    A = np.random.default_rng(n).normal(size=(n, n))
    _, lu, pivots = factored(A)
    rows = np.arange(n)
    for k, p in enumerate(pivots):
        rows[[k, p]] = rows[[p, k]]
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(n)) @ np.triu(lu), A[rows], atol=1e-14 * n)
    assert np.abs(np.tril(lu, -1)).max(initial=0.0) <= 1.0


def test_a_zero_on_the_diagonal_is_no_obstacle():
    x = np.array([3.0, 5.0])
    assert solve(np.array([[0.0, 2.0], [1.0, 0.0]]), np.zeros(2, dtype=np.int64), x) == 0.5
    np.testing.assert_array_equal(x, [5.0, 1.5])


@pytest.mark.parametrize(
    "A",
    [
        [[0.0]],
        [[1.0, 2.0], [2.0, 4.0]],
        [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]],
        [[np.nan, 1.0], [1.0, 1.0]],
        [[1.0, 1.0], [1.0, np.inf]],
        [[1.0, np.nan], [1.0, 1.0]],
    ],
    ids=str,
)
def test_a_singular_matrix_is_reported(A):
    assert factored(A)[0] == 0.0


def test_the_quality_is_the_spread_of_the_pivots():
    assert factored(np.diag([4.0, 1e-3, -8.0]))[0] == 1e-3 / 8.0
