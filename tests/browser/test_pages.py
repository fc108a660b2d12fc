"""Reports, equations and notebooks in a browser."""

from __future__ import annotations

import json
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from player_page import PIXEL, on_screen, scrub, world_to_screen

import simengine2d as se
from chromium import Page, program
from simengine2d import builders

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")


def test_a_report_opens_without_complaint(port, results, tmp_path):
    page = Page(port)
    page.open(results.report(tmp_path / "report.html"))
    assert page.run("document.querySelectorAll('h2').length") >= 6
    assert "All forces at t =" in page.run("document.body.innerText")
    assert page.complaints == [] and len(page.requests) == 1
    page.close()


@pytest.mark.parametrize("kind", ["report", "equations"])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_to_read_fit_a_phone_and_follow_dark(port, results, tmp_path, kind, dark):
    path = tmp_path / f"{kind}.html"
    if kind == "report":
        results.report(path)
    else:
        path.write_text(builders.four_bar(1, 2, 3, 3).equations().html(), encoding="utf-8")
    page = Page(port, width=390, height=800, dark=dark)
    page.open(path)
    assert page.run("document.documentElement.scrollWidth") <= 390
    # the paper as it is painted, and the color of letters on it
    page.picture(tmp_path / "page.png")
    corner = plt.imread(tmp_path / "page.png")[2, 2, :3].mean()
    letters = page.run(
        "getComputedStyle(document.querySelector('h1')).color.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    assert (corner < 0.3) == dark and (np.mean(letters) > 180) == dark
    page.close()


def test_the_small_player_of_a_notebook_works_in_its_frame(port, results, tmp_path):
    """A notebook shows the player in a frame that may run scripts and nothing else."""
    file = Path(tmp_path / "notebook.html")
    file.write_text(f"<!DOCTYPE html><meta charset=utf-8>{results._repr_html_()}", encoding="utf-8")
    page = Page(port)
    page.open(file)
    time.sleep(0.5)
    assert page.run("document.querySelector('iframe').getBoundingClientRect().height") > 400
    assert page.complaints == []
    page.close()


def render(page: Page, widget, tmp_path) -> None:
    """As anywidget does it: the module is imported, and `render` gets a model of names and values."""
    names = ("data", "sheet", "height", "time", "parameters", "values", "message")
    values = {name: getattr(widget, name) for name in names}
    file = tmp_path / "widget.html"
    file.write_text("<!DOCTYPE html><meta charset=utf-8><div id=cell></div>", encoding="utf-8")
    page.open(file)
    page.run(f"window.values = {json.dumps(values)}; window.heard = {{}}; window.sent = 0; 1")
    page.run(
        f"""(async () => {{
          const blob = new Blob([{json.dumps(str(widget._esm))}], {{type: "text/javascript"}});
          const widget = (await import(URL.createObjectURL(blob))).default;
          const model = {{get: (name) => values[name], set: (name, value) => (values[name] = value),
            save_changes: () => (sent += 1), on: (event, f) => (heard[event] = f)}};
          widget.render({{model, el: document.getElementById("cell")}});
        }})()"""
    )


def test_the_widget_of_a_notebook_shares_its_time(port, results, tmp_path):
    pytest.importorskip("anywidget")
    page = Page(port)
    render(page, results.player(height=500), tmp_path)
    assert page.run("document.querySelector('.simengine2d:not(.parameters)').clientHeight") == 500
    page.run("values.time = 0.5; heard['change:time'](); 1")
    assert page.run("document.querySelector('.clock').textContent") == "t = 0.500 s"
    for t in (0.6, 0.7, 0.8):
        scrub(page, t)
    time.sleep(0.3)
    assert page.run("values.time") == pytest.approx(0.8)
    assert page.run("sent") <= 2  # not a message for every step
    assert page.complaints == []
    page.close()


def test_the_widget_follows_the_theme_of_the_notebook(port, results, tmp_path):
    pytest.importorskip("anywidget")
    page = Page(port)
    render(page, results.player(), tmp_path)
    theme = "document.querySelector('.simengine2d:not(.parameters)').dataset.theme"
    assert page.run(theme) == "light"
    page.run("document.body.style.background = '#111111'; 1")
    time.sleep(0.1)
    assert page.run(theme) == "dark"
    page.run("document.querySelector('.theme').click()")
    page.run("document.body.style.background = '#222222'; 1")
    time.sleep(0.1)
    assert page.run(theme) == "light"  # as the reader wanted it
    page.close()


def test_sliders_of_the_widget_run_the_model_again(port, tmp_path):
    """The browser sends the value, Python computes, and the browser shows the new motion at the same time."""
    pytest.importorskip("anywidget")
    results = se.kinematics(builders.four_bar(1, 2, 3, 3, speed=2), t_end=3, step=0.05)
    widget = results.player(parameters={"coupler": (1.9, 2.5)})
    page = Page(port)
    render(page, widget, tmp_path)
    scrub(page, 1.5)
    page.run(
        "{const s = document.querySelector('.parameter input'); s.value = 2.2;"
        " s.dispatchEvent(new Event('input', {bubbles: true}));}"
    )
    time.sleep(0.3)
    sent = page.run("values.values")
    assert sent == {"coupler": pytest.approx(2.2, abs=0.003)}
    widget.values = sent
    assert widget.results.resolved.parameters["coupler"] == pytest.approx(2.2, abs=0.003)
    page.run(f"values.data = {json.dumps(widget.data)}; heard['change:data'](); 1")
    assert page.run("document.querySelector('.clock').textContent") == "t = 1.500 s"
    there = np.array([[widget.results["rocker.x"][30], widget.results["rocker.y"][30]]])
    np.testing.assert_allclose(
        on_screen(page, "rocker", [(0.0, 0.0)]), world_to_screen(page, there), atol=PIXEL
    )
    before = widget.data
    widget.values = {"coupler": 0.1}  # too short to close
    assert "singular pose" in widget.message and widget.data == before
    assert page.complaints == []
    page.close()
