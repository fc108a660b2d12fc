"""The course's files, proved on small ones written here: what each type means, what is refused."""

# ruff: noqa: E501  a mistake and its sentence stand on one line

from __future__ import annotations

import contextlib
import json
import re
import warnings
from math import atan2, pi
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import PLAIN, parts

import simengine2d as se
from loading import quietly, written
from simengine2d.errors import ModelError, ModelWarning, SimEngineError
from simengine2d.io import load, load_analysis, save, save_analysis
from simengine2d.io.adm_read_elements import CONSTRAINTS, FORCES
from simengine2d.model.frame import Frame

BODIES = [
    {
        "name": "crank",
        "id": 1,
        "mass": 2.0,
        "jbar": 0.3,
        "q0": [2, 0, 0.5],
        "qd0": [1, 2, 3],
        "vis": {"RGB": [1, 0, 0]},
    },
    {"name": "Long Rod", "id": 5, "mass": 3, "jbar": 1.5e-5, "q0": [7, 0, 0]},
]
ONE = {"body1": 1, "sP1": [-2, 0]}
TWO = {**ONE, "body2": 5, "sP2": [3, 1]}


def file(folder: Path, constraints: Any = (), forces: Any = (), name: str = "m.adm", **more: Any) -> Path:
    data = {"name": "test", "gravity": [0, -9.81], "bodies": BODIES, "constraints": list(constraints)}
    return written(folder, json.dumps(data | {"forces": list(forces)} | more, indent=1), name)


