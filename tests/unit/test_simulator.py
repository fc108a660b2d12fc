"""A motion that goes on bit by bit is the motion of `dynamics`."""

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among

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
            simulator.advance_to(t)
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
        simulator.advance_to(0.1 * (k + 1))
        np.testing.assert_allclose(simulator.q, expected[k], atol=1e-7)


def test_what_it_cannot_do_is_told():
    model = se.builders.four_bar(1, 2, 2.5, 3)
    with pytest.raises(se.SimEngineError, match="adaptive explicit integrators"):
        se.Simulator(model, integrator="rk4")
    simulator = se.Simulator(model)
    simulator.advance_to(0.2)
    for t in (0.1, float("nan"), float("inf")):
        with pytest.raises(se.SimEngineError, match="cannot advance"):
            simulator.advance_to(t)


def test_a_force_that_raises_is_named():
    model = se.Model("bob")
    ball = model.body("ball", mass=1, inertia=1)
    model.add(se.Torque("motor", ball, law=lambda t, q, qd: 1.0 / (0.0 if t > 0.05 else 1.0)))
    simulator = se.Simulator(model)
    with pytest.raises(se.ConvergenceError, match="motor"):
        simulator.advance_to(1.0)


def test_a_table_is_not_left():
    model = se.Model("bob")
    ball = model.body("ball", mass=1, inertia=1)
    model.add(se.Driver("motor", se.angle(model.ground, ball), se.Table((0, 1, 2), (0, 1, 4))))
    simulator = se.Simulator(model)
    simulator.advance_to(1.5)
    with pytest.raises(se.SimEngineError, match="table covers 0 to 2 s"):
        simulator.advance_to(2.5)
    simulator.advance_to(2.0)
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
        simulator.advance_to(0.5)
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
    simulator.advance_to(1.0)
    assert not any("whole turns" in note for note in simulator.notes)
    family = simulator._first.family
    y = np.concatenate([family.positions(simulator.q), family.velocities(simulator.q, simulator.qd)])
    family.count_from(1.0, simulator.q, simulator.qd)
    family.remember(3.0, y, family.turns)
    assert any("whole turns" in note for note in simulator.notes)


# Names, inputs, events --------------------------------------------------------------------------------


def cart_pole() -> se.Model:
    m = se.Model("cart-pole")
    m.block("cart", width=0.4, height=0.2, mass=1)
    m.bar("pole", (0, 0), (0.1, 0.99), mass=0.2)
    m.add(se.Translational("rail", m.ground, "cart", direction=(1, 0)))
    m.add(se.Revolute("pin", "cart", "pole.start"))
    m.add(se.PointForce("push", "cart"))
    m.add(se.Torque("motor", "pole", 0.5))
    m.add(se.Spring("spring", "x(ground, cart)", stiffness=3))
    return m


def test_channels_have_names():
    model = se.builders.slider_crank(1, 3, crank_angle=0.5)
    simulator = se.Simulator(model)
    simulator.advance_to(0.3)
    results = se.dynamics(model, t_eval=[0.0, 0.3])
    for channel in ("crank.phi", "rod.end.yd", "slider.xdd", "distance(ground, slider)", "A.fx", "t"):
        assert simulator[channel] == pytest.approx(results[channel][-1], rel=1e-6, abs=1e-9)
    with pytest.raises(se.ModelError, match="crnk"):
        simulator["crnk.phi"]


def test_it_advances_by_a_time():
    model = se.builders.chain(2)
    one, other = se.Simulator(model), se.Simulator(model)
    for _ in range(5):
        one.advance_by(0.05)
    other.advance_to(one.t)
    np.testing.assert_array_equal(one.q, other.q)
    assert one.t == pytest.approx(0.25)
    with pytest.raises(se.ModelError, match=r"cannot advance to t = 0\.2"):
        one.advance_by(-0.05)


