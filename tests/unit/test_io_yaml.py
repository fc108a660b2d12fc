"""Our own format: what is written is read back equal, and every mistake gets its sentence."""

# ruff: noqa: E501  a mistake and its sentence stand on one line

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_models import NAMES, NUMBERS, PLAIN, elements, frames, models, parts

import simengine2d as se
from loading import quietly, written
from simengine2d.errors import ConvergenceError, ModelError, ModelWarning, SimEngineError
from simengine2d.expressions.function import as_function
from simengine2d.io import load, save
from simengine2d.io.files import Document
from simengine2d.io.json_reader import read_json
from simengine2d.io.model_reader import read_model
from simengine2d.io.model_writer import model_data
from simengine2d.io.text_writer import to_json, to_yaml
from simengine2d.io.yaml_reader import FAST_LOADER, read_yaml
from simengine2d.model.elements import FrameField, Number
from simengine2d.model.frame import as_frame
from simengine2d.model.registry import element_class, element_names

SLIDER_CRANK = """\
simengine2d: 1            # the version of the format
name: slider-crank
gravity: [0, -9.81]
parameters: {crank: 2, rod: 3*crank}
ground: {points: {O: [0, 0]}}
bodies:
  crank: {mass: 2, inertia: 0.3, at: [crank/2, 0], angle: 30*deg, points: {O: [-2, 0], A: [2, 0, 90*deg]}}
  rod: {shape: bar, start: [0, 0], end: [rod, 0], mass: 1}
  slider: {mass: 5, inertia: 0.5, at: [10, 0], velocity: [0, 0], angular_velocity: 1, look: {color: red}}
joints:
  O: {type: Revolute, a: ground, b: crank.O}
  guide: {type: Translational, a: ground, b: slider, direction: [1, 0]}
  P: {type: PinSlot, a: {body: rod, at: [0.5, 0, 10*deg]}, b: crank.A}
  motor: {type: driver, measure: "angle(ground, crank)", value: 2*pi*t}
  table: {type: Driver, measure: "x(ground, slider)", value: {times: [0, 1, 2], values: [0, 1, 0], periodic: true}}
forces:
  spring: {type: Spring, measure: "distance(ground.O, rod.end)", stiffness: 100, free: 1}
analysis: {kind: kinematics, t_end: 2, step: 0.01}
look: {grid: true}
"""


def problems(folder: Path, text: str | bytes, name: str = "model.yaml") -> str:
    with pytest.raises(ModelError) as caught:
        load(written(folder, text, name))
    return str(caught.value)


