"""`simengine2d sensitivity`: tables, JSON, the tornado, events, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words: object):
    shown = CliRunner().invoke(cli.app, ["sensitivity", *map(str, words)], env={"COLUMNS": "80"})
    terminal.Settings.json = terminal.Settings.quiet = False
    return shown


WORDS = (
    "four_bar",
    "--param",
    "crank",
    "--param",
    "rocker",
    "--output",
    "top=max(coupler.end.y)",
    "--t-end",
    1,
)


def test_a_table_and_a_tornado():
    shown = run(*WORDS, "--plot", "tornado.svg")
    assert shown.exit_code == 0, shown.output
    assert "top = " in shown.output
    assert "% per %" in shown.output
    assert Path("tornado.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_json_is_what_python_says():
    shown = run(*WORDS, "--json")
    found = se.sensitivity(
        se.load("four_bar"), ["crank", "rocker"], outputs={"top": "max(coupler.end.y)"}, t_end=1
    )
    data = json.loads(shown.stdout)
    assert data["gradients"]["top"] == pytest.approx(found["top"], rel=1e-12)
    assert data["values"]["top"] == pytest.approx(found.values["top"], rel=1e-12)


def test_the_time_of_an_event():
    """A stone that falls: t = sqrt(2 h/g), so half a percent for a percent of the height."""
    model = se.Model("stone", parameters={"h": 2.0})
    model.body("stone", mass=1, inertia=1, at=(0, "h"))
    model.save("stone.yaml")
    words = (
        "stone.yaml",
        "--param",
        "h",
        "--analysis",
        "dynamics",
        "--t-end",
        1,
        "--output",
        "time(landing)",
    )
    shown = run(*words, "--event", "landing=stone.y", "--json")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["gradients"]["time(landing)"]["h"] == pytest.approx(
        (2 * 2 / 9.81) ** 0.5 / 4, rel=1e-8
    )


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("four_bar", "--param", "crnk", "--output", "max(coupler.y)"), 1, "no parameter 'crnk'"),
        (("four_bar", "--param", "crank", "--output", "max(copler.y)"), 1, "Did you mean 'coupler'"),
        (
            ("four_bar", "--param", "crank", "--output", "max(coupler.y)", "--event", "landing"),
            2,
            "write NAME=EXPRESSION",
        ),
        (("four_bar", "--param", "crank", "--output", "max(coupler.y)", "--plot", "a.doc"), 2, ".doc"),
        (("nothing.yaml", "--param", "crank", "--output", "max(coupler.y)"), 2, "nothing.yaml"),
    ],
)
def test_what_is_wrong_is_a_sentence(words, code, sentence):
    shown = run(*words)
    assert shown.exit_code == code, shown.output
    assert sentence in " ".join(shown.output.split())
