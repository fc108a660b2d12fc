"""Inverse dynamics: closed forms, other actuators, shared work, measured motions, redundant joints, messages."""

from __future__ import annotations

from cmath import exp, phase

import numpy as np
import pytest

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.analyses.inverse import multipliers

TIMES = np.linspace(0.0, 1.0, 21)


# Closed forms -----------------------------------------------------------------------------------------


def four_bar_torque(lengths, masses, motion, t):
    """Crank torque by virtual power, T w = sum m (a + g) . v + J alpha w, with the loop closed in the complex plane."""
    a, b, c, d = lengths
    theta, w, alpha = motion(t)
    B = a * exp(1j * theta)
    diagonal = d - B
    foot = (abs(diagonal) ** 2 + b**2 - c**2) / (2 * abs(diagonal))
    C = B + diagonal / abs(diagonal) * (foot + 1j * np.sqrt(b**2 - foot**2))
    beta, gamma = phase(C - B), phase(C - d)

    def solve(right):
        """i b e^(i beta) x - i c e^(i gamma) y = right."""
        u, v = 1j * b * exp(1j * beta), -1j * c * exp(1j * gamma)
        return np.linalg.solve([[u.real, v.real], [u.imag, v.imag]], [right.real, right.imag])

    w_b, w_c = solve(-1j * a * exp(1j * theta) * w)
    bend = (1j * alpha - w**2) * B - w_b**2 * (C - B) + w_c**2 * (C - d)
    alpha_b, alpha_c = solve(-bend)
    spin = lambda arm, rate, growth: (1j * rate * arm, (1j * growth - rate**2) * arm)
    v_B, a_B = spin(B, w, alpha)
    (v1, a1), (v3, a3) = spin(B / 2, w, alpha), spin((C - d) / 2, w_c, alpha_c)
    v2, a2 = (v_B + spin((C - B) / 2, w_b, alpha_b)[0], a_B + spin((C - B) / 2, w_b, alpha_b)[1])
    power = 0.0
    bars = zip(
        masses,
        (a, b, c),
        (v1, v2, v3),
        (a1, a2, a3),
        ((w, alpha), (w_b, alpha_b), (w_c, alpha_c)),
        strict=True,
    )
    for m, length, v, acceleration, (rate, growth) in bars:
        power += m * ((acceleration + 9.81j) * v.conjugate()).real + m * length**2 / 12 * growth * rate
    return power / w


def test_the_crank_of_a_four_bar():
    lengths, masses = (1.0, 2.0, 2.5, 3.0), (1.0, 2.0, 3.0)
    model = builders.four_bar(*lengths, masses=masses, driver="1 + 2*t + 0.3*sin(3*t)")
    motion = lambda t: (1 + 2 * t + 0.3 * np.sin(3 * t), 2 + 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t))
    results = se.inverse_dynamics(model, t_eval=TIMES)
    expected = [four_bar_torque(lengths, masses, motion, t) for t in TIMES]
    np.testing.assert_allclose(results["motor.torque"], expected, rtol=0, atol=1e-9)
    assert results.analysis == "inverse_dynamics"
    assert "inverse dynamics finished at t = 1 s, 21 points" in results.summary()


def pendulum(value="0.4*sin(3*t) - 1"):
    model = se.Model("pendulum")
    bar = model.bar("bar", (0, 0), (np.cos(1.0), -np.sin(1.0)), mass=2)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Spring("spring", se.angle(model.ground, bar), stiffness=3, damping=0.2))
    model.add(se.Driver("motor", se.angle(model.ground, bar), value))
    return model


def test_effort_power_and_energy():
    """The motor's energy is that of the weight, of the spring, of the motion, and what the damper has eaten."""
    t = np.linspace(0.0, 2.0, 401)
    results = se.inverse_dynamics(pendulum(), t_eval=t)
    phi, w, alpha = 0.4 * np.sin(3 * t) - 1, 1.2 * np.cos(3 * t), -3.6 * np.sin(3 * t)
    inertia = 2 / 3
    torque = inertia * alpha + 2 * 9.81 * 0.5 * np.cos(phi) + 3 * phi + 0.2 * w
    np.testing.assert_allclose(results["motor.effort"], torque, atol=1e-12)
    np.testing.assert_allclose(results["motor.power"], torque * w, atol=1e-12)
    stored = 9.81 * np.sin(phi) + 1.5 * phi**2 + 0.5 * inertia * w**2
    eaten = 0.2 * 1.44 * (t / 2 + np.sin(6 * t) / 12)
    # cubic splines through outputs 5 ms apart
    np.testing.assert_allclose(results["motor.energy"], stored - stored[0] + eaten, atol=1e-7)
    np.testing.assert_allclose(results["spring.effort"], -results["spring.force"])
    np.testing.assert_allclose(results["O.power"], 0.0, atol=1e-12)  # a pin of the ground does no work


