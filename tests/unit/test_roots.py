"""Roots and turning points inside an interval."""

from __future__ import annotations

from itertools import pairwise
from math import acos, cos, inf, pi, sin, sqrt, tan

import numpy as np
import pytest

from simengine2d.numerics.roots import ZeroSearch, roots_in

B = acos(0.999999)
CASES = {
    "two beside a turning point": (lambda t: cos(t) - 0.999999, 1, 7, [(2 * pi - B, 1), (2 * pi + B, -1)]),
    "a touch": (lambda t: cos(t) - 1, 1, 7, [(2 * pi, 0)]),
    "a kink that touches": (lambda t: abs(t - 0.3), 0, 1, [(0.3, 0)]),
    "a kink a little below": (lambda t: abs(t - 0.3) - 1e-9, 0, 1, [(0.3 - 1e-9, -1), (0.3 + 1e-9, 1)]),
    "two kinks": (lambda t: min(abs(t - 0.3), abs(t - 0.31)), 0, 1, [(0.3, 0), (0.31, 0)]),
    "a jump": (lambda t: -1.0 if t < 0.37 else 1.0, 0, 1, [(0.37, 1)]),
    "a pole": (lambda t: 1 / (t - 0.37) if t != 0.37 else inf, 0, 1, []),
    "poles and roots": (tan, 1, 11, [(pi, 1), (2 * pi, 1), (3 * pi, 1)]),
    "a threefold root": (lambda t: (t - 0.4) ** 3, 0, 1, [(0.4, 1)]),
    "zero that lasts": (lambda t: max(abs(t - 0.5) - 0.2, 0.0), 0, 1, [(0.3, -1), (0.7, 1)]),
    "zero that lasts and is left behind": (lambda t: min(t - 0.3, 0) + max(t - 0.6, 0), 0, 1, [(0.3, 1)]),
    "zero at the beginning": (lambda t: t * (t - 0.2), 0, 1, [(0.2, 1)]),
    "zero at the end": (lambda t: t - 1.0, 0, 1, [(1.0, 1)]),
    "vertical": (lambda t: sqrt(abs(t - 0.3)) - 1e-3, 0, 1, [(0.3 - 1e-6, -1), (0.3 + 1e-6, 1)]),
    "never": (lambda t: 5.0, 0, 1, []),
    "always": (lambda t: 0.0, 0, 1, []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_roots(case):
    function, a, b, expected = CASES[case]
    roots = roots_in(function, a, b)
    assert [root.sense for root in roots] == [way for _, way in expected]
    assert [root.t for root in roots] == pytest.approx([t for t, _ in expected], abs=1e-9)


def test_leaving_zero_at_the_start():
    leaving = lambda value, end: ZeroSearch(0).until(value, 0.0, end)
    assert leaving(sin, 7) == [
        (0, 1, True),
        (pytest.approx(pi), -1, False),
        (pytest.approx(2 * pi), 1, False),
    ]
    assert leaving(lambda t: 1e-17 - t, 7) == [(pytest.approx(0), -1, True)]
    assert leaving(lambda t: max(t - 0.3, 0.0), 1) == [(pytest.approx(0.3), 1, True)]


def searched(function, ends, error=0.0):
    """The roots in consecutive intervals, by a search that is saved and restored between any two of them."""
    search = ZeroSearch(int(np.sign(function(ends[0]))))
    roots = []
    for a, b in pairwise(ends):
        state, search = search.state(), ZeroSearch(1)
        search.restore(state)

        def inside(t, a=a, b=b):
            assert a <= t <= b, "no values are asked for outside the interval"
            return function(t)

        roots += search.until(inside, a, b, error=error)
    return roots + search.at_the_end()


@pytest.mark.parametrize("case", CASES)
def test_roots_do_not_depend_on_the_intervals(case):
    """Ends of intervals at a root, beside it and anywhere."""
    function, a, b, expected = CASES[case]
    if case in ("zero at the beginning", "always"):
        return
    rng = np.random.default_rng(3)
    beside = [t + d for t, _ in expected for d in (-1e-4, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-4)]
    for _ in range(40):
        some = rng.choice(beside, rng.integers(1, 4)) if beside else []
        inner = [t for t in np.union1d(some, rng.uniform(a, b, 3)).tolist() if a < t < b]
        roots = searched(function, [a, *inner, b])
        assert [root.sense for root in roots] == [way for _, way in expected], inner
        # a smooth touch is as flat as the root of what counts as zero is wide
        assert [root.t for root in roots] == pytest.approx(
            [t for t, _ in expected], abs=5e-6 if case == "a touch" else 1e-9
        )


def test_near_zero_only_the_sides_count():
    """A function with an error: what is smaller is neither two crossings nor none."""
    dips = lambda t: (t - 0.5) ** 2 - 1e-9  # below zero by less than its error
    stays_above = lambda t: (t - 0.5) ** 2 + 1e-9
    wiggles = lambda t: (t - 0.5) + 1e-9 * sin(1e6 * t)  # many crossings within the error
    for ends in ([0, 1], [0, 0.5, 1], [0, 0.49999, 0.50001, 1], [0, 0.4, 0.5 + 1e-6, 1]):
        for touch in (dips, stays_above):
            assert [root.sense for root in searched(touch, ends, error=1e-8)] == [0]
        assert [
            root.sense for root in searched(lambda t: 1 - 3 * t if t < 0.3 else 0.1 + (t - 0.3), ends)
        ] == []
    assert [root.sense for root in searched(wiggles, [0.49, 0.4999, 0.5, 0.51], error=1e-8)] == [1]
    assert searched(lambda t: 0.5e-8 + t, [0, 0.3, 1], error=1e-8) == []  # starts near zero and goes away


def test_as_many_as_there_are():
    found = roots_in(lambda t: sin(1000 * t), 0.1, 1.0)
    np.testing.assert_allclose([root.t for root in found], np.arange(32, 319) * pi / 1000, atol=1e-13)


def test_random_waves_have_the_roots_that_a_fine_search_finds():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, w, p = rng.normal(size=4), rng.uniform(1, 15, 4), rng.uniform(0, 6, 4)
        wave = lambda t, a=a, w=w, p=p: np.sin(np.multiply.outer(t, w) + p) @ a
        t = np.linspace(0, 2, 200_001)
        signs = np.sign(wave(t))
        fine = t[:-1][signs[1:] != signs[:-1]] + 5e-6
        found = [root.t for root in roots_in(lambda t, wave=wave: float(wave(t)), 0.0, 2.0)]
        np.testing.assert_allclose(found, fine, atol=6e-6)
        np.testing.assert_allclose(wave(np.array(found)), 0.0, atol=1e-11)
