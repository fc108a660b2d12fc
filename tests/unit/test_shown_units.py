"""What readers see of a model with units is in these: plots, pages, tables and files. Arrays are in SI units."""

from __future__ import annotations

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import simengine2d as se
from simengine2d.answer import PlottedAnswer
from simengine2d.draw.html import player_data
from simengine2d.draw.payload import payload
from simengine2d.draw.report import report
from simengine2d.expressions.unit_system import SI, UnitSystem, factor_of

MM = {"length": "mm", "angle": "deg", "mass": "g", "force": "kN"}
ROUNDING = 1e-14


def press(units: dict[str, str] | None) -> se.Model:
    """A crank with a spring, in SI units or in millimeters, degrees, grams and kilonewtons; the same mechanism."""
    of = UnitSystem(**(units or {}))
    n = lambda value, unit: value / of.shown(unit).factor
    m = se.Model("press", units=units, parameters={"throw": "80 mm"})
    m.formulas["gap"] = f"crank.x + {n(0.1, 'm')!r}"
    crank = m.bar("crank", (0, 0), ("throw", n(0.01, "m")), mass=n(2.0, "kg"))
    m.add(se.Revolute("O", m.ground, crank["start"]))
    anchor = m.ground.at(n(0.2, "m"), 0)
    m.add(se.Spring("spring", se.distance(anchor, crank["end"]), stiffness="3 kN/m", free="50 mm"))
    return m


@pytest.fixture(scope="module")
def mm() -> se.Results:
    return se.dynamics(press(MM), t_end=0.2, step=0.01)


@pytest.fixture(scope="module")
def si() -> se.Results:
    return se.dynamics(press(None), t_end=0.2, step=0.01)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


# Units ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [MM, {"length": "in", "force": "lbf", "mass": "lb"}, {"angle": "deg"}])
def test_a_shown_unit_names_its_factor(units):
    system = UnitSystem(**units)
    for unit in ("kg", "kg m²", "m", "rad/s", "m/s²", "rad/s²", "N", "N m", "m²"):
        shown = system.shown(unit)
        assert shown.factor == pytest.approx(factor_of(shown.name), rel=ROUNDING)
    assert system.shown("") == ("", 1.0) and SI.shown("J") == ("J", 1.0)


def test_what_stays_in_si_units_keeps_its_si_name():
    degrees = UnitSystem(angle="deg")
    assert degrees.shown("J").name == "J" and degrees.shown("W").name == "W"
    assert UnitSystem(length="mm").shown("J").name == "N mm"


# Plots ------------------------------------------------------------------------------------------------


def lines(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_ydata()) for line in ax.get_lines()}


def test_plots_of_channels_energy_and_reactions_are_in_the_units_of_the_model(mm, si):
    ax = mm.plot("crank.x")
    assert ax.get_ylabel() == "crank.x [mm]"
    np.testing.assert_allclose(lines(ax).popitem()[1], 1000 * si["crank.x"], rtol=1e-9)
    for ax in (mm.plot_energy(), mm.energy().plot()):
        assert ax.get_ylabel() == "energy [kN mm]"
        np.testing.assert_allclose(lines(ax)["kinetic"], mm.energy().kinetic, rtol=ROUNDING)  # a joule
    time, polar = mm.plot_reaction("O")
    assert time.get_ylabel() == "O [kN]" and " kN at " in polar.get_title()
    np.testing.assert_allclose(lines(time)["fx"], mm.reaction("O").fx / 1000, rtol=ROUNDING)
    ax = mm.reaction("O").plot()
    assert ax.get_ylabel() == "O on crank [kN]"
    np.testing.assert_allclose(lines(ax)["fy"], mm.reaction("O").fy / 1000, rtol=ROUNDING)
    assert mm.plot_phase("crank.phi").get_ylabel() == "crank.phid [deg/s]"
    assert si.plot_energy().get_ylabel() == "energy [J]"


def test_a_path_has_round_numbers_of_its_unit(mm):
    ax = mm.plot_path("crank.end")
    assert ax.get_xlabel() == "x [mm]"
    ax.figure.canvas.draw()
    texts = [float(tick.get_text().replace("\u2212", "-")) for tick in ax.get_xticklabels()]
    places = ax.get_xticks()
    np.testing.assert_allclose(texts, places * 1000, rtol=1e-6, atol=1e-9)
    assert max(map(abs, texts)) > 20


