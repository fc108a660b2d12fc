"""Kernel pointers and contexts: what is gone, not yet compiled, or laid out otherwise never ends the interpreter."""

import copy
import gc
from typing import NamedTuple

import numpy as np
import pytest

from simengine2d.errors import UnsupportedError
from simengine2d.numerics.contexts import first_element
from simengine2d.numerics.kernel import JIT, kernel
from simengine2d.numerics.kernel_pointer import (
    BoundKernel,
    invoke,
    kernel_pointer,
    pending,
    python_pointer,
    rare_kernel_pointer,
)

compiled = pytest.mark.skipif(not JIT, reason="plain functions have no addresses")


class Gain(NamedTuple):
    k: np.ndarray


class Behind(NamedTuple):
    f: object
    c: object


class Other(NamedTuple):
    k: np.ndarray
    offset: float


def amplify(c, t, y, out):
    for i in range(y.size):
        out[i] = c.k[0] * y[i]


def pass_on(c, t, y, out):
    invoke(c.f, c.c, t, y, out)


@kernel(entry=True)
def go_twice(f, c, y, out):
    invoke(f, c, 0.0, y, out)
    invoke(f, c, 0.0, out, out)


def test_a_kernel_that_comes_upon_a_door_before_it_is_compiled_goes_through():
    bound, out = kernel_pointer(amplify).bind(Gain(np.array([3.0]))), np.zeros(2)
    f, c = (int(bound.f), int(bound.c)) if JIT else (bound.f, bound.c)
    go_twice(f, c, np.array([1.0, 2.0]), out)
    np.testing.assert_array_equal(out, [9.0, 18.0])


@compiled
def test_a_rare_kernel_is_compiled_when_it_is_called_and_not_before():
    rare, usual, out = rare_kernel_pointer(amplify), kernel_pointer(pass_on), np.zeros(1)
    seldom = rare.bind(Gain(np.array([3.0])))
    through = usual.bind(Behind(*seldom[:2]))
    kernel_pointer(amplify).bind(Gain(np.ones(1)))(0.0, np.ones(1), out)
    assert not pending
    waiting = int(rare.cell[0])
    through(0.0, np.ones(1), out)
    assert out[0] == 3.0
    assert rare.cell[0] != waiting and not pending
    seldom(0.0, out.copy(), out)
    assert out[0] == 9.0


def churned():
    gc.collect()
    return [np.random.default_rng(i).random(50) for i in range(2000)]


def test_an_address_keeps_alive_what_lies_there():
    gains, through = kernel_pointer(amplify), kernel_pointer(pass_on)
    ends = [through.bind(Behind(*gains.bind(Gain(np.array([float(k)])))[:2])) for k in range(200)]
    ends = [through.bind(Behind(end.f, end.c)) for end in ends[:3]] + ends
    junk, out = churned(), np.zeros(1)
    for k, end in zip([0, 1, 2, *range(200)], ends, strict=True):
        end(0.0, np.ones(1), out)
        assert out[0] == k
    assert junk


def test_a_function_of_python_lives_as_long_as_its_address():
    through = kernel_pointer(pass_on)
    ends = [through.bind(Behind(*python_pointer(lambda t, y, out, k=k: out.fill(k))[:2])) for k in range(50)]
    junk, out = churned(), np.zeros(1)
    for k, end in enumerate(ends):
        end(0.0, np.ones(1), out)
        assert out[0] == k
    assert junk


@compiled
def test_a_context_with_other_fields_is_refused():
    gains = kernel_pointer(amplify)
    first = gains.bind(Gain(np.ones(1)))
    others = [Gain(np.ones(1, dtype=np.float32)), Gain(np.ones((1, 1))), Gain(2.0), Other(np.ones(1), 1.0)]
    for context in others:
        with pytest.raises(UnsupportedError, match="'amplify' cannot be bound to this"):
            gains.bind(context)
    with pytest.raises(UnsupportedError, match="'amplify' cannot be bound to this Other"):
        gains.bind_like(kernel_pointer(amplify).bind(others[-1]))
    with pytest.raises(UnsupportedError, match="this kernel pointer is null"):
        BoundKernel(0, 0, None)(0.0, np.ones(1), np.ones(1))
    out = np.zeros(1)
    gains.bind_like(first)(0.0, np.ones(1), out)
    assert out[0] == 1.0


@compiled
def test_arrays_that_a_door_would_misread_are_refused():
    bound, row = kernel_pointer(amplify).bind(Gain(np.ones(1))), np.zeros(2)
    for y, out in ((np.zeros(2, np.float32), row), (row, np.zeros(2, int)), ([0.0, 0.0], row)):
        with pytest.raises(Exception, match=r"arrays of doubles|has no attribute"):
            bound(0.0, y, out)


@compiled
def test_addresses_are_not_copied():
    bound = kernel_pointer(amplify).bind(Gain(np.ones(1)))
    for thing in (bound, bound.c, Behind(bound.f, bound.c)):
        with pytest.raises(UnsupportedError, match="hold addresses"):
            copy.deepcopy(thing)


def test_the_address_of_an_array_is_that_of_its_first_element():
    numbers = np.arange(12.0)
    numbers.flags.writeable = False
    for array in (
        numbers,
        numbers[3:],
        numbers.reshape(3, 4)[1],
        np.zeros((0, 3)),
        np.arange(3),
        np.ones((2, 2)),
    ):
        assert first_element(array) == array.ctypes.data
