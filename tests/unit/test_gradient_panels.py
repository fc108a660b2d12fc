"""Panels, and what is kept for the next gradient: that they change the cost of a gradient, and not the gradient."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.lab.sensitivity import dynamic_slopes, motions
from simengine2d.lab.sensitivity.parameters import varied_numbers
from simengine2d.lab.sweep.variants import variant


def resting(stiffness: float) -> se.Model:
    """A stone on a spring that is not stretched."""
    model = se.Model("resting", parameters={"k": stiffness, "free": 1.0}, gravity=(0, 0))
    stone = model.body("stone", mass=1, inertia=1, at=(1, 0))
    model.add(se.Translational("guide", model.ground, stone))
    model.add(se.Spring("spring", se.x(model.ground, stone), stiffness="k", free="free"))
    return model


@pytest.mark.parametrize("w", [5.0, 50.0, 200.0])
def test_what_a_parameter_excites_in_a_motion_that_rests(w):
    """x_free = 1 - cos(w t), where the motion itself takes seven steps."""
    outputs = {"end": "final(stone.x)", "between": "at(stone.x, 1.234)"}
    found = se.sensitivity(resting(w**2), ["free"], "dynamics", outputs, t_end=2)
    assert abs(found["end"]["free"] - (1.0 - np.cos(2.0 * w))) < 1e-9
    assert abs(found["between"]["free"] - (1.0 - np.cos(1.234 * w))) < 1e-9


def test_derivatives_too_fast_to_be_followed_are_refused(monkeypatch):
    monkeypatch.setattr(dynamic_slopes, "MOST_RUNS", 2)
    with pytest.raises(se.UnsupportedError, match="derivatives of the motion change too fast"):
        se.sensitivity(resting(201.0**2), ["free"], "dynamics", "final(stone.x)", t_end=2)


def sprung_four_bar() -> se.Model:
    model = se.load("four_bar")
    del model.elements["motor"]
    ends = "distance(ground.at(0, 3), coupler.end)"
    model.add(se.Spring("spring", ends, stiffness=40, damping=0.5, free=1.5))
    return model


@pytest.mark.parametrize("name", ["sprung four-bar", "sprung_slider", "double_wishbone"])
def test_one_tight_run_is_enough_where_a_run_shows_how_smooth_the_motion_is(name, monkeypatch):
    model = sprung_four_bar() if name == "sprung four-bar" else se.load(name)
    runs, dynamics = list[float](), dynamic_slopes.dynamics
    monkeypatch.setattr(
        dynamic_slopes, "dynamics", lambda *given, **options: runs.append(1) or dynamics(*given, **options)
    )
    se.sensitivity(model, [next(iter(model.parameters))], "dynamics", "max(A.force)", t_end=5)
    assert len(runs) == 1


def test_a_number_that_is_zero_beside_which_there_are_other_parts():
    """An actuator: x'' = -w^2 (x - free) - a, x_a = (cos(w t) - 1) / w^2. Its Systems come from the recording, too."""
    model = resting(25.0)
    names = ["spring.actuator", "k", "free"]
    numbers = varied_numbers(model, names)
    assert all(number.around is not None for number in numbers)
    found = se.sensitivity(model, names, "dynamics", "final(stone.x)", t_end=2)
    assert found.parameters["spring.actuator"] == 0.0
    assert abs(found["final(stone.x)"]["spring.actuator"] - (np.cos(10.0) - 1.0) / 25.0) < 1e-10
    assert abs(found["final(stone.x)"]["free"] - (1.0 - np.cos(10.0))) < 1e-10


def test_the_same_model_again_has_the_same_gradient_to_the_last_bit():
    model, names = sprung_four_bar(), ["crank", "coupler", "spring.stiffness"]
    other = variant(model, {"crank": 1.01})
    gradients = [
        se.sensitivity(each, names, "dynamics", "max(A.force)", t_end=1).matrix.tobytes()
        for each in (model, other, model, sprung_four_bar())
    ]
    assert gradients[0] == gradients[2] == gradients[3] != gradients[1]


def test_another_output_of_the_same_motion_needs_one_tight_run_alone(monkeypatch):
    model, names = sprung_four_bar(), ["crank", "spring.stiffness"]
    runs, dynamics = list[str](), motions.dynamics
    first = se.sensitivity(model, names, "dynamics", ["max(A.force)", "final(crank.phi)"], t_end=1.1)
    for module in (motions, dynamic_slopes):
        name = module.__name__.rpartition(".")[2]
        noted = lambda *given, name=name, **options: runs.append(name) or dynamics(*given, **options)
        monkeypatch.setattr(module, "dynamics", noted)
    again = se.sensitivity(model, names, "dynamics", "max(A.force)", t_end=1.1)
    assert runs == ["dynamic_slopes"]
    assert again.matrix.tobytes() == first.matrix[:1].tobytes()
    # a mean is over the outputs of a run
    mean = se.sensitivity(model, names, "dynamics", "rms(A.force)", t_end=1.1)
    assert runs.count("motions") == 1
    longer = se.sensitivity(model, names, "dynamics", "rms(A.force)", t_end=1.2)
    assert runs.count("motions") == 2
    assert mean.values != longer.values


def test_a_model_that_was_edited_is_another_one():
    """d/df of f t^2 / 2m, with a mass that changes in place."""
    model = se.Model("pushed", parameters={"f": 3.0}, gravity=(0, 0))
    stone = model.body("stone", mass=1, inertia=1, at=(0, 0))
    model.add(se.PointForce("push", "stone", fx="f"))
    for mass in (1.0, 4.0, 2.0, 1.0):
        stone.mass = mass
        found = se.sensitivity(model, ["f"], "dynamics", "final(stone.x)", t_end=2)
        assert abs(found["final(stone.x)"]["f"] - 2.0 / mass) < 1e-10


def test_the_lift_of_a_cam_in_its_second_turn():
    """Its profile is a spline through many points, whose curvature has more rounding than a formula.

    While it dwells, accelerations are rounding, which may jump.
    """
    model, output = se.load("valve_train"), "at(A.force, 0.061)"
    moved, driven = (
        se.sensitivity(model, ["lift", "speed"], analysis, output, t_end=0.1)
        for analysis in ("dynamics", "inverse_dynamics")
    )
    np.testing.assert_allclose(moved.matrix, driven.matrix, rtol=1e-7)
