"""`simengine2d linkage`: a table of at most 80 columns, or JSON."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from simengine2d import cli
from simengine2d.cli import terminal


@pytest.fixture(autouse=True)
def fresh_settings():
    yield
    terminal.Settings.json = False


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(part) for part in arguments], env={"COLUMNS": "80"})


@pytest.mark.parametrize("name", ["four_bar", "watt_six_bar", "quick_return"])
def test_the_table_fits_a_terminal(name):
    shown = run("linkage", name)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    for word in ("mobility", "input", "circuit 0", "transmission angle"):
        assert word in shown.stdout


def test_json_is_in_radians():
    shown = run("linkage", "four_bar", "--json")
    summary = json.loads(shown.stdout)
    assert (summary["mobility"], summary["loops"][0]["type"]) == (1, "crank-rocker")
    (branch,) = summary["circuits"][0]["branches"]
    assert branch["high"] - branch["low"] == pytest.approx(6.283185307, abs=1e-9)
    assert 0 < summary["transmission"][0]["low"] < summary["transmission"][0]["high"] < 1.5708


def test_what_cannot_be_answered_is_one_sentence():
    shown = run("linkage", "double_pendulum")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr.startswith("error: model 'double pendulum' has no driver")
    shown = run("linkage", "four_bar", "--driver", "motr")
    assert "Did you mean 'motor'" in shown.stderr
