"""Rows of outputs: more between them, and how many of them are finite."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import simengine2d as se
from simengine2d.analyses.dynamics.outputs import Outputs, merged


@pytest.mark.parametrize("more", [[], [0.5], [0.1, 0.2, 3.5], [4.5, 5.0]])
def test_rows_are_merged_in_the_order_of_time(more):
    widths, times, finer = (2, 2, 2, 3), np.arange(5.0), np.array(more)
    rows = [10.0 * k + np.arange(5.0 * width).reshape(5, width) for k, width in enumerate(widths)]
    between = [
        -10.0 * k - np.arange(1.0 * finer.size * width).reshape(-1, width) for k, width in enumerate(widths)
    ]
    every = np.concatenate([times, finer])
    order = np.argsort(every, kind="stable")
    found_times, *found = merged(times, rows, finer, between)
    assert_array_equal(found_times, every[order])
    for array, first, second in zip(found, rows, between, strict=True):
        assert_array_equal(array, np.concatenate([first, second])[order])


def outputs_with(value: float, array: int) -> Outputs:
    """Three rows of a free body, with one number in the last of them."""
    model = se.Model("free")
    model.body("a")
    system = se.System(model)
    outputs = Outputs(system, np.arange(3.0), None)
    motion = [np.ones((3, system.n)) for _ in range(3)] + [np.ones((3, system.m))]
    motion[array][2, 1] = value
    outputs.write(0, motion)
    outputs.done = 3
    return outputs


@pytest.mark.parametrize("array", [0, 1, 2])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_found(array, value):
    assert outputs_with(value, array).finite_rows(0) == 2


@pytest.mark.parametrize("value", [1e300, -1e200, 5e-324])
def test_numbers_whose_squares_overflow_are_finite(value):
    assert outputs_with(value, 1).finite_rows(0) == 3
