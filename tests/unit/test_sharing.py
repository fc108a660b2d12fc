"""Sharing of work between actuators: the smallest efforts within limits, against the conditions of optimality."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.analyses.inverse.multipliers import shared

numbers = st.floats(-1.0, 1.0).map(lambda v: round(v, 2))


def test_without_limits_it_is_the_pseudo_inverse():
    A, tau = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]), np.array([3.0, -1.0])
    free = np.full(3, np.inf)
    np.testing.assert_allclose(shared(A, tau, -free, free, 2), np.linalg.pinv(A) @ tau)


def test_limits_that_leave_nothing():
    A = np.array([[1.0, 1.0]])
    assert shared(A, np.array([3.0]), np.zeros(2), np.ones(2), 1) is None
    assert shared(np.eye(1), np.array([3.0]), np.zeros(1), np.ones(1), 1) is None


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=2, max_size=2),
    inside=st.lists(st.floats(-0.9, 0.9), min_size=4, max_size=4),
)
def test_the_smallest_efforts(rows, inside):
    """A u = tau within the limits -1, 1; and what is inside its limits is a combination of the rows, as in A^+ tau."""
    A = np.array(rows)
    sizes = np.linalg.svd(A, compute_uv=False)
    if sizes[-1] < 0.1:
        return
    tau = A @ np.array(inside)  # so that there is a solution
    u = shared(A, tau, -np.ones(4), np.ones(4), 2)
    assert u is not None
    np.testing.assert_allclose(A @ u, tau, atol=1e-9)
    assert np.all(np.abs(u) <= 1.0)
    # u = A^T y + z with z_i = 0 inside and pointing outwards at a limit: the conditions of Karush, Kuhn and Tucker
    free = np.abs(u) < 1.0 - 1e-9
    assert np.linalg.norm(u) <= np.linalg.norm(inside) + 1e-9
    if np.linalg.matrix_rank(A[:, free], tol=1e-6) == 2:
        y = np.linalg.lstsq(A[:, free].T, u[free], rcond=None)[0]
        np.testing.assert_allclose(A[:, free].T @ y, u[free], atol=1e-7)
        wanted = A.T @ y
        assert np.all((wanted - u)[~free] * u[~free] >= -1e-7)
