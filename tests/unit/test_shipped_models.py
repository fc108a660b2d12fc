"""Every shipped mechanism is drawn closed and runs; where its motion obeys a known law, it follows it.

Lengths and angles are of order 1: positions are good to the rounding of a Newton iteration, 1e-13, that times
the turns of a run; velocities and accelerations lose another digit for every factor of 2 pi.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

import simengine2d as se
from simengine2d.cli.job import job_for
from simengine2d.model import library

DRIVEN = [
    "belt_drive",
    "four_bar",
    "geared_five_bar",
    "jansen_leg",
    "pantograph",
    "parallelogram",
    "peaucellier",
    "planetary_gear",
    "quick_return",
    "rack_pinion",
    "scotch_yoke",
    "slider_crank",
]
FREE = ["andrews_squeezer", "double_pendulum", "sprung_slider"]
NAMES = sorted(DRIVEN + FREE)


def loaded(name: str) -> se.Model:
    with library.file(name) as path:
        return se.load(path)


@cache
def run(name: str) -> se.Results:
    """The analysis that stands in the file, run once."""
    model = loaded(name)
    return job_for(model).run(model)


def test_the_list_is_complete():
    assert library.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_drawn_closed(name):
    model = loaded(name)
    moved = se.assemble(model).moved.values()
    assert max(shift + abs(turn) for shift, turn in moved) < 1e-14
    assert model.analysis["kind"] == ("dynamics" if name in FREE else "kinematics")


@pytest.mark.parametrize("name", DRIVEN)
def test_runs_over_a_whole_cycle(name):
    results = run(name)
    assert results.t[-1] == pytest.approx(results.model.analysis["t_end"])
    assert results.residuals["position"] < 1e-13
    positions = np.delete(results.q, np.s_[2::3], axis=1)
    np.testing.assert_allclose(positions[-1], positions[0], atol=1e-12)  # back where it began


@pytest.mark.parametrize("name", NAMES)
def test_begins_with_one_line_that_says_what_it_is(name):
    first, *rest = library.text(name).splitlines()
    assert first.startswith("# ")
    assert rest[0] == ""
    assert library.description(name) == first.removeprefix("# ")


def values(results, *channels):
    return [results[channel] for channel in channels]


def test_slider_crank_follows_its_closed_form():
    results = run("slider_crank")
    theta = np.pi / 6 + 2 * np.pi * results.t
    np.testing.assert_allclose(
        results["slider.x"], np.cos(theta) + np.sqrt(9 - np.sin(theta) ** 2), atol=1e-12
    )


def test_four_bar_keeps_its_lengths():
    results = run("four_bar")
    np.testing.assert_allclose(results["distance(crank.end, rocker.end)"], 2.0, atol=1e-13)
    np.testing.assert_allclose(results["distance(ground.D, coupler.end)"], 13**0.5, atol=1e-13)


def test_scotch_yoke_moves_as_a_cosine():
    results = run("scotch_yoke")
    w = 2 * np.pi
    x, xd, xdd = values(results, "yoke.x", "yoke.xd", "yoke.xdd")
    np.testing.assert_allclose(x, 0.5 * np.cos(w * results.t), atol=1e-13)
    np.testing.assert_allclose(xd, -0.5 * w * np.sin(w * results.t), atol=1e-12)
    np.testing.assert_allclose(xdd, -0.5 * w**2 * np.cos(w * results.t), atol=1e-11)


def test_quick_return_comes_back_faster():
    results = run("quick_return")
    # the arm turns back while the crank makes pi - 2 asin(crank / distance) about its top and bottom
    turning = np.sign(results["arm.phid"][:-1])
    forth = np.count_nonzero(turning > 0) / turning.size
    assert forth == pytest.approx(0.5 + np.arcsin(0.3 / 0.6) / np.pi, abs=0.02)


def test_peaucellier_draws_a_straight_line():
    results = run("peaucellier")
    np.testing.assert_allclose(results["AS.end.x"], (5**2 - 2**2) / (2 * 2), atol=1e-12)
    assert np.ptp(results["AS.end.y"]) > 6.0
    np.testing.assert_allclose(results["AS.end.xdd"], 0.0, atol=1e-10)


def test_planetary_ratios():
    results = run("planetary_gear")
    sun = results["sun.phi"]
    np.testing.assert_allclose(results["carrier.phi"], sun * 24 / (24 + 60), atol=1e-12)
    # the planet rolls in the ring: its absolute turn is carrier * (1 - ring / planet)
    np.testing.assert_allclose(results["planet.phi"], results["carrier.phi"] * (1 - 60 / 18), atol=1e-11)


def test_rack_moves_by_radius_times_angle():
    results = run("rack_pinion")
    for order in ("", "d", "dd"):
        np.testing.assert_allclose(results[f"rack.x{order}"], 0.2 * results[f"pinion.phi{order}"], atol=1e-11)


def test_pantograph_enlarges():
    results = run("pantograph")
    for coordinate in ("x", "y", "xd", "ydd"):
        pen, led = values(results, f"DQ.end.{coordinate}", f"AP.end.{coordinate}")
        np.testing.assert_allclose(pen, 2.5 * led, atol=1e-11)


def test_parallelogram_keeps_the_angle_of_its_coupler():
    results = run("parallelogram")
    # the polynomial over a change point leaves the exact circle by about the width of the crossing
    np.testing.assert_allclose(results["coupler.phi"], 0.0, atol=1e-9)
    np.testing.assert_allclose(results["right.phi"], results["left.phi"], atol=1e-9)
    assert len(results.notes) == 2
    assert se.diagnose(results.model).redundant == 1


def test_geared_cranks_turn_against_each_other_at_half_speed():
    results = run("geared_five_bar")
    np.testing.assert_allclose(results["right.phid"], -results["left.phid"] / 2, atol=1e-11)
    np.testing.assert_allclose(results["right.phi"], np.pi / 2 - results["left.phi"] / 2, atol=1e-11)


def test_belts_turn_with_the_ratio_of_their_radii():
    results = run("belt_drive")
    np.testing.assert_allclose(results["driven.phi"], results["driving.phi"] * 0.1 / 0.25, atol=1e-12)
    np.testing.assert_allclose(results["reversed.phi"], -results["driven.phi"] * 0.25 / 0.15, atol=1e-12)


def test_jansen_foot_walks_on_flat_ground():
    results = run("jansen_leg")
    x, y = values(results, "foot.S.x", "foot.S.y")
    lengths = {"hip.W, hip.U": 0.558, "foot.T, foot.S": 0.657, "foot.V, foot.S": 0.49}
    for pair, length in lengths.items():
        np.testing.assert_allclose(results[f"distance({pair})"], length, atol=1e-13)
    low = y < y.min() + 0.03
    assert np.ptp(x[low]) > 0.5 * np.ptp(x)  # the flat part of the path is a long one
    assert np.count_nonzero(low) > 0.35 * y.size  # and it takes much of the turn


def weights_and_speeds(results) -> np.ndarray:
    """Kinetic energy and that of the weight, from the channels alone."""
    total = np.zeros(results.t.size)
    for name in results.bodies:
        body = results.resolved.bodies[name]
        xd, yd, phid, y = values(results, f"{name}.xd", f"{name}.yd", f"{name}.phid", f"{name}.y")
        total += body.mass * (xd**2 + yd**2) / 2 + body.inertia * phid**2 / 2 + 9.81 * body.mass * y
    return total


@pytest.mark.slow
def test_double_pendulum_keeps_its_energy():
    results = run("double_pendulum")
    assert results.t[-1] == 5.0
    energy = weights_and_speeds(results)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)
    assert results["lower.phi"].max() - results["lower.phi"].min() > np.pi  # it goes over the top


def test_sprung_slider_loses_what_the_damper_takes():
    results = run("sprung_slider")
    length, rate, _ = results.measure("distance(slider, ground.W)")
    energy = weights_and_speeds(results) + 200 * (length - 0.6) ** 2 / 2
    lost = cumulative_trapezoid(12 * rate**2, results.t, initial=0.0)
    # the trapezoidal rule errs by h^2 / 12 of the slope of the power
    np.testing.assert_allclose(energy, energy[0] - lost, atol=2e-3 * lost[-1])
    assert lost[-1] > 5.0
    assert np.abs(results.qd[-1]).max() < 0.01  # at rest in the end


@pytest.mark.slow
def test_andrews_squeezer_is_where_it_was_published():
    """Angles of K1 and K3 (beta and gamma) at 0.03 s; E. Hairer, G. Wanner, Solving ODEs II, section VII.7."""
    results = run("andrews_squeezer")
    assert results.t[-1] == 0.03
    assert results["K1.phi"][-1] == pytest.approx(15.81077119629904, abs=1e-6)
    assert results["K3.phi"][-1] == pytest.approx(0.04082224013073101, abs=1e-8)
