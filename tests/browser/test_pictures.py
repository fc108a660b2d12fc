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


@pytest.mark.parametrize("name", library.names())
@pytest.mark.parametrize("size", SIZES)
def test_labels_arrows_and_colors_of_every_mechanism(port, tmp_path, name, size):
    results = with_forces(name)
    width, height, times = SIZES[size]
    page = Page(port, width, height)
    page.open(results.html(tmp_path / "player.html", play=False))
    if size == "screen":
        for part in ("weights", "velocity", "acceleration"):
            page.run(f"document.querySelector('[name={part}]')?.click()")
    faults = {}
    for t in np.linspace(results.t[0], results.t[-1], times):
        page.run(f"{PLAYER}.seek({float(t)!r})")
        page.run(NEXT_FRAME)
        seen = page.run(MEASURED)
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
