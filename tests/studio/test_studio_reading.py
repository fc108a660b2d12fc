"""The page of the studio in a real Chromium: what is read off a motion, and how it is used without a mouse."""

from __future__ import annotations

import time

import numpy as np
import pytest
from studio_page import CONTROL

import simengine2d as se
from chromium import program
from simengine2d.model import library

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")

T = 0.3  # a time of the four-bar that is read


@pytest.fixture
def four_bar(empty):
    """The four-bar of the gallery, paused at a time."""
    empty.show_text(library.text("four_bar"))
    empty.run(f"studio.screen.player.seek({T})")
    return empty


def at_that_time():
    """The motion at the time that is read, by the engine."""
    return se.inverse_dynamics(se.load("four_bar"), t_eval=[0.0, T])


def turn_on(page, reading):
    page.run("studio.page.showPanel('forces')")
    page.click_on(f"[data-reading={reading}]")


# readings


def test_what_lies_over_the_drawing_covers_all_of_it(four_bar):
    boxes = "['.overlay', '.underlay', '.stage'].map((name) => document.querySelector(`.canvas ${name}`))"
    sizes = four_bar.run(f"{boxes}.map((one) => one.getBoundingClientRect()).map((b) => [b.width, b.height])")
    assert sizes[0] == sizes[1] == sizes[2]


def test_an_instant_center_lies_where_the_lines_of_crank_and_rocker_meet(four_bar):
    turn_on(four_bar, "centers")
    for _ in range(8):
        four_bar.key("-")  # it lies outside of the mechanism
    shown = four_bar.run(
        """(() => {
          const circle = document.querySelector("[data-center=coupler] circle");
          return studio.screen.toWorld([Number(circle.getAttribute("cx")), Number(circle.getAttribute("cy"))]);
        })()"""
    )
    results = at_that_time()
    (bx, by), (cx, cy) = ([results[f"coupler.{end}.{c}"][-1] for c in "xy"] for end in ("start", "end"))
    # A + u (B - A) = D + v (C - D), with A = (0, 0) and D = (4, 0)
    u, _ = np.linalg.solve([[bx, 4.0 - cx], [by, -cy]], [4.0, 0.0])
    np.testing.assert_allclose(shown, [u * bx, u * by], atol=1e-6)  # outputs are interpolated between rows
    turn_on(four_bar, "centers")


def test_the_transmission_angle_is_that_of_coupler_and_rocker(four_bar):
    turn_on(four_bar, "angles")
    text = four_bar.run("document.querySelector('[data-angle=C]').textContent")
    results = at_that_time()
    turn = np.degrees(results["coupler.phi"][-1] - results["rocker.phi"][-1]) % 180.0
    assert text == f"μ = {min(turn, 180.0 - turn):.1f}°"
    assert "μ" not in four_bar.run("document.querySelector('[data-angle=B]').textContent")
    turn_on(four_bar, "angles")


def test_the_forces_on_a_free_body_move_it(four_bar):
    """sum F = m a"""
    four_bar.select("coupler")
    four_bar.key("x")
    four_bar.choose("Free-body diagram")
    four_bar.run(f"studio.screen.player.seek({T})")
    loads = four_bar.run("studio.readings.loads().map(({ fx, fy }) => [fx, fy])")
    assert four_bar.run("document.querySelectorAll('[data-load]').length") == len(loads) == 3
    results = at_that_time()
    ma = 2.0 * np.array([results["coupler.xdd"][-1], results["coupler.ydd"][-1]])
    np.testing.assert_allclose(np.sum(loads, axis=0), ma, rtol=1e-6)
    four_bar.run("studio.commands.freeBody('coupler')")


def test_a_run_is_compared_with_the_one_before_the_drag(four_bar):
    turn_on(four_bar, "compare")
    four_bar.key("v")
    four_bar.key("Escape")
    four_bar.drag([(1, 0), (0.9, 0.1), (0.8, 0.2)])
    assert four_bar.run("studio.screen.player.results.map(({ label }) => label)") == ["now", "before"]
    before = "studio.screen.player.results[1]"
    assert four_bar.run(f"{before}.pose(1, {before}.locate(0))[0]") == pytest.approx(
        0.5
    )  # of the crank as it was
    turn_on(four_bar, "compare")