def problems(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        quietly(path)
    return str(caught.value)


A, B = Frame("crank", place=(-2, 0, 0.0)), Frame("Long Rod", place=(3, 1, 0.0))

MEANINGS = {
    "AbsoluteX": ({**ONE, "fun": "t^2"}, se.AbsoluteX("it", A, "t^2")),
    "AbsoluteY": ({**ONE, "fun": "NONE"}, se.AbsoluteY("it", A)),
    "AbsoluteAngle": ({"body1": 1, "fun": "2*pi*t"}, se.AbsoluteAngle("it", "crank", "2*pi*t")),
    "AbsoluteDistance": ({**ONE, "c": [1, 2], "fun": 3}, se.AbsoluteDistance("it", A, 3, (1, 2))),
    "RelativeX": ({**TWO, "fun": "1"}, se.RelativeX("it", A, B, "1")),
    "RelativeY": (TWO, se.RelativeY("it", A, B)),
    "RelativeAngle": ({**TWO, "fun": "t"}, se.RelativeAngle("it", "crank", "Long Rod", "t")),
    "RelativeDistance": ({**TWO, "fun": "4"}, se.RelativeDistance("it", A, B, "4")),
    "RevoluteJoint": ({**TWO, "fun": "NONE"}, se.Revolute("it", A, B)),
    "TranslationalJoint": (
        {**TWO, "vP1": [2, 0], "vP2": [0, -3]},
        se.Translational("it", A, Frame("Long Rod", place=(3, 1, -pi / 2))),
    ),
    "PointOnLine": ({**TWO, "vP1": [1, 2]}, se.PinSlot("it", Frame("crank", place=(-2, 0, atan2(2, 1))), B)),
    "RackPinion": (
        {**TWO, "sQ1": [-2, 1], "theta1": 0.25, "theta2": 0.75, "R2": 2},
        se.RackPinion("it", Frame("crank", place=(-2, 1, pi / 2)), B, 2, 2 * (0.25 - 0.75 + 3 * pi / 2 - pi / 2)),
    ),
    "PointForce": ({**ONE, "frame": "LRF", "funX": "t", "funY": 2}, se.PointForce("it", A, "t", 2, "body")),
    "PointForceFile": ({**ONE, "frame": "GRF", "mfile": "push"}, se.PointForce("it", A, law="push")),
    "forceFile": ({**ONE, "matlab_file": "push"}, se.PointForce("it", A, law="push")),
    "Torque": ({"body1": 1, "fun": "5"}, se.Torque("it", "crank", "5")),
    "torqueFile": ({"body1": 1, "mfile": "twist"}, se.Torque("it", "crank", law="twist")),
    "RSDA1": ({"body1": 1, "theta0": 1.0, "k": 25, "c": 5, "fun": "t"}, se.Spring("it", "angle(ground, crank)", 25, 5, 1.0, "t")),
    "RSDA2": ({"body1": 1, "body2": 5, "theta0": 1, "k": 2}, se.Spring("it", "angle(crank, 'Long Rod')", 2, 0.0, 1)),
    "RSDA": ({"body1": 5, "k": 2}, se.Spring("it", "angle(ground, 'Long Rod')", 2)),
    "TSDA": ({**TWO, "k": 1, "l0": 2, "c": 3}, se.Spring("it", "distance(crank.at(-2, 0), at('Long Rod', 3, 1))", 1, 3, 2)),
}  # fmt: skip


def test_every_type_of_the_table_is_tested():
    assert set(MEANINGS) == {*CONSTRAINTS, *FORCES}


@pytest.mark.parametrize("kind", MEANINGS)
def test_what_each_type_means(tmp_path, kind):
    fields, element = MEANINGS[kind]
    record = {"name": "it", "id": 7, "type": kind, **fields}
    section = {"constraints": [record]} if kind in CONSTRAINTS else {"forces": [record]}
    model = quietly(file(tmp_path, **section))
    assert model["it"] == element
    saved = quietly_saved(model, tmp_path / "b.adm")
    assert next(iter(section.values())) == saved[next(iter(section))]
    for ending in (".yaml", ".json"):
        other = quietly(save(model, tmp_path / f"b{ending}"))
        assert parts(other) == parts(model)
        assert quietly_saved(other, tmp_path / "c.adm") == saved


def quietly_saved(model: se.Model, path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return json.loads(save(model, path).read_text())


def test_rsda_of_two_bodies(tmp_path):
    record = {"name": "it", "id": 1, "type": "rsda", "body1": 1, "body2": 5}
    assert quietly(file(tmp_path, forces=[record]))["it"].measure == "angle(crank, 'Long Rod')"


def test_bodies_and_looks(tmp_path):
    model = quietly(file(tmp_path, vis={"xlim": [0, 1]}))
    crank = model["crank"]
    assert (crank.mass, crank.inertia, crank.position, crank.angle) == (2.0, 0.3, (2, 0), 0.5)
    assert (crank.velocity, crank.angular_velocity) == ((1, 2), 3)
    assert model["Long Rod"].velocity is None
    assert crank.look == {"id": 1, "vis": {"RGB": [1, 0, 0]}}
    assert model.look == {"vis": {"xlim": [0, 1]}}
    assert model.source == "m.adm"
    saved = quietly_saved(model, tmp_path / "b.adm")
    assert saved["bodies"] == BODIES
    assert saved["vis"] == {"xlim": [0, 1]}


def test_body_0_is_the_ground(tmp_path):
    ground = {"name": "base", "id": 0, "mass": 0, "jbar": 0, "q0": [0, 0, 0], "vis": {"RGB": [0, 0, 1]}}
    joint = {"name": "J", "id": 1, "type": "RevoluteJoint", **TWO, "body1": 0}
    model = quietly(file(tmp_path, [joint], bodies=[ground, *BODIES]))
    assert model["J"].a == Frame("ground", place=(-2, 0, 0.0))
    assert list(model.bodies) == ["crank", "Long Rod"]
    assert model.ground.look["vis"] == {"RGB": [0, 0, 1]}
    assert quietly_saved(model, tmp_path / "b.adm")["constraints"] == [joint]
    ground["q0"] = [1, 0, 0]
    assert "body id 0 is the ground, so its q0 must be [0, 0, 0]" in problems(file(tmp_path, bodies=[ground]))


def test_rack_and_pinion_rows_hold_where_the_course_says(tmp_path):
    """Worked by hand: the rack moves along x, the pinion at the origin turns by 0.3 rad; 0.2 * 0.3 = 0.06."""
    bodies = [
        {"name": "rack", "id": 1, "mass": 1, "jbar": 1, "q0": [1 - 0.06, 0.2, 0]},
        {"name": "pinion", "id": 2, "mass": 1, "jbar": 1, "q0": [0, 0, 0.3]},
    ]
    record = {"name": "rp", "id": 1, "type": "RackPinion", "body1": 1, "body2": 2, "sP1": [0, 0], "sQ1": [-1, 0],
              "sP2": [0, 0], "theta1": -pi, "theta2": pi / 2, "R2": 0.2}  # fmt: skip
    resolved = quietly(file(tmp_path, [record], bodies=bodies)).check()
    assert list(resolved.rows) == ["rp line", "rp"]
    for rows in resolved.rows.values():
        for row in rows:
            assert row.measure.drawn == pytest.approx(row.value, abs=1e-14)


# Names, dialects, warnings ----------------------------------------------------------------------------


def test_names_are_made_unique_with_a_warning(tmp_path):
    bodies = [
        {"id": 1, "mass": 1, "jbar": 1, "q0": [0, 0, 0]},
        {"name": "rod", "id": 2, "mass": 1, "jbar": 1, "q0": [0, 0, 0]},
        {"name": "rod", "id": 3, "mass": 1, "jbar": 1, "q0": [0, 0, 0]},
        {"name": "Ex 3.4", "id": 4, "mass": 1, "jbar": 1, "q0": [0, 0, 0]},
        {"name": "ground", "id": 5, "mass": 1, "jbar": 1, "q0": [0, 0, 0]},
    ]
    joints = [
        {"name": "rod", "id": 1, "type": "AbsoluteAngle", "body1": 3},
        {"type": "AbsoluteX", "body1": 2, "sP1": [0, 0]},
    ]
    path = file(tmp_path, joints, bodies=bodies)
    with pytest.warns(ModelWarning) as caught:
        model = load(path)
    assert list(model.bodies) == ["body 1", "rod", "rod 2", "Ex 3_4", "ground 2"]
    assert list(model.elements) == ["rod 3", "AbsoluteX"]
    assert model["rod 3"].frame.body == "rod 2"
    text = "\n".join(str(warning.message) for warning in caught)
    assert "body 3 has 'rod' in the file; it is called 'rod 2', for names are words and differ" in text
    assert "AbsoluteX has no name in the file; it is called 'AbsoluteX'" in text
    assert parts(quietly(save(model, tmp_path / "b.yaml"))) == parts(model)


def test_what_is_unknown_is_ignored_by_name_and_kept(tmp_path):
    body = BODIES[0] | {"color": "red"}
    joint = {"name": "x", "id": 1, "type": "AbsoluteX", **ONE, "fun": "0", "note": "mind"}
    loud = {"name": "r", "id": 2, "type": "RevoluteJoint", **TWO, "fun": "sin(t)"}
    path = file(tmp_path, [joint, loud, {}], bodies=[body, BODIES[1]], contacts=[{"r": 1}])
    with pytest.warns(ModelWarning) as caught:
        model = load(path)
    text = "\n".join(str(warning.message) for warning in caught)
    line = path.read_text().splitlines().index(' "contacts": [') + 1
    assert f"m.adm, line {line}: 'contacts' is unknown and ignored." in text
    assert "body 'crank' has the field 'color', which is unknown and ignored" in text
    assert "constraint 'x' (AbsoluteX) has note, which is unknown and ignored" in text
    assert "constraint 'r' (RevoluteJoint) has fun, which is unknown and ignored" in text
    assert "an empty record in constraints is ignored" in text
    saved = quietly_saved(model, tmp_path / "b.adm")
    assert saved["contacts"] == [{"r": 1}]
    assert saved["bodies"] == [body, BODIES[1]]
    assert saved["constraints"] == [joint, loud]


def test_arithmetic_and_missing_gravity(tmp_path):
    path = tmp_path / "m.adm"
    path.write_text('{"name": "n", "vis": {"bgRGB": [187/255, 98/255, 0]}, "bodies": []}')
    with pytest.warns(ModelWarning) as caught:
        model = load(path)
    assert model.look == {"vis": {"bgRGB": [187 / 255, 98 / 255, 0]}}
    text = "\n".join(str(warning.message) for warning in caught)
    assert "m.adm, line 1: 187/255 is not a JSON number; it is read as 0.733333" in text
    assert "there is no gravity; [0, -9.81] is taken" in text


def test_functions_for_mfiles(tmp_path):
    def push(t, q, qd):
        return 0.0, 0.0

    record = {"name": "F", "id": 1, "type": "PointForceFile", **ONE, "frame": "GRF", "mfile": "push"}
    path = file(tmp_path, forces=[record])
    with pytest.warns(ModelWarning, match=r"force 'F' has the law 'push', which was not given. Dynamics"):
        load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load(path, laws={"push": push})
    assert model["F"].law is push
    assert quietly_saved(model, tmp_path / "b.adm")["forces"] == [record]
    with pytest.raises(
        ModelError, match=r"PointForce 'F', law is the Python function push; a file holds no code"
    ):
        save(model, tmp_path / "b.yaml")


def test_a_changed_element_is_written_as_it_is_now(tmp_path):
    record = {"name": "it", "id": 4, "type": "TranslationalJoint", **TWO, "vP1": [2, 0], "vP2": [0, 5]}
    model = quietly(file(tmp_path, [record]))
    assert quietly_saved(model, tmp_path / "b.adm")["constraints"] == [record]
    model["it"].a = Frame("crank", place=(-1, 0, 0.0))
    changed = quietly_saved(model, tmp_path / "b.adm")["constraints"]
    assert changed == [record | {"sP1": [-1, 0], "vP1": [1, 0], "vP2": [0, 1], "id": 1, "fun": "NONE"}]


# Writing ----------------------------------------------------------------------------------------------


def test_a_model_of_our_own_becomes_a_course_file(tmp_path):
    m = se.Model("crank", parameters={"L": 2, "w": 3})
    crank = m.bar("crank", (0, 0), ("L", 0), mass=1)
    block = m.body("block", mass=1, inertia=1, at=(4, 0), velocity=(0, 0), points={"P": (0, 1)})
    rack = m.body("rack", mass=1, inertia=1, at=(4, -2))
    m.add(se.Revolute("O", m.ground, crank["start"]))
    m.add(se.Driver("motor", se.angle(m.ground, crank), "w*t"))
    m.add(se.Driver("lift", se.y(m.ground.at(1, 1), block["P"]), "sin(t)"))
    m.add(se.Translational("guide", m.ground, block, direction="90*deg"))
    m.add(se.RelativeAngle("turn", crank, block.at(0, 0, 0.5), "t"))
    m.add(se.RevoluteTranslational("arm", rack, block))
    m.add(se.RackPinion("rp", rack, block, 2))
    m.add(se.Spring("s", se.distance(crank["end"], block), 10, free="L"))
    m.add(se.Spring("rs", se.angle(crank, block.at(0, 0, 0.5)), 10))
    m.analysis = {"kind": "kinematics"}
    with pytest.warns(ModelWarning) as caught:
        data = json.loads(save(m, tmp_path / "m.adm").read_text())
    text = "\n".join(str(warning.message) for warning in caught)
    assert "the parameters L, w are written as their values" in text
    assert "the points of block lose their names" in text
    assert "the shapes of crank are written as masses and inertias" in text
    assert "crank, rack without a velocity: qd0 is left out" in text
    assert "save_analysis" in text
    assert data["bodies"][0] == {"name": "crank", "id": 1, "mass": 1, "jbar": 4 / 12, "q0": [1, 0, 0]}
    by_name = {record["name"]: record for record in data["constraints"] + data["forces"]}
    assert by_name["O"] == {"name": "O", "id": 1, "type": "RevoluteJoint", "body1": 0, "sP1": [0, 0], "body2": 1,
                            "sP2": [-1, 0], "fun": "NONE"}  # fmt: skip
    assert by_name["motor"] == {"name": "motor", "id": 2, "type": "AbsoluteAngle", "body1": 1, "fun": "3 * t"}
    assert by_name["turn"]["fun"] == "(t) - (0.5)"
    assert by_name["rs"]["theta0"] == -0.5
    assert by_name["s"]["l0"] == 2
    assert "arm" not in by_name
    back = quietly(tmp_path / "m.adm")
    ours, theirs = m.check().rows, back.check().rows
    drawn = {name: [row.measure.drawn for row in rows] for name, rows in theirs.items()}
    assert drawn["guide"] == pytest.approx([row.measure.drawn for row in ours["guide"]], abs=1e-12)
    for rows in (theirs["rp"], theirs["rp line"]):
        for row in rows:
            assert row.measure.drawn == pytest.approx(row.value, abs=1e-12)


def test_what_adm_cannot_hold_is_refused_by_name_all_at_once(tmp_path):
    m = se.Model("m")
    a, b = m.body("a", at=(0, 0)), m.body("b", at=(3, 0))
    m.add(se.Gear("g", a, b, radii=(1, 2)))
    m.add(se.Belt("belt", a, b, (1, 2)))
    m.add(se.Driver("along", se.along(a, b), "t"))
    m.add(se.Driver("table", se.angle(m.ground, a), se.Table((0, 1), (0, 1))))
    m.add(se.Driver("python", se.angle(m.ground, b), lambda t: t))
    m.add(se.RackPinion("rp", a, b, 1))
    m.add(se.Spring("s", se.across(a, b), 1))
    m.add(se.Torque("T", a, law=lambda t, q, qd: 0.0))
    with pytest.raises(ModelError) as caught:
        save(m, tmp_path / "m.adm")
    text = str(caught.value)
    assert len(caught.value.problems) == 8
    assert (
        "model 'm' is not saved as .adm: Gear 'g' is a Gear, which .adm does not have. It has AbsoluteX"
        in text
    )
    assert "Driver 'along' drives a measure other than x, y, angle or distance" in text
    assert "Driver 'table' follows a table; .adm has expressions of t only" in text
    assert "Driver 'python' follows a Python function" in text
    assert "RackPinion 'rp' needs a RevoluteTranslational" in text
    assert "Spring 's' acts on a measure other than distance or angle" in text
    assert "Torque 'T' has a Python function as its law" in text
    assert list(tmp_path.iterdir()) == []


# Mistakes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"type": "RevolutJoint"}, "constraint 'it' has the type RevolutJoint, which is unknown. Did you mean 'RevoluteJoint'? "
                                   "The types are AbsoluteX, AbsoluteY,"),
        ({}, "constraint 'it' has the type null, which is unknown"),
        ({"type": "AbsoluteX"}, "constraint 'it' (AbsoluteX) needs the field 'body1'"),
        ({"type": "AbsoluteX", "body1": 1}, "needs the field 'sP1'"),
        ({"type": "AbsoluteX", **ONE, "body1": 3}, "body1 is 3, which is the id of no body. The ids are 0 (ground), 1 (crank)"),
        ({"type": "AbsoluteX", **ONE, "body1": True}, "body1 is true, which is the id of no body"),
        ({"type": "AbsoluteX", **ONE, "sP1": [1]}, "sP1 is [1]; it must be two numbers [x, y]"),
        ({"type": "AbsoluteX", **ONE, "fun": [1]}, "fun is [1]; it must be an expression of t"),
        ({"type": "AbsoluteX", **ONE, "fun": "sinn(t)"}, "constraint 'it' (AbsoluteX): expression 'sinn(t)', column 1"),
        ({"type": "TranslationalJoint", **TWO, "vP1": [0, 0], "vP2": [1, 0]}, "constraint 'it' (TranslationalJoint): vP1 is "
                                                                              "[0, 0], which has no direction"),
        ({"type": "RackPinion", **TWO, "sQ1": [-2, 0], "R2": 1}, "sP1 and sQ1 are the same point"),
        ({"type": "RackPinion", **TWO, "sQ1": [-2, 1], "R2": "x"}, "R2 is x; it must be a number"),
    ],
)  # fmt: skip
def test_mistakes_in_constraints(tmp_path, record, sentence):
    found = problems(file(tmp_path, [{"name": "it", **record}]))
    assert sentence in found
    assert found.startswith("m.adm, line 4") or "problems were found" in found


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"type": "Spring"}, "force 'it' has the type Spring, which is unknown. The types are PointForce"),
        ({"type": "PointForceFile", **ONE}, "mfile is null; it must be the name of a function"),
        (
            {"type": "PointForce", **ONE, "frame": "XRF"},
            "frame is XRF; it must be GRF (global axes) or LRF (body axes)",
        ),
    ],
)
def test_mistakes_in_forces(tmp_path, record, sentence):
    assert sentence in problems(file(tmp_path, forces=[{"name": "it", **record}]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"id": None}, "body 'crank' has the id null; give each body a whole number"),
        ({"id": 5}, "body 'Long Rod' has the id 5, as 'crank' has. Give it another."),
        ({"mass": "x"}, "body 'crank': mass is x; it must be a number"),
        ({"mass": -1}, "body 'crank', mass = -1 is negative"),
        ({"q0": [1, 2]}, "body 'crank': q0 is [1, 2]; it must be 3 numbers"),
        ({"qd0": 3}, "body 'crank': qd0 is 3; it must be 3 numbers"),
    ],
)
def test_mistakes_in_bodies(tmp_path, change, sentence):
    assert sentence in problems(file(tmp_path, bodies=[BODIES[0] | change, BODIES[1]]))