def unchecked(document: Document) -> se.Model:
    """The model as written, without asking whether its numbers make sense."""
    with mock.patch.object(se.Model, "check"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return read_model(document, Path(), None)


# Reading ----------------------------------------------------------------------------------------------


def test_the_sample_is_read(tmp_path):
    model = load(written(tmp_path, SLIDER_CRANK))
    assert model.name == "slider-crank"
    assert model.source == "model.yaml"
    assert model.parameters == {"crank": 2, "rod": "3*crank"}
    assert model["crank"].points["A"] == (2, 0, "90*deg")
    assert model["crank"].velocity is None
    assert model["rod"].shape == se.Bar((0, 0), ("rod", 0))
    assert model["slider"].look == {"color": "red"}
    assert model["P"].a == se.Frame("rod", place=(0.5, 0, "10*deg"))
    assert model["guide"].direction == (1, 0)
    assert model["table"].value == se.Table((0, 1, 2), (0, 1, 0), True)
    assert list(model.joints) == ["O", "guide", "P", "motor", "table"]
    assert model.analysis == {"kind": "kinematics", "t_end": 2, "step": 0.01}
    assert model.look == {"grid": True}


def test_the_public_names(tmp_path):
    model = se.load(written(tmp_path, SLIDER_CRANK))
    assert parts(se.load(model.save(tmp_path / "copy.yml"))) == parts(model)


def test_an_almost_empty_file_is_a_model(tmp_path):
    assert load(written(tmp_path, "name: nothing\nbodies:\njoints:\n")).bodies == {}


def test_unknown_endings_are_judged_by_content(tmp_path):
    assert load(written(tmp_path, SLIDER_CRANK, "a.txt")).name == "slider-crank"
    assert load(written(tmp_path, '{"name": "j"}', "a.model")).name == "j"
    assert load(written(tmp_path, '{"gravity": [0, 0], "bodies": []}', "b.model")).gravity == (0, 0)


def test_a_table_in_a_file(tmp_path):
    (tmp_path / "motion.csv").write_text("t,x\n0,0\n1,2\n")
    text = 'bodies: {a: {}}\njoints: {m: {type: Driver, measure: "x(ground, a)", value: {file: %s}}}'
    model = load(written(tmp_path, text % "motion.csv, time: t, value: x"))
    assert model["m"].value == se.Table((0, 1), (0, 2))
    assert load(written(tmp_path, text % "motion.csv"))["m"].value == se.Table((0, 1), (0, 2))
    assert "line 2: joint 'm' (Driver): the table ../x.csv lies outside the folder" in problems(
        tmp_path, text % "../x.csv"
    )
    assert "the table /etc/passwd lies outside" in problems(tmp_path, text % "/etc/passwd")
    assert "the table no.csv does not exist in" in problems(tmp_path, text % "no.csv")
    assert "has no column 'y'" in problems(tmp_path, text % "motion.csv, value: y")


def test_laws_get_their_functions(tmp_path):
    text = "bodies: {a: {}}\nforces:\n  F: {type: PointForce, frame: a, law: push}\n"
    path = written(tmp_path, text)
    with pytest.warns(
        ModelWarning, match=r"model.yaml, line 3: force 'F' has the law 'push', which was not given"
    ):
        assert load(path)["F"].law == "push"
    with pytest.warns(ModelWarning, match=r"the laws given are pusch.*laws={\"push\": ...}"):
        load(path, laws={"pusch": print})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(path, laws={"push": print})["F"].law is print
    with pytest.raises(ModelError, match=r"laws\['push'\] is None; it must be an expression"):
        load(path, laws={"push": None})
    with pytest.raises(
        ModelError, match=r"the law 'push' of PointForce 'F' is 3; it must be two expressions"
    ):
        load(path, laws={"push": 3})


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True), ("False", False), ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("null", None),
        ("~", None), ("12", 12), ("-12", -12), ("0o17", 15), ("0x1F", 31), ("017", 17), ("1e5", 1e5), ("1.", 1.0),
        (".5", 0.5), ("-1.5e-3", -1.5e-3), ("12:30", "12:30"), ("1_000", "1_000"), ("2020-01-01", "2020-01-01"),
        ("2*pi", "2*pi"), ("e", "e"),
    ],
)  # fmt: skip
def test_words_mean_what_yaml_1_2_says(word, value):
    found = read_yaml(f"a: {word}", "f").data["a"]
    assert found == value
    assert type(found) is type(value)


# Both parsers of PyYAML -------------------------------------------------------------------------------

SHARDS = ["bodies", "joints", "forces", "constraints", "type", "Revolute", "a", "ground", "name", "{", "}", "[", "]", ":",
          ": ", ", ", "\n", "\n  ", "- ", '"', "'", "1", "1e5", "&x", "*x", "!t", "t", "id", "q0", "body1", "#", " #", "...",
          "\n---\n", "|", "|-", ">", "? ", "?", "\t", "\ufeff", "\x85", "\u2028", "é", "\\", "%", "@", "\r\n", "::"]  # fmt: skip


def outcome(text: str) -> Any:
    """Everything that comes out of a text: data, lines and problems, or a sentence."""
    try:
        document = read_yaml(text, "f")
    except ModelError as error:
        return str(error)
    return repr(document.data), document.lines, document.collected


@pytest.mark.slow
@pytest.mark.skipif(FAST_LOADER is None, reason="PyYAML was built without its parser in C")
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(SHARDS), max_size=30).map("".join)))
@settings(max_examples=500, deadline=None)
def test_the_fast_parser_agrees_with_the_plain_one(text):
    fast = outcome(text)
    with mock.patch("simengine2d.io.yaml_reader.FAST_LOADER", None):
        assert outcome(text) == fast


def test_lines_of_the_sample_are_the_same_with_both_parsers():
    fast = outcome(SLIDER_CRANK)
    with mock.patch("simengine2d.io.yaml_reader.FAST_LOADER", None):
        assert outcome(SLIDER_CRANK) == fast
    assert fast[1][("joints", "guide")] == 12


# Places in bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("crank.at(0.5, 0)", se.Frame("crank", place=(0.5, 0, 0))),
        ("crank.at(-2, 1e-3, 90*deg)", se.Frame("crank", place=(-2, 0.001, "90 * deg"))),
        ("at('Long Rod', L/2, 0)", se.Frame("Long Rod", place=("L / 2", 0, 0))),
        ('at("crank", 1, 2, 0.3)', se.Frame("crank", place=(1, 2, 0.3))),
        ("at.at(1, 2)", se.Frame("at", place=(1, 2, 0))),
        ("crank.at", se.Frame("crank", "at")),
    ],
)
def test_a_frame_is_read_from_its_text(tmp_path, text, frame):
    assert as_frame(text) == frame
    assert se.Revolute("A", text, "ground").a == frame
    assert se.angle("ground", text).terms[0].b == frame
    assert list(se.Driver("d", f"x(ground, {text})", 0).frames()) == [se.Frame("ground"), frame]
    record = {"type": "Revolute", "a": text, "b": "ground"}
    data = {
        "parameters": {"L": 1},
        "bodies": {frame.body: {"points": {"at": [1, 0]}}},
        "joints": {"J": record},
    }
    for write, ending in ((to_yaml, "yaml"), (to_json, "json")):
        model = load(written(tmp_path, write(data), f"a.{ending}"))
        assert model["J"].a == frame
        assert parts(load(save(model, tmp_path / f"b.{ending}"))) == parts(model)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=80, deadline=None)
