"""An analysis is its own file and one entry of the catalog: files, schema, command line and reference read that."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from loading import written
from simengine2d import cli
from simengine2d.analyses import catalog
from simengine2d.io import json_schema

ROOT = Path(__file__).parents[2]

MODEL = """\
name: stone
bodies:
  stone: {mass: 2, inertia: 1, at: [1, 2]}
analysis: {kind: hover, t_end: 3*0.5, height: 2*2}
"""


def hover(model, *, t_end, height=1.0, t_eval=None, progress=None):
    """A toy: every body stays where it is, so high above its place."""
    t = np.linspace(0.0, t_end, 3) if t_eval is None else t_eval
    system = se.System(model)
    q = np.tile(system.drawn_q, (t.size, 1))
    q[:, 1::3] += height
    rest = np.zeros_like(q)
    return se.Results(system, t, q, rest, rest, analysis="hover", status=f"hovered at {height:g} m")


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(catalog.OPTIONS, "height", catalog.Option(float | str, catalog.NUMBER))
    entry = catalog.Analysis(
        "hover", __name__, ("t_end", "output_steps", "height"), "Hold every body above its place."
    )
    yield catalog.register(entry)
    del catalog.CATALOG["hover"]


def run(*words):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "100"})


@pytest.fixture
def stone(tmp_path):
    return written(tmp_path, MODEL, "stone.yaml")


def test_the_schema_knows_it(toy):
    record = json_schema()["$defs"]["Analysis"]["properties"]
    assert "hover" in record["kind"]["enum"]
    assert "height" in record


def test_model_files_can_ask_for_it(toy, stone):
    assert se.load(stone).analysis["kind"] == "hover"
    answer = run("run", stone)
    assert answer.exit_code == 0, answer.output
    assert "hovered at 4 m" in answer.output


def test_it_is_a_command_with_its_options(toy, stone, tmp_path):
    assert "hover" in run("--help").output
    shown = run("hover", "--help").output
    assert "Hold every body above its place." in shown
    for flag in ("--t-end", "--height", "--points", "--out", "--format", "--strict"):
        assert flag in shown, flag
    answer = run("hover", stone, "--t-end", 2, "--height", 0.5, "--points", 5, "--out", tmp_path / "saved")
    assert answer.exit_code == 0, answer.output
    saved = se.Results.load(tmp_path / "saved" / "stone.csv")
    np.testing.assert_allclose(saved["stone.y"], 2.5)
    np.testing.assert_allclose(saved.t, [0, 0.5, 1, 1.5, 2])


def test_what_is_wrong_is_said_as_everywhere(toy, stone, tmp_path):
    assert run("hover", stone).exit_code == 2  # --t-end is missing
    assert run("hover", tmp_path / "none.yaml", "--t-end", 1).exit_code == 2
    misspelled = written(tmp_path, MODEL.replace("kind: hover", "kind: hoover"), "m.yaml")
    with pytest.raises(se.ModelError, match="Did you mean 'hover'"):
        se.load(misspelled)


def test_without_it_nothing_is_left(stone):
    assert run("hover", stone).exit_code == 2
    with pytest.raises(se.ModelError, match="kind is hover, which is unknown"):
        se.load(stone)


def test_every_analysis_of_the_catalog_is_a_command():
    for analysis in catalog.CATALOG.values():
        name = analysis.command or analysis.name.replace("_", "-")
        assert run(name, "--help").exit_code == 0


@pytest.mark.skipif(not (ROOT / "tools").is_dir(), reason="the tools are not part of the installed package")
def test_the_reference_page_is_that_of_the_catalog(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import analyses_page

    assert analyses_page.PAGE.read_text(encoding="utf-8") == analyses_page.page_text()
    sys.modules.pop("analyses_page")
