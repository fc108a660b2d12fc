"""`simengine2d lab`: tables and pictures in a folder."""

from __future__ import annotations

import csv

import pytest
from typer.testing import CliRunner

from loading import written
from simengine2d import cli, lab

PENDULUM = """\
name: pendulum
bodies:
  bar: {mass: 1, inertia: 0.1, at: [1, 0], points: {O: [-1, 0]}}
joints:
  O: {type: Revolute, a: "ground.at(0, 0)", b: bar.O}
"""


def run(*words: object, columns: int = 120):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": str(columns)})


@pytest.fixture
def pendulum(tmp_path):
    return written(tmp_path, PENDULUM, "pendulum.yaml")


def compared(pendulum, out, *words):
    chosen = [
        "--formulations",
        "projection,augmented",
        "--integrators",
        "rk4,heun",
        "--coordinates",
        "reference_point",
    ]
    return run("lab", pendulum, *chosen, "--t-end", 0.2, "--step", 0.01, "--out", out, *words)


@pytest.mark.slow
def test_tables_and_pictures(pendulum, tmp_path):
    out = tmp_path / "found"
    result = compared(pendulum, out)
    assert result.exit_code == 0, result.output
    assert "projection" in result.output and "farthest apart:" in result.output
    assert {path.name for path in out.iterdir()} == {
        "comparison.txt", "comparison.csv", "comparison.png", "work_precision.txt", "work_precision.csv",
        "work_precision.png", "stability.png",
    }  # fmt: skip
    rows = list(csv.DictReader((out / "comparison.csv").open()))
    assert [row["status"] for row in rows] == ["ran"] * 4
    assert all(float(row["q"]) < 1e-3 for row in rows)


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(pendulum, tmp_path, monkeypatch):
    tried = lab.trial.Bench.try_out

    def stopped(bench, combination, step, rtol):
        if combination.integrator.name == "heun":
            raise KeyboardInterrupt
        return tried(bench, combination, step, rtol)

    monkeypatch.setattr(lab.trial.Bench, "try_out", stopped)
    result = compared(pendulum, tmp_path / "found")
    assert result.exit_code == 130
    assert "interrupted after 1 of 4 combinations" in result.stderr
    rows = list(csv.DictReader((tmp_path / "found" / "comparison.csv").open()))
    assert [row["integrator"] for row in rows] == ["rk4"]


def test_pairs_that_do_not_match(pendulum, tmp_path):
    result = run(
        "lab", pendulum, "--formulations", "index3", "--integrators", "rk4", "--out", tmp_path / "found"
    )
    assert result.exit_code == 3
    assert "Integrators for 'index3'" in result.stderr


def test_names_that_are_none(pendulum, tmp_path):
    result = run("lab", pendulum, "--coordinates", "polar", "--out", tmp_path / "found")
    assert result.exit_code == 1
    assert "no coordinate system 'polar'" in result.stderr


@pytest.mark.slow
def test_dynamics_takes_coordinates_and_a_formulation(pendulum):
    words = ["--t-end", 0.1, "--coordinates", "relative", "--formulation", "augmented"]
    result = run("dynamics", pendulum, *words)
    assert result.exit_code == 0, result.output
    assert "on the formulation augmented in relative coordinates" in result.output