@pytest.mark.parametrize("coordinates", [None, "reference_point", "relative"])
def test_inputs_are_held_until_they_are_set_again(coordinates):
    """Against a run that knows them beforehand."""
    names, values = (
        ["push.fx", "motor", "spring.actuator"],
        [(2.0, 0.5, 0.0), (-1.0, 0.1, 0.3), (-1.0, 0.2, -0.4)],
    )
    known = cart_pole()
    over = lambda column: (
        f"piecewise(t < 0.1, {values[0][column]}, t < 0.2, {values[1][column]}, {values[2][column]})"
    )
    known["push"].fx, known["motor"].value, known["spring"].actuator = over(0), over(1), over(2)
    expected = se.dynamics(known, t_eval=[0.0, 0.1, 0.2, 0.3], rtol=1e-10)
    simulator = se.Simulator(cart_pole(), inputs=names, rtol=1e-9, coordinates=coordinates)
    assert simulator.inputs == {"push.fx": 0.0, "motor": 0.5, "spring.actuator": 0.0}
    for _ in range(2):
        for k, row in enumerate(values):
            for name, value in zip(names, row, strict=True):
                simulator.set(name, value)
            simulator.advance_by(0.1)
            np.testing.assert_allclose(simulator.q, expected.q[k + 1], rtol=0, atol=1e-8)
            assert simulator["push.fx"] == row[0] and simulator["motor"] == row[1]
        simulator.reset()
        assert simulator.inputs == {"push.fx": 0.0, "motor": 0.5, "spring.actuator": 0.0}


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        (["pusch.fx"], "the input 'pusch.fx' is not a force of the model. Did you mean 'push'"),
        (["push"], "does not say what of PointForce 'push' is set. Write 'push.fx' or 'push.fy'."),
        (["rail"], "is Translational 'rail', which prescribes a motion; inputs are forces"),
        (["motor.torque"], "Write 'motor.value'"),
        (["other"], "the input 'other' follows a law of its own"),
    ],
)
def test_what_is_no_input_is_answered(inputs, sentence):
    model = cart_pole()
    model.add(se.Torque("other", "pole", "sin(t)"))
    with pytest.raises(se.ModelError) as caught:
        se.Simulator(model, inputs=inputs)
    assert sentence in str(caught.value)


def test_what_cannot_be_set_is_answered():
    simulator = se.Simulator(cart_pole(), inputs=["motor"])
    with pytest.raises(se.ModelError, match=r"there is no input 'push.fx'. The inputs are motor. Name it"):
        simulator.set("push.fx", 1)
    for value in (float("nan"), "x", None):
        with pytest.raises(se.ModelError, match="a finite number is needed"):
            simulator.set("motor", value)


def falling(**options) -> se.Simulator:
    m = se.Model("stone", gravity=(0, -10))
    m.body("stone", mass=1, inertia=1, at=(0, 5), velocity=(1, 0))
    m.add(se.PointForce("wind", "stone"))
    return se.Simulator(m, **options)


def test_an_event_ends_an_advance():
    """y = 5 - 5 t^2 reaches the ground at t = 1; x = t passes 0.5 on the way."""
    simulator = falling(
        events=[se.Event("stone.y", "falling"), se.Event("stone.x - 0.5", stop=False)], rtol=1e-10
    )
    hits = [simulator.advance_by(0.3) for _ in range(3)]
    assert hits == [None] * 3
    hit = simulator.advance_by(0.3)
    assert (hit.name, hit.rising) == ("stone.y", False)
    assert simulator.t == hit.t == pytest.approx(1.0, abs=1e-9)
    assert simulator["stone.y"] == pytest.approx(0.0, abs=1e-8)
    assert [event.name for event in simulator.events] == ["stone.x - 0.5", "stone.y"]
    assert simulator.advance_to(2.0) is None and simulator["stone.y"] == pytest.approx(-15, rel=1e-9)
    simulator.reset()
    assert simulator.events == [] and simulator.advance_to(2.0).t == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("dt", [0.05, 0.11, 0.17, 0.23, 0.3, 0.37, 0.45, 0.9])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-10])