def test_one_time_has_no_energy():
    assert se.inverse_dynamics(pendulum(), t_eval=[0.3])["motor.energy"].tolist() == [0.0]


def test_it_is_what_dynamics_finds():
    """A fully driven mechanism has the same multipliers in forward dynamics."""
    model = builders.slider_crank(1, 2.5, 0.2, driver="1 + 2*t + 0.5*sin(4*t)")
    model.add(se.Spring("load", "along(ground, slider)", stiffness=20, damping=3, free=2))
    inverse, forward = se.inverse_dynamics(model, t_eval=TIMES), se.dynamics(model, t_eval=TIMES, rtol=1e-11)
    np.testing.assert_allclose(inverse.lam, forward.lam, rtol=1e-9, atol=1e-9)


def test_large_systems_go_the_sparse_way(monkeypatch):
    """40 links, each with its motor: the same numbers, dense or sparse."""
    model = builders.chain(40)
    for i in range(1, 41):
        before = "ground" if i == 1 else f"link{i - 1}"
        model.add(se.Driver(f"motor{i}", f"angle({before}, link{i})", f"0.1*sin({i}*t)"))
    dense = se.inverse_dynamics(model, t_eval=[0.0, 0.1])
    monkeypatch.setattr(multipliers, "DENSE", 10)
    sparse = se.inverse_dynamics(model, t_eval=[0.0, 0.1])
    np.testing.assert_allclose(sparse.lam, dense.lam, rtol=1e-9, atol=1e-9)


# Redundant joints -------------------------------------------------------------------------------------


def driven(model):
    model.add(se.Driver("motor", "angle(ground, crank)", "1 + t + 0.2*t^2"))
    return model


def test_redundant_joints_leave_unique_forces_exact():
    """A third crank without mass changes nothing about the motor; its pins share the coupler's load as they like."""
    without = builders.four_bar(1, 2, 1, 2, crank_angle=1.0)
    two, three = (se.inverse_dynamics(driven(m), t_eval=TIMES) for m in (without, three_cranks()))
    np.testing.assert_allclose(three["motor.torque"], two["motor.torque"], rtol=1e-11)
    assert two.non_unique == []
    assert set(three.non_unique) == {"A", "B", "C", "D", "E", "F"}
    assert any("not unique" in note and "smallest" in note for note in three.notes)
    # together the pins of the coupler carry the same
    total = sum(three.reaction(name, on="coupler", at="coupler").fy for name in "BCF")
    expected = sum(two.reaction(name, on="coupler", at="coupler").fy for name in "BC")
    np.testing.assert_allclose(total, expected, rtol=1e-10)
    residual = [
        three.system.M() @ qdd + three.system.Phi_q(t, q).T @ lam - three.system.QA(t, q, qd)
        for t, q, qd, qdd, lam in zip(three.t, three.q, three.qd, three.qdd, three.lam, strict=True)
    ]
    assert np.abs(residual).max() < 1e-10


def test_large_redundant_systems(monkeypatch):
    monkeypatch.setattr(multipliers, "DENSE", 5)
    sparse = se.inverse_dynamics(driven(three_cranks()), t_eval=[0.0, 0.5])
    monkeypatch.undo()
    dense = se.inverse_dynamics(driven(three_cranks()), t_eval=[0.0, 0.5])
    # the sparse way regularizes and refines, which leaves 1e-8 of the forces
    np.testing.assert_allclose(sparse["motor.torque"], dense["motor.torque"], rtol=1e-7)


