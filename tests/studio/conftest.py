"""Studios for tests: with workers that need no kernels, in a folder of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pages import RunningStudio
from studio_page import StudioPage

from chromium import browser
from simengine2d.cli.studio import workers
from simengine2d.model import library


@pytest.fixture
def small_workers(monkeypatch):
    monkeypatch.setattr(
        workers, "PROGRAM", (sys.executable, "-P", str(Path(__file__).with_name("small_worker.py")))
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "models").mkdir()
    library.copy("four_bar", tmp_path / "models")
    return tmp_path / "models"


@pytest.fixture
def running(small_workers, folder):
    with RunningStudio(folder, "four_bar.yaml") as studio:
        yield studio


# a real browser


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def page(home):
    """One window for all tests; it must not have complained about anything."""
    with RunningStudio(home) as studio, browser() as port:
        opened = StudioPage(port, 1440, 860)
        opened.visit(studio.address)
        yield opened
        assert opened.complaints == []
        addresses = {address.split("/")[2] for address in opened.requests if address.startswith("http")}
        assert addresses == {f"127.0.0.1:{studio.port}"}
        opened.close()


@pytest.fixture
def empty(page):
    """A new drawing, whatever the test before has left."""
    page.run(
        "(async () => { studio.files.saved = studio.editor.text; await studio.files.begin(); await studio.looked() })()"
    )
    page.run("studio.page.showPanel('model'); studio.canvas.focus()")
    page.key("Escape")
    assert page.text == ""
    return page
