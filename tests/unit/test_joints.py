"""Joints: where their frames sit, what they hold, and what they refuse.

Lengths are of order 1 and angles below 20 rad: motions are good to 1e-12, and gears over several turns to 1e-11.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import simengine2d as se
from simengine2d.model.elements import Element, Joint
from simengine2d.model.registry import element_class, element_names
from simengine2d.system.system import System


def pair(joint=None, **options):
    """Two bodies drawn askew, and perhaps a joint."""
    model = se.Model()
    model.body("a", at=(1, 2), angle=0.3, points={"P": (0.5, 0), "Q": (0, 1, 0.2)})
    model.body("b", at=(4, 1), angle=-0.4, points={"P": (-0.5, 0.5), "R": (1, 0)}, **options)
    if joint is not None:
        model.add(joint)
    return model


def placed(joint):
    """The two frames of a joint, resolved."""
    resolved = pair(joint).check().elements[joint.name]
    return resolved.a, resolved.b


def where(frame):
    return (frame.drawn_x, frame.drawn_y, frame.drawn_angle)


def refused(joint):
    with pytest.raises(se.ModelError) as caught:
        pair(joint).check()
    return str(caught.value)


# Registry ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in element_names() if issubclass(Element.registry[n], Joint)])
def test_every_joint_states_its_equation(name):
    assert "Phi" in (Element.registry[name].__doc__ or "")


def test_types_are_found_however_they_are_capitalized():
    assert element_class("revolute") is se.Revolute
    assert element_class("PINSLOT") is se.PinSlot
    assert element_class("hing") is None


# Placement --------------------------------------------------------------------------------------------


def test_points_stand_where_their_bodies_hold_them():
    a, b = placed(se.Revolute("J", "a.P", "b"))
    assert where(a) == pytest.approx((1 + 0.5 * math.cos(0.3), 2 + 0.5 * math.sin(0.3), 0.3))
    assert where(b) == pytest.approx((4, 1, -0.4))


def test_a_point_may_have_its_own_angle():
    a, _ = placed(se.PinSlot("J", "a.Q", "b"))
    assert a.drawn_angle == pytest.approx(0.5)


def test_the_ground_stands_under_the_other_side():
    for joint in (se.Revolute("J", "ground", "b.P"), se.Revolute("J", "b.P", "ground")):
        a, b = placed(joint)
        assert where(a) == pytest.approx(where(b))


def test_a_ground_point_is_taken_as_it_is():
    model = pair()
    model.ground.points["G"] = (7, 8)
    model.add(se.Revolute("J", "ground.G", "b"))
    assert where(model.check().elements["J"].a) == (7, 8, 0)


def test_a_joint_given_by_its_place():
    a, b = placed(se.Revolute("J", "a", "b", at=(2, 2)))
    assert where(a)[:2] == pytest.approx((2, 2))
    assert where(b) == pytest.approx((2, 2, -0.4))  # the axis is that of b
    a, b = placed(se.Translational("J", "a", "b", at=(2, 2, "90*deg")))
    assert where(a) == pytest.approx((2, 2, math.pi / 2))
    assert where(b) == pytest.approx((2, 2, math.pi / 2))


def test_a_place_on_the_ground_takes_the_axis_of_the_body():
    for sides in (("ground", "b"), ("b", "ground")):
        a, b = placed(se.Translational("J", *sides, at=(2, 2)))
        assert where(a) == pytest.approx((2, 2, -0.4))
        assert where(b) == pytest.approx((2, 2, -0.4))


@pytest.mark.parametrize("direction", [(0, 3), "90*deg", math.pi / 2, np.array([0.0, 2.0]), ["0", "1"]])
def test_a_direction_turns_both_axes(direction):
    a, b = placed(se.Translational("J", "a.P", "b", direction=direction))
    assert a.drawn_angle == pytest.approx(math.pi / 2)
    assert b.drawn_angle == pytest.approx(math.pi / 2)
    assert where(a)[:2] == pytest.approx((1 + 0.5 * math.cos(0.3), 2 + 0.5 * math.sin(0.3)))


def test_places_and_directions_may_be_expressions():
    model = pair(se.Translational("J", "a", "b", at=("L", "L/2"), direction=("cos(L)", "sin(L)")))
    model.parameters["L"] = 1.5
    assert where(model.check().elements["J"].a) == pytest.approx((1.5, 0.75, 1.5))


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        (se.Revolute("J", "a.P", "b", at=(0, 0)), "has both a position, at=[0, 0], and the points"),
        (se.Revolute("J", "a", "b", at=(0,)), "must be [x, y] or [x, y, angle]"),
        (se.Revolute("J", "a", "b", at=(0, "z")), "unknown name 'z'"),
        (se.Translational("J", "a", "b", direction=(0, 0)), "has no length"),
        (se.Translational("J", "a", "b", direction=(1, 2, 3)), "must be an angle or a vector"),
        (se.Translational("J", "a", "b", direction=(1, math.nan)), "not a finite number"),
        (se.Translational("J", "a", "b", direction="north"), "unknown name 'north'"),
        (se.Link("J", "a", "b", length=0), "length 0; it must be positive"),
        (se.Link("J", "a", "b", length="-1"), "length -1"),
        (se.Link("J", "a", "b", at=(0, 0)), "length 0"),
        (se.RackPinion("J", "a", "b", radius=0), "radius 0"),
        (se.Gear("J", "a", "b"), "either radii or teeth"),
        (se.Gear("J", "a", "b", radii=(1, 2), teeth=(10, 20)), "either radii or teeth"),
        (se.Gear("J", "a", "b", radii=(1,)), "two positive numbers"),
        (se.Gear("J", "a", "b", teeth=(10, -20)), "two positive numbers"),
        (se.Gear("J", "a", "b", radii=(2, 1), internal=True), "must be smaller"),
        (se.Gear("J", "a", "b", radii=(1, 2), at=(0, 0)), "centers coincide"),
        (se.Belt("J", "a", "b", radii=(1, 0)), "two positive numbers"),
        (se.Belt("J", "a", "b", radii=(1, 2), at=(0, 0)), "centers coincide"),
        (se.AbsoluteDistance("J", "a", 1.0, center=(1, 2, 3)), "must be two numbers"),
        (se.Driver("J", "angle(a, b)", "omega*t"), "unknown name 'omega'"),
        (se.Driver("J", "angle(a.X, b)", "t"), "body 'a' has no point 'X'"),
        (se.Coupler("J", "angle(a, b)*angle(a, b)"), "not a weighted sum"),
    ],
)
def test_what_cannot_be_placed_is_said_in_words(joint, sentence):
    message = refused(joint)
    assert sentence in message
    assert "'J'" in message


# What the joints hold ---------------------------------------------------------------------------------


def test_bodies_are_welded_as_drawn():
    system = System(pair(se.Fixed("J", "a", "b")))
    np.testing.assert_allclose(system.Phi(0.0, system.drawn_q), 0.0, atol=1e-15)
    a, b = placed(se.Fixed("J", "a", "b.P"))
    assert where(a) == pytest.approx(where(b))


def test_a_weld_of_two_points_brings_them_together():
    q = se.assemble(pair(se.Fixed("J", "a.P", "b.R"))).q
    assert q[5] == pytest.approx(q[2])  # and their axes


def test_a_weld_keeps_whole_turns():
    model = se.Model()
    model.body("a")
    model.body("b", at=(1, 0), angle="4*pi + 0.1", points={"P": (0, 0, -0.1)})
    model.add(se.Fixed("J", se.Frame("a", place=(1, 0, 0)), "b.P"))
    assert max(abs(turn) for _, turn in se.assemble(model).moved.values()) < 1e-12


def test_as_drawn_values():
    drawn = math.hypot(3, -1)
    assert pair(se.Link("J", "a", "b")).check().rows["J"][0].value == pytest.approx(drawn / 2)
    for joint in (
        se.RevoluteTranslational("J", "a", "b"),
        se.RackPinion("J", "a", "b", radius=0.3),
        se.Coupler("J", "angle(a, b) + 2*distance(a, b)"),
        se.Gear("J", "a", "b", radii=(1, 2)),
        se.Gear("J", "a", "b", teeth=(12, 30), internal=True),
        se.Belt("J", "a", "b", radii=(1, 2), crossed=True),
    ):
        system = System(pair(joint))
        np.testing.assert_allclose(system.Phi(0.0, system.drawn_q), 0.0, atol=1e-14)


def geared(joint, carrier_speed):
    """Gear a of radius 1 and b of radius 2 on an arm that turns; gear a is held against the ground."""
    model = se.Model()
    arm = model.bar("arm", (0, 0), (3, 0))
    a, b = model.disk("a", radius=1), model.disk("b", radius=2, at=(3, 0))
    model.add(se.Revolute("O", model.ground, arm["start"]))
    model.add(se.Revolute("A", model.ground, a))
    model.add(se.Revolute("B", arm["end"], b))
    model.add(se.Driver("arm motor", "angle(ground, arm)", f"{carrier_speed}*t"))
    model.add(se.Driver("gear motor", "angle(ground, a)", "0"))
    model.add(joint)
    return se.kinematics(model, t_end=5, step=0.1)


@pytest.mark.parametrize(
    ("joint", "ratio"),
    [
        (se.Gear("J", "a", "b", radii=(1, 2)), 1 + 1 / 2),
        (se.Gear("J", "a", "b", teeth=(20, 40)), 1 + 1 / 2),
        (se.Gear("J", "a", "b", radii=(1, 2), internal=True), 1 - 1 / 2),
        (se.Belt("J", "a", "b", radii=(1, 2)), 1 - 1 / 2),
        (se.Belt("J", "a", "b", radii=(1, 2), crossed=True), 1 + 1 / 2),
        (se.Belt("J", "a", "b", radii=(2, 2)), 0.0),
    ],
)
def test_wheels_on_a_turning_arm(joint, ratio):
    """Willis: against the arm, the wheel turns by -+ R_a / R_b times what the held one does."""
    results = geared(joint, 4.0)
    np.testing.assert_allclose(results["b.phi"], ratio * results["arm.phi"], atol=1e-11)


def test_a_gear_may_be_turned_around():
    forward = geared(se.Gear("J", "a", "b", radii=(1, 2)), 2.0)
    backward = geared(se.Gear("J", "b", "a", radii=(2, 1)), 2.0)
    np.testing.assert_allclose(forward.q, backward.q, atol=1e-11)


@pytest.mark.parametrize(("radius", "way"), [(0.5, 1), (-0.5, -1)])
def test_a_pinion_rolls_along_a_fixed_rack(radius, way):
    """To the right of a rolling wheel on top of its line the turn is clockwise: x = -R phi."""
    model = se.Model()
    wheel = model.disk("wheel", radius=0.5, at=(0, radius))
    model.ground.points["line"] = (0, 0)
    model.add(se.AbsoluteY("height", wheel, radius))
    model.add(se.RackPinion("mesh", "ground.line", wheel, radius=radius))
    model.add(se.Driver("roll", "x(ground, wheel)", "3*t"))
    results = se.kinematics(model, t_end=2)
    np.testing.assert_allclose(results["wheel.phi"], -way * results["wheel.x"] / 0.5, atol=1e-12)


def test_phase_and_offset_are_values():
    row = pair(se.RackPinion("J", "a", "b", radius=0.2, phase="pi/2")).check().rows["J"][0]
    assert row.value == pytest.approx(math.pi / 2)
    row = pair(se.RevoluteTranslational("J", "a", "b", offset=0)).check().rows["J"][0]
    assert row.value == 0.0


@pytest.mark.parametrize(
    ("joint", "channel"),
    [
        (se.AbsoluteX("J", "a.P", "sin(t)"), "x(ground, a.P)"),
        (se.AbsoluteY("J", "a.P", "sin(t)"), "y(ground, a.P)"),
        (se.AbsoluteAngle("J", "a.Q", "sin(t)"), "angle(ground, a.Q)"),
        (se.AbsoluteDistance("J", "a.P", "2 + sin(t)", center=(0.5, 0)), "distance(ground.at(0.5, 0), a.P)"),
        (se.RelativeX("J", "a.P", "b.R", "sin(t)"), "x(a.P, b.R)"),
        (se.RelativeY("J", "a.P", "b.R", "sin(t)"), "y(a.P, b.R)"),
        (se.RelativeAngle("J", "a.Q", "b", "sin(t)"), "angle(a.Q, b)"),
        (se.RelativeDistance("J", "a.P", "b.R", "2 + sin(t)"), "distance(a.P, b.R)"),
    ],
)
def test_coordinates_that_follow_functions(joint, channel):
    """Six coordinates: five held as assembled, one by the joint under test."""
    model = pair(joint)
    assembly = se.assemble(model)
    Phi_q = assembly.system.Phi_q(0.0, assembly.q)[0]
    free = int(np.argmax(np.abs(Phi_q)))  # the coordinate that will follow
    makers = (se.AbsoluteX, se.AbsoluteY, se.AbsoluteAngle)
    for i in range(6):
        if i != free:
            model.add(makers[i % 3](f"hold{i}", "ab"[i // 3], float(assembly.q[i])))
    results = se.kinematics(model, t_end=1, step=0.05)
    expected = np.sin(results.t) + (2.0 if "distance" in channel else 0.0)
    np.testing.assert_allclose(results[channel], expected, atol=1e-12)
