"""Derivatives of channels, against extrapolated differences of runs with other parameters."""

from itertools import pairwise

import numpy as np
import pytest

import simengine2d as se
from simengine2d.lab.sensitivity.channel_derivatives import channel_derivatives
from simengine2d.lab.sensitivity.state_slopes import _by_coordinate, state_slopes
from simengine2d.lab.sweep.reading import channel_of
from simengine2d.lab.sweep.study import function_of
from simengine2d.lab.sweep.variants import variant
from simengine2d.system.residuals import States
from simengine2d.system.system import System

ACCURACY = 1e-8  # of the largest derivative; extrapolated differences leave 1e-10


def extrapolated(function, p, step=2e-3, levels=3):
    """The derivative by Richardson's extrapolation of central differences."""
    steps = [step * (abs(p) or 1.0) / 2**k for k in range(levels)]
    slopes = [(function(p + h) - function(p - h)) / (2 * h) for h in steps]
    for order in range(1, levels):
        slopes = [(4**order * b - a) / (4**order - 1) for a, b in pairwise(slopes)]
    return slopes[0]


def check(model, channels, values, analysis, **options):
    derived = channel_derivatives(model, channels, list(values), analysis, **options)

    def read(name, value):
        answer = function_of(analysis)(variant(model, {name: value}), **options)
        results = getattr(answer, "results", answer)
        return np.stack([channel_of(results, channel) for channel in channels], axis=-1)

    for k, (name, value) in enumerate(values.items()):
        expected = extrapolated(lambda x, name=name: read(name, x), value)
        size = np.abs(expected).max(axis=0) + np.abs(derived.values).max(axis=0) * 1e-3 + 1e-6
        assert np.all(np.abs(derived.slopes[..., k] - expected) < ACCURACY * size), name
    return derived


def test_kinematics_of_a_closed_loop():
    channels = ["coupler.y", "rocker.phid", "coupler.ydd", "coupler.end.x", "distance(ground.A, coupler.end)"]
    values = {"crank": 1.0, "ground": 4.0, "speed": 2 * np.pi}
    derived = check(se.load("four_bar"), channels, values, "kinematics", t_end=1, step=0.1)
    assert derived.slopes.shape == (11, 5, 3) and derived.values.shape == (11, 5)


def test_inverse_dynamics_of_a_closed_loop():
    channels = ["B.fx", "C.force", "motor.torque", "energy.total", "lam.D.x"]
    values = {"coupler": 2.0, "density": 1.0, "speed": 2 * np.pi, "rocker.inertia": None}
    model = se.load("four_bar")
    model.bodies["rocker"].inertia = values["rocker.inertia"] = 4.0
    check(model, channels, values, "inverse_dynamics", t_end=1, step=0.1)


def sprung_four_bar():
    """A four-bar that a spring holds against its weight."""
    m = se.load("four_bar")
    del m.elements["motor"]
    m.parameters |= {"k": 40.0, "free": 1.5}
    m.add(se.Spring("spring", "distance(ground.at(0, 3), coupler.end)", stiffness="k", free="free"))
    return m


def test_equilibrium_of_a_closed_loop():
    values = {"k": 40.0, "free": 1.5, "density": 1.0, "coupler": 2.0}
    check(sprung_four_bar(), ["crank.phi", "coupler.y", "A.fy", "spring.force"], values, "equilibrium")


def released_four_bar():
    """The same with a damper, that is let go with a velocity."""
    m = sprung_four_bar()
    m.parameters |= {"c": 0.5, "spin": 1.0}
    m.elements["spring"].damping = "c"
    m.bodies["crank"].angular_velocity = "spin"
    return m


@pytest.mark.slow
def test_dynamics_of_a_closed_loop():
    channels = ["coupler.y", "crank.phid", "crank.phidd", "A.fx", "spring.force", "energy.total"]
    values = {"k": 40.0, "coupler": 2.0, "c": 0.5, "spin": 1.0}
    options = {"t_eval": np.linspace(0.0, 1.0, 6), "rtol": 1e-12}
    check(released_four_bar(), channels, values, "dynamics", **options)


def test_dynamics_of_a_driven_mechanism_is_its_kinematics():
    m, channels, names = se.load("four_bar"), ["coupler.ydd", "rocker.phi"], ["crank", "speed"]
    forced = channel_derivatives(m, channels, names, "dynamics", t_end=1, step=0.25, rtol=1e-10)
    driven = channel_derivatives(m, channels, names, "kinematics", t_end=1, step=0.25)
    assert np.allclose(forced.slopes, driven.slopes, rtol=1e-7, atol=1e-6)


@pytest.mark.slow
def test_the_independent_coordinates_change_where_they_must():
    """A slider that oscillates about its dead points: neither the crank nor the slider is independent throughout."""
    m = se.load("slider_crank")
    del m.elements["motor"]
    m.bodies["crank"].angular_velocity = 9.0
    channels = ["slider.x", "crank.phid"]
    check(m, channels, {"crank.angular_velocity": 9.0}, "dynamics", t_eval=np.linspace(0, 2, 5), rtol=1e-12)