def test_the_text_of_any_frame_reads_back(data):
    model = se.Model("m")
    body = model.body(data.draw(NAMES))
    body.points[data.draw(NAMES)] = (0, 0)
    frame = data.draw(frames(model))
    if frame.place is not None:
        assume(not any(isinstance(part, str) for part in frame.place))  # their spaces may differ
        frame = replace(frame, place=tuple(map(float, frame.place)))
    assert as_frame(frame.text) == frame


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("crank.at(1)", "'crank.at(1)': a position in a body has two coordinates and optionally an angle"),
        ("at(1, 2)", "a frame is written crank, crank.A or crank.at(0.5, 0), not at(1, 2)"),
        ("2*crank.at(1, 2)", "a frame is written"),
        ("crank.att(1, 2)", "unknown function 'crank.att'"),
        ("crank.at(1, 2", "found the end where ')' is expected"),
        (
            "crnk.at(1, 2)",
            "joint 'J' refers to body 'crnk', which is not in the model. Did you mean 'crank'?",
        ),
    ],
)
def test_a_text_that_is_no_frame_gets_its_sentence(tmp_path, text, sentence):
    found = problems(
        tmp_path, f'bodies: {{crank: {{}}}}\njoints:\n  J: {{type: Revolute, a: "{text}", b: ground}}'
    )
    assert found.startswith("model.yaml, line 3: joint 'J'")
    assert sentence in found


def test_a_comma_without_quotes_is_told(tmp_path):
    text = "bodies: {crank: {}}\njoints:\n  J: {type: Revolute, a: crank.at(0.5, 0), b: ground}"
    assert "joint 'J' (Revolute): '0)' comes after a comma. Put text with a comma in quotes." in problems(
        tmp_path, text
    )


