"""Forces as formulas: the built-in forces written again push in the same way, and potentials count as energy."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se

SAME = 1e-11  # rounding; both runs take the same fixed steps


def pendulums(*forces):
    """A double pendulum, which moves."""
    model = se.Model(parameters={"k": 40, "c": 0.3})
    model.body("a", mass=2, inertia=0.3, at=(0.5, 0), points={"O": (-0.5, 0), "A": (0.5, 0)})
    model.body("b", mass=1, inertia=0.1, at=(1.3, 0), points={"A": (-0.3, 0), "B": (0.4, 0.1, 0.2)})
    model.add(se.Revolute("O", "ground", "a.O"))
    model.add(se.Revolute("A", "a.A", "b.A"))
    for force in forces:
        model.add(force)
    return model


S = "distance(ground, b.B)"
PAIRS = {
    "spring": (
        se.Spring("f", S, stiffness=40, damping=0.3, free=1.2, actuator="sin(t)"),
        se.Force("f", {S: f"-(k*({S} - 1.2) + c*rate({S}) + sin(t))"}),
    ),
    "potential": (se.Spring("f", S, stiffness=40, free=1.2), se.Force("f", potential=f"k*({S} - 1.2)^2/2")),
    "torsion": (
        se.Spring("f", "angle(a, b)", stiffness=5, damping=0.2),
        se.Force("f", potential="5*(b.phi - a.phi)^2/2", along={"angle(a, b)": "-0.2*(b.phid - a.phid)"}),
    ),
    "point force": (
        se.PointForce("f", "b.B", fx="-0.5*xd + t", fy=2.0),
        se.Force("f", {"b.B.x": "-0.5*b.xd + t", "b.B.y": 2}),
    ),
    "following force": (
        se.PointForce("f", "b.B", fx=3.0, axes="body"),
        se.Force("f", {"b.B.x": "3*cos(b.phi + 0.2)", "b.B.y": "3*sin(b.phi + 0.2)"}),
    ),
    "torque": (se.Torque("f", "b", "-2*phid^3 + cos(t)"), se.Force("f", {"b.phi": "-2*b.phid^3 + cos(t)"})),
}
OPTIONS = {"t_end": 1.0, "step": 0.01}


def same(found, wanted, tolerance=SAME):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * (1.0 + np.abs(wanted).max()))


@pytest.mark.parametrize("name", PAIRS)
def test_a_force_as_a_formula_pushes_in_the_same_way(name):
    wanted, found = (se.dynamics(pendulums(force), integrator="rk4", **OPTIONS) for force in PAIRS[name])
    same(found.q, wanted.q)
    same(found.qdd, wanted.qdd)
    same(found.lam, wanted.lam)
    for part in ("fx", "fy"):
        same(getattr(found.reaction("f", on="b"), part), getattr(wanted.reaction("f", on="b"), part))
    same(found.reaction("f", on="b", at="b").torque, wanted.reaction("f", on="b", at="b").torque)
    same(found["f.power"], wanted["f.power"])


@pytest.mark.parametrize("name", PAIRS)
def test_implicit_methods_know_its_derivatives(name):
    """Newton's matrix is the same, so the iterations are, too."""
    wanted, found = (se.dynamics(pendulums(force), integrator="newmark", **OPTIONS) for force in PAIRS[name])
    same(found.q, wanted.q, 1e-9)
    assert found.statistics["Newton iterations"] == wanted.statistics["Newton iterations"]


@pytest.mark.parametrize("coordinates", ["mixed", "relative"])
def test_it_pushes_in_other_coordinates(coordinates):
    force = PAIRS["torsion"][1]
    options = {**OPTIONS, "integrator": "rk4", "formulation": "projection"}
    found = se.dynamics(pendulums(force), coordinates=coordinates, **options)
    wanted = se.dynamics(pendulums(force), **options)
    np.testing.assert_allclose(found.q, wanted.q, atol=1e-6)


@pytest.mark.slow
def test_a_potential_counts_as_energy():
    force = se.Force("f", potential="k*(b.B.x^4/4 - cos(b.phi)*distance(a, b.B)) + a.phi^2")
    r = se.dynamics(pendulums(force), t_end=2, rtol=1e-11)
    total = r.energy().total
    np.testing.assert_allclose(total, total[0], rtol=1e-9)
    assert np.ptp(r.energy().potential) > 10
    assert r.power_balance() < 1e-10


def test_statics_and_vibrations_are_those_of_the_spring():
    spring, custom = (pendulums(force) for force in PAIRS["potential"])
    at_spring, at_custom = se.equilibrium(spring), se.equilibrium(custom)
    same(at_custom[0].q, at_spring[0].q, 1e-9)
    found = se.linearize(custom, at=at_custom)
    wanted = se.linearize(spring, at=at_spring)
    same(found.A, wanted.A, 1e-8)


def test_inverse_dynamics_gives_back_what_pushed():
    """A motor holds the pendulum against a force by a formula."""
    force = se.Force("f", {"b.B.y": "-30*sin(a.phi)^2 - 2*b.B.yd"})
    model = pendulums(
        force, se.Driver("m1", "angle(ground, a)", "0.3*sin(2*t)"), se.Driver("m2", "angle(a, b)", "t^2")
    )
    r = se.inverse_dynamics(model, t_end=1, step=0.1)
    assert r.power_balance() < 1e-10


def test_channels_of_a_force_are_named():
    r = se.dynamics(pendulums(PAIRS["point force"][1]), t_end=0.1, step=0.05)
    np.testing.assert_allclose(r["f.fy"], 2.0, rtol=1e-14)
    assert r.reaction("f").fx.shape == r.t.shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs forces along some channels, or a potential energy"),
        ({"along": {"b.x + a.x": "1"}}, "write one channel or measure"),
        ({"along": {"b.xd": "1"}}, "write one channel or measure"),
        ({"along": {"b.x": "q"}}, "'q', which is neither a channel"),
        ({"along": "b.x"}, "write formulas by channel"),
        ({"potential": "b.xd^2"}, "depends on a velocity"),
        ({"potential": "k"}, "does not involve any body"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(se.ModelError, match=message):
        se.System(pendulums(se.Force("f", **options)))


def test_the_player_shows_forces_by_formulas(tmp_path):
    model = pendulums(PAIRS["point force"][1], se.Constraint("rail", "b.B.y - 0.1*sin(b.B.x) - 0.1"))
    r = se.dynamics(model, t_end=0.2, step=0.1)
    assert "rail" in r.html(tmp_path / "player.html").read_text()