def test_a_change_point_is_told():
    """A parallelogram in line has no determined forces there; before and behind it has."""
    model = builders.four_bar(1, 2, 1, 2, crank_angle=1.0, driver="1 - t")
    results = se.inverse_dynamics(model, t_eval=[0.0, 0.5, 1.0, 1.5])
    assert any("at t = 1 s the pose is singular" in note for note in results.notes)
    others = [0, 1, 3]
    twin = se.inverse_dynamics(
        builders.four_bar(1, 2, 1, 2, crank_angle=1.0, driver="1 - t"), t_eval=[0.0, 0.5, 1.5]
    )
    np.testing.assert_allclose(results["motor.torque"][others], twin["motor.torque"], rtol=1e-7)


# Other actuators --------------------------------------------------------------------------------------


def rocking(value="2.26 + 0.1*sin(2*t)"):
    """A four-bar whose rocker is driven; its crank stands at about 110 degrees."""
    model = builders.four_bar(1, 2, 3, 3, crank_angle="110*deg")
    model.add(se.Driver("rock", "angle(ground, rocker)", value))
    return model


def test_the_motor_at_the_crank_for_a_motion_of_the_rocker():
    """Power is the same wherever it enters, and the forces on every body balance."""
    at_rocker = se.inverse_dynamics(rocking(), t_eval=TIMES)
    at_crank = se.inverse_dynamics(rocking(), t_eval=TIMES, actuators={"motor": "angle(ground, crank)"})
    np.testing.assert_allclose(at_crank.q, at_rocker.q)
    np.testing.assert_allclose(at_crank["motor.power"], at_rocker["rock.power"], rtol=0, atol=1e-10)
    ratio = at_crank["rocker.phid"] / at_crank["crank.phid"]
    np.testing.assert_allclose(at_crank["motor.torque"], at_rocker["rock.torque"] * ratio, rtol=1e-9)
    assert at_crank.power_balance() < 1e-11
    assert "rock" not in at_crank.model.elements  # it only said how to move
    residual = [
        at_crank.system.M() @ qdd + at_crank.system.Phi_q(t, q).T @ lam - at_crank.system.QA(t, q, qd)
        for t, q, qd, qdd, lam in zip(
            at_crank.t, at_crank.q, at_crank.qd, at_crank.qdd, at_crank.lam, strict=True
        )
    ]
    assert np.abs(residual).max() < 1e-10


@pytest.mark.parametrize(
    "actuators", [["angle(ground, crank)"], [se.angle("ground", "crank")], ["crank.phi"]]
)
def test_actuators_without_a_name(actuators):
    results = se.inverse_dynamics(rocking(), t_eval=TIMES, actuators=actuators)
    named = se.inverse_dynamics(rocking(), t_eval=TIMES, actuators={"motor": "angle(ground, crank)"})
    np.testing.assert_array_equal(results["actuator1.effort"], named["motor.effort"])


def test_a_cylinder_as_actuator():
    """A push along a distance: its effort times the rate of the distance is the power."""
    plain = se.inverse_dynamics(rocking(), t_eval=TIMES)
    cylinder = {"cylinder": "distance(ground.A, coupler)"}
    results = se.inverse_dynamics(rocking(), t_eval=TIMES, actuators=cylinder)
    rate = results.measure(cylinder["cylinder"])[1]
    np.testing.assert_allclose(results["cylinder.effort"] * rate, plain["rock.power"], atol=1e-9)


def test_a_dead_point_of_the_actuator_ends_the_run_with_results():
    """A slider that goes out and in: at the outer dead point the crank's torque does not reach it."""
    model = builders.slider_crank(1, 2, crank_angle="60*deg")
    model.add(se.Driver("push", "x(ground, slider)", "2 + 0.2*t"))
    with pytest.raises(se.SingularityError):
        se.kinematics(model, t_end=6)
    crank = builders.slider_crank(1, 2, driver="60*deg - t")
    crank.add(se.Spring("load", "x(ground, slider)", stiffness=5))
    zero = np.pi / 3
    with pytest.raises(se.SingularityError, match="dead point") as caught:
        se.inverse_dynamics(crank, t_eval=[0.0, 0.5, zero, 1.5], actuators={"piston": "x(ground, slider)"})
    assert caught.value.results.t.tolist() == [0.0, 0.5]
    assert caught.value.results["piston.effort"].size == 2


