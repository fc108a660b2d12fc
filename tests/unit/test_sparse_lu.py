"""The sparse LU against NumPy on random sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest

from simengine2d.numerics.sparse_lu import analyze, factor, solve


def random_rows(n, seed, density=0.15):
    """A random sparse matrix by rows, made regular by a random diagonal under a random permutation."""
    random = np.random.default_rng(seed)
    A = np.where(random.random((n, n)) < density, random.standard_normal((n, n)), 0.0)
    A[np.arange(n), random.permutation(n)] += 2.0 + random.random(n)
    return A


def by_rows(A):
    """jac_start, jac_column, data."""
    rows, columns = np.nonzero(A)
    start = np.searchsorted(rows, np.arange(A.shape[0] + 1))
    return start.astype(np.int64), columns.astype(np.int64), A[rows, columns]


def factored(A, rows=None, scale=None):
    start, columns, data = by_rows(A)
    rows = np.arange(A.shape[1]) if rows is None else np.asarray(rows)
    pattern = analyze(rows, start, columns, data, np.ones(A.shape[1]) if scale is None else scale)
    lu, work = np.empty(pattern.columns.size), np.empty(A.shape[1])
    return pattern, lu, work, factor(pattern, data, lu, work)


def solution(pattern, lu, work, b):
    x = np.empty(work.size)
    solve(pattern, lu, np.asarray(b, dtype=float), x, work)
    return x


@pytest.mark.parametrize("n", [1, 2, 3, 9, 30, 80])
@pytest.mark.parametrize("seed", range(3))
def test_solutions_and_determinant_sign_agree_with_numpy(n, seed):
    A = random_rows(n, seed)
    b = np.random.default_rng(seed + 100).standard_normal(n)
    pattern, lu, work, (pivot, _, sign) = factored(A)
    # backward stable: errors of a few units in the last place times the condition number
    np.testing.assert_allclose(
        solution(pattern, lu, work, b), np.linalg.solve(A, b), rtol=1e-14 * np.linalg.cond(A) * n, atol=1e-13
    )
    assert sign == np.linalg.slogdet(A)[0]
    assert pivot > 0.0


def test_new_values_in_the_same_pattern():
    A = random_rows(20, 7)
    pattern, lu, work, _ = factored(A)
    other = A * np.random.default_rng(8).uniform(0.5, 1.5, A.shape)
    _, _, new_sign = factor(pattern, by_rows(other)[2], lu, work)
    b = np.arange(20.0)
    np.testing.assert_allclose(other @ solution(pattern, lu, work, b), b, atol=1e-11)
    assert new_sign == np.linalg.slogdet(other)[0]


def test_the_sign_changes_with_the_determinant():
    A = random_rows(6, 3)
    pattern, lu, work, (_, _, sign) = factored(A)
    data = by_rows(A)[2].copy()
    data[: np.count_nonzero(A[0])] *= -1.0  # the first row changes its sign
    assert factor(pattern, data, lu, work)[2] == -sign


def test_chosen_rows_of_a_taller_matrix():
    A = random_rows(8, 5)
    tall = np.vstack([A[:3], A[:2] * 2.0, A[3:]])
    rows = [0, 1, 2, 5, 6, 7, 8, 9]
    pattern, lu, work, _ = factored(tall, rows)
    x = np.arange(1.0, 9.0)
    np.testing.assert_allclose(solution(pattern, lu, work, tall @ x), x, rtol=1e-11)


def test_scaled_unknowns_give_the_same_answer():
    A = random_rows(12, 9)
    scale = np.tile([1.0, 1.0, 1e-6], 4)
    pattern, lu, work, (_, _, sign) = factored(A, scale=scale)
    b = np.ones(12)
    np.testing.assert_allclose(solution(pattern, lu, work, b), np.linalg.solve(A, b), rtol=1e-10)
    assert sign == np.linalg.slogdet(A)[0]


@pytest.mark.parametrize(
    "A", [np.zeros((3, 3)), np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[1.0, 1.0], [0.0, 0.0]])]
)
def test_singular_matrices_have_no_pattern(A):
    start, columns, data = by_rows(A)
    assert analyze(np.arange(len(A)), start, columns, data, np.ones(len(A))) is None


def test_a_matrix_that_becomes_singular_has_no_pivot():
    pattern, lu, work, (pivot, _, _) = factored(np.array([[1.0, 2.0], [2.0, 5.0]]))
    assert pivot > 0.1
    assert factor(pattern, np.array([1.0, 2.0, 2.0, 4.0]), lu, work)[0] < 1e-14


def test_nan_gives_no_pivot():
    A = random_rows(5, 2)
    pattern, lu, work, _ = factored(A)
    pivot, _, sign = factor(pattern, by_rows(A)[2] * np.nan, lu, work)
    assert (pivot, sign) == (0.0, 0.0)


def test_growth_tells_bad_pivots():
    A = np.array([[1.0, 1.0], [1.0, -1.0]])
    pattern, lu, work, (_, growth, _) = factored(A)
    assert growth <= 1.0
    data = by_rows(A)[2].copy()
    data[2 * pattern.row[0] + pattern.column[0]] = 1e-9  # the first pivot becomes tiny
    assert factor(pattern, data, lu, work)[1] > 1e4
