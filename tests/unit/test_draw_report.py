"""Reports and what notebooks show: the facts, and that they stand on the page."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.draw import report_data
from simengine2d.draw.notebook import player


@pytest.fixture(scope="module")
def falling():
    model = se.Model("falling <bar>")
    bar = model.bar("bar", (0, 0), (1, 0), mass=2)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    return se.dynamics(model, t_end=1, step=0.05)


@pytest.fixture(scope="module")
def driven():
    return se.kinematics(builders.slider_crank(1, 2, speed=2), t_end=1, step=0.1)


@pytest.mark.slow
def test_a_report_holds_what_it_promises(falling, tmp_path):
    text = falling.report(tmp_path / "report.html").read_text(encoding="utf-8")
    sections = ("Verdict", "Mechanism", "Mobility", "Plots", "Reactions", "Settings", "Origin")
    versions = (report_data.model_hash(falling.model), f"numpy {np.__version__}")
    for word in (*sections, "power balance", "falling &lt;bar&gt;", "mobility 1", *versions):
        assert word in text
    assert text.count("<svg") >= 4  # drawing, coordinates, energy, reaction
    assert "Trust: every check that was made is within its limit" in text
    assert falling.report(tmp_path / "again.html").read_text(encoding="utf-8") == text  # byte for byte


def test_a_report_of_kinematics_has_no_reactions(driven, tmp_path):
    text = driven.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Reactions</h2>" not in text
    with pytest.raises(se.ModelError, match=r"a report is an \.html file"):
        driven.report(tmp_path / "report.pdf")


def test_large_errors_are_told(falling):
    broken = replace(falling, residuals={"position": 0.1})
    assert [fact.name for fact in report_data.verdict(broken) if fact.good is False] == [
        "largest residual, position"
    ]


def test_peak_and_rms_of_a_rotating_unbalance():
    """A disk turned steadily about a point e beside its center: the pin bears m e w^2 all the time."""
    model = se.Model("unbalance", gravity=(0, 0))
    disk = model.disk("disk", radius=0.5, mass=3, at=(0.1, 0))
    model.add(se.Revolute("O", model.ground, disk.at(-0.1, 0)))
    model.add(se.Driver("motor", se.angle(model.ground, disk), "7*t"))
    (pin, motor) = report_data.loads(se.dynamics(model, t_end=1, step=0.05))
    assert pin.peak_force == pytest.approx(3 * 0.1 * 49, rel=1e-9)
    assert pin.rms_force == pytest.approx(3 * 0.1 * 49, rel=1e-9)
    assert pin.peak_torque == 0.0 and motor.peak_force == pytest.approx(0.0, abs=1e-9)
    assert pin.on == "disk" and pin.unique


def test_reactions_that_are_not_unique_are_marked():
    results = se.dynamics(three_cranks(), t_end=0.1, step=0.05)
    assert (
        {load.name for load in report_data.loads(results) if not load.unique}
        == set(results.non_unique)
        != set()
    )


def test_the_hash_tells_models_apart():
    first, second = builders.four_bar(1, 2, 3, 3), builders.four_bar(1, 2, 3, 3.5)
    assert report_data.model_hash(first) == report_data.model_hash(builders.four_bar(1, 2, 3, 3))
    assert report_data.model_hash(first) != report_data.model_hash(second)
    first.add(se.Torque("brake", "crank", lambda t: t))
    assert report_data.model_hash(first) is None


# Notebooks --------------------------------------------------------------------------------------------


def test_a_model_shows_drawing_mobility_and_tables(falling):
    text = falling.model._repr_html_()
    assert "<svg" in text and "mobility 1" in text and "falling &lt;bar&gt;" in text
    assert "<td>Revolute</td>" in text


def test_a_wrong_model_shows_its_problems():
    model = se.Model("wrong")
    model.body("a", mass=-1)
    assert "mass = -1 is negative" in model._repr_html_()


def test_results_show_verdict_and_player(falling):
    text = falling._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in text and "power balance" in text
    assert text.count("<script") == 0  # the player is in its frame, escaped
    assert "<svg" in text  # where frames are left out
    empty = falling.at_rows(slice(0))
    assert "iframe" not in empty._repr_html_()


def test_the_widget_carries_the_player(falling):
    pytest.importorskip("anywidget")
    widget = falling.player(height=300)
    assert widget.data["results"][0]["name"] == "falling <bar>"
    assert widget.height == 300 and ".simengine2d" in widget.sheet
    assert "export default" in str(widget._esm)
    assert widget.data["options"]["play"] is False
    assert len(player([falling, falling]).data["results"]) == 2


def test_without_anywidget_the_way_to_get_it_is_said(falling, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(se.UnsupportedError, match=r"anywidget, .*pip install 'simengine2d\[notebook\]'"):
        falling.player()


def test_without_matplotlib_the_way_to_get_it_is_said(falling, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(se.UnsupportedError, match=r"matplotlib, .*results\.html"):
        falling.plot("bar.phi")


def test_importing_the_package_imports_no_drawing():
    check = "import sys, simengine2d; simengine2d.Model; simengine2d.Results; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    modules = set(found.stdout.split())
    assert "simengine2d.results.results" in modules
    assert not modules & {"matplotlib", "PIL", "simengine2d.draw"}