def test_two_motors_on_one_shaft_share_evenly():
    model = pendulum()
    one = se.inverse_dynamics(model, t_eval=TIMES)
    two = {"left": "angle(ground, bar)", "right": "angle(ground, bar)"}
    both = se.inverse_dynamics(model, t_eval=TIMES, actuators=two)
    np.testing.assert_allclose(both["left.effort"], one["motor.effort"] / 2, rtol=1e-12)
    np.testing.assert_allclose(both["right.effort"], one["motor.effort"] / 2, rtol=1e-12)
    assert set(both.non_unique) == {"left", "right"}
    limited = se.inverse_dynamics(model, t_eval=TIMES, actuators=two, limits={"left": (-1, 1)})
    np.testing.assert_allclose(limited["left.effort"], np.clip(one["motor.effort"] / 2, -1, 1), atol=1e-12)
    total = limited["left.effort"] + limited["right.effort"]
    np.testing.assert_allclose(total, one["motor.effort"], rtol=1e-12)


def test_limits_that_cannot_be_kept():
    two = {"left": "angle(ground, bar)", "right": "angle(ground, bar)"}
    with pytest.raises(se.UnsupportedError, match="left would need") as caught:
        se.inverse_dynamics(
            pendulum(), t_eval=TIMES, actuators=two, limits={"left": (0, 0.1), "right": (0, 0.1)}
        )
    assert caught.value.results is not None
    with pytest.raises(se.UnsupportedError, match="within their limits"):
        se.inverse_dynamics(pendulum(), t_eval=TIMES, actuators=["motor"], limits={"motor": (-0.1, 0.1)})


def test_too_few_actuators():
    model = builders.chain(2, driver="0.1*t")
    model.add(se.Driver("elbow", "angle(link1, link2)", "0.2*sin(t)"))
    with pytest.raises(se.UnsupportedError, match=r"link2 turns about .* There are 2 free motions"):
        se.inverse_dynamics(model, t_end=1, actuators=["motor"])


# Motions that are given -------------------------------------------------------------------------------


def free_pendulum():
    model = pendulum()
    del model.elements["motor"]
    return model


DATA = {"t": np.linspace(0, 1, 101), "bar.phi": 0.4 * np.sin(3 * np.linspace(0, 1, 101)) - 1}


def test_arrays_instead_of_drivers():
    """Splines of degree 5 over 10 ms: the accelerations are good to 1e-6 but at the ends."""
    results = se.inverse_dynamics(free_pendulum(), motion=DATA)
    exact = se.inverse_dynamics(pendulum(), t_eval=DATA["t"])
    np.testing.assert_allclose(results["bar phi.torque"], exact["motor.torque"], atol=2e-5)
    np.testing.assert_allclose(results["bar phi.torque"][10:-10], exact["motor.torque"][10:-10], atol=1e-7)
    assert any("spline of degree 5 through its 101 points" in note for note in results.notes)


def test_a_column_named_after_a_driver_replaces_its_value():
    data = {"t": DATA["t"], "motor": DATA["bar.phi"]}
    results = se.inverse_dynamics(pendulum("7*t"), motion=data, t_eval=[0.2, 0.5])
    exact = se.inverse_dynamics(pendulum(), t_eval=[0.2, 0.5])
    np.testing.assert_allclose(results["motor.torque"], exact["motor.torque"], atol=1e-7)


def test_a_measured_file(tmp_path):
    path = tmp_path / "measured.csv"
    rows = "\n".join(
        f"{t!r}; {phi!r}" for t, phi in zip(DATA["t"].tolist(), DATA["bar.phi"].tolist(), strict=True)
    )
    path.write_text(f"# a comment\nt; bar.phi\n{rows}\n")
    results = se.inverse_dynamics(free_pendulum(), motion=path)
    arrays = se.inverse_dynamics(free_pendulum(), motion=DATA)
    np.testing.assert_array_equal(results.lam, arrays.lam)


def test_noise_is_smoothed():
    """A tenth of a milliradian every 10 ms would make accelerations of some rad/s^2; smoothing takes most of it."""
    noise = 1e-4
    noisy = DATA | {"bar.phi": DATA["bar.phi"] + noise * np.random.default_rng(0).standard_normal(101)}
    exact = se.inverse_dynamics(pendulum(), t_eval=DATA["t"])["motor.torque"][10:-10]
    raw = se.inverse_dynamics(free_pendulum(), motion=noisy)
    smooth = se.inverse_dynamics(free_pendulum(), motion=noisy, noise={"bar.phi": noise})
    error = lambda results: np.abs(results["bar phi.torque"][10:-10] - exact).max()
    assert error(smooth) < 0.1 < 1.0 < error(raw)
    assert any("smoothed" in note and "moved by up to" in note for note in smooth.notes)


