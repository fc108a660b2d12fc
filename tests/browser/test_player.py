"""The player in a real Chromium: it plays, and scrubs to the poses that were computed."""

from __future__ import annotations

import time

import numpy as np
import pytest
from player_page import PIXEL, PLAYER, on_screen, scrub, world_to_screen

import simengine2d as se
from chromium import Page, program
from simengine2d import builders

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")


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
