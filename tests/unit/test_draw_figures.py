"""Figures: their labels and numbers, and their looks against kept pictures.

`python tests/unit/test_draw_figures.py` draws the kept pictures anew; look at them before keeping them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.testing.compare import compare_images
from matplotlib.testing.decorators import remove_ticks_and_titles

import simengine2d as se
from simengine2d import builders
from simengine2d.draw.free_body import balance
from simengine2d.draw.scene import scene_of
from simengine2d.io.job import job_for
from simengine2d.model import library

PICTURES = Path(__file__).with_name("pictures")
TOLERANCE = 6.0
"""Root mean square over all pixels, of 255. Between matplotlib 3.9.0 and 3.11.2 the pictures, without their words,
differ by up to 2.8; the pose of `moment` 0.05 s later differs by 23."""


@cache
def motion() -> se.Results:
    return se.kinematics(builders.slider_crank(1, 2, speed=2), t_end=3, step=0.05)


@cache
def falling() -> se.Results:
    """A bar let go from the horizontal, with a spring and a damper at its end."""
    model = se.Model("falling bar")
    bar = model.bar("bar", (0, 0), (1, 0), mass=2)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(
        se.Spring("spring", se.distance(model.ground.at(1, 1), bar["end"]), stiffness=10, damping=1, free=1)
    )
    return se.dynamics(model, t_end=1, step=0.05)


FIGURES: dict[str, Callable[[], object]] = {
    "model": lambda: builders.four_bar(1, 2, 3, 3).draw(),
    "moment": lambda: falling().draw(0.5),
    "channels": lambda: motion().plot("crank.phi", "slider.x", "rod.phi"),
    "energy": lambda: falling().plot_energy(),
    "reaction": lambda: falling().plot_reaction("O")[0],
    "path": lambda: motion().plot_path("rod", "crank.end"),
    "phase": lambda: motion().plot_phase("slider.x"),
    "free_body": lambda: falling().free_body("bar", 0.3),
    "poster": lambda: motion().poster(poses=5, trace=["rod"]),
}


def drawn(name: str, path: Path) -> Path:
    """The figure without its words, whose shapes depend on the fonts that are there."""
    axes = FIGURES[name]()
    figure = axes.figure
    remove_ticks_and_titles(figure)
    for text in figure.findobj(mpl.text.Text):
        text.set_visible(False)
    figure.set_layout_engine("none")
    figure.set_size_inches(6, 4)
    for i, each in enumerate(figure.axes):
        each.set_position(
            (0.05 + 0.5 * (i > 0 and each.name == "polar"), 0.05, 0.45 if name == "reaction" else 0.9, 0.9)
        )
    figure.savefig(path, dpi=60)
    plt.close(figure)
    return path


@pytest.mark.parametrize("name", FIGURES)
def test_it_looks_as_it_did(name, tmp_path):
    found = drawn(name, tmp_path / f"{name}.png")
    complaint = compare_images(str(PICTURES / f"{name}.png"), str(found), TOLERANCE)
    assert complaint is None, complaint


def test_forces_are_explained_with_a_scale():
    axes = falling().draw(0.5)
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["reaction of a joint", "spring or damper"]
    arrow, scale = (text for text in axes.texts if text.get_text() in ("", "= 5 N"))
    length = arrow.xy[0] - arrow.get_position()[0]
    assert length == pytest.approx(float(scale.get_text().split()[1]) * scene_of(falling()).force_scale)
    plt.close(axes.figure)


def test_velocities_have_a_scale_of_their_own():
    axes = motion().draw(0.5, trace=["rod"], arrows=["velocity"])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["velocity"]
    (scale,) = [text.get_text() for text in axes.texts if text.get_text().startswith("= ")]
    assert scale.endswith(" m/s")
    plt.close(axes.figure)
    with pytest.raises(
        se.ModelError, match="arrows = 'speed' is unknown; there are weight, velocity, acceleration"
    ):
        motion().draw(0.5, arrows=["speed"])


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_names_are_apart_on_the_figure_of_every_mechanism(name):
    """As they are drawn at last, in pixels: none is left out, on another one, or off the figure."""
    with library.file(name) as path:
        model = se.load(path)
    results = job_for(model).run(model)
    figure = results.draw(float(results.t[results.t.size // 3])).figure
    figure.canvas.draw()
    words = [
        text for text in figure.axes[0].texts if text.get_text() and "N" not in text.get_text().split()[-1:]
    ]
    assert len(words) >= 2 and all(text.get_visible() for text in words)
    boxes = [text.get_window_extent() for text in words]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= figure.bbox.x1 and b.y1 <= figure.bbox.y1 for b in boxes)
    plt.close(figure)


def test_another_pose_does_not_pass_for_the_same(tmp_path):
    plt.close(falling().draw(0.5).figure)
    FIGURES["later"] = lambda: falling().draw(0.55)
    try:
        found = drawn("later", tmp_path / "later.png")
    finally:
        del FIGURES["later"]
    assert compare_images(str(PICTURES / "moment.png"), str(found), TOLERANCE) is not None


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(autouse=True)
def no_windows(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("a plot opened a window"))


# Channels ---------------------------------------------------------------------------------------------


def test_axes_are_labelled_with_units():
    ax = motion().plot("crank.phi")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("t [s]", "crank.phi [rad]")
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), motion().t)
    np.testing.assert_array_equal(line.get_ydata(), motion()["crank.phi"])


def test_a_second_unit_gets_a_scale_on_the_right():
    ax = motion().plot("slider.x", "crank.phid", "rod.phid")
    left, right = ax.figure.axes
    assert left is ax
    assert (left.get_ylabel(), right.get_ylabel()) == ("slider.x [m]", "crank.phid, rod.phid [rad/s]")
    assert [len(axes.get_lines()) for axes in (left, right)] == [1, 2]
    styles = {
        (str(line.get_color()), str(line.get_linestyle()))
        for axes in (left, right)
        for line in axes.get_lines()
    }
    assert len(styles) == 3  # told apart without color, too


def test_time_begins_and_ends_at_the_edges_also_with_a_constant_on_the_right():
    r = se.inverse_dynamics(builders.four_bar(1, 4, 3, 4, speed="2*pi"), t_end=2)
    assert np.ptp(r["C.torque"]) == 0.0
    assert r.plot("C.fx", "C.torque").get_xlim() == (0.0, 2.0)


def test_pictures_of_answers_need_no_sympy():
    """In a program where sympy is not installed."""
    program = (
        "import sys; sys.modules['sympy'] = None\n"
        "import matplotlib; matplotlib.use('Agg')\n"
        "import simengine2d as se\n"
        "r = se.inverse_dynamics(se.load('four_bar'), t_end=0.1)\n"
        "r.reaction('C').plot(), r.energy().plot(), se.assemble(r.model).plot()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_axes_of_ones_own_are_used():
    figure, ax = plt.subplots()
    assert motion().plot("slider.x", ax=ax) is ax
    assert motion().plot_phase("slider.x", ax=ax) is ax
    assert falling().plot_energy(ax=ax) is ax
    assert len(plt.get_fignums()) == 1 and figure.number == plt.get_fignums()[0]


@pytest.mark.parametrize(
    ("channel", "unit"),
    [("spring.force", "N"), ("O.torque", "N m"), ("bar.phidd", "rad/s²"), ("distance(ground, bar.end)", "m"),
     ("angle(ground, bar)", "rad"), ("half_distance2(ground, bar.end)", "m²"), ("bar.end.yd", "m/s")],
)  # fmt: skip
def test_units(channel, unit):
    assert falling().plot(channel).get_ylabel() == f"{channel} [{unit}]"


def test_what_only_rounding_moves_is_a_straight_line():
    ax = motion().plot("crank.phid")  # 2, up to the last digits
    low, high = ax.get_ylim()
    assert high - low > 0.1


def test_wrong_requests_are_said_in_words():
    with pytest.raises(se.ModelError, match=r"plot needs channels, such as crank\.x"):
        motion().plot()
    with pytest.raises(se.ModelError, match="have 3 units, m, rad, m/s; one plot shows two at most"):
        motion().plot("slider.x", "crank.phi", "slider.xd")
    with pytest.raises(se.ModelError, match="Did you mean 'crank'"):
        motion().plot("crnk.phi")
    with pytest.raises(se.ModelError, match="plot_path needs points"):
        motion().plot_path()
    with pytest.raises(se.UnsupportedError, match="has no reactions"):
        motion().plot_reaction("A")
    assert plt.get_fignums() == []  # nothing is left half-drawn


# Reactions, phases, paths -----------------------------------------------------------------------------


def test_a_bearing_load_is_told_in_numbers():
    time, polar = falling().plot_reaction("O")
    size = np.hypot(falling()["O.fx"], falling()["O.fy"])
    assert polar.name == "polar"
    assert f"largest {size.max():.4g} N" in polar.get_title()
    assert [line.get_label() for line in time.get_lines()] == ["fx", "fy", "|f|"]
    np.testing.assert_allclose(time.get_lines()[2].get_ydata(), size)


def test_the_phase_plot_of_a_measure_has_its_rate():
    ax = motion().plot_phase("distance(ground, rod)")
    s, sd, _ = motion().measure("distance(ground, rod)")
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), s)
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), sd)
    assert ax.get_ylabel() == "d/dt distance(ground, rod) [m/s]"


def test_paths_are_the_points_of_the_motion():
    ax = motion().plot_path("crank.end")
    line = next(line for line in ax.get_lines() if len(line.get_xdata()) > 1)
    radius = np.hypot(line.get_xdata(), line.get_ydata())
    np.testing.assert_allclose(radius[::16], 1.0)  # the outputs
    np.testing.assert_allclose(radius, 1.0, atol=1e-6)  # the cubics between them, of which each turns 0.1 rad
    assert ax.get_aspect() == 1.0


# Free-body diagrams -----------------------------------------------------------------------------------


def test_the_pin_of_a_bar_let_go_carries_a_quarter_of_its_weight():
    """At the start phid = 0, phidd = -3 g / (2 L), so the middle falls with 3 g / 4: the pin bears m g / 4."""
    model = se.Model("bar")
    bar = model.bar("bar", (0, 0), (0.5, 0), mass=0.3)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    results = se.dynamics(model, t_end=0.1, step=0.05)
    found = balance(results, "bar", 0.0)
    assert found.forces["weight"] == pytest.approx((0.0, -0.3 * 9.81, 0.0))
    assert found.forces["pin"] == pytest.approx((0.0, 0.3 * 9.81 / 4, -0.25 * 0.3 * 9.81 / 4), abs=1e-12)
    assert found.residual == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("t", [0.0, 0.35, 1.0])
def test_forces_and_inertia_balance(t):
    found = balance(falling(), "bar", t)
    assert set(found.forces) == {"weight", "O", "spring"}
    assert np.abs(found.residual).max() < 1e-11 * max(np.abs(list(found.forces.values())).max(), 1.0)
    text = "\n".join(text.get_text() for text in falling().free_body("bar", t).texts)
    assert re.search(r"ΣF − m a = \(.*\) N,   ΣT − J α = .* N m", text)


@pytest.mark.parametrize("name", ["excavator", "klann_leg", "jansen_leg", "double_pendulum"])
def test_names_of_forces_on_a_free_body_are_apart(name):
    with library.file(name) as path:
        model = se.load(path)
    results = se.dynamics(model, t_end=0.2, step=0.1)
    for body in results.bodies:
        figure = results.free_body(body, 0.1).figure
        figure.canvas.draw()
        words = [text for text in figure.axes[0].texts if text.get_text()]
        boxes = [text.get_window_extent() for text in words]
        assert all(text.get_visible() for text in words)
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        plt.close(figure)


def test_wrong_free_bodies_are_said_in_words():
    with pytest.raises(se.ModelError, match=r"no body 'bra' to free\. Did you mean 'bar'"):
        falling().free_body("bra", 0)
    with pytest.raises(se.ModelError, match="t = 7 s lies outside of the results, which go from 0 to 1 s"):
        falling().free_body("bar", 7)
    with pytest.raises(se.UnsupportedError, match="needs the reactions, which kinematics does not hold"):
        motion().free_body("rod", 0)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for each in FIGURES:
        print(drawn(each, PICTURES / f"{each}.png"))
