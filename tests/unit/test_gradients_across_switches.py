"""Gradients of motions whose forces jump or have kinks, at times that depend on the parameters or not."""

from math import acos, cos, cosh, sin, sinh, sqrt

import numpy as np
import pytest
from test_sensitivity import agrees, extrapolated, sprung_four_bar

import simengine2d as se
from simengine2d.lab.sensitivity.switches import Switches


def pushed(force, velocity=0.0, **parameters):
    """A body of 1 kg on which this force acts along x."""
    m = se.Model("pushed", gravity=(0, 0), parameters=parameters)
    m.body("s", mass=1, inertia=1, at=(0, 0), velocity=(velocity, 0))
    m.add(se.PointForce("push", "s", fx=force))
    return m


def is_exact(model, x, tolerance=1e-8, output="final(s.x)", t_end=1.0):
    """Against the derivatives of a closed form."""
    names = [*model.parameters]
    found = se.sensitivity(model, names, "dynamics", output, t_end=t_end)
    values = dict(found.parameters)
    assert np.isclose(found.values[output], x(**values), rtol=1e-6)
    for name, derivative in found[output].items():
        expected = extrapolated(lambda p, name=name: x(**{**values, name: p}), values[name], 1e-3)
        assert abs(derivative - expected) < tolerance * max(1.0, abs(expected)), (name, derivative, expected)


def after_place(F, G, c):
    """x at t = 1 under the force F as far as x = c, and G from there on."""
    v, t = sqrt(2 * F * c), 1 - sqrt(2 * c / F)
    return c + v * t + G * t**2 / 2


@pytest.mark.parametrize("c", [0.125, 0.1, 0.3])
def test_a_force_that_jumps_at_a_place(c):
    """At 0.125 m that is at t = 0.5 s, where two panels of the motion meet."""
    is_exact(pushed("F + (G - F)*(x > c)", F=1.0, G=2.0, c=c), after_place)


def test_a_jump_of_the_sign_where_panels_meet():
    """Twice F - 1 more beyond a place; exactly there, sign is zero."""
    is_exact(pushed("1 + (F - 0.5)*(1 + sign(x - 0.125))", F=1.0), lambda F: after_place(1.0, 2.0 * F, 0.125))


def test_a_force_that_jumps_at_a_time():
    is_exact(pushed("F*(1 + (t > a))", F=1.0, a=0.5), lambda F, a: F / 2 + F * (1 - a) ** 2 / 2)
    is_exact(pushed("F*(1 + (t > a))", F=1.0, a=0.437), lambda F, a: F / 2 + F * (1 - a) ** 2 / 2)


def test_a_pulse_that_is_shorter_than_the_time_between_nodes():
    is_exact(
        pushed("F + 500*F*(t > a)*(t < a + w)", F=1.0, a=0.50001, w=1e-4),
        lambda F, a, w: F / 2 + 500 * F * w * (1 - a - w / 2),
    )


def test_a_thin_layer_that_slows_down():
    def x(F, c, w):
        v, after = sqrt(2 * F * c), sqrt(2 * F * c + 2 * (F - 500) * w)
        t = 1 - v / F - (after - v) / (F - 500)
        return c + w + after * t + F * t**2 / 2

    is_exact(pushed("F - 500*(x > c)*(x < c + w)", F=1.0, c=0.2, w=1e-4), x, tolerance=1e-6)


def test_a_kink():
    """x'' = F + 3 |x - c|"""

    def x(F, c):
        r, size = sqrt(3), F / 3 + c
        t = acos(1 - c / size) / r
        v, left = size * r * sin(r * t), 1 - t
        assert np.isclose(size * (1 - cos(r * t)), c)
        return c - F / 3 + F / 3 * cosh(r * left) + v / r * sinh(r * left)

    is_exact(pushed("F + 3*abs(x - c)", F=1.0, c=0.125), x, tolerance=1e-9)


