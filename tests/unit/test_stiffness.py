"""Exact derivatives of forces against differences of the forces themselves."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from mechanisms import FORCES
from simengine2d.analyses.linear.variation import FIRST, STEPS, Variation
from simengine2d.analyses.statics.stiffness import constraint_stiffness, force_slopes, jacobian_slope
from simengine2d.analyses.statics.tangent_space import closed_near, tangent_space
from simengine2d.system.system import System

T = 0.7
Q = np.array([0.3, -0.2, 0.4, 3.5, 1.1, -0.7])
QD = np.array([0.5, 0.1, -0.8, -0.3, 0.9, 1.2])
H = 4e-3
# order 6: truncation H^6 times a seventh derivative of order 1000, over 140; rounding 1e-16 over H
TOLERANCE = 1e-11


def differences(f, z):
    """Jacobian of f at z, one column for each variable."""
    columns = [FIRST @ np.array([f(z + H * k * unit) for k in STEPS]) / H for unit in np.eye(z.size)]
    return np.column_stack(columns)


def two_bodies(*elements):
    model = se.Model(gravity=(0.3, -2))
    model.body("one", mass=2, inertia=0.5, at=(0, 0), points={"P": (0.6, -0.1)})
    model.body("two", mass=3, inertia=0.7, at=(3, 0), points={"R": (-0.2, 0.5)})
    for element in elements:
        model.add(element)
    return System(model)


@pytest.mark.parametrize("force", FORCES.values(), ids=FORCES)
def test_applied_forces(force):
    system = two_bodies(force)
    by_q, by_qd = force_slopes(system, T, Q, QD)
    expected_q = differences(lambda z: system.QA(T, z, QD), Q)
    expected_qd = differences(lambda z: system.QA(T, Q, z), QD)
    size = 1.0 + max(np.abs(expected_q).max(), np.abs(expected_qd).max())
    np.testing.assert_allclose(by_q, expected_q, rtol=0, atol=TOLERANCE * size)
    np.testing.assert_allclose(by_qd, expected_qd, rtol=0, atol=TOLERANCE * size)


def test_a_python_law_is_good_to_nine_digits():
    force = se.Spring("s", se.distance("one.P", "two.R"), law=lambda s, sd, t: s**3 - 2 * sd * t)
    system = two_bodies(force)
    by_q, by_qd = force_slopes(system, T, Q, QD)
    np.testing.assert_allclose(by_q, differences(lambda z: system.QA(T, z, QD), Q), atol=1e-7)
    np.testing.assert_allclose(by_qd, differences(lambda z: system.QA(T, Q, z), QD), atol=1e-7)


JOINTS = [
    se.Revolute("A", "one.P", "two.R"),
    se.Translational("B", "one.P", "two.R"),
    se.Link("C", "one.P", "two.R", length=2),
    se.Gear("D", "one", "two", radii=(1, 2)),
    se.RackPinion("E", "one.P", "two.R", radius=0.3),
    se.Driver("F", "direction(one.P, two.R)", 0.2),
    se.AbsoluteDistance("G", "two.R", 3),
]


def test_constraints():
    system = two_bodies(*JOINTS)
    lam = np.linspace(-2.0, 3.0, system.m)
    K = constraint_stiffness(system, 0.0, Q, lam)
    np.testing.assert_allclose(K, differences(lambda z: system.Phi_q(T, z).T @ lam, Q), atol=TOLERANCE * 20)
    np.testing.assert_allclose(K, K.T, atol=1e-14)
    rates = jacobian_slope(system, 0.0, Q, QD)
    np.testing.assert_allclose(rates, differences(lambda z: system.Phi_q(T, z) @ QD, Q), atol=TOLERANCE * 20)
    # gamma of constraints that stand still is -(Phi_q qd)_q qd
    np.testing.assert_allclose(-rates @ QD, system.gamma(T, Q, QD), atol=1e-12)


def test_the_tangent_space():
    system = two_bodies(
        se.Revolute("A", "ground.at(0, 1)", "one.P"), se.Link("C", "one.P", "two.R", length=2)
    )
    space = closed_near(system, T, Q)
    assert np.abs(system.Phi(T, space.q)).max() < 1e-14
    J, Z = system.Phi_q(T, space.q), space.motions
    assert (space.rank, space.freedom, Z.shape) == (3, 3, (6, 3))
    np.testing.assert_allclose(J @ Z, 0.0, atol=1e-14)
    lam = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(space.multipliers(J.T @ lam), lam)
    np.testing.assert_allclose(J @ space.change(lam), lam)
    both = np.column_stack([lam, 2 * lam])
    np.testing.assert_allclose(space.multipliers(J.T @ both), both)
    np.testing.assert_allclose(J @ space.change(both), both)


def test_redundant_rows_share_evenly():
    """The same pin twice: the smallest multipliers are halves."""
    system = two_bodies(*(se.Revolute(name, "ground.at(0, 1)", "one.P") for name in ("A", "B")))
    space = tangent_space(system, 0.0, Q)
    force = system.Phi_q(T, Q).T @ np.array([2.0, -4.0, 0.0, 0.0])
    np.testing.assert_allclose(space.multipliers(force), [1.0, -2.0, 1.0, -2.0])
    assert (space.rank, space.freedom) == (2, 4)


def test_a_pose_out_of_reach_does_not_close():
    system = two_bodies(
        se.Link("C", "ground.at(0, 0)", "one", length=1), se.Link("D", "ground.at(9, 0)", "one", length=1)
    )
    assert closed_near(system, T, Q) is None


def test_accelerations_vary_as_they_differ():
    """dqdd of a moving, constrained state against differences along the constraints, to second order."""
    system = two_bodies(
        se.Revolute("A", "ground.at(0, 1)", "one.P"),
        se.Link("C", "one", "two.R", length=3),
        se.PinSlot("S", "ground.at(0, 0, 0.3)", "two"),
        se.Spring("s", se.distance("one.P", "two"), stiffness=5, damping=2, free=1, law="s*sd"),
        se.PointForce("f", "two.R", fx="x", fy="xd", axes="body"),
    )
    q = closed_near(system, T, Q).q
    space = tangent_space(system, 0.0, q)
    qd = QD - space.change(system.Phi_q(T, q) @ QD)
    here = Variation(system, T, q, qd)
    rng = np.random.default_rng(0)
    v, w = rng.standard_normal((2, space.freedom))

    def state(e):
        """Along a path over the constraints whose tangent at e = 0 is (dq, dqd)."""
        there = closed_near(system, T, q + e * (here.Z @ v))
        rates = qd + e * (here.Z @ w + here.rates_with(here.Z @ v))
        rates = rates - there.change(system.Phi_q(T, there.q) @ rates)
        return there.q, rates

    h = 1e-3
    path = [state(h * k) for k in STEPS]
    dq, dqd = (FIRST @ np.array([s[i] for s in path]) / h for i in (0, 1))
    varied = [Variation(system, T, *s) for s in path]
    dqdd, dlam = here.answer(dq[:, None], dqd[:, None], np.zeros((system.n, 1)))
    size = np.abs(here.qdd).max()
    np.testing.assert_allclose(dqdd[:, 0], FIRST @ np.array([x.qdd for x in varied]) / h, atol=1e-8 * size)
    np.testing.assert_allclose(dlam[:, 0], FIRST @ np.array([x.lam for x in varied]) / h, atol=1e-7 * size)
