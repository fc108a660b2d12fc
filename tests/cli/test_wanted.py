"""What commands write beside their tables: plots, reports, films and pages; angles in degrees."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal
from simengine2d.cli.commands.wanted import OPTIONS

FLAGS = {f"--{name.replace('_', '-')}" for name in OPTIONS}
ANALYSES = ("run", "kinematics", "dynamics", "inverse", "resume", "equilibrium", "modes")


def run(*words: object):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "80"})


@pytest.fixture(autouse=True)
def fresh_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    terminal.Settings.json = terminal.Settings.quiet = terminal.Settings.degrees = False


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_has_the_options(name):
    command = get_command(cli.app).get_command(None, name)
    assert {option for parameter in command.params for option in parameter.opts} >= FLAGS


def test_a_motion_in_every_kind_of_file():
    words = ["--plot", "crank.phi, B", "--plot", "distance(crank.end, rocker.end)", "--plot-file", "p.svg"]
    files = ["--report", "r.html", "--animate", "a.gif", "--html", "pages/h.html", "--out", "o.csv"]
    shown = run("inverse", "four_bar", "--t-end", 1, "--points", 5, *words, *files, "--json")
    assert shown.exit_code == 0, shown.output
    saved = json.loads(shown.stdout)["saved"]
    assert saved == ["o.csv", "p.svg", "r.html", "a.gif", "pages/h.html"]
    assert all(Path(path).stat().st_size > 500 for path in saved)
    assert "<svg" in Path("p.svg").read_text()


@pytest.mark.parametrize(
    "words", [["inverse", "four_bar", "--t-end", 1], ["resume", "earlier.npz", "--t-end", 2]]
)
def test_a_misspelled_channel_is_told_before_the_run(words):
    se.dynamics(se.load("double_pendulum"), t_end=0.1).save("earlier.npz")
    shown = run(*words, "--plot", "crnk.phi")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "names body 'crnk'" in shown.stderr


def test_plots_are_named_after_the_model():
    shown = run("kinematics", "four_bar", "--t-end", 0.1, "--points", 4, "--plot", "crank")
    assert shown.stdout.splitlines()[-1] == "wrote four_bar.png"
    assert Path("four_bar.png").read_bytes().startswith(b"\x89PNG")


def test_degrees_in_tables_and_files():
    shown = run("kinematics", "four_bar", "--t-end", 0.5, "--points", 3, "--out", "o.csv", "--degrees")
    assert re.search(r"m +m +deg +m/s", shown.stdout)
    assert re.search(r"to 180 ", shown.stdout)
    head, *_, last = Path("o.csv").read_text().splitlines()
    column = head.split(",").index("crank.phi [deg]")
    np.testing.assert_allclose(float(last.split(",")[column]), 180.0)
    assert "deg" in run("check", "four_bar", "--degrees").stdout
    refused = run("dynamics", "four_bar", "--t-end", 1, "--out", "o.npz", "--degrees")
    assert (refused.exit_code, ".npz holds SI" in refused.output) == (2, True)


@pytest.mark.parametrize("method", ["newton", "relaxation", "energy"])
def test_the_search_for_an_equilibrium_moves(method):
    found = se.equilibrium(se.load("double_pendulum"), method=method)
    search = found.search
    assert search.t[0] == 0.0 and search.t.size > 1
    np.testing.assert_array_equal(search.q[-1], found.q[0])
    np.testing.assert_allclose(search.q[0], se.assemble(se.load("double_pendulum")).q, atol=1e-9)


def test_equilibria_and_modes_are_shown_in_motion():
    words = ["--html", "s.html", "--plot", "slider.x", "--picture", "pose.png"]
    shown = run("equilibrium", "sprung_slider", *words)
    assert shown.exit_code == 0, shown.output
    assert "wrote s.html" in shown.stdout and "wrote pose.png" in shown.stdout
    shown = run("modes", "sprung_slider", "--html", "m.html", "--picture", "m.svg", "--json")
    data = json.loads(shown.stdout)
    assert (data["saved"], data["picture"]) == (["m.html"], "m.svg")
    assert "there is no mode 7" in run("modes", "sprung_slider", "--mode", 7, "--html", "m.html").output


def test_circuits_and_assemblies_are_shown_in_motion():
    shown = run(
        "linkage", "four_bar", "--circuit", 1, "--plot", "crank.phi", "--html", "c.html", "--out", "c.csv"
    )
    assert shown.exit_code == 0 and "wrote c.html" in shown.stdout, shown.output
    turned = se.Results.load("c.csv")["crank.phi"]
    assert np.ptp(turned) == pytest.approx(
        2 * np.pi, rel=0.1
    )  # the crank turns fully, and ends a pose before its start
    shown = run("assemblies", "four_bar", "--report", "r.html", "--out", "a.npz", "--json")
    assert json.loads(shown.stdout)["saved"] == ["a.npz", "r.html"]
    found, poses = se.Results.load("a.npz"), se.assembly_modes(se.load("four_bar"))
    np.testing.assert_array_equal(found.q, [mode.q for mode in poses])
    assert "there is no circuit 7" in run("linkage", "four_bar", "--circuit", 7, "--html", "m.html").output


def test_pictures_of_other_answers():
    for command in ("assemblies", "linkage", "check"):
        assert run(command, "four_bar", "--picture", "p.svg").exit_code == 0
        assert Path("p.svg").stat().st_size > 5000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--plot", "crnk.phi"], "Did you mean 'crank'"),
        (["--plot", "2*foo"], "there is no channel 'foo'"),
        (["--plot-file", "p.png"], "say what, with --plot CHANNELS"),
        (["--plot", "p.png"], "write --plot CHANNELS --plot-file p.png"),
        (["--plot", "crank.phi", "--plot-file", "p.bmp"], ".png, .svg, .pdf"),
        (["--animate", "a.avi"], ".gif, .mp4"),
        (["--html", "a.txt"], ".html, .htm"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_run(words, sentence):
    shown = run("dynamics", "four_bar", "--t-end", 1e6, *words)
    assert shown.exit_code in (1, 2)
    assert sentence in re.sub(r"\s+", " ", shown.output)


def test_a_run_that_fails_shows_what_it_has():
    m = se.Model("too far", gravity=(0, 0))
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Driver("lift", se.y(m.ground, bar["end"]), "3*t"))
    m.save("far.yaml")
    shown = run("kinematics", "far.yaml", "--t-end", 1, "--plot", "bar.phi", "--report", "r.html")
    assert shown.exit_code == 3, shown.output
    assert "wrote far.png" in shown.stdout and "wrote r.html" in shown.stdout
