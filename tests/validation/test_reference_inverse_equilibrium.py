"""Inverse dynamics, equilibria and small vibrations against reference values in closed form.

Sources: the door and the pendulum with a rotational spring of the course ME451 (University of Wisconsin-Madison,
Kinematics and Dynamics of Machine Systems), the pendulum also as Models/pendEQL.adm of R. Serban, simEngine2D; its
slider-crank, Models/sliderCrankKIN.adm, by Eksergian's equation. All evaluated with 30 digits.
"""

from __future__ import annotations

import json
from math import cos, pi, sin

import numpy as np
import pytest
from course import PROBLEMS

import simengine2d as se
from mechanisms import slider_crank
from simengine2d import builders

# The door ---------------------------------------------------------------------------------------------

DOOR_TIMES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
DOOR = {
    "motor.torque": [
        1.2337005501361697, 2.2407361563188744, 2.9066399950258686, 3.1300342432473425, 2.8769091517654792,
        1.1619239451161487, -1.2337005501361697,
    ],
    "hinge.fx": [
        -22.83025571109432, -12.925208976411056, 4.140091391578964, 12.933149343415675, 14.53419219389054,
        4.140091391578964, -22.83025571109432,
    ],
    "hinge.fy": [
        0.0, -15.608067597282545, -14.791421790765648, -4.921282501552137, 0.0, -14.791421790765648, 0.0,
    ],
}  # fmt: skip


def door() -> se.Model:
    """Half-length 0.5 m, 30 kg, 2.5 kg m^2, a door closer of 8 N m/rad and 1 N m s/rad, no gravity."""
    model = se.Model("door", gravity=(0, 0))
    panel = model.body("door", mass=30, inertia=2.5, at=(0.5, 0), points={"H": (-0.5, 0)})
    model.add(se.Revolute("hinge", model.ground, panel["H"]))
    model.add(se.Spring("closer", se.angle(model.ground, panel), stiffness=8, damping=1))
    model.add(se.Driver("motor", se.angle(model.ground, panel), "pi/2*sin(pi*t/4)"))
    return model


@pytest.mark.parametrize("channel", DOOR)
def test_the_door(channel):
    """Asked for to 1e-8; there is no discretization, so rounding remains."""
    results = se.inverse_dynamics(door(), t_eval=DOOR_TIMES)
    np.testing.assert_allclose(results[channel], DOOR[channel], rtol=0, atol=1e-12)


def test_the_door_as_the_course_writes_it():
    """With absolute constraints instead of a hinge and a driver; the constraint that moves is the actuator."""
    model = door()
    for name in ("hinge", "motor"):
        del model.elements[name]
    model.add(se.AbsoluteX("hinge x", "door.H"))
    model.add(se.AbsoluteY("hinge y", "door.H"))
    model.add(se.AbsoluteAngle("motor", "door", "pi/2*sin(pi*t/4)"))
    results = se.inverse_dynamics(model, t_eval=DOOR_TIMES)
    np.testing.assert_allclose(results["motor.torque"], DOOR["motor.torque"], atol=1e-12)
    np.testing.assert_allclose(results["hinge x.fx"], DOOR["hinge.fx"], atol=1e-12)


# The slider-crank -------------------------------------------------------------------------------------

CRANK_TIMES = [0.5, 1.0, 1.3, 2.0, 5.0]
CRANK = {
    "motor.torque": [
        240.4757601554012, 593.715699183015, -408.0165994398936, 517.8050154655259, -3699.7876395618596,
    ],
    "guide.fy": [
        58.83501804831051, -8.017778456737206, 137.6351242810991, -75.62153627711179, 469.15045712294796,
    ],
    "A.fx": [
        -71.14851129345486, -118.42602057928566, 117.81736055373813, 363.1108270445541, -4851.384327524099,
    ],
    "A.fy": [29.787507256690088, 72.78610249176536, -100.8543552010359, 218.91085237630955, -299.3649733219225],
}  # fmt: skip


def driven_slider_crank() -> se.Model:
    model = slider_crank()
    model.add(se.Driver("motor", se.angle(model.ground, "crank"), "t^2"))
    return model


@pytest.mark.parametrize("channel", CRANK)
def test_the_slider_crank(channel):
    found = se.inverse_dynamics(driven_slider_crank(), t_eval=[0.0, *CRANK_TIMES])[channel][1:]
    np.testing.assert_allclose(found, CRANK[channel], rtol=1e-9)


# Equilibria of the pendulum with a rotational spring --------------------------------------------------

PENDULUMS = {  # distance of the mass center, inertia, free angle; the roots of m g L cos(phi) + k (phi - free) = 0
    "half": (1.0, 10 / 3, 0.0, [-1.247315831051343, 2.1509498681045187, 3.5697651219315274]),
    "full": (0.5, 0.8333333333333334, 0.0, [-1.0225602752952518]),
    "pendEQL": (1.0, 10.0, 1.0, [-1.0277415403994945, 1.7677116072578418, 3.88601669866749]),
}
# V'' = k - m g L sin(phi), from the same source
CURVATURES = {
    "half": [118.01203, -57.04873, 65.731997],
    "full": [66.861487],
    "pendEQL": [108.98676, -71.204193, 91.46749],
}


