"""Thousands of mistakes in one file are told as soon as one."""

from __future__ import annotations

import json
import time

import pytest

import simengine2d as se
from loading import written
from simengine2d.errors import nearest, unknown

MANY = 2000
BODIES = {f"body{i}": {} for i in range(MANY)}
JOINTS = {f"j{i}": {"type": "Revolute", "a": "ground", "b": f"bdy{i}"} for i in range(MANY)}
POINTS = {f"j{i}": {"type": "Revolute", "a": "ground", "b": f"b.Q{i}"} for i in range(MANY)}
RECORDS = [{"name": "b", "id": i + 1, "mass": 1, "jbar": 1, "q0": [0, 0, 0]} for i in range(MANY)]
PINS = [
    {"name": "c", "type": "RevoluteJoint", "body1": 0, "body2": -i, "sP1": [0, 0], "sP2": [0, 0]}
    for i in range(MANY)
]


@pytest.mark.parametrize(
    ("data", "name", "count"),
    [
        ({"bodies": BODIES, "joints": JOINTS}, "m.json", MANY),
        (
            {"bodies": {"b": {"points": {f"P{i}": [0, 0] for i in range(MANY)}}}, "joints": POINTS},
            "m.json",
            MANY,
        ),
        (
            {"bodies": {f"b{i}": {"mass": f"pra{i}"} for i in range(MANY)}, "parameters": {"par": 1}},
            "m.json",
            MANY,
        ),
        ({"gravity": [0, 0], "bodies": RECORDS, "constraints": PINS}, "m.adm", MANY - 1),
    ],
    ids=["bodies", "points", "parameters", "ids"],
)
def test_many_mistakes_are_told_soon(tmp_path, data, name, count):
    path = written(tmp_path, json.dumps(data), name)
    began = time.process_time()
    with pytest.raises(se.ModelError) as caught:
        se.load(path)
    assert len(caught.value.problems) == count
    assert time.process_time() - began < 5.0  # it took a minute and more


def test_the_nearest_of_many_names_is_found():
    names = (*(f"body{i}" for i in range(1000)), "Long Rod", "crank")
    assert nearest("bdy417", names) == "body417"
    assert nearest("long rodd", names) == "Long Rod"
    assert nearest("crnk", names) == "crank"
    assert nearest("zzz", names) is None
    assert nearest("c" * 100_000, ("c" * 99_999,)) is None
    sentence = unknown("body", "crnk", names, plural="bodies")
    assert sentence.startswith("Did you mean 'crank'? The bodies are body0, body1,")
    assert sentence.endswith("and 962 more.")


def test_swapped_letters_are_found_among_many_names():
    names = tuple(f"{letter}{number}rank{letter}" for letter in "abcdefghij" for number in range(100))
    for swapped in ("rcank_rod_71", "crnak_rod_17", "crank_rdo_17"):
        assert nearest(swapped, (*names, "crank_rod_17")) == "crank_rod_17"
