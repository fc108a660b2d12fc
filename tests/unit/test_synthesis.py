"""The classical methods of synthesis: all their solutions, each met by a run of its model, defects named."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simengine2d as se
from simengine2d.lab.synthesis.dyads import Displacements, burmester_curves, five_pose_dyads
from simengine2d.lab.synthesis.linkage_models import model_of
from simengine2d.lab.synthesis.linkage_types import FOUR_BAR, SLIDER_CRANK, TYPES
from simengine2d.lab.synthesis.slider_dyads import by_guide, slider_dyads

CRANK_ROCKER = {
    "Ax": 0.3, "Ay": -0.2, "ground": 3.0, "ground_angle": 0.4, "crank_angle": 1.1,
    "crank": 1.0, "coupler": 2.5, "rocker": 2.4, "Px": 0.7, "Py": 0.9,
}  # fmt: skip
INPUTS = np.array([1.1, 1.6, 2.2, 2.9, 3.4])
EXACT = 1e-9  # of errors relative to lengths of 1: roots of quartics, sharpened, lose a few digits


def poses_of(values=CRANK_ROCKER, inputs=INPUTS, side=1) -> np.ndarray:
    pins, _ = FOUR_BAR.positions(values, inputs, (side,))
    c, s = FOUR_BAR.direction(pins, "coupler")
    return np.column_stack([*pins["P"], np.unwrap(np.arctan2(s, c)) + 0.3])


CRANK_SLIDER = {
    "Ax": 0.3, "Ay": -0.2, "guide_angle": 0.2, "offset": 0.3, "crank_angle": 1.1, "crank": 1.0, "rod": 3.0,
    "Px": 0.7, "Py": 0.9,
}  # fmt: skip


def slider_poses_of(values=CRANK_SLIDER, inputs=INPUTS, side=1) -> np.ndarray:
    pins, _ = SLIDER_CRANK.positions(values, inputs, (side,))
    c, s = SLIDER_CRANK.direction(pins, "rod")
    return np.column_stack([*pins["P"], np.unwrap(np.arctan2(s, c)) + 0.3])


def slider_cranks(linkages) -> list:
    return [each for each in linkages if each.type == "slider-crank"]


def is_given(linkage) -> bool:
    """Whether it is the slider-crank of which the poses are; a guide has no sense."""
    return np.allclose([linkage.parameters[name] for name in ("Ax", "Ay", "crank", "rod")], [0.3, -0.2, 1, 3])


def lengths(linkage) -> list[float]:
    return [linkage.parameters[name] for name in ("ground", "crank", "coupler", "rocker")]


def has(linkages, wanted) -> bool:
    return any(np.allclose(lengths(each), wanted, rtol=1e-6) for each in linkages)


# Function generation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 5])
def test_function_generators_come_back(n):
    """The angles of a known four-bar: it is among the solutions, and all good ones meet them."""
    pins, _ = FOUR_BAR.positions(CRANK_ROCKER | {"ground_angle": 0.0, "Ax": 0.0, "Ay": 0.0}, INPUTS, (1,))
    c, s = FOUR_BAR.direction(pins, "rocker")
    phi, psi = INPUTS[:n], np.unwrap(np.arctan2(s, c))[:n]
    starts = {3: {"input_start": phi[0], "output_start": psi[0]}, 4: {"input_start": phi[0]}, 5: {}}[n]
    found = se.synthesis.function_generator(phi - phi[0], psi - psi[0], ground=3.0, **starts)
    assert has(found, [3.0, 1.0, 2.5, 2.4])
    assert len(found) <= {3: 1, 4: 2, 5: 3}[n]
    for linkage in found.good:
        assert linkage.errors().max() < EXACT


def test_links_that_point_the_other_way_turn_as_asked():
    found = se.synthesis.function_generator([0, 0.4, 0.8], [0, -0.3, -0.7], input_start=1.2, output_start=0.4)
    for linkage in found.good:
        assert linkage.errors().max() < EXACT


def test_precision_points_after_chebyshev():
    inputs, outputs = se.synthesis.precision_points(lambda x: x * x, (1, 3), "90*deg", "60*deg", 3)
    np.testing.assert_allclose(
        np.degrees(inputs), 45 * (1 - np.array([math.sqrt(3) / 2, 0, -math.sqrt(3) / 2]))
    )
    x = 1 + 2 * inputs / (np.pi / 2)
    np.testing.assert_allclose(np.degrees(outputs), 60 * (x * x - 1) / 8)


# Motion generation ------------------------------------------------------------------------------------


def distances(dyad, move) -> np.ndarray:
    return np.abs(np.append(dyad.w, move.e * dyad.w + move.t) - dyad.m)


def test_cranks_through_random_poses():
    """Circle points keep their distance from the center; of five poses there are 0, 2 or 4."""
    rng = np.random.default_rng(1)
    counts = set()
    for _ in range(60):
        poses = np.column_stack([rng.normal(size=(5, 2)), rng.uniform(-2, 2, 5)])
        move = Displacements(poses)
        dyads = five_pose_dyads(move)
        counts.add(len(dyads))
        for dyad in dyads:
            r = distances(dyad, move)
            assert np.ptp(r) < 1e-7 * max(1.0, r.max())
        move = Displacements(poses[:4])
        for dyad in burmester_curves(move, 6):
            r = distances(dyad, move)
            assert np.ptp(r) < 1e-6 * max(1.0, r.max())  # far pivots lose digits
    assert counts == {0, 2, 4}


def test_five_poses_of_a_linkage_give_it_back():
    found = se.synthesis.motion(poses_of())
    assert len(found) == 6
    assert lengths(found[0]) == pytest.approx([3.0, 1.0, 2.5, 2.4])
    assert found[0].motion == "crank-rocker"
    for linkage in found.good:
        assert linkage.errors().max() < EXACT


def test_poses_on_both_circuits_have_the_circuit_defect():
    poses = np.vstack([poses_of()[:3], poses_of(side=-1)[3:]])
    found = [each for each in se.synthesis.motion(poses) if np.allclose(lengths(each), [3.0, 1.0, 2.5, 2.4])]
    assert len(found) == 1
    assert found[0].defects == ["circuit"]


def test_poses_in_another_order_have_the_order_defect():
    poses = poses_of()[[0, 2, 1, 4, 3]]
    found = [each for each in se.synthesis.motion(poses) if np.allclose(lengths(each), [3.0, 1.0, 2.5, 2.4])]
    assert found[0].defects == ["order"]


def test_a_rocker_driven_beyond_its_dead_point_has_the_branch_defect():
    """A triple-rocker, in poses on both sides of the input's dead point; from either side."""
    rocker = CRANK_ROCKER | {"crank": 2.0, "coupler": 1.5, "rocker": 2.1, "ground": 3.4}
    poses = np.vstack(
        [poses_of(rocker, np.array([0.9, 1.0, 1.1])), poses_of(rocker, np.array([1.1, 1.0]), -1)]
    )
    found = [
        each for each in se.synthesis.motion(poses) if np.allclose(sorted(lengths(each)), [1.5, 2, 2.1, 3.4])
    ]
    assert "branch" in found[0].defects