def test_more_mistakes(tmp_path):
    assert "body 'x' needs the field 'q0'" in problems(file(tmp_path, bodies=[{"name": "x", "id": 1}]))
    assert "bodies is 3; it must be a list of records" in problems(file(tmp_path, bodies=3))
    assert "bodies holds 3; it must hold records" in problems(file(tmp_path, bodies=[3]))
    assert "the model: gravity is 3; it must be 2 numbers" in problems(file(tmp_path, gravity=3))
    (tmp_path / "l.adm").write_text("[1]")
    assert "l.adm holds [1], which is not a course model" in problems(tmp_path / "l.adm")


@pytest.mark.parametrize(
    "text",
    [
        "! MSC Adams model\nADAMS/View model_1\n",
        "ADAMS/View model name: pendulum\n",
        "  PART/1, GROUND\n",
        "MARKER/1, PART = 1\n",
        "SIMULATE/DYNAMIC, END=5.0, STEPS=500\nSTOP\n",
        "simulate/kinematics, end=1, steps=100\n",
    ],
)
@pytest.mark.parametrize("name", ["a.adm", "a.acf"])
def test_files_of_msc_adams_are_recognized(tmp_path, text, name):
    path = tmp_path / name
    path.write_text(text)
    read = load if name == "a.adm" else load_analysis
    with pytest.raises(
        ModelError,
        match=r"is a text file of MSC Adams. Here .adm \(model\) and .acf \(analysis\) are the JSON",
    ):
        read(path)