def pendulum(kind: str, phi: float = 0.75 * pi) -> se.Model:
    """10 kg on a spring of 25 N m/rad and a damper of 50 N m s/rad, drawn at 135 degrees."""
    length, inertia, free, _ = PENDULUMS[kind]
    model = se.Model(kind)
    place = (length * cos(phi), length * sin(phi))
    bar = model.body("bar", mass=10, inertia=inertia, at=place, angle=phi, points={"O": (-length, 0)})
    model.add(se.Revolute("O", model.ground.at(0, 0), bar["O"]))
    model.add(se.Spring("rsda", se.angle(model.ground, bar), stiffness=25, damping=50, free=free))
    return model


@pytest.mark.parametrize("kind", PENDULUMS)
def test_all_equilibria_at_once(kind):
    length, inertia, _, roots = PENDULUMS[kind]
    found = se.equilibrium(pendulum(kind), all=True)
    np.testing.assert_allclose(found["bar.phi"], roots, rtol=0, atol=1e-13)
    assert found.stable.tolist() == [curvature > 0 for curvature in CURVATURES[kind]]
    np.testing.assert_allclose(found["O.fy"], 98.1)  # the pin carries the weight
    # V'' = w^2 (J + m L^2); in the source to eight digits
    for one, curvature in zip(found, CURVATURES[kind], strict=True):
        stiffness = one.stability[0].value
        assert np.sign(stiffness) == np.sign(curvature)
        undamped = pendulum(kind)
        undamped.elements["rsda"].damping = 0.0
        square = np.square(se.modes(undamped, at=one).rates[0]).real
        assert -square * (inertia + 10 * length**2) == pytest.approx(curvature, rel=1e-7)


@pytest.mark.parametrize("method", ["newton", "relaxation", "energy"])
@pytest.mark.parametrize(
    ("kind", "index"), [(kind, i) for kind in PENDULUMS for i in range(0, len(PENDULUMS[kind][3]), 2)]
)
def test_every_method_finds_the_stable_ones(method, kind, index):
    root = PENDULUMS[kind][3][index]
    found = se.equilibrium(pendulum(kind), method=method, start={"bar.phi": root + 0.3})
    np.testing.assert_allclose(found["bar.phi"], [root], rtol=0, atol=1e-13)
    assert found.stable.all()


@pytest.mark.parametrize("kind", ["half", "pendEQL"])
def test_newton_finds_the_unstable_one_and_the_others_leave_it(kind):
    root = PENDULUMS[kind][3][1]
    found = se.equilibrium(pendulum(kind), start={"bar.phi": root + 0.3})
    np.testing.assert_allclose(found["bar.phi"], [root], rtol=0, atol=1e-13)
    assert not found.stable.any()
    for method in ("relaxation", "energy"):
        left = se.equilibrium(pendulum(kind), method=method, start={"bar.phi": root + 0.1})
        np.testing.assert_allclose(left["bar.phi"], PENDULUMS[kind][3][2:], rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", PENDULUMS)
@pytest.mark.parametrize("method", ["relaxation", "energy"])
def test_from_the_pose_of_the_course(kind, method):
    """Let go at 135 degrees it settles, says the source, in the last root."""
    found = se.equilibrium(pendulum(kind), method=method)
    np.testing.assert_allclose(found["bar.phi"], PENDULUMS[kind][3][-1:], rtol=0, atol=1e-13)


def test_newton_goes_round_where_its_steps_end_in_a_dip():
    """From 135 degrees the force of the short pendulum first shrinks towards a dip without a root."""
    found = se.equilibrium(pendulum("full"))
    np.testing.assert_allclose(found["bar.phi"], PENDULUMS["full"][3], rtol=0, atol=1e-13)


# Hanging chains ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rods", "squares"),
    [(1, [1.5]), (2, [3 - 6 / np.sqrt(7), 3 + 6 / np.sqrt(7)])],
)
def test_hanging_chains(rods, squares):
    """w^2 L / g of uniform rods: the roots of 2 x - 3 = 0 and of 7 x^2 - 42 x + 27 = 0."""
    found = se.modes(builders.chain(rods))
    np.testing.assert_allclose(found.omega, np.sqrt(9.81 * np.array(squares)), rtol=1e-13)
    np.testing.assert_array_equal(found.damping, 0.0)


# The same numbers where the reference file is at hand -------------------------------------------------


@pytest.mark.skipif(not PROBLEMS.exists(), reason="the reference file is not at hand")
def test_the_numbers_above_are_those_of_the_reference():
    problems = {problem["id"]: problem for problem in json.loads(PROBLEMS.read_text())["problems"]}
    values = lambda name, start: [
        e["value"] for e in problems[name]["expected"] if e["name"].startswith(start)
    ]
    assert values("me451_door_inverse_dynamics", "motor torque") == DOOR["motor.torque"]
    assert values("me451_door_inverse_dynamics", "hinge force on door Fx") == DOOR["hinge.fx"]
    assert values("slidercrank_kinematics_inverse_t2", "driving torque") == CRANK["motor.torque"]
    for kind in PENDULUMS:
        assert values(f"me451_equilibrium_{kind}", "phi_eq") == PENDULUMS[kind][3]
