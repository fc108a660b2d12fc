"""Shaking forces, balancing, flywheels and motors: against reactions, closed forms and each other."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

TURN = {"t_end": 1.0, "step": 1 / 180}


def on_the_ground(results):
    """Force and moment about the origin of all joints and drivers on the ground."""
    force, moment = np.zeros((2, results.t.size)), np.zeros(results.t.size)
    for name in results.model.joints:
        fx, fy, torque = results.reaction(name, on="ground", at="ground")
        force += [fx, fy]
        moment += torque
    return force, moment


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "watt_six_bar", "jansen_leg", "quick_return"])
def test_without_weight_it_is_what_the_joints_do_to_the_ground(name):
    model = se.load(name)
    model.gravity = (0, 0)
    results = se.inverse_dynamics(model, t_end=1, step=0.05)
    shake = se.shaking(results)
    (fx, fy), moment = on_the_ground(results)
    size = np.abs([fx, fy]).max()
    np.testing.assert_allclose([shake.fx, shake.fy], [fx, fy], atol=1e-9 * size)
    np.testing.assert_allclose(shake.moment, moment, atol=1e-9 * max(np.abs(moment).max(), size))


def test_the_moment_about_another_point():
    results = se.kinematics(se.load("four_bar"), **TURN)
    one, other = se.shaking(results), se.shaking(results, about=(2, -1))
    np.testing.assert_allclose(other.moment, one.moment - (2 * one.fy + one.fx), rtol=1e-9, atol=1e-9)


# Balancing --------------------------------------------------------------------------------------------


def test_a_four_bar_is_balanced_completely_by_the_formulas_of_berkof_and_lowen():
    """m_1 r_1 = m_2 r_2' a_1 / a_2, theta_1 = theta_2'; m_3 r_3 = m_2 r_2 a_3 / a_2, theta_3 = theta_2 + pi.

    r_2, theta_2 lead from the crank's pin to the coupler's center, r_2', theta_2' from the rocker's pin. U of a
    counterweight is what is missing to these mass moments. Centers of mass lie beside the lines of the links here.
    """
    a = {"crank": 0.05, "coupler": 0.2, "rocker": 0.15}
    model = se.Model("bent four-bar")
    places = {"A": (0, 0), "B": (0, 0.05), "C": (0.15, 0.18), "D": (0.17, 0)}
    a["coupler"], a["rocker"] = (
        np.hypot(*np.subtract(places[q], places[p])) for p, q in (("B", "C"), ("D", "C"))
    )
    pins = {"crank": ("A", "B"), "coupler": ("B", "C"), "rocker": ("D", "C")}
    offsets = {"crank": (0.01, 0.004), "coupler": (0.07, -0.02), "rocker": (0.05, 0.01)}
    masses = {"crank": 0.4, "coupler": 0.7, "rocker": 0.5}
    for name, (p, q) in pins.items():
        turn = np.arctan2(*np.subtract(places[q], places[p])[::-1])
        u, v = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        x, y = offsets[name]
        model.body(
            name, mass=masses[name], inertia=1e-3, at=tuple(np.array(places[p]) + x * u + y * v), angle=turn,
            points={"start": (-x, -y), "end": (a[name] - x, -y)},
        )  # fmt: skip
    model.add(se.Revolute("A", "ground", "crank.start"))
    model.add(se.Revolute("B", "crank.end", "coupler.start"))
    model.add(se.Revolute("C", "coupler.end", "rocker.end"))
    model.add(se.Revolute("D", "ground", "rocker.start"))
    model.add(se.Driver("motor", "angle(ground, crank)", "drawn + 2*pi*t"))
    balanced = se.balance(model, {"crank": 0.04, "rocker": 0.06}, t_end=1)
    assert balanced.after.largest_force < 1e-10 * balanced.before.largest_force
    # complex numbers along the axes of the links
    to_center = complex(*offsets["coupler"])
    from_rocker = to_center - a["coupler"]
    needed = {
        "crank": masses["coupler"] * from_rocker * a["crank"] / a["coupler"],
        "rocker": -masses["coupler"] * to_center * a["rocker"] / a["coupler"],
    }
    for weight in balanced.counterweights:
        U = needed[weight.body] - masses[weight.body] * complex(*offsets[weight.body])
        assert complex(*weight.moment) == pytest.approx(U, rel=1e-9)
        assert weight.mass == pytest.approx(abs(U) / {"crank": 0.04, "rocker": 0.06}[weight.body], rel=1e-9)


def test_the_balanced_model_is_an_ordinary_model(tmp_path):
    balanced = se.balance(
        builders.four_bar(1, 2, 2.5, 3, speed="2*pi"), {"crank": 0.5, "rocker": 0.5}, t_end=1
    )
    again = se.load(balanced.model.save(tmp_path / "balanced.yaml"))
    other = se.Model.copy(again)
    other.gravity = (0, 0)
    results = se.inverse_dynamics(other, t_end=0.7, step=0.05)
    force, _ = on_the_ground(results)
    assert np.abs(force).max() < 1e-8 * balanced.before.largest_force


def test_a_force_balanced_four_bar_has_the_same_moment_about_every_point():
    balanced = se.balance(
        builders.four_bar(1, 2, 2.5, 3, speed="2*pi"), {"crank": 0.5, "rocker": 0.5}, t_end=1
    )
    one, other = se.shaking(balanced.results), se.shaking(balanced.results, about=(7, 3))
    np.testing.assert_allclose(one.moment, other.moment, atol=1e-8)


def test_a_crank_balances_a_slider_crank_in_part_and_a_rod_the_rest():
    """The least force over x and y: rotating masses and half of the reciprocating ones, for a long rod."""
    model = builders.slider_crank(0.1, 5, masses=(0.5, 1e-9), slider_mass=2, speed="20")
    one = se.balance(model, {"crank": 0.05}, t_end=2 * pi / 20)
    (weight,) = one.counterweights
    assert weight.moment[0] == pytest.approx(-(0.5 * 0.05 + 0.5 * 2 * 0.1), rel=1e-3)
    assert 0 < one.remainder < 1
    both = se.balance(model, {"crank": 0.05, "rod.start": 0.5}, t_end=2 * pi / 20)
    assert both.after.largest_force < 1e-9 * both.before.largest_force
    rod = both.counterweights[1]
    assert rod.mass * 0.5 == pytest.approx(2 * 5 + 1e-9 * 2.5, rel=1e-9)


def test_other_counterweights_are_worse():
    """The least squares are least: any change of the weight on the crank increases the rms of the shaking force."""
    model = builders.slider_crank(0.1, 0.3, speed="20")
    best = se.balance(model, {"crank": 0.05}, t_end=2 * pi / 20)
    from simengine2d.analyses.linkage.balance import Counterweight, with_counterweights

    (weight,) = best.counterweights
    for factor, shift in ((1.05, 0), (0.95, 0), (1, 0.01)):
        x, y = weight.place
        other = Counterweight(weight.body, factor * weight.mass, (x, y + shift), weight.moment)
        results = se.kinematics(with_counterweights(model, [other]), t_eval=best.after.t)
        assert se.shaking(results).rms_force > best.after.rms_force


def test_wrong_counterweights_are_refused_by_name():
    model = builders.slider_crank(1, 3, speed="1")
    with pytest.raises(se.ModelError, match="body 'rod' has no pin in the ground"):
        se.balance(model, {"rod": 0.1}, t_end=1)
    with pytest.raises(se.ModelError, match="counterweight of 'crank' has the distance -1"):
        se.balance(model, {"crank": -1}, t_end=1)
    with pytest.raises(se.ModelError, match="Did you mean 'crank'"):
        se.balance(model, {"crnk": 0.1}, t_end=1)
    with pytest.raises(se.ModelError, match="give links and distances"):
        se.balance(model, {}, t_end=1)
    with pytest.raises(se.ModelError, match="two numbers"):
        se.balance(model, {"crank": 0.1}, t_end=1, weights=(1, -1))


# Flywheels --------------------------------------------------------------------------------------------


def test_the_energy_of_a_sine():
    """T = T_m + a sin theta takes up 2 a between 0 and pi."""
    theta = np.linspace(0, 2 * pi, 3601)
    wheel = se.flywheel(theta, 5 + 3 * np.sin(theta), speed=10, fluctuation=0.02)
    assert wheel.mean_torque == pytest.approx(5, rel=1e-9)
    assert wheel.energy_swing == pytest.approx(6, rel=1e-6)
    assert wheel.inertia == pytest.approx(6 / (0.02 * 100), rel=1e-6)
    assert wheel.speeds == pytest.approx((9.9, 10.1))
    assert (wheel.lowest[0] % (2 * pi), wheel.highest[0]) == pytest.approx((0, pi), abs=1e-3)


def test_straight_pieces_are_exact():
    """Up and down by a triangle: excess 2 theta - 1 over 0..1 and back; extremes lie between the points."""
    wheel = se.flywheel([0, 1, 2], [-1, 1, -1], speed=1, fluctuation=0.1)
    assert wheel.mean_torque == 0
    assert wheel.lowest == pytest.approx((0.5, -0.25)) and wheel.highest == pytest.approx((1.5, 0.25))


def test_a_flywheel_keeps_the_speed_of_a_real_shaft():
    """The crank of a slider-crank with the flywheel, driven by the mean torque: its speed varies as was asked for."""
    model = builders.slider_crank(0.1, 0.3, speed="40", gravity=(0, 0), slider_mass=2)
    turn = 2 * pi / 40
    wanted = se.flywheel_for(se.inverse_dynamics(model, t_end=turn, step=turn / 720), fluctuation=0.02)
    free = builders.slider_crank(0.1, 0.3, gravity=(0, 0), slider_mass=2)
    shaft = free.body("wheel", mass=0, inertia=wanted.inertia, at=(0, 0))
    shaft.angular_velocity = 40
    free.add(se.Revolute("bearing", "ground", "wheel"))
    free.add(se.Fixed("key", "crank.start", "wheel"))
    free.bodies["crank"].angular_velocity = 40
    results = se.dynamics(free, t_end=turn, rtol=1e-9)
    speed = results["crank.phid"]
    # the bars of the crank itself belong to what turns with the wheel
    assert np.ptp(speed) / 40 == pytest.approx(0.02, rel=0.05)


def test_flywheel_of_a_driver_has_its_mean_power():
    results = se.inverse_dynamics(se.load("four_bar"), t_end=1, step=1 / 720)
    wheel = se.flywheel_for(results, fluctuation=0.05)
    assert wheel.mean_power == pytest.approx(results["motor.energy"][-1] / 1.0, abs=1e-3 * wheel.energy_swing)
    radius = wheel.disk_radius(0.02)
    assert 0.5 * (7850 * 0.02 * pi * radius**2) * radius**2 == pytest.approx(wheel.inertia)


def test_wrong_torque_curves_are_refused():
    with pytest.raises(se.ModelError, match="2 is followed by 1"):
        se.flywheel([0, 2, 1], [1, 2, 3], speed=1, fluctuation=0.1)
    with pytest.raises(se.ModelError, match="of one length"):
        se.flywheel([0, 1], [1, 2, 3], speed=1, fluctuation=0.1)
    with pytest.raises(se.ModelError, match="fluctuation = 0"):
        se.flywheel([0, 1, 2], [1, 2, 3], speed=1, fluctuation=0)
    with pytest.raises(se.ModelError, match="speed = -1"):
        se.flywheel([0, 1, 2], [1, 2, 3], speed=-1, fluctuation=0.1)


# Motors -----------------------------------------------------------------------------------------------


SERVO = se.Motor([(0, 2.4), (300, 2.0)], [(0, 7), (250, 7), (300, 5)], inertia=3e-4, name="servo")


def arm(motion="0.5*t^2", inertia=0.2):
    model = se.Model("arm", gravity=(0, 0))
    model.body("arm", mass=1, inertia=inertia)
    model.add(se.Revolute("pin", "ground", "arm"))
    model.add(se.Driver("motor", "angle(ground, arm)", motion))
    return model


def test_a_motor_feels_load_and_rotor():
    """T_m = J_L alpha / (N eta) + J N alpha at constant acceleration."""
    results = se.inverse_dynamics(arm(), t_end=1, step=0.1)
    sizing = se.motor_sizing(results, SERVO, ratio=10, efficiency=0.8)
    np.testing.assert_allclose(sizing.torque, 0.2 / (10 * 0.8) + 3e-4 * 10)
    np.testing.assert_allclose(sizing.speed, 10 * results.t, atol=1e-12)
    np.testing.assert_allclose(sizing.load_inertia, 0.2 / 100)
    assert sizing.best_ratio == pytest.approx(np.sqrt(0.2 / 3e-4))  # of an inertia: sqrt(J_L / J)
    assert sizing.fits and sizing.inertia_ratio == pytest.approx(0.002 / 3e-4)


def test_the_best_ratio_has_the_least_rms_torque():
    results = se.inverse_dynamics(arm("sin(3*t)"), t_end=4, step=0.01)
    best = se.motor_sizing(results, SERVO).best_ratio
    torques = [se.motor_sizing(results, SERVO, ratio=factor * best).rms_torque for factor in (0.9, 1, 1.1)]
    assert torques[1] < min(torques[0], torques[2])


def test_the_reflected_inertia_gives_the_kinetic_energy():
    """J w^2 / 2 = T for every mechanism at every time."""
    for name in ("four_bar", "jansen_leg", "quick_return"):
        results = se.inverse_dynamics(se.load(name), t_end=1, step=0.05)
        w = results.measure(results.model.elements["motor"].measure)[1]
        np.testing.assert_allclose(
            0.5 * se.reflected_inertia(results) * w**2, results.energy().kinetic, rtol=1e-9
        )


def test_a_weak_or_slow_motor_does_not_fit():
    results = se.inverse_dynamics(arm("40*t^2"), t_end=1, step=0.01)
    assert not se.motor_sizing(results, SERVO).fits  # 16 N m, 80 rad/s
    assert se.motor_sizing(results, SERVO, ratio=3.5).peak_margin > 1
    too_fast = se.motor_sizing(results, SERVO, ratio=10)
    assert too_fast.peak_margin == 0.0  # 800 rad/s are beyond its curve


def test_losses_help_where_the_load_brakes():
    results = se.inverse_dynamics(arm("5*t - 0.5*t^2"), t_end=1, step=0.1)
    sizing = se.motor_sizing(results, se.Motor([(0, 1), (10, 1)], [(0, 1), (10, 1)]), efficiency=0.5)
    np.testing.assert_allclose(sizing.torque, -0.2 * 0.5)


def test_wrong_motors_are_refused():
    with pytest.raises(se.ModelError, match="peak = 3 must be points"):
        se.Motor([(0, 1), (10, 1)], 3)
    with pytest.raises(se.ModelError, match="must grow from 0"):
        se.Motor([(1, 1), (10, 1)], [(0, 1), (10, 1)])
    results = se.inverse_dynamics(arm(), t_end=1, step=0.5)
    with pytest.raises(se.ModelError, match="ratio = 0"):
        se.motor_sizing(results, SERVO, ratio=0)
    with pytest.raises(se.ModelError, match=r"efficiency = 1\.5"):
        se.motor_sizing(results, SERVO, efficiency=1.5)
    with pytest.raises(se.UnsupportedError, match="no reactions"):
        se.motor_sizing(se.kinematics(arm(), t_end=1, step=0.5), SERVO)


def test_everything_is_drawn_on_given_axes_and_shown_in_a_line():
    import matplotlib.pyplot as plt

    results = se.inverse_dynamics(se.load("four_bar"), t_end=1, step=0.02)
    things = [
        se.shaking(results),
        se.balance(se.load("four_bar"), {"crank": 0.5, "rocker": 0.5}, t_end=1, step=0.02),
        se.flywheel_for(results, fluctuation=0.05),
        se.motor_sizing(results, SERVO, ratio=8),
    ]
    for thing in things:
        _, ax = plt.subplots()
        assert thing.plot(ax=ax) is ax
        assert len(repr(thing)) <= 80
        plt.close("all")
    assert things[0].plot_polar().get_xlabel() == "fx [N]"
    plt.close("all")
