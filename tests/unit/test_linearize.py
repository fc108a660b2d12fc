"""Linearization: closed forms, differences of the nonlinear equations, step responses, a controller that works."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.linalg import eig, expm

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.analyses.linear.variation import FIRST, STEPS, Variation
from simengine2d.analyses.statics.tangent_space import closed_near, tangent_space
from simengine2d.system.system import System

G = 9.81


def cart_pole(tilt=0.0):
    """A cart of 1 kg, and on it a pole of 0.2 kg with its mass center 0.5 m above the pin."""
    model = se.Model("cart-pole", parameters={"tilt": tilt})
    cart = model.body("cart", mass=1, inertia=1, at=(0, 0))
    place = ("-0.5*sin(tilt)", "0.5*cos(tilt)")
    pole = model.body(
        "pole", mass=0.2, inertia=0.2 / 12, at=place, angle="90*deg + tilt", points={"A": (-0.5, 0)}
    )
    model.add(se.Translational("rail", model.ground.at(0, 0), cart))
    model.add(se.Revolute("A", cart, pole["A"]))
    return model


def cart_pole_matrices():
    """(M + m) x'' - m l p'' = u,   -m l x'' + (J + m l^2) p'' = m g l p, with the deviation p from upright."""
    mass = np.array([[1.2, -0.1], [-0.1, 0.2 / 12 + 0.05]])
    stiffness = np.array([[0.0, 0.0], [0.0, -0.2 * G * 0.5]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(mass, stiffness), np.zeros((2, 2))]])
    B = np.concatenate([np.zeros(2), np.linalg.solve(mass, [1.0, 0.0])])
    return A, B[:, None]


def test_a_cart_with_a_pole():
    found = se.linearize(cart_pole(), inputs={"push": "cart.x"})
    A, B = cart_pole_matrices()
    assert found.states == found.outputs == ["cart.x", "pole.phi", "cart.xd", "pole.phid"]
    assert found.inputs == ["push"]
    np.testing.assert_allclose(found.A, A, atol=1e-13)
    np.testing.assert_allclose(found.B, B, atol=1e-13)
    np.testing.assert_array_equal(found.C, np.eye(4))
    np.testing.assert_array_equal(found.D, np.zeros((4, 1)))
    assert "eigenvalues" in str(found) and "inputs: push" in str(found)


def test_the_drawn_pose_stays_where_it_is_an_equilibrium():
    """Upright it is linearized upright; tilted, about the pose to which it falls."""
    assert se.linearize(cart_pole()).variation.q[5] == pytest.approx(pi / 2)
    fallen = se.linearize(cart_pole(0.1)).variation.q[5]
    assert abs(fallen - pi / 2) == pytest.approx(pi, abs=1e-9)


def test_states_are_chosen_by_name():
    chosen = se.linearize(cart_pole(), inputs=["cart.x"], states=["cart.x", "pole.x"])
    found = se.linearize(cart_pole(), inputs=["cart.x"])
    # pole.x = cart.x - 0.5 p
    T = np.kron(np.eye(2), [[1.0, 0.0], [1.0, -0.5]])
    np.testing.assert_allclose(chosen.A, T @ found.A @ np.linalg.inv(T), atol=1e-12)
    np.testing.assert_allclose(chosen.B, T @ found.B, atol=1e-12)
    with pytest.raises(se.ModelError, match="do not determine the pose"):
        se.linearize(cart_pole(), states=["cart.x", "pole.y"])
    with pytest.raises(se.ModelError, match="2 free motions"):
        se.linearize(cart_pole(), states=["cart.x"])
    with pytest.raises(se.ModelError, match=r"Did you mean 'pole\.phi'"):
        se.linearize(cart_pole(), states=["cart.x", "pole.fhi"])


# Against the nonlinear equations ----------------------------------------------------------------------


def mechanism():
    """A closed loop with a spring, a damper, a turning force and a moving state."""
    model = builders.four_bar(1, 2, 2.5, 3)
    model.add(
        se.Spring(
            "spring", "distance(crank.end, rocker.start)", stiffness=30, damping=2, free=1, law="0.1*s*sd"
        )
    )
    model.add(se.PointForce("jet", "coupler.end", fx="1 - 0.3*xd", axes="body"))
    model.add(se.Torque("brake", "rocker", "-0.4*phid"))
    return model


def test_a_moving_state_against_differences():
    """A, from accelerations at states around, each closed and with consistent velocities."""
    results = se.dynamics(mechanism(), t_end=0.4)
    found = se.linearize(mechanism(), at=results)
    system, q, qd = System(mechanism()), found.variation.q, found.variation.qd
    assert np.abs(qd).max() > 0.5
    [state, _] = found.states
    i = system.coordinate_names.index(state)

    def acceleration(dv, dvd):
        """vdd at q[i] + dv, qd[i] + dvd."""
        Z = tangent_space(system, 0.0, q).motions[:, 0]
        here = q + Z / Z[i] * dv
        for _ in range(20):  # closes with q[i] held
            space = closed_near(system, 0.0, here)
            Z = space.motions[:, 0]
            here = space.q + Z / Z[i] * (q[i] + dv - space.q[i])
        Z = tangent_space(system, 0.0, here).motions[:, 0]
        return Variation(system, 0.0, here, Z / Z[i] * (qd[i] + dvd)).qdd[i]

    h = 1e-3
    by_v = sum(c * acceleration(h * k, 0.0) for c, k in zip(FIRST, STEPS, strict=True)) / h
    by_vd = sum(c * acceleration(0.0, h * k) for c, k in zip(FIRST, STEPS, strict=True)) / h
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [by_v, by_vd]], rtol=1e-8)


FORCES = {
    "angle(ground, crank)": ("Spring", {"measure": "angle(ground, crank)", "actuator": "-u"}),
    "distance(ground.A, coupler)": ("Spring", {"measure": "distance(ground.A, coupler)", "actuator": "-u"}),
    "rocker.end.x": ("PointForce", {"frame": "rocker.end", "fx": "u"}),
}


@pytest.mark.parametrize("text", FORCES)
def test_inputs_against_forces(text):
    """B: how much the acceleration changes with a force that is there."""
    found = se.linearize(mechanism(), inputs=[text])
    kind, options = FORCES[text]

    def acceleration(u):
        model = mechanism()
        model.parameters["u"] = u
        model.add(getattr(se, kind)("input", **options))
        return Variation(System(model), 0.0, found.variation.q, np.zeros(9)).qdd

    i = found.variation.system.coordinate_names.index(found.states[0])
    assert found.B[1, 0] == pytest.approx((acceleration(1.0) - acceleration(-1.0))[i] / 2, rel=1e-10)


def test_inputs_by_the_name_of_a_force():
    """A spring's actuator resists its measure; a torque; a point force, also in the axes of its body."""
    model = mechanism()
    model.add(se.PointForce("push", "coupler.end"))
    names = ["spring", "brake", "push.fx", "push.fy", "jet.fx", "jet.fy"]
    found = se.linearize(model, inputs=names, at={"crank.phi": 1.0})
    measures = se.linearize(
        model,
        inputs=["distance(crank.end, rocker.start)", "rocker.phi", "coupler.end.x", "coupler.end.y"],
        at={"crank.phi": 1.0},
    )
    expected = measures.B[1] * [-1, 1, 1, 1]
    np.testing.assert_allclose(found.B[1, :4], expected, rtol=1e-12)
    phi = found.variation.q[5]
    c, s = np.cos(phi), np.sin(phi)
    np.testing.assert_allclose(found.B[1, 4:], [[c, s], [-s, c]] @ expected[2:], rtol=1e-12)
    assert found.inputs == names
    renamed = se.linearize(
        model, inputs={"a": "spring", "b": se.angle("ground", "crank")}, at={"crank.phi": 1.0}
    )
    assert renamed.inputs == ["a", "b"]
    assert renamed.B[1, 0] == found.B[1, 0]


