"""A model read from YAML and saved again: its text stays, but for what changed in the model."""

from __future__ import annotations

from difflib import ndiff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import models

import simengine2d as se
from loading import written
from simengine2d.io.model_writer import model_data
from simengine2d.io.text_writer import to_yaml
from simengine2d.io.yaml_edit import edited, same
from simengine2d.io.yaml_reader import read_yaml
from simengine2d.model import library

TEXT = """\
# A press.

name: "press"   # in quotes
parameters:
  throw: 25 mm      # half of the stroke
  speed: 1500 rpm

  # derived
  reach: 4*throw
bodies:
  # the crank
  crank: {shape: bar, start: [0, 0],  end: [ throw, 0 ],   # drawn to the right
          mass: 8e-1}
  ram:
    shape: block   # of steel
    width: 0.1
    height: 1e-1
    mass: 0        # for now
    at: [reach, 0]
joints:
  O: {b: crank.start, a: ground, type: revolute}
  guide: {type: Translational, a: ground, b: ram, direction: [1, 0]}   # level

  # the rod
  rod: {type: RelativeDistance, a: crank.end, b: "ram.at(-1 cm, 0)", value: 3*throw - 1 cm}
# the end
"""


def changes(tmp_path, change, text=TEXT):
    """The lines that leave the text and those that come, when a model is changed."""
    model = se.load(written(tmp_path, text))
    change(model)
    path = model.save(tmp_path / "model.yaml")
    assert same(model_data(se.load(path)), model_data(model))
    lines = [line for line in ndiff(text.splitlines(), path.read_text().splitlines()) if line[0] in "+-"]
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


@pytest.mark.parametrize("name", library.names())
def test_what_did_not_change_is_the_same_text(name, tmp_path):
    assert se.load(name).save(tmp_path / "copy.yaml").read_text() == library.text(name)


