"""Roots and turning points inside an interval."""

from __future__ import annotations

from math import acos, cos, inf, pi, sin, sqrt, tan

import numpy as np
import pytest

from simengine2d.numerics.roots import roots_in, turning_points_in

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
    found = roots_in(function, a, b)
    assert [root.sense for root in found] == [way for _, way in expected]
    assert [root.t for root in found] == pytest.approx([t for t, _ in expected], abs=1e-9)


def test_leaving_zero_at_the_start():
    assert roots_in(sin, 0, 7, side=0) == [(0, 1), (pytest.approx(pi), -1), (pytest.approx(2 * pi), 1)]
    assert roots_in(lambda t: 1e-17 - t, 0, 7, side=0) == [(pytest.approx(0), -1)]
    assert roots_in(lambda t: max(t - 0.3, 0.0), 0, 1, side=0) == [(pytest.approx(0.3), 1)]


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


def test_turning_points():
    found = turning_points_in(lambda t: 5 + sin(7 * t), 0, 2)
    expected = [((k + 0.5) * pi / 7, 5 + (-1) ** k) for k in range(4)]
    np.testing.assert_allclose(found, expected, atol=1e-10)
