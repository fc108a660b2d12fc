"""The server of the studio: files, drafts, windows, workers and what the page is told."""

from __future__ import annotations

import http.client
import json
import os
import time

import pytest
from pages import RunningStudio

from simengine2d.cli.studio import workers
from simengine2d.cli.studio.links import link_of
from simengine2d.model import library

FOUR_BAR = "four_bar.yaml"


# Files ------------------------------------------------------------------------------------------------


def test_a_page_begins_with_the_file_the_gallery_and_the_schema(running):
    with running.page() as page:
        hello = page.ask("hello")
        assert hello["ok"] and hello["file"] == FOUR_BAR and hello["draft"] is None
        assert hello["text"] == library.text("four_bar")
        assert hello["folder"] == "models" and hello["files"] == [FOUR_BAR]
        assert {"four_bar", "slider_crank"} < {each["name"] for each in hello["gallery"]}
        assert "bodies" in hello["schema"]["properties"]
        assert hello["windows"] == 1


def test_the_page_and_the_scripts_of_the_player_are_served(running):
    for path, words in {
        "": "<!DOCTYPE html>",
        "player.js": "function mount",
        "player.css": "data-theme",
    }.items():
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        connection.request("GET", f"/{running.token}/{path}")
        answer = connection.getresponse()
        assert answer.status == 200 and words in answer.read().decode()
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "http:" not in policy and "*" not in policy


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_a_saved_file_keeps_its_line_ends_and_its_mark(running, folder, start, line_end):
    (folder / "x.yaml").write_bytes(start + line_end.join([b"name: a", b"# b", b""]))
    with running.page() as page:
        opened = page.ask("open", name="x.yaml")
        assert opened["text"] == "name: a\n# b\n"
        page.ask("save", name="x.yaml", text="name: a\n# c\n", seen=opened["hash"])
    assert (folder / "x.yaml").read_bytes() == start + line_end.join([b"name: a", b"# c", b""])


def test_a_new_model_gets_a_name_when_it_is_saved(running, folder):
    with running.page() as page:
        opened = page.ask("open", gallery="slider_crank")
        assert opened["file"] is None and opened["text"] == library.text("slider_crank")
        page.ask("draft", name=None, text="name: mine\n")
        saved = page.ask("save", name="mine.yaml", text="name: mine\n", seen=None)
        assert saved["ok"]
        assert page.ask("files")["files"] == [FOUR_BAR, "mine.yaml"]
    assert (folder / "mine.yaml").read_text() == "name: mine\n"
    assert sorted(path.name for path in folder.iterdir()) == [FOUR_BAR, "mine.yaml"]


def test_a_link_carries_a_whole_model(running):
    text = library.text("walker") + "# Größe, 長さ\n"
    link = link_of(text)
    assert link.startswith("#model=") and len(link) < len(text)
    with running.page() as page:
        for form in (link, link.removeprefix("#model="), f"http://127.0.0.1:1/{link}"):
            assert page.ask("open", link=form)["text"] == text


# Windows and other programs ---------------------------------------------------------------------------


def test_two_windows_are_told_of_each_other(running):
    with running.page() as one:
        one.ask("hello")
        assert one.push("windows")["count"] == 1
        with running.page() as two:
            assert two.ask("hello")["windows"] == 2
            assert one.push("windows")["count"] == 2
            seen = two.ask("open", name=FOUR_BAR)["hash"]
            saved = two.ask("save", name=FOUR_BAR, text="name: two\n", seen=seen)
            news = one.push("disk")
            assert (news["text"], news["hash"]) == ("name: two\n", saved["hash"])
        while one.push("windows")["count"] != 1:
            pass


def test_a_file_that_cannot_be_read_any_more_leaves_an_empty_page_that_says_so(running, folder):
    (folder / FOUR_BAR).write_bytes(b"\xff")
    with running.page() as page:
        hello = page.ask("hello")
        assert hello["ok"] and (hello["file"], hello["text"]) == (None, "")
        assert "is not UTF-8 text" in hello["problem"] and hello["schema"]


def test_saving_over_a_file_that_has_changed_is_a_conflict(running, folder):
    with running.page() as page:
        seen = page.ask("hello")["hash"]
        (folder / FOUR_BAR).write_text("name: theirs\n")
        refused = page.ask("save", name=FOUR_BAR, text="name: mine\n", seen=seen)
        assert not refused["ok"] and refused["conflict"] == "name: theirs\n"
        assert "not overwritten" in refused["error"]
        assert (folder / FOUR_BAR).read_text() == "name: theirs\n"
        assert page.ask("save", name=FOUR_BAR, text="name: mine\n", seen=refused["hash"])["ok"]
        assert not page.ask("save", name=FOUR_BAR, text="name: late\n", seen=None)["ok"]


