"""The files of the ME451 course (University of Wisconsin-Madison), as far as they lie beside the repository.

Source: R. Serban, simEngine2D, Models/. They are data of others and not part of this project; the tests are
skipped where the folder is absent. `tests/unit/test_adm.py` proves the reader without them.
"""

from __future__ import annotations

import json
import warnings
from math import cos, sin

import pytest
from course import COURSE, PROBLEMS, problem

from loading import quietly
from simengine2d.errors import ModelWarning
from simengine2d.io import load, load_analysis, save
from simengine2d.model.measure import KINDS, value

NOT_STRICT = "shurikenCatapult.adm"

pytestmark = pytest.mark.skipif(not COURSE.is_dir(), reason="the course files are not here")

MODELS = sorted(COURSE.glob("*.adm"))
ANALYSES = sorted(COURSE.glob("*.acf"))
by_name = {"ids": lambda path: path.name}


def test_they_are_all_here():
    assert (len(MODELS), len(ANALYSES)) == (19, 6)


@pytest.mark.parametrize("path", MODELS, **by_name)
def test_every_model_loads(path):
    model = quietly(path)
    assert model.bodies
    assert model.joints


@pytest.mark.parametrize("path", [path for path in MODELS if path.name != NOT_STRICT], **by_name)
def test_every_strict_model_comes_back_the_same(path, tmp_path):
    expected = json.loads(path.read_text())
    model = quietly(path)
    assert json.loads(save(model, tmp_path / "a.adm").read_text()) == expected
    through_yaml = quietly(save(model, tmp_path / "a.yaml"))
    assert through_yaml.elements == model.elements
    assert through_yaml.bodies == model.bodies
    assert json.loads(save(through_yaml, tmp_path / "b.adm").read_text()) == expected


@pytest.mark.parametrize("path", ANALYSES, **by_name)
def test_every_analysis_loads(path):
    raw = json.loads(path.read_text())
    analysis = load_analysis(path)
    assert analysis["kind"] == raw["simulation"].lower()
    assert (analysis["t_end"], analysis["step"]) == (raw["tend"], raw["stepSize"])
    assert analysis["output_steps"] == raw["outputSteps"]


def test_the_file_that_is_not_strict_says_what_it_ignored(tmp_path):
    with pytest.warns(ModelWarning) as caught:
        model = load(COURSE / NOT_STRICT)
    text = "\n".join(str(warning.message) for warning in caught)
    assert "187/255 is not a JSON number" in text
    assert "98/255 is not a JSON number" in text
    assert "an empty record in forces is ignored" in text
    assert "'contacts' is unknown and ignored" in text
    assert len(caught) == 4
    assert (len(model.bodies), len(model.joints), len(model.forces)) == (5, 11, 0)
    saved = json.loads(save(model, tmp_path / "a.adm").read_text())
    assert saved["vis"]["bgRGB"] == [187 / 255, 98 / 255, 0]
    assert len(saved["contacts"]) == 3


def test_the_mfile_of_project_2_takes_a_function():
    with pytest.warns(ModelWarning, match="law 'pistonForce', which was not given"):
        load(COURSE / "project2.adm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load(COURSE / "project2.adm", laws={"pistonForce": lambda t, q, qd: (0.0, 0.0)})
    assert callable(model["force"].law)


@pytest.mark.skipif(not PROBLEMS.is_file(), reason="the reference values are not here")
def test_rows_of_rack_and_pinion_hold_in_the_reference_motion():
    """At t = 5 s, to 1e-10: the reference solved the course's own equations to 1e-13."""
    oracle = problem("rack_pinion")["fixed_step_oracle"][0]
    q = dict(zip(("rack", "pinion"), (oracle["q"][:3], oracle["q"][3:]), strict=True))
    resolved = quietly(COURSE / "rack_pinion.adm").check()
    assert q["rack"][0] == 1.0524749706793237
    count = 0
    for rows in resolved.rows.values():
        for row in rows:
            target = row.value if isinstance(row.value, float) else row.value(oracle["t"])
            assert sum(measured(term, q) for term in row.measure.terms) == pytest.approx(target, abs=1e-10)
            count += 1
    assert count == 6


def measured(term, q) -> float:
    """The value of a term where the bodies stand at q = (x, y, phi)."""
    places = []
    for frame in (term.a, term.b):
        x, y, phi = q.get(frame.body, (0.0, 0.0, 0.0))
        c, s = cos(phi), sin(phi)
        places.append((x + c * frame.x - s * frame.y, y + s * frame.x + c * frame.y, phi + frame.angle))
    (xa, ya, a), (xb, yb, b) = places
    return term.weight * value(KINDS[term.kind], xb - xa, yb - ya, cos(a), sin(a), cos(b), sin(b), a, b)
