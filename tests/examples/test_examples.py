"""What the guide and the page on linkages show exists and works; notebooks and pages have files of their own."""

from __future__ import annotations

import re
from copy import copy
from pathlib import Path

from simengine2d.methods import Integrator

ROOT = Path(__file__).parents[2]


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