def test_outputs_of_every_kind():
    """Points, measures, rates, accelerations, reactions and springs, against differences along the motion."""
    model = mechanism()
    channels = [
        "coupler.end.x", "rocker.start.y", "distance(ground.A, coupler)", "coupler.end.xd", "crank.phidd", "B.fx",
        "spring.force", "D.torque", "coupler.yd", "brake.torque",
    ]  # fmt: skip
    found = se.linearize(model, inputs=["angle(ground, crank)"], outputs=channels, at={"crank.phi": 0.9})
    system, q = found.variation.system, found.variation.q
    i = system.coordinate_names.index(found.states[0])

    def values(dv, dvd, u):
        here = q
        for _ in range(20):
            space = closed_near(system, 0.0, here)
            Z = space.motions[:, 0]
            here = space.q + Z / Z[i] * (q[i] + dv - space.q[i])
        Z = tangent_space(system, 0.0, here).motions[:, 0]
        other = mechanism()
        other.add(se.Spring("u", "angle(ground, crank)", actuator=-u))
        v = Variation(System(other), 0.0, here, Z / Z[i] * dvd)
        results = se.Results(model, np.zeros(1), here[None], v.qd[None], v.qdd[None], v.lam[None])
        return np.array([results[channel][0] for channel in channels])

    h = 1e-3
    columns = [FIRST @ np.array([values(*(h * k * e)) for k in STEPS]) / h for e in np.eye(3)]
    exact = np.hstack([found.C, found.D])
    np.testing.assert_allclose(exact, np.column_stack(columns), atol=1e-8 * np.abs(exact).max())


