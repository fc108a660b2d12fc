"""The page of the player: complete in itself, small, the same twice; its numbers are those of the results."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.draw import payload as payloads
from simengine2d.draw.differences import names_of
from simengine2d.draw.html import page, player_data
from simengine2d.draw.payload import payload


@pytest.fixture(scope="module")
def results():
    return se.kinematics(builders.four_bar(1, 2, 3, 3, speed=2), t_end=3, step=0.05)


@pytest.fixture(scope="module")
def falling():
    model = se.Model("falling bar")
    bar = model.bar("bar", (0, 0), (1, 0), mass=2)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    return se.dynamics(model, t_end=1, step=0.05)


def columns(data):
    t = np.frombuffer(base64.b64decode(data["t"]), "<f8")
    return t, np.frombuffer(base64.b64decode(data["columns"]), "<f4").reshape(-1, t.size)


def test_columns_are_the_channels(falling):
    data = payload(falling, "a")
    t, numbers = columns(data)
    np.testing.assert_array_equal(t, falling.t)
    for channel in data["channels"]:
        if "column" in channel and channel["group"] != "energy":
            np.testing.assert_allclose(
                numbers[channel["column"]], falling[channel["name"]], rtol=1e-6, atol=1e-12
            )
    known = {channel["name"]: channel for channel in data["channels"]}
    assert known["bar.phi"]["unit"] == "rad" and known["O.fx"]["unit"] == "N"
    np.testing.assert_allclose(
        numbers[known["energy.total"]["column"]], falling.energy().total, rtol=1e-6, atol=1e-5
    )
    x, y = (numbers[k] for k in known["O.|f|"]["sizeOf"])
    np.testing.assert_allclose(np.hypot(x, y), np.hypot(falling["O.fx"], falling["O.fy"]), rtol=1e-6)


def test_the_page_asks_the_network_for_nothing(results, tmp_path):
    path = results.html(tmp_path / "player.html")
    text = path.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"<(link|img|script)[^>]+(src|href)=", text)
    assert "@import" not in text and "url(" not in text


def test_the_same_results_give_the_same_bytes(results):
    assert page(results) == page(results)


def test_names_cannot_break_the_page():
    model = se.Model("</script><script>alert(1)</script>")
    bar = model.bar("<b>&bar", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    text = page(se.dynamics(model, t_end=0.1, step=0.05))
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(data)["title"] == model.name
    assert "alert(1)</script>" not in text


@pytest.mark.slow
def test_ten_thousand_frames_stay_below_five_megabytes(tmp_path):
    """A made-up motion, as long as a real one of a four-bar with all its reactions."""
    model = builders.four_bar(1, 2, 3, 3, speed=2)
    q = se.assemble(model).q
    turn = np.linspace(0, 60, 10_000)[:, None]
    q, qd = q + np.sin(turn), np.cos(turn) * np.ones_like(q)
    lam = np.random.default_rng(1).standard_normal((10_000, 9))
    long = se.Results(model, turn[:, 0], q, qd, -np.sin(turn) * np.ones_like(q), lam, analysis="dynamics")
    path = long.html(tmp_path / "long.html", trace=["coupler.end"])
    assert columns(payload(long, "a"))[0].size == 10_000  # nothing is left out
    assert path.stat().st_size < 5e6


def test_what_would_be_too_large_is_thinned_and_said(results, monkeypatch):
    monkeypatch.setattr(payloads, "MOST_NUMBERS", 2000)
    monkeypatch.setattr(payloads, "FEWEST_ROWS", 20)
    data = payload(results, "a")
    t, _ = columns(data)
    assert t[0] == results.t[0] and t[-1] == results.t[-1]
    assert t.size == 2000 // (9 * 3 + 6 * 5 + 3)
    assert data["notes"] == [f"shown are {t.size} of {results.t.size} times"]
    monkeypatch.setattr(payloads, "FEWEST_ROWS", 50)
    data = payload(results, "a")
    assert {channel["name"].split(".")[1] for channel in data["channels"] if channel["group"] == "crank"} == {
        "x",
        "y",
        "phi",
    }
    assert any("left out" in note for note in data["notes"])


def test_several_results_in_one_page(results, tmp_path):
    other = se.kinematics(builders.four_bar(1, 2.2, 3, 3, speed=2), t_end=2, step=0.05)
    data = player_data(
        [results, other], labels=["short", "long"], trace=["coupler.end"], channels=["rocker.phi"]
    )
    assert [part["label"] for part in data["results"]] == ["short", "long"]
    assert data["options"]["channels"] == ["rocker.phi"]
    assert se.html([results, other], tmp_path / "two.html").stat().st_size > 10_000
    names = [part["label"] for part in player_data([results, other])["results"]]
    assert names == ["coupler = 2", "coupler = 2.2"]


def test_results_are_named_by_what_differs(results, falling):
    model = falling.model
    runs = [se.dynamics(model, t_end=0.1, step=0.05, integrator=name) for name in ("rk4", "heun")]
    assert names_of(runs) == ["integrator = rk4", "integrator = heun"]
    assert names_of([results, falling]) == ["four-bar", "falling bar"]
    assert names_of([falling, falling]) == ["falling bar (1)", "falling bar (2)"]
    heavy = se.Model("falling bar")
    bar = heavy.bar("bar", (0, 0), (1, 0), mass=3)
    heavy.add(se.Revolute("O", heavy.ground, bar["start"]))
    assert names_of([falling, se.dynamics(heavy, t_end=1, step=0.05)]) == ["bar.mass = 2", "bar.mass = 3"]


def test_measures_that_are_asked_for_and_those_of_springs_are_channels(falling):
    data = payload(falling, "a", asked=["distance(bar.end, ground)", "bar.end.x"])
    _, numbers = columns(data)
    known = {channel["name"]: channel for channel in data["channels"]}
    asked = known["distance(bar.end, ground)"]
    np.testing.assert_allclose(numbers[asked["column"]], 1.0, rtol=1e-6)
    assert asked["unit"] == "m"
    driven = se.inverse_dynamics(builders.slider_crank(1, 2.5, speed=4), t_end=1, step=0.1)
    data = payload(driven, "a")
    _, numbers = columns(data)
    known = {channel["name"]: channel for channel in data["channels"]}
    assert known["angle(ground, crank)"]["unit"] == "rad"
    assert known["angle(ground, crank)"]["measure"]["kind"] == "angle"
    np.testing.assert_allclose(numbers[known["motor.effort"]["column"]], driven["motor.effort"], rtol=1e-5)
    assert known["motor.power"]["unit"] == "W" and known["motor.effort"]["unit"] == "N m"


def test_what_is_plotted_by_default_moves_and_bears():
    swing = se.dynamics(se.load("cart_pole"), t_end=0.1)
    assert player_data([swing])["options"]["channels"] == ["cart.x", "pole.phi", "rail.|f|"]
    governor = se.dynamics(se.load("shaft_governor"), t_end=0.1)  # its pivot O bears nothing
    assert player_data([governor])["options"]["channels"] == ["wheel.phi", "second.phi", "P1.|f|"]


def test_the_speed_fits_the_motion(results):
    assert player_data(results)["options"]["speed"] == 1
    fast = se.kinematics(builders.four_bar(1, 2, 3, 3, speed=200), t_end=0.03, step=0.001)
    assert player_data(fast)["options"]["speed"] == 0.01


def test_a_model_s_own_traces_are_shown(results):
    results.model.look["trace"] = ["coupler.end"]
    try:
        assert player_data(results)["options"]["trace"] == ["coupler.end"]
        assert player_data(results, trace=[])["options"]["trace"] == []
    finally:
        del results.model.look["trace"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"labels": ["a", "b"]}, "2 labels were given for 1 results"),
        ({"speed": 3}, "speed = 3: the player knows 0.001"),
        ({"theme": "blue"}, "theme = 'blue' must be 'light' or 'dark'"),
        ({"channels": ["crank.z"]}, r"the player has no channel crank\.z"),
        ({"trace": ["crank.nose"]}, r"trace 'crank\.nose'"),
    ],
)
def test_wrong_requests_are_said_in_words(results, tmp_path, options, sentence):
    with pytest.raises(se.ModelError, match=sentence):
        results.html(tmp_path / "player.html", **options)
    with pytest.raises(se.ModelError, match=r"a player is an \.html file"):
        results.html(tmp_path / "player.txt")
    with pytest.raises(se.ModelError, match="no results to show"):
        se.html([], tmp_path / "player.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"copler": (1, 2)}, r"no parameter 'copler'\. Did you mean 'coupler'"),
        ({"coupler": (2, 1)}, "the slider of 'coupler' goes from 2 to 1"),
    ],
)
def test_wrong_sliders_are_said_in_words(results, parameters, sentence):
    pytest.importorskip("anywidget")
    with pytest.raises(se.ModelError, match=sentence):
        results.player(parameters=parameters)


def test_sliders_use_an_own_run(results):
    pytest.importorskip("anywidget")
    widget = results.player(
        parameters={"coupler": (1.9, 2.5)}, run=lambda model: se.kinematics(model, t_end=1, step=0.25)
    )
    widget.values = {"coupler": 2.1}
    assert widget.results.t.size == 5 and widget.message == ""
