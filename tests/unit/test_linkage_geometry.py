"""Grashof classes, circuits, dead points and toggle positions: closed forms, counts, and random mechanisms."""

from __future__ import annotations

from math import acos, degrees, pi

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.linkage.loops import loops_of


def test_the_class_follows_from_the_lengths():
    assert se.grashof([1, 2, 2.5, 3]).type == "crank-rocker"
    assert se.grashof([3, 2, 2.5, 1]).type == "double-crank"
    assert se.grashof([2.5, 1, 2, 3]).type == "double-rocker"
    assert se.grashof([2.5, 2, 1, 3]).type == "rocker-crank"
    assert se.grashof([2, 2.2, 1.5, 3.5]).type == "triple-rocker"
    assert se.grashof([1, 3, 1, 3]).type == "change point"
    assert repr(se.grashof([1, 2, 2.5, 3])) == "four-bar input-coupler-output: 4 < 4.5, class I, crank-rocker"


def test_a_slider_crank_has_a_class_too():
    assert (se.grashof([1, 3, 0.5]).kind, se.grashof([1, 3, 0.5]).type) == ("I", "crank-slider")
    assert (se.grashof([2, 2.5, -0.6]).kind, se.grashof([2, 2.5, -0.6]).type) == ("II", "rocker-slider")
    assert se.grashof([1, 2, 1]).kind == "special"
    assert se.grashof([2, 1, 0.5]).type == "rocker-slider, the rod turns fully"


@pytest.mark.slow
def test_the_loops_of_a_model_are_found():
    (loop,) = loops_of(builders.four_bar(1, 2, 2.5, 3, crank_angle=0.3, speed=1))
    assert [length for _, length in loop.named()] == pytest.approx([1, 2, 2.5, 3], abs=1e-12)
    assert loop.links == ("crank", "coupler", "rocker", "ground")
    (loop,) = loops_of(builders.slider_crank(1, 3, -0.4, speed=1))
    assert (loop.crank, loop.rod, loop.offset) == pytest.approx((1, 3, -0.4), abs=1e-12)
    assert [loop.links for loop in loops_of(se.load("watt_six_bar"))] == [
        ("crank", "coupler", "rocker", "ground"),
        ("rocker", "link", "output", "ground"),
    ]
    assert len(se.linkage_summary(se.load("watt_six_bar")).loops) == 2


def test_the_driven_link_is_the_input():
    model = builders.four_bar(2.5, 2, 1, 3, crank_angle=1)
    model.add(se.Driver("motor", "angle(ground, rocker)", "drawn + t"))
    assert se.grashof(model).type == "crank-rocker"


def test_wrong_lengths_are_refused_by_name():
    with pytest.raises(se.ModelError, match="length of coupler is -2"):
        se.grashof([1, -2, 2.5, 3])
    with pytest.raises(se.ModelError, match="output is 9 long, the other three together 6"):
        se.grashof([1, 2, 9, 3])
    with pytest.raises(se.ModelError, match="not 2"):
        se.grashof([1, 2])
    with pytest.raises(se.UnsupportedError, match="2 such loops"):
        se.grashof(se.load("watt_six_bar"))
    with pytest.raises(se.UnsupportedError, match="no loop of four links"):
        se.grashof(se.load("double_pendulum"))


# Circuits ---------------------------------------------------------------------------------------------


def limits(a, b, c, d):
    """Crank angles within 0..pi at which coupler and rocker are in line: a^2 + d^2 - 2 a d cos = (b +- c)^2."""
    cosines = [(a * a + d * d - f * f) / (2 * a * d) for f in (abs(b - c), b + c)]
    return [acos(cosine) for cosine in cosines if abs(cosine) < 1]


def test_a_crank_rocker_has_two_circuits_of_a_full_turn():
    found = se.circuits(builders.four_bar(1, 2, 2.5, 3, speed=1))
    assert [circuit.modes for circuit in found] == [[0], [1]]
    assert all(circuit.input_turns_fully and not circuit.dead_points for circuit in found)


def test_a_triple_rocker_has_one_circuit_with_two_dead_points():
    lengths = (2, 2.2, 1.5, 3.5)
    (circuit,) = se.circuits(builders.four_bar(*lengths, crank_angle=0.5, speed=1))
    (limit,) = limits(*lengths)
    assert circuit.modes == [0, 1]
    assert sorted(place.input for place in circuit.dead_points) == pytest.approx([-limit, limit], abs=1e-9)
    assert sorted(branch.modes for branch in circuit.branches) == [[0], [1]]


def test_a_double_rocker_has_a_circuit_on_each_side():
    """At one crank angle only one of them closes; the other is found from random poses."""
    lengths = (2, 1, 2.5, 3)
    found = se.circuits(builders.four_bar(*lengths, crank_angle=0.6, speed=1))
    low, high = sorted(limits(*lengths))
    ranges = [(branch.low, branch.high) for circuit in found for branch in circuit.branches]
    np.testing.assert_allclose(ranges, [(low, high)] * 2 + [(-high, -low)] * 2, atol=1e-9)
    assert [circuit.modes for circuit in found] == [[0, 1], []]


