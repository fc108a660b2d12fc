"""Windows in a real Chromium: work survives a reload and a killed server, others on the same file are noticed."""

from __future__ import annotations

import json
import time
from urllib.request import Request, urlopen

import pytest
from pages import RunningStudio
from studio_page import CONTROL, PATIENCE, StudioPage

from chromium import browser, program
from simengine2d.cli.studio.links import link_of

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")

NAME = "mine.yaml"
SAVED = "# shown\nname: saved\n"


@pytest.fixture
def home(small_workers, tmp_path):
    (tmp_path / NAME).write_text(SAVED)
    return tmp_path


@pytest.fixture(scope="module")
def chromium():
    with browser() as port:
        yield port


def opened(port, address) -> StudioPage:
    """A new window."""
    with urlopen(Request(f"http://127.0.0.1:{port}/json/new", method="PUT")) as answer:
        json.load(answer)
    page = StudioPage(port, 1200, 760)
    page.visit(address)
    return page


def write(page, text) -> None:
    """At the end of the text, until its draft is kept."""
    end = page.run("studio.editor.text.length")
    page.run(f"studio.editor.view.focus(), studio.editor.view.dispatch({{ selection: {{ anchor: {end} }} }})")
    page.send("Input.insertText", text=text)


def wait_for(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def draft(home, name=f".{NAME}.draft") -> str:
    return (home / name).read_text() if (home / name).exists() else ""


def answer(page, word) -> None:
    """Click a button of the question that the page asks."""
    page.until("document.querySelector('dialog[open] button')")
    clicked = f"[...document.querySelectorAll('dialog[open] button')].find((b) => b.innerText === {word!r})?.click()"
    page.run(clicked)
    page.until("!document.querySelector('dialog[open]')")


def reload(page, until="window.studio?.canvas.dataset.looks") -> None:
    page.run("window.before = true")
    page.send("Page.reload")
    wait_for(lambda: is_there(page, f"!window.before && {until}"))


def is_there(page, script) -> bool:
    try:
        return page.run(f"Boolean({script})")
    except RuntimeError:  # between two pages
        return False


def test_unsaved_work_survives_a_reload_and_a_killed_server(home, chromium):
    with RunningStudio(home, NAME) as studio:
        page = opened(chromium, studio.address)
        assert page.text == SAVED
        write(page, "# mine\n")
        wait_for(lambda: draft(home) == f"{SAVED}# mine\n")
        reload(page)
        answer(page, "Go on with it")
        assert page.text == f"{SAVED}# mine\n"
    page.until("!studio.page.online")
    write(page, "# while it was gone\n")
    (home / NAME).write_text(f"{SAVED}# theirs\n")
    with RunningStudio(home, NAME, before=studio) as again:
        answer(page, "Keep mine")  # the file has changed meanwhile
        whole = f"{SAVED}# mine\n# while it was gone\n"
        wait_for(lambda: draft(home) == whole)
        assert [path.name for path in home.glob(".*")] == [f".{NAME}.draft"]
        page.key("s", CONTROL)
        wait_for(lambda: (home / NAME).read_text() == whole)
        page.until("!studio.files.isChanged")
        assert not draft(home)
        page.close()
        assert again.studio.windows


def test_windows_hear_of_each_other_and_of_the_disk(home, chromium):
    with RunningStudio(home, NAME) as studio:
        one = opened(chromium, studio.address)
        two = opened(chromium, studio.address)
        one.until("studio.files.windows === 2 && document.body.innerText.includes('2 windows')")
        write(two, "# of two\n")
        two.key("s", CONTROL)
        one.until("studio.editor.text.endsWith('# of two\\n')")
        assert "has changed on disk" in one.toasts()
        write(one, "# of one\n")
        (home / NAME).write_text(f"{SAVED}# theirs\n")
        answer(one, "Take that of the disk")
        one.until("studio.editor.text.endsWith('# theirs\\n')")
        (home / NAME).unlink()
        one.until("document.querySelector('.toasts').innerText.includes('was deleted on disk')")
        assert one.complaints == [] and two.complaints == []
        one.close()
        two.close()


def test_a_model_without_a_file_survives_a_reload(home, chromium):
    with RunningStudio(home) as studio:
        page = opened(chromium, studio.address)
        page.run("studio.files.open({ gallery: 'four_bar' })")
        page.until("studio.editor.text.includes('name: four-bar')")
        reload(page, "window.studio?.editor.text.includes('name: four-bar')")
        assert [path.name for path in home.iterdir()] == [NAME]
        page.close()


def test_a_link_opens_behind_the_address_of_any_studio(home, chromium):
    text = "# shown\nname: of a link\n"
    with RunningStudio(home) as studio:
        page = opened(chromium, f"{studio.address}{link_of(text)}")
        page.until(f"studio.editor.text === {json.dumps(text)}")
        other = text.replace("of a link", "<img src=x onerror=window.struck=1>")
        page.run(f"location.hash = {link_of(other)!r}")
        page.until(f"studio.editor.text === {json.dumps(other)}")
        assert page.run("location.hash") == "" and page.run("window.struck") is None
        page.run(f"location.hash = {link_of(other)[:-9]!r}")
        page.until("document.querySelector('.toasts').innerText.includes('Copy the whole link')")
        assert page.text == other and page.complaints == []
        page.close()
