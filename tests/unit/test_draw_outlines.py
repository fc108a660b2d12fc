"""Outlines and stretched shapes: closed forms of their areas and lengths, and what they must contain."""

from __future__ import annotations

from math import acos, hypot, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.draw import outlines, stretchable
from simengine2d.draw.figure import stretched_paths
from simengine2d.draw.marks import Layer, Spot, Stretched

coordinate = st.floats(-10, 10).map(lambda v: round(v, 3))
points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=7)
# a round corner is a polygon with a point every 7.5 degrees: its sagitta is 1 - cos(3.75 deg) = 0.2 % of the radius
ROUND = 0.003


def area(path):
    """The shoelace formula; positive counter-clockwise."""
    x, y = np.asarray(path).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def perimeter(path):
    return float(np.hypot(*(np.roll(path, -1, axis=0) - path).T).sum())


def contains(path, point):
    """Winding number of a closed polygon about a point is not zero."""
    d = np.asarray(path) - point
    angles = np.arctan2(d[:, 1], d[:, 0])
    turns = np.diff(np.append(angles, angles[0]))
    return abs(np.sum((turns + pi) % (2 * pi) - pi)) > pi


def test_area_of_a_bar():
    bar = outlines.bar((1, 2), (4, 6), 0.5)  # 5 long
    assert area(bar) == pytest.approx(5 * 1.0 + pi * 0.25, rel=ROUND)


def test_area_of_a_rounded_triangle():
    """Steiner's formula: the area at a distance r around a convex body is A + P r + pi r^2."""
    link = outlines.link([(0, 0), (4, 0), (0, 3)], 0.5)
    assert area(link) == pytest.approx(6 + 12 * 0.5 + pi * 0.25, rel=ROUND)


@given(points)
@settings(max_examples=80, deadline=None)
def test_a_link_reaches_all_its_points(spots):
    link = outlines.link(spots, 0.5)
    assert area(link) > 0.0  # counter-clockwise
    for spot in spots:
        assert contains(link, spot)


@given(points)
@settings(max_examples=80, deadline=None)
def test_the_hull_is_convex_and_holds_all_points(spots):
    array = np.array(spots, dtype=float)
    hull = outlines.hull(array)
    if len(hull) < 3:
        return
    edges = np.roll(hull, -1, axis=0) - hull
    left = edges[:, 0] * np.roll(edges[:, 1], -1) - edges[:, 1] * np.roll(edges[:, 0], -1)
    assert np.all(left > 0.0)
    for edge, corner in zip(edges, hull, strict=True):
        across = edge[0] * (array[:, 1] - corner[1]) - edge[1] * (array[:, 0] - corner[0])
        assert across.min() >= -1e-9


def test_points_in_line_make_a_bar_and_one_point_a_round_plate():
    assert len(outlines.hull(np.array([(0, 0), (1, 1), (3, 3.0)]))) == 2
    plate = outlines.link([(2, 1)], 0.5)
    np.testing.assert_allclose(plate.mean(axis=0), (2, 1), atol=1e-12)


@pytest.mark.parametrize("internal", [False, True])
def test_a_gear_has_its_teeth_about_the_pitch_circle(internal):
    gear = outlines.gear((1, 0), 0.5, 20, 0.3, internal)
    radii = np.hypot(*(gear - (1, 0)).T)
    module = 2 * 0.5 / 20
    inner, outer = sorted(
        [0.5 + (0.9 if not internal else -0.9) * module, 0.5 - (1.1 if not internal else -1.1) * module]
    )
    assert {round(r, 12) for r in radii} == {round(inner, 12), round(outer, 12)}
    tips = gear[np.isclose(radii, inner if internal else outer)]
    assert len(tips) == 40  # two corners of each tooth
    middle = np.angle(np.mean(np.exp(20j * np.arctan2(tips[:, 1], tips[:, 0] - 1)))) / 20
    assert middle == pytest.approx((0.3 + pi / 20) % (pi / 10) - pi / 20, abs=1e-12)


