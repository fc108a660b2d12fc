"""Compiled kernels do what the same lines do in Python: elements, arithmetic, calls, contexts in contexts."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.numerics.compiler_check import (
    CheckedPointers,
    arrays_of,
    inner,
    mixed,
    new_arrays,
    outer,
    wrong,
)
from simengine2d.numerics.compiler_choice import RUNG
from simengine2d.numerics.compiler_verdicts import checked
from simengine2d.numerics.contexts import laid_out
from simengine2d.numerics.kernel import JIT

needs_numba = pytest.mark.skipif(not JIT, reason="needs numba")
numbers = st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])


@needs_numba
@settings(max_examples=200, deadline=None)
@given(y=st.tuples(numbers, numbers), t=st.floats(-1e3, 1e3), seed=st.integers(0, 10**6))
def test_compiled_lines_do_what_python_does(y, t, seed):
    """With arrays of random numbers and random unsigned indices, directly and through another door."""
    assert not wrong(mixed.bind(new_arrays()), np.array(y), t, seed)


def test_the_kernels_of_the_check_would_show_a_difference():
    """One that calls a kernel which is not copied into it takes both ways out; all arrays are written or read."""
    ways = {inner(new_arrays(seed).part, 0.5, np.zeros(4)) < 0.0 for seed in range(30)}
    assert ways == {True, False}
    before, after, out = new_arrays(), new_arrays(), np.zeros(10)
    mixed(after, 0.5, np.array([0.5, -0.25]), out)
    assert np.count_nonzero(out) == out.size
    changed = [not np.array_equal(a, b) for a, b in zip(arrays_of(before), arrays_of(after), strict=True)]
    assert changed == [True, True, False, True, True, False, False, False]


@needs_numba
def test_the_check_passes_here_and_finds_wrong_machine_code(monkeypatch):
    assert checked(RUNG) == ""
    monkeypatch.setattr(mixed, "function", lambda c, t, y, out: out.fill(1.0))
    assert wrong(mixed.bind(new_arrays()), np.array([0.5, -0.25]))


def test_a_context_in_memory_is_numbers_addresses_and_lengths():
    context = new_arrays()
    words = laid_out(context)[0].tolist()
    address = lambda array: array.__array_interface__["data"][0]
    assert words[:4] == [address(context.a), 5, address(context.M), 3]
    part = context.part
    inside = [address(part.weights), 4, address(part.chosen), 4, np.float64(0.75).view(np.int64)]
    assert words[-8:] == [*inside, 1, address(context.far), 2]
    with pytest.raises(ValueError, match="contiguous"):
        laid_out((context.M.T,))


@needs_numba
def test_a_context_that_another_one_leads_to_is_kept():
    inner = mixed.bind(new_arrays())
    memory = weakref.ref(inner.kept[0])
    through = outer.bind(CheckedPointers(inner.f, inner.c))
    del inner
    gc.collect()
    assert memory() is not None
    del through
    gc.collect()
    assert memory() is None