# Round trips ------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(models())
@settings(max_examples=80, deadline=None)
def test_random_models_come_back_equal(model):
    data = model_data(model)
    for text in (to_yaml(data, ("bodies", "joints", "forces")), to_json(data)):
        back = unchecked((read_json if text.startswith("{") else read_yaml)(text, "f"))
        assert parts(back) == parts(model)
        assert repr(model_data(back)) == repr(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", element_names())
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_every_registered_type_comes_back_equal(name, data):
    model = se.Model("m")
    model.body("crank", points={"A": (1, 0)})
    model.body("Long Rod", points={"e": (1, 0, "90*deg")})
    model.elements["it"] = data.draw(elements(element_class(name), "it", model))
    back = unchecked(read_yaml(to_yaml(model_data(model)), "f"))
    assert parts(back) == parts(model)


def test_a_new_joint_needs_no_line_here(tmp_path):
    class Weld4711(se.Joint):
        """A joint that exists in this test only."""

        a: FrameField
        grip: Number = 2.0

        def rows(self):
            return []

    try:
        model = load(written(tmp_path, "bodies: {a: {}}\njoints: {w: {type: weld4711, a: a, grip: 3}}"))
        assert model["w"] == Weld4711("w", "a", 3)
        assert parts(load(save(model, tmp_path / "b.yaml"))) == parts(model)
        assert "has no field 'gripp'. Did you mean 'grip'?" in problems(
            tmp_path, "bodies: {a: {}}\njoints: {w: {type: Weld4711, a: a, gripp: 3}}"
        )
    finally:
        del se.Element.registry["Weld4711"]


@pytest.mark.slow
@given(st.dictionaries(NAMES, PLAIN, max_size=4))
@settings(max_examples=150, deadline=None)
def test_other_yaml_readers_agree(data):
    """PyYAML reads YAML 1.1, where more words are numbers; what we write means the same to it."""
    assert yaml.safe_load(to_yaml(data) if data else "{}") == data


@given(st.one_of(NAMES, NUMBERS, st.text(max_size=30)))
def test_scalars_are_exact(value):
    back = read_yaml(to_yaml({"a": value}), "f").data["a"]
    assert repr(back) == repr(value)


def test_the_text_is_pleasant(tmp_path):
    model = load(written(tmp_path, SLIDER_CRANK))
    model.origin = None
    text = save(model, tmp_path / "b.yaml").read_text()
    lines = text.splitlines()
    assert lines[0] == "simengine2d: 1"
    assert "  O: {type: Revolute, a: ground, b: crank.O}" in lines
    assert '  motor: {type: Driver, measure: "angle(ground, crank)", value: 2*pi*t}' in lines
    assert "parameters: {crank: 2, rod: 3*crank}" in lines
    assert max(map(len, lines)) <= 110
    order = [line.split(":")[0] for line in lines if not line.startswith(" ")]
    assert order == [
        "simengine2d",
        *["name", "gravity", "parameters", "ground", "bodies", "joints", "forces", "analysis", "look"],
    ]


def test_long_tables_are_wrapped(tmp_path):
    model = se.Model("m")
    model.body("a")
    times = np.linspace(0, 1, 200)
    model.add(se.Driver("d", "x(ground, a)", se.Table(times, np.sin(times))))
    path = save(model, tmp_path / "a.yaml")
    assert max(map(len, path.read_text().splitlines())) <= 110
    assert parts(load(path)) == parts(model)


def test_numpy_numbers_are_numbers(tmp_path):
    model = se.Model("m", gravity=np.array([0.0, -1.5]))
    a = model.body("a", mass=np.float64(0.1), at=np.array([1, 2]), points={"P": np.array([1.0, 2.0])})
    model.add(se.Driver("d", np.float64(2.5) * se.angle(model.ground, a), np.float32(0.5)))
    model.add(se.Belt("b", model.ground.at(0, 0), a, np.array([1, 2])))
    back = load(save(model, tmp_path / "a.yaml"))
    assert back.gravity == (0.0, -1.5)
    assert (back["a"].mass, back["a"].position, back["d"].value) == (0.1, (1, 2), 0.5)
    assert back["d"].measure == "2.5*angle(ground, a)"
    assert back["b"].radii == (1, 2)


# Refusals on saving -----------------------------------------------------------------------------------


def test_python_functions_are_refused_by_name_and_nothing_is_written(tmp_path):
    def swing(t):
        return t

    model = se.Model("m")
    a = model.body("a", mass=float("nan"))
    model.add(se.Driver("d", se.angle(model.ground, a), swing))
    model.add(se.Driver("d3", se.angle(model.ground, a), (swing, swing, swing)))
    model.add(se.Torque("T", a, law=swing))
    model.look = {"f": swing}
    path = tmp_path / "a.yaml"
    with pytest.raises(ModelError) as caught:
        model.save(path)
    text = str(caught.value)
    assert (
        "Driver 'd', value is the Python function swing; a file holds no code. Give an expression of t"
        in text
    )
    assert "Driver 'd3', value is the Python function swing, swing, swing" in text
    assert "Torque 'T', law is the Python function swing" in text
    assert 'laws={"name": f}' in text
    assert "body 'a', mass holds nan; a file holds finite numbers." in text
    assert "look holds swing" in text
    assert list(tmp_path.iterdir()) == []


def test_strange_models_are_refused(tmp_path):
    model = se.Model("m")
    model.ground.mass = 3
    model.look = {1: 2}
    model.analysis = {"n": 10**400}
    with pytest.raises(ModelError) as caught:
        save(model, tmp_path / "a.json")
    assert "the ground was given a mass" in str(caught.value)
    assert "the key '1'" in str(caught.value)
    assert "more than 300 digits" in str(caught.value)
    model = se.Model("m")
    model.body("a" * 501)
    with pytest.raises(ModelError, match="is too long"):
        save(model, tmp_path / "a.yaml")
    with pytest.raises(ModelError, match="is not text"):
        save(se.Model("\ud800"), tmp_path / "a.json")


# Files ------------------------------------------------------------------------------------------------


def test_saving_is_atomic(tmp_path, monkeypatch):
    path = written(tmp_path, "old")
    path.chmod(0o640)

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ModelError, match=r"model.yaml is not written: no space left on device. Make room"):
        save(se.Model("m"), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.yaml"]
    monkeypatch.undo()
    assert save(se.Model("m"), path) == path
    assert "name: m" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("interrupted", ["fsync", "chmod", "replace"])
def test_an_interrupt_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, interrupted):
    path = written(tmp_path, "old")
    monkeypatch.setattr(os, interrupted, mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save(se.Model("m"), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.yaml"]


def test_a_link_stays_a_link(tmp_path):
    path, link = written(tmp_path, "old"), tmp_path / "link.yaml"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("no links here")
    assert save(se.Model("m"), link) == link
    assert link.is_symlink()
    assert "name: m" in path.read_text()


def test_a_folder_without_permission_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "mkstemp", mock.Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(ModelError, match=r"permission denied. Choose a folder in which you may write"):
        save(se.Model("m"), tmp_path / "a.yaml")


def test_where_saving_is_refused(tmp_path):
    with pytest.raises(
        ModelError, match=r"the ending '.xyz' is unknown. Use one of .yaml, .yml, .json, .adm, .py"
    ):
        save(se.Model("m"), tmp_path / "a.xyz")
    with pytest.raises(ModelError, match=r"not written: the folder .*no does not exist. Make it first."):
        save(se.Model("m"), tmp_path / "no" / "a.yaml")
    written(tmp_path, "", "file")
    with pytest.raises(ModelError, match=r"not written: .*file is a file, not a folder"):
        save(se.Model("m"), tmp_path / "file" / "a.yaml")
    with pytest.raises(ModelError, match=r"not written: file name too long. Choose a shorter name"):
        save(se.Model("m"), tmp_path / f"{'a' * 300}.yaml")
    with pytest.raises(ModelError, match="not written"):
        save(se.Model("m"), "a\0b.yaml")
    (tmp_path / "f.yaml").mkdir()
    with pytest.raises(ModelError, match="it is a folder"):
        save(se.Model("m"), tmp_path / "f.yaml")


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    written(tmp_path, "name: x", "slider.yaml")
    with pytest.raises(ModelError, match=r"there is no file slidr.yaml in .*Did you mean 'slider.yaml'\?"):
        load(tmp_path / "slidr.yaml")
    with pytest.raises(ModelError, match=r"the folder .* does not exist"):
        load(tmp_path / "no" / "a.yaml")
    with pytest.raises(ModelError, match=r"is a folder. Give the path of a file"):
        load(tmp_path)
    assert "is empty. Write into it" in problems(tmp_path, "  \n")
    assert "is not UTF-8 text: line 2 holds the byte 0xe9" in problems(tmp_path, b"name: x\n\xe9")
    assert "is an analysis file, not a model" in problems(tmp_path, "{}", "a.acf")
    with pytest.raises(ModelError, match=r"there is no file|cannot be read"):
        load("a\0b.yaml")
    monkeypatch.setattr("simengine2d.io.files.LARGEST", 10)
    assert "MB; at most" in problems(tmp_path, "name: 123456789")
    monkeypatch.setattr(Path, "read_bytes", mock.Mock(side_effect=PermissionError(13, "Permission denied")))
    assert "cannot be read: permission denied" in problems(tmp_path, "name: x")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "a.yaml")
    with pytest.raises(ModelError, match="is not an ordinary file"):
        load(tmp_path / "a.yaml")


# Mistakes in files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: b\n\tc: 1", "model.yaml, line 2, column 1: a tab is where YAML needs spaces"),
        ("a: &x 1", "line 1, column 4: &x is a YAML alias or anchor"),
        ("a: 1\nb: *x", "line 2, column 4: *x is a YAML alias or anchor"),
        ("a: !!python/object x", "is a YAML tag"),
        ("a: [1, 2", "line 1, column 9: the YAML cannot be read: expected ',' or ']'"),
        ("a: b: c", "line 1, column 5: a ':' is where none is allowed"),
        ("a: 1\n---\nb: 2", "a second document begins with ---"),
        ("[" * 1000, "nested more than 60 levels deep"),
        ("? [1, 2]\n: 3", "a list or mapping cannot be a name"),
        ("a: \x01", "line 1, column 4: the character '\\x01' is not allowed in a text file"),
        ("a: '", "the YAML cannot be read"),
        ("- 1", "model.yaml holds [1], which is not a model"),
        ("hello", "model.yaml holds hello, which is not a model"),
        ("gravity: [.nan, 0]", "line 1: .nan is not a finite number"),
        ("gravity: [1e999, 0]", "line 1: the number 1e999 is too large"),
        ("gravity: [%s, 0]" % ("1" * 5000), "line 1: a number has 5000 digits"),
        ("simengine2d: 2", "line 1: the file has the format version 2. This program reads format 1"),
        ("name: 3", "line 1: the model: name is 3; it must be a text."),
        ("joint: {}", "line 1: the model has no field 'joint'. Did you mean 'joints'?"),
        ("bodies: [1]", "bodies is [1]; it must be names with bodies, such as {crank: {mass: 1, inertia: 0.1}}"),
        ("bodies: {ground: {}}", "Write its points in the section 'ground'"),
        ("bodies: {a.b: {}}", "a body is named 'a.b'; the sign . is not allowed in a name"),
        ("bodies: {a: {points: {'p(': [1, 2]}}}", "a point of 'a' is named 'p('"),
        ("bodies: {a: {}, b: {},\n a: {}}", "line 2: 'a' occurs twice in 'bodies', first in line 1"),
        ("bodies: {a: {mass: true}}", "body 'a': mass is true; it must be a number or an expression"),
        ("bodies: {a: {points: {A: [1]}}}", "body 'a': points is {A: [1]}; it must be names with places"),
        ("bodies: {a: {inertai: 1}}", "body 'a' has no field 'inertai'. Did you mean 'inertia'?"),
        ("bodies: {a: {shape: barr}}", "body 'a' has the shape barr, which is unknown. Did you mean 'bar'?"),
        ("bodies: {a: {shape: disk}}", "body 'a' needs the field 'radius': a number or an expression"),
        ("bodies: {a: {shape: [1]}}", "body 'a' has the shape [1], which is unknown"),
        ("bodies: {a: 5}", "body 'a' is 5; it must be a mapping of mass, inertia"),
        ("ground: {mass: 1}", "the ground has no field 'mass'"),
        ("joints: {J: {type: Revolut}}", "joint 'J' has the type Revolut, which is unknown. Did you mean 'Revolute'?"),
        ("joints: {J: {type: [1]}}", "joint 'J' has the type [1], which is unknown"),
        ("joints: {J: {a: ground}}", "joint 'J' is {a: ground}; it needs a type, as in {type: "),
        ("joints: {J: 3}", "joint 'J' is 3; it needs a type"),
        ("joints: {J: {type: Spring}}", "joint 'J' is a Spring, which belongs to 'forces'. Move it."),
        ("forces: {F: {type: Gear}}", "force 'F' is a Gear, which belongs to 'joints'. Move it."),
        ("joints: {'J,': {type: Revolute}}", "joint is named 'J,'"),
        ("joints: {J: {type: Revolute, a: ground}}", "joint 'J' (Revolute) needs the field 'b': a body, a point"),
        ("joints: {J: {type: Revolute, a: ground, b: 3}}", "joint 'J' (Revolute): b is 3; it must be a body, a point"),
        ("joints: {J: {type: Revolute, a: ground, b: {bdy: x}}}", "b is {bdy: x}; it must be a body"),
        ("forces: {F: {type: PointForce, frame: ground, axes: glbal}}", "axes is glbal, which is unknown. Did you mean 'global'?"),
        ("joints: {J: {type: Driver, measure: 'x(ground, ground)', value: {times: [0, 1], values: [0, 1, 2]}}}",
         "joint 'J' (Driver): the table has 2 times but 3 values"),
        ("joints: {J: {type: Driver, measure: 'angl(ground, ground)', value: t}}", "line 1: joint 'J', measure: expression 'angl("),
        ("bodies: {a: {}}\njoints: {a: {type: Coupler, measure: 'x(ground, a)'}}",
         "line 2: joint 'a' has the name of something in bodies, in line 1. Rename one."),
        ("joints: {a: {type: Coupler}}\nforces: {a: {type: Torque}}", "force 'a' has the name of something in joints"),
        ("joints: {ground: {type: Coupler}}", "joint 'ground' has the name of something in ground"),
        ("analysis: {kind: kinematic}", "the analysis: kind is kinematic, which is unknown. Did you mean 'kinematics'?"),
        ("analysis: {kind: dynamics, t_end: [1]}", "the analysis: t_end is [1]; it must be a number"),
        ("analysis: 3", "analysis is 3"),
        ("bodies: {a: {}}\njoints: {J: {type: Revolute, a: {body: a, at: [q, 0]}, b: ground}}",
         "line 2: Revolute 'J': frame a.at(q, 0): expression 'q', column 1: unknown name 'q'"),
        ("gravity: [x, 0]", "line 1: gravity: expression 'x', column 1: unknown name 'x'"),
        ("parameters:\n  a: b\n  b: a", "line 1: the parameters"),
        ("parameters:\n  a: 1\n  b: z", "line 3: parameter 'b': expression 'z'"),
        ("bodies:\n  a:\n    inertia: 1\n    mass: -1", "line 4: body 'a', mass = -1 is negative"),
        ("bodies:\n  a: {}\njoints:\n  L: {type: Link, a: ground, b: a, length: -2}", "line 4: Link 'L' has the length -2"),
        ("bodies:\n  a: {}\njoints:\n  d:\n    type: Driver\n    measure: x(ground, a)\n    value: 2*w*t",
         "line 7: Driver 'd', value: expression '2*w*t', column 3: unknown name 'w'"),
    ],
)  # fmt: skip
def test_mistakes_get_their_sentence(tmp_path, text, sentence):
    assert sentence in problems(tmp_path, text)


