"""Synthesis by search: exact derivatives, checked linkages, requirements; and the survey of many four-bars."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.lab.synthesis.linkage_types import FOUR_BAR, TYPES
from simengine2d.lab.synthesis.problem import LinkageProblem, sides_of
from simengine2d.lab.synthesis.requirements import read_requirements
from simengine2d.lab.synthesis.synthesize import usual_limits
from simengine2d.lab.synthesis.target_files import read_target

HALF_CIRCLE = [(math.cos(a), math.sin(a)) for a in np.linspace(0, math.pi, 5)]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("make", ["path", "poses", "function"])
def test_derivatives_are_exact(name, make):
    """Complex steps against central differences, whose error is about 1e-9 here."""
    kind = TYPES[name]
    target = {
        "path": se.synthesis.path_target(HALF_CIRCLE),
        "poses": se.synthesis.pose_target([(x, y, 0.3 * x) for x, y in HALF_CIRCLE]),
        "function": se.synthesis.function_target([0, 0.2, 0.5, 0.9], [0, 0.1, 0.3, 0.6]),
    }[make]
    ranges = {k: v for k, v in usual_limits(kind, target).items() if v[0] < v[1]}
    fixed = {k: v[0] for k, v in usual_limits(kind, target).items() if v[0] == v[1]}
    problem = LinkageProblem(kind, sides_of(kind)[0], target, ranges, fixed, 0.5, True)
    rng = np.random.default_rng(3)
    for _ in range(4):
        x = problem.random_start(rng)
        r, J = problem.jacobian(x)
        h = 1e-6
        steps = h * np.eye(len(x))
        D = np.array([(problem.residuals(x + e) - problem.residuals(x - e)) / (2 * h) for e in steps]).T
        np.testing.assert_allclose(r, problem.residuals(x), atol=1e-12)
        steep = np.abs(J).max(axis=1) < 100.0  # next to a flat dyad differences are worthless
        np.testing.assert_allclose(J[steep], D[steep], atol=2e-4 * max(1.0, np.abs(J[steep]).max()))


def test_a_path_is_met_by_a_run_of_the_model():
    found = se.synthesize("four-bar", HALF_CIRCLE, starts=1, subject_to=["transmission > 30*deg"])
    results = found.best.run()
    assert found.error < 1e-4
    assert found.best.transmission >= math.radians(30)
    assert (found.best.errors(results) ** 2).sum() == pytest.approx(found.error)
    assert se.transmission_angle(results).smallest > math.radians(30) - 1e-6
    assert [each.error for each in found] == sorted(each.error for each in found)
    assert isinstance(found.model(), se.Model)


def test_a_crank_that_must_turn_fully_does():
    found = se.synthesize("four-bar", HALF_CIRCLE[:3], starts=1, full_turn=True)
    for linkage in found:
        assert linkage.motion in ("crank-rocker", "double-crank")
        assert linkage.run().t[-1] == 1.0  # a full turn


def test_the_same_seed_finds_the_same_linkage():
    once, again = (se.synthesize("slider-crank", HALF_CIRCLE[:3], starts=2, seed=3) for _ in range(2))
    assert once.best.parameters == again.best.parameters


def test_functions_and_poses():
    angles = np.linspace(0, 1, 6)
    found = se.synthesize("four-bar", se.synthesis.function_target(angles, 0.8 * angles**1.2), starts=2)
    assert found.error < 1e-4
    poses = [(0, 0, 0), (1, 0.4, 0.3), (2, 0.5, 0.7), (3, 0.2, 1.0)]
    guided = se.synthesize("four-bar", poses, starts=1)
    assert guided.best.errors().max() < 0.2


def test_several_types_and_progress():
    counts = []
    found = se.synthesize(
        ["four-bar", "slider-crank"],
        HALF_CIRCLE[:4],
        starts=1,
        progress=lambda done, total: counts.append((done, total)),
    )
    assert counts[0] == (1, 8)
    assert {each.type for each in found} <= {"four-bar", "slider-crank"}


def model_and_path():
    model = builders.four_bar(1, 2.5, 2.4, 3, speed="2*pi", crank_angle=0.4)
    model.bodies["coupler"].points["P"] = (0.2, 0.6)
    results = se.kinematics(model.with_parameters(rocker=2.6), t_eval=np.linspace(0, 1, 9))
    return model, np.column_stack([results["coupler.P.x"], results["coupler.P.y"]])


def test_parameters_of_a_model_of_ones_own():
    model, points = model_and_path()
    found = se.synthesize(
        model,
        points,
        ["rocker", "coupler"],
        {"rocker": (2.2, 3), "coupler": (2.2, 2.8)},
        output="coupler.P",
        starts=1,
    )
    assert found.best.parameters["rocker"] == pytest.approx(2.6, abs=1e-6)
    assert found.model().parameters["coupler"] == pytest.approx(2.5, abs=1e-6)
    assert "rocker 2.6" in str(found)


@pytest.mark.slow
def test_forces_stay_below_what_is_allowed():
    free = se.synthesize("four-bar", HALF_CIRCLE[:4], starts=3)
    results = se.inverse_dynamics(free.model(), t_end=1, step=0.005)
    peak = float(np.hypot(results["B.fx"], results["B.fy"]).max())
    found = se.synthesize("four-bar", HALF_CIRCLE[:4], starts=1, subject_to=f"max(B.force) < {0.7 * peak}")
    results = se.inverse_dynamics(found.model(), t_end=1, step=0.005)
    assert np.hypot(results["B.fx"], results["B.fy"]).max() < 0.7 * peak


# Files ------------------------------------------------------------------------------------------------


def test_targets_in_files(tmp_path):
    file = tmp_path / "target.csv"
    file.write_text("x,y,input\n0,0,0\n1,1,30*deg\n")
    assert read_target(file).inputs[1] == pytest.approx(math.pi / 6)
    file.write_text("x, y, angle\n0, 0, 0\n1, 1, 2\n")
    assert read_target(file).kind == "poses"
    file.write_text("input,output\n0,0\n1,1\n2,1\n")
    assert read_target(file).kind == "function"
    file = tmp_path / "target.yaml"
    file.write_text("path: [[0, 0], [1, 1]]\nclosed: true\n")
    assert read_target(file).closed
    for text, sentence in {
        "path: [[0, 0], [1, 1]]\nclose: true\n": "Did you mean",
        "closed: true\n": "give one of path",
        "- 1\n": "mapping",
        "path: []\n": "rows of 2",
    }.items():
        file.write_text(text)
        with pytest.raises(se.ModelError, match=sentence):
            read_target(file)
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    with pytest.raises(se.ModelError, match="the columns are a, b"):
        read_target(tmp_path / "wrong.csv")
    with pytest.raises(se.MissingFileError, match="no file"):
        read_target(tmp_path / "nothing.csv")


def test_headings_of_targets_name_units(tmp_path):
    file = tmp_path / "poses.csv"
    file.write_text("x [mm], y, angle (deg)\n0, 0, 0\n1500, 0.8, 90\n")
    target = read_target(file)
    assert target.kind == "poses"
    np.testing.assert_allclose(target.rows[1], [1.5, 0.8, math.pi / 2])
    for text, sentence in {
        "x,y,theta\n0,0,0\n1,1,1\n": "the columns are x, y, theta",  # once read as a path
        "x,y,output\n0,0,0\n1,1,1\n": "the columns are x, y, output",
        "x [deg],y\n0,0\n1,1\n": "column x cannot be in deg",
        "x,y,angle [degree]\n0,0,0\n1,1,1\n": "the unit 'degree' is unknown",
        "x,y,angle [deg]\n0,0,0\n1,1,30*deg\n": "not a number",
        "# nothing\n": "the columns are none",
    }.items():
        file.write_text(text)
        with pytest.raises(se.ModelError, match=sentence):
            read_target(file)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": []}, "is not a target"),
        ({"linkage": "five-bar"}, "no type of linkage 'five-bar'"),
        ({"variables": []}, "nothing of four-bar varies"),
        ({"variables": {"crnk": (1, 2)}}, "Did you mean 'crank'"),
        ({"limits": {"crank": (2, 1)}}, "exclude every value"),
        ({"subject_to": "transmission < 40*deg"}, "required to be above"),
        ({"subject_to": "force"}, "is not a requirement"),
        ({"subject_to": "median(B.force) < 3"}, "unknown function 'median'. Did you mean 'mean'"),
        ({"starts": 0}, "at least 1"),
        ({"linkage": builders.four_bar(1, 2, 2, 3)}, "varies|follow"),
    ],
)
def test_wrong_input_ends_in_a_sentence(options, sentence):
    with pytest.raises(se.SimEngineError, match=sentence):
        se.synthesize(**{"linkage": "four-bar", "target": HALF_CIRCLE, **options})


def test_limits_that_leave_no_linkage_end_in_a_sentence():
    limits = {"crank": (5.0, 6.0), "coupler": (0.1, 0.2), "rocker": (0.1, 0.2), "ground": (0.1, 0.2)}
    with pytest.raises(se.ConvergenceError, match="no four-bar was found"):
        se.synthesize("four-bar", HALF_CIRCLE, limits=limits, starts=1)


def test_requirements_are_read():
    texts = [
        "transmission > 40*deg",
        "min( transmission ) > 35 deg",
        "max(B.force) < 2*200",
        "min(slider.x) > 1",
    ]
    least, others = read_requirements(texts)
    assert least == pytest.approx(math.radians(40))
    assert [(each.expression.text, each.below, each.limit) for each in others] == [
        ("max(B.force)", True, 400.0),
        ("min(slider.x)", False, 1.0),
    ]


def test_requirements_are_expressions_of_a_study():
    """Whatever a sweep keeps can be required, in the same words."""
    results = se.inverse_dynamics(builders.four_bar(1, 2.5, 2.4, 3, speed=2), t_end=1, step=0.1)
    _, (required,) = read_requirements("peak_to_peak(rocker.phi)/2 + max(abs(B.fx)) < 1 kN")
    assert required.value(results) == np.ptp(results["rocker.phi"]) / 2 + np.abs(results["B.fx"]).max()
    assert required.holds(results) and required.excess(results) == 0.0
    _, (unreduced,) = read_requirements("abs(B.fx) < 3")
    with pytest.raises(se.ModelError, match=r"a value at each time.*'max\(abs\(B.fx\)\)'"):
        unreduced.value(results)


# Survey -----------------------------------------------------------------------------------------------


def test_a_survey_says_what_the_analyses_say():
    rng = np.random.default_rng(2)
    lengths = rng.uniform(0.2, 1.0, (60, 4))
    survey = se.synthesis.survey_four_bars(lengths, (0.1, 0.2), points=36, threads=2)
    for i, row in enumerate(lengths):
        if 2 * row.max() > row.sum():
            assert (survey.types[i], survey.circuits[i]) == ("open", 0)
            continue
        kind = se.grashof(row)
        assert survey.types[i] == kind.type
        assert survey.circuits[i] == (2 if kind.kind == "I" else 1)
    assert sum(survey.counts().values()) == 60


def test_a_survey_traces_what_kinematics_traces():
    survey = se.synthesis.survey_four_bars([1, 2.5, 2.4, 3], (0.7, 0.9), points=72)
    values = {"Ax": 0.0, "Ay": 0.0, "ground": 3.0, "ground_angle": 0.0, "crank_angle": -math.pi}
    values |= {"crank": 1.0, "coupler": 2.5, "rocker": 2.4, "Px": 0.7, "Py": 0.9}
    pins, cosines = FOUR_BAR.positions(values, -math.pi + np.linspace(0, 2 * math.pi, 73), (1,))
    x, y = pins["P"]
    np.testing.assert_allclose(survey.extent[0], [x.min(), x.max(), y.min(), y.max()], atol=1e-12)
    np.testing.assert_allclose(survey.path_length[0], np.hypot(np.diff(x), np.diff(y)).sum(), atol=1e-12)
    np.testing.assert_allclose(survey.transmission[0], math.acos(np.abs(cosines[0]).max()), atol=1e-12)


def test_ranges_of_a_survey_are_those_of_circuits():
    lengths = [[2.0, 1.5, 2.1, 3.4], [2.0, 1.0, 2.1, 2.4]]
    survey = se.synthesis.survey_four_bars(lengths)
    for i, row in enumerate(lengths):
        low, high = survey.input_range[i]
        model = builders.four_bar(*row, crank_angle=0.5 * (low + high) + 0.01, speed=1)
        circuits = se.circuits(model)
        assert len(circuits) == survey.circuits[i]
        branch = circuits[0].branches[0]
        np.testing.assert_allclose([branch.low, branch.high], [low, high], atol=1e-9)


def test_a_survey_refuses_what_is_not_a_table_of_lengths():
    with pytest.raises(se.ModelError, match="rows of four"):
        se.synthesis.survey_four_bars([[1, 2, 3]])
    with pytest.raises(se.ModelError, match="at least 4"):
        se.synthesis.survey_four_bars([[1, 2, 3, 3]], points=2)
