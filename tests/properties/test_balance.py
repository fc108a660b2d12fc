"""Newton and Euler for every body of random mechanisms, from the reported reactions and forces alone:

    m rdd = m g + sum F,      J phidd = sum T   (about the mass center)

and the opposite balance of the ground; the power of the same motion balances too.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import simengine2d as se
from simengine2d import builders

# rounding of the linear solver, whose pivots are masses that differ by a factor of 100
TOLERANCE = 1e-9

# without JIT a run takes a second, so failing examples are not shrunk
quickly = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
numbers = st.floats(-1.0, 1.0).map(lambda v: round(v, 3))
positive = st.floats(0.2, 2.0).map(lambda v: round(v, 3))
places = st.tuples(numbers, numbers)

JOINTS = {
    "pin": lambda name, a, b, at: se.Revolute(name, a, b, at=at),
    "guide": lambda name, a, b, at: se.Translational(name, a, b, at=(*at, 0.4)),
    "slot": lambda name, a, b, at: se.PinSlot(name, a, b, at=(*at, 0.4)),
    "weld": lambda name, a, b, at: se.Fixed(name, a, b, at=at),
    "rod": lambda name, a, b, at: se.Link(name, se.Frame(a.name, place=(0, 3, 0)), b),
}


@st.composite
def trees(draw):
    """Bodies, each held by the one before it or by the ground, with springs, forces and torques."""
    model = se.Model("tree", gravity=draw(places))
    sides = [model.ground]
    for i in range(draw(st.integers(1, 4))):
        body = model.body(
            f"body{i}", mass=draw(positive), inertia=draw(positive), at=(2.0 * i + 2, draw(numbers)),
            angle=draw(numbers), velocity=draw(places), angular_velocity=draw(numbers),
            points={"P": draw(places), "Q": draw(places)},
        )  # fmt: skip
        parent = sides[draw(st.integers(0, i))]
        kind = draw(st.sampled_from(["pin", "guide", "slot", "weld", "rod"]))
        model.add(JOINTS[kind](f"{kind}{i}", parent, body, (2.0 * i + 1, draw(numbers))))
        sides.append(body)
    for i, body in enumerate(sides[1:]):
        draw(st.sampled_from(LOADS))(model, f"load{i}", sides[0], body)
    return model


def spring(model, name, ground, body):
    measure = se.distance(se.Frame("ground", place=(0, 5, 0)), body["P"])
    model.add(se.Spring(name, measure, stiffness=3, damping=0.4, free=4, actuator="sin(t)", law="0.1*s*sd"))


def torsion(model, name, ground, body):
    model.add(se.Spring(name, se.angle(ground, body), stiffness=2, damping=0.1, free=0.5))


def push(model, name, ground, body):
    model.add(se.PointForce(name, body["Q"], fx="1 - 0.3*xd", fy="cos(3*t)", axes="body"))


def twist(model, name, ground, body):
    model.add(se.Torque(name, body, "2*sin(t) - 0.2*phid"))


def nothing(model, name, ground, body):
    pass


LOADS = [spring, torsion, push, twist, nothing]


def check_balance(results):
    """All bodies and the ground, at every time."""
    model, system = results.model, results.system
    total = {body: np.zeros((3, results.t.size)) for body in [*results.bodies, "ground"]}
    size = np.full(3, 1e-12)
    for name in model.elements:
        for body in total:
            try:
                found = np.array(results.reaction(name, on=body, at=body))
            except se.ModelError as error:
                assert "does not act on" in str(error)
                continue
            total[body] += found
            size = np.maximum(size, np.abs(found).max(axis=1))
    gravity = np.array([*system.resolved.gravity, 0.0])
    moments = np.zeros((3, results.t.size))
    for i, (body, mass) in enumerate(zip(results.bodies, system.M().diagonal().reshape(-1, 3), strict=True)):
        weight, inertial = mass * gravity, mass * results.qdd[:, 3 * i : 3 * i + 3]
        size = np.maximum(size, np.maximum(np.abs(weight), np.abs(inertial).max(axis=0)))
        assert np.all(np.abs(total[body].T + weight - inertial) <= TOLERANCE * size.max())
        # what the body takes up, about the origin
        fx, fy, torque = (inertial - weight).T
        x, y = results[f"{body}.x"], results[f"{body}.y"]
        moments += [fx, fy, torque + x * fy - y * fx]
    reach = 1.0 + np.abs(results.q).max()
    assert np.all(np.abs(total["ground"] + moments) <= TOLERANCE * size.max() * reach)
    # at rest there is no power to compare with, and next to it that of rounding: forces on velocities of 1e-15
    if np.abs(results.qd).max() > 1e-3:
        assert results.power_balance() <= TOLERANCE


@quickly
@given(model=trees())
def test_trees(model):
    check_balance(se.dynamics(model, t_eval=[0.0, 0.05, 0.1]))


@pytest.mark.slow
@quickly
@given(model=trees(), integrator=st.sampled_from(["newmark", "hht", "generalized_alpha"]))
def test_trees_with_fixed_steps(model, integrator):
    """The index-3 methods close the balance as well: the multipliers belong to the accelerations of the same time."""
    results = se.dynamics(model, t_end=0.1, step=0.02, integrator=integrator)
    residual = [
        s.M() @ qdd + s.Phi_q(t, q).T @ lam - s.QA(t, q, qd)
        for s in [results.system]
        for t, q, qd, qdd, lam in zip(results.t, results.q, results.qd, results.qdd, results.lam, strict=True)
    ]
    # Newton stops when the accelerations change by less than 1e-10
    size = 1.0 + np.abs(results.lam).max(initial=0.0) + np.abs(results.qdd).max()
    assert np.abs(residual).max() <= 1e-8 * size


@quickly
@given(angle=st.floats(0.3, 1.4), masses=st.tuples(positive, positive, positive), stiffness=positive)
def test_closed_four_bar(angle, masses, stiffness):
    model = builders.four_bar(1, 2, 2.2, 2.5, crank_angle=angle, masses=masses)
    model.add(se.Spring("spring", "distance(crank.end, rocker.start)", stiffness=stiffness, free=1))
    model.add(se.Torque("motor", "crank", "1 + 0.1*phid"))
    check_balance(se.dynamics(model, t_eval=[0.0, 0.1, 0.2]))


@quickly
@given(speed=st.floats(-5.0, 5.0), offset=st.floats(-0.5, 0.5), damping=positive)
def test_driven_slider_crank(speed, offset, damping):
    model = builders.slider_crank(1, 2.5, offset, speed=speed, slider_mass=2)
    model.add(se.Spring("damper", "along(ground, slider)", damping=damping))
    check_balance(se.dynamics(model, t_eval=[0.0, 0.1, 0.2]))


@quickly
@given(ratio=positive, spin=numbers)
def test_gears_and_couplers(ratio, spin):
    """Joints whose rows are weighted sums of several measures, on a carrier that turns."""
    model = se.Model("gears")
    arm = model.body("arm", mass=1, inertia=0.5, at=(1, 0), angular_velocity=0.5, velocity=(0, 0.5))
    sun = model.body("sun", mass=2, inertia=0.2, at=(0, 0), angular_velocity=spin, velocity=(0, 0))
    planet = model.body("planet", mass=1, inertia=ratio, at=(2, 0))
    model.add(se.Revolute("O", model.ground, arm, at=(0, 0)))
    model.add(se.Revolute("S", model.ground, sun, at=(0, 0)))
    model.add(se.Revolute("P", arm, planet, at=(2, 0)))
    model.add(se.Gear("mesh", sun, planet, radii=(2 * ratio / (1 + ratio), 2 / (1 + ratio))))
    model.add(se.Torque("motor", sun, 3))
    check_balance(se.dynamics(model, t_eval=[0.0, 0.1, 0.2]))


def test_a_reaction_does_not_depend_on_the_point_or_the_axes():
    """Moving the point changes the torque by the arm; other axes turn the force."""
    results = se.dynamics(builders.slider_crank(1, 2, speed=3), t_eval=[0.0, 0.3, 0.7])
    at_center = results.reaction("A", on="rod", at="rod")
    at_end = results.reaction("A", on="rod", at="end")
    arm_x = results["rod.end.x"] - results["rod.x"]
    arm_y = results["rod.end.y"] - results["rod.y"]
    np.testing.assert_allclose(at_end.fx, at_center.fx)
    torque = at_center.torque - (arm_x * at_center.fy - arm_y * at_center.fx)
    np.testing.assert_allclose(at_end.torque, torque, atol=1e-12)
    turned = results.reaction("A", on="rod", expressed_in="rod")
    along = at_center.fx * np.cos(results["rod.phi"]) + at_center.fy * np.sin(results["rod.phi"])
    np.testing.assert_allclose(turned.fx, along, atol=1e-12)
    np.testing.assert_allclose(results.reaction("A", on="rod").torque, 0.0, atol=1e-12)  # a pin has none


def test_torque_that_a_guide_carries_alone():
    """Nothing accelerates, so what is left of the equations can only be compared with the torque."""
    model = se.Model("guide", gravity=(0, 0))
    body = model.body("body", mass=1.2, inertia=0.7, at=(2, -0.3), angle=0.038, velocity=(0.35, 0.15))
    model.add(se.Translational("guide", model.ground, body, at=(1, 0.1, 0.4)))
    model.add(se.Torque("twist", body, "2*sin(t) - 0.2*phid"))
    for options in ({}, {"coordinates": "reference_point"}):
        check_balance(se.dynamics(model, t_end=0.1, **options))
    assert se.dynamics(model, t_end=0.1, step=0.02, integrator="hht").verdict.is_good
