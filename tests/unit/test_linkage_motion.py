"""Transmission angles, mechanical advantage, instant centers, centrodes and polygons of motions."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import simengine2d as se
from simengine2d import builders


def moved(model, points=181, t_end=1.0):
    return se.kinematics(model, t_end=t_end, step=t_end / (points - 1))


@pytest.fixture(scope="module")
def four_bar():
    return moved(builders.four_bar(1, 2, 2.5, 3, speed="2*pi"))


def acute(angle):
    """The angle between two lines."""
    return np.abs((angle + pi / 2) % pi - pi / 2)


# Transmission angle -----------------------------------------------------------------------------------


def test_of_a_four_bar_it_is_the_angle_between_coupler_and_rocker(four_bar):
    mu = se.transmission_angle(four_bar)
    np.testing.assert_allclose(mu.angle, acute(four_bar["coupler.phi"] - four_bar["rocker.phi"]), atol=1e-7)
    assert (mu.body, mu.joint) == ("rocker", "C")
    assert mu.smallest == pytest.approx(np.arccos((4 + 6.25 - 4) / 10), abs=1e-3)


def test_of_a_slider_crank_it_is_the_angle_between_rod_and_normal_of_the_guide():
    results = moved(builders.slider_crank(1, 3, 0.3, speed="2*pi"))
    mu = se.transmission_angle(results, "slider")
    np.testing.assert_allclose(mu.angle, acute(results["rod.phi"] - pi / 2), atol=1e-7)
    np.testing.assert_allclose(mu.pressure_angle, acute(results["rod.phi"]), atol=1e-7)


def test_of_a_slot_the_force_is_normal_to_it():
    """Crank pin at P in the slotted arm of a quick-return: force normal to the slot, as is the velocity; mu = 90°."""
    model = builders.quick_return(0.3, 0.8, 1.2, 0.5, speed="2*pi")
    results = moved(model)
    (slot,) = [name for name, joint in model.joints.items() if isinstance(joint, se.PinSlot)]
    mu = se.transmission_angle(results, "arm", joint=slot)
    np.testing.assert_allclose(mu.angle, pi / 2, atol=1e-6)


def test_loads_and_masses_do_not_change_it():
    heavy = builders.four_bar(1, 2, 2.5, 3, speed="2*pi", masses=(5, 70, 3))
    light = builders.four_bar(1, 2, 2.5, 3, speed="3*pi")
    one, other = moved(heavy), moved(light, t_end=2 / 3)
    np.testing.assert_allclose(
        se.transmission_angle(one).angle, se.transmission_angle(other).angle, atol=1e-7
    )


def test_in_a_six_bar_each_driven_link_has_its_own():
    results = moved(se.load("watt_six_bar"))
    output = se.transmission_angle(results)
    np.testing.assert_allclose(output.angle, acute(results["link.phi"] - results["output.phi"]), atol=1e-7)
    rocker = se.transmission_angle(results, "rocker", joint="C")
    arm = results["rocker.phi"] + np.arctan2(2.5, -0.2)  # from D to C in the rocker's axes
    np.testing.assert_allclose(rocker.angle, acute(results["coupler.phi"] - arm), atol=1e-7)


def test_with_redundant_joints_it_is_the_same():
    model = builders.four_bar(1, 2, 2.5, 3, speed="2*pi")
    plain = se.transmission_angle(moved(model))
    model.add(se.Revolute("C again", "coupler.end", "rocker.end"))
    np.testing.assert_allclose(
        se.transmission_angle(moved(model), "rocker", joint="C").angle, plain.angle, atol=1e-6
    )


def test_what_has_no_transmission_angle_is_refused_in_words(four_bar):
    with pytest.raises(se.UnsupportedError, match="body 'coupler' has no pin and no guide in the ground"):
        se.transmission_angle(four_bar, "coupler")
    with pytest.raises(se.ModelError, match="'B' does not drive 'rocker'"):
        se.transmission_angle(four_bar, "rocker", joint="B")
    with pytest.raises(se.ModelError, match="say which one drives it"):
        se.transmission_angle(moved(se.load("watt_six_bar"), 3), "rocker")
    with pytest.raises(se.ModelError, match="Did you mean 'rocker'"):
        se.transmission_angle(four_bar, "roker")


# Mechanical advantage ---------------------------------------------------------------------------------


def test_it_is_the_ratio_of_velocities(four_bar):
    advantage = se.mechanical_advantage(four_bar, "motor", "rocker")
    np.testing.assert_allclose(advantage.ratio, four_bar["crank.phid"] / four_bar["rocker.phid"], rtol=1e-9)
    assert advantage.unit == ""


def test_it_is_the_ratio_of_torques_in_statics():
    """A slow mechanism without weight that lifts a torque of 7 N m: inverse dynamics gives the motor's torque."""
    model = builders.four_bar(1, 2, 2.5, 3, speed="1e-5", gravity=(0, 0))
    model.add(se.Torque("load", "rocker", "-7"))
    results = se.inverse_dynamics(model, t_end=1e5, step=1e4)
    advantage = se.mechanical_advantage(results, "motor", "rocker")
    np.testing.assert_allclose(7 / results["motor.effort"], advantage.ratio, rtol=1e-6)