def test_a_drawing_that_has_to_be_closed_first():
    m = released_four_bar()
    m.bodies["rocker"].angle = None if m.bodies["rocker"].shape else 0.0
    m.parameters["Cy"] = "By + (height*(ground - Bx) - foot*By)/diagonal + 0.1"
    m.bodies["rocker"].shape = None
    m.bodies["rocker"].mass, m.bodies["rocker"].inertia = 3.6, 4.0
    m.bodies["rocker"].position, m.bodies["rocker"].angle = (3.0, 1.5), 2.2
    m.bodies["rocker"].points = {"start": (-1.8, 0), "end": (1.8, 0)}
    check(m, ["crank.phi", "rocker.phid"], {"spin": 1.0}, "dynamics", t_eval=[0.0, 0.5], rtol=1e-12)


def test_a_number_that_cannot_be_smaller():
    m = se.load("four_bar")
    m.bodies["crank"].inertia = 0.0
    derived = channel_derivatives(
        m, ["motor.torque"], ["crank.inertia"], "inverse_dynamics", t_end=1, step=0.5
    )
    assert np.allclose(derived.slopes[:, 0, 0], derived.results["crank.phidd"], atol=1e-9)


def test_what_is_not_there_is_answered_by_a_sentence():
    m = se.load("four_bar")
    with pytest.raises(se.ModelError, match=r"no parameter 'crnk'.*crank"):
        channel_derivatives(m, ["coupler.y"], ["crnk"], t_end=1)
    with pytest.raises(se.ModelError, match="no channel"):
        channel_derivatives(m, ["coupler.z"], ["crank"], t_end=1)
    with pytest.raises(se.ModelError, match="named twice"):
        channel_derivatives(m, ["coupler.y"], ["crank", "crank"], t_end=1)
    with pytest.raises(se.ModelError, match="no derivatives of the analysis 'kinematic'"):
        channel_derivatives(m, ["coupler.y"], ["crank"], "kinematic", t_end=1)
    with pytest.raises(se.ModelError, match="is not given as a number"):
        channel_derivatives(m, ["coupler.y"], ["crank.inertia"], t_end=1)


# Far from the beaten path -----------------------------------------------------------------------------


def pendulum():
    m = se.Model("pendulum")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1.0)
    m.add(se.Revolute("A", m.ground, bar["start"]))
    return m


@pytest.mark.slow
def test_a_fast_sine_at_a_late_time():
    """phi = 0.3 sin(omega t): at omega t = 6000 the derivative by omega, 0.3 t cos(omega t), changes sign in 0.05 %."""
    m = pendulum()
    m.parameters["omega"] = 60.0
    m.add(se.Driver("motor", "angle(ground, bar)", "0.3*sin(omega*t)"))
    derived = channel_derivatives(m, ["bar.phi", "bar.phid"], ["omega"], t_eval=[0.0, 50.0, 100.0])
    t = derived.results.t
    angle, rate = 0.3 * t * np.cos(60 * t), 0.3 * (np.cos(60 * t) - 60 * t * np.sin(60 * t))
    assert np.allclose(derived.slopes[:, 0, 0], angle, rtol=0, atol=1e-8 * np.abs(angle).max())
    assert np.allclose(derived.slopes[:, 1, 0], rate, rtol=0, atol=1e-8 * np.abs(rate).max())


def test_a_kink_has_no_derivative_and_says_so():
    m = pendulum()
    m.parameters["limit"] = 1.0
    m.add(se.Driver("motor", "angle(ground, bar)", "t*max(limit, 1)"))
    with pytest.raises(se.UnsupportedError, match=r"no derivative with respect to 'limit' = 1.*kink"):
        channel_derivatives(m, ["bar.phi"], ["limit"], t_end=1, step=0.5)


def test_a_steep_law_of_the_state():
    """At rest 1e-6 rad below a stop that gives way by microradians; k phi^2 carries the weight m g/2."""
    m = pendulum()
    m.parameters["k"] = 1e8
    m.add(se.Force("stop", along={"bar.phi": "k*max(-1e-6 - bar.phi, 0)^2"}))
    derived = channel_derivatives(m, ["bar.phi"], ["k"], "equilibrium")
    depth = -1e-6 - derived.values[0, 0]
    assert np.isclose(derived.slopes[0, 0, 0], depth / (2 * 1e8), rtol=1e-6)


@pytest.mark.parametrize(
    "name", ["jansen_leg", "quick_return", "planetary_gear", "double_wishbone", "valve_train"]
)
def test_derivatives_by_the_state_are_those_of_the_equations(name):
    """The exact ones against differences of the equations, at states that no motion has."""
    system = System(se.load(name))
    rng = np.random.default_rng(3)
    q = np.tile(se.assemble(system).q, (2, 1))
    qd, qdd = rng.normal(size=(2, *q.shape)) * system.sizes
    states = States(np.array([0.1, 0.2]), q, qd, qdd, rng.normal(size=(2, system.m)))
    exact = state_slopes(system, states)
    by_q = [_by_coordinate(system, states, j) for j in range(system.n)]
    for found, part in (
        (exact.J, "Phi"),
        (exact.rate, "rate"),
        (exact.second, "second"),
        (exact.stiffness, "force"),
    ):
        expected = np.stack([getattr(each, part) for each in by_q], axis=-1)
        scaled = lambda array: array * system.sizes
        assert np.abs(scaled(found - expected)).max() < 1e-7 * np.abs(scaled(expected)).max(), part
