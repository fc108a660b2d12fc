"""R. S. Khurmi, J. K. Gupta, Theory of Machines, S. Chand: examples of chapters 6, 7 and 8.

The book measures its answers on drawings, so they are right to 1 to 3 %; the exact geometry is checked beside them.
Numbers of 6.1, 7.1 and 8.1 as in the Python Textbook Companion of the book (FOSSEE, IIT Bombay).
"""

from __future__ import annotations

from math import hypot, pi

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

RPM = 2 * pi / 60


def at_once(model):
    return se.kinematics(model, t_eval=[0.0])


def four_bar(crank, coupler, rocker, ground, rpm):
    """Crank from the left pivot at 60 degrees, clockwise as in the figures."""
    return at_once(
        builders.four_bar(crank, coupler, rocker, ground, crank_angle="60*deg", speed=f"{-rpm * RPM!r}")
    )


def test_example_6_1_instantaneous_centers():
    """AB = 300, BC = CD = 360, AD = 600 mm, angle BAD = 60°, 100 rpm: I13 is 500 mm from B, omega_BC = 6.283 rad/s."""
    results = four_bar(0.3, 0.36, 0.36, 0.6, 100)
    center = se.instant_centers(results)["ground", "coupler"]
    from_b = hypot(center.x[0] - results["crank.end.x"][0], center.y[0] - results["crank.end.y"][0])
    assert from_b == pytest.approx(0.5, rel=0.01)
    assert abs(results["coupler.phid"][0]) == pytest.approx(6.283, rel=0.01)
    assert 100 * RPM * 0.3 / from_b == pytest.approx(abs(results["coupler.phid"][0]), rel=1e-12)
    # it is the point in which the centrodes touch: of the ground, and of the coupler about its own center
    curves = se.centrodes(results, "coupler")
    np.testing.assert_allclose(curves.fixed[0], (center.x[0], center.y[0]), rtol=1e-12)
    assert np.hypot(*(curves.moving[0] - (-0.18, 0.0))) == pytest.approx(0.5, rel=0.01)


def test_example_7_1_velocity_polygon():
    """AB = 40, BC = AD = 150, CD = 80 mm, angle BAD = 60°, 120 rpm: v_C = 0.385 m/s, omega_CD = 4.8 rad/s clockwise."""
    results = four_bar(0.04, 0.15, 0.08, 0.15, 120)
    polygon = se.velocity_polygon(results)
    assert polygon.size("B") == pytest.approx(120 * RPM * 0.04, rel=1e-12)
    assert polygon.size("C") == pytest.approx(0.385, rel=0.01)
    assert results["rocker.phid"][0] == pytest.approx(-4.8, rel=0.01)


def test_mechanical_advantage_of_chapter_7():
    """DA = 300, AB = CB = 360, DC = 600 mm, angle ADC = 60°, 100 rpm, 50 N m, efficiency 70 %.

    Worked solution at askfilo.com: B = (0.4996, 0.3458) m, v_B = 2.27 m/s, omega_BC = 6.305 rad/s, resisting torque
    58.16 N m, actual mechanical advantage 1.163; the ideal one is 1.163 / 0.7. With its B the link CB is 360.1 mm long,
    so that velocities are right to 3e-4.
    """
    results = four_bar(0.3, 0.36, 0.36, 0.6, 100)
    assert results["rocker.end.x"][0] == pytest.approx(0.4996, abs=5e-5)
    assert results["rocker.end.y"][0] == pytest.approx(0.3458, abs=1e-4)
    assert se.velocity_polygon(results).size("C") == pytest.approx(2.27, abs=0.005)
    assert abs(results["rocker.phid"][0]) == pytest.approx(6.305, rel=3e-4)
    advantage = se.mechanical_advantage(results, "motor", "rocker")
    assert 0.7 * advantage.ratio[0] == pytest.approx(1.163, abs=5e-4)
    assert 0.7 * 50 * advantage.ratio[0] == pytest.approx(58.16, abs=0.03)


def test_example_8_1_acceleration_polygon():
    """Crank 150, rod 600 mm, 300 rpm, 45° from inner dead center; D in the middle of the rod.

    v_AB = 3.4, v_D = 4.1 m/s; a_B = 148.1, a_AB normal 19.2, tangential 103, a_D = 117 m/s^2; omega_AB = 5.67 rad/s,
    alpha_AB = 171.67 rad/s^2.
    """
    results = at_once(builders.slider_crank(0.15, 0.6, crank_angle="45*deg", speed=f"{300 * RPM!r}"))
    velocity = se.velocity_polygon(results, points=["rod"])
    acceleration = se.acceleration_polygon(results, points=["rod"])
    normal, tangential = acceleration.parts("B/A")
    drawn = {
        velocity.size("B/A"): 3.4,
        velocity.size("rod"): 4.1,
        float(np.hypot(*normal)): 19.2,
        float(np.hypot(*tangential)): 103,
        acceleration.size("rod"): 117,
        abs(results["rod.phid"][0]): 5.67,
        abs(results["rod.phidd"][0]): 171.67,
    }
    for exact, measured in drawn.items():
        assert exact == pytest.approx(measured, rel=0.03)
    assert acceleration.size("A") == pytest.approx(148.1, rel=1e-3)
    # closed form: sin phi = sin theta / 4, phid = w cos theta / (4 cos phi)
    w, phi = 300 * RPM, np.arcsin(np.sin(pi / 4) / 4)
    assert abs(results["rod.phid"][0]) == pytest.approx(w * np.cos(pi / 4) / (4 * np.cos(phi)), rel=1e-12)
    alpha = (w**2 * np.sin(pi / 4) / 4 - results["rod.phid"][0] ** 2 * np.sin(phi)) / np.cos(phi)
    assert abs(results["rod.phidd"][0]) == pytest.approx(alpha, rel=1e-9)
