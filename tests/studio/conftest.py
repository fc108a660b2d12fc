"""Studios for tests: with workers that need no kernels, in a folder of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pages import RunningStudio

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
