"""Model: names, parameters, copies, and what is refused when something is added."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se


@pytest.fixture
def model():
    model = se.Model("pair", parameters={"L": 2, "rho": 3.0})
    model.bar("crank", (0, 0), ("L", 0), mass="rho*L")
    model.body("slider", mass=1, at=("2*L", 0), points={"P": ("L/4", 0, "30*deg")})
    return model


def test_bodies_and_elements_are_found_by_name(model):
    joint = model.add(se.Revolute("A", "crank.end", "slider.P"))
    assert model["crank"] is model.bodies["crank"]
    assert model["A"] is joint
    assert model["ground"] is model.ground
    assert list(model.joints) == ["A"]
    assert model.forces == {}


def test_forces_are_kept_apart_from_joints(model):
    model.add(se.Torque("push", "crank", "sin(t)"))
    assert list(model.forces) == ["push"]
    assert model.joints == {}


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda m: m["crnk"], "Did you mean 'crank'?"),
        (lambda m: m.find_body("slidr"), "Did you mean 'slider'?"),
        (lambda m: m["slider"]["Q"], "body 'slider' has no point 'Q'"),
        (lambda m: m.bodies["crank"]["strt"], "Did you mean 'start'?"),
        (lambda m: m.add(se.Revolute("A", "crnk", "slider")), "Revolute 'A' refers to body 'crnk'"),
        (lambda m: m.add(se.Driver("D", "angle(ground, sldr)", 1)), "Driver 'D' refers to body 'sldr'"),
        (lambda m: m.add("joint"), "'joint' is neither a joint nor a force"),
        (lambda m: m.body("crank"), "'crank' is taken by a body"),
        (lambda m: m.body("ground"), "'ground' is taken by the ground"),
        (lambda m: m.add(se.AbsoluteX("slider", "crank")), "'slider' is taken by a body"),
        (lambda m: m.body("a.b"), "the sign . is not allowed in a name"),
        (lambda m: m.body(""), "a name is a word"),
        (lambda m: m.body(5), "a name is a word"),
        (lambda m: se.Revolute("A", "crank.", "slider"), "ends with a dot"),
        (lambda m: se.Revolute("A", 7, "slider"), "7 is not a body or a point"),
        (lambda m: se.Revolute("A", None, "slider"), "Revolute 'A'"),
        (lambda m: se.Driver("D", "angle(crank, slider)", None), "Driver 'D'"),
        (lambda m: se.Belt("B", "crank", "slider", radii=5), "Belt 'B'"),
        (lambda m: se.Belt("B", "crank", "slider", radii=(1, 2), crossed="no"), "Belt 'B'"),
        (lambda m: m.with_parameters(l=3), "has no parameter 'l'. Did you mean 'L'?"),
    ],
)
def test_what_is_wrong_is_said_at_once(model, ask, sentence):
    with pytest.raises(se.ModelError) as caught:
        ask(model)
    assert sentence in str(caught.value)


def test_a_failed_addition_leaves_the_model_as_it_was(model):
    with pytest.raises(se.ModelError):
        model.add(se.Revolute("A", "crnk", "slider"))
    assert model.elements == {}


def test_parameters_reach_every_number(model):
    model.add(se.Link("link", "crank.end", "slider", length="L"))
    resolved = model.check()
    assert resolved.bodies["crank"].mass == 6.0
    assert resolved.bodies["crank"].inertia == 6.0 * 4 / 12
    assert resolved.bodies["slider"].pose == (4.0, 0.0, 0.0)
    assert resolved.bodies["slider"].points["P"] == pytest.approx((0.5, 0.0, np.pi / 6))
    assert resolved.elements["link"].length == 2.0


def test_other_parameters_make_a_copy(model):
    longer = model.with_parameters(L=4)
    assert longer.check().bodies["slider"].pose[0] == 8.0
    assert model.check().bodies["slider"].pose[0] == 4.0


def test_all_unknown_parameters_are_told(model):
    with pytest.raises(se.ModelError) as caught:
        model.with_parameters(a=1, b=2)
    assert len(caught.value.problems) == 2


def test_copies_are_independent(model):
    other = model.copy()
    other.body("more")
    other.bodies["crank"].mass = 9.0
    assert "more" not in model.bodies
    assert model.bodies["crank"].mass == "rho*L"


def test_a_copy_keeps_python_functions(model):
    model.add(se.Driver("D", "angle(ground, crank)", lambda t: 2 * t))
    assert model.copy().check().rows["D"][0].value(3.0) == 6.0


def test_shapes_know_their_inertia():
    model = se.Model()
    model.bar("bar", (1, 1), (1, 4), mass=2)
    model.disk("disk", radius=3, mass=2, at=(5, 0), angle="90*deg")
    model.block("block", width=3, height=4, mass=12)
    bodies = model.check().bodies
    assert bodies["bar"].pose == pytest.approx((1, 2.5, np.pi / 2))
    assert [bodies[name].inertia for name in ("bar", "disk", "block")] == [1.5, 9.0, 25.0]
    assert bodies["bar"].points["end"] == (1.5, 0.0, 0.0)


def test_a_given_inertia_beats_the_shape():
    model = se.Model()
    model.disk("disk", radius=3, mass=2, inertia=1.25)
    assert model.check().bodies["disk"].inertia == 1.25


def test_numpy_numbers_are_numbers():
    model = se.Model(gravity=np.array([0.0, -1.0]))
    body = model.body("b", mass=np.float64(2), at=np.array([1.0, 2.0]), velocity=np.array([0.5, 0.0]))
    model.add(se.Translational("T", model.ground, body, direction=np.array([0.0, 1.0])))
    resolved = model.check()
    assert resolved.bodies["b"].pose == (1.0, 2.0, 0.0)
    assert resolved.bodies["b"].velocity == (0.5, 0.0)
    assert resolved.gravity == (0.0, -1.0)


def test_repr_counts():
    model = se.Model("m")
    model.body("b")
    model.add(se.AbsoluteX("x", "b"))
    assert repr(model) == "<Model 'm': 1 body, 1 joint, 0 forces>"


def test_dir_lists_the_public_names():
    names = dir(se)
    assert {"Model", "Revolute", "Driver", "kinematics", "builders"} <= set(names)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = se.Nonsense
