"""The largest values of channels between outputs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Chebyshev

from simengine2d.lab.sensitivity.turning_points import DEGREE, _place_of_maximum, largest_values


@pytest.mark.parametrize("seed", range(200))
def test_the_highest_place_of_a_polynomial(seed):
    """Against all zeros of its derivative."""
    draw = np.random.default_rng(seed)
    low = draw.normal()
    high = low + 10.0 ** draw.uniform(-3, 3)
    coefficients = draw.normal(size=DEGREE + 1) * 10.0 ** (-draw.uniform(0.0, 1.0) * np.arange(DEGREE + 1))
    polynomial = Chebyshev(coefficients, domain=[low, high])
    zeros = polynomial.deriv().roots()
    real = zeros[np.abs(zeros.imag) < 1e-9 * (high - low)].real
    places = np.concatenate([[low, high], real[(real > low) & (real < high)]])
    found = _place_of_maximum(polynomial)
    assert low <= found <= high
    assert polynomial(found) == pytest.approx(polynomial(places).max(), rel=1e-13, abs=1e-13)
    assert abs(polynomial.deriv()(found)) * (high - low) < 1e-9 * np.abs(coefficients).max() or found in (
        low,
        high,
    )


def test_a_constant_is_largest_anywhere():
    assert 1.0 <= _place_of_maximum(Chebyshev([2.0] + [0.0] * DEGREE, domain=[1.0, 3.0])) <= 3.0


def test_peaks_that_are_hidden_between_outputs():
    t = np.linspace(0.0, 1.0, 12)
    best = largest_values(lambda x: np.cos(9.0 * (x - 0.437)), t, 0.0, 1.0)[0]
    assert best.t == pytest.approx(0.437, abs=1e-9)
    assert best.value == pytest.approx(1.0, abs=1e-12)
    assert not best.at_end and not best.kink