def test_forces_and_torques_mix():
    results = moved(builders.slider_crank(1, 3, speed="2*pi", crank_angle=0.5), t_end=0.3)
    advantage = se.mechanical_advantage(results, "motor", "slider")
    assert advantage.unit == "1/m"
    np.testing.assert_allclose(advantage.ratio, results["crank.phid"] / results["slider.xd"], rtol=1e-9)
    same = se.mechanical_advantage(results, se.angle("ground", "crank"), "guide")
    np.testing.assert_allclose(np.abs(same.ratio), np.abs(advantage.ratio), rtol=1e-12)


def test_at_rest_it_is_the_same():
    model = builders.four_bar(1, 2, 2.5, 3, speed="0")
    fast = builders.four_bar(1, 2, 2.5, 3, speed="2")
    ratios = [se.mechanical_advantage(moved(m, 2), "motor", "rocker").ratio[0] for m in (model, fast)]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-12)


def test_at_a_toggle_position_it_is_infinite():
    results = se.kinematics(builders.slider_crank(1, 3, crank_angle=0, speed="2*pi"), t_eval=[0.0, 0.1])
    advantage = se.mechanical_advantage(results, "motor", "slider")
    assert np.isinf(advantage.ratio[0]) and np.isfinite(advantage.ratio[1])
    assert np.isinf(advantage.largest)


def test_free_motions_beside_the_input_are_refused():
    results = se.dynamics(se.load("double_pendulum"), t_end=0.1)
    with pytest.raises(se.UnsupportedError, match="2 free motions"):
        se.mechanical_advantage(results, "angle(ground, upper)" if "upper" in results.bodies else
                                f"angle(ground, {results.bodies[0]})", results.bodies[1])  # fmt: skip


# Instant centers --------------------------------------------------------------------------------------


def test_pins_are_instant_centers(four_bar):
    """Also that of coupler and rocker, except where the transmission angle turns back and they move as one body."""
    centers = se.instant_centers(four_bar)
    assert len(centers) == 6
    pins = {
        ("ground", "crank"): "crank.start",
        ("crank", "coupler"): "crank.end",
        ("coupler", "rocker"): "rocker.end",
    }
    for pair, pin in pins.items():
        center = centers[pair]
        seen = np.isfinite(center.x)
        assert seen.sum() >= four_bar.t.size - 2
        for part in ("x", "y"):
            np.testing.assert_allclose(
                getattr(center, part)[seen], four_bar[f"{pin}.{part}"][seen], atol=1e-7
            )


def test_the_others_follow_by_kennedys_theorem(four_bar):
    """The coupler's center is where the lines of crank and rocker meet; that of crank and rocker is on AD and BC."""
    centers = se.instant_centers(four_bar)
    center = centers["ground", "coupler"]
    np.testing.assert_allclose(
        center.x * np.sin(four_bar["crank.phi"]), center.y * np.cos(four_bar["crank.phi"]), atol=1e-8
    )
    rocker = four_bar["rocker.phi"]
    np.testing.assert_allclose((center.x - 3) * np.sin(rocker), center.y * np.cos(rocker), atol=1e-8)
    other = centers["crank", "rocker"]
    np.testing.assert_allclose(other.y / (1 + np.abs(other.x)), 0, atol=1e-11)
    ratio = (other.x - 3) / other.x  # angular velocities are as the distances of the other pivot
    np.testing.assert_allclose(ratio * four_bar["rocker.phid"], four_bar["crank.phid"], rtol=1e-8)


@pytest.mark.parametrize("name", ["jansen_leg", "whitworth", "planetary_gear", "klann_leg"])
def test_three_centers_lie_on_a_line(name):
    results = moved(se.load(name), 13)
    centers = se.instant_centers(results)
    n = len(centers.bodies)
    assert len(centers) == n * (n - 1) // 2
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, c = rng.choice(centers.bodies, 3, replace=False)
        three = np.stack([centers.homogeneous(*pair) for pair in ((a, b), (b, c), (a, c))], axis=1)
        sizes = np.linalg.norm(three, axis=2)
        three = three / np.where(sizes > 1e-9, sizes, 1.0)[..., None]
        assert np.abs(np.linalg.det(three)).max() < 1e-9