def test_defects_are_what_a_run_of_the_model_shows():
    """Good linkages meet all poses in a full run without a dead point; the others do not."""
    rng = np.random.default_rng(5)
    good = 0
    for _ in range(12):
        values = CRANK_ROCKER | {name: rng.uniform(0.8, 3.0) for name in ("crank", "coupler", "rocker")}
        inputs = rng.uniform(-3, 3) + np.cumsum(rng.uniform(0.05, 0.4, 5))
        if any(np.abs(cosine).max() > 0.99 for cosine in FOUR_BAR.positions(values, inputs, (1,))[1]):
            continue
        for linkage in se.synthesis.motion(poses_of(values, inputs)):
            try:
                met = bool((linkage.errors() < 1e-6).all())
            except se.SimEngineError:
                met = False
            assert met == linkage.is_good, linkage
            good += met
    assert good > 10


def test_two_three_and_four_poses():
    poses = poses_of()
    two = se.synthesis.motion(poses[:2], moving_pivots=[(0, 0), (2, 1)], rotations=["40*deg", "30*deg"])
    three = se.synthesis.motion(poses[:3], fixed_pivots=[(0, 0), (2, 1)])
    moving = se.synthesis.motion(poses[:3], moving_pivots=[(0, 0), (2, 1)])
    four = se.synthesis.motion(poses[:4], samples=4)
    assert (len(two), len(three), len(moving)) == (1, 1, 1)
    assert len(four) > 10
    for linkage in [*two.good, *three.good, *moving.good, *four.good[:8]]:
        assert linkage.errors().max() < 1e-7


# Sliders ----------------------------------------------------------------------------------------------