def test_an_event_is_found_wherever_steps_and_advances_end(dt, rtol):
    """A step leads beyond the time that was asked for, and the next advance begins inside it."""
    simulator = falling(
        events=[se.Event("stone.y", "falling"), se.Event("stone.x - 0.5", stop=False)], rtol=rtol
    )
    hit = None
    while hit is None and simulator.t < 2.0:
        hit = simulator.advance_by(dt)
    assert hit is not None and simulator.t == hit.t == pytest.approx(1.0, abs=10 * rtol)
    assert simulator["stone.y"] == pytest.approx(0.0, abs=100 * rtol)
    assert simulator.events[0].t == pytest.approx(0.5, abs=10 * rtol)


@pytest.mark.parametrize("seed", slow_among(range(4), 1, 2, 3))
def test_events_beside_singular_poses_are_met_once(seed):
    """A run over such a pose goes back to a state before it."""
    rng, system = np.random.default_rng(seed), se.System(se.load("parallelogram"))
    low, high = np.quantile(se.dynamics(system, t_end=2.0)["middle.y"], [0.1, 0.9])
    event = se.Event(f"middle.y - ({rng.uniform(low, high)})", stop=False)
    expected = [each.t for each in se.dynamics(system, t_end=2.0, events=event).events]
    simulator = se.Simulator(system, events=[event])
    while simulator.t < 2.0:
        simulator.advance_to(min(2.0, simulator.t + rng.uniform(0.01, 0.5)))
    assert [each.t for each in simulator.events] == pytest.approx(expected, abs=1e-5)
    assert len(expected) >= 3


def test_one_advance_may_meet_several_events():
    """The stone passes each height once; every advance ends at the next."""
    simulator = falling(events=[se.Event(f"stone.y - {h}") for h in (4, 3, 2, 1)], rtol=1e-10)
    times = [simulator.advance_to(3.0).t for _ in range(4)]
    np.testing.assert_allclose(times, np.sqrt([0.2, 0.4, 0.6, 0.8]), rtol=0, atol=1e-9)
    assert simulator.advance_to(3.0) is None and simulator.t == 3.0


def test_an_event_after_an_input_is_found():
    """A wind that is set at the first event blows the stone back: x = 1 + (t - 1) - 2 (t - 1)^2 after t = 1."""
    simulator = falling(events=[se.Event("stone.x - 1", "rising"), se.Event("stone.x", "falling")],
                        inputs=["wind.fx"], rtol=1e-10)  # fmt: skip
    assert simulator.advance_to(5).t == pytest.approx(1.0, abs=1e-9)
    simulator.set("wind.fx", -4)
    hit = simulator.advance_to(5)
    assert hit.name == "stone.x" and hit.t == pytest.approx(2.0, abs=1e-8)


def test_events_while_the_motion_is_stiff():
    m = se.Model("stiff", gravity=(0, 0))
    m.body("b", mass=1e-6, inertia=1, velocity=(1, 0))
    m.add(se.Spring("d", "x(ground, b)", damping=100, stiffness=100))
    m.add(se.PointForce("f", "b", fx="100*t"))
    simulator = se.Simulator(m, events=se.Event("b.x - 0.5"), rtol=1e-8)
    hit = simulator.advance_to(3)
    # without the small mass x' = t - x: x = t - 1 + e^-t, and 0.5 is reached where e^-t = 1.5 - t
    assert np.exp(-hit.t) == pytest.approx(1.5 - hit.t, abs=1e-5)
    assert simulator["b.x"] == pytest.approx(0.5, abs=1e-6)
    assert simulator.advance_to(3) is None and simulator["b.x"] == pytest.approx(2 + np.exp(-3), abs=1e-5)
