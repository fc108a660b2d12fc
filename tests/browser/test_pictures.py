"""Every shipped mechanism in the player, measured: labels apart and on the canvas, arrows inside, colors explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from player_page import PLAYER

import simengine2d as se
from chromium import Page, program
from simengine2d.io.job import job_for
from simengine2d.model import library

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")

MEASURED = (Path(__file__).parent / "measured.js").read_text(encoding="utf-8")
NEXT_FRAME = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
"""By then the page has its new size, and the stage has followed."""
MEASURED_AT = f"""(async (t) => {{
  const {{ stage }} = {PLAYER};
  {PLAYER}.seek(t);
  const {{ width, height }} = stage.svg.getBoundingClientRect();
  if (width !== stage.box.width || height !== stage.box.height) await {NEXT_FRAME};
  return ({MEASURED});
}})"""


def with_forces(name: str) -> se.Results:
    """The motion that a mechanism asks for, and the forces that it takes."""
    with library.file(name) as path:
        model = se.load(path)
    job = job_for(model)
    if job.kind == "kinematics":
        return se.inverse_dynamics(model, t_end=job.options.get("t_end"), step=job.options.get("step"))
    return job.run(model)


SIZES = {"screen": (1200, 760, 13), "phone": (390, 800, 7)}
"""Widths and heights in pixels, and at how many times the picture is measured."""


@pytest.fixture(scope="module", params=library.names())
def player(request, tmp_path_factory):
    """The page of a mechanism, and when its motion begins and ends."""
    results = with_forces(request.param)
    path = results.html(tmp_path_factory.mktemp("player") / "player.html", play=False)
    return path, results.t[0], results.t[-1]


@pytest.mark.parametrize("size", SIZES)
def test_labels_arrows_and_colors_of_every_mechanism(port, player, size):
    path, begin, end = player
    width, height, times = SIZES[size]
    page = Page(port, width, height)
    page.open(path)
    if size == "screen":
        for part in ("weights", "velocity", "acceleration"):
            page.run(f"document.querySelector('[name={part}]')?.click()")
    page.run(NEXT_FRAME)
    faults = {}
    for t in np.linspace(begin, end, times):
        seen = page.run(f"{MEASURED_AT}({float(t)!r})")
        wrong = {
            what: seen[what]
            for what in ("overlaps", "labelsOff", "hidden", "far", "arrowsOff", "unexplained")
            if seen[what]
        }
        if wrong or not seen["upright"]:
            faults[round(float(t), 4)] = wrong
    assert faults == {}
    assert seen["labels"] >= 2 and seen["arrows"] >= 1
    assert page.complaints == []
    page.close()
