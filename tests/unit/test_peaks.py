"""Largest values between outputs."""

from __future__ import annotations

import numpy as np
import pytest

from simengine2d.results.peaks import peak_of, rms


def test_a_peak_between_outputs():
    t = np.linspace(0.0, 3.0, 31) ** 1.1
    peak = peak_of(t, 5.0 + 2.0 * np.sin(2.0 * t))
    assert (
        peak.seen
        and peak.value == pytest.approx(7.0, abs=1e-3)
        and peak.t == pytest.approx(np.pi / 4, abs=1e-2)
    )


def test_outputs_that_lie_too_far_apart():
    """Random waves at a spacing that cannot show them are never called seen while more than 3 % is missed."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        w, p = rng.uniform(1, 10), rng.uniform(0, 6)
        t = np.linspace(0, 10, 101)
        wave = lambda t, w=w, p=p: 1.0 + np.sin(w * t + p) * np.exp(-0.1 * t)
        peak, fine = peak_of(t, wave(t)), wave(np.linspace(0, 10, 100_001)).max()
        assert not peak.seen or peak.value == pytest.approx(fine, rel=0.03)
    assert peak_of(np.arange(5.0), np.array([0.0, 1, 9, 1, 0])).text == "> 9"


def test_a_jump_is_seen():
    assert peak_of(np.arange(6.0), np.array([0.0, 0, 3, 3, 3, 3])) == (pytest.approx(2.0, abs=0.6), 3.0, True)
    assert peak_of(np.arange(3.0), np.array([5.0, 2, 1])).value == 5.0
    assert peak_of(np.zeros(0), np.zeros(0)).value == 0.0


def test_the_mean_over_time_does_not_depend_on_where_outputs_are_dense():
    dense = np.concatenate([np.linspace(0, 0.1, 500)[:-1], np.linspace(0.1, np.pi, 500)])
    assert rms(dense, np.sin(dense)) == pytest.approx(np.sqrt(0.5), rel=1e-4)
