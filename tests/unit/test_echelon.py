"""Echelon form against numpy, with and without dependent rows and columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.numerics.echelon import echelon, echelon_solve
from simengine2d.numerics.kernel import kernel


@kernel(entry=True)
def solve(A, exchanged, column, b, x):
    """As kernels use it: compiled where there is a compiler."""
    rank = echelon(A, exchanged, column)
    return rank, echelon_solve(A, exchanged, column, rank, b, x)


def solved(A, b):
    n = len(b)
    x, work = np.zeros(n), np.zeros((2, n), dtype=np.int64)
    rank, left = solve(A.copy(), work[0], work[1], b.copy(), x)
    return x, rank, left


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_regular_equations(n, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    x, rank, left = solved(A, b)
    wanted = np.linalg.solve(A, b)
    assert rank == n and left == 0.0
    np.testing.assert_allclose(x, wanted, rtol=0, atol=1e-13 * np.linalg.cond(A) * np.abs(wanted).max())


@settings(deadline=None, max_examples=40)
@given(n=st.integers(2, 8), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_dependent_equations(n, seed, data):
    """A consistent system of lower rank is solved; as many unknowns as depend on others stay zero."""
    r = data.draw(st.integers(1, n - 1))
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, size=(n, r)) @ rng.integers(-3, 4, size=(r, n)).astype(float)
    r = np.linalg.matrix_rank(A)
    b = A @ rng.normal(size=n)
    x, rank, left = solved(A, b)
    assert rank == r
    assert left < 1e-10
    assert np.count_nonzero(x) <= r
    np.testing.assert_allclose(A @ x, b, atol=1e-8 * max(1.0, np.abs(b).max()))


def test_a_contradiction_is_reported():
    x, rank, left = solved(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 3.0]))
    assert rank == 1 and left == 2.0
    np.testing.assert_array_equal(x, [1.0, 0.0])


def test_what_is_no_number_has_no_rank():
    _, rank, _ = solved(np.array([[1.0, np.nan], [0.0, 1.0]]), np.ones(2))
    assert rank == 0