def test_a_rack_has_a_tooth_every_pi_modules():
    rack = outlines.rack(
        -1,
        1,
        0.05,
        0.02,
    )
    tips = np.sort(rack[rack[:, 1] > 0.04, 0])
    middles = tips.reshape(-1, 2).mean(axis=1)
    np.testing.assert_allclose(np.diff(middles), pi * 0.05, atol=1e-12)
    assert np.min(np.abs(middles - 0.02)) < 1e-12
    assert rack[:, 0].min() == -1 and rack[:, 0].max() == 1


def test_the_strokes_of_a_hatching_are_on_the_right():
    line, *strokes = outlines.hatching((0, 0), (2, 0), 0.1)
    np.testing.assert_array_equal(line, [(0, 0), (2, 0)])
    assert strokes
    for stroke in strokes:
        assert 0 < stroke[0, 0] < 2 and stroke[1, 1] < 0
    assert outlines.hatching((1, 1), (1, 1), 0.1) == []


# Stretched shapes -------------------------------------------------------------------------------------


def stretched(paths, a, b):
    mark = Stretched(Spot("ground", *a), Spot("ground", *b), paths, "spring", Layer.SPRING)
    return stretched_paths(mark, np.array(a, dtype=float), np.array(b, dtype=float))


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_a_spring_goes_from_end_to_end(length):
    (path,) = stretched(stretchable.zigzag(0.1), (1, 1), (1, 1 + length))
    np.testing.assert_allclose(path[0], (1, 1), atol=1e-12)
    np.testing.assert_allclose(path[-1], (1, 1 + length), atol=1e-12)
    assert np.abs(path[:, 0] - 1).max() == pytest.approx(0.075)  # its coils keep their width


@given(st.floats(0.3, 1.0), st.floats(1.0, 3.0), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_the_piston_of_a_damper_stays_in_its_pot(shortest, ratio, part):
    longest = shortest * ratio
    length = shortest + part * (longest - shortest)
    rod_a, pot, piston, rod_b = stretched(stretchable.damper(0.1, shortest, longest), (0, 0), (length, 0))
    assert pot[:, 0].min() < piston[:, 0].min() + 1e-9
    assert piston[:, 0].max() < pot[:, 0].max() + 1e-9
    np.testing.assert_allclose(rod_a[0], (0, 0), atol=1e-12)
    np.testing.assert_allclose(rod_b[-1], (length, 0), atol=1e-12)


def test_a_vanished_spring_is_still_drawn():
    for path in stretched(stretchable.zigzag(0.1), (1, 1), (1, 1)):
        assert np.all(np.isfinite(path))


@pytest.mark.parametrize("crossed", [False, True])
def test_length_of_a_belt(crossed):
    """Two strands of the length sqrt(d^2 - (R_a -+ R_b)^2), and the arcs around the pulleys."""
    a, b, d = 0.3, 0.1, 1.0
    (path,) = stretched(stretchable.belt(a, b, d, crossed), (0, 0), (d, 0))
    reach = a + b if crossed else a - b
    w = acos(reach / d)
    arcs = a * (2 * pi - 2 * w) + b * ((2 * pi - 2 * w) if crossed else 2 * w)
    exact = 2 * sqrt(d**2 - reach**2) + arcs
    length = float(np.hypot(*np.diff(path, axis=0).T).sum())
    assert length == pytest.approx(exact, rel=ROUND)
    np.testing.assert_array_equal(path[0], path[-1])


def test_a_rod_has_round_ends():
    (path,) = stretched(stretchable.rod(0.1), (0, 0), (3, 4))
    assert area(path) == pytest.approx(5 * 0.2 + pi * 0.01, rel=ROUND)
    assert perimeter(path) == pytest.approx(10 + 2 * pi * 0.1, rel=ROUND)


def test_an_arc_arrow_ends_at_its_tip():
    line, head = outlines.arc_arrow(2.0, 0.0, pi / 2, 0.2)
    np.testing.assert_allclose(head[0], (0, 2), atol=1e-12)
    assert all(hypot(*point) == pytest.approx(2.0) for point in line)