def test_a_plot_that_was_typed_stays_through_edits(four_bar):
    four_bar.run("studio.page.showPanel('plots')")
    four_bar.type_over("input.formula", "distance(ground, coupler)")
    four_bar.run("studio.edit({ do: 'set_parameter', name: 'coupler', value: 2.1 })")
    assert "distance(ground, coupler)" in four_bar.run(
        "studio.screen.player.plots.charts.map(({ name }) => name)"
    )


def test_modes_swing(empty):
    empty.show_text(library.text("coupled_pendulums"))
    empty.run("document.querySelector('#analysis').focus()")
    empty.run("studio.analysis.menu.value = 'modes'; studio.analysis.menu.dispatchEvent(new Event('change'))")
    empty.until("studio.used.kind === 'modes' && studio.screen.player.playing")
    hertz = se.modes(se.load("coupled_pendulums")).frequency
    np.testing.assert_allclose(empty.run("studio.used.frequencies"), hertz, rtol=1e-9)
    empty.run("studio.analysis.take('')")


# hands


def test_a_free_mechanism_is_pulled_and_let_go(empty):
    empty.show_text(library.text("double_pendulum"))
    x, y = empty.run("studio.drawing.bodies.find(({ name }) => name === 'lower').pose.slice(0, 2)")
    u, v = empty.pixel(x, y)
    held = {"button": "left", "buttons": 1, "clickCount": 1}
    empty.mouse("mousePressed", u, v, **held)
    empty.mouse("mouseMoved", u + 60, v - 60, **held)
    empty.until("studio.screen.pulled && studio.overlay.hand.length === 2")
    empty.mouse("mouseReleased", u + 60, v - 60, button="left", clickCount=1)
    assert empty.run("getComputedStyle(document.querySelector('.canvas .forces')).display") == "none"
    empty.key("Escape")
    assert empty.run("studio.screen.atRest")


def test_a_locked_length_stays_when_its_end_is_dragged(four_bar):
    four_bar.show_text(
        "ground: {points: {A: [0, 0]}}\nbodies:\n  arm: {shape: bar, start: [0, 0], end: [0.6, 0.8], density: 1}\n"
        "joints:\n  A: {type: Revolute, a: ground.A, b: arm.start}\n"
    )
    four_bar.select("arm")
    four_bar.key("x")
    four_bar.choose("Lock its length")
    four_bar.key("Escape")
    four_bar.drag([(0.6, 0.8), (1, 0.2)])
    arm = four_bar.run("studio.drawing.bodies.at(-1)")
    assert arm["length"] == pytest.approx(1.0, abs=1e-6) and arm["angle"] < 0.6
    assert four_bar.run("document.querySelectorAll('.overlay .padlock').length") == 1


def test_a_picture_beside_the_model_is_scaled_by_two_clicks(empty, home):
    empty.picture(home / "photo.png")
    empty.show_text("look: {picture: {file: photo.png, at: [0, 0], width: 1}}\n")
    empty.until("studio.overlay.ground.picture?.ratio === 860 / 1440")  # a picture of this page
    empty.run("studio.tools.take('scale')")
    empty.click(0, 0.2)
    empty.click(0.5, 0.2)
    empty.until("document.querySelector('dialog input')")
    empty.type_over("dialog input", "2")
    empty.settle()
    assert empty.run("studio.drawing.picture.width") == pytest.approx(4.0, rel=1e-3)


# keys and fingers


def test_a_four_bar_is_drawn_by_keys_alone(empty):
    page = empty
    page.run("studio.canvas.focus()")

    def go(dx, dy):
        for _ in range(abs(dx)):
            page.key("ArrowRight" if dx > 0 else "ArrowLeft")
        for _ in range(abs(dy)):
            page.key("ArrowUp" if dy > 0 else "ArrowDown")

    def click():
        page.key("Enter")
        page.settle()

    page.run("studio.keys.place = [0, 0]")
    for key, moves in (
        ("g", [(0, 0), (10, 0)]),
        ("l", [(-10, 0), (0, 3), (0, 0), (8, 4), (0, 0), (2, -7)]),
        ("m", [(-10, 0)]),
    ):
        page.key(key)
        for move in moves:
            go(*move)
            click()
    assert "the motion is determined" in page.words(), page.text
    page.until("studio.screen.player.playing")
    assert [body["name"] for body in page.run("studio.drawing.bodies")] == [
        "ground",
        "link1",
        "link2",
        "link3",
    ]