def test_units_of_the_callers_choice_come_before_those_of_the_model(mm):
    inch = mm.in_units(length="in", force="lbf")
    assert inch.plot_energy().get_ylabel() == "energy [lbf in]"
    assert inch.plot_reaction("O")[0].get_ylabel() == "O [lbf]"
    np.testing.assert_allclose(
        inch.energy().total, mm.energy().total / (4.4482216152605 * 0.0254), rtol=1e-12
    )
    data = player_data(inch)
    assert {c["unit"] for c in data["results"][0]["channels"] if c["name"].endswith(".x")} == {"in"}


def test_pictures_with_forces_explain_them_in_the_units_of_the_model(mm):
    texts = [text.get_text() for text in mm.draw(t=0.1).texts]
    assert any(re.fullmatch(r"= \S+ kN", text) for text in texts)
    ax = mm.free_body("crank", 0.1)
    words = " ".join(text.get_text() for text in ax.texts)
    assert "kN" in words and re.search(r"\bN\b", words) is None


def test_answers_say_numbers_in_the_units_of_the_model(mm, si):
    assert "kN mm" in str(mm.energy()) and str(si.energy()).endswith(" J")
    peak = float(re.search(r"largest force (\S+) kN", str(mm.reaction("O"))).group(1))
    assert peak == pytest.approx(np.hypot(*si.reaction("O")[:2]).max() / 1000, rel=1e-4)
    assert "mass g" in mm.model.written._repr_html_()


# Pages ------------------------------------------------------------------------------------------------


def test_the_player_gets_columns_in_si_units_and_the_unit_of_each_channel(mm, si):
    ours, theirs = (payload(one, "a") for one in (mm, si))
    assert [c["group"] for c in ours["channels"]] == [c["group"] for c in theirs["channels"]]
    assert "distance(ground.at(200, 0), crank.end)" in [c["name"].replace(".0", "") for c in ours["channels"]]
    units = {c["name"]: (c["unit"], c.get("factor", 1.0)) for c in ours["channels"]}
    assert units["crank.x"] == ("mm", 0.001) and units["O.fx"] == ("kN", 1000)
    assert units["crank.phid"] == ("deg/s", pytest.approx(np.pi / 180))
    assert units["energy.total"] == ("kN mm", 1.0) and units["gap"] == ("mm", 0.001)
    assert units["spring.effort"] == ("kN", 1000)
    assert ours["units"]["N m"] == ["kN mm", 1.0] and theirs["units"]["N m"] == ["N m", 1.0]
    np.testing.assert_allclose(ours["forceScale"], theirs["forceScale"], rtol=1e-6)  # the picture is the same


def test_results_that_are_compared_have_the_units_of_the_first(mm, si):
    for pair, unit in (((mm, si), "mm"), ((si, mm), "m")):
        parts = player_data(list(pair), labels=["a", "b"])["results"]
        assert {c["unit"] for p in parts for c in p["channels"] if c["name"] == "crank.x"} == {unit}


def test_a_report_is_in_the_units_of_the_model(mm, si):
    page = report(mm.shown)
    assert "mass g" in page and "x mm" in page and "peak kN" in page and "rms kN mm" in page
    assert "energy [kN mm]" in page and "crank.phi [deg]" in page
    cells = re.findall(r"<tr><td>O</td>.*?</tr>", page)[-1]  # the first is in the table of joints
    numbers = [float(text) for text in re.findall(r"class=number>([^<]+)<", cells)]
    assert numbers[0] == pytest.approx(np.hypot(*si.reaction("O")[:2]).max() / 1000, rel=1e-2)
    assert "mass kg" in report(si.shown) and "mass kg" in report(mm.in_units(length="m"))


# Tables and files -------------------------------------------------------------------------------------