# Analyses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Kinematics", "kinematics"), ("DYNAMICS", "dynamics"), ("inversedynamics", "inverse_dynamics"),
        ("Equilibrium", "equilibrium"),
    ],
)  # fmt: skip
def test_analyses(tmp_path, word, kind):
    path = tmp_path / "a.acf"
    path.write_text(json.dumps({"simulation": word, "tend": 4, "stepSize": 0.01, "outputSteps": 400}))
    analysis = load_analysis(path)
    assert analysis == {"kind": kind, "t_end": 4.0, "step": 0.01, "output_steps": 400}
    assert load_analysis(save_analysis(analysis, tmp_path / "b.acf")) == analysis


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"simulation": "Kinematic"}, "the simulation Kinematic is unknown. Did you mean 'Kinematics'?"),
        ({"simulation": None}, "the field 'simulation' is missing"),
        ({"tend": 0}, "tend is 0; it must be a positive number"),
        ({"tend": None}, "the field 'tend' is missing"),
        ({"stepSize": -0.5}, "stepSize is -0.5; it must be a positive number"),
        ({"stepSize": "x"}, "stepSize is x; it must be a positive number"),
        ({"outputSteps": True}, "outputSteps is true; it must be a positive number"),
        ({"outputSteps": 2.5}, "outputSteps is 2.5; it must be a whole number"),
    ],
)
def test_mistakes_in_analyses(tmp_path, change, sentence):
    data = {"simulation": "Dynamics", "tend": 4, "stepSize": 0.01, "outputSteps": 400} | change
    (tmp_path / "a.acf").write_text(json.dumps(data))
    with pytest.raises(ModelError) as caught:
        load_analysis(tmp_path / "a.acf")
    assert sentence in str(caught.value)


