"""Shapes: mass center, inertia and outline of links, plates, disks and blocks; what is no shape is answered."""

from __future__ import annotations

from math import atan2, cos, pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simengine2d as se
from loading import written
from simengine2d.draw.outlines import reaches
from simengine2d.model import polygon

TRIANGLE = {"Y": (1.0, 2.0), "W": (4.0, 2.0), "U": (1.0, 6.0)}


def body(name: str = "b", **shape) -> object:
    model = se.Model()
    model.body(name, **shape)
    return model.check().bodies[name]


def test_a_link_is_the_plate_through_its_points():
    hip = body(shape=se.LinkShape(TRIANGLE), mass=2)
    # a triangle: the center is the mean of the corners, J = m (a^2 + b^2 + c^2) / 36
    assert hip.pose == pytest.approx((2, 10 / 3, 0), rel=1e-15)
    assert hip.inertia == pytest.approx(2 * (9 + 16 + 25) / 36, rel=1e-15)
    assert hip.points["U"] == pytest.approx((-1, 8 / 3, 0), rel=1e-15)


def test_the_axis_of_a_link_leads_from_the_first_to_the_second_point():
    turned = body(shape=se.LinkShape({name: TRIANGLE[name] for name in ("W", "U", "Y")}))
    assert turned.pose[2] == atan2(4, -3)
    assert turned.points["U"][1] == pytest.approx(turned.points["W"][1], abs=1e-15)


def test_points_inside_do_not_change_a_link():
    plain, more = (
        body(shape=se.LinkShape(points), mass=3) for points in (TRIANGLE, TRIANGLE | {"P": (1.5, 3)})
    )
    assert (plain.pose, plain.inertia) == (more.pose, more.inertia)
    assert "P" in more.points


def test_a_link_whose_points_are_on_a_line_is_a_bar():
    ends = (1.0, 1.0), (4.0, 5.0)
    link = body(shape=se.LinkShape({"A": ends[0], "M": (1.9, 2.2), "B": ends[1]}), density=2)
    bar = body(shape=se.Bar(*ends), density=2)
    assert link.pose == pytest.approx(bar.pose, rel=1e-15)
    assert (link.mass, link.inertia) == pytest.approx((bar.mass, bar.inertia), rel=1e-15)
    assert (bar.mass, bar.inertia) == (10.0, 10 * 25 / 12)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (se.Bar((0, 0), (3, 4)), 5),
        (se.LinkShape(TRIANGLE), 6),
        (se.Plate([*TRIANGLE.values()]), 6),
        (se.Disk(2), 4 * pi),
        (se.Block(3, 4), 12),
    ],
)
def test_a_density_is_per_length_or_area(shape, size):
    by_density, by_mass = body(shape=shape, density=7), body(shape=shape, mass=7 * size)
    assert by_density.mass == pytest.approx(7 * size, rel=1e-15)
    assert by_density.inertia == pytest.approx(by_mass.inertia, rel=1e-15)


def test_a_plate_is_no_convex_hull():
    """An L: two rectangles by the parallel axis theorem."""
    corners = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
    plate = body(shape=se.Plate(corners), density=1)
    parts = [((1.5, 0.5), 3, 1), ((0.5, 2.0), 1, 2)]
    mass = sum(w * h for _, w, h in parts)
    center = sum(w * h * np.array(r) for r, w, h in parts) / mass
    inertia = sum(w * h * ((w**2 + h**2) / 12 + ((r - center) ** 2).sum()) for r, w, h in parts)
    assert plate.mass == pytest.approx(mass, rel=1e-15)
    assert plate.pose == pytest.approx((*center, 0), rel=1e-15)
    assert plate.inertia == pytest.approx(inertia, rel=1e-14)
    closed, backwards = (
        body(shape=se.Plate([*corners, corners[0]])),
        body(shape=se.Plate(corners[::-1]), density=1),
    )
    assert closed.pose == plate.pose and backwards.inertia == pytest.approx(plate.inertia, rel=1e-14)