def test_angles_that_jump_by_a_turn_are_made_continuous():
    t = np.linspace(0, 1, 201)
    turning = -1 + 8 * t
    wrapped = (turning + np.pi) % (2 * np.pi) - np.pi
    results = se.inverse_dynamics(free_pendulum(), motion={"t": t, "bar.phi": wrapped})
    np.testing.assert_allclose(results["bar.phi"], turning, atol=1e-9)
    assert any("whole turns" in note for note in results.notes)


def test_inverse_dynamics_undoes_dynamics():
    """The torques of a double pendulum, found again from its motion."""
    model = builders.chain(2)
    model.add(se.Spring("hip", "angle(ground, link1)", actuator="3*sin(2*t)"))
    model.add(se.Spring("knee", "angle(link1, link2)", actuator="cos(5*t)"))
    motion = se.dynamics(model, t_eval=TIMES)
    bare = builders.chain(2)
    hip, knee = "angle(ground, link1)", "angle(link1, link2)"
    results = se.inverse_dynamics(bare, motion=motion, actuators={"hip": hip, "knee": knee})
    np.testing.assert_allclose(results["hip.effort"], -3 * np.sin(2 * TIMES), atol=1e-9)
    np.testing.assert_allclose(results["knee.effort"], -np.cos(5 * TIMES), atol=1e-9)


def test_results_from_a_file_are_a_motion_too(tmp_path):
    motion = se.kinematics(pendulum(), t_eval=TIMES)
    results = se.inverse_dynamics(pendulum("0"), motion=se.Results.load(motion.save(tmp_path / "motion.csv")))
    exact = se.inverse_dynamics(pendulum(), t_eval=TIMES)
    np.testing.assert_allclose(results["motor.torque"], exact["motor.torque"], rtol=1e-12)


# Fed forward ------------------------------------------------------------------------------------------


def test_the_efforts_make_the_motion():
    model = builders.chain(2, driver="0.5*sin(3*t)")
    model.add(se.Driver("elbow", "angle(link1, link2)", "0.3*t^2"))
    results = se.inverse_dynamics(model, t_end=1, step=1e-3)
    free = se.feed_forward(results)
    assert se.diagnose(free).mobility == 2
    again = se.dynamics(free, t_eval=results.t[::100], rtol=1e-11)
    np.testing.assert_allclose(again.q, results.q[::100], rtol=0, atol=1e-8)


def test_feeding_forward_starts_where_the_motion_starts():
    """Drawn at 1 rad below the horizon, driven from elsewhere, and beyond half a turn."""
    model = pendulum("4 + 2*t")
    results = se.inverse_dynamics(model, t_end=0.5, step=1e-3)
    again = se.dynamics(se.feed_forward(results), t_eval=results.t[::100], rtol=1e-11)
    np.testing.assert_allclose(again["bar.phi"], 4 + 2 * results.t[::100], rtol=0, atol=1e-8)


def test_constraints_that_move_are_fed_forward_too():
    model = se.Model("lift", gravity=(0, -9.81))
    model.body("car", mass=100, inertia=1, at=(0, 0))
    model.add(se.AbsoluteX("rail", "car"))
    model.add(se.AbsoluteAngle("guide", "car"))
    model.add(se.AbsoluteY("rope", "car", "2*sin(t)"))
    results = se.inverse_dynamics(model, t_end=1, step=0.01)
    np.testing.assert_allclose(results["rope.fy"], 100 * (9.81 - 2 * np.sin(results.t)), rtol=1e-12)
    again = se.dynamics(se.feed_forward(results), t_eval=[0.0, 1.0], rtol=1e-10)
    assert again["car.y"][-1] == pytest.approx(2 * np.sin(1), abs=1e-8)
    assert again["rope.force"][0] == pytest.approx(-981)  # it resists going down