def test_the_center_of_a_translation_is_at_infinity():
    """A slider has its center at infinity, perpendicular to its guide; the coupler of a parallelogram too."""
    results = moved(builders.slider_crank(1, 3, speed="2*pi", crank_angle=0.4), 5, t_end=0.2)
    center = se.instant_centers(results)["ground", "slider"]
    assert center.at_infinity.all()
    np.testing.assert_allclose(np.abs(center.direction), pi / 2, atol=1e-12)
    results = moved(builders.four_bar(1, 3, 1, 3, crank_angle=0.5, speed="1"), 3, t_end=0.5)
    center = se.instant_centers(results)["ground", "coupler"]
    assert center.at_infinity.all()
    np.testing.assert_allclose(acute(center.direction - results["crank.phi"]), 0, atol=1e-6)


def test_bodies_that_move_as_one_have_none():
    model = builders.slider_crank(1, 3, speed="2*pi")
    model.body("block", mass=1, inertia=1, at=(5, 5))
    model.add(se.Fixed("weld", "slider", "block"))
    center = se.instant_centers(moved(model, 5))["slider", "block"]
    assert np.isnan(center.x).all() and np.isnan(center.y).all()


def test_the_moving_centrode_rolls_on_the_fixed_one():
    """Equal arcs: without slipping, corresponding points of both curves are equally far apart along the curves."""
    results = moved(builders.four_bar(1, 2, 2.5, 3, speed="1", crank_angle=0.9), 401, t_end=0.6)
    curves = se.centrodes(results, "coupler")
    arcs = []
    for curve in (curves.fixed, curves.moving):
        slope = CubicSpline(results.t, curve).derivative()(results.t)
        arcs.append(np.hypot(*slope.T))
    np.testing.assert_allclose(arcs[0], arcs[1], rtol=1e-5)


def test_an_unknown_body_is_named(four_bar):
    with pytest.raises(se.ModelError, match="Did you mean 'coupler'"):
        se.instant_centers(four_bar)["ground", "couplr"]


# Polygons ---------------------------------------------------------------------------------------------


def test_velocities_of_a_polygon_are_those_of_its_points(four_bar):
    polygon = se.velocity_polygon(four_bar, 0.3, points=["coupler"])
    i = int(np.argmin(np.abs(four_bar.t - 0.3)))
    assert polygon["B"] == pytest.approx([four_bar["crank.end.xd"][i], four_bar["crank.end.yd"][i]])
    assert polygon["coupler"] == pytest.approx([four_bar["coupler.xd"][i], four_bar["coupler.yd"][i]])
    assert polygon.size("A") == polygon.size("D") == 0
    assert polygon.size("C/B") == pytest.approx(abs(four_bar["coupler.phid"][i]) * 2)


def test_the_image_of_a_body_is_similar_to_it(four_bar):
    """The velocity image of the coupler's mass center is in the middle of that of its ends, for accelerations too."""
    for polygon in (
        se.velocity_polygon(four_bar, 0.2, points=["coupler"]),
        se.acceleration_polygon(four_bar, 0.2, points=["coupler"]),
    ):
        np.testing.assert_allclose(polygon["coupler"], (polygon["B"] + polygon["C"]) / 2, rtol=1e-12)


def test_normal_and_tangential_parts_add_up(four_bar):
    polygon = se.acceleration_polygon(four_bar, 0.4)
    for name in ("C/B", "C/D", "B/A"):
        normal, tangential = polygon.parts(name)
        np.testing.assert_allclose(normal + tangential, polygon[name], atol=1e-9)
        assert abs(normal @ tangential) < 1e-9
    with pytest.raises(se.ModelError, match="not points of one body"):
        polygon.parts("C/A")
    with pytest.raises(se.ModelError, match="The points are A, B, C, D"):
        polygon["Q"]


# What is shown ----------------------------------------------------------------------------------------


def test_everything_is_drawn_on_given_axes_and_shown_in_a_line(four_bar):
    import matplotlib.pyplot as plt

    things = [
        se.transmission_angle(four_bar),
        se.mechanical_advantage(four_bar, "motor", "rocker"),
        se.instant_centers(four_bar),
        se.centrodes(four_bar, "coupler"),
        se.velocity_polygon(four_bar, 0.1),
        se.acceleration_polygon(four_bar, 0.1),
    ]
    for thing in things:
        _, ax = plt.subplots()
        assert thing.plot(ax=ax) is ax
        assert len(repr(thing)) <= 80
        plt.close("all")