def test_more_mistakes_in_analyses(tmp_path):
    good = {"kind": "dynamics", "t_end": 1, "step": 0.1, "output_steps": 10}
    with pytest.raises(ModelError, match=r"no analysis 'dynamic'. Did you mean 'dynamics'\?"):
        save_analysis(good | {"kind": "dynamic"}, tmp_path / "a.acf")
    with pytest.raises(ModelError, match="the analysis has no step"):
        save_analysis({"kind": "dynamics", "t_end": 1, "output_steps": 3}, tmp_path / "a.acf")
    with pytest.raises(ModelError, match="tend is"):
        save_analysis(good | {"t_end": float("nan")}, tmp_path / "a.acf")
    (tmp_path / "m.acf").write_text('{"bodies": []}')
    with pytest.raises(ModelError, match="holds a model, not an analysis"):
        load_analysis(tmp_path / "m.acf")
    (tmp_path / "s.acf").write_text(
        '{"simulation": "Dynamics", "tend": 4, "stepSize": 1, "outputSteps": 4, "h": 1}'
    )
    with pytest.warns(ModelWarning, match="h is unknown and ignored"):
        load_analysis(tmp_path / "s.acf")


# Anything else ----------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    [
        "name",
        "id",
        "type",
        "body1",
        "body2",
        "sP1",
        "sP2",
        "vP1",
        "vP2",
        "fun",
        "mass",
        "jbar",
        "q0",
        "R2",
        "sQ1",
    ]
)
VALUES = st.one_of(
    PLAIN,
    st.sampled_from([0, 1, [0, 0], [1, 0, 0], "t", "crank", "NONE"]),
    st.sampled_from([*CONSTRAINTS, *FORCES]),
)
RECORDS = st.dictionaries(KEYS, VALUES)
SECTIONS = ["name", "gravity", "vis", "bodies", "constraints", "forces", "x"]


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(SECTIONS), st.one_of(PLAIN, st.lists(RECORDS, max_size=3))), RECORDS)
@settings(max_examples=400, deadline=None)
def test_any_structure_is_a_model_or_a_sentence(tmp_path_factory, data, joint):
    path = tmp_path_factory.getbasetemp() / "any.adm"
    for content in (data, {"bodies": BODIES, "constraints": [joint], "forces": [joint]}):
        path.write_text(json.dumps(content))
        with contextlib.suppress(SimEngineError):
            assert isinstance(quietly(path), se.Model)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2^3^2*t", 64.0),
        ("2.^3.^2 .* t", 64.0),
        ("2^-1^2", 0.25),
        ("-2^2", -4.0),
        ("-2^-2", -0.25),
        ("2^(3^2)*t", 512.0),
        ("3 - 2 - 1", 0.0),
        ("8 ./ 4 ./ 2", 1.0),
        ("-t^2^3 + 2", 1.0),
        ("2*t^2^2/4", 0.5),
        ("(t > 0) & (t < 2) | (t == 7)", 1.0),
        ("~(t == 1) + 2", 2.0),
        ("1 | 0 & 0", 1.0),
        ("2^+3", 8.0),
    ],
)
def test_operators_mean_what_they_mean_in_matlab(tmp_path, text, value):
    """Powers associate to the left there; and what is written again means the same in MATLAB."""
    record = {"name": "it", "type": "AbsoluteX", "body1": 1, "sP1": [0, 0], "fun": text}
    model = load(file(tmp_path, [record]))
    assert se.System(model).functions[0](1.0) == pytest.approx(value)
    with pytest.warns(ModelWarning):
        model.save(tmp_path / "again.adm")
    assert se.System(load(tmp_path / "again.adm")).functions[0](1.0) == pytest.approx(value)


