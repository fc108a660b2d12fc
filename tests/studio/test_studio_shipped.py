"""Every shipped mechanism on the studio: it opens, is drawn, runs, and is saved back as it was."""

from __future__ import annotations

import pytest
from pages import RunningStudio

from simengine2d.cli.studio.draft import number_in
from simengine2d.model import library

pytestmark = pytest.mark.slow


def changed_lines(before: str, after: str) -> list[str]:
    old, new = before.splitlines(), after.splitlines()
    assert len(old) == len(new)
    return [line for line, other in zip(old, new, strict=True) if line != other]


def first_number(answer) -> tuple[str, float]:
    """A parameter that is a number, and one a little larger."""
    name, text = next(
        (each["name"], each["text"]) for each in answer["parameters"] if number_in(each["text"]) is not None
    )
    return name, number_in(text)[0] * 1.001 or 0.001


def test_every_shipped_mechanism_opens_draws_runs_and_is_saved_back(tmp_path):
    """Through the server and its workers. Nothing edited: nothing changed. One number edited: one line changed."""
    for name in library.names():
        library.copy(name, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) >= 54
    with RunningStudio(tmp_path) as studio, studio.page() as page:
        for name, data in before.items():
            opened = page.ask("open", name=name)
            answer = page.answer(page.send("look", text=opened["text"]), timeout=60)
            assert answer["ok"] and answer["problems"] == [], (name, answer)
            assert len(answer["drawing"]["bodies"]) > 1 and answer["drawing"]["elements"]
            status = answer["player"]["results"][0]["status"]
            assert "finished at t" in status and len(answer["channels"]) > 3, (name, status)
            assert not {word["kind"] for word in answer["words"]} & {
                "cannot close",
                "cannot move",
                "dead point",
            }
            saved = page.ask("save", name=name, text=opened["text"], seen=opened["hash"])
            assert saved["hash"] == opened["hash"] and (tmp_path / name).read_bytes() == data
            parameter, value = first_number(answer)
            edit = {"do": "set_parameter", "name": parameter, "value": value}
            text = page.ask("edit", text=opened["text"], edit=edit)["text"]
            (line,) = changed_lines(opened["text"], text)
            assert parameter in line
            page.ask("save", name=name, text=text, seen=saved["hash"])
            assert (tmp_path / name).read_bytes() == text.encode()
