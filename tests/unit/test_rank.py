"""The one decision of which rows depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.numerics.rank import implied_rows, rank_of_rows, row_space, surely_independent


def rows_of_rank(seed: int, rank: int, more: int, n: int) -> tuple[np.ndarray, np.random.Generator]:
    """`rank` orthogonal rows, then `more` that are made up of them."""
    rng = np.random.default_rng(seed)
    first = np.linalg.qr(rng.standard_normal((n, rank)))[0].T
    return np.vstack([first, rng.standard_normal((more, rank)) @ first]), rng


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(0, 3), st.integers(0, 4))
@settings(deadline=None, max_examples=60)
def test_all_decisions_agree_whatever_the_units_of_the_rows(seed, rank, more, free):
    J, rng = rows_of_rank(seed, rank, more, rank + free)
    J = J * 10.0 ** rng.uniform(-9, 9, len(J))[:, None]
    space = row_space(J)
    assert space.rank == rank == rank_of_rows(J).rank == len(J) - implied_rows(J).size
    assert space.null.shape == (rank + free, free)
    np.testing.assert_allclose(J @ space.null / space.norms[:, None], 0.0, atol=1e-12)
    np.testing.assert_allclose((space.idle / space.norms[:, None]).T @ J, 0.0, atol=1e-11)


@pytest.mark.parametrize(("new", "independent"), [(1e-8, True), (1e-10, False)])
def test_the_new_part_of_a_row_decides(new, independent):
    J = np.array([[1.0, 0.0, 0.0], [1.0, new, 0.0]])
    assert rank_of_rows(J).rank == (2 if independent else 1) == row_space(J * np.sqrt(2)).rank
    assert implied_rows(J).size == (0 if independent else 1)


def test_a_dependent_row_names_those_that_make_it_up():
    J = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [2.0, 0, -3.0, 0]])
    found = rank_of_rows(J)
    assert found.dependent == {3: [0, 2]}
    assert row_space(J).takes_part().tolist() == [True, False, True, True]


def test_rows_without_entries_and_no_rows():
    assert row_space(np.zeros((0, 3))).null.shape == (3, 3)
    assert implied_rows(np.zeros((0, 3))).size == 0
    assert rank_of_rows(np.zeros((2, 3))).rank == row_space(np.zeros((2, 3))).rank == 0


@given(st.integers(0, 10**6), st.integers(1, 8), st.floats(-12.0, 0.0))
def test_rows_are_surely_independent_only_where_they_are(seed, rows, exponent):
    """The last row differs from a sum of the others by 10^exponent."""
    draw = np.random.default_rng(seed)
    J = draw.normal(size=(rows, rows + 2)) * 10.0 ** draw.uniform(-6, 6, size=(rows, 1))
    smallest = row_space(J).sizes[-1]
    assert surely_independent(J) == (smallest > 1e-4) or 1e-5 < smallest < 1e-2
    J[-1] = draw.normal(size=rows - 1) @ J[:-1] + 10.0**exponent * np.abs(J).max() * draw.normal(
        size=rows + 2
    )
    if surely_independent(J):
        assert not row_space(J).takes_part().any() and row_space(J).sizes[-1] > 0.99e-4


def test_no_rows_and_empty_rows_are_nothing_sure():
    assert surely_independent(np.zeros((0, 3)))
    assert not surely_independent(np.zeros((2, 3)))
    assert not surely_independent(np.ones((3, 2)))
