"""The player of a model with units: what is drawn is the same, what is read is in its units."""

from __future__ import annotations

import pytest
from player_page import PLAYER, scrub

import simengine2d as se
from chromium import Page, program

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")


@pytest.fixture(scope="module")
def results():
    m = se.Model("arm", units={"length": "mm", "angle": "deg", "mass": "g", "force": "kN"})
    arm = m.bar("arm", (0, 0), (300, 100), mass=2000)
    m.add(se.Revolute("O", m.ground, arm["start"]))
    m.add(se.Spring("spring", se.distance(m.ground.at(400, 0), arm["end"]), stiffness=0.01, free=100))
    return se.dynamics(m, t_end=0.5, step=0.01)


@pytest.fixture
def page(port, results, tmp_path):
    opened = Page(port)
    channels = ["arm.end.x", "arm.phid", "O.|f|", "energy.total", "distance(ground.at(400, 0), arm.end)"]
    opened.open(results.html(tmp_path / "player.html", channels=channels, play=False))
    yield opened
    opened.run("1")
    assert opened.complaints == []
    opened.close()


def number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def test_charts_show_the_units_of_the_model(page, results):
    scrub(page, float(results.t[20]))
    charts = page.run(
        "[...document.querySelectorAll('.chart')].map((c) => [c.dataset.channel, "
        "c.querySelector('.unit').textContent, c.querySelector('.value').textContent])"
    )
    shown, size = results.in_units(), results.in_units().reaction("O")
    expected = {
        "arm.end.x": ("mm", shown["arm.end.x"]),
        "arm.phid": ("deg/s", shown["arm.phid"]),
        "O.|f|": ("kN", (size.fx**2 + size.fy**2) ** 0.5),
        "energy.total": ("kN mm", shown["energy.total"]),
        "distance(ground.at(400, 0), arm.end)": ("mm", shown["distance(ground.at(400, 0), arm.end)"]),
    }
    assert len(charts) == len(expected)
    for name, unit, value in charts:
        assert unit == expected[name][0]
        assert number(value) == pytest.approx(expected[name][1][20], rel=1e-3)


def test_axes_tips_and_scales_are_in_the_units_of_the_model(page, results):
    ticks = page.run("[...document.querySelectorAll('.chart .grid text')].map((t) => t.textContent)")
    assert any(number(text) >= 100 for text in ticks[:6] if text not in ("s",))
    legend = page.run("[...document.querySelectorAll('.explain .entry')].map((e) => e.textContent)")
    assert any(text.endswith(" kN") for text in legend) and not any(text.endswith(" N") for text in legend)
    # the arrow of the scale is as long as a force of that size is drawn
    scales = "[...document.querySelectorAll('.explain .entry')].filter((e) => e.dataset.unit)"
    scale = page.run(f"{scales}.map((e) => ({{...e.dataset}}))[0]")
    pixels = page.run(f"{PLAYER}.results[0].forceScale * {PLAYER}.stage.view.k")
    assert float(scale["length"]) == pytest.approx(1000 * float(scale["value"]) * pixels)
    tip = page.run(f"{PLAYER}.values(document.querySelector('.arrow[data-name=O]'), {PLAYER}.results[0])")
    assert [row[2] for row in tip] == ["kN", "kN", "kN mm", "kN"]
    page.run(f"{PLAYER}.toggles.velocity.click()")
    legend = page.run("[...document.querySelectorAll('.explain .entry')].map((e) => e.textContent)")
    assert any(text.endswith(" mm/s") for text in legend)


def test_saved_curves_are_in_the_units_of_the_model(page):
    page.run("window.saved = []; save = (blob) => window.saved.push(blob); 1")
    page.run("document.querySelectorAll('.chart .save button')[2].click()")
    head, first, *_ = page.run("window.saved[0].text()").splitlines()
    assert head == "t [s],arm.end.x [mm]" and float(first.split(",")[1]) == pytest.approx(300, rel=1e-5)
