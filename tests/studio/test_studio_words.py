"""What the page says of mechanisms that do not move as their makers hoped."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simengine2d.cli.studio import runs
from simengine2d.cli.studio.answers import look
from simengine2d.cli.studio.edits import edited
from simengine2d.model import library


def drawn(*edits: dict) -> str:
    text = ""
    for edit in edits:
        text = edited(text, edit)["text"]
    return text


def four_bar(b, c, d, *, driven=True) -> str:
    """Links from A = (0, 0) over b and c to d."""
    motor = [{"do": "add_driver", "body": "link1"}] if driven else []
    return drawn(
        {"do": "add_ground", "point": [0, 0]},
        {"do": "add_ground", "point": list(d)},
        {"do": "add_link", "points": ["ground.A", list(b)]},
        {"do": "add_link", "points": ["link1.end", list(c)]},
        {"do": "add_link", "points": ["ground.B", "link2.end"]},
        *motor,
    )


def seen(text: str) -> dict:
    answer = look({"text": text, "folder": "."})
    json.dumps(answer, allow_nan=False)
    assert answer["problems"] == [] and answer["player"] is not None
    return answer


def words(text: str) -> dict[str, list[str]]:
    """The sentences by their kinds; what is wrong is marked on the drawing."""
    said: dict[str, list[str]] = {}
    for word in seen(text)["words"]:
        said.setdefault(word["kind"], []).append(word["text"])
        assert word["points"] or word["kind"] in ("mobility", "note") or "driver" in word["text"], word
        assert "iterations" not in word["text"] and "before it are kept" not in word["text"]
    return said


def test_three_joints_in_a_line_move():
    said = words(four_bar((1, 0), (2, 0), (4, 1), driven=False))
    assert list(said) == ["mobility"] and said["mobility"][0].startswith("Mobility 1:")
    plate = drawn(
        {"do": "add_ground", "point": [0, 0]},
        {"do": "add_ground", "point": [4, 0]},
        {"do": "add_link", "points": ["ground.A", [0.5, 1]]},
        {"do": "add_link", "points": ["link1.end", [2, 1.6], [3.5, 2.2]]},
        {"do": "add_link", "points": ["ground.B", "link2.C"]},
    )
    assert list(words(plate)) == ["mobility"]


def test_links_that_cannot_reach():
    text = four_bar((0.5, 1), (3.5, 2.2), (4, 0)).replace("end: [3.5, 2.2]", "end: [1, 1]", 1)
    by_lengths, by_joint = words(text)["cannot close"]
    # sqrt(0.5^2 + 1) + 0.5 + sqrt(0.5^2 + 2.2^2) = 3.87414
    assert by_lengths == (
        "The links cannot reach each other: link1, link2, link3 are 3.874 m long together, and ground is 4 m. Make one "
        "of them longer by 0.1259 m at least, or bring the supports closer together."
    )
    assert "stays 0.885 m apart" in by_joint


def test_a_guide_that_a_crank_and_a_rod_do_not_reach():
    text = drawn(
        {"do": "add_ground", "point": [0, 0]},
        {"do": "add_link", "points": ["ground.A", [0.2, 0.2]]},
        {"do": "add_link", "points": ["link1.end", [1, 0]]},
        {"do": "add_slider", "point": "link2.end"},
        {"do": "add_driver", "body": "link1"},
    )
    assert list(words(text)) == ["mobility"]
    lifted = text.replace("at: [1, 0]", "at: [1, 1.2]")
    assert lifted != text
    by_lengths = words(lifted)["cannot close"][0]
    assert "link1, link2 are 1.107 m long together, and the guide is 1.2 m away" in by_lengths
    assert by_lengths.endswith("longer by 0.09254 m at least, or bring the guide closer.")


def test_links_that_reach_only_when_stretched_out():
    """1 + 1 + 2 = 4: to first order the pins may move across the line, but there is no other pose."""
    for driven in (True, False):
        said = words(four_bar((1, 0), (2, 0), (4, 0), driven=driven))
        assert "its joints close in this pose only" in said["cannot move"][0]
        assert "mobility" not in said and "dead point" not in said


PINNED = "  X: {type: Revolute, a: ground, b: link2, at: [2, 1.6]}\n"


def test_mobility_zero():
    said = words(four_bar((0.5, 1), (3.5, 2.2), (4, 0), driven=False) + PINNED)
    assert said["cannot move"] == [
        "Mobility 0: nothing can move, the joints hold every motion. Delete a joint or a link."
    ]
    assert said["redundant"] == [
        "C, D, E, F, X restrict the same motion in every pose. One of them is too many."
    ]
    driven = words(four_bar((0.5, 1), (3.5, 2.2), (4, 0)) + PINNED)
    assert "Driver 'motor' cannot move anything" in driven["cannot move"][0]
    assert driven["mobility"][0].startswith("Mobility 0: nothing can move, whatever motor should do.")


def test_two_motors_for_one_motion():
    text = edited(four_bar((0.5, 1), (3.5, 2.2), (4, 0)), {"do": "add_driver", "body": "link3"})["text"]
    said = words(text)
    assert "drive the same motion" in said["cannot move"][0]
    assert said["mobility"] == ["Mobility 1, but 2 drivers: motor, motor1. Delete one of them."]


def test_mobility_two():
    text = drawn(
        {"do": "add_ground", "point": [0, 0]},
        {"do": "add_link", "points": ["ground.A", [1, 1]]},
        {"do": "add_link", "points": ["link1.end", [2, 1]]},
    )
    (sentence,) = words(text)["mobility"]
    assert sentence.startswith("Mobility 2:") and sentence.endswith("2 motors would determine the motion.")


def test_a_redundant_parallelogram():
    feet = {"ground.A": 0, "ground.B": 2, "ground.C": 4}
    grounds = [{"do": "add_ground", "point": [x, 0]} for x in feet.values()]
    arms = [{"do": "add_link", "points": [foot, [x + 0.5, 1]]} for foot, x in feet.items()]
    beam = {"do": "add_link", "points": ["link1.end", "link2.end", "link3.end"]}
    said = words(drawn(*grounds, *arms, beam, {"do": "add_driver", "body": "link1"}))
    assert said["mobility"] == ["Mobility 1, driven by motor: the motion is determined."]
    (redundant,) = said["redundant"]
    assert redundant.endswith("but their forces are not unique: make one pin a pin in a slot.")


def test_a_dead_point_on_the_way_and_one_to_begin_with():
    """Coupler and rocker in line, from B on the crank's circle to (3.2, 0)."""
    on_the_way = seen(four_bar((1, 1), (2, 2), (3.2, 0)))
    (dead,) = [word for word in on_the_way["words"] if word["kind"] == "dead point"]
    assert dead["text"] == (
        "At t = 0.1568 s the mechanism reaches a dead point: link2 and link3 are in line at F. The driver motor cannot "
        "go further. Drive another body, end before that time, or let it swing: drawn + 0.3*sin(2*pi*t)."
    )
    assert dead["elements"] == ["link2", "link3"]
    assert dead["points"] == [[1, 1], [2, 2], [3.2, 0]]
    turned = np.pi / 4 + 2 * np.pi * 0.1568
    B = np.sqrt(2) * np.array([np.cos(turned), np.sin(turned)])
    assert np.hypot(*(B - (3.2, 0))) == pytest.approx(
        np.sqrt(2) + np.hypot(1.2, 2), abs=1e-3
    )  # of t, 4 digits
    folded = words(four_bar((1, 0), (4, 0), (2, 0), driven=False))
    assert "start from one of them" in folded["dead point"][0]
    assert folded["dead point"][1].startswith("The links link1 and link2 are in line at D:")
    assert folded["mobility"][0].startswith("Mobility 2 in this pose, and less in others:")
    assert any("begins in a singular pose" in sentence for sentence in folded["note"])


def test_many_free_motions_are_few_words():
    (sentence,) = words(library.text("chain"))["mobility"]
    assert sentence.endswith("; and 3 more. 6 motors would determine the motion.") and len(sentence) < 400


def test_a_run_that_takes_too_long_is_shown_as_far_as_it_came(monkeypatch):
    monkeypatch.setattr(runs, "PATIENCE", 0.0)
    said = words(four_bar((0.5, 1), (3.5, 2.2), (4, 0), driven=False))
    assert said["note"][0].startswith("The run took longer than 0 s and is shown as far as it came")
