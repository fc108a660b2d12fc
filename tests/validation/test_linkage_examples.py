"""Linkages and drives with published numbers, each with its source; tolerances are the digits that are printed."""

from __future__ import annotations

from math import acos, degrees, pi, radians

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders


def test_norton_problem_2_15_grashof_conditions():
    """R. L. Norton, Design of Machinery, problem 2-15: three sets of lengths in inches, all link orders.

    a 2, 4.5, 7, 9: Grashof; b 2, 3.5, 7, 9: non-Grashof; c 2, 4, 6, 8: special-case Grashof.
    """
    kinds = [se.grashof(lengths).kind for lengths in ([2, 4.5, 7, 9], [2, 3.5, 7, 9], [2, 4, 6, 8])]
    assert kinds == ["I", "II", "special"]
    inversions = {se.grashof(lengths).type for lengths in ([2, 7, 9, 4.5], [7, 2, 9, 4.5], [7, 9, 4.5, 2])}
    assert inversions == {"crank-rocker", "double-rocker", "double-crank"}


def test_norton_equation_4_37_toggle_angles():
    """R. L. Norton, Design of Machinery, eq. (4.37): theta_2 = acos((a^2 + d^2 - b^2 - c^2) / (2 a d) +- b c / (a d)).

    Lengths of a problem of chapter 4, as quoted at askfilo.com (find the limit positions of the toggle): L2 =
    L4 = 0.86, L3 = 1.85, L1 = 2.22. The formula gives 116.037 degrees; links 3 and 4 are in line there.
    """
    a, b, c, d = 0.86, 1.85, 0.86, 2.22
    cosines = [(a * a + d * d - b * b - c * c) / (2 * a * d) + sign * b * c / (a * d) for sign in (1, -1)]
    (toggle,) = [acos(cosine) for cosine in cosines if abs(cosine) <= 1]
    assert degrees(toggle) == pytest.approx(116.037, abs=5e-4)
    (circuit,) = se.circuits(builders.four_bar(a, b, c, d, crank_angle=0.4, speed=1))
    assert sorted(place.input for place in circuit.dead_points) == pytest.approx([-toggle, toggle], abs=1e-9)


def test_limits_of_a_crank_rocker_with_a_swing_of_75_degrees():
    """Worked solution of problem 2.2 at coursehero.com/file/5956508: O4B = 114 mm swings by 75° between O2B = 229 and
    102 mm. Crank 63.5, coupler 165.5, O2O4 = 154.34 mm; transmission angles from 31.63° to 100.79°.

    Driven by the rocker, the linkage has its dead points there: its input has a range of 75°.
    """
    a, b, c, d = 63.5, 165.5, 114.0, 154.34
    low, high = se.grashof([a, b, c, d]).transmission_range
    assert (degrees(low), degrees(high)) == pytest.approx((31.63, 100.79), abs=0.02)
    limits = se.circuits(builders.four_bar(a, b, c, d, speed=1))[0].toggles("rocker")
    assert degrees(abs(limits[1].output - limits[0].output)) == pytest.approx(75, abs=0.005)
    # the rocker drives, seen from the other side
    for circuit in se.circuits(builders.four_bar(c, b, a, d, crank_angle="80*deg", speed=1)):
        ends = sorted(degrees(place.input) for place in circuit.dead_points)
        assert ends[-1] - ends[0] == pytest.approx(75, abs=0.005)
        reach = [float(np.hypot(*outer_pin(place.q, c, d))) for place in circuit.dead_points]
        assert sorted(round(each, 2) for each in reach)[:: len(reach) - 1] == pytest.approx(
            [102, 229], abs=0.01
        )


def outer_pin(q, crank, ground):
    """From the pivot of the last link to the pin of the first, which turns about the origin."""
    angle = q[2]
    return crank * np.cos(angle) - ground, crank * np.sin(angle)


def test_goessner_crank_rocker_with_a_swing_of_80_degrees():
    """S. Gössner, crocker (github.com/goessner/crocker, Examples/simple.js): crank 60, frame 120, swing 80°, time ratio
    10/9 need a coupler of 103, a rocker of 94, and have the least transmission angle 35°.

    Printed to whole numbers; the exact lengths follow from crank and coupler in line at both ends of the swing.
    """
    a, d, swing = 60.0, 120.0, radians(80)
    alfa = pi * (10 / 9 - 1) / (10 / 9 + 1)
    b, c = crank_rocker(a, d, swing, alfa)
    assert (round(b), round(c)) == (103, 94)
    model = builders.four_bar(a, b, c, d, speed="2*pi")
    assert se.grashof(model).type == "crank-rocker"
    circuit = se.circuits(model)[0]
    limits = [place.output for place in circuit.toggles("rocker")]
    assert degrees(abs(limits[1] - limits[0])) == pytest.approx(80, abs=1e-6)
    # the crank turns by pi + alfa from one to the other
    between = abs(np.diff([place.input for place in circuit.toggles("rocker")])[0])
    assert min(between, 2 * pi - between) == pytest.approx(pi - alfa, abs=1e-6)
    mu = se.transmission_angle(se.kinematics(model, t_end=1, step=1 / 360))
    assert round(degrees(mu.smallest)) == 35
    low, high = se.grashof(model).transmission_range
    assert mu.smallest == pytest.approx(min(low, pi - high), abs=1e-5)


