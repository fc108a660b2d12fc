"""`simengine2d synthesize --exact`: all linkages through a few positions, with their defects."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal

FIVE = "x,y,angle\n10,9,5*deg\n9,30,35*deg\n18,32,5*deg\n22,25,-45*deg\n13,22,-70*deg\n"
THREE = "x,y,angle\n0,0,0\n1,0.6,20*deg\n1.8,1.5,45*deg\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    terminal.Settings.json = False


def run(*arguments):
    return CliRunner().invoke(cli.app, ["synthesize", "poses.csv", *arguments])


def write(text, folder):
    (folder / "poses.csv").write_text(text, encoding="utf-8")


def test_five_poses_list_all_linkages_with_their_defects(tmp_path):
    write(FIVE, tmp_path)
    data = json.loads(run("--exact", "--json", "--picture", "found.png").stdout)
    assert [each["defects"] for each in data["linkages"]] == [
        *([], [], ["branch"], ["branch"], ["circuit"], ["branch", "order"]),
    ]
    assert se.grashof(se.load("linkage.yaml")).type == data["linkages"][0]["motion"]
    assert (tmp_path / "found.png").exists()


def test_linkages_with_defects_are_shown_and_not_written(tmp_path):
    """Five poses that two cranks meet, but not on one circuit."""
    write("x,y,angle\n0,0,0\n1.5,0.8,10*deg\n1.6,1.5,20*deg\n2,3,60*deg\n2.3,3.5,90*deg\n", tmp_path)
    shown = run("--exact")
    assert "circuit, order" in shown.stdout
    assert "none is free of defects" in shown.stdout
    assert not (tmp_path / "linkage.yaml").exists()


def test_pivots_of_three_poses_are_chosen(tmp_path):
    write(THREE, tmp_path)
    assert run("--exact", "--fixed-pivot", "0,-2", "--fixed-pivot", "2.5,-1").exit_code == 0
    assert se.load("linkage.yaml").parameters["ground"] == pytest.approx(7.25**0.5)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--exact"], "3 poses leave the pivots open"),
        (["--exact", "--fixed-pivot", "0"], "'0' is not X,Y"),
        (["--exact", "--starts", "2"], "--starts belongs to a search"),
        (["--fixed-pivot", "0,1"], "--fixed-pivot belongs to --exact"),
    ],
)
def test_options_that_do_not_go_together(words, sentence, tmp_path):
    write(THREE, tmp_path)
    shown = run(*words)
    assert shown.exit_code in (1, 2)
    assert sentence in shown.stderr
