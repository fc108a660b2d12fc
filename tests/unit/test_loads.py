"""Applied forces: QA of every force element against a formula written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.errors import ModelError
from simengine2d.model.elements import Element, ForceElement
from simengine2d.model.registry import element_names
from simengine2d.system.system import System

Q0 = np.array([0.3, -0.2, 0.4, 2.5, 1.1, -0.7])
QD0 = np.array([0.5, 0.1, -0.8, -0.3, 0.9, 1.2])
P = np.array([0.6, -0.1])  # a point of body one
R = np.array([-0.2, 0.5])  # a point of body two


def two_bodies(*forces, gravity=(0, 0)):
    model = se.Model(gravity=gravity)
    model.body("one", mass=2, inertia=0.5, at=(0, 0), points={"P": P})
    model.body("two", mass=3, inertia=0.7, at=(2, 0), points={"R": R})
    for force in forces:
        model.add(force)
    return System(model)


def rotation(phi):
    return np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]])


def at_point(force, arm):
    """Generalized force of a force at an arm from the mass center."""
    return [*force, arm[0] * force[1] - arm[1] * force[0]]


def arms(q=Q0):
    return rotation(q[2]) @ P, rotation(q[5]) @ R


def line(q=Q0, qd=QD0):
    """Vector from P to R and its rate."""
    arm_p, arm_r = arms(q)
    turned = lambda arm, omega: omega * np.array([-arm[1], arm[0]])
    d = q[3:5] + arm_r - q[0:2] - arm_p
    dd = qd[3:5] + turned(arm_r, qd[5]) - qd[0:2] - turned(arm_p, qd[2])
    return d, dd


def test_weight():
    system = two_bodies(gravity=(1.0, -9.81))
    np.testing.assert_allclose(system.QA(0.0, Q0, QD0), [2.0, -19.62, 0.0, 3.0, -29.43, 0.0])


def test_a_spring_between_points():
    """TSDA: tension k (l - l0) + c ld + h pulls P and R together."""
    spring = se.Spring("s", se.distance("one.P", "two.R"), stiffness=40, damping=3, free=0.8, actuator="5*t")
    system = two_bodies(spring)
    (d, dd), (arm_p, arm_r) = line(), arms()
    length = np.linalg.norm(d)
    tension = 40 * (length - 0.8) + 3 * d @ dd / length + 5 * 0.6
    pull = tension * d / length
    np.testing.assert_allclose(system.QA(0.6, Q0, QD0), [*at_point(pull, arm_p), *at_point(-pull, arm_r)])


def test_a_torsion_spring():
    """RSDA: torque k (phi_2 - phi_1 - free) + c (phid_2 - phid_1), + on the first body and - on the second."""
    system = two_bodies(se.Spring("s", se.angle("one", "two"), stiffness=40, damping=3, free=0.8))
    torque = 40 * (-0.7 - 0.4 - 0.8) + 3 * (1.2 + 0.8)
    np.testing.assert_allclose(system.QA(0.0, Q0, QD0), [0, 0, torque, 0, 0, -torque])


def test_a_spring_with_a_law_of_its_own():
    spring = se.Spring("s", se.distance("one.P", "two.R"), stiffness=10, free=1, law="2*s^3 + sd*s")
    d, dd = line()
    length = np.linalg.norm(d)
    rate = d @ dd / length
    tension = 10 * (length - 1) + 2 * length**3 + rate * length
    Q = two_bodies(spring).QA(0.0, Q0, QD0)
    np.testing.assert_allclose(Q[:2], tension * d / length)
    np.testing.assert_allclose(Q[3:5], -tension * d / length)


@pytest.mark.parametrize(
    "law", ["3*s - sd", lambda s, sd, t: 3 * s - sd, se.Table(of="s", points=(0, 5), values=(0, 15))]
)
def test_springs_on_other_measures(law):
    """Along the axis of body one: its reaction follows the axis, and the moment that turns it acts on body one."""
    measure = se.along("one.P", "two.R")
    d, dd = line()
    u = rotation(Q0[2]) @ [1.0, 0.0]
    v = rotation(Q0[2]) @ [0.0, 1.0]
    s, sd = u @ d, u @ dd + QD0[2] * v @ d
    g = 3 * s - (0 if isinstance(law, se.Table) else sd)
    arm_p, arm_r = arms()
    on_one = np.array(at_point(g * u, arm_p)) - [0, 0, g * v @ d]
    Q = two_bodies(se.Spring("s", measure, law=law)).QA(0.0, Q0, QD0)
    np.testing.assert_allclose(Q, [*on_one, *at_point(-g * u, arm_r)], atol=1e-13)


def test_a_point_force_in_global_axes():
    force = se.PointForce("f", "one.P", fx="2*t", fy="3 - xd")
    expected = at_point([1.2, 3 - QD0[0]], arms()[0])
    np.testing.assert_allclose(two_bodies(force).QA(0.6, Q0, QD0), [*expected, 0, 0, 0])


def test_a_point_force_that_turns_with_the_body():
    force = se.PointForce("f", "two.R", fx=2, fy=-1, axes="body")
    expected = at_point(rotation(Q0[5]) @ [2, -1], arms()[1])
    np.testing.assert_allclose(two_bodies(force).QA(0.0, Q0, QD0), [0, 0, 0, *expected])


def test_a_force_by_a_python_law():
    force = se.PointForce("f", "two.R", law=lambda t, q, qd: (q[0] * t, -qd[1]))
    expected = at_point([Q0[3] * 0.5, -QD0[4]], arms()[1])
    np.testing.assert_allclose(two_bodies(force).QA(0.5, Q0, QD0), [0, 0, 0, *expected])


@pytest.mark.parametrize("given", [{"value": "4*t - phid"}, {"law": lambda t, q, qd: 4 * t - qd[2]}])
def test_a_torque(given):
    Q = two_bodies(se.Torque("m", "one.P", **given)).QA(0.5, Q0, QD0)
    np.testing.assert_allclose(Q, [0, 0, 2 + 0.8, 0, 0, 0])


def test_forces_add():
    forces = [
        se.Spring("s", se.distance("one.P", "two.R"), stiffness=40, free=0.8),
        se.PointForce("f", "one.P", fx=1),
        se.Torque("m", "two", 3),
    ]
    alone = sum(two_bodies(force).QA(0.0, Q0, QD0) for force in forces)
    np.testing.assert_allclose(two_bodies(*forces).QA(0.0, Q0, QD0), alone, atol=1e-13)


MEASURES = ["distance", "half_distance2", "angle", "along", "across", "misalignment", "x", "y", "direction"]


@pytest.mark.parametrize("kind", MEASURES)
def test_the_power_of_a_push_is_minus_g_times_the_rate(kind):
    """Q . qd = -g sd for every measure."""
    measure = getattr(se, kind)("one.P", "two.R") + 0.3 * se.angle("one", "two")
    system = two_bodies(se.Spring("s", measure, stiffness=40, damping=3, free=0.8, law="s^2 + t"))
    results = se.Results(system.model, *(np.array([part]) for part in (0.5, Q0, QD0, np.zeros(6))))
    (s,), (sd,), _ = results.measure(measure)
    g = 40 * (s - 0.8) + 3 * sd + s**2 + 0.5
    assert system.QA(0.5, Q0, QD0) @ QD0 == pytest.approx(-g * sd, rel=1e-12)
    assert results["s.force"][0] == pytest.approx(g, rel=1e-12)


def test_a_massless_point_at_zero_distance_pulls_nowhere():
    system = two_bodies(se.Spring("s", se.distance("one", "two"), stiffness=40, free=1))
    np.testing.assert_array_equal(system.QA(0.0, np.zeros(6), np.zeros(6)), 0.0)


def test_every_registered_force_is_proved_here():
    forces = [name for name in element_names() if issubclass(Element.registry[name], ForceElement)]
    elsewhere = ["Force"]  # in test_custom_forces
    assert sorted(forces) == sorted(["PointForce", "Spring", "Torque", *elsewhere])


def test_a_force_on_the_ground_does_nothing():
    """A force needs a body, but a spring may end at the ground."""
    system = two_bodies(se.Spring("s", se.distance("ground", "two"), stiffness=1, free=0))
    Q = system.QA(0.0, Q0, QD0)
    np.testing.assert_allclose(Q, [0, 0, 0, -Q0[3], -Q0[4], 0])


def test_a_point_force_on_the_ground_is_refused():
    with pytest.raises(ModelError, match="PointForce 'f' acts on the ground"):
        two_bodies(se.PointForce("f", "ground", fx=1))
