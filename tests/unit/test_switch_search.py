"""The first switch of a motion: found between samples, by Python and by kernel pointers alike."""

import numpy as np
import pytest

import simengine2d as se
from simengine2d.results.switching import Switching
from simengine2d.system.system import System


@pytest.fixture
def switching():
    m = se.Model("switches", gravity=(0, 0))
    m.body("a", mass=1, inertia=1)
    m.add(se.Force("steps", along={"a.x": "(a.x > 1) + mod(a.y, 0.25) + abs(a.phi)"}))
    return Switching(System(m))


def moving(x=lambda t: 0.0, y=lambda t: 0.1, phi=lambda t: 1.0):
    return lambda t: (np.array([x(t), y(t), phi(t)]), np.zeros(3))


def straight(rates):
    return lambda t: (np.array([0.0, 0.1, 1.0]) + t * rates, np.zeros(3))


def test_nothing_is_crossed_far_from_the_levels(switching):
    assert switching.first_crossing(0.0, 1.0, moving(x=lambda t: 0.1 * t)) is None


def test_the_first_of_several_switches_is_found_to_the_last_digit(switching):
    rng = np.random.default_rng(2)
    for _ in range(50):
        v, w, s = rng.uniform(0.5, 5.0, 3)
        expected = min(1.0 / v, 0.1 / w, 1.0 / s)
        t = switching.first_crossing(0.0, 1.0, straight(np.array([v, -w, -s])))
        assert (t is None and expected > 1.0) or t == pytest.approx(expected, rel=1e-14)


def test_a_level_is_left_even_where_the_motion_starts_on_it(switching):
    assert switching.first_crossing(0.0, 1.0, moving(y=lambda t: 0.25 * t)) == pytest.approx(1.0, rel=1e-14)


def test_a_visit_between_two_samples_is_found(switching):
    """For 0.02 of the step x is beyond its level, much less than the distance of samples."""
    look = moving(x=lambda t: 1.0 + 1e-4 - (t - 0.44) ** 2)
    assert switching.first_crossing(0.0, 1.0, look) == pytest.approx(0.43, abs=1e-12)


def test_values_that_are_not_finite_are_passed_over(switching):
    look = moving(x=lambda t: np.nan if t > 0.5 else 0.0, y=lambda t: 0.1 + 0.3 * t)
    assert switching.first_crossing(0.0, 1.0, look) == pytest.approx(0.5, rel=1e-12)


def test_what_a_motion_raises_is_raised(switching):
    def look(t):
        raise ZeroDivisionError("no motion")

    with pytest.raises(ZeroDivisionError, match="no motion"):
        switching.first_crossing(0.0, 1.0, look)
    assert switching.first_crossing(0.0, 1.0, moving(x=lambda t: 2.0 * t)) == pytest.approx(0.5, rel=1e-14)
