"""The one answer to every edit."""

from __future__ import annotations

import json
from pathlib import Path

import simengine2d as se
from simengine2d.cli.studio.answers import look

LIBRARY = Path(se.__file__).parent / "model" / "library"


def seen(text: str, **request) -> dict:
    answer = look({"text": text, "folder": str(LIBRARY)} | request)
    json.dumps(answer, allow_nan=False)
    return answer


def of(name: str, **request) -> dict:
    return seen((LIBRARY / f"{name}.yaml").read_text(encoding="utf-8"), **request)


def test_a_link_that_nothing_holds_does_not_fall_out_of_the_picture():
    text = "bodies:\n  link1: {shape: bar, start: [0, 0], end: [0.6, 0.4], density: 1}\n"
    (shown,) = look({"text": text})["player"]["results"]
    x0, y0, x1, y1 = shown["bounds"]
    assert 1.0 < y1 - y0 < 4.0 and x1 - x0 < 4.0
    fallen = look({"text": text, "analysis": {"kind": "dynamics", "t_end": 5}})["player"]["results"][0]
    assert fallen["bounds"][1] < -100.0  # where it is asked for
    held = f"ground: {{points: {{A: [0, 0]}}}}\n{text}joints:\n  A: {{type: Revolute, a: ground.A, b: link1.start}}\n"
    assert look({"text": held})["player"]["results"][0]["bounds"][3] > 0.3  # it swings as long as usual
    assert len(look({"text": held})["player"]["results"][0]["t"]) > 1000


def test_a_four_bar_is_shown_with_its_forces():
    answer = of("four_bar")
    assert answer["problems"] == []
    assert [point["id"] for point in answer["drawing"]["points"]] == ["A", "B", "C", "D"]
    assert {peak["joint"] for peak in answer["peaks"]} == {"A", "B", "C", "D", "motor"}
    assert answer["player"]["results"][0]["bodies"] == ["crank", "coupler", "rocker"]


def test_an_empty_text_is_a_drawing_without_anything():
    answer = seen("")
    assert answer["problems"] == [] and answer["player"] is None
    assert [word["kind"] for word in answer["words"]] == ["note"]


def test_problems_have_their_lines():
    answer = seen("bodies:\n  a: {mass: -1}\n  b: {mass: x}\njoints:\n  A: {type: Revolute, a: a, b: c}\n")
    assert [problem["line"] for problem in answer["problems"]] == [2, 3, 5]
    assert seen("bodies: {a: [}\n")["problems"][0]["line"] == 1
