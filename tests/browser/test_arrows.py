"""Arrows, legend, tips and traces of the player, against the numbers of the results."""

from __future__ import annotations

import numpy as np
import pytest
from player_page import PLAYER, scrub, set_scale, world_to_screen

from chromium import program

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]
pytest.importorskip("websocket")


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