def test_four_poses_have_one_slider_and_five_have_none():
    rng = np.random.default_rng(4)
    for _ in range(40):
        move = Displacements(np.column_stack([rng.normal(size=(5, 2)), rng.uniform(-2, 2, 5)]))
        assert slider_dyads(move) == []
        [slider] = slider_dyads(move.first(3))
        places = move.first(3).places(slider.w)
        across = ((places - slider.w) / slider.direction).imag
        assert np.abs(across).max() < 1e-9 * max(1.0, np.abs(places).max())  # far sliders lose digits


def test_guides_of_three_poses_meet_in_the_orthocenter_of_the_poles():
    """A classical theorem; and all slider points are on one circle (Beyer, Kinematische Getriebesynthese, 1953)."""
    poses = poses_of()[:3]
    move = Displacements(poses)
    p12, p13 = move.t / (1.0 - move.e)
    turn = move.e[1] / move.e[0]
    p23 = (move.t[1] - turn * move.t[0]) / (1.0 - turn)
    sliders = [by_guide(move, angle) for angle in np.linspace(0.0, 3.0, 7)]
    # altitudes: (h - p) is perpendicular to the opposite side
    sides, corners = np.array([p13 - p23, p12 - p23]), np.array([p12, p13])
    rows = np.column_stack([sides.real, sides.imag])
    h = complex(*np.linalg.solve(rows, (sides.conj() * corners).real))
    for slider in sliders:
        assert abs(((h - slider.w) / slider.direction).imag) < 1e-12
    x, y = np.array([[each.w.real, each.w.imag] for each in sliders]).T
    circle = np.column_stack([x * x + y * y, x, y, np.ones(7)])
    assert np.linalg.svd(circle)[1][-1] < 1e-12 * np.linalg.norm(circle)


def test_poses_of_a_slider_crank_give_it_back():
    poses = slider_poses_of()
    three = se.synthesis.motion(poses[:3], fixed_pivots=[(0.3, -0.2)], guide=0.2)
    five = se.synthesis.motion(poses)
    assert len(three) == 1
    for found in (three, five):
        [given] = [each for each in slider_cranks(found) if is_given(each)]
        assert (given.motion, given.defects) == ("crank-slider", [])
    four = se.synthesis.motion(poses[:4], samples=4)
    assert len(slider_cranks(four)) > 3
    for linkage in [*three, *slider_cranks(five), *slider_cranks(four)]:
        if linkage.is_good:
            assert linkage.errors().max() < EXACT


def test_slider_cranks_have_their_defects():
    both = np.vstack([slider_poses_of()[:3], slider_poses_of(side=-1)[3:]])
    mixed = slider_poses_of()[[0, 2, 1, 4, 3]]
    short = CRANK_SLIDER | {"crank": 2.0, "rod": 1.5, "offset": 0.2}  # no link turns fully
    inputs = np.array([0.5, 0.7, 0.9])
    turned = np.vstack([slider_poses_of(short, inputs), slider_poses_of(short, inputs[2:0:-1], -1)])
    for poses, defect in ((both, "circuit"), (mixed, "order"), (turned, "branch")):
        found = slider_cranks(se.synthesis.motion(poses))
        [given] = [
            each
            for each in found
            if np.hypot(each.parameters["Ax"] - 0.3, each.parameters["Ay"] + 0.2) < 1e-6
        ]
        assert defect in given.defects


def test_defects_of_slider_cranks_are_what_a_run_shows():
    """Good ones meet all poses in a full run without a dead point; the others do not."""
    rng = np.random.default_rng(8)
    good = bad = 0
    for _ in range(20):
        values = CRANK_SLIDER | {
            "crank": rng.uniform(0.5, 2),
            "rod": rng.uniform(0.8, 3),
            "offset": rng.uniform(-1, 1),
        }
        inputs = rng.uniform(-3, 3) + np.cumsum(rng.uniform(0.05, 0.4, 5))
        if np.abs(SLIDER_CRANK.positions(values, inputs, (1,))[1][0]).max() > 0.99:
            continue
        for linkage in slider_cranks(se.synthesis.motion(slider_poses_of(values, inputs))):
            try:
                met = bool((linkage.errors() < 1e-6).all())
            except se.SimEngineError:
                met = False
            assert met == linkage.is_good, linkage
            good, bad = good + met, bad + (not met)
    assert good > 5
    assert bad > 2


# Path generation --------------------------------------------------------------------------------------