def test_redundant_joints_change_nothing():
    options = {"inputs": ["angle(ground, crank)"], "states": ["crank.phi"], "at": {"crank.phi": 1.2}}
    models = builders.four_bar(1, 2, 1, 2, crank_angle=1.0), three_cranks(1.0)
    found = [se.linearize(model, **options) for model in models]
    np.testing.assert_allclose(found[1].A, found[0].A, rtol=1e-10)
    np.testing.assert_allclose(found[1].B, found[0].B, rtol=1e-10)


def test_a_small_step_of_torque():
    """The linear answer to a small step agrees with the nonlinear one; their difference is of second order."""
    model = mechanism()
    at = se.equilibrium(model)
    found = se.linearize(
        model, at=at, inputs={"motor": "angle(ground, crank)"}, outputs=["rocker.phi", "A.fx"]
    )
    times = np.linspace(0.0, 1.0, 11)
    base = np.array([at[channel][0] for channel in found.outputs])
    # x and a constant input u as one linear system
    n = len(found.states)
    augmented = np.block([[found.A, found.B], [np.zeros((1, n + 1))]])
    step = np.array([(np.hstack([found.C, found.D]) @ expm(augmented * t))[:, -1] for t in times])
    errors = []
    for size in (1e-2, 1e-3):
        stepped = se.with_initial_pose(model, at.q[0], np.zeros(9))
        stepped.add(se.Spring("motor", "angle(ground, crank)", actuator=-size))
        results = se.dynamics(stepped, t_eval=times, rtol=1e-12)
        nonlinear = np.array([results[channel] for channel in found.outputs]).T - base
        errors.append(np.abs(nonlinear - size * step).max(axis=0) / np.abs(size * step).max(axis=0))
    assert np.all(errors[0] < 1e-2)
    np.testing.assert_allclose(errors[1], errors[0] / 10, rtol=0.1)