# Messages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs t_end, t_eval or a motion"),
        ({"t_end": 1, "actuators": ["motr"]}, r"'motr' is not a driver .* Did you mean 'motor'"),
        ({"t_end": 1, "actuators": [3]}, "3 is neither a driver nor a measure"),
        ({"t_end": 1, "actuators": []}, "actuators is empty"),
        ({"t_end": 1, "actuators": ["bar.force"]}, "is neither a driver nor a position"),
        ({"t_end": 1, "actuators": ["O"]}, "'O' moves nothing"),
        ({"t_end": 1, "limits": {"motor": (0, 1)}}, "limits belong to actuators"),
        ({"t_end": 1, "actuators": ["motor"], "limits": {"moto": (0, 1)}}, "Did you mean 'motor'"),
        ({"t_end": 1, "actuators": ["motor"], "limits": {"motor": (1, 0)}}, r"write \(low, high\)"),
        ({"motion": {"motor": [1, 2]}}, "has no times"),
        ({"motion": {"t": [0, 1, 2], "motor": [1, 2]}}, "3 times, but 2 values of 'motor'"),
        ({"motion": {"t": [0, 1, 2], "motor": [1, 2, 3]}}, "at least 6 increasing ones"),
        ({"motion": {"t": [0, 1], "motor": [1, np.nan]}}, "list of finite numbers"),
        ({"motion": "nowhere.csv"}, "does not exist"),
        ({"motion": {"t": np.arange(6), "motor": np.arange(6)}, "noise": -1.0}, "standard deviation"),
        ({"motion": {"t": np.arange(6), "motor": np.arange(6)}, "noise": {"x": 1.0}}, "which is not in the motion"),
        ({"motion": {"t": np.arange(6) / 9, "motor": np.arange(6)}, "t_end": 2}, "covers 0 to"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_before_the_run(options, words):
    with pytest.raises(se.ModelError, match=words):
        se.inverse_dynamics(pendulum(), **options)


def test_motions_that_do_not_fit():
    motion = se.kinematics(pendulum(), t_eval=TIMES)
    with pytest.raises(se.ModelError, match="bodies bar, the model link1"):
        se.inverse_dynamics(builders.chain(1), motion=motion)
    with pytest.raises(se.ModelError, match="leave out t_end"):
        se.inverse_dynamics(pendulum(), motion=motion, t_end=1)
    with pytest.raises(se.ModelError, match="name the actuators"):
        se.inverse_dynamics(free_pendulum(), motion=motion)
    motion.q[3, 0] += 0.01
    with pytest.raises(se.ModelError, match=r"opens Revolute 'O' by 0\.0"):
        se.inverse_dynamics(pendulum(), motion=motion)


def test_a_free_motion_is_told():
    with pytest.raises(se.UnsupportedError, match="1 motion is free"):
        se.inverse_dynamics(free_pendulum(), t_end=1)
    with pytest.raises(se.ModelError, match="needs a Model"):
        se.inverse_dynamics("four_bar.yaml", t_end=1)


def test_a_law_that_is_only_named():
    model = pendulum()
    model.add(se.Torque("brake", "bar", law="brake_law"))
    with pytest.raises(se.UnsupportedError, match="brake_law"):
        se.inverse_dynamics(model, t_end=1)


def test_channels_that_do_not_exist():
    results = se.inverse_dynamics(pendulum(), t_eval=[0.0, 0.1])
    with pytest.raises(se.ModelError, match="does not act on a single measure"):
        results["O.effort"]
    with pytest.raises(se.ModelError, match=r"motor.effort, motor.power, motor.energy"):
        results["motor.speed"]
    with pytest.raises(se.UnsupportedError, match="no reactions"):
        se.kinematics(pendulum(), t_eval=[0.0])["motor.effort"]
    with pytest.raises(se.UnsupportedError, match="feed_forward needs"):
        se.feed_forward(se.kinematics(pendulum(), t_eval=[0.0, 0.1]))


# Change points ----------------------------------------------------------------------------------------


def test_the_effort_is_right_where_the_forces_in_joints_are_infinite():
    """Three equal cranks and their rod, all in line: T = g (m_rod + 3 m_crank / 2) crank."""
    r = se.inverse_dynamics(se.load("parallelogram"), t_eval=[0.0, 0.25, 0.3, 0.75])
    assert r["motor.torque"][[1, 3]] == pytest.approx([-9.81 * 4.5, 9.81 * 4.5], rel=1e-6)
    assert any("no forces in the joints balance the motion" in reason for reason in r.verdict.reasons)