def test_friction_that_changes_its_direction():
    """x'' = -4 x - F sign(x'): half turns about -F/4 and then F/4."""

    def x(F, v, end=2.0):
        b, phase = -F / 4, np.arctan2(v / 2, F / 4)
        t = phase / 2  # x' = 0 for the first time
        top = b + np.hypot(v / 2, F / 4)
        return F / 4 + (top - F / 4) * cos(2 * (end - t))

    is_exact(pushed("-F*sign(xd) - 4*x", "v", F=0.3, v=1.0), x, t_end=2.0, tolerance=1e-9)


def test_a_driver_whose_acceleration_jumps_at_a_time_that_varies():
    """x'' = 1 + 3 y', where y rises from 0 to F between a and a + 1/4."""
    m = pushed("1 + 3*yd", F=1.0, a=0.5)
    m.add(se.Driver("rise", "y(ground, s)", "step(t, a, 0, a + 0.25, F)"))
    is_exact(m, lambda F, a: 0.5 + 3 * F * (1 - a - 0.125))


def test_the_velocity_after_a_jump():
    is_exact(pushed("F*(t > a)", F=3.0, a=0.4), lambda F, a: F * (1 - a), output="final(s.xd)")


@pytest.mark.slow
def test_a_loop_with_forces_that_jump():
    """At an angle, and at a time."""
    m = sprung_four_bar()
    m.parameters |= {"gap": -0.1, "T": 2.0, "ta": 0.31}
    m.add(se.Torque("stop", "crank", "T*(t > ta) - T*(phi > gap)"))
    outputs = ["final(rocker.phi)", "final(rocker.phid)", "final(A.fx)", "max(coupler.y)"]
    agrees(m, ["k", "coupler", "spin", "gap", "T", "ta"], "dynamics", outputs, t_end=2)


@pytest.mark.slow
def test_the_trebuchet():
    """Its stone slides on a ground that can only push."""
    outputs = ["final(stone.x)", "final(stone.yd)", "max(sling.force)"]
    agrees(se.load("trebuchet"), ["counter", "stone", "sling"], "dynamics", outputs, t_end=0.88)


# Where there is none ----------------------------------------------------------------------------------


def refused(model, match, output="final(s.x)", t_end=1.0):
    with pytest.raises(se.UnsupportedError, match=match):
        se.sensitivity(model, [*model.parameters], "dynamics", output, t_end=t_end)


def test_forces_that_switch_at_once_for_different_reasons_are_refused():
    """When one comes before the other it is another motion."""
    refused(pushed("(t > a)*(2*t > b)", a=0.5, b=1.0), "several reasons at once")


def test_velocities_where_a_jump_moves_are_refused():
    refused(pushed("F*(t < a)", F=1.0, a=1.0), "kink|pole", "final(s.xd)")
    refused(pushed("F*(t > a)", F=1.0, a=0.5), "kink|pole", "at(s.xdd, 0.5)")


def test_velocities_that_jump_are_refused():
    m = pushed("yd", F=1.0, a=0.5)
    m.add(se.Driver("kick", "y(ground, s)", "F*max(t - a, 0)"))
    refused(m, "its velocities or accelerations jump")


def test_energies_that_add_up_across_a_jump_are_refused():
    refused(pushed("F*(t > a)", F=1.0, a=0.5), "adds up over time", "final(energy.input)")


@pytest.mark.parametrize(
    "force", ["F*(1 + (t > 0.5))", "F*(1 + (x > 0.125))", "F + 1e3*F*(t > 0.5001)*(t < 0.5002)"]
)
def test_jumps_that_no_law_is_known_to_have_are_refused(force, monkeypatch):
    """Between panels that are smooth each, or between nodes: by accelerations on both sides, and their integrals."""
    monkeypatch.setattr(Switches, "in_time", lambda *_: [])
    monkeypatch.setattr(Switches, "on_motion", lambda *_: [])
    refused(pushed(force, F=1.0), "jump")