def test_powers_of_powers_are_written_with_parentheses(tmp_path):
    model = load(file(tmp_path, [{"name": "it", "type": "AbsoluteX", "body1": 1, "sP1": [0, 0], "fun": "t"}]))
    model["it"].value = "2^3^2*t"  # in Python and YAML this is 2^(3^2)
    with pytest.warns(ModelWarning):
        model.save(tmp_path / "again.adm")
    assert se.System(load(tmp_path / "again.adm")).functions[0](1.0) == 512.0


# What is read back ------------------------------------------------------------------------------------


def pendulum(**options: Any) -> tuple[se.Model, Any]:
    m = se.Model("p", gravity=(0, -9.81), parameters={"w": 2})
    body = m.body("b", mass=1, inertia=1, at=(1, 0), points={"P": (0.1, 0.2, "pi/2")}, **options)
    m.add(se.Revolute("O", m.ground, body.at(-1, 0)))
    return m, body


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (lambda b: se.Spring("s", se.distance(Frame("ground"), b), 1, law="100*s^3"), "Spring 's' has a law"),
        (lambda b: se.Spring("s", se.distance(Frame("ground"), b), law=se.Table(of="s", points=(0, 9), values=(0, 1))),
         "Spring 's' has a law"),
        (lambda b: se.PointForce("f", b, fx="-xd"), "PointForce 'f' reads xd; .adm has expressions of t only"),
        (lambda b: se.PointForce("f", b["P"], axes="body", law="wind"), "the axes of a point turned by 1.5708 rad"),
        (lambda b: se.Torque("f", b, "sin(phi)"), "Torque 'f' reads phi"),
        (lambda b: se.Torque("f", b, se.Table((0, 1), (0, 1))), "Torque 'f' follows a table"),
    ],
)  # fmt: skip
def test_laws_that_adm_cannot_hold_are_refused(tmp_path, element, words):
    m, body = pendulum()
    m.add(element(body))
    with pytest.raises(ModelError, match=re.escape(words)):
        save(m, tmp_path / "m.adm")
    assert list(tmp_path.iterdir()) == []


