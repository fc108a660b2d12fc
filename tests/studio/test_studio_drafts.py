"""Unsaved work: it survives reloads, killed servers and other windows, and is offered again."""

from __future__ import annotations

import pytest
from pages import RunningStudio

from simengine2d.cli.studio import drafts
from simengine2d.model import library

FOUR_BAR = "four_bar.yaml"
SAVED = library.text("four_bar")


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_unsaved_work_is_offered_again_after_the_server_is_gone(small_workers, folder):
    with RunningStudio(folder, FOUR_BAR) as studio, studio.page() as page:
        text = page.ask("hello")["text"] + "# unsaved\n"
        assert page.ask("draft", name=FOUR_BAR, text=text)["number"] == 1
    with RunningStudio(folder, FOUR_BAR) as studio, studio.page() as page:
        hello = page.ask("hello")
        assert hello["draft"] == text and hello["text"] == SAVED
        assert page.ask("save", name=FOUR_BAR, text=text, seen=hello["hash"])["ok"]
        assert page.ask("open", name=FOUR_BAR)["draft"] is None
    assert names(folder) == [FOUR_BAR]


def test_a_draft_that_nobody_wants_is_deleted(running, folder):
    with running.page() as page:
        page.ask("hello")
        page.ask("draft", name=FOUR_BAR, text="name: other\n")
        page.ask("forget", name=FOUR_BAR)
        assert names(folder) == [FOUR_BAR]
        page.ask("draft", name=FOUR_BAR, text="name: other\n")
    with running.page() as page:
        assert page.ask("hello")["draft"] == "name: other\n"
        page.ask("forget", name=FOUR_BAR)  # its own, of which it has none
        assert page.ask("open", name=FOUR_BAR)["draft"] == "name: other\n"
        page.ask("forget", name=FOUR_BAR, offered=True)
        assert names(folder) == [FOUR_BAR]
        page.ask("draft", name=FOUR_BAR, text=SAVED)  # says nothing new
    with running.page() as page:
        assert page.ask("hello")["draft"] is None
    assert names(folder) == [FOUR_BAR]


def test_no_window_touches_the_draft_of_another_one(running, folder):
    with running.page() as one, running.page() as two:
        seen = one.ask("hello")["hash"]
        two.ask("hello")
        one.ask("draft", name=FOUR_BAR, text="name: of one\n")
        assert two.ask("draft", name=FOUR_BAR, text="name: of two\n")["number"] == 2
        with running.page() as three:
            assert three.ask("hello")["draft"] is None  # both are being worked on
        one.ask("save", name=FOUR_BAR, text="name: of one\n", seen=seen)
        assert names(folder) == [".four_bar.yaml.2.draft", FOUR_BAR]
    with running.page() as page:
        assert page.ask("hello")["draft"] == "name: of two\n"


def test_drafts_of_several_windows_are_offered_to_one_window_each(running, folder):
    with running.page() as one, running.page() as two:
        for page, text in ((one, "name: of one\n"), (two, "name: of two\n")):
            page.ask("hello")
            page.ask("draft", name=FOUR_BAR, text=text)
    with running.page() as one, running.page() as two:
        assert one.ask("hello")["draft"] == "name: of one\n"
        assert two.ask("hello")["draft"] == "name: of two\n"
        assert one.ask("draft", name=FOUR_BAR, text="name: goes on\n", offered=True)["number"] == 1
        assert two.ask("draft", name=FOUR_BAR, text="name: begins anew\n")["number"] == 3
    kept = {path.name: path.read_text() for path in folder.glob(".*.draft")}
    assert kept == {
        ".four_bar.yaml.draft": "name: goes on\n",
        ".four_bar.yaml.2.draft": "name: of two\n",
        ".four_bar.yaml.3.draft": "name: begins anew\n",
    }


def test_a_page_whose_connection_was_lost_goes_on_with_its_draft(running, folder):
    with running.page() as page:
        page.ask("hello", name=None)
        number = page.ask("draft", name=None, text="name: new\n")["number"]
    with running.page() as page:
        assert page.ask("hello", name=None, number=number)["draft"] is None
        page.ask("draft", name=None, text="name: newer\n")
        for wrong in (7, "x", [1], True):
            assert page.ask("hello", name=None, number=wrong)["ok"]
    assert (folder / ".untitled.draft").read_text() == "name: newer\n"
    assert names(folder) == [".untitled.draft", FOUR_BAR]


def test_a_page_whose_file_was_deleted_meanwhile_keeps_its_work(running, folder):
    (folder / FOUR_BAR).unlink()
    with running.page() as page:
        assert not page.ask("hello", name=FOUR_BAR)["ok"]
        back = page.ask("hello", name=FOUR_BAR, back=True)
        assert back["ok"] and (back["file"], back["hash"]) == (FOUR_BAR, None)
        assert page.ask("draft", name=FOUR_BAR, text="name: mine\n")["ok"]
    assert names(folder) == [".four_bar.yaml.draft"]


def test_saving_under_another_name_takes_the_draft_along(running, folder):
    with running.page() as page:
        page.ask("hello")
        page.ask("draft", name=FOUR_BAR, text="name: mine\n")
        assert page.ask("save", name="mine.yaml", text="name: mine\n", seen=None)["ok"]
        assert not page.ask("draft", name=FOUR_BAR, text="name: late\n")["ok"]
    assert names(folder) == [FOUR_BAR, "mine.yaml"]


def test_so_many_drafts_and_not_more(running, monkeypatch):
    monkeypatch.setattr(drafts, "MOST_DRAFTS", 1)
    with running.page() as one, running.page() as two:
        one.ask("hello")
        two.ask("hello")
        assert one.ask("draft", name=FOUR_BAR, text="name: a\n")["ok"]
        assert "1 drafts of four_bar.yaml already" in two.ask("draft", name=FOUR_BAR, text="x")["error"]


@pytest.mark.parametrize("verb", ["draft", "forget"])
def test_a_disk_that_does_not_write_is_a_sentence(running, folder, monkeypatch, verb):
    with running.page() as page:
        page.ask("hello")
        page.ask("draft", name=FOUR_BAR, text="name: a\n")

        def refuse(*_, **__):
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr("simengine2d.io.files.tempfile.mkstemp", refuse)
        monkeypatch.setattr("simengine2d.cli.studio.folder.Path.unlink", refuse)
        refused = page.ask(verb, name=FOUR_BAR, text="name: b\n")["error"]
        assert "read-only file system" in refused and "defect" not in refused
