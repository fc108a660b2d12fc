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
