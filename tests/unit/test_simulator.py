"""A motion that goes on bit by bit is the motion of `dynamics`."""

import numpy as np
import pytest

import simengine2d as se

TIMES = [0.1, 0.11, 0.5, 0.5, 0.9]


@pytest.mark.parametrize("coordinates", ["reference_point", "natural", "relative"])
def test_it_is_the_motion_of_dynamics(coordinates):
    model = se.builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    options = {"coordinates": coordinates, "integrator": "tsitouras5", "rtol": 1e-6}
    whole = se.dynamics(model, t_eval=[0.0, *dict.fromkeys(TIMES)], **options)
    simulator = se.Simulator(model, **options)
    for _ in range(2):
        np.testing.assert_array_equal(simulator.q, whole.q[0])
        for t in TIMES:
            simulator.advance(t)
            k = int(np.flatnonzero(whole.t == t)[0])
            assert simulator.t == t
            for seen, told in zip(
                ["q", "qd", "qdd", "lam"], (whole.q, whole.qd, whole.qdd, whole.lam), strict=True
            ):
                np.testing.assert_array_equal(getattr(simulator, seen), told[k])
        simulator.reset()


@pytest.mark.parametrize("coordinates", ["reference_point", "mixed", "relative"])
def test_a_torque_may_change_from_outside(coordinates):
    """Held constant for 0.1 s each, as a controller does; against a run that knows the torques beforehand."""
    torques, now = [1.0, -2.0, 0.5, 3.0], {"torque": 0.0}

    def pendulum(torque):
        model = se.Model("pendulum", gravity=(0, -9.81))
        bar = model.body("bar", mass=1, inertia=0.1, at=(0.5, 0))
        model.add(se.Revolute("pin", model.ground.at(0, 0), bar.at(-0.5, 0)))
        model.add(se.Torque("motor", bar, **torque))
        return model

    known = pendulum({"value": "piecewise(t < 0.1, 1, t < 0.2, -2, t < 0.3, 0.5, 3)"})
    expected = se.dynamics(known, t_eval=[0.0, 0.1, 0.2, 0.3, 0.4], rtol=1e-10).q[1:]
    simulator = se.Simulator(
        pendulum({"law": lambda t, q, qd: now["torque"]}), coordinates=coordinates, rtol=1e-9
    )
    for k, torque in enumerate(torques):
        now["torque"] = torque
        simulator.renew()
        simulator.advance(0.1 * (k + 1))
        np.testing.assert_allclose(simulator.q, expected[k], atol=1e-7)


def test_what_it_cannot_do_is_told():
    model = se.builders.four_bar(1, 2, 2.5, 3)
    with pytest.raises(se.SimEngineError, match="adaptive explicit integrators"):
        se.Simulator(model, integrator="rk4")
    simulator = se.Simulator(model)
    simulator.advance(0.2)
    for t in (0.1, float("nan"), float("inf")):
        with pytest.raises(se.SimEngineError, match="cannot advance"):
            simulator.advance(t)


def test_a_force_that_raises_is_named():
    model = se.Model("bob")
    ball = model.body("ball", mass=1, inertia=1)
    model.add(se.Torque("motor", ball, law=lambda t, q, qd: 1.0 / (0.0 if t > 0.05 else 1.0)))
    simulator = se.Simulator(model)
    with pytest.raises(se.ConvergenceError, match="motor"):
        simulator.advance(1.0)


def test_a_table_is_not_left():
    model = se.Model("bob")
    ball = model.body("ball", mass=1, inertia=1)
    model.add(se.Driver("motor", se.angle(model.ground, ball), se.Table((0, 1, 2), (0, 1, 4))))
    simulator = se.Simulator(model)
    simulator.advance(1.5)
    with pytest.raises(se.SimEngineError, match="table covers 0 to 2 s"):
        simulator.advance(2.5)
    simulator.advance(2.0)
    assert simulator.q[2] == pytest.approx(4.0, abs=1e-9)


def test_it_tells_what_results_tell():
    """A Python function may jump, and nobody looks for that."""

    def torque(t, q, qd):
        return 1.0

    model = se.Model(gravity=(0, 0))
    wheel = model.body("wheel", mass=1, inertia=1, angular_velocity=50)
    model.add(se.Revolute("O", model.ground, wheel))
    model.add(se.Torque("motor", wheel, law=torque))
    for options in ({"rtol": 1e-6}, {"rtol": 1e-3, "integrator": "tsitouras5"}):
        simulator = se.Simulator(model, **options)
        assert not any("singular" in note for note in simulator.notes)
        simulator.advance(0.5)
        options = {"integrator": "tsitouras5"} | options
        told = se.dynamics(model, t_eval=[0, 0.5], **options).notes
        assert [n for n in simulator.notes if "integrated" not in n] == [
            n for n in told if "integrated" not in n
        ]
        assert any("motor" in note for note in told)


def test_turns_that_were_perhaps_missed_are_told():
    """A wheel of 5 rad/s, and a step of 2 s: more than a turn, which its direction does not show."""
    model = se.Model(gravity=(0, 0))
    wheel = model.body("wheel", mass=1, inertia=1, angular_velocity=5)
    model.add(se.Revolute("O", model.ground, wheel))
    simulator = se.Simulator(model, coordinates="natural", rtol=1e-6)
    simulator.advance(1.0)
    assert not any("whole turns" in note for note in simulator.notes)
    family = simulator._first.family
    y = np.concatenate([family.positions(simulator.q), family.velocities(simulator.q, simulator.qd)])
    family.count_from(1.0, simulator.q, simulator.qd)
    family.remember(3.0, y, family.turns)
    assert any("whole turns" in note for note in simulator.notes)
