"""Every example runs from start to end, and what it prints about theory is true."""

from __future__ import annotations

import re
import runpy
import sys
from copy import copy
from pathlib import Path

import pytest

from simengine2d.methods import Integrator

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if "marimo.App(" not in path.read_text("utf-8"))


def printed(script: str, monkeypatch, capsys) -> str:
    monkeypatch.setattr(sys, "argv", [script])
    runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_it_runs(script, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert printed(script, monkeypatch, capsys).count("\n") > 3
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_the_integrator_of_the_guide_is_ready_for_use(monkeypatch):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    program = re.search(r"^## Adding an integrator.*?^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[
        1
    ]
    monkeypatch.setattr(Integrator, "registry", copy(Integrator.registry.loaded()))
    exec(compile(program, "CONTRIBUTING.md", "exec"), {"__name__": "guide"})
    assert "trapezoidal" in Integrator.registry


def test_every_picture_of_the_page_on_linkages_is_drawn_by_its_tool():
    text = (ROOT / "docs" / "how-to" / "design-a-linkage.md").read_text(encoding="utf-8")
    shown = re.findall(r"pictures/linkage/(\w+)\.png", text)
    drawn = re.findall(
        r"^def (\w+)\(\) -> Axes", (ROOT / "tools" / "linkage_pictures.py").read_text(), re.MULTILINE
    )
    assert sorted(shown) == sorted(drawn)
    assert all((ROOT / "docs" / "pictures" / "linkage" / f"{name}.png").exists() for name in shown)
