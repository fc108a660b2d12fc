"""`simengine2d fit`: parameters, bounds and starts, the model and the picture that are written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal
from simengine2d.cli.commands.fit import RunBar, parameters_in


def run(*words: object):
    shown = CliRunner().invoke(cli.app, ["fit", *map(str, words)], env={"COLUMNS": "80"})
    terminal.Settings.json = terminal.Settings.quiet = False
    return shown


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = se.kinematics(se.load("four_bar"), t_end=1, step=0.05)
    phi = results["rocker.phi"] + 1e-3 * np.random.default_rng(0).standard_normal(results.t.size)
    rows = [f"{t:.6g};{np.degrees(angle):.8g}" for t, angle in zip(results.t, phi, strict=True)]
    Path("bench.csv").write_text("\n".join(["t [s];angle [deg]", *rows]), encoding="utf-8")


WORDS = ("four_bar", "bench.csv", "--channel", "angle=rocker.phi")


def test_parameters():
    assert parameters_in(["k", "c=1:10", "d = 2:", "e=:3", "m=2"]) == (
        ["k", "c", "d", "e", "m"],
        {"c": ("1", "10"), "d": ("2", None), "e": (None, "3")},
        {"m": "2"},
    )
    for text in ("", "k=", "=3", "k=:"):
        with pytest.raises(typer.BadParameter):
            parameters_in([text])


def test_the_model_keeps_its_text_and_the_picture_is_drawn():
    shown = run(
        *WORDS,
        "--parameter",
        "rocker=3:4",
        "--parameter",
        "coupler",
        "--out",
        "fitted.yaml",
        "--plot",
        "fit.png",
    )
    assert shown.exit_code == 0, shown.output
    assert "fit of 'four-bar' to 21 values of rocker.phi" in shown.stdout
    assert "wrote fitted.yaml" in shown.stdout
    assert Path("fit.png").read_bytes().startswith(b"\x89PNG")
    text = Path("fitted.yaml").read_text(encoding="utf-8")
    assert "# C by two circles about B and D" in text
    assert se.load("fitted.yaml").parameters["rocker"] == pytest.approx(13**0.5, rel=0.01)


def test_the_answer_in_json():
    shown = run(*WORDS, "--param", "rocker", "--noise", "rocker.phi=0.001 rad", "--json")
    data = json.loads(shown.stdout)
    low, high = data["intervals"]["rocker"]
    assert low < data["parameters"]["rocker"] < high
    assert data["noise"] == {"rocker.phi": 0.001}
    assert data["success"] is True


def test_what_is_not_determined_is_a_warning_and_with_strict_an_exit_code():
    words = [part for name in ("crank", "coupler", "rocker", "ground") for part in ("--parameter", name)]
    shown = run(*WORDS, *words)
    assert shown.exit_code == 0
    assert "warning: Only the ratios crank/ground, coupler/ground" in shown.stderr
    assert run(*WORDS, *words, "--strict").exit_code == 4
    data = json.loads(run(*WORDS, *words, "--json").stdout)
    assert data["intervals"]["crank"] == [None, None]
    assert data["success"] is False


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((*WORDS, "--parameter", "roker"), 1, "Did you mean 'rocker'?"),
        (("four_bar", "bench.csv", "--parameter", "rocker"), 1, "column angle: "),
        (
            (*WORDS, "--parameter", "rocker", "--plot", "fit.txt"),
            2,
            "--plot fit.txt: the ending must be one of",
        ),
        ((*WORDS, "--parameter", "rocker=4:3"), 1, "bounds of 'rocker': 4 is not below 3"),
        ((*WORDS, "--parameter", "rocker=a:3"), 1, "parameter 'rocker': "),
        ((*WORDS, "--param", "rocker", "--noise", "rocker.phi"), 2, "write CHANNEL=SIGMA"),
        ((*WORDS, "--parameter", "rocker", "--loss", "cubic"), 1, "there is no loss 'cubic'"),
        ((*WORDS, "--parameter", "rocker", "--analysis", "modes"), 1, "a fit compares motions"),
    ],
)
def test_what_is_refused(words, code, sentence):
    shown = run(*words)
    assert shown.exit_code == code
    assert sentence in " ".join(shown.stderr.replace("│", " ").split())


def test_the_bar_counts_runs():
    assert RunBar().words(12.0, 0.0) == "12 runs"