@given(
    st.lists(st.floats(0.2, 3.0), min_size=3, max_size=9),
    st.floats(-pi, pi),
    st.floats(-1e3, 1e3),
)
def test_a_star_is_the_sum_of_its_triangles(radii, turn, away):
    """A polygon around a point, far from the origin: its triangles from that point, by the parallel axis theorem."""
    angles = turn + np.arange(len(radii)) * 2 * pi / len(radii)
    corners = np.array([away, -away]) + np.array(radii)[:, None] * np.column_stack(
        [np.cos(angles), np.sin(angles)]
    )
    m, moment, J = 0.0, np.zeros(2), 0.0
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        triangle = np.array([[away, -away], a, b])
        u, v = triangle[1] - triangle[0], triangle[2] - triangle[0]
        part, center = (u[0] * v[1] - u[1] * v[0]) / 2, triangle.mean(axis=0) - (away, -away)
        sides = triangle - np.roll(triangle, 1, axis=0)
        m, moment = m + part, moment + part * center
        J += part * ((sides**2).sum() / 36 + center @ center)
    plate = body(shape=se.Plate(corners.tolist()), density=1)
    # corners at 1e3 m are rounded to 1e-13 m, and the plate may be as small as 0.1 m^2
    assert plate.mass == pytest.approx(m, rel=1e-11)
    assert plate.pose[:2] == pytest.approx((away, -away) + moment / m, abs=1e-10)
    assert plate.inertia == pytest.approx(J - moment @ moment / m, rel=1e-9)


def test_named_points_are_frames_of_joints():
    m = se.Model("swing")
    m.link("hip", TRIANGLE, mass=2)
    m.plate("flap", {"A": (0, 0), "B": (1, 0), "C": (0, 1)}, mass=1)
    m.add(se.Revolute("Y", m.ground, "hip.Y"))
    m.add(se.Revolute("A", m.ground, m["flap"]["A"]))
    drawn = m.check().elements
    assert (drawn["Y"].a.drawn_x, drawn["Y"].a.drawn_y) == pytest.approx((1, 2), abs=1e-15)
    assert (drawn["A"].b.drawn_x, drawn["A"].b.drawn_y) == pytest.approx((0, 0), abs=1e-15)
    with pytest.raises(se.ModelError, match=r"body 'hip' has no point 'Z'. The points are Y, W, U"):
        m["hip"]["Z"]