def test_a_parameter_that_is_no_number_is_one_problem(tmp_path):
    told = problems(tmp_path, "parameters: {L: .nan}\nbodies: {a: {mass: 1, inertia: 1, at: [L, 0]}}")
    assert told.endswith("line 1: .nan is not a finite number. Write the number that is meant.")
    assert "problems" not in told


def test_the_sentence_of_the_house(tmp_path):
    text = (
        "bodies:\n  crank: {points: {O: [0, 0]}}\n  rod: {}\n  slider: {}\n"
        "joints:\n  O: {type: Revolute, a: ground, b: crank.P}\n  A: {type: Revolute, a: crnk, b: rod}\n"
        "  B: {type: Revolute, a: groud, b: rod}\n"
    )
    found = problems(tmp_path, text, "slider_crank.yaml")
    assert found == (
        "3 problems were found:\n"
        "  1. slider_crank.yaml, line 6: joint 'O' refers to point 'P', which body 'crank' does not have. "
        "The points are O.\n"
        "  2. slider_crank.yaml, line 7: joint 'A' refers to body 'crnk', which is not in the model. "
        "Did you mean 'crank'? The bodies are crank, rod, slider.\n"
        "  3. slider_crank.yaml, line 8: joint 'B' refers to body 'groud', which is not in the model. "
        "Did you mean 'ground'? The bodies are ground, crank, rod, slider."
    )


