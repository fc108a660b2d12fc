"""The player in a real Chromium: it plays, scrubs to the poses that were computed, and asks the network for nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from chromium import Page, browser, program

import simengine2d as se
from simengine2d import builders

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")

PLAYER = "document.getElementById('player').player"
PIXEL = 0.5  # a point is where it belongs when it is drawn in the right pixel


@pytest.fixture(scope="module")
def port():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def results():
    """A slider-crank with a motor and a spring: pins, a guide, a block, a spring, reactions, a torque."""
    model = builders.slider_crank(1, 2.5, speed=4)
    model.add(se.Spring("spring", se.distance(model.ground.at(5, 0), "slider"), stiffness=30, free=1))
    return se.dynamics(model, t_end=2, step=0.02)


@pytest.fixture
def page(port, results, tmp_path):
    """The page of the results, opened from a file; after the test it must not have complained about anything."""
    opened = Page(port)
    opened.open(
        results.html(tmp_path / "player.html", trace=["rod"], channels=["slider.x", "A.fx"], play=False)
    )
    yield opened
    opened.run("1")  # whatever it still has to say
    assert opened.complaints == []
    assert {address.split(":")[0] for address in opened.requests} - {"data"} == {"file"}
    opened.close()


def scrub(page: Page, t: float) -> None:
    page.run(
        f"{{const s = document.querySelector('.scrub'); s.value = {t!r};"
        " s.dispatchEvent(new Event('input', {bubbles: true}));}"
    )


def set_scale(page: Page, factor: float) -> None:
    page.run(
        f"{{const s = document.querySelector('.scale'); s.value = Math.log10({factor});"
        " s.dispatchEvent(new Event('input', {bubbles: true}));}"
    )


def on_screen(page: Page, carrier: str, points: list[tuple[float, float]]) -> np.ndarray:
    """Where points of a carrier, in its own axes, are drawn: as the browser itself says."""
    return _mapped(page, f'[data-carrier="{carrier}"]', points)


def world_to_screen(page: Page, points: np.ndarray) -> np.ndarray:
    """Where global points are on the screen."""
    return _mapped(page, ".world", [(float(x), float(y)) for x, y in points])


def _mapped(page: Page, element: str, points: list[tuple[float, float]]) -> np.ndarray:
    script = f"""(() => {{
      const m = document.querySelector('{element}').getScreenCTM();
      return {[list(point) for point in points]}.map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
    }})()"""
    return np.array(page.run(script))


@pytest.mark.parametrize("i", [0, 13, 57, 100])
def test_scrubbing_shows_the_computed_poses(page, results, i):
    scrub(page, float(results.t[i]))
    for body in results.bodies:
        arms = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5)]
        phi = results[f"{body}.phi"][i]
        turn = np.array([(np.cos(phi), np.sin(phi)), (-np.sin(phi), np.cos(phi))])
        there = np.array([results[f"{body}.x"][i], results[f"{body}.y"][i]]) + np.array(arms) @ turn
        np.testing.assert_allclose(on_screen(page, body, arms), world_to_screen(page, there), atol=PIXEL)
    assert page.run("document.querySelector('.clock').textContent") == f"t = {results.t[i]:.3f} s"


def test_pins_are_drawn_where_the_points_are(page, results):
    """The middle of what the browser paints for a pin, against the point of the body."""
    scrub(page, float(results.t[40]))
    for joint, point in (("A", "crank.end"), ("B", "rod.end")):
        box = page.run(
            f"""(() => {{
              const pins = document.querySelectorAll('.marks [data-name="{joint}"].ink-pin');
              const box = pins[pins.length - 1].getBoundingClientRect();
              return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        there = np.array([[results[f"{point}.x"][40], results[f"{point}.y"][40]]])
        np.testing.assert_allclose([box], world_to_screen(page, there), atol=PIXEL)


def test_between_two_outputs_the_motion_is_smooth(page, results):
    """Half-way between outputs, the crank is where the exact motion is: phi = phi_0 + 4 t."""
    t = float(results.t[20]) + 0.01
    scrub(page, t)
    angle = results["crank.phi"][0] + 4 * t
    (end,) = on_screen(page, "crank", [(0.5, 0.0)])
    np.testing.assert_allclose(
        [end], world_to_screen(page, np.array([[np.cos(angle), np.sin(angle)]])), atol=PIXEL
    )


def test_a_spring_follows_its_ends(page, results):
    for i in (0, 50):
        scrub(page, float(results.t[i]))
        ends = page.run(
            """(() => {
              const path = [...document.querySelectorAll('[data-name="spring"]:not([data-carrier])')][0];
              const m = path.getScreenCTM(), n = path.getTotalLength();
              return [0, n].map((s) => path.getPointAtLength(s)).map((p) => [m.a * p.x + m.e, m.d * p.y + m.f]);
            })()"""
        )
        there = np.array([(5.0, 0.0), (results["slider.x"][i], 0.0)])
        np.testing.assert_allclose(ends, world_to_screen(page, there), atol=PIXEL)


def test_it_plays_and_pauses(page, results):
    page.run("document.querySelector('.play').click()")
    begin = page.run(f"{PLAYER}.time")
    time.sleep(0.6)
    later = page.run(f"{PLAYER}.time")
    assert later > begin
    page.run("document.querySelector('.play').click()")
    stopped = page.run(f"{PLAYER}.time")
    time.sleep(0.2)
    assert page.run(f"{PLAYER}.time") == stopped
    assert page.run("document.querySelector('.play').getAttribute('aria-label')") == "Play"


def test_forces_are_to_scale_and_can_be_switched_off(page, results):
    scrub(page, float(results.t[30]))
    arrow = "document.querySelector('.arrow[data-name=\"A\"]')"
    assert page.run(f"Number({arrow}.dataset.fx)") == pytest.approx(results["A.fx"][30], rel=1e-5)
    assert page.run(f"Number({arrow}.dataset.fy)") == pytest.approx(results["A.fy"][30], rel=1e-5)
    tip = f"{arrow}.querySelector('.area').getAttribute('d').slice(1).split('L')[0].split(' ').map(Number)"
    size = results["A.fx"][30], results["A.fy"][30]
    at = np.array([results["crank.end.x"][30], results["crank.end.y"][30]])
    scale = page.run(f"{PLAYER}.results[0].forceScale")
    np.testing.assert_allclose(page.run(tip), at + scale * np.array(size), rtol=1e-4)
    # half as long, and far too long for the canvas
    set_scale(page, 0.5)
    factor = 10 ** page.run("Number(document.querySelector('.scale').value)")
    np.testing.assert_allclose(page.run(tip), at + factor * scale * np.array(size), rtol=1e-4)
    assert not page.run(f"{arrow}.classList.contains('cut')")
    set_scale(page, 30)
    canvas = page.run("Object.values(document.querySelector('.stage').getBoundingClientRect().toJSON())")
    x, y = world_to_screen(page, np.array([page.run(tip)]))[0]
    assert canvas[0] < x < canvas[0] + canvas[2] and canvas[1] < y < canvas[1] + canvas[3]
    assert page.run(f"{arrow}.classList.contains('cut')")
    assert "longer than drawn" in page.run("document.querySelector('.explain').innerText")
    shown = f"{arrow}.getBoundingClientRect().width > 0"
    assert page.run(shown)
    page.run("document.querySelector('[name=forces]').click()")
    assert not page.run(shown)
    page.run("document.querySelector('[name=forces]').click()")
    assert page.run(shown)


def test_the_legend_s_arrow_is_as_long_as_its_force(page, results):
    value, length = page.run(
        """(() => { const { value, length } = document.querySelector('.entry[data-unit=N]').dataset;
          return [Number(value), Number(length)]; })()"""
    )
    per_newton = page.run(f"{PLAYER}.results[0].forceScale * {PLAYER}.stage.view.k")
    assert length == pytest.approx(value * per_newton)
    assert float(f"{value:e}".split("e")[0]) in (1.0, 2.0, 5.0)


def test_velocities_and_accelerations_of_points(page, results):
    """The arrows of the point whose path is shown, against the channels."""
    scrub(page, float(results.t[30]))
    for kind, order in (("velocity", "d"), ("acceleration", "dd")):
        page.run(f"document.querySelector('[name={kind}]').click()")
        arrow = f"document.querySelector('.arrow[data-name=\"{kind} of rod\"]').dataset"
        value = page.run(f"[Number({arrow}.x), Number({arrow}.y)]")
        exact = [results[f"rod.{c}{order}"][30] for c in "xy"]
        np.testing.assert_allclose(value, exact, rtol=1e-4, atol=1e-4)
    page.run("document.querySelector('.menu input[value=\"crank.end\"]').click()")
    arrow = "document.querySelector('.arrow[data-name=\"velocity of crank.end\"]').dataset"
    value = page.run(f"[Number({arrow}.x), Number({arrow}.y)]")
    np.testing.assert_allclose(value, [results[f"crank.end.{c}d"][30] for c in "xy"], rtol=1e-4, atol=1e-4)


def test_a_tip_says_what_a_force_is_and_on_which_body(page, results):
    scrub(page, float(results.t[30]))
    at = np.array([results["crank.end.x"][30], results["crank.end.y"][30]])
    force = np.array([results["A.fx"][30], results["A.fy"][30]])
    middle = at + 0.6 * page.run(f"{PLAYER}.results[0].forceScale") * force
    page.mouse("mouseMoved", *world_to_screen(page, middle[None])[0])
    text = page.run("document.querySelector('.tip').innerText")
    assert text.split("\n")[::2][:2] == ["A", "reaction of a joint, on rod"]
    assert f"{np.hypot(*force):.4g}" in text and "N m" in text


def test_traces_are_the_paths_of_points(page, results):
    points = page.run("document.querySelector('.trace .whole').getAttribute('points')")
    path = np.array([list(map(float, pair.split(","))) for pair in points.split()])
    exact = np.column_stack([results["rod.x"], results["rod.y"]])
    np.testing.assert_allclose(path[::16], exact, atol=1e-5)
    # between two outputs, where the crank turns by 4 * 0.02 rad, the rod's middle is on its exact path
    t = np.linspace(0, 2, 1601)
    crank = results["crank.phi"][0] + 4 * t
    rod = np.arcsin(-np.sin(crank) / 2.5)
    middle = np.column_stack([np.cos(crank) + 1.25 * np.cos(rod), np.sin(crank) + 1.25 * np.sin(rod)])
    np.testing.assert_allclose(path, middle, atol=1e-5)
    scrub(page, 1.0)
    past = page.run("document.querySelector('.trace .past').getAttribute('points')").split()
    assert len(past) == 16 * 50 + 2  # up to now, and the point now
    page.run("document.querySelector('.menu input[value=\"crank.end\"]').click()")
    assert page.run("document.querySelectorAll('.trace').length") == 2
    page.run("document.querySelector('[name=traces]').click()")
    assert page.run("document.querySelector('.trace').getBoundingClientRect().width") == 0


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


def test_hovering_names_what_is_there(page, results):
    scrub(page, 0.0)
    (middle,) = on_screen(page, "rod", [(0.0, 0.0)])
    page.mouse("mouseMoved", *middle)
    text = page.run("document.querySelector('.tip').innerText")
    assert text.startswith("rod") and "rad" in text
    assert f"{results['rod.phi'][0]:.4g}".replace("-", "\u2212") in text


def test_the_view_zooms_pans_follows_and_fits(page, results):
    scrub(page, 0.0)
    before = page.run(f"{{const v = {PLAYER}.stage.view; [v.k, v.x, v.y]}}")
    (pin,) = world_to_screen(page, np.array([[0.0, 0.0]]))
    page.mouse("mouseWheel", *pin, deltaX=0, deltaY=-200)
    assert page.run(f"{PLAYER}.stage.view.k") > 1.2 * before[0]
    np.testing.assert_allclose(
        world_to_screen(page, np.array([[0.0, 0.0]])), [pin], atol=PIXEL
    )  # under the pointer
    page.mouse("mousePressed", 300, 300, button="left", clickCount=1)
    page.mouse("mouseMoved", 340, 320, button="left", buttons=1)
    page.mouse("mouseReleased", 340, 320, button="left", clickCount=1)
    np.testing.assert_allclose(
        world_to_screen(page, np.array([[0.0, 0.0]])), [pin + np.array([40, 20])], atol=PIXEL
    )
    page.run(f"{PLAYER}.stage.fit()")
    assert page.run(f"{{const v = {PLAYER}.stage.view; [v.k, v.x, v.y]}}") == pytest.approx(before)
    page.run(
        "{const f = document.querySelector('.follow'); f.value = 'slider'; f.dispatchEvent(new Event('change'));}"
    )
    places = []
    for t in (0.3, 0.9):
        scrub(page, t)
        places.append(on_screen(page, "slider", [(0.0, 0.0)])[0])
    np.testing.assert_allclose(places[0], places[1], atol=PIXEL)


def test_keys(page, results):
    page.press("ArrowRight")  # without a click before it
    assert page.run(f"{PLAYER}.time") == pytest.approx(results.t[1])
    page.press("End")
    assert page.run(f"{PLAYER}.time") == pytest.approx(2.0)
    page.press("Home")
    assert page.run(f"{PLAYER}.time") == 0.0
    for key, part in (("f", "forces"), ("l", "labels"), ("t", "traces")):
        page.press(key)
        assert page.run(f"document.getElementById('player').classList.contains('hide-{part}')")
    page.press("c")  # mass centers are hidden at first
    assert page.run("document.querySelector('.centers').getBoundingClientRect().width") > 0
    page.press(" ")
    assert page.run(f"{PLAYER}.playing")
    page.press(" ")
    assert not page.run(f"{PLAYER}.playing")
    # a switch that was clicked does not keep the keys for itself
    x, y, *_ = page.run(
        "Object.values(document.querySelector('[name=centers]').getBoundingClientRect().toJSON())"
    )
    page.mouse("mousePressed", x + 5, y + 5, button="left", clickCount=1)
    page.mouse("mouseReleased", x + 5, y + 5, button="left", clickCount=1)
    page.press(" ")
    assert page.run(f"{PLAYER}.playing")


def brightness(page: Page) -> float:
    color = page.run("getComputedStyle(document.getElementById('player')).backgroundColor")
    return float(np.mean([int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(",")]))


def test_dark_and_light(port, results, tmp_path):
    path = results.html(tmp_path / "player.html", play=False)
    for dark in (False, True):
        page = Page(port, dark=dark)
        page.open(path)
        assert (brightness(page) < 60) == dark
        page.run("document.querySelector('.theme').click()")
        assert (brightness(page) > 200) == dark
        page.close()


def test_on_a_phone_nothing_is_wider_than_the_screen(port, results, tmp_path):
    page = Page(port, width=390, height=800)
    page.open(results.html(tmp_path / "player.html", play=False))
    time.sleep(0.2)
    assert page.run("document.documentElement.scrollWidth") <= 390
    parts = ".stage-box", ".transport", ".switches", ".plots"
    tops = [page.run(f"document.querySelector('{part}').getBoundingClientRect().top") for part in parts]
    assert tops == sorted(tops)  # one below the other
    assert page.complaints == []
    page.close()


def test_everything_has_a_name_for_screen_readers(page):
    nameless = page.run(
        """[...document.querySelectorAll('button, input, select, svg:not([aria-hidden])')].filter((e) => {
          const label = e.closest('label');
          return !(e.getAttribute('aria-label') || (label && label.textContent.trim()) || e.textContent.trim());
        }).map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    scrub(page, 0.5)
    assert page.run("document.querySelector('.scrub').getAttribute('aria-valuetext')") == "t = 0.500 s"


def test_two_results_lie_over_each_other(port, tmp_path):
    results = [
        se.kinematics(builders.four_bar(1, length, 3, 3, speed=2), t_end=3, step=0.05) for length in (2, 2.3)
    ]
    page = Page(port)
    page.open(
        se.html(results, tmp_path / "two.html", labels=["short", "long"], channels=["rocker.phi"], play=False)
    )
    scrub(page, 1.5)
    assert page.run("[...document.querySelectorAll('.chip')].map((c) => c.textContent)") == ["short", "long"]
    assert page.run("document.querySelectorAll('.chart .curve').length") == 2
    values = page.run("document.querySelector('.chart .value').textContent").split(" | ")
    exact = [f"{np.interp(1.5, r.t, r['rocker.phi']):.4g}" for r in results]
    assert [float(v) for v in values] == pytest.approx([float(v) for v in exact])
    for number, r in enumerate(results):
        script = (
            f'(() => {{ const m = document.querySelector(\'[data-result="{number}"] [data-carrier="rocker"]\')'
            ".getScreenCTM(); return [m.e, m.f]; })()"
        )
        there = np.array([[r["rocker.x"][30], r["rocker.y"][30]]])
        np.testing.assert_allclose([page.run(script)], world_to_screen(page, there), atol=PIXEL)
    page.run("document.querySelectorAll('.chip input')[1].click()")
    assert page.run("document.querySelector('[data-result=\"1\"]').getBoundingClientRect().width") == 0
    assert page.complaints == []
    page.close()


def test_ten_thousand_frames_open_and_move(port, tmp_path):
    model = builders.four_bar(1, 2, 3, 3, speed=2)
    results = se.kinematics(model, t_eval=np.linspace(0, 20, 10_000))
    path = results.html(tmp_path / "long.html", trace=["coupler.end"], play=False)
    assert path.stat().st_size < 5e6
    page = Page(port)
    page.open(path)
    scrub(page, float(results.t[7777]))
    there = np.array([[results["rocker.x"][7777], results["rocker.y"][7777]]])
    np.testing.assert_allclose(
        on_screen(page, "rocker", [(0.0, 0.0)]), world_to_screen(page, there), atol=PIXEL
    )
    assert page.complaints == []
    page.close()


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