def test_fingers_draw_and_zoom(empty):
    page = empty
    page.key("l")
    page.touch([page.pixel(0, 0)], [page.pixel(0.3, 0.2)], [page.pixel(0.6, 0.4)])
    page.settle()
    assert "start: [0, 0], end: [0.6, 0.4]" in page.text
    scale = page.run("studio.screen.view.k")
    (x, y) = page.pixel(0.3, 0.2)
    page.touch(*([(x - d, y), (x + d, y)] for d in (40, 60, 80)))
    assert page.run("studio.screen.view.k") == pytest.approx(2.0 * scale, rel=1e-2)
    page.key("Escape")
    page.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y + 150}])
    page.until("document.querySelector('.popup').checkVisibility()")  # a long press on the paper
    page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.choose("Ground here")
    assert page.text.startswith("ground:")


def test_the_text_is_checked_and_completed_while_it_is_typed(empty):
    page = empty
    page.run("studio.editor.view.focus()")
    page.send("Input.insertText", text="bodies:\n  arm: {")
    for letter in "sha":
        page.key(letter)
    page.until("document.querySelector('.cm-tooltip-autocomplete')?.innerText.includes('shape')")
    time.sleep(0.2)  # a list that has just opened does not take Enter yet
    page.key("Enter")
    page.send("Input.insertText", text="bar, start: [0, 0], end: [1, wrong]}")
    page.until("document.querySelector('.words .problem')?.innerText.includes('wrong')")
    assert page.run("studio.problems[0].line") == 2
    assert page.run("document.querySelectorAll('.cm-lint-marker-error').length") == 1


def test_the_guide_leads_a_beginner_to_a_four_bar_that_moves(empty):
    page = empty
    page.run("localStorage.removeItem('guide'); studio.guide.show()")

    def step():
        return page.run("document.querySelector('.guide strong').textContent")

    def marked():
        """The places that are marked on the drawing."""
        circles = page.run(
            "[...document.querySelectorAll('.overlay circle.suggested')].map((c) => studio.screen.toWorld([c.cx, c.cy]"
            ".map((part) => part.baseVal.value)))"
        )
        return [(round(x, 6), round(y, 6)) for x, y in circles]

    assert step().startswith("A four-bar, 1 of 6")
    page.key("g")
    for place in marked():
        page.click(*place)
    assert "2 of 6" in step()
    page.key("l")
    page.drag(marked())
    assert "3 of 6" in step()
    first, top, again, support = marked()
    page.drag([first, top])
    page.drag([again, support])
    assert "4 of 6" in step()
    page.key("m")
    page.click(*marked()[0])
    assert "5 of 6" in step() and "the motion is determined" in page.words()
    page.run("studio.guide.close()")


# looks


@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_fits_a_screen_in_light_and_dark(four_bar, width):
    page = four_bar
    page.resize(width, 800)
    for theme in ("dark", "light"):
        page.run(f"studio.page.setTheme({theme!r})")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        ink, paper = page.run(
            "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))"
        )
        assert contrast(ink, paper) > 7.0
    for view in ("text", "draw", "side"):
        page.run(f"studio.page.showView({view!r})")
        assert page.run(f"document.querySelector('section.{view}').checkVisibility()")
    page.run("studio.page.showView('draw')")
    page.resize(1440, 860)


def test_every_control_has_a_name_for_screen_readers(four_bar):
    nameless = four_bar.run(
        """[...document.querySelectorAll("button, input, select, [role=tab]")]
          .filter((one) => one.checkVisibility() && !one.closest("label"))
          .filter((one) => !(one.innerText?.trim() || one.ariaLabel || one.title))
          .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


def test_a_shipped_mechanism_opens_by_the_keyboard(empty):
    empty.run("studio.files.saved = studio.editor.text")
    empty.key("o", CONTROL)
    empty.until("document.querySelector('dialog .thing')")
    empty.send("Input.insertText", text="jansen")
    empty.key("Tab")
    empty.key("Enter")
    empty.until("studio.drawing.bodies.length > 6")
    low, high = empty.run("[studio.screen.result.bounds.slice(0, 2), studio.screen.result.bounds.slice(2)]")
    box = empty.run("[studio.screen.box.width, studio.screen.box.height]")
    for x, y in (low, high):  # all of it is in view
        u, v = empty.run(f"studio.screen.toScreen([{x}, {y}])")
        assert -1 <= u <= box[0] + 1 and -1 <= v <= box[1] + 1


def contrast(ink: str, paper: str) -> float:
    """Of two colors 'rgb(r, g, b)', as the guidelines for accessible pages measure it."""

    def light(color: str) -> float:
        parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(ink), light(paper)), reverse=True)
    return (high + 0.05) / (low + 0.05)