def test_a_file_that_another_program_changes_or_deletes_is_noticed(running, folder, monkeypatch):
    monkeypatch.setattr("simengine2d.cli.studio.studio.POLL", 0.05)
    with running.page() as page:
        seen = page.ask("hello")["hash"]
        (folder / FOUR_BAR).write_text("name: theirs\n")
        assert page.push("disk")["text"] == "name: theirs\n"
        os.utime(folder / FOUR_BAR)  # touched, but the same
        (folder / FOUR_BAR).unlink()
        assert page.push("disk")["text"] is None
        refused = page.ask("save", name=FOUR_BAR, text="name: mine\n", seen=seen)
        assert refused["conflict"] is None and "deleted" in refused["error"]
        assert page.ask("save", name=FOUR_BAR, text="name: mine\n", seen=None)["ok"]


def test_desks_without_windows_are_cleared_away(running):
    with running.page() as page:
        for k in range(30):
            page.ask("save", name=f"m{k}.yaml", text="name: x\n", seen=None)
            assert not page.ask("open", name=f"missing{k}.yaml")["ok"]
        assert len(running.studio.desks) <= 2


# Workers ----------------------------------------------------------------------------------------------


def test_answers_come_from_a_worker_and_progress_is_pushed(running):
    with running.page() as page:
        done = page.ask("edit", text="steps", edit={})
        assert done["ok"] and done["text"] == "steps" and done["nan"] is None
        assert done["folder"] == str(running.studio.folder.root)
        assert [page.push("progress")["part"] for _ in range(3)] == [0.25, 0.5, 1.0]
        assert page.ask("edit", text="print", edit={})["ok"]


def test_a_worker_that_crashes_is_replaced(running):
    with running.page() as page:
        refused = page.ask("look", text="crash")
        assert not refused["ok"] and "ended unexpectedly" in refused["error"]
        assert page.ask("look", text="fine")["ok"]


def test_a_worker_that_is_killed_while_it_waits_is_replaced(running):
    with running.page() as page:
        first = page.ask("look", text="fine")["pid"]
        os.kill(first, 9)
        time.sleep(0.3)
        assert page.ask("look", text="fine")["pid"] != first


def processes(running) -> set[int]:
    return {worker.process.pid for worker in running.studio.workers.all}


def test_a_run_can_be_stopped_and_its_worker_goes_on(running):
    with running.page() as page:
        page.ask("edit", text="x", edit={})
        number = page.send("export", text="forever")
        time.sleep(0.2)
        before = processes(running)
        assert page.ask("cancel", of=number)["ok"]
        stopped = page.answer(number)
        assert stopped["cancelled"] and not stopped["ok"]
        time.sleep(0.2)
        assert page.ask("edit", text="x", edit={})["ok"]
        assert before <= processes(running)


def test_a_run_that_does_not_listen_is_killed(running, monkeypatch):
    monkeypatch.setattr(workers, "GRACE", 0.05)
    with running.page() as page:
        number = page.send("look", text="deaf")
        time.sleep(0.2)
        page.ask("cancel", of=number)
        assert page.answer(number)["cancelled"]
        assert page.ask("look", text="fine")["ok"]


def test_a_run_has_a_time_limit(running, monkeypatch):
    monkeypatch.setattr("simengine2d.cli.studio.looks.LIMIT", 0.2)
    with running.page() as page:
        refused = page.ask("look", text="forever")
        assert not refused["ok"] and "stopped after 0.2 s" in refused["error"]
        assert page.ask("look", text="fine")["ok"]


def test_a_run_that_wants_all_memory_is_refused(running):
    with running.page() as page:
        assert "not enough memory" in page.ask("look", text="memory")["error"]
        assert page.ask("look", text="fine")["ok"]


def test_the_newest_look_counts(running):
    with running.page() as page:
        numbers = [page.send("look", text="slow") for _ in range(20)]
        answers = [page.answer(number) for number in numbers]
        assert answers[-1]["ok"]
        assert sum(answer.get("superseded", False) for answer in answers) >= 17


def test_a_long_look_gives_way_to_a_newer_one(running):
    with running.page() as page:
        long = page.send("look", text="forever")
        time.sleep(0.1)
        assert page.ask("look", text="fine")["ok"]
        assert page.answer(long)["superseded"]


def test_a_spare_worker_is_kept(running):
    with running.page() as page:
        page.send("export", text="forever")
        assert page.ask("edit", text="x", edit={})["ok"]
    for _ in range(100):  # the page is closed: its run ends
        if len(running.studio.workers.free) > 1:
            break
        time.sleep(0.05)
    assert len(running.studio.workers.free) > 1


def test_workers_that_do_not_start_are_a_sentence(folder, monkeypatch):
    monkeypatch.setattr(workers, "PROGRAM", ("/bin/false",))
    with RunningStudio(folder) as studio, studio.page() as page:
        assert "do not start" in page.ask("look", text="x")["error"]
        assert page.ask("hello")["ok"]


def test_answers_are_json_for_browsers(running):
    with running.page() as page:
        page.socket.send(json.dumps({"id": "a", "do": "nothing"}))
        assert "does not know 'nothing'" in page.answer("a")["error"]
