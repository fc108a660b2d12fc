"""Compiled kernels do what the same lines do in Python."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.doors import door
from simengine2d.kernels import JIT


class Arrays(NamedTuple):
    a: np.ndarray
    M: np.ndarray
    T: np.ndarray
    k: np.ndarray
    shift: int


@door
def mixed(c, t, y, out):
    """Elements from both ends, of arrays of one to three dimensions; arithmetic and comparisons of all kinds."""
    a, M, T, k = c.a, c.M, c.T, c.k
    out[0] = a[-1] + a[c.shift - 3] * y[0]
    out[1] = M[1, -1] - M[-2, c.shift] / y[1]
    out[2] = T[0, -1, 1] + T[c.shift - 2, 0, -1]
    out[3] = k[-2] * k[1] - k[0] + c.shift
    k[c.shift] = k[0] - 2 * k[1]
    out[4] = k[c.shift]
    out[-1] = 0.0
    if y[0] < y[1]:
        out[-1] += 1.0
    if y[0] <= y[1]:
        out[-1] += 2.0
    if y[0] == y[1]:
        out[-1] += 4.0
    if y[0] != y[1]:
        out[-1] += 8.0
    if y[0] > y[1] or k[0] >= k[1]:
        out[-1] += 16.0
    M[-1, 0] = t
    out[5] = M[M.shape[0] - 1, 0] // 2 + k[0] % 3 + t * t
    row = M[1]
    row[1:][0] = 7
    out[6] = M[1, 1] + row.size


def new_arrays():
    random = np.random.default_rng(5)
    numbers = np.array([3, -4, 7, 9, 11], dtype=np.int64)
    return Arrays(
        random.normal(size=5), random.normal(size=(3, 4)), random.normal(size=(2, 3, 2)), numbers, 1
    )


numbers = st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])


@pytest.mark.skipif(not JIT, reason="needs numba")
@settings(max_examples=200, deadline=None)
@given(y=st.tuples(numbers, numbers), t=st.floats(-1e3, 1e3))
def test_elements_arithmetic_and_comparisons_are_those_of_python(y, t):
    compiled, python, y = new_arrays(), new_arrays(), np.array(y)
    found, expected = np.zeros(8), np.zeros(8)
    mixed.bind(compiled)(t, y, found)
    with np.errstate(all="ignore"):
        mixed(python, t, y, expected)
    np.testing.assert_array_equal(found, expected)
    for one, other in zip(compiled[:4], python[:4], strict=True):
        np.testing.assert_array_equal(one, other)