def test_paths_with_prescribed_timing():
    points = poses_of()[:, :2]
    found = se.synthesis.path(points, INPUTS)
    assert len(found) == 12
    assert has(found.good, [3.0, 1.0, 2.5, 2.4])
    three = se.synthesis.path(points[:3], INPUTS[:3], fixed_pivots=[(0, 0), (2, 1)])
    four = se.synthesis.path(points[:4], INPUTS[:4], samples=2)
    for linkage in [*found.good, *three.good, *four.good]:
        assert linkage.errors().max() < 1e-7
        np.testing.assert_allclose(
            linkage.inputs - linkage.inputs[0], (INPUTS - INPUTS[0])[: len(linkage.inputs)]
        )


def test_paths_of_slider_cranks():
    points = slider_poses_of()[:, :2]
    three = se.synthesis.path(points[:3], INPUTS[:3], fixed_pivots=[(0.3, -0.2)], guide=0.2)
    four = slider_cranks(se.synthesis.path(points[:4], INPUTS[:4], samples=2))
    five = slider_cranks(se.synthesis.path(points, INPUTS))
    assert len(three) == 1
    assert is_given(three[0])
    assert len(four) > 2
    assert sum(map(is_given, five)) == 1
    for linkage in [*three, *four, *five]:
        if linkage.is_good:
            assert linkage.errors().max() < 1e-7


# Models -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TYPES)
def test_the_models_of_all_types_move_as_their_closed_forms(name):
    kind = TYPES[name]
    more = {"guide_angle": 0.2, "offset": 0.3, "rod": 3.0, "Ex": 1.2, "Ey": 0.8, "Hx": 1.0, "Hy": -0.6}
    values = CRANK_ROCKER | more | {"link": 2.6, "arm": 2.9, "Gx": -1.0, "Gy": 3.0}
    sides = (1,) * kind.dyads
    results = se.kinematics(model_of(kind, values, sides), t_end=1, step=1 / 12)
    pins, _ = kind.positions(values, 1.1 + 2 * np.pi * results.t, sides)
    np.testing.assert_allclose(results[f"{kind.tracer}.P.x"], pins["P"][0], atol=1e-12)
    np.testing.assert_allclose(results[f"{kind.tracer}.P.y"], pins["P"][1], atol=1e-12)


def test_a_solution_is_an_ordinary_model(tmp_path):
    linkage = se.synthesis.motion(poses_of())[0]
    path = linkage.model().save(tmp_path / "linkage.yaml")
    assert se.grashof(se.load(path)).type == linkage.motion == "crank-rocker"
    longer = linkage.model().with_parameters(rocker=2.45)
    assert se.assemble(longer).residual < 1e-10


# Sentences --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.motion([(0, 0, 0)]), "at least 2 poses are needed, not 1"),
        (lambda s: s.motion([]), "must be rows of 3"),
        (lambda s: s.motion(np.zeros((6, 3))), "two to five exactly"),
        (lambda s: s.motion(np.zeros((3, 3))), "leave the pivots open"),
        (lambda s: s.motion(poses_of(), fixed_pivots=[(0, 0), (1, 0)]), "leave no choice of fixed_pivots"),
        (lambda s: s.motion(poses_of(), guide=1), "leave no choice of guide"),
        (lambda s: s.motion(poses_of()[:2], fixed_pivots=[(0, 0)], guide=1), "needs three poses"),
        (lambda s: s.motion(poses_of()[:3], fixed_pivots=[(0, 0), (1, 0)], guide=1), "one beside its guide"),
        (lambda s: s.path(poses_of()[:, :2], INPUTS, guide=1), "5 points leave no choice of guide"),
        (lambda s: s.motion(np.zeros((5, 3))), "not independent"),
        (lambda s: s.motion([(0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 5, 0)]), "do not turn against each other"),
        (lambda s: s.function_generator([0, 1], [0, 1]), "at least 3 outputs are needed, not 2"),
        (lambda s: s.function_generator([0, 1, 2], [0, 1, 1.5], ground=-1), "must be positive"),
        (
            lambda s: s.function_generator([0, 1, 2, 3, 4], [0, 1, 2, 3, 5], input_start=1),
            "is found, not given",
        ),
        (lambda s: s.function_generator([0, 1], [0, 1, 2]), "2 inputs were given for 3"),
        (lambda s: s.path([(0, 0), (1, 1), (2, 0)], [0, 1, 2]), "need fixed_pivots"),
        (lambda s: s.path([(0, 0), (1, 1)], [0, 1]), "three to five"),
    ],
)
def test_wrong_input_ends_in_a_sentence(call, sentence):
    with pytest.raises(se.SimEngineError, match=sentence):
        call(se.synthesis)