def test_a_force_in_the_axes_of_a_point_turns_with_it(tmp_path):
    m, body = pendulum()
    m.add(se.PointForce("f", body["P"], fx="w*t", fy=3, axes="body"))
    with pytest.warns(ModelWarning):
        back = quietly(save(m, tmp_path / "m.adm"))
    load, other = (next(iter(x.check().elements["f"].loads())) for x in (m, back))
    assert (load.fx(2.0), load.fy(2.0)) == (4.0, 3.0)
    assert (other.fx(2.0), other.fy(2.0)) == pytest.approx((-3.0, 4.0))


@pytest.mark.parametrize("given", [{"angular_velocity": 5}, {"velocity": (0, 2)}])
def test_velocities_given_in_part_are_written_whole(tmp_path, given):
    m, _ = pendulum(**given)
    with pytest.warns(ModelWarning, match="the velocities of b were given in part"):
        back = quietly(save(m, tmp_path / "m.adm"))
    assert back.bodies["b"].angular_velocity == pytest.approx(given.get("angular_velocity", 2))
    assert se.assemble(back).qd == pytest.approx(se.assemble(m).qd, abs=1e-12)


def test_a_mechanism_that_is_drawn_open_starts_alike(tmp_path):
    """How far each body moves to close a joint follows the sizes of the model, of which .adm holds fewer."""
    m = se.Model("open")
    a, b = m.body("a", mass=1, inertia=1), m.body("b", mass=1, inertia=1, at=(1, 0.5))
    m.add(se.RelativeAngle("turn", a.at(0, 5, 0.7), b, 0.3))
    m.add(se.Revolute("O", a.at(0.5, 0), b.at(-0.5, 0.2)))
    with pytest.warns(ModelWarning, match="joints are open as drawn"):
        back = quietly(save(m, tmp_path / "m.adm"))
    assert se.assemble(back).q == pytest.approx(se.assemble(m).q, abs=1e-12)


