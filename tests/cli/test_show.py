"""`simengine2d demo` and `show`: pages of shipped mechanisms, of model files and of saved results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import simengine2d as se
from loading import written
from simengine2d import cli
from simengine2d.cli.commands import show as command

MODEL = """\
name: falling bar
bodies:
  bar: {shape: bar, start: [0, 0], end: [1, 0], mass: 2}
joints:
  O: {type: Revolute, a: ground, b: bar.start}
analysis: {kind: dynamics, t_end: 0.5, step: 0.05}
"""
# the slider reaches the end of its way, x = 2 + sqrt(13), where crank and rod are in line
DEAD = """\
name: stuck
bodies:
  crank: {mass: 1, inertia: 1, at: [0, 1], points: {O: [0, -1], A: [0, 1]}}
  rod: {mass: 1, inertia: 1, at: [1.5, 1], angle: -atan(2/3), points: {A: [-sqrt(13)/2, 0], B: [sqrt(13)/2, 0]}}
  slider: {mass: 1, inertia: 1, at: [3, 0]}
joints:
  O: {type: Revolute, a: ground, b: crank.O}
  A: {type: Revolute, a: crank.A, b: rod.A}
  B: {type: Revolute, a: rod.B, b: slider}
  guide: {type: Translational, a: ground, b: slider, direction: [1, 0]}
  push: {type: Driver, measure: "x(ground, slider)", value: 3 + 6*t}
analysis: {kind: kinematics, t_end: 1, step: 0.01}
"""


def run(*words: object):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "100"})


def data_of(path) -> dict:
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda *_: pytest.fail("a browser was opened where nobody looks"))
    return tmp_path


@pytest.mark.slow
def test_the_demo_writes_a_page_with_forces(folder):
    answer = run("demo")
    assert answer.exit_code == 0, answer.output
    (page,) = folder.iterdir()
    assert str(page) in answer.output and "open it in a browser" in answer.output
    (result,) = data_of(page)["results"]
    assert result["arrows"] and "stopped" not in result["status"]


@pytest.mark.slow
def test_the_installed_demo_compiles_nothing(folder):
    """It ends within seconds on a fresh install, where compiling alone would take longer."""
    command = [Path(sys.executable).with_name("simengine2d"), "demo", "--out", "demo.html"]
    environment = os.environ | {"SIMENGINE2D_CACHE": str(folder / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert data_of(folder / "demo.html")["results"][0]["name"] == "slider-crank"
    assert not (folder / "cache").exists()


@pytest.mark.slow
def test_another_mechanism_and_another_file(folder):
    answer = run("demo", "double_pendulum", "--out", "swing.html", "--no-open")
    assert answer.exit_code == 0, answer.output
    assert data_of(folder / "swing.html")["options"]["trace"] == ["lower.end"]
    answer = run("demo", "four_ber")
    assert answer.exit_code == 2 and "Did you mean 'four_bar'?" in answer.output


def test_show_runs_a_model(folder):
    written(folder, MODEL, "bar.yaml")
    answer = run("show", "bar.yaml")
    assert answer.exit_code == 0, answer.output
    (result,) = data_of(folder / "bar_player.html")["results"]
    assert result["name"] == "falling bar" and "11 points" in result["status"]


def test_show_draws_a_model_at_rest(folder):
    written(folder, MODEL, "bar.yaml")
    answer = run("show", "bar.yaml", "--still", "--out", "pose.html")
    assert answer.exit_code == 0, answer.output
    (result,) = data_of(folder / "pose.html")["results"]
    assert result["status"] == "assembled"


def test_show_plays_saved_results(folder):
    results = se.dynamics(se.load(written(folder, MODEL, "bar.yaml")), t_end=0.5, step=0.1)
    results.save(folder / "run.npz")
    assert run("show", "run.npz").exit_code == 0
    assert data_of(folder / "run_player.html")["results"][0]["status"] == f"{results.status}; trust"
    results.save(folder / "run.csv")
    answer = run("show", "run.csv", "--out", "csv.html")
    assert answer.exit_code == 3 and ".npz or .parquet" in answer.output
    assert not (folder / "csv.html").exists()


def test_what_a_failed_run_has_finished_is_shown(folder):
    written(folder, DEAD, "dead.yaml")
    answer = run("show", "dead.yaml")
    assert answer.exit_code == 3
    assert "error:" in answer.output and "wrote" in answer.output
    (result,) = data_of(folder / "dead_player.html")["results"]
    assert "stopped" in result["status"]


def test_wrong_requests(folder):
    assert run("show", "nowhere.yaml").exit_code == 2
    written(folder, MODEL, "bar.yaml")
    answer = run("show", "bar.yaml", "--out", "page.pdf")
    assert answer.exit_code == 1 and "a page is an .html file" in answer.output
    assert [path.name for path in folder.iterdir()] == ["bar.yaml"]


def test_a_browser_is_opened_on_a_terminal_with_a_screen(folder, monkeypatch):
    opened = []
    page = folder / "page.html"
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(command.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(command.sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not command.open_page(page.as_uri()) and opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    assert command.open_page(page.as_uri()) and opened == [page.as_uri()]
