"""Assembly modes: known counts, driver ranges in closed form, and models drawn in each pose."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

pytestmark = pytest.mark.slow  # long motions, for compiled kernels


def limits(a, b, c, d):
    """Crank angles of a four-bar within 0..pi at which coupler and rocker are in line: d^2 + a^2 - 2 a d cos = f^2."""
    found = []
    for f in (abs(b - c), b + c):
        cosine = (a * a + d * d - f * f) / (2 * a * d)
        if abs(cosine) < 1:
            found.append(math.acos(cosine))
    return found


def test_a_four_bar_closes_in_two_ways():
    found = se.assembly_modes(builders.four_bar(1, 2, 2.5, 3, crank_angle=1, speed=1))
    assert [mode.description for mode in found] == ["as drawn", "coupler and rocker mirrored"]
    assert all(mode.range.is_full_turn for mode in found)
    crossed = builders.four_bar(1, 2, 2.5, 3, crank_angle=1, branch="crossed", speed=1)
    np.testing.assert_allclose(found[1].q[6:8], se.assemble(crossed).q[6:8], atol=1e-9)
    assert "closes in 2 ways at motor = 1" in str(found)


def test_random_four_bars_end_at_their_grashof_limits():
    rng = np.random.default_rng(3)
    tried = 0
    while tried < 4:
        lengths = rng.uniform(0.5, 2, 4)
        angle = rng.uniform(0.2, 2.9)
        try:
            model = builders.four_bar(*lengths, crank_angle=angle, speed=1)
        except se.ModelError:
            continue
        tried += 1
        ends = limits(*lengths)
        found = se.assembly_modes(model)
        assert len(found) == 2
        for mode in found:
            if not ends:
                assert mode.range.is_full_turn
                continue
            high = min([end for end in ends if end > angle], default=2 * math.pi - max(ends))
            low = max([end for end in ends if end < angle], default=-min(ends))
            assert mode.range.high_end == mode.range.low_end == "dead point"
            assert (mode.range.low, mode.range.high) == pytest.approx((low, high), abs=1e-8)


def test_a_slider_crank_closes_in_two_ways_and_not_upside_down():
    found = se.assembly_modes(builders.slider_crank(1, 3, 0.2, speed=1))
    assert [mode.description for mode in found] == ["as drawn", "rod and slider mirrored"]
    assert found[0].q[6] > 0.0 > found[1].q[6]


def test_a_driven_slider_ends_where_the_links_are_in_line():
    model = builders.slider_crank(1, 2, crank_angle=1)
    model.add(se.Driver("push", "x(ground, slider)", se.assemble(model).q[6]))
    found = se.assembly_modes(model)
    assert len(found) == 2
    for mode in found:
        assert (mode.range.low, mode.range.high) == pytest.approx((1.0, 3.0), abs=1e-8)


def watt(angle=1.0):
    """A second four-bar loop hangs on the rocker of the first: two ways in each loop."""
    model = builders.four_bar(1, 2.5, 2, 3, crank_angle=angle, speed=1)
    q = se.assemble(model).q
    C = complex(3, 0) + 2 * (complex(q[6], q[7]) - 3) / abs(complex(q[6], q[7]) - 3)
    out = model.bar("output", (5, 0), (5, 1.8))
    link = model.bar("link", (C.real, C.imag), (5, 1.8))
    model.add(se.Revolute("E", model.bodies["rocker"]["end"], link["start"]))
    model.add(se.Revolute("F", link["end"], out["end"]))
    model.add(se.Revolute("G", model.ground, out["start"]))
    return model


def test_a_watt_six_bar_closes_in_four_ways():
    found = se.assembly_modes(watt())
    assert len(found) == 4
    assert {mode.description for mode in found} >= {"as drawn", "link and output mirrored"}


def stephenson(a, b, c, d, arm, F, length):
    """A four-bar whose coupler point E is led by a link to the tip F of a driven crank, drawn nearly closed."""
    model = builders.four_bar(a, b, c, d, crank_angle=1.2)
    coupler = model.bodies["coupler"]
    coupler.points["E"] = (arm.real, arm.imag)
    E = coupler_point(a, b, c, d, arm, np.array([1.2]), 1)[0]
    base = F - 0.5j
    driven = model.bar("driven", (base.real, base.imag), (F.real, F.imag))
    end = F + length * (E - F) / abs(E - F)
    link = model.bar("link", (F.real, F.imag), (end.real, end.imag))
    model.add(se.Revolute("H", model.ground, driven["start"]))
    model.add(se.Revolute("F", driven["end"], link["start"]))
    model.add(se.Revolute("E", link["end"], coupler["E"]))
    model.add(se.Driver("motor", "angle(ground, driven)", math.pi / 2))
    return model


def coupler_point(a, b, c, d, arm, theta, sign):
    """Place of E on one circuit of the four-bar; nan where it does not close. `arm` is from the coupler's middle."""
    B = a * np.exp(1j * theta)
    diagonal = d - B
    f = np.abs(diagonal)
    foot = (f**2 + b**2 - c**2) / (2 * f)
    with np.errstate(invalid="ignore"):
        height = sign * np.sqrt(b**2 - foot**2)
    direction = (foot + 1j * height) * diagonal / f / b
    return B + (b / 2 + arm) * direction


@pytest.mark.parametrize("seed", range(4))
def test_stephenson_six_bars_close_as_often_as_the_coupler_curve_meets_a_circle(seed):
    """Driven through the five-bar loop: up to six ways, counted on a fine grid of the four-bar's crank."""
    rng = np.random.default_rng(seed)
    a, b, c, d = 1.0, 2.5, 2.0, 2.6
    arm = complex(*rng.uniform(-1.5, 1.5, 2))
    theta = np.linspace(-math.pi, math.pi, 20001)
    curves = [coupler_point(a, b, c, d, arm, theta, sign) for sign in (1, -1)]
    F = complex(np.mean(curves[0].real), np.mean(curves[0].imag)) + complex(*rng.uniform(-0.3, 0.3, 2))
    E = coupler_point(a, b, c, d, arm, np.array([1.2]), 1)[0]
    length = abs(E - F)
    expected = sum(int(np.count_nonzero(np.diff(np.abs(curve - F) > length))) for curve in curves)
    found = se.assembly_modes(stephenson(a, b, c, d, arm, F, length), ranges=False)
    assert len(found) == expected


def test_a_mode_can_be_run():
    found = se.assembly_modes(builders.four_bar(1, 2, 2.5, 3, crank_angle=1, speed=1))
    results = se.kinematics(found[1].model, t_end=1)
    np.testing.assert_allclose(results.q[0], found[1].q, atol=1e-9)


def test_change_points_on_the_way_are_told():
    found = se.assembly_modes(builders.four_bar(1, 2, 1, 2, crank_angle=1, speed=1))
    assert found[0].range.is_full_turn
    assert found[0].range.change_points == pytest.approx([math.pi, 2 * math.pi], abs=1e-8)


def test_a_free_mechanism_is_refused():
    with pytest.raises(se.UnsupportedError, match="driver for every free motion"):
        se.assembly_modes(builders.four_bar(1, 2, 2.5, 3))
    with pytest.raises(se.ModelError, match="motor"):
        se.assembly_modes(builders.four_bar(1, 2, 2.5, 3, speed=1), driver="engine")


def test_a_continuum_of_poses_ends_the_search():
    """Where two pins of Peaucellier's inversor coincide, bodies turn freely: of infinitely many poses few count."""
    found = se.assembly_modes(se.load("peaucellier"), ranges=False)
    assert len(found) < 20
    assert found.starts < 1000
