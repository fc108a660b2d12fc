"""Plots of the player: values, zoom and pan, channels over channels, files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from player_page import PLAYER, scrub

from chromium import Page, program

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")


def test_plots_show_values_and_move_through_time(page, results):
    charts = page.run("[...document.querySelectorAll('.chart')].map((c) => c.dataset.channel)")
    assert charts == ["slider.x", "A.fx"]
    scrub(page, float(results.t[25]))
    value = page.run("document.querySelector('.chart .value').textContent")
    assert float(value.replace("\u2212", "-")) == pytest.approx(results["slider.x"][25], rel=1e-3)
    # a press in the plot goes to that time, and all follows
    box = page.run("Object.values(document.querySelector('.chart svg').getBoundingClientRect().toJSON())")
    x = box[0] + 58 + 0.25 * (box[2] - 58 - 22)
    page.mouse("mousePressed", x, box[1] + 50, button="left", clickCount=1)
    page.mouse("mouseReleased", x, box[1] + 50, button="left", clickCount=1)
    assert page.run(f"{PLAYER}.time") == pytest.approx(0.5, abs=0.01)
    # hovering tells the value there without going
    page.mouse("mouseMoved", box[0] + 58 + 0.75 * (box[2] - 58 - 22), box[1] + 50)
    text = page.run("document.querySelector('.chart .value').textContent")
    assert " at 1.5" in text
    assert page.run(f"{PLAYER}.time") == pytest.approx(0.5, abs=0.01)


def test_channels_are_picked_and_removed(page, results):
    names = page.run("[...document.querySelectorAll('.picker option')].map((o) => o.value).filter(Boolean)")
    assert {"rod.phidd", "B.fy", "spring.fx", "A.|f|", "energy.total"} <= set(names)
    page.run(
        "{const p = document.querySelector('.picker'); p.value = 'rod.phidd'; p.dispatchEvent(new Event('change'));}"
    )
    assert page.run("document.querySelectorAll('.chart').length") == 3
    page.run("document.querySelector('.remove').click()")
    charts = page.run("[...document.querySelectorAll('.chart')].map((c) => c.dataset.channel)")
    assert charts == ["A.fx", "rod.phidd"]


def typed(page: Page, text: str) -> str:
    """Type into the field for formulas, with Enter; what the player says of it."""
    page.run("document.querySelector('.formula').focus()")
    page.run("document.querySelector('.formula').value = ''")
    page.send("Input.insertText", text=text)
    page.press("Enter", text="\r")
    return page.run("document.querySelector('.mistake').textContent")


MEASURES = ["x", "y", "angle", "along", "across", "misalignment", "distance", "half_distance2", "direction"]


def test_measures_are_typed(page, results):
    """Every kind of measure, and arithmetic of them, against what Python says of the same text."""
    sums = {
        "2*x(ground, rod.end) - slider.x/4": lambda r: 2 * r.measure("x(ground, rod.end)")[0] - r["slider.x"] / 4,
        "hypot(rod.xd, rod.yd)^2": lambda r: r["rod.xd"] ** 2 + r["rod.yd"] ** 2,
        "-(A.fx + 3e2)": lambda r: -(r["A.fx"] + 300),
    }  # fmt: skip
    texts = {f"{kind}(crank.end, rod.at(0.5, -0.25))": None for kind in MEASURES} | sums
    for text, known in texts.items():
        assert typed(page, text) == ""
        there = page.run(
            f"(() => {{const r = {PLAYER}.results[0]; return r.shownValues(r.find({json.dumps(text)}));}})()"
        )
        values = results.measure(text)[0] if known is None else known(results)
        np.testing.assert_allclose(there, values, atol=3e-6 * np.abs(values).max(), err_msg=text)
    charts = page.run("[...document.querySelectorAll('.chart')].map((c) => c.dataset.channel)")
    assert charts[2:] == list(texts)
    units = page.run("[...document.querySelectorAll('.chart .unit')].map((u) => u.textContent)")
    assert units[2:] == ["m", "m", "rad", "m", "m", "", "m", "SI units", "rad", *(["SI units"] * 3)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("distance(crank, rd)", "'rd' is no body or point; there are ground, crank, rod, slider"),
        ("distnce(crank, rod)", "there is no function 'distnce'; there are x, y, along"),
        ("distance(crank, rod", "')' is missing before 'the end'"),
        ("crank.q + 1", "'crank.q + 1' is no channel"),
        ("2*", "a value is missing at the end"),
        ("rod.x rod.y", "'rod.y' is not expected here"),
    ],
)
def test_what_is_typed_wrong_is_answered_in_words(page, text, sentence):
    assert sentence in typed(page, text)
    assert page.run("document.querySelectorAll('.chart').length") == 2
    assert page.run("document.querySelector('.formula').value") == text


def test_keys_are_letters_while_typing(page):
    before = page.run(f"[{PLAYER}.root.dataset.theme, {PLAYER}.playing]")
    page.run("document.querySelector('.formula').focus()")
    for letter in "fd ":
        page.press(letter)
    assert page.run(f"[{PLAYER}.root.dataset.theme, {PLAYER}.playing]") == before
    assert page.run("document.querySelector('.formula').value") == "fd "


def wheel(page: Page, x: float, y: float, amount: float) -> None:
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=amount)


def chart_box(page: Page) -> list[float]:
    return page.run("Object.values(document.querySelector('.chart svg').getBoundingClientRect().toJSON())")


def test_plots_zoom_pan_and_come_back(page, results):
    left, top, width, *_ = chart_box(page)
    x = left + 58 + 0.5 * (width - 58 - 22)
    wheel(page, x, top + 50, -400)
    t0, t1 = page.run(f"{PLAYER}.plots.window")
    assert t1 - t0 == pytest.approx(2 * np.exp(-0.6), rel=1e-3)
    assert (t0 + t1) / 2 == pytest.approx(1.0, abs=0.01)  # what is under the pointer stays
    # the scale follows what is seen
    low, high = page.run(f"{PLAYER}.plots.charts[0].shown[1]")
    seen = results["slider.x"][(results.t >= t0) & (results.t <= t1)]
    assert low < seen.min() and high > seen.max() and high - low < 1.3 * np.ptp(seen)
    page.mouse("mousePressed", x, top + 50, button="left", clickCount=1, modifiers=8)
    page.mouse("mouseMoved", x + 50, top + 50, button="left", buttons=1, modifiers=8)
    page.mouse("mouseReleased", x + 50, top + 50, button="left", clickCount=1, modifiers=8)
    assert page.run(f"{PLAYER}.plots.window[0]") == pytest.approx(
        t0 - 50 / (width - 80) * (t1 - t0), abs=1e-3
    )
    page.run("document.querySelector('.chart svg').dispatchEvent(new MouseEvent('dblclick'))")
    assert page.run(f"{PLAYER}.plots.window") == pytest.approx([0, 2])


def test_plots_fill_the_room_with_round_ticks(page):
    plots, charts = (
        page.run(f"document.querySelector('{part}').getBoundingClientRect().height")
        for part in (".plots", ".charts")
    )
    assert charts > 0.85 * plots
    heights = page.run(
        "[...document.querySelectorAll('.chart')].map((c) => c.getBoundingClientRect().height)"
    )
    assert sum(heights) > 0.9 * charts
    texts = page.run("[...document.querySelectorAll('.chart .grid text')].map((t) => t.textContent)")
    numbers = [float(text.replace("\u2212", "-")) for text in texts if text != "s"]
    steps = np.diff(sorted(set(numbers[:4])))
    assert float(f"{steps[0]:e}".split("e")[0]) in (1.0, 2.0, 5.0)


def test_a_channel_over_another_and_points(page, results):
    """The path of a point as a plot of its y over its x, with one scale."""
    page.run(f"{PLAYER}.plots.add('crank.end.y')")
    chart = f"{PLAYER}.plots.charts[2]"
    page.run(f"{chart}.overMenu.value = 'crank.end.x'; {chart}.overMenu.dispatchEvent(new Event('change'))")
    scrub(page, float(results.t[25]))
    x, y = page.run(f"{chart}.at({chart}.curves[0], {PLAYER}.time)")
    assert (x, y) == pytest.approx((results["crank.end.x"][25], results["crank.end.y"][25]), abs=1e-5)
    box = page.run(
        f"(() => {{ const b = {chart}.svg.querySelector('.curve').getBBox(); return [b.width, b.height]; }})()"
    )
    assert box[0] == pytest.approx(box[1], rel=0.01)  # a circle is round


def test_measures_of_springs_and_drivers(page, results):
    for name in ("distance(ground.at(5, 0), slider)", "angle(ground, crank)"):
        values = page.run(
            f"(() => {{ const r = {PLAYER}.results[0]; return [...r.columns[r.find('{name}').column]]; }})()"
        )
        np.testing.assert_allclose(values, results[name], rtol=1e-5, atol=1e-6)


def test_plots_and_the_picture_are_saved(page, results):
    page.run(
        """window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return "blob:none"; };
        HTMLAnchorElement.prototype.click = function () { window.file = this.download; }; 1"""
    )
    press = "[...document.querySelectorAll('{} .save button')].find((b) => b.textContent === '{}').click()"
    wait = "new Promise((go) => setTimeout(go, 400))"
    page.run(press.format(".chart", "CSV"))
    rows = page.run("saved.at(-1).text()").split("\n")
    assert rows[0] == "t [s],slider.x [m]" and len(rows) == results.t.size + 2
    assert [float(v) for v in rows[11].split(",")] == pytest.approx(
        [results.t[10], results["slider.x"][10]], rel=1e-6
    )
    page.run(press.format(".chart", "SVG"))
    page.run(wait)
    text = page.run("saved.at(-1).text()")
    assert page.run("window.file") == "slider.x.svg" and text.startswith("<svg") and "stroke:rgb(" in text
    for place, name in ((".chart", "slider.x.png"), (".switches", "slider-crank.png")):
        page.run(press.format(place, "PNG"))
        page.run(wait)
        assert page.run("window.file") == name
        head = page.run("saved.at(-1).arrayBuffer().then((b) => [...new Uint8Array(b).slice(0, 4)])")
        assert head == [0x89, 0x50, 0x4E, 0x47]
        assert page.run("saved.at(-1).size") > 3000
