"""Resolved models: every number of a model is evaluated, and all problems are told at once."""

from __future__ import annotations

import math

import pytest

import simengine2d as se
from simengine2d.model.frame import to_global, to_local


def problems(model):
    with pytest.raises(se.ModelError) as caught:
        model.check()
    return caught.value.problems


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mass": -1}, "body 'b', mass = -1 is negative. Write 0 or a positive number."),
        ({"inertia": "-2"}, "body 'b', inertia = -2 is negative"),
        ({"mass": math.nan}, "body 'b', mass: the value nan is not a finite number"),
        ({"mass": math.inf}, "body 'b', mass: the value inf"),
        ({"mass": True}, "body 'b', mass: True is of type bool"),
        ({"mass": None}, "body 'b', mass: None"),
        ({"mass": "rho"}, "unknown name 'rho'"),
        ({"mass": "1/0"}, "divides by zero"),
        ({"mass": "2 +"}, "body 'b', mass"),
        ({"at": 5}, "body 'b', at is 5; 2 numbers are needed"),
        ({"at": (1, 2, 3)}, "2 numbers are needed"),
        ({"at": ()}, "2 numbers are needed"),
        ({"at": "12"}, "2 numbers are needed"),
        ({"angle": (1, 2)}, "body 'b', angle"),
        ({"velocity": (1,)}, "body 'b', velocity"),
        ({"velocity": ()}, "body 'b', velocity"),
        ({"angular_velocity": "w"}, "body 'b', angular_velocity"),
        ({"points": {"P": (1,)}}, "body 'b', point 'P' is (1,)"),
        ({"points": {"P": "A"}}, "write [x, y] or [x, y, angle]"),
        ({"points": {"P.Q": (0, 0)}}, "is not allowed in a name"),
        ({"points": {"": (0, 0)}}, "a name is a word"),
        ({"shape": "bar"}, "body 'b' has the shape 'bar'"),
        ({"shape": se.Bar((0, 0), (0, 0))}, "the same point"),
        ({"shape": se.Bar((0, 0), (1, 0)), "at": (0, 0)}, "placed by its start and end"),
        ({"shape": se.Disk(0)}, "radius = 0 must be positive"),
        ({"shape": se.Block(1, -1)}, "height = -1 must be positive"),
    ],
)
def test_a_wrong_body_is_named_with_its_value(options, sentence):
    model = se.Model()
    model.body("b", **options)
    (problem,) = problems(model)
    assert sentence in problem


def test_all_problems_are_told_at_once():
    model = se.Model()
    model.body("a", mass=-1)
    model.body("b", at=(1, "x"))
    model.body("c", inertia=-1)
    assert len(problems(model)) == 3
    with pytest.raises(se.ModelError, match="3 problems were found"):
        model.check()


def test_problems_of_several_joints_are_told_at_once():
    model = se.Model()
    model.body("a", at=(1, 0))
    model.body("b", at=(2, 0))
    model.add(se.Revolute("J", "a.P", "b"))
    model.add(se.Gear("G", "a", "b"))
    model.add(se.Driver("D", "angle(a, b)", "w*t"))
    found = problems(model)
    assert ["J" in found[0], "G" in found[1], "D" in found[2]] == [True, True, True]


def test_the_file_is_named():
    model = se.Model()
    model.source = "pair.yaml"
    model.body("a", mass=-1)
    assert problems(model)[0].startswith("pair.yaml: body 'a'")


def test_wrong_parameters_and_gravity():
    model = se.Model(parameters={"a": "b", "b": "a", "pi": 3})
    assert any("circle" in problem for problem in problems(model))
    assert any("'pi'" in problem for problem in problems(model))
    assert "gravity" in problems(se.Model(gravity=(1, 2, 3)))[0]
    assert "gravity" in problems(se.Model(gravity=("x", 2)))[0]


def test_unknown_points_are_told_with_the_nearest():
    model = se.Model()
    model.body("a", points={"left": (0, 0), "right": (1, 0)})
    model.body("b")
    model.add(se.Revolute("J", "a.lft", "b"))
    assert "Did you mean 'left'?" in problems(model)[0]


@pytest.mark.parametrize(
    "joint",
    [
        lambda b: se.Revolute("J", b, b.at(1, 0)),
        lambda b: se.Revolute("J", "ground", "ground"),
        lambda b: se.Driver("J", se.angle(b, b.at(1, 0)), 1.0),
        lambda b: se.Link("J", b.at(0, 0), b.at(1, 0)),
    ],
)
def test_a_joint_of_a_body_with_itself_is_refused(joint):
    model = se.Model()
    model.add(joint(model.body("b")))
    assert "to itself; name two bodies" in problems(model)[0]


def test_global_and_local_places_undo_each_other():
    pose = (1.0, -2.0, 0.7)
    there = to_global(pose, 0.3, 0.4, 0.5)
    assert to_local(pose, *there) == pytest.approx((0.3, 0.4, 0.5))
    assert there == pytest.approx(
        (1 + 0.3 * math.cos(0.7) - 0.4 * math.sin(0.7), -2 + 0.3 * math.sin(0.7) + 0.4 * math.cos(0.7), 1.2)
    )


def test_problems_know_what_they_are_about():
    """Readers, checkers and other programs need no sentence to be taken apart."""
    m = se.Model("m", parameters={"L": "2*K"})
    with pytest.raises(se.ModelError) as caught:
        m.check()
    assert [problem.path for problem in caught.value.problems] == [("parameters", "L")]
    m = se.Model("m")
    m.body("rod", mass=-1)
    m.add(se.Revolute("A", "ground", "rod", at=("x", 0)))
    m.add(se.PointForce("F", "rod", fx="2*("))
    with pytest.raises(se.ModelError) as caught:
        m.check()
    found = {(problem.element, problem.field) for problem in caught.value.problems}
    assert found == {("rod", "mass"), ("A", "at"), ("F", "fx")}
