"""Diagnosis: freedoms in words, dependent joints by name, passing and permanent."""

from __future__ import annotations

from itertools import pairwise

import pytest

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders


def two_guides():
    model = se.Model("frame in two guides")
    frame = model.body("frame", mass=1, at=(1, 0.5))
    model.add(se.Translational("lower", model.ground, frame.at(0, -0.5), direction=(1, 0)))
    model.add(se.Translational("upper", model.ground, frame.at(0, 0.5), direction=(1, 0)))
    return model


def test_slider_crank_in_words():
    diagnosis = se.diagnose(builders.slider_crank(1, 2, crank_angle="90*deg"))
    assert (diagnosis.mobility, diagnosis.mobility_by_count, diagnosis.redundant) == (1, 1, 0)
    (motion,) = diagnosis.free
    assert "crank turns about (0, 0)" in motion
    assert "rod moves along (1, 0)" in motion or "rod moves along (-1, 0)" in motion  # it does not turn here
    assert "slider moves along" in motion
    assert not diagnosis.singular


def test_the_free_motions_satisfy_the_constraints():
    assembly = se.assemble(builders.chain(3))
    diagnosis = se.diagnose(assembly)
    assert diagnosis.motions.shape == (9, 3)
    # motions of length 1, a Jacobian of order 1: rounding
    assert abs(assembly.system.Phi_q(0.0, assembly.q) @ diagnosis.motions).max() < 1e-13


def test_a_free_body():
    model = se.Model()
    model.body("b", mass=1, at=(2, 3))
    assert se.diagnose(model).free == ["b moves along (1, 0)", "b moves along (0, 1)", "b turns about (2, 3)"]


def test_an_empty_model():
    diagnosis = se.diagnose(se.Model("empty"))
    assert (diagnosis.mobility, diagnosis.redundant) == (0, 0)


def test_three_crank_parallelogram():
    diagnosis = se.diagnose(three_cranks())
    assert (diagnosis.mobility, diagnosis.mobility_by_count, diagnosis.redundant) == (1, 0, 1)
    (group,) = diagnosis.dependent
    assert group.permanent
    assert {name.split(".")[0] for name in group.names} == {"A", "B", "C", "D", "E", "F"}
    text = str(diagnosis)
    assert "always" in text
    assert "Redundant constraints are legal" in text


def test_frame_in_two_guides():
    diagnosis = se.diagnose(two_guides())
    assert (diagnosis.mobility, diagnosis.mobility_by_count, diagnosis.redundant) == (1, -1, 2)
    assert diagnosis.free == ["frame moves along (1, 0)"]
    assert [group.names for group in diagnosis.dependent] == [
        ["lower.across", "upper.across"],
        ["lower.turn", "upper.turn"],
    ]
    assert all(group.permanent for group in diagnosis.dependent)
    assert not diagnosis.singular


def test_a_change_point_belongs_to_the_pose():
    diagnosis = se.diagnose(builders.four_bar(1, 2, 1, 2, crank_angle=0))
    assert (diagnosis.mobility, diagnosis.redundant) == (2, 1)
    (group,) = diagnosis.dependent
    assert not group.permanent
    assert diagnosis.singular and not diagnosis.isolated
    assert "in this pose only" in str(diagnosis)
    assert "singular pose" in str(diagnosis)


def test_three_cranks_at_a_change_point_have_both():
    """One dependence is there in every pose, a second one only where all links are in line."""
    diagnosis = se.diagnose(three_cranks(0.0))
    assert (diagnosis.mobility, diagnosis.redundant) == (2, 2)
    assert sorted(group.permanent for group in diagnosis.dependent) == [False, True]


def test_a_dead_point_of_the_driver_belongs_to_the_pose():
    model = builders.slider_crank(1, 2, crank_angle=0)
    model.add(se.Driver("push", "x(ground, slider)", 3.0))
    diagnosis = se.diagnose(model)
    assert diagnosis.mobility == 1
    assert diagnosis.singular
    assert "push" in diagnosis.dependent[-1].names


def test_drivers_are_found_dependent_before_joints():
    model = builders.slider_crank(1, 2)
    model.add(se.Driver("early", "angle(ground, crank)", "60*deg"))
    model.add(se.AbsoluteY("late", "slider", 0.0))
    groups = se.diagnose(model).dependent
    assert [group.names[-1] for group in groups] == ["late"]


def test_over_driven():
    model = builders.slider_crank(1, 2, speed=1)
    model.add(se.Driver("second", "angle(ground, crank)", "60*deg + t"))
    diagnosis = se.diagnose(model)
    assert (diagnosis.mobility, diagnosis.redundant) == (0, 1)
    assert diagnosis.dependent[0].names == ["motor", "second"]
    assert diagnosis.dependent[0].permanent


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_size_does_not_matter(size):
    diagnosis = se.diagnose(builders.four_bar(size, 2 * size, 2.5 * size, 3 * size))
    assert (diagnosis.mobility, diagnosis.redundant) == (1, 0)


def straight_four_bar(last: float) -> se.Model:
    """Links of lengths 1, 1 and `last` on a line, from A at 0 to D at 2 + last."""
    model = se.Model("straight")
    places, before = (0.0, 1.0, 2.0, 2.0 + last), model.ground
    for joint, (a, b) in zip("ABC", pairwise(places), strict=True):
        link = model.bar(f"link from {joint}", (a, 0), (b, 0), mass=1)
        model.add(se.Revolute(joint, before, link, at=(a, 0)))
        before = link
    model.add(se.Revolute("D", before, model.ground, at=(places[-1], 0)))
    return model


@pytest.mark.slow
def test_links_that_are_stretched_out_are_a_structure():
    """A chain as long as the distance of its ends has one pose: what is free to first order leads nowhere."""
    diagnosis = se.diagnose(straight_four_bar(2.0))
    assert diagnosis.isolated and diagnosis.singular and diagnosis.mobility == 2
    assert [group.permanent for group in diagnosis.dependent] == [False]
    assert "The joints close in this pose only" in str(diagnosis)
    (finding,) = [found for found in se.doctor(straight_four_bar(2.0)).findings if found.kind == "locked"]
    assert finding.elements == ("A", "B", "C", "D") and "cannot move" in finding.text
    with pytest.raises(se.ConvergenceError, match=r"begins in a singular pose.*Make one longer or shorter"):
        se.dynamics(straight_four_bar(2.0), t_end=5)