def test_lines_end_as_in_the_file_that_was_read(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    m = se.load(path)
    assert m.save(tmp_path / "same.yaml").read_bytes() == path.read_bytes()
    m.name = "another name"
    data = m.save(tmp_path / "new.yaml").read_bytes()
    assert b"another name" in data and data.count(b"\n") == data.count(b"\r\n") == TEXT.count("\n")
    assert se.load(tmp_path / "new.yaml").copy().save(tmp_path / "copy.yaml").read_bytes() == data


def test_a_number_changes_in_its_place(tmp_path):
    def change(m):
        m.parameters["throw"] = "30 mm"
        m["crank"].mass = 1
        m["ram"].mass = "2 kg"
        m["ram"].position = ("reach", 0.5)

    gone, new = changes(tmp_path, change)
    assert gone == [
        *["  throw: 25 mm      # half of the stroke", "          mass: 8e-1}"],
        *["    mass: 0        # for now", "    at: [reach, 0]"],
    ]
    assert new == [
        *["  throw: 30 mm      # half of the stroke", "          mass: 1}"],
        *["    mass: 2 kg        # for now", "    at: [reach, 0.5]"],
    ]


def test_the_comment_of_the_last_line_of_a_block_stays_once(tmp_path):
    text = TEXT.replace("reach: 4*throw", "reach: 4*throw  # to the ram").replace(
        "at: [reach, 0]", "at: [reach, 0]  # m"
    )
    gone, come = changes(tmp_path, lambda m: m.parameters.update(reach="5*throw"), text)
    assert (gone, come) == (["  reach: 4*throw  # to the ram"], ["  reach: 5*throw  # to the ram"])
    gone, come = changes(tmp_path, lambda m: setattr(m.bodies["ram"], "mass", 2.0), text)
    assert (gone, come) == (["    mass: 0        # for now"], ["    mass: 2.0        # for now"])
    nested = "a:\n  - x: 1\n    y: 2  # last\nb: 1  # end"
    before = {"a": [{"x": 1, "y": 2}], "b": 1}
    assert (
        edited(nested, before, {"a": [{"x": 3, "y": 2}], "b": 2})
        == "a:\n  - x: 3\n    y: 2  # last\nb: 2  # end"
    )


def test_new_entries_come_after_those_before_them(tmp_path):
    def change(m):
        m.gravity = (0, 0)
        m.parameters["k"] = 3
        m["crank"].angular_velocity = "speed"
        m["ram"].points["P"] = (0.05, 0)
        m.add(se.Spring("spring", "distance(ground, ram)", stiffness="k"))

    gone, new = changes(tmp_path, change)
    assert gone == ["          mass: 8e-1}"]
    assert new == [
        "gravity: [0, 0]",
        "  k: 3",
        "          mass: 8e-1, angular_velocity: speed}",
        "    points: {P: [0.05, 0]}",
        "forces:",
        '  spring: {type: Spring, measure: "distance(ground, ram)", stiffness: k}',
    ]


def test_entries_that_are_gone_leave_and_comments_above_stay(tmp_path):
    def change(m):
        del m.elements["guide"]
        del m.parameters["throw"], m.parameters["speed"]
        m.parameters["reach"] = 1
        m["crank"].shape = se.Model().bar("b", (0, 0), (1, 0)).shape
        m["rod"].value = 1

    gone, new = changes(tmp_path, change)
    assert "  speed: 1500 rpm" in gone and "  # derived" not in gone and "  reach: 1" in new
    assert "  crank: {shape: bar, start: [0, 0],  end: [ 1, 0 ],   # drawn to the right" in new
    assert [line for line in gone if "guide" in line] and "  # the rod" not in gone


def test_the_order_of_bodies_is_that_of_the_model(tmp_path):
    def change(m):
        m.bodies["crank"] = m.bodies.pop("crank")

    gone, new = changes(tmp_path, change)
    crank = [
        "  crank: {shape: bar, start: [0, 0],  end: [ throw, 0 ],   # drawn to the right",
        "          mass: 8e-1}",
    ]
    assert gone == new == crank


def test_values_of_another_form_are_written_anew(tmp_path):
    text = "bodies:\n  b:\n    points:\n      A: [1, 0]\n    look:\n      - 1  # one\n      - 2\n    mass: |\n      2\n"

    def change(m):
        m["b"].look = {"colors": [1, 2, 3]}
        m["b"].mass = 3
        m["b"].points = {"A": (1, 0), "B": (2, 0, 1)}

    text = text.replace("look:\n      - 1  # one\n      - 2", "look: {a: 1}  # how")
    gone, new = changes(tmp_path, change, text)
    assert new == ["      B: [2, 0, 1]", "    look: {colors: [1, 2, 3]}  # how", "    mass: 3"]
    assert len(gone) == 3


def test_tables_in_files_stay_beside_the_model_and_are_written_out_elsewhere(tmp_path):
    written(tmp_path, "0, 1\n1, 5\n2, 3\n", "gas.csv")
    text = "# one\ntables:\n  gas: {file: gas.csv}  # measured\n"
    model = se.load(written(tmp_path, text))
    assert model.save(tmp_path / "other.yaml").read_text() == text
    (tmp_path / "far").mkdir()
    path = model.save(tmp_path / "far" / "model.yaml")
    assert "points: [[0.0, 1.0], [1.0, 5.0], [2.0, 3.0]]" in path.read_text()
    assert path.read_text().startswith("# one\n") and "# measured" in path.read_text()
    assert se.load(path).tables == model.tables


def test_copies_keep_the_text_and_json_has_none(tmp_path):
    model = se.load(written(tmp_path, TEXT)).with_parameters(throw="30 mm")
    assert "# the crank" in model.save(tmp_path / "a.yaml").read_text()
    again = se.load(model.save(tmp_path / "a.json"))
    assert again.origin is None
    model.origin = None
    assert "#" not in model.save(tmp_path / "a.yaml").read_text()


@pytest.mark.slow
@given(before=models(), after=models(), seed=st.randoms())
@settings(max_examples=40, deadline=None)
def test_any_text_becomes_any_other(before, after, seed):
    """The text of one random model, with comments in its blocks, is edited to that of another."""
    lines = to_yaml(model_data(before), ("bodies", "joints", "forces")).splitlines()
    text = "".join(line + seed.choice(["\n", "   # why\n", "\n\n", "\n # x\n"]) for line in lines if line)
    old = read_yaml(text, "f").data
    assert old == read_yaml("\n".join(lines), "f").data
    data = model_data(after)
    assert edited(text, old, old) == text
    assert same(read_yaml(edited(text, old, data), "f").data, data)
