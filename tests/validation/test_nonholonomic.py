"""Constraints of velocities against closed solutions.

Knife edge on a plane inclined in x, and Chaplygin's sleigh: Neimark & Fufaev, Dynamics of Nonholonomic Systems,
American Mathematical Society (1972); Bloch, Nonholonomic Mechanics and Control, Springer (2003), chapter 1. Both
follow in a line: v' = G cos(phi) along the blade, with phi = omega t; and v' = a omega^2, omega' = -a v omega / k^2.
"""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d.methods import Integrator

G = 9.81 * np.sin(0.4)
OMEGA = 1.7
MASS = 2.0


def knife_edge():
    """A blade under the mass center, spinning at OMEGA, let go on the slope."""
    model = se.Model("knife edge", gravity=(G, 0))
    model.body("skate", mass=MASS, inertia=0.3, angular_velocity=OMEGA, velocity=(0, 0))
    model.add(se.Constraint("blade", "skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)"))
    return model


def knife_edge_position(t):
    """The body's center runs along a cycloid, across the slope and not down."""
    s = G / (2 * OMEGA**2)
    return s * np.sin(OMEGA * t) ** 2, s * (OMEGA * t - np.sin(2 * OMEGA * t) / 2)


A, K, V = 0.3, 0.5, 2.0  # mass center before the blade; radius of inertia about the blade; speed at the end


def sleigh():
    """Chaplygin's sleigh starts with a turn and ends straight ahead."""
    model = se.Model("sleigh", gravity=(0, 0))
    body = model.body(
        "sleigh",
        mass=MASS,
        inertia=MASS * (K**2 - A**2),
        at=(A, 0),
        points={"K": (-A, 0)},
        velocity=(0, A * V / K),
        angular_velocity=V / K,
    )
    model.add(se.Constraint("blade", f"{body.name}.K.yd*cos(sleigh.phi) - sleigh.K.xd*sin(sleigh.phi)"))
    return model


WAYS = {
    "dop853": {"rtol": 1e-11},
    "projection": {"formulation": "projection", "integrator": "rk4", "step": 4e-3},
    "augmented": {"formulation": "augmented", "integrator": "rk4", "step": 4e-3},
    "penalty": {"formulation": "penalty", "integrator": "rk4", "step": 4e-3},
    "mixed": {"coordinates": "mixed", "formulation": "projection", "integrator": "rk4", "step": 4e-3},
    "relative": {"coordinates": "relative", "formulation": "projection", "integrator": "rk4", "step": 4e-3},
}


@pytest.mark.parametrize("way", slow_among(WAYS, "mixed"))
def test_the_knife_edge_drifts_across_the_slope(way):
    t = np.linspace(0, 3, 31)
    r = se.dynamics(knife_edge(), t_eval=t, **WAYS[way])
    x, y = knife_edge_position(t)
    tolerance = 1e-5 if way == "penalty" else 1e-8  # which gives way under load
    np.testing.assert_allclose(r["skate.x"], x, atol=tolerance)
    np.testing.assert_allclose(r["skate.y"], y, atol=tolerance)
    np.testing.assert_allclose(r["skate.phi"], OMEGA * t, atol=tolerance)
    # across the blade: m (v omega + G sin phi), with v = G sin(omega t) / omega
    reaction = r.reaction("blade", on="skate", expressed_in="skate")
    np.testing.assert_allclose(reaction.fy, 2 * MASS * G * np.sin(OMEGA * t), atol=10 * tolerance * MASS * G)
    np.testing.assert_allclose(reaction.fx, 0.0, atol=1e-12)
    np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-12)


@pytest.mark.parametrize("way", ["dop853", "projection"])
def test_the_sleigh_ends_straight_ahead(way):
    t = np.linspace(0, 2, 21)
    r = se.dynamics(sleigh(), t_eval=t, **WAYS[way])
    s = A * V * t / K**2
    np.testing.assert_allclose(r["sleigh.phid"], V / K / np.cosh(s), atol=1e-8)
    ahead = r["sleigh.K.xd"] * np.cos(r["sleigh.phi"]) + r["sleigh.K.yd"] * np.sin(r["sleigh.phi"])
    np.testing.assert_allclose(ahead, V * np.tanh(s), atol=1e-8)
    total = r.energy().total
    np.testing.assert_allclose(total, 0.5 * MASS * V**2, rtol=1e-9)
    assert se.diagnose(sleigh()).mobility == 2


@pytest.mark.parametrize("integrator", ["newmark", "hht", "generalized_alpha"])
def test_implicit_methods_hold_velocities_and_keep_their_order(integrator):
    errors = []
    for h in (0.02, 0.01):
        r = se.dynamics(sleigh(), t_end=1.0, step=h, integrator=integrator)
        errors.append(abs(r["sleigh.phid"][-1] - V / K / np.cosh(A * V / K**2)))
        assert r.residuals["velocity"] < 1e-12
    assert np.log2(errors[0] / errors[1]) == pytest.approx(Integrator.registry[integrator].order, abs=0.1)


def test_a_disk_rolls_down_a_slope():
    """a = G / (1 + J / (m R^2)); friction takes the rest of the weight's component."""
    R, J = 0.4, 0.1
    model = se.Model(gravity=(G, -9.0))
    model.body("disk", mass=MASS, inertia=J, at=(0, R))
    model.add(se.AbsoluteY("plane", "disk", R))
    model.add(se.Constraint("rolling", "disk.xd + R*disk.phid"))
    model.parameters["R"] = R
    r = se.dynamics(model, t_end=1, step=0.1, rtol=1e-10)
    a = G / (1 + J / (MASS * R**2))
    np.testing.assert_allclose(r["disk.x"], a * r.t**2 / 2, atol=1e-10)
    np.testing.assert_allclose(r["disk.phi"], -a * r.t**2 / (2 * R), atol=1e-10)
    np.testing.assert_allclose(r.reaction("rolling", on="disk").fx, MASS * (a - G), rtol=1e-10)
    np.testing.assert_allclose(
        r.reaction("rolling", on="disk", at="disk").torque, R * MASS * (a - G), rtol=1e-10
    )


def test_a_velocity_may_be_prescribed():
    """A wheel whose speed is driven gets its power from the constraint."""
    model = se.Model(gravity=(0, 0))
    model.body("wheel", mass=1, inertia=0.5)
    model.add(se.Revolute("O", "ground", "wheel"))
    model.add(se.Constraint("speed", "wheel.phid*(2 + wheel.phi) - 4*cos(t)"))
    r = se.dynamics(model, t_end=2, step=0.1, rtol=1e-11)
    # (2 + phi)^2 / 2 = 2 + 4 sin t
    np.testing.assert_allclose(r["wheel.phi"], np.sqrt(4 + 8 * np.sin(r.t)) - 2, atol=1e-9)
    np.testing.assert_allclose(r["speed.power"], 0.5 * r["wheel.phid"] * r["wheel.phidd"], atol=1e-9)
    assert r.power_balance() < 1e-10


def test_formulations_that_need_positions_refuse_velocities():
    for options in ({"formulation": "partitioning"}, {"formulation": "matrix_r"}):
        with pytest.raises(se.UnsupportedError, match="Constraint 'blade' holds velocities only"):
            se.dynamics(knife_edge(), t_end=1, step=0.1, **options)