@pytest.mark.slow
def test_random_four_bars_have_the_circuits_of_their_class():
    """Grashof linkages have two circuits, others one (Chase and Mirth 1993)."""
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 8:
        lengths = rng.uniform(0.5, 2, 4)
        try:
            model = builders.four_bar(*lengths, crank_angle=rng.uniform(0.2, 2.9), speed=1)
            kind = se.grashof(model)
        except se.ModelError:
            continue
        if abs(kind.short_sum - kind.long_sum) < 0.05:
            continue
        tried += 1
        found = se.circuits(model)
        assert len(found) == (2 if kind.kind == "I" else 1), lengths
        ends = limits(*lengths)
        for circuit in found:
            assert circuit.input_turns_fully == (not ends)
            places = [abs((place.input + pi) % (2 * pi) - pi) for place in circuit.dead_points]
            assert all(min(abs(place - end) for end in ends) < 1e-8 for place in places)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["watt_six_bar", "stephenson_six_bar", "jansen_leg"])
def test_branches_agree_with_kinematics_to_the_dead_points(name):
    """The ranges found by driving each assembly, and those found on the curve of configurations."""
    model = se.load(name)
    driven, found = se.assembly_modes(model), se.circuits(model)
    for i, mode in enumerate(driven):
        (branch,) = [branch for circuit in found for branch in circuit.branches if i in branch.modes]
        assert branch.is_full_turn == mode.range.is_full_turn
        if not branch.is_full_turn:
            assert (branch.low, branch.high) == pytest.approx((mode.range.low, mode.range.high), abs=1e-6)


@pytest.mark.slow
def test_every_configuration_closes_the_joints():
    model = se.load("stephenson_six_bar")
    system = se.System(model)
    joints = [i for i, (name, _) in enumerate(system.rows) if name != "motor"]
    for circuit in se.circuits(model):
        assert max(np.abs(system.Phi(0.0, q)[joints]).max() for q in circuit.q) < 1e-11


def test_toggle_positions_are_the_limits_of_the_rocker():
    """Crank and coupler in line: the rocker's angle from the triangle of d, c and b +- a."""
    a, b, c, d = 1, 2, 2.5, 3
    circuit = se.circuits(builders.four_bar(a, b, c, d, speed=1))[0]
    angles = sorted(place.output % (2 * pi) for place in circuit.toggles("rocker"))
    known = sorted(pi - acos((c * c + d * d - f * f) / (2 * c * d)) for f in (b - a, b + a))
    assert angles == pytest.approx(known, abs=1e-9)


def test_a_slider_as_input_ends_where_crank_and_rod_are_in_line():
    model = builders.slider_crank(1, 3, 0.5, crank_angle=1)
    model.add(se.Driver("push", "slider.x", "drawn"))
    right, left = se.circuits(model)
    ends = [np.sqrt(4 - 0.25), np.sqrt(16 - 0.25)]
    assert sorted(place.input for place in right.dead_points) == pytest.approx(ends, abs=1e-9)
    assert sorted(-place.input for place in left.dead_points) == pytest.approx(ends, abs=1e-9)


def test_a_parallelogram_has_change_points():
    found = se.circuits(builders.four_bar(1, 3, 1, 3, crank_angle=1, speed=1))
    assert all(len(circuit.change_points) == 2 for circuit in found[:2])
    values = [place.input % pi for circuit in found for place in circuit.change_points]
    assert all(min(value, pi - value) < 1e-6 for value in values)


def test_an_open_curve_ends_far_away():
    model = se.Model("rack", gravity=(0, 0))
    model.body("slider", mass=1, inertia=1, at=(0.3, 0))
    model.add(se.Translational("guide", "ground", "slider", direction=(1, 0)))
    model.add(se.Driver("push", "x(ground, slider)", "drawn"))
    (circuit,) = se.circuits(model)
    (branch,) = circuit.branches
    assert branch.low_end == branch.high_end == "no limit found"
    assert not circuit._curve.closed


def test_a_model_without_a_driver_is_refused():
    with pytest.raises(se.ModelError, match="no driver, so nothing says what its input is"):
        se.circuits(builders.four_bar(1, 2, 2.5, 3))
    with pytest.raises(se.ModelError, match="Did you mean 'motor'"):
        se.circuits(builders.four_bar(1, 2, 2.5, 3, speed=1), driver="motr")


def test_the_summary_is_short_and_complete():
    summary = se.linkage_summary(builders.four_bar(1, 2, 2.5, 3, speed=1))
    (span,) = summary.transmission
    low, high = se.grashof([1, 2, 2.5, 3]).transmission_range
    assert span.low == pytest.approx(min(low, pi - high), abs=1e-9)
    assert span.high == pytest.approx(pi / 2, abs=1e-6)
    assert summary.to_dict()["loops"][0]["class"] == "I"
    assert all(len(line) <= 80 for line in str(summary).splitlines())
    for thing in (summary, summary.circuits, *summary.circuits, *summary.loops):
        assert all(len(line) <= 80 for line in repr(thing).splitlines())
    assert degrees(span.low) == pytest.approx(51.3178, abs=1e-4)


def test_the_circuits_are_drawn():
    ax = se.circuits(builders.four_bar(2, 2.2, 1.5, 3.5, crank_angle=0.5, speed=1)).plot()
    assert ax.get_xlabel() == "motor [°]" and ax.get_ylabel() == "rocker [°]"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "circuit 0",
        "dead point",
        "toggle position",
    ]
