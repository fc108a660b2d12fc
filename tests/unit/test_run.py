"""One call for a file and its analysis; laws that a file only names are given as expressions."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from loading import written
from simengine2d import cli
from simengine2d.cli import terminal

COURSE_MODEL = {
    "name": "piston",
    "gravity": [0, 0],
    "bodies": [{"name": "piston", "id": 1, "mass": 2, "jbar": 1, "q0": [0, 0, 0], "qd0": [0, 0, 0]}],
    "constraints": [
        {"name": "rail", "id": 1, "type": "AbsoluteY", "body1": 1, "sP1": [0, 0]},
        {"name": "upright", "id": 2, "type": "AbsoluteAngle", "body1": 1},
    ],
    "forces": [
        {
            "name": "gas", "id": 1, "type": "PointForceFile", "body1": 1, "sP1": [0, 0], "frame": "GRF",
            "mfile": "pistonForce",
        }
    ],
}  # fmt: skip
ANALYSIS = {"simulation": "Dynamics", "tend": 1, "stepSize": 0.01, "outputSteps": 100}
LAW = "6*t - 0*x, 0"


@pytest.fixture
def files(tmp_path):
    model = written(tmp_path, json.dumps(COURSE_MODEL), "piston.adm")
    return model, written(tmp_path, json.dumps(ANALYSIS), "piston.acf")


@pytest.fixture(autouse=True)
def fresh_settings():
    yield
    terminal.Settings.laws, terminal.Settings.json = {}, False


def command(*words):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "200"})


@pytest.mark.parametrize("law", [LAW, ("6*t", 0), lambda t, q, qd: (6 * t, 0)])
def test_a_course_model_with_its_analysis(files, law):
    r = se.run(*files, laws={"pistonForce": law})
    assert r.t.size == 101 and "Used: newmark, the course's method" in r.notes[0]
    # m xdd = 6 t by Newmark's method, whose error is of first order in the step with gamma = 0.6
    np.testing.assert_allclose(r["piston.x"][-1], 0.5, atol=0.01)
    np.testing.assert_allclose(r["piston.xdd"], 3 * r.t, atol=1e-8)


def test_the_same_on_the_command_line(files):
    shown = command("run", *files, "--law", f"pistonForce={LAW}", "--json")
    assert shown.exit_code == 0, shown.output
    r = se.run(*files, laws={"pistonForce": LAW})
    np.testing.assert_allclose(json.loads(shown.stdout)["bodies"]["piston"]["x"][1], r["piston.x"].max())


@pytest.mark.filterwarnings("ignore::simengine2d.ModelWarning")
def test_a_missing_law_says_what_to_type(files):
    with pytest.raises(se.UnsupportedError) as error:
        se.run(*files)
    sentence = str(error.value)
    assert "laws={'pistonForce': 'FX, FY'}" in sentence
    typed = (
        re.search(r"--law (\S+='.*?')", sentence)[1].replace("'", "").replace("FX", "t").replace("FY", "0")
    )
    assert command("run", *files, "--law", typed).exit_code == 0
    shown = command("run", *files)
    assert (shown.exit_code, "--law pistonForce=" in shown.output) == (3, True)


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        ("t", "it must be two expressions, 'FX, FY'"),
        ("t, z", "unknown name 'z'"),
    ],
)
def test_wrong_laws(files, law, sentence):
    with pytest.raises(se.ModelError, match=sentence):
        se.run(*files, laws={"pistonForce": law})


def test_a_law_that_nothing_follows(files):
    with pytest.warns(
        se.ModelWarning, match="no force follows the law 'pistonForze'. Did you mean 'pistonForce'"
    ):
        se.load(files[0], laws={"pistonForce": LAW, "pistonForze": LAW})
    assert "write NAME=EXPRESSION" in command("run", *files, "--law", "pistonForce").output


def test_what_a_model_asks_for():
    r = se.run("four_bar")
    assert r.analysis == "kinematics"
    m = se.Model("stone")
    m.body("stone", mass=1, inertia=1)
    r = se.run(m)
    assert r.analysis == "dynamics" and r.t[-1] == 5.0
    assert "Assumed: dynamics from 0 to 5 s" in r.notes[0]
    m.analysis = {"kind": "dynamics", "t_end": 2}
    assert se.run(m).t[-1] == 2.0


def test_commas_inside_parentheses(tmp_path):
    text = "bodies: {a: {mass: 1, inertia: 1}}\nforces:\n  T: {type: Torque, frame: a, law: turn}\n"
    model = se.load(written(tmp_path, text), laws={"turn": "atan2(t, 1)"})
    assert (model["T"].value, model["T"].law) == ("atan2(t, 1)", None)
