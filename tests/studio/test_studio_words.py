"""What the page says of mechanisms that do not move as their makers hoped."""

from __future__ import annotations

import json

from simengine2d.cli.studio import runs
from simengine2d.cli.studio.answers import look
from simengine2d.cli.studio.edits import edited


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
    said: dict[str, list[str]] = {}
    for word in seen(text)["words"]:
        said.setdefault(word["kind"], []).append(word["text"])
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
    first, by_lengths = words(text)["cannot close"]
    assert "stays 0.885 m apart" in first
    assert by_lengths == "Four-bar link1-link2-link3: ground is 4 long, the other three together 3.87414."


def test_links_that_reach_only_when_stretched_out():
    """1 + 1 + 2 = 4: to first order the pins may move across the line, but there is no other pose."""
    for driven in (True, False):
        said = words(four_bar((1, 0), (2, 0), (4, 0), driven=driven))
        assert "its joints close in this pose only" in said["cannot move"][0]
        assert "mobility" not in said and "dead point" not in said


def test_mobility_zero():
    text = four_bar((0.5, 1), (3.5, 2.2), (4, 0), driven=False)
    said = words(f"{text}  X: {{type: Revolute, a: ground, b: link2, at: [2, 1.6]}}\n")
    assert said["mobility"] == ["Mobility 0: nothing can move. Remove a joint or a link."]
    assert "cannot move" in said


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
    assert "in every pose" in said["redundant"][0]


def test_a_dead_point_on_the_way_and_one_to_begin_with():
    on_the_way = seen(four_bar((1, 1), (2, 2), (3.2, 0)))
    (sentence,) = [word["text"] for word in on_the_way["words"] if word["kind"] == "dead point"]
    assert "reaches a dead point" in sentence and "The driver motor cannot go further" in sentence
    folded = words(four_bar((1, 0), (4, 0), (2, 0), driven=False))
    assert "start from one of them" in folded["dead point"][0]
    assert any("begins in a singular pose" in sentence for sentence in folded["note"])


def test_a_run_that_takes_too_long_is_shown_as_far_as_it_came(monkeypatch):
    monkeypatch.setattr(runs, "PATIENCE", 0.0)
    said = words(four_bar((0.5, 1), (3.5, 2.2), (4, 0), driven=False))
    assert said["note"][0].startswith("The run took longer than 0 s and is shown as far as it came")
