"""Every shipped mechanism is drawn closed and runs; where its motion obeys a known law, it follows it.

Lengths and angles are of order 1: positions are good to the rounding of a Newton iteration, 1e-13, that times
the turns of a run; velocities and accelerations lose another digit for every factor of 2 pi.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

import simengine2d as se
from marking import slow_among
from simengine2d.expressions.evaluate import number
from simengine2d.io.job import job_for
from simengine2d.model import library

MOBILITY = {
    "andrews_squeezer": 1, "cart_pole": 2, "chain": 6, "coupled_pendulums": 2, "double_pendulum": 2,
    "double_wishbone": 2, "engine": 1, "gantry_crane": 1, "kapitza_pendulum": 1, "roberval_balance": 1,
    "shaft_governor": 3, "sprung_slider": 1, "tautochrone": 2, "trebuchet": 4, "walker": 3,
}  # fmt: skip
"""Free motions of the mechanisms that forces move."""
CYCLES = [
    "belt_drive", "chebyshev_lambda", "dwell_arm", "elliptic_trammel", "five_bar_robot", "four_bar", "geared_five_bar",
    "hart_inversor", "jansen_leg", "klann_leg", "oldham_coupling", "pantograph", "parallelogram", "peaucellier",
    "planetary_gear", "pumpjack", "quick_return", "rack_pinion", "roberts_linkage", "scotch_yoke", "scott_russell",
    "slider_crank", "steering", "stephenson_six_bar", "toggle_clamp", "toggle_press", "v_twin", "valve_train",
    "watt_linkage", "watt_six_bar", "whitworth", "windshield_wiper",
]  # fmt: skip
"""Drivers bring them back to where they began."""
STROKES = [
    "excavator",
    "front_loader",
    "geneva_drive",
    "landing_gear",
    "robot_arm",
    "scissor_lift",
    "umbrella",
]
"""Drivers move them from one place to another."""
PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "mechanisms"
NAMES = sorted([*MOBILITY, *CYCLES, *STROKES])
SHORT = [
    "engine", "excavator", "front_loader", "landing_gear", "scissor_lift", "steering", "toggle_clamp", "umbrella",
    "walker", "windshield_wiper",
]  # fmt: skip
"""Machines in at most 25 lines."""
LONG = [
    "andrews_squeezer", "chain", "coupled_pendulums", "double_pendulum", "double_wishbone", "engine",
    "kapitza_pendulum", "shaft_governor", "sprung_slider", "tautochrone", "trebuchet", "valve_train", "walker",
]  # fmt: skip
"""Their runs take long without the JIT."""


def loaded(name: str) -> se.Model:
    return se.load(name)


def test_they_are_listed_and_read_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = se.models()
    assert list(listed) == library.names()
    assert listed["four_bar"] == "Four-bar linkage: a crank turns at constant speed, the rocker oscillates."
    assert (
        listed["four_bar"] in " ".join(repr(listed).split())
        and "<code>four_bar</code>" in listed._repr_html_()
    )
    assert se.load("four_bar").name == "four-bar"


def test_a_path_is_never_a_shipped_mechanism(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("four_bar.yaml", "./four_bar", tmp_path / "four_bar", Path("four_bar")):
        with pytest.raises(se.MissingFileError, match="there is no file four_bar"):
            se.load(path)
    with pytest.raises(FileNotFoundError, match="Did you mean 'four_bar'"):
        se.load("four_bra")
    se.builders.chain(1).save("mine.yaml")
    Path("mine.yaml").rename("four_bar")
    assert se.load("four_bar").name == "chain"  # a file here goes before a shipped mechanism


@cache
def run(name: str) -> se.Results:
    """The analysis that its file asks for, run once."""
    model = loaded(name)
    return job_for(model).run(model)


def test_the_list_is_complete():
    assert library.names() == NAMES
    assert len(NAMES) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_drawn_closed_with_the_mobility_it_claims(name):
    model = loaded(name)
    moved = se.assemble(model).moved.values()
    assert max(shift + abs(turn) for shift, turn in moved) < 1e-14
    diagnosis = se.diagnose(model)
    assert diagnosis.mobility == MOBILITY.get(name, 0)
    assert diagnosis.redundant == (name == "parallelogram")  # its third crank
    assert (model.analysis["kind"] == "dynamics") == (name in MOBILITY)


@pytest.mark.parametrize("name", slow_among(NAMES, *LONG))
def test_its_analysis_runs_to_the_end_and_is_trusted(name):
    results = run(name)
    t_end = number(str(results.model.analysis["t_end"]), results.resolved.parameters)
    assert results.t[-1] == pytest.approx(t_end)
    wanted = "check" if name == "parallelogram" else "trust"  # it passes change points
    assert results.verdict.word == wanted, str(results.verdict)


@pytest.mark.parametrize("name", [*CYCLES, *STROKES])
def test_driven_mechanisms_stay_closed(name):
    assert run(name).residuals["position"] < 1e-13


@pytest.mark.parametrize("name", CYCLES)
def test_runs_over_a_whole_cycle(name):
    results = run(name)
    positions = np.delete(results.q, np.s_[2::3], axis=1)
    np.testing.assert_allclose(positions[-1], positions[0], atol=1e-12)  # back where it began


@pytest.mark.parametrize("name", SHORT)
def test_machines_in_a_few_lines(name):
    lines = [line.strip() for line in library.text(name).splitlines()]
    assert len([line for line in lines if line and not line.startswith("#")]) <= 25


@pytest.mark.parametrize("name", NAMES)
def test_has_parameters_and_says_what_it_is_for(name):
    assert loaded(name).parameters
    what, colon, purpose = library.description(name).partition(": ")
    assert what and colon and len(purpose.split()) >= 6 and purpose.endswith(".")
    assert (PICTURES / f"{name}.png").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_longer_than_in_the_sources(name):
    assert max(map(len, library.text(name).splitlines())) <= 125


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


# Straight lines and other curves ----------------------------------------------------------------------


def test_hart_draws_a_straight_line():
    results = run("hart_inversor")
    np.testing.assert_allclose(results["BC.x"], (0.5**2 - 0.3**2) / 4 / (2 * 0.1), atol=1e-12)
    assert np.ptp(results["BC.y"]) > 0.3


def test_scott_russell_draws_a_straight_line():
    results = run("scott_russell")
    np.testing.assert_allclose(results["rod.end.x"], 0.0, atol=1e-13)
    np.testing.assert_allclose(results["rod.end.y"], 0.5 * np.sin(results["crank.phi"]), atol=1e-13)


def test_the_trammel_draws_an_ellipse():
    x, y = values(run("elliptic_trammel"), "rod.end.x", "rod.end.y")
    np.testing.assert_allclose((x / 0.35) ** 2 + (y / 0.15) ** 2, 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "point", "along", "across", "part"),
    [
        ("chebyshev_lambda", "coupler.end", "x", "y", 0.003),  # over half a turn of the crank
        ("watt_linkage", "coupler", "y", "x", 0.003),
        ("roberts_linkage", "triangle.P", "x", "y", 0.012),
    ],
)
def test_lines_that_are_almost_straight(name, point, along, across, part):
    """The deviation as a part of the length, for the dimensions of each."""
    results = run(name)
    straight = (
        np.cos(2 * np.pi * results.t) <= 0.0 if name == "chebyshev_lambda" else np.full(results.t.size, True)
    )
    deviation, length = (np.ptp(results[f"{point}.{coordinate}"][straight]) for coordinate in (across, along))
    assert 0.0 < deviation < part * length


def test_the_dwell_arm_rests_during_half_a_turn():
    results = run("dwell_arm")
    rests = np.abs(results.t - 0.5) < 0.25
    assert np.degrees(np.ptp(results["arm.phi"][rests])) < 0.15
    assert np.degrees(np.ptp(results["arm.phi"])) > 9.0


def test_klann_foot_walks():
    x, y = values(run("klann_leg"), "leg.F.x", "leg.F.y")
    low = y < y.min() + 0.1 * np.ptp(y)
    assert np.ptp(x[low]) > 0.9 * np.ptp(x)
    assert np.ptp(y) > 0.4 * np.ptp(x)


# Machines ---------------------------------------------------------------------------------------------


def test_the_scissor_lift_rises_with_its_arms():
    results = run("scissor_lift")
    angle = results["a1.phi"]
    np.testing.assert_allclose(results["platform.y"], 2 * 1.6 * np.sin(angle) + 0.05, atol=1e-12)
    np.testing.assert_allclose(results["platform.phi"], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.degrees(angle[[0, -1]]), [15, 55], atol=1e-10)
    # at rest, the cylinder does the work of lifting: F dL = sum of m g dy
    length, dL = (
        results.measure("distance(ground.C, a1.P)")[0],
        1.2 * (0.6 * np.sin(angle) + 0.05 * np.cos(angle)),
    )
    lifted = 9.81 * 1.6 * np.cos(angle) * (500 * 2 + 30 * (0.5 + 0.5 + 1.5 + 1.5))
    force = np.abs(results["cylinder.effort"])
    np.testing.assert_allclose(force[[0, -1]], (lifted * length / dL)[[0, -1]], rtol=1e-9)


def test_the_umbrella_opens_as_its_runner_rises():
    results = run("umbrella")
    rib = np.pi / 2 + results["right.phi"]  # from the stick
    y = -0.26 * np.cos(rib) - np.sqrt(0.28**2 - (0.26 * np.sin(rib)) ** 2)
    np.testing.assert_allclose(results["runner.y"], y, atol=1e-13)
    np.testing.assert_allclose(np.degrees(rib[[0, -1]]), [12, 72], atol=1e-10)
    np.testing.assert_allclose(results["left.end.x"], -results["right.end.x"], atol=1e-13)


def test_the_landing_gear_is_up_in_the_end():
    results = run("landing_gear")
    assert np.degrees(results["strut.phi"][-1] - results["strut.phi"][0]) == pytest.approx(85, abs=1e-9)
    assert results["upper.end.y"].max() < 0.5  # the brace stays in the wing


def test_the_loader_keeps_its_bucket_level_while_it_rises():
    results = run("front_loader")
    tilt, rises = np.degrees(results["bucket.phi"]), (results.t >= 2) & (results.t <= 7)
    assert np.ptp(tilt[rises]) < 15.0 < 50.0 < np.ptp(np.degrees(results["boom.phi"]))
    assert tilt.max() > 30.0 and tilt[-1] < -25.0  # rolled back, then emptied


def test_wheels_roll_about_one_center_with_ackermann_steering():
    results = run("steering")
    left, right = values(results, "left.phi", "right.phi")
    # cot(outer) - cot(inner) = track / base; the trapezoid is right to two degrees
    inner = left > np.radians(1)
    wanted = np.arctan(1 / (1 / np.tan(left[inner]) + 1.4 / 2.6))
    assert np.degrees(np.abs(right[inner] - wanted)).max() < 2.0
    assert np.degrees(left.max() - right[left.argmax()]) > 5.0
    np.testing.assert_allclose(
        results["distance(left.A, right.B)"], 2 * (0.7 - 0.18 * 0.7 / 2.6 / np.hypot(1, 0.7 / 2.6))
    )


def test_both_wipers_sweep_the_same_angle():
    results = run("windshield_wiper")
    np.testing.assert_allclose(results["left.phi"], results["right.phi"], atol=1e-12)
    # the law of cosines where crank and rod are in line
    rod, base = np.hypot(0.35, 0.055), np.hypot(0.35, 0.07)
    ends = [
        np.arccos((0.07**2 + base**2 - reach**2) / (2 * 0.07 * base)) for reach in (rod - 0.055, rod + 0.055)
    ]
    assert np.ptp(results["left.phi"]) == pytest.approx(ends[1] - ends[0], abs=1e-3)  # between two outputs
    assert np.degrees(ends[1] - ends[0]) == pytest.approx(104, abs=1)


def test_toggles_multiply_force():
    clamp, press = run("toggle_clamp"), run("toggle_press")
    held = 2e5 * np.maximum(0.0, 0.002 - 0.02 - clamp["arm.pad.y"])
    hand = np.abs(clamp["hand.torque"]) / 0.17
    assert held[0] == pytest.approx(400.0, rel=1e-9) and held.max() > 10 * hand.max()
    squeezed = 5e7 * np.maximum(0.0, 0.004 - 0.6 - press["ram.y"])
    assert squeezed.max() > 15 * np.abs(press["motor.torque"]).max() / 0.06


def test_the_geneva_wheel_moves_by_quarter_turns():
    results = run("geneva_drive")
    wheel, t = np.degrees(results["wheel.phi"]), results.t
    # the pin is in a slot for 0.25 s before and after t = 0.5 s and 2.5 s
    for rest, angle in ((0.12, 45), (1.5, -45), (3.5, -135)):
        np.testing.assert_allclose(wheel[np.abs(t - rest) < 0.12], angle, atol=1e-12)
    middle = np.argmin(np.abs(t - 0.5))
    a, d = 0.1 / 2**0.5, 0.1
    assert results["wheel.phid"][middle] == pytest.approx(-np.pi * a / (d - a), rel=1e-12)


def test_the_oldham_coupling_turns_both_shafts_alike():
    results = run("oldham_coupling")
    np.testing.assert_allclose(results["output.phi"], results["input.phi"], atol=1e-12)
    x, y = values(results, "middle.x", "middle.y")
    np.testing.assert_allclose(np.hypot(x - 0.01, y), 0.01, atol=1e-14)


def test_whitworth_comes_back_faster():
    results = run("whitworth")
    turned = np.ptp(np.unwrap(results["arm.phi"]))
    assert turned == pytest.approx(2 * np.pi, abs=1e-9)
    # the arm needs pi + 2 asin(offset / crank) of the crank for its slow half
    above = np.count_nonzero(results["block.y"][:-1] > 0) / (results.t.size - 1)
    assert above == pytest.approx(0.5 + np.arcsin(0.09 / 0.2) / np.pi, abs=0.01)


# Engines ----------------------------------------------------------------------------------------------


def test_nothing_shakes_the_v_twin_once_per_turn():
    results = run("v_twin")
    on_ground = [("O", "crank"), ("left_cylinder", "left"), ("right_cylinder", "right")]
    parts = [results.reaction(joint, on=body) for joint, body in on_ground]
    shaking = np.array([sum(part.fx for part in parts), sum(part.fy for part in parts)])[:, :-1]
    orders = np.abs(np.fft.rfft(shaking, axis=1)) / shaking.shape[1] * 2
    assert orders[:, 1].max() < 1e-9 * orders[:, 2].max()
    assert orders[0, 2] == pytest.approx(817, rel=1e-3)


@pytest.mark.slow
def test_the_engine_does_the_work_of_its_gas():
    results = run("engine")
    phi, y = values(results, "crank.phi", "piston.y")
    angle = np.degrees(phi) % 720
    bar = np.interp(angle, [0, 200, 290, 345, 372, 400, 450, 560, 720], [0, 0, 2, 15, 55, 25, 9, 0, 0])
    work = -np.trapezoid(1e5 * np.pi * 0.08**2 / 4 * bar, y)
    lost = np.trapezoid(0.24 * results["crank.phid"] ** 2, results.t)
    first, *_, last = weights_and_speeds(results)
    assert work - lost == pytest.approx(last - first, abs=2e-3 * work)  # of the trapezoidal rule
    assert 100 < results["crank.phid"].min() < results["crank.phid"].max() < 200


def test_the_valve_stays_on_its_cam():
    results = run("valve_train")
    assert results["contact.force"].min() > 100.0
    assert np.ptp(results["valve.y"]) == pytest.approx(2 * 0.006, rel=0.01)  # the finger doubles the lift


# Motions under forces ---------------------------------------------------------------------------------


def test_beads_of_the_tautochrone_arrive_together():
    results = run("tautochrone")
    bottom = results.t.size // 4  # a quarter of the period 4 pi sqrt(r / g)
    for bead in ("high", "low"):
        assert abs(results[f"{bead}.x"][bottom]) < 1e-6
        assert results[f"{bead}.x"][-1] == pytest.approx(results[f"{bead}.x"][0], abs=1e-6)


def test_coupled_pendulums_swing_in_two_modes():
    model = loaded("coupled_pendulums").with_parameters(start="0.001*deg")
    results = se.dynamics(model, t_end=10, step=0.05, rtol=1e-10)
    left, right = (results[f"{name}.phi"] + np.pi / 2 for name in ("left", "right"))
    J = 2 / 3  # about the pin
    slow, fast = 2 * 9.81 * 0.5 / J, (2 * 9.81 * 0.5 + 2 * 8 * 0.5**2) / J
    size = abs(left[0])
    np.testing.assert_allclose(left + right, left[0] * np.cos(slow**0.5 * results.t), atol=1e-4 * size)
    np.testing.assert_allclose(left - right, left[0] * np.cos(fast**0.5 * results.t), atol=1e-4 * size)


def test_it_does_not_matter_where_weights_lie_on_roberval_s_balance():
    results = run("roberval_balance")
    J = (2 * 0.3 + 1 + 1.05) * 0.2**2 + 2 * 0.2 * 0.4**2 / 12
    assert results["top.phidd"][0] == pytest.approx(-0.05 * 9.81 * 0.2 / J, rel=1e-10)
    other = se.dynamics(loaded("roberval_balance").with_parameters(left_out=0.15, right_out=-0.05), t_end=0.8)
    assert other["top.phi"][-1] == pytest.approx(results["top.phi"][-1], rel=1e-6)


@pytest.mark.slow
def test_kapitza_s_pendulum_stays_upright_only_while_it_shakes():
    lean = np.degrees(run("kapitza_pendulum")["bar.phi"]) - 90
    assert np.abs(lean).max() < 25.0
    still = se.dynamics(loaded("kapitza_pendulum").with_parameters(amplitude=0.003), t_end=2)
    assert np.abs(np.degrees(still["bar.phi"]) - 90).max() > 90.0


def test_control_brings_cart_and_load_to_rest():
    cart, crane = run("cart_pole"), run("gantry_crane")
    assert abs(cart["cart.x"][-1]) < 0.01 < 0.3 < np.abs(cart["cart.x"]).max()
    assert abs(cart["pole.phi"][-1] - np.pi / 2) < 1e-3
    swing = np.degrees(np.abs(crane["load.phi"]))
    assert swing.max() > 5.0 and swing[crane.t > 4].max() < 0.15  # sines of angles are not angles
    assert crane["trolley.x"][-1] == pytest.approx(3.0, abs=1e-12)


@pytest.mark.slow
def test_the_walker_makes_steps():
    results = run("walker")
    # the trunk rolls about the foot that stands: 2 r in half a turn of the crank, r (1 - cos) in a part of it
    steps, part = divmod(4 * (4 + np.exp(-4) - 1), np.pi)
    assert results["trunk.x"][-1] == pytest.approx(0.03 * (2 * steps + 1 - np.cos(part)), rel=1e-3)
    assert np.degrees(np.abs(results["trunk.phi"]).max()) < 1.0


def test_the_trebuchet_throws_far():
    results = run("trebuchet")
    xd, yd = values(results, "stone.xd", "stone.yd")
    assert np.hypot(xd, yd)[-1] > 50.0
    assert np.degrees(np.arctan2(yd, xd))[-1] == pytest.approx(45, abs=2)


@pytest.mark.slow
def test_the_car_rests_on_its_tire():
    results = run("double_wishbone")
    rest = results.t.searchsorted(1.99)
    weight = 9.81 * (350 + 40 + 3 + 5)
    assert results["hub.road.y"][rest] == pytest.approx(-weight / 200_000, rel=0.01)
    jolt = np.abs(results["chassis.y"][rest:] - results["chassis.y"][rest]).max()
    assert results["hub.road.y"].max() > 0.03 > jolt > 0.01  # the spring lets the bump pass below


@pytest.mark.slow
def test_the_governor_opens_as_it_speeds_up():
    results = run("shaft_governor")
    radius, speed = results["distance(wheel, first)"], results["wheel.phid"]
    assert radius[-1] - radius[0] > 0.02 and speed[-1] > 5 * speed[0]
    np.testing.assert_allclose(results["distance(wheel, second)"], radius, atol=1e-7)


@pytest.mark.slow
def test_the_chain_keeps_its_energy():
    energy = weights_and_speeds(run("chain"))
    np.testing.assert_allclose(energy, energy[0], atol=1e-6 * np.ptp(energy) + 1e-6)
