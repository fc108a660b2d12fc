"""B. K. Sarkar, Theory of Machines, Tata McGraw-Hill: illustrations on flywheels and on balancing.

Numbers as in the Python Textbook Companion of the book (FOSSEE, IIT Bombay), which takes pi = 3.141 and 57.3 degrees to
the radian; hence tolerances of 1e-3.
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

RPM = 2 * pi / 60


def test_chapter_6_illustration_2_flywheel_of_a_punching_press():
    """720 holes an hour of 15 kJ, 2 s each; 225 to 200 rpm, radius of gyration 0.5 m: motor 3000 W, 618 kg."""
    low, high = 200 * RPM, 225 * RPM
    speed = 0.5 * (low + high)
    # demand over the cycle of 5 s; corners a little rounded, since angles must grow
    times = np.array([0.0, 2.0, 2.0 + 1e-9, 5.0])
    torque = np.array([7500.0, 7500.0, 0.0, 0.0]) / speed
    wheel = se.flywheel(speed * times, torque, speed=speed, fluctuation=(high - low) / speed)
    assert wheel.mean_power == pytest.approx(3000, rel=1e-6)
    assert wheel.energy_swing == pytest.approx(9000, rel=1e-6)
    pi_of_the_book = 3.141
    published = 9000 / (pi_of_the_book**2 / 900 * 0.25 * 212.5 * 25)
    assert published == pytest.approx(618.2, abs=0.1)
    assert wheel.inertia / 0.5**2 == pytest.approx(published, rel=1e-3)


def test_chapter_12_illustration_1_partial_balance_of_an_engine():
    """250 rpm, stroke 180 mm, 120 kg reciprocating, 70 kg revolving at 90 mm; all of the revolving and 2/3 of the
    reciprocating mass to be balanced at 150 mm: 90 kg, residual force 3264 N at 30° from inner dead center.

    The book neglects the obliquity of the rod: here it is 1000 times as long as the crank. Two thirds are the least
    squares with the weights (2, 1) for the forces along and across the guide.
    """
    r, rod = 0.09, 90.0
    turn = 60 / 250
    model = builders.slider_crank(
        r, rod, masses=(1e-9, 1e-9), slider_mass=120, speed=f"{250 * RPM!r}", crank_angle=0
    )
    model.body("revolving", mass=70, inertia=0, at=(r, 0))
    model.add(se.Fixed("pin", "crank.end", "revolving"))
    balanced = se.balance(model, {"crank": 0.15}, t_end=turn, step=turn / 360, weights=(2, 1))
    (weight,) = balanced.counterweights
    assert weight.mass == pytest.approx(90, rel=1e-3)
    assert weight.moment[1] == pytest.approx(0, abs=1e-3)
    assert balanced.after.force[30] == pytest.approx(3263.97, rel=3e-3)