def test_all_problems_are_told_at_once_from_top_to_bottom(tmp_path):
    text = (
        "simengine2d: 2\nnam: x\ngravity: [1]\nbodies:\n  a: {mass: [1]}\n  b: {shape: x}\n"
        "joints:\n  J: {type: Revolute, a: a}\n  K: {type: Revolute, a: c, b: a}\nforces: 3\n"
    )
    with pytest.raises(ModelError) as caught:
        load(written(tmp_path, text))
    lines = [int(problem.split("line ")[1].split(":")[0]) for problem in caught.value.problems]
    assert lines == [1, 2, 3, 5, 6, 8, 9, 10]
    assert "pydantic" not in str(caught.value)


HIDING = """\
parameters: {L: 2*M, k: 3}
formulas: {gap: "distance(b.P, c) - 1"}
bodies:
  a: {shape: bar, start: [0, 0], end: [L, 0], mas: 2, density: foo}
  b: {mass: -1, angle: q, at: [L, 0]}
  c: {mass: 1, inertia: 1}
joints:
  O: {type: Revolute, a: grund, b: c, at: [0, zz]}
  A: {type: Revolute, a: a.end, b: c.stat, dirction: 3}
  B: {type: Revolute, a: c, b: c}
  S: {type: PinSlot, a: ground, b: b}
  motor: {type: Driver, measure: "angle(ground, crnk)", value: 2*pi*tt}
forces:
  s: {type: Spring, measure: "distance(ground, c.en)", law: "k*", stiffness: [3]}
  T: {type: Torque, frame: c, value: gas(c.phi)}
  U: {type: Torque, frame: c, value: L*c.phi}
"""