def test_what_is_lost_is_told_by_name(tmp_path):
    m, body = pendulum()
    m.ground.points["G"] = (1, 2)
    body.look["color"] = "red"
    m.ground.look["hatch"] = False
    m.look["frame"] = [0, 1]
    with pytest.warns(ModelWarning) as caught:
        save(m, tmp_path / "m.adm")
    text = "\n".join(str(warning.message) for warning in caught)
    for words in (
        "points of ground, b lose",
        "look ground.hatch, b.color of bodies is left out",
        "look frame is left out",
    ):
        assert words in text


def test_a_look_that_is_no_data_is_refused(tmp_path):
    m, body = pendulum()
    body.look["vis"] = {"RGB": object()}
    with pytest.raises(ModelError, match="a look holds object"):
        save(m, tmp_path / "m.adm")


def test_a_writer_that_errs_is_found_out(tmp_path, monkeypatch):
    """The comparison would have seen each of the losses that there were."""
    from simengine2d.io import adm_write_elements

    m, body = pendulum()
    m.add(se.Spring("s", se.distance(m.ground.at(0, 3), body), stiffness=10, free=1))
    right = adm_write_elements.WRITERS["Spring"]
    monkeypatch.setitem(adm_write_elements.WRITERS, "Spring", lambda draft: right(draft) | {"k": 9})
    with pytest.raises(ModelError, match="Spring 's' would not read back as it is"):
        save(m, tmp_path / "m.adm")


def test_what_an_analysis_file_cannot_hold_is_told(tmp_path):
    analysis = {
        "kind": "dynamics",
        "t_end": 1,
        "step": 0.1,
        "output_steps": 10,
        "integrator": "rk4",
        "rtol": 1e-8,
    }
    with pytest.warns(ModelWarning, match="no place for integrator, rtol"):
        save_analysis(analysis, tmp_path / "a.acf")
