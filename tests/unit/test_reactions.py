"""Reactions, spring forces and energy by name, and what they say where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders


def mechanism():
    model = builders.slider_crank(1, 2, speed=2)
    model.add(se.Spring("spring", "distance(ground, slider)", stiffness=10, damping=0.5, free=1, law="s^2"))
    model.add(se.PointForce("push", "slider.at(0.1, 0.2)", fx="-3*xd", fy=1, axes="body"))
    model.add(se.Torque("brake", "crank", "-0.1*phid"))
    return model


@pytest.fixture(scope="module")
def results():
    return se.dynamics(mechanism(), t_end=0.4, step=0.1)


def test_a_hanging_weight():
    """The ground carries 2 kg, 0.5 m to the right of the weld: 19.62 N up and 9.81 N m about it."""
    model = se.Model()
    arm = model.body("arm", mass=2, inertia=1, at=(0.5, 0))
    model.add(se.Fixed("wall", model.ground, arm, at=(0, 0)))
    results = se.dynamics(model, t_eval=[0.0])
    on_the_arm = results.reaction("wall")
    assert [float(part[0]) for part in on_the_arm] == pytest.approx([0.0, 19.62, 9.81])
    assert results.reaction("wall", on="ground").torque[0] == pytest.approx(-9.81)
    assert results.reaction("wall", at="arm").torque[0] == pytest.approx(0.0, abs=1e-12)
    assert results["wall.torque"][0] == pytest.approx(9.81)


def test_on_a_slope_the_force_has_the_axes_of_the_body():
    """A block held on a slope of 30 degrees: m g cos across the slope, m g sin along it."""
    model = se.Model()
    block = model.body("block", mass=2, inertia=1, at=(1, 1), angle="30*deg")
    model.add(se.Translational("slope", model.ground, block))
    model.add(
        se.Driver(
            "hold", se.along(se.Frame("ground", place=(0, 0, "30*deg")), block), "1*cos(30*deg) + sin(30*deg)"
        )
    )
    results = se.dynamics(model, t_eval=[0.0, 1.0])
    weight = 2 * 9.81
    slope, hold = (results.reaction(name, on="block", expressed_in="block") for name in ("slope", "hold"))
    np.testing.assert_allclose(slope.fy, weight * np.cos(np.pi / 6))
    np.testing.assert_allclose(slope.fx, 0.0, atol=1e-12)
    np.testing.assert_allclose(hold.fx, weight * np.sin(np.pi / 6))


def test_action_and_reaction(results):
    """A pin acts on its two bodies with opposite forces, without torque."""
    crank, rod = (results.reaction("A", on=body) for body in ("crank", "rod"))
    np.testing.assert_allclose(crank.fx, -rod.fx, atol=1e-12)
    np.testing.assert_allclose(crank.fy, -rod.fy, atol=1e-12)
    np.testing.assert_allclose([crank.torque, rod.torque], 0.0, atol=1e-12)


def test_the_default_is_the_last_body_and_the_joint_itself(results):
    for name, body in {
        "A": "rod",
        "guide": "slider",
        "motor": "crank",
        "push": "slider",
        "spring": "slider",
    }.items():
        default, asked = results.reaction(name), results.reaction(name, on=body)
        np.testing.assert_array_equal(default, asked)
        for part in ("fx", "fy", "torque"):
            np.testing.assert_array_equal(results[f"{name}.{part}"], getattr(default, part))


def test_points_are_named_in_several_ways(results):
    at_end = results.reaction("A", on="rod", at="end")
    np.testing.assert_allclose(at_end.torque, results.reaction("A", on="rod", at="rod.end").torque)
    np.testing.assert_allclose(at_end.torque, results.reaction("A", on="rod", at="B").torque, atol=1e-11)
    place = se.Frame("rod", place=(1, 0, 0))
    np.testing.assert_allclose(at_end.torque, results.reaction("A", on="rod", at=place).torque, atol=1e-12)


def test_a_spring(results):
    s, sd, _ = results.measure("distance(ground, slider)")
    g = 10 * (s - 1) + 0.5 * sd + s**2
    np.testing.assert_allclose(results["spring.force"], g)
    np.testing.assert_allclose(results["spring.fx"], -g * results["slider.x"] / s)
    np.testing.assert_allclose(results.reaction("spring", on="ground").fx, -results["spring.fx"])


def test_a_force_that_turns_and_a_torque(results):
    c, s = np.cos(results["slider.phi"]), np.sin(results["slider.phi"])
    own = -3 * results["slider.xd"]
    np.testing.assert_allclose(results["push.fx"], c * own - s, atol=1e-12)
    np.testing.assert_allclose(results["push.torque"], 0.0, atol=1e-12)
    about_center = results.reaction("push", at="slider").torque
    np.testing.assert_allclose(about_center, 0.1 * results["push.fy"] - 0.2 * results["push.fx"], atol=1e-12)
    np.testing.assert_allclose(results["brake.torque"], -0.2, atol=1e-12)


def test_kinematics_has_springs_but_no_reactions():
    results = se.kinematics(mechanism(), t_end=0.4, step=0.1)
    with pytest.raises(se.UnsupportedError, match="Revolute 'B': a run of kinematics has no reactions"):
        results["B.fx"]
    with pytest.raises(se.UnsupportedError, match="needs their reactions"):
        results.power_balance()
    assert results["spring.force"].size == 5
    assert results.energy().total.size == 5
    assert results.non_unique == []


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_they_come_back_from_a_file(results, ending, tmp_path):
    loaded = se.Results.load(results.save(tmp_path / f"run.{ending}"))
    for name in results.model.elements:
        np.testing.assert_array_equal(loaded.reaction(name), results.reaction(name))
    assert loaded.power_balance() == results.power_balance()
    np.testing.assert_array_equal(loaded.energy().total, results.energy().total)


def test_a_csv_file_holds_none(results, tmp_path):
    loaded = se.Results.load(results.save(tmp_path / "run.csv"))
    with pytest.raises(se.ModelError, match="CSV file, which holds no model"):
        loaded.reaction("B")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("guid",), "Did you mean 'guide'? The joints and forces are O, A"),
        (("guide", "rod"), "Translational 'guide' does not act on 'rod'"),
        (("A", "rod", "ennd"), "Did you mean 'end'?"),
        (("A", "rod", "rodd.end"), "rodd"),
        (("A", "rod", None, "rodd"), "Did you mean 'rod'?"),
    ],
)
def test_unknown_names_are_said_in_words(results, arguments, sentence):
    with pytest.raises(se.ModelError) as caught:
        results.reaction(*arguments)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("channel", "sentence"),
    [
        (
            "spring.x",
            "The channels of Spring 'spring' are spring.fx, spring.fy, spring.torque, spring.force, spring.effort",
        ),
        ("B.phi", "The channels of Revolute 'B' are B.fx, B.fy, B.torque, B.power, B.energy."),
        ("B.force", "Revolute 'B' has no channel 'B.force'"),
        ("push.force", "it has push.fx, push.fy, push.torque"),
    ],
)
def test_unknown_channels_of_elements(results, channel, sentence):
    with pytest.raises(se.ModelError) as caught:
        results[channel]
    assert sentence in str(caught.value)
