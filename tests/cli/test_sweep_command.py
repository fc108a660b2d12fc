"""`simengine2d sweep`: ranges, lists, samples; the summary, the answer in JSON, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from simengine2d import cli
from simengine2d.cli import terminal
from simengine2d.cli.commands.sweep import values_in
from simengine2d.cli.terminal import CountBar
from simengine2d.lab.sweep import cluster


def run(*words: object):
    shown = CliRunner().invoke(cli.app, ["sweep", *map(str, words)], env={"COLUMNS": "80"})
    terminal.Settings.json = terminal.Settings.quiet = False
    return shown


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_values_of_parameters():
    assert values_in("L=1,2*2,30*deg", False) == ("L", [1, 4, np.pi / 6])
    name, values = values_in("L=0.5:2:0.01", False)
    assert (name, values.size, values[0]) == ("L", 151, 0.5)
    assert values[-1] == pytest.approx(2.0)
    assert values_in("L=2:0:-0.5", False)[1].tolist() == [2, 1.5, 1, 0.5, 0]
    assert values_in("L=0:1:#3", False)[1].tolist() == [0, 0.5, 1]
    assert values_in("L=0:1", True) == ("L", (0, 1))


def test_the_summary_and_the_folder():
    words = (
        "four_bar",
        "--param",
        "rocker=2.5:4:0.5",
        "--output",
        "top=max(coupler.end.y)",
        "--out",
        "study",
    )
    shown = run(*words)
    assert shown.exit_code == 0, shown.output
    assert "four-bar, kinematics: 4 samples, 1 failed" in shown.stdout
    assert "sample 0 failed: at t = 0.31" in shown.stdout
    assert "4 rows are in study" in shown.stdout
    assert run(*words).stdout == shown.stdout
    other = run(
        "four_bar", "--param", "rocker=2.5:4:0.25", "--output", "top=max(coupler.end.y)", "--out", "study"
    )
    assert (other.exit_code, "of another study" in other.stderr) == (1, True)


def test_the_answer_in_json():
    shown = run(
        *("four_bar", "--param", "density=1,2", "--output", "max(B.force)", "--analysis", "inverse"),
        *("--t-end", 1, "--points", 11, "--json"),
    )
    data = json.loads(shown.stdout)
    assert data["columns"]["density"] == [1, 2]
    assert data["columns"]["max(B.force)"][1] == pytest.approx(2 * data["columns"]["max(B.force)"][0])


def test_samples_are_drawn():
    words = (
        "four_bar",
        "--param",
        "rocker=3.2:4",
        "--output",
        "top=max(coupler.end.y)",
        "--samples",
        8,
        "--json",
    )
    rocker = json.loads(run(*words, "--design", "latin", "--seed", 3).stdout)["columns"]["rocker"]
    assert sorted(np.floor((np.array(rocker) - 3.2) / 0.1).astype(int).tolist()) == list(range(8))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--param", "rokcer=1,2"], "Did you mean 'rocker'"),
        (["--param", "rocker"], "write NAME=START:STOP:STEP"),
        (["--param", "rocker=1:2"], "give a step or a #COUNT"),
        (["--param", "rocker=1:2:-1"], "the range is empty"),
        (["--param", "rocker=1:2:#x"], "#x is not a number of values"),
        (["--param", "rocker=1:2:0"], "the range is empty"),
        (["--param", "rocker=1,2", "--executor", "tcp://127.0.0.1:1"], "Dask"),
    ],
)
def test_mistakes(words, sentence, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", "0.2s")
    shown = run("four_bar", "--output", "max(coupler.y)", *words)
    assert shown.exit_code in (1, 2, 3)
    assert sentence in " ".join(shown.stderr.replace("│", " ").split())


def test_a_picture_of_each_output(tmp_path):
    words = ("four_bar", "--param", "rocker=3.4,3.5,3.6", "--param", "coupler=2,2.1", "--json")
    shown = run(*words, "--output", "max(coupler.y)", "--output", "min(transmission)", "--plot", "study.svg")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["plot"] == "study.svg"
    drawing = (tmp_path / "study.svg").read_text(encoding="utf-8")
    assert (
        drawing.count("<svg") == 1 and drawing.count('id="axes_') == 4
    )  # two maps with their scales of colors
    shown = run(*words[:-1], "--output", "coupler.y", "--plot", "study.svg")
    assert shown.exit_code == 1
    assert "no output is one number a sample" in shown.stderr
    shown = run(*words[:-1], "--output", "max(coupler.y)", "--plot", "study.doc")
    assert shown.exit_code == 2
    assert "the ending must be one of .png, .svg, .pdf" in shown.stderr


def test_progress_in_words():
    bar = CountBar("samples")
    bar.count(0, 1000)
    bar.first = (0.0, 0.0)
    assert bar.words(400.0, 2.0) == "400 of 1000 samples, 200 per second, 3 s left"
