"""Drawing as edits of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

import simengine2d as se
from simengine2d.cli.studio.draft import read_draft
from simengine2d.cli.studio.edits import edited
from simengine2d.cli.studio.pins import DrawnPin, find_pin, pins_of

LIBRARY = Path(se.__file__).parent / "model" / "library"


def text_of(name: str) -> str:
    return (LIBRARY / f"{name}.yaml").read_text(encoding="utf-8")


def drawn(*edits: dict) -> str:
    text = ""
    for edit in edits:
        text = edited(text, edit)["text"]
    return text


def point(text: str, name: str) -> DrawnPin:
    return find_pin(pins_of(read_draft(text).resolved), name)


FOUR_BAR = (
    {"do": "add_ground", "point": [0, 0]},
    {"do": "add_ground", "point": [4, 0]},
    {"do": "add_link", "points": ["ground.A", [0.5, 1]]},
    {"do": "add_link", "points": ["link1.end", [3.5, 2.2]]},
    {"do": "add_link", "points": ["ground.B", "link2.end"]},
    {"do": "add_driver", "body": "link1"},
)


def test_a_four_bar_is_drawn_from_nothing():
    model = read_draft(drawn(*FOUR_BAR)).model
    assert list(model.bodies) == ["link1", "link2", "link3"]
    assert [type(joint).__name__ for joint in model.joints.values()] == ["Revolute"] * 4 + ["Driver"]
    assert se.diagnose(model).mobility == 0


def test_a_dragged_pin_moves_all_bodies_that_share_it():
    text = edited(drawn(*FOUR_BAR), {"do": "move_point", "point": "link1.end", "to": [0.6, 1.1]})["text"]
    assert "end: [0.6, 1.1]" in text and "start: [0.6, 1.1]" in text


def test_parameters_follow_a_dragged_pin():
    text = edited(text_of("four_bar"), {"do": "move_point", "point": "B", "to": [1.1, 0.2]})["text"]
    assert "end: [Bx, By]" in text and "# C by two circles" in text
    there = point(text, "B")
    assert (there.x, there.y) == pytest.approx((1.1, 0.2), abs=4e-3)


def test_a_deleted_body_takes_along_what_hangs_on_it():
    answer = edited(text_of("four_bar"), {"do": "delete", "elements": ["coupler"]})
    assert (
        "coupler:" not in answer["text"].split("bodies:")[1]
        and "B:" not in answer["text"].split("joints:")[1]
    )
    assert answer["notes"] == ["Deleted with coupler: B, C."]
