"""JSON: strict, with lines, and one pipeline with YAML."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import PLAIN, parts

import simengine2d as se
from loading import written
from simengine2d.errors import ModelError
from simengine2d.io import load, save
from simengine2d.io.json_reader import read_json
from simengine2d.io.text_writer import to_json

MODEL = """\
{
  "simengine2d": 1,
  "name": "pendulum",
  "bodies": {
    "rod": {"mass": 1, "inertia": "m*L^2", "at": [1, 0], "points": {"O": [-1, 0]}}
  },
  "parameters": {"m": 1, "L": 2.5},
  "joints": {
    "O": {"type": "Revolute", "a": "ground", "b": "rod.O"}
  }
}
"""


def test_the_same_words_as_in_yaml(tmp_path):
    model = load(written(tmp_path, MODEL, "a.json"))
    assert model["rod"].inertia == "m*L^2"
    assert model["O"] == se.Revolute("O", "ground", "rod.O")
    assert parts(load(save(model, tmp_path / "b.yaml"))) == parts(model)
    assert parts(load(save(model, tmp_path / "b.json"))) == parts(model)


def test_the_text_is_strict_and_pleasant(tmp_path):
    text = save(load(written(tmp_path, MODEL, "a.json")), tmp_path / "b.json").read_text()
    assert json.loads(text)["joints"]["O"] == {"type": "Revolute", "a": "ground", "b": "rod.O"}
    assert '    "O": {"type": "Revolute", "a": "ground", "b": "rod.O"}' in text.splitlines()
    assert text.endswith("}\n")


@given(PLAIN)
@settings(max_examples=300)
def test_we_agree_with_the_json_module(data):
    text = to_json(data)
    assert json.loads(text) == data
    assert repr(read_json(text, "f").data) == repr(data)
    assert repr(read_json(json.dumps(data, indent=1), "f").data) == repr(data)


@given(st.text(alphabet="{}[]:,\"\\/0123456789.eE+-truefalsn \t\n'N", max_size=25))
@settings(max_examples=1000)
def test_we_refuse_what_the_json_module_refuses(text):
    try:
        expected = json.loads(text, parse_constant=lambda word: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(ModelError, match=r"f, line \d+, column \d+: "):
            read_json(text, "f")
    else:
        document = read_json(text, "f")
        assert document.collected or document.data == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1,}', "m.json, line 1, column 9: found '}' after a comma. Delete the last comma."),
        ('{"a": [1, 2,]}', "found ']' after a comma"),
        (
            '{"a": 1\n "b": 2}',
            "line 2, column 2: found '\"' where ',' or '}' is expected; line 1 opens the bracket.",
        ),
        ('{\n"a": [1', "line 2, column 8: the file ends where ',' or ']' is expected"),
        ('{"a" 1}', "found '1' where a colon is expected after \"a\""),
        ("{a: 1}", "found 'a' where a name in double quotes is expected"),
        ("{\"a\": 'x'}", "where a number, a text in double quotes, '[' or '{' is expected"),
        ('{"a": NaN}', "NaN is not a finite number"),
        ('{"a": -Infinity}', "-Infinity is not a finite number"),
        ('{"a": 187/255}', "line 1, column 7: found '187' where a number"),
        ('{"a": 01}', "found '01' where a number"),
        ('{"a": "x\ny"}', "the text in quotes cannot be read: invalid control character"),
        ('{"a": "x', "the text in quotes cannot be read: unterminated string"),
        ('{"a": 1} x', "found 'x' after the end of the data"),
        ('{"gravity": [1e999, 0]}', "the number 1e999 is too large"),
        ('{"bodies": {"a": {},\n "a": {}}}', "line 2: 'a' occurs twice in 'bodies', first in line 1"),
        ('{"a": ' + "[" * 5000, "nested more than 60 levels deep"),
        ("[1]", "m.json holds [1], which is not a model"),
        ('{"bodies":\n {"a": {"mas": 1}}}', "line 2: body 'a' has no field 'mas'. Did you mean 'mass'?"),
    ],
)
def test_mistakes_get_their_sentence(tmp_path, text, sentence):
    path = written(tmp_path, text, "m.json")
    with pytest.raises(ModelError) as caught:
        load(path)
    assert sentence in str(caught.value)


def test_arithmetic_only_on_request():
    document = read_json('{"a": [187/255, -(1 + 2)*2, 3]}', "f", arithmetic=True)
    assert document.data == {"a": [187 / 255, -6.0, 3]}
    assert document.arithmetic == {("a", 0): "187/255", ("a", 1): "-(1 + 2)*2"}
    with pytest.raises(ModelError, match=r"found 'x/2' where a value is expected"):
        read_json("[x/2]", "f", arithmetic=True)
    with pytest.raises(ModelError, match="divides by zero"):
        read_json("[1/0]", "f", arithmetic=True)
