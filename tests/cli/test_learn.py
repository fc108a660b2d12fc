"""`simengine2d new` and `simengine2d learn`: files to begin with, which run and explain themselves."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import notebooks
from simengine2d.cli.commands import learn
from simengine2d.io.job import job_for
from simengine2d.model.library import starters

ROOT = Path(__file__).parents[2]


def run(*words: object):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "80"})


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# New --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", starters.names())
@pytest.mark.parametrize("ending", starters.STORED)
def test_every_line_has_a_comment(name, ending):
    lines = [line for line in starters.text(name, ending).splitlines() if line.strip()]
    assert [line for line in lines if "#" not in line] == []
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("name", starters.names())
def test_a_new_model_runs_as_it_is_in_both_languages(name, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    model = se.load(starters.write(name, Path()))
    program: dict = {}
    exec(compile(starters.text(name, ".py"), name, "exec"), program)
    by_file, by_program = job_for(model).run(model), program["r"]
    assert by_file.verdict.word == by_program.verdict.word == "trust"
    assert by_file.model.name == by_program.model.name
    np.testing.assert_allclose(by_file.q, by_program.q, atol=1e-7 * np.abs(by_file.q).max())
    assert {f"my_{name}.png", f"my_{name}.html"} <= {path.name for path in Path().iterdir()}


def test_a_new_model_says_what_to_type_next_and_that_works():
    shown = run("new", "four-bar")
    assert shown.exit_code == 0
    lines = [line.split("#")[0].split() for line in shown.stdout.splitlines() if line.startswith("  ")]
    assert [words[1] for words in lines] == ["check", "show", "run"]
    for words in lines:
        assert run(*words[1:]).exit_code == 0, words
    assert Path("my_four_bar_player.html").exists()


def test_nothing_is_overwritten():
    Path("my_pendulum.yaml").write_text("mine")
    shown = run("new", "pendulum")
    assert (shown.exit_code, Path("my_pendulum.yaml").read_text()) == (1, "mine")
    assert "my_pendulum.yaml already exists and was not overwritten" in shown.stderr


def test_a_misspelled_starter_is_answered():
    shown = run("new", "for-bar")
    assert shown.exit_code == 2
    assert "Did you mean 'four-bar'?" in shown.stderr


def test_the_new_four_bar_can_be_changed():
    """All that a beginner does first: other lengths, another speed, without the motor."""
    text = starters.text("four_bar")
    for old, new in [("coupler: 1.0", "coupler: 0.9"), ("60 rpm", "90 rpm"), ("60*deg", "100*deg")]:
        assert old in text
        Path("mine.yaml").write_text(text.replace(old, new))
        assert run("run", "mine.yaml").exit_code == 0
    Path("mine.yaml").write_text(text.replace("ground: 1.1 ", "ground: 3.1 "))
    shown = run("run", "mine.yaml")
    assert shown.exit_code == 1
    assert "coupler + rocker = 1.8 is too small beside diagonal = 2.96142" in shown.stderr


# Learn ------------------------------------------------------------------------------------------------


def test_the_notebooks_are_listed_in_order():
    listed = json.loads(run("learn", "--json").stdout)["notebooks"]
    assert list(listed) == [path.stem[3:] for path in sorted((ROOT / "examples" / "jupyter").glob("*.ipynb"))]
    assert all(len(title) > 10 for title in listed.values())


@pytest.fixture
def started(monkeypatch):
    """The programs that would be started."""
    calls: list[list[str]] = []

    def note(words, check, env):
        assert env.items() >= learn.RUN_AT_ONCE.items()
        calls.append(words)
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(learn.subprocess, "run", note)
    monkeypatch.setattr(learn, "find_spec", lambda name: object())
    return calls


def test_a_notebook_is_copied_and_opened(started):
    first = notebooks.notebooks()[0]
    assert run("learn", 1).exit_code == 0
    assert Path(first.path.name).read_bytes() == first.path.read_bytes()
    assert started == [[sys.executable, "-m", "marimo", "edit", first.path.name]]
    Path(first.path.name).write_text("mine")
    shown = run("learn", first.name, "--no-browser")
    assert "kept your" in shown.stdout
    assert Path(first.path.name).read_text() == "mine"
    assert started[1][2:] == ["marimo", "edit", "--headless", first.path.name]


def test_without_marimo_it_says_how_to_get_it(started, monkeypatch):
    monkeypatch.setattr(learn, "find_spec", lambda name: None)
    shown = run("learn", 1)
    assert (shown.exit_code, started) == (0, [])
    assert "pip install 'simengine2d[learn]'" in shown.stdout
    assert "marimo edit 01_" in shown.stdout


def test_a_notebook_that_is_not_there():
    shown = run("learn", 99)
    assert shown.exit_code == 2
    assert "Numbers from 1 to" in shown.stderr


@pytest.mark.slow
def test_the_wheel_has_the_notebooks_and_the_starters(tmp_path):
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    [wheel] = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    assert f"simengine2d/examples/{notebooks.notebooks()[0].path.name}" in inside
    assert "simengine2d/model/library/starters/four_bar.yaml" in inside
    assert not [name for name in inside if "__marimo__" in name or "__pycache__" in name]