def test_no_problem_hides_behind_another(tmp_path):
    """Wrong parameters, bodies and fields do not keep the rest from being examined; what only follows is left out."""
    with pytest.raises(ModelError) as caught:
        load(written(tmp_path, HIDING))
    lines = [problem.line for problem in caught.value.problems]
    assert lines == [1, 4, 4, 5, 5, 8, 8, 9, 9, 10, 11, 12, 12, 14, 14, 14, 15]
    for word in (
        "'M'",
        "'mas'",
        "'foo'",
        "'q'",
        "negative",
        "'grund'",
        "'zz'",
        "'stat'",
        "'dirction'",
        "itself",
    ):
        assert word in str(caught.value)
    for word in ("the slot is in the ground", "'crnk'", "'tt'", "'en'", "stiffness is [3]", "'gas'"):
        assert word in str(caught.value)


def test_named_formulas_refer_to_bodies_of_the_model(tmp_path):
    with pytest.raises(ModelError, match="line 1: formula 'gap': body 'b' has no point 'P'"):
        load(written(tmp_path, "formulas: {gap: 'distance(b.P, ground)'}\nbodies: {b: {mass: 1}}\n"))


# Anything else ----------------------------------------------------------------------------------------

ENDINGS = st.sampled_from([".yaml", ".json", ".adm", ".txt"])


@pytest.mark.slow
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.text().map(str.encode),
        st.lists(st.sampled_from(SHARDS)).map(lambda p: "".join(p).encode()),
    ),
    ending=ENDINGS,
)
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_a_model_or_a_sentence(tmp_path_factory, data, ending):
    path = tmp_path_factory.getbasetemp() / f"any{ending}"
    path.write_bytes(data)
    _load_or_refuse(path)


