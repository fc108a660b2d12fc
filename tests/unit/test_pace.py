"""Tolerances follow how fast a motion begins."""

from __future__ import annotations

import numpy as np

import simengine2d as se


def test_velocities_that_a_weld_leaves_are_rounding_and_no_pace():
    """Velocities of 1e-16 made tolerances of 1e-22, and steps of nanoseconds."""
    m = se.Model(gravity=(0, 0))
    plate = m.body(
        "plate", mass=0.3, inertia=2, at=(2, -0.6), angle=-0.7, velocity=(-0.13, 0.21), angular_velocity=-0.8
    )
    m.add(se.Fixed("weld", m.ground, plate, at=(1, -0.5)))
    m.add(se.PointForce("push", plate.at(-0.8, 0), fx="1 - 0.3*xd", fy="cos(3*t)", axes="body"))
    r = se.dynamics(m, t_eval=[0, 0.05, 0.1])
    assert r.statistics["steps"] < 10
    # the weld carries the force (1, 1) in the axes of the plate
    np.testing.assert_allclose(np.hypot(r["weld.fx"][0], r["weld.fy"][0]), np.sqrt(2.0), rtol=1e-12)


def test_a_slow_motion_keeps_its_digits():
    """A free body at 1e-6 m/s: the velocity is known to the tolerance of its own size."""
    m = se.Model(gravity=(0, 0))
    stone = m.body("stone", mass=1, inertia=1, velocity=(1e-6, 0))
    m.add(se.PointForce("drag", stone, fx="-2*xd"))
    r = se.dynamics(m, t_eval=[0, 1.0])
    np.testing.assert_allclose(r["stone.xd"][-1], 1e-6 * np.exp(-2.0), rtol=1e-5)