@pytest.mark.slow
def test_a_controller_designed_on_it_holds_the_pole():
    """A linear-quadratic regulator by python-control, fed back into the nonlinear mechanism: it stands up again."""
    control = pytest.importorskip("control")
    found = se.linearize(cart_pole(), inputs={"push": "cart.x"})
    plant = found.control()
    assert plant.state_labels == ["cart_x", "pole_phi", "cart_xd", "pole_phid"]
    assert (plant.input_labels, plant.output_labels) == (["push"], plant.state_labels)
    K = control.lqr(plant, np.diag([1.0, 10.0, 1.0, 1.0]), [[0.1]])[0].ravel()
    assert np.linalg.eigvals(found.A - found.B @ K[None]).real.max() < -0.5

    # a push at the pin moves the cart; the pole's own state tells where the cart is
    model = cart_pole(0.3)
    model.parameters |= dict(zip(("kx", "kp", "kxd", "kpd"), map(float, K), strict=True))
    force = "-kx*(x - 0.5*cos(phi)) - kp*(phi - pi/2) - kxd*(xd + 0.5*sin(phi)*phid) - kpd*phid"
    model.add(se.PointForce("controller", "pole.A", fx=force))
    held, fallen = (se.dynamics(m, t_end=10, rtol=1e-8) for m in (model, cart_pole(0.3)))
    assert abs(held["pole.phi"][-1] - pi / 2) < 1e-3 and abs(held["cart.x"][-1]) < 1e-2
    assert np.abs(held["pole.phi"] - pi / 2).max() < 0.35  # it never tilts much more than at the start
    assert np.abs(fallen["pole.phi"] - pi / 2).max() > 3


def test_the_descriptor_form_has_the_same_eigenvalues():
    found = se.linearize(cart_pole(), inputs={"push": "cart.x"}, outputs=["cart.x", "pole.phi", "A.fx"])
    form = found.descriptor()
    n, m = 6, 4
    assert form.states[:2] == ["cart.x", "cart.y"] and form.states[-1] == "lam of A.y"
    assert form.E.shape == form.A.shape == (2 * n + m, 2 * n + m)
    rates = eig(form.A, form.E, right=False)
    finite = np.sort(rates[np.isfinite(rates) & (np.abs(rates) < 1e6)].real)
    np.testing.assert_allclose(finite, np.sort(found.eigenvalues.real), atol=1e-6)
    # the same transfer function, at one point of the complex plane
    s = 0.7 + 1.3j
    full = form.C @ np.linalg.solve(s * form.E - form.A, form.B) + form.D
    minimal = found.C @ np.linalg.solve(s * np.eye(4) - found.A, found.B) + found.D
    np.testing.assert_allclose(full, minimal, rtol=1e-10)
    with pytest.raises(se.UnsupportedError, match="is an acceleration"):
        se.linearize(cart_pole(), outputs=["cart.xdd"]).descriptor()


# Messages ---------------------------------------------------------------------------------------------


def test_time_stands_still_at_a_pose_and_goes_on_in_a_motion():
    """A pendulum on a support that is lifted with 3 m/s^2: held it swings with g, along the motion with g + 3."""
    model = se.Model("lift")
    car = model.body("car", mass=1, inertia=1)
    rod = model.bar("rod", (0, 0), (0, -1), mass=1)
    model.add(se.AbsoluteX("rail", car))
    model.add(se.AbsoluteAngle("guide", car))
    model.add(se.Driver("winch", "y(ground, car)", "1.5*t^2"))
    model.add(se.Revolute("O", car, rod["start"]))
    held = se.linearize(model, states=["rod.phi"], t=1.0)
    assert held.A[1, 0] == pytest.approx(-1.5 * G)
    assert any("winch changes with time and was held" in note for note in held.notes)
    lifted = se.linearize(model, at=se.dynamics(model, t_end=1.0), states=["rod.phi"])
    assert lifted.A[1, 0] == pytest.approx(-1.5 * (G + 3))
    assert (lifted.variation.t, lifted.notes) == (1.0, [])