def crank_rocker(a, d, swing, alfa):
    """Coupler and rocker by two circles: the limits of the rocker's pin seen from the crank's pivot at alfa."""
    from scipy.optimize import fsolve

    def gaps(lengths):
        b, c = lengths
        psi = [acos((c * c + d * d - f * f) / (2 * c * d)) for f in (b + a, b - a)]
        phi = [acos((f * f + d * d - c * c) / (2 * f * d)) for f in (b + a, b - a)]
        return psi[0] - psi[1] - swing, abs(phi[1] - phi[0]) - alfa

    return fsolve(gaps, (103.0, 94.0), xtol=1e-13)


def test_statiq_crank_rocker_swing():
    """statiqsolver.com/examples/crank-rocker-4-bar-mechanism: 2, 4, 3.5, 5 m; s + l = 7 < p + q = 7.5; swing 69.8°."""
    kind = se.grashof([2, 4, 3.5, 5])
    assert (kind.short_sum, kind.long_sum, kind.type) == (7, 7.5, "crank-rocker")
    circuit = se.circuits(builders.four_bar(2, 4, 3.5, 5, speed="1"))[0]
    limits = [place.output for place in circuit.toggles("rocker")]
    assert degrees(abs(limits[1] - limits[0])) == pytest.approx(69.8, abs=0.05)


def test_cardan_circles():
    """Cardan's motion (La Hire 1699): the rod of a trammel rolls with the circle on its own length as diameter inside
    one of twice that diameter. Closed form: both centrodes are circles through the instant center."""
    results = se.kinematics(se.load("elliptic_trammel"), t_end=1, step=0.01)
    (rod,) = [name for name in results.bodies if np.ptp(results[f"{name}.phi"]) > 6]
    curves = se.centrodes(results, rod)
    radii = np.hypot(*curves.fixed.T)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-9)
    middle = 0.5 * (curves.moving.max(axis=0) + curves.moving.min(axis=0))
    small = np.hypot(*(curves.moving - middle).T)
    np.testing.assert_allclose(
        small, 0.5 * radii[0], rtol=1e-3
    )  # the middle is known to 1e-3 from 101 points


def test_servo_sizing_of_a_disk_and_of_a_belt():
    """machinemfg.com/servo-motor-sizing, cases 1 and 2.

    1: a disk of 50 kg and 500 mm has 15625 kg cm^2; with a rotor of 8.17 kg cm^2 and at most three times that at the
    motor, the gear must exceed 25. 2: 50 kg on a belt wheel of 120 mm behind gears of 10 and 2, friction 0.6, up to
    30 m/min in 200 ms: friction needs 0.882 N m, acceleration 0.375 N m at the motor.
    """
    disk = se.Model("disk", gravity=(0, 0))
    disk.disk("disk", radius=0.25, mass=50)
    disk.add(se.Revolute("axis", "ground", "disk"))
    disk.add(se.Driver("motor", "angle(ground, disk)", "3*t^2"))
    results = se.inverse_dynamics(disk, t_end=1, step=0.1)
    servo = se.Motor([(0, 5), (210, 5)], [(0, 15), (210, 15)], inertia=8.17e-4)
    np.testing.assert_allclose(se.reflected_inertia(results), 15625e-4, rtol=1e-12)
    assert se.motor_sizing(results, servo, ratio=25).inertia_ratio > 3
    assert se.motor_sizing(results, servo, ratio=26).inertia_ratio < 3

    belt = se.Model("belt", gravity=(0, 0))
    wheel = belt.body("wheel", mass=0, inertia=0, at=(0, 0))
    load = belt.body("load", mass=50, inertia=1, at=(0, 1))
    belt.add(se.Revolute("axis", "ground", wheel))
    belt.add(se.Translational("table", "ground", load, direction=(1, 0)))
    belt.add(se.RackPinion("belt", load, wheel, radius=0.06))
    belt.add(se.Driver("motor", "x(ground, load)", "0.5*2.5*t^2"))
    friction = 50 * 9.8 * 0.6
    for force, published in ((0.0, 0.375), (friction, 0.375 + 0.882)):
        belt.elements.pop("friction", None)
        belt.add(se.PointForce("friction", "load", fx=-force))
        moved = se.inverse_dynamics(belt, t_end=0.2, step=0.02)
        ratio = 10 * 2 / 0.06  # motor turns per meter of the load
        rotor = se.Motor([(0, 5), (500, 5)], [(0, 5), (500, 5)])
        sizing = se.motor_sizing(moved, rotor, ratio=ratio)
        np.testing.assert_allclose(sizing.torque, published, rtol=1e-3)