def test_files_hold_them(tmp_path):
    m = se.Model("shapes", parameters={"L": 2})
    m.link("hip", {"Y": (0, 0), "W": ("L", 0), "U": ("L/3", 1)}, density=3)
    m.plate("flap", {"A": (0, 0), "B": (1, 0), "C": (0, "L")}, mass="2*L")
    m.plate("lid", [(0, 0), (1, 0), (0, 1)], density=1, inertia=4)
    m.disk("wheel", radius="L", density=2, at=(1, 1))
    m.block("cart", width=1, height=2, density=2)
    for name in ("m.yaml", "m.json"):
        again = se.load(m.save(tmp_path / name))
        assert again.bodies == m.bodies
        assert again.check().bodies == m.check().bodies


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ("{shape: link}", "needs the field 'through': two or more names with global places"),
        (
            "{shape: link, through: [[0, 0], [1, 0]]}",
            "through is [[0, 0], [1, 0]]; it must be two or more names",
        ),
        (
            "{shape: link, through: {A: [0, 0], B: [0, 0]}}",
            "its first two points, A and B, are both at [0.0, 0.0]",
        ),
        (
            "{shape: link, through: {A: [0, 0], B: [1, 0]}, at: [1, 1]}",
            "is placed by its points; leave out at",
        ),
        ("{shape: plate, corners: [[0, 0], [1, 0], [2, 0]]}", "lie on one line and enclose no area"),
        ("{shape: plate, width: 1, height: 2}", "has no field 'width'. Write 'shape: block'."),
        ("{mass: 1, density: 1}", "body 'b', density: only a body with a shape has a density"),
        ("{shape: disk, radius: 1, mass: 1, density: 1}", "body 'b', density: the mass 1 is given too"),
    ],
)
def test_what_is_no_shape_is_answered_with_its_line(tmp_path, record, sentence):
    with pytest.raises(se.ModelError) as caught:
        se.load(written(tmp_path, f"name: m\nbodies:\n  b: {record}\n", "m.yaml"))
    assert sentence in str(caught.value) and "line 3" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (se.LinkShape({}), "it goes through 0 points; give at least 2"),
        (se.LinkShape([(0, 0), (1, 0)]), "through is ((0, 0), (1, 0)); write names with places"),
        (se.LinkShape({"A": (0, 0), "B": (0, 0), "C": (1, 0)}), "List two different points first"),
        (se.LinkShape({"A": (0, 0), "B": 1}), "body 'b', link, through, B is 1; 2 numbers are needed"),
        (se.Plate(5), "corners is 5; write names with places"),
        (se.Plate([(0, 0), (1, 0)]), "2 corners enclose no area"),
        (se.Plate({"A": (0, 0), "B": (0, 0), "C": (1, 1)}), "the corners A and B are the same point"),
        (se.Plate([(0, 0), (1, 1), (1, 0), (0, 1)]), "the side from 1 to 2 meets the side from 3 to 4"),
        (se.Plate([(0, 0), (2, 0), (1, 0), (1, 1)]), "list the corners in order"),
        (se.Plate([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)]), "the side from 1 to 2 meets"),
        (se.Plate([(0, 0), (2, 0), (3, 0), (1, 0), (1, 1)]), "list the corners in order"),
    ],
)
def test_degenerate_shapes_are_refused(shape, sentence):
    with pytest.raises(se.ModelError) as caught:
        body(shape=shape)
    assert sentence in str(caught.value)


def test_a_rectangle_is_a_block():
    with pytest.raises(se.ModelError, match=r"write block\(name, width="):
        se.Model().plate("p", width=1, height=2)


def test_two_points_of_one_name_are_refused():
    with pytest.raises(se.ModelError, match="has two points 'Y', one of them by its shape"):
        body(shape=se.LinkShape(TRIANGLE), points={"Y": (0, 0)})


@pytest.mark.parametrize("turn", [0.0, 0.3, 7.0])
def test_a_moved_model_keeps_its_shapes(turn):
    m = se.Model()
    m.link("hip", TRIANGLE, density=2)
    m.plate("flap", {"A": (0, 0), "B": (1, 0), "C": (0, 1)}, density=1)
    m.bar("bar", (0, 0), (1, 0), density=1)
    drawn = m.check().bodies
    q = np.array([1, 2, turn, 3, 4, turn, 5, 6, turn])
    moved = se.with_initial_pose(m, q).check().bodies
    for i, name in enumerate(m.bodies):
        assert moved[name].pose == pytest.approx(q[3 * i : 3 * i + 3], abs=1e-12)
        assert (moved[name].mass, moved[name].inertia) == pytest.approx(
            (drawn[name].mass, drawn[name].inertia)
        )
        for point, place in drawn[name].points.items():
            assert moved[name].points[point] == pytest.approx(place, abs=1e-12)


def test_outlines_reach_what_is_inside_or_near():
    corners = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], dtype=float)
    assert (
        reaches(corners, (0.5, 2), 0) and reaches(corners, (2, 0.5), 0) and reaches(corners, (3.05, 0.5), 0.1)
    )
    assert not reaches(corners, (2, 2), 0.1) and not reaches(corners, (-1, 0), 0.1)


def test_the_hull_goes_counter_clockwise():
    angles = np.random.default_rng(1).permutation(12) * pi / 6
    points = np.array([(cos(a), sin(a)) for a in angles] + [(0, 0), (0.2, 0.1)])
    corners = polygon.hull(points)
    turns = np.diff(np.unwrap(np.arctan2(corners[:, 1], corners[:, 0])))
    assert len(corners) == 12 and np.all(turns > 0)