RECORDS = st.dictionaries(st.sampled_from(["type", "a", "b", "mass", "at", "points", "look", "shape", "value", "measure", "frame"]),
                          st.one_of(PLAIN, st.sampled_from(["Revolute", "Driver", "ground", "a", "a.A", "x(ground, a)", "2*t", "disk"])))  # fmt: skip
FILES = st.dictionaries(
    st.sampled_from(
        ["name", "gravity", "parameters", "ground", "bodies", "joints", "forces", "analysis", "look"]
    ),
    st.one_of(PLAIN, st.dictionaries(st.sampled_from(["a", "b", "J"]), st.one_of(PLAIN, RECORDS))),
)


@pytest.mark.slow
@given(data=FILES)
@settings(max_examples=400, deadline=None)
def test_any_structure_is_a_model_or_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "structure.yaml"
    path.write_text(to_yaml(data) if data else "{}", encoding="utf-8")
    _load_or_refuse(path)


def _load_or_refuse(path: Path) -> None:
    with contextlib.suppress(SimEngineError):
        assert isinstance(quietly(path), se.Model)


def test_numbers_that_overflow_get_a_sentence(tmp_path):
    text = "bodies:\n  a: {shape: disk, radius: 1e200, mass: 1}\n  b: {shape: bar, start: [1e308, 0], end: [1.5e308, 1], mass: 1}\n"
    found = problems(tmp_path, text)
    assert (
        "line 2: body 'a', disk, radius = 1e+200 is too large to compute with; give at most 1e+100." in found
    )
    assert "line 3: body 'b'" in found


def test_linear_algebra_that_fails_ends_in_a_sentence(monkeypatch):
    def fails(*_: object) -> None:
        np.linalg.svd(np.full((2, 2), np.nan))

    monkeypatch.setattr("simengine2d.analyses.linear.modes.operating_point", fails)
    with pytest.raises(ConvergenceError, match=r"modes: the linear algebra failed \(SVD did not converge\)"):
        se.modes(se.Model("m"))


def test_functions_of_the_package_are_written_as_what_they_hold(tmp_path):
    model = se.Model("m")
    model.body("a")
    for i, value in enumerate([3, "2*t", se.Table((0, 1), (0, 1))]):
        model.add(se.Driver(f"d{i}", "x(ground, a)", as_function(value)))
    back = load(save(model, tmp_path / "a.yaml"))
    assert [joint.value for joint in back.joints.values()] == [3.0, "2 * t", se.Table((0, 1), (0, 1))]
    model.add(se.Driver("f", "x(ground, a)", as_function(lambda t: t)))
    with pytest.raises(ModelError, match="Driver 'f', value is the Python function"):
        save(model, tmp_path / "a.yaml")


def test_wrong_numbers_are_told_beside_wrong_references(tmp_path):
    """A body with a typo is not missing, and a negative mass does not hide an unknown name."""
    text = (
        "bodies:\n  crank: {mass: -2, points: {O: [0, 0]}}\n  slider: {mas: 2}\n"
        "joints:\n  O: {type: Revolute, a: ground, b: cronk.O}\n  B: {type: Revolute, a: crank.O, b: slider}\n"
        '  motor: {type: Driver, measure: "angle(ground, crank)", value: sped*t}\n'
    )
    with pytest.raises(ModelError) as caught:
        load(written(tmp_path, text))
    sentences = caught.value.problems
    assert [int(problem.split("line ")[1].split(":")[0]) for problem in sentences] == [2, 3, 5, 7]
    for problem, words in zip(sentences, ["mass = -2", "'mas'", "'cronk'", "'sped'"], strict=True):
        assert words in problem


def test_tables_in_files_say_of_what_they_are_a_function(tmp_path):
    model = se.Model("tables")
    model.body("b", mass=1, inertia=1)
    law = se.Table(of="s", points=(0, 1, 2), values=(0, 1, 8))
    model.add(se.Spring("s", "x(ground, b)", law=law))
    model.add(
        se.PointForce(
            "f", "b", fx=se.Table((0, 1), (0, 1)), fy=se.Table(of="yd", points=(0, 1), values=(0, 1))
        )
    )
    model.save(tmp_path / "m.yaml")
    back = load(tmp_path / "m.yaml")
    assert (back["s"].law, back["f"].fx, back["f"].fy) == (law, model["f"].fx, model["f"].fy)
    assert "of: s" in (tmp_path / "m.yaml").read_text()
    (tmp_path / "law.csv").write_text("0, 0\n1, 1\n2, 8\n")
    text = (tmp_path / "m.yaml").read_text()
    start = text.index("law:")
    replaced = text[:start] + "law: {file: law.csv, of: s}" + text[text.index("}", start) + 1 :]
    (tmp_path / "m.yaml").write_text(replaced)
    assert load(tmp_path / "m.yaml")["s"].law == law