def test_tables_are_in_the_units_of_the_model_and_say_so(mm, si, tmp_path):
    frame = mm.to_frame(["crank.x", "O", "energy", "gap"])
    assert list(frame.columns)[:3] == ["crank.x [mm]", "O.fx [kN]", "O.fy [kN]"]
    assert frame.index.name == "t [s]" and "gap [mm]" in frame and "energy.total [kN mm]" in frame
    np.testing.assert_allclose(frame["gap [mm]"], 1000 * si["gap"], rtol=1e-9)
    assert list(si.to_frame(["crank.x"]).columns) == ["crank.x"]
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(mm.to_excel(tmp_path / "a.xlsx", ["crank.x"]))
    assert [cell.value for cell in book["results"][1]] == ["t [s]", "crank.x [mm]"]
    assert ("units", "mm, deg, g, kN, s") in [tuple(c.value for c in row) for row in book["about"].rows]


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_saved_results_are_the_same_when_they_are_loaded_and_keep_their_units(mm, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    again = se.Results.load(mm.save(tmp_path / f"a.{ending}"))
    for name in ("t", "q", "qd", "qdd", "lam"):
        np.testing.assert_array_equal(getattr(again, name), getattr(mm, name))
    assert again.in_units().units == mm.in_units().units
    np.testing.assert_array_equal(again.in_units()["gap"], mm.in_units()["gap"])
    measure = "distance(ground.at(200, 0), crank.end)"  # of the written model
    np.testing.assert_array_equal(again[measure], mm[measure])


def test_a_csv_file_is_in_the_units_of_the_model_and_loads_to_rounding(mm, tmp_path):
    path = mm.save(tmp_path / "a.csv")
    assert path.read_text().startswith("t [s],crank.x [mm],crank.y [mm],crank.phi [deg],crank.xd [mm/s]")
    again = se.Results.load(path)
    np.testing.assert_allclose(again.q, mm.q, rtol=1e-15)
    np.testing.assert_allclose(again.qdd, mm.qdd, rtol=1e-15)


def test_a_csv_file_with_a_strange_unit_is_refused(mm, tmp_path):
    path = mm.save(tmp_path / "a.csv")
    path.write_text(path.read_text().replace("[mm]", "[furlong]"))
    with pytest.raises(se.ModelError, match="furlong"):
        se.Results.load(path)


# Sliders ----------------------------------------------------------------------------------------------


def test_sliders_are_in_the_units_of_the_model_and_keep_the_integrator(mm):
    pytest.importorskip("anywidget")
    r = se.dynamics(press(MM), t_end=0.05, step=0.01, integrator="rk4")
    widget = r.player(parameters={"throw": (50, 120)})
    (slider,) = widget.parameters
    assert slider["value"] == pytest.approx(80, rel=1e-12) and slider["unit"] == "mm"
    widget.values = {"throw": 100.0}
    assert widget.message == ""
    new = widget.results
    assert new.resolved.parameters["throw"] == pytest.approx(0.1, rel=1e-12)
    assert new.settings["integrator"] == r.settings["integrator"] and new.settings["step"] == 0.01
    units = {c["name"]: c["unit"] for c in widget.data["results"][0]["channels"]}
    assert units["crank.x"] == "mm"
    assert json.dumps(widget.data)


def test_a_slider_of_a_parameter_without_a_unit_is_a_number(si):
    pytest.importorskip("anywidget")
    m = se.Model("b", parameters={"k": 3.0})
    m.body("b", mass="k", inertia=1)
    r = se.dynamics(m, t_end=0.1)
    widget = r.player(parameters={"k": (1, 5)})
    widget.values = {"k": 4.0}
    assert widget.message == "" and widget.results.resolved.parameters["k"] == 4.0


# Linkages ---------------------------------------------------------------------------------------------


def crank_rocker(units: dict[str, str] | None) -> se.Model:
    """The same mechanism in any units: every number says its own."""
    m = se.Model("crank-rocker", units=units)
    start, A, B, C = ("0 m", "0 m"), ("0 m", "1 m"), ("1.8 m", "1.9 m"), ("3 m", "0 m")
    bars = {"crank": (start, A, "2 kg"), "coupler": (A, B, "4 kg"), "rocker": (C, B, "5 kg")}
    crank, coupler, rocker = (m.bar(name, p, q, mass=mass) for name, (p, q, mass) in bars.items())
    m.add(se.Revolute("O", m.ground, crank["start"]))
    m.add(se.Revolute("A", crank["end"], coupler["start"]))
    m.add(se.Revolute("B", coupler["end"], rocker["end"]))
    m.add(se.Revolute("C", m.ground, rocker["start"]))
    m.add(se.Driver("motor", se.angle(m.ground, crank), "drawn + 60 rpm*t"))
    return m


def linkage_answers(units: dict[str, str] | None) -> dict[str, PlottedAnswer]:
    """What designers ask of a crank-rocker."""
    model = crank_rocker(units)
    results = se.inverse_dynamics(model, t_end=1, step=0.05)
    motor = se.Motor([(0, 50), (40, 50)], [(0, 90), (40, 80)], inertia=0.1)
    return {
        "grashof": se.grashof(model),
        "circuits": se.circuits(model),
        "shaking": se.shaking(results),
        "balance": se.balance(model, {"crank": 0.5, "rocker": 0.5}, t_end=1, step=0.05),
        "flywheel": se.flywheel_for(results, fluctuation=0.05),
        "motor": se.motor_sizing(results, motor),
        "polygon": se.acceleration_polygon(results, 0.1),
        "centers": se.instant_centers(results),
        "centrodes": se.centrodes(results, "coupler"),
        "advantage": se.mechanical_advantage(results, "motor", "y(ground, rocker)"),
    }


def curves_in_si(answer: PlottedAnswer) -> list[np.ndarray]:
    """The curves of a plot, each in SI units by what its axes say."""
    curves = []
    for axes in answer.plot().figure.axes:
        factors = [axis_factor(label) for label in (axes.get_xlabel(), axes.get_ylabel())]
        for line in axes.get_lines():
            if line.get_transform() == axes.transData and len(line.get_xdata()):
                curves.append(np.array(line.get_data(), dtype=float).T * factors)
    return curves


def axis_factor(label: str) -> float:
    """Of the unit in brackets at the end of a label."""
    unit = re.search(r"\[(.*)\]$", label)
    return 1.0 if unit is None or unit[1] == "°" else factor_of(unit[1])


@pytest.fixture(scope="module")
def linkages() -> list[dict[str, PlottedAnswer]]:
    return [linkage_answers(units) for units in (None, {"length": "mm", "force": "kN"})]


@pytest.mark.parametrize(
    "name", ["circuits", "shaking", "balance", "flywheel", "motor", "polygon", "advantage"]
)
def test_plots_of_linkages_are_in_the_units_that_they_name(linkages, name):
    """Read back by the units at its axes, the picture of a model in millimeters and kilonewtons is that in SI units."""
    plain, written = (curves_in_si(answers[name]) for answers in linkages)
    assert len(plain) == len(written) > 0
    size = max(np.nanmax(np.abs(curve)) for curve in plain)
    for curve, known in zip(written, plain, strict=True):
        np.testing.assert_allclose(curve, known, rtol=1e-9, atol=1e-9 * size)


@pytest.mark.parametrize("name", ["centers", "centrodes"])
def test_ticks_of_the_plane_are_in_the_units_that_its_axes_name(linkages, name):
    """The plane is drawn in meters; its ticks are read in millimeters."""
    ax = linkages[1][name].plot()
    assert ax.get_xlabel() == "x [mm]" and ax.get_ylabel() == "y [mm]"
    assert ax.xaxis.get_major_formatter()(4.75, 0) == ax.yaxis.get_major_formatter()(4.75, 0) == "4750"


def test_linkages_speak_in_the_units_of_the_model(linkages):
    """1 m is 1000 mm, 1 N m is 1 kN mm."""
    si, mm = linkages
    assert "4 < 4.25968" in str(si["grashof"]) and "4000 < 4259.68" in str(mm["grashof"])
    assert mm["grashof"].plot().get_xlabel() == "length [mm]"
    peak = float(np.max(si["shaking"].force))
    assert f"up to {peak:.4g} N," in str(si["shaking"]) and f"up to {1e-3 * peak:.4g} kN," in str(
        mm["shaking"]
    )
    assert "J within" in str(si["flywheel"]) and "kN mm within" in str(mm["flywheel"])
    assert str(si["advantage"]).endswith("1/m") and str(mm["advantage"]).endswith("1/mm")