def test_a_pose_that_is_no_equilibrium_is_told():
    found = se.linearize(cart_pole(), at={"pole.phi": 1.0})
    assert any("not an equilibrium" in note for note in found.notes)
    assert se.linearize(cart_pole()).notes == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inputs": ["motr"]}, "is not a force of the model"),
        ({"inputs": ["A"]}, "prescribes a motion; inputs are forces"),
        ({"inputs": [3]}, "neither a measure nor a force"),
        ({"inputs": ["push"]}, "write fx, fy"),
        ({"outputs": ["pole.force"]}, "there is no channel"),
        ({"at": [1.0]}, "give 6 coordinates"),
    ],
)
def test_what_is_wrong_is_told(options, words):
    model = cart_pole()
    model.add(se.PointForce("push", "cart"))
    with pytest.raises(se.ModelError, match=words):
        se.linearize(model, **options)


def test_other_mistakes(monkeypatch):
    model = cart_pole()
    model.add(se.Torque("motor", "pole"))
    with pytest.raises(se.UnsupportedError, match="belongs to the input 'motor' itself"):
        se.linearize(model, inputs=["motor"], outputs=["motor.torque"])
    with pytest.raises(se.ModelError, match="2 were given"):
        se.linearize(builders.chain(1), at=se.equilibrium(builders.chain(1), all=True))
    with pytest.raises(se.ModelError, match="needs a Model"):
        se.linearize("cart")
    with pytest.raises(se.UnsupportedError, match="every motion is prescribed or prevented"):
        se.linearize(builders.four_bar(1, 2, 3, 3, speed=1))
    massless = se.Model()
    massless.body("ghost")
    with pytest.raises(se.ModelError, match="a free motion has no mass"):
        se.linearize(massless)
    monkeypatch.setitem(__import__("sys").modules, "control", None)
    with pytest.raises(se.UnsupportedError, match=r"simengine2d\[control\]"):
        se.linearize(cart_pole()).control()


@pytest.mark.parametrize("coordinates", ["reference_point", "natural", "mixed", "relative"])
def test_states_in_other_coordinates(coordinates):
    """The same eigenvalues and the same response of the bodies, whatever the states are."""
    m = se.load("sprung_slider")
    outputs = ["slider.x", "crank.phi"]
    plain = se.linearize(m, inputs="slider.x", outputs=outputs)
    other = se.linearize(m, inputs="slider.x", outputs=outputs, coordinates=coordinates)
    ordered = lambda lin: np.sort_complex(lin.eigenvalues)
    np.testing.assert_allclose(ordered(other), ordered(plain), rtol=1e-9, atol=1e-9)
    response = lambda lin: lin.C @ np.linalg.solve(3j * np.eye(2) - lin.A, lin.B) + lin.D
    np.testing.assert_allclose(response(other), response(plain), rtol=1e-9)
    assert other.states[1] == f"{other.states[0]}d" and other.states[0] in se.formulate(m, coordinates).names


def test_relative_states_are_those_of_their_own_equations():
    """A of a double pendulum is the derivative of M^-1 Q in relative coordinates, which have no constraints there."""
    m = se.load("double_pendulum")
    lin = se.linearize(m, coordinates="relative")
    p = se.formulate(m, "relative")
    z = p.family.positions(lin.variation.q)
    assert lin.states[:2] == p.names

    def accelerations(x):
        e = p.at(0.0, x[:2], x[2:])
        return np.linalg.solve(e.M, e.QA)

    x, h = np.concatenate([z, np.zeros(2)]), 1e-5
    columns = [(accelerations(x + h * e) - accelerations(x - h * e)) / (2 * h) for e in np.eye(4)]
    # central differences are right to about h^2
    np.testing.assert_allclose(lin.A[2:], np.column_stack(columns), atol=1e-6 * np.abs(lin.A).max())
