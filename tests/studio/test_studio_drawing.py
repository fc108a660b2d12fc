"""Mechanisms drawn in a real Chromium from an empty page, by mouse and keyboard, to files that run."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from studio_page import CONTROL, SHIFT

import simengine2d as se
from chromium import program
from simengine2d.results.peaks import peak_of

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")


def draw_four_bar(page):
    page.key("g")
    page.click(0, 0)
    page.click(1, 0)
    page.key("l")
    page.drag([(0, 0), (0, 0.3)])
    page.drag([(0, 0.3), (0.8, 0.7)])
    page.drag([(0.8, 0.7), (1, 0)])
    page.key("m")
    page.click(0, 0)


def draw_slider_crank(page):
    page.key("g")
    page.click(0, 0)
    page.key("l")
    page.drag([(0, 0), (0.2, 0.2)])
    page.drag([(0.2, 0.2), (1, 0)])
    page.key("s")
    page.click(1, 0)
    page.key("m")
    page.click(0, 0)


def draw_gears(page):
    page.key("e")
    page.drag([(0.2, 0.3), (0.8, 0.3)])
    page.key("m")
    page.click(0.2, 0.3)


def draw_scissor_lift(page):
    page.key("g")
    page.click(0, 0)
    page.key("l")
    page.drag([(0, 0), (1, 0.4)])
    page.drag([(1, 0), (0, 0.4)])
    page.key("j")
    page.click(0.5, 0.2)
    page.key("s")
    page.click(1, 0)
    page.key("l")
    page.drag([(0, 0.4), (1.2, 0.4)])
    page.key("s")
    page.click(1, 0.4)
    page.key("m")
    page.click(1, 0)
    assert "dead point" in page.words()  # by 0.1 m to both sides, the lift would be flat
    page.type_over('[data-field="text value"]', "drawn - 0.1 + 0.1*cos(2*pi*t)")
    page.run("studio.screen.play()")


DRAWN = {
    "four_bar": (draw_four_bar, (0.8, 0.7), ["link1", "link2", "link3"]),
    "slider_crank": (draw_slider_crank, (1, 0), ["link1", "link2", "slider"]),
    "gears": (draw_gears, (0.8, 0.5), ["gear1", "gear2"]),
    "scissor_lift": (draw_scissor_lift, (0, 0.4), ["link1", "link2", "slider", "link3"]),
}
"""How it is drawn, where a force acts, and the bodies."""

CHANGED = {
    "four_bar": ([(0.8, 0.7), (0.9, 0.6)], "end: [0.9, 0.6]", "link1", ("length", "0.25")),
    "slider_crank": ([(0.2, 0.2), (0.2, 0.3)], "end: [0.2, 0.3]", "link1", ("length", "0.3")),
    "gears": ([(0.8, 0.3), (0.9, 0.3)], "radii: [0.35, 0.35]", "gears", ("text radii", "[0.2, 0.5]")),
    "scissor_lift": ([(1.2, 0.4), (1.3, 0.4)], "end: [1.3, 0.4]", "link3", ("length", "1.4")),
}
"""A drag and what the text says then; an element and what is typed into its form."""


@pytest.mark.parametrize("name", DRAWN)
def test_a_mechanism_is_drawn_moved_read_changed_undone_saved_and_run(empty, home, name):
    page = empty
    draw, spot, bodies = DRAWN[name]
    draw(page)
    assert page.run("studio.drawing.bodies.map((body) => body.name)") == ["ground", *bodies]
    assert "the motion is determined" in page.words(), page.words() + page.toasts() + page.text
    assert_it_moves(page)
    add_force(page, spot)
    check_reactions(page, home, name)
    change_lengths(page, *CHANGED[name])
    if name == "four_bar":
        change_text(page)
    assert "the motion is determined" in page.words()
    undo_it_all(page)
    page.key("s", CONTROL)
    run_by_command_line(home / f"{name}.yaml")


def assert_it_moves(page):
    page.until("studio.screen.player.playing && studio.screen.player.time > 0.1")


def add_force(page, spot):
    """A force of three squares of the grid, downward, from a point."""
    page.key("f")
    x, y = spot
    page.drag([(x, y), (x, y - 0.3)])
    assert page.run("studio.drawing.elements.find(({ kind }) => kind === 'force').editable.fy") == "-3"


def check_reactions(page, home, name):
    """The largest force of every joint, as the page shows it, is that of the saved file."""
    page.save_as(f"{name}.yaml")
    model = se.load(home / f"{name}.yaml")
    results = se.inverse_dynamics(model, t_eval=np.linspace(0.0, 1.0, 101))
    for joint in model.joints:
        shown = page.run(f"studio.peaks.find(({{ joint }}) => joint === {joint!r}).body")
        on = results.reaction(joint, on=shown)
        peak = peak_of(results.t, np.hypot(on.fx, on.fy)).value
        np.testing.assert_allclose(page.peak(joint), peak, rtol=1e-9, atol=1e-12)


def change_lengths(page, drag, said, name, typed):
    """By dragging a point, and in the form of an element that is found by the keyboard."""
    page.key("v")
    page.key("Escape")
    page.drag(drag)
    assert said in page.text
    page.key("Escape")
    page.select(name)
    field, value = typed
    page.type_over(f'[data-field="{field}"]', value)
    assert page.run(f"document.querySelector('[data-field=\"{field}\"]').value") == value


def change_text(page):
    """A coordinate of a support, in the editor."""
    page.run("studio.editor.view.focus()")
    line = page.run("studio.editor.view.state.doc.line(1).text.indexOf('1, 0]')")
    page.run(f"studio.editor.view.dispatch({{ selection: {{ anchor: {line}, head: {line + 1} }} }})")
    page.send("Input.insertText", text="1.1")
    page.until("studio.drawing.points.some(({ refs, x }) => refs.includes('ground.B') && x === 1.1)")
    page.run("studio.canvas.focus()")


def undo_it_all(page):
    """To the empty page and back."""
    whole = page.text
    page.run("studio.canvas.focus()")
    while not page.run("document.querySelector('#undo').disabled"):
        page.key("z", CONTROL)
    assert page.text == ""
    while not page.run("document.querySelector('#redo').disabled"):
        page.key("z", CONTROL | SHIFT)
    page.settle()
    assert page.text == whole


def run_by_command_line(path):
    command = [sys.executable, "-m", "simengine2d", "run", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent, check=False)
    assert done.returncode == 0, done.stderr
    assert "verdict: trust" in done.stdout, done.stdout
