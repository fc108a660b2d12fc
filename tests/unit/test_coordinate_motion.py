"""Kinematics and inverse dynamics in every coordinate family: the same motion, and what it is in those coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d import builders

FAMILIES = ("reference_point", "natural", "mixed", "relative")
MECHANISMS = {
    "four-bar": lambda: builders.four_bar(1, 2, 3, 3, speed=2),
    "slider-crank": lambda: builders.slider_crank(1, 2, speed=3),
}


@pytest.fixture(scope="module", params=MECHANISMS)
def driven(request):
    model = MECHANISMS[request.param]()
    return model, se.inverse_dynamics(model, t_end=1, step=0.1)


@pytest.mark.parametrize("coordinates", FAMILIES)
def test_the_same_motion_and_forces(driven, coordinates):
    model, expected = driven
    for analysis in (se.kinematics, se.inverse_dynamics):
        r = analysis(model, t_end=1, step=0.1, coordinates=coordinates)
        for mine, theirs in ((r.q, expected.q), (r.qd, expected.qd), (r.qdd, expected.qdd)):
            np.testing.assert_allclose(mine, theirs, atol=1e-9)
    np.testing.assert_allclose(r["motor.effort"], expected["motor.effort"], atol=1e-9)
    assert coordinates in se.kinematics(model, t_end=0.1, coordinates=coordinates).method


@pytest.mark.parametrize("coordinates", FAMILIES)
def test_a_motion_in_coordinates_satisfies_their_equations(driven, coordinates):
    c = driven[1].in_coordinates(coordinates)
    assert c.coordinates == coordinates and c.z.shape == (11, len(c.names))
    for i in (0, 5, 10):
        e = c.at(i)
        np.testing.assert_allclose(e.Phi, 0, atol=1e-9)
        np.testing.assert_allclose(e.Phi_q @ c.zd[i], e.nu, atol=1e-9)
        np.testing.assert_allclose(e.Phi_q @ c.zdd[i], e.gamma, atol=1e-9)
        np.testing.assert_allclose(e.M @ c.zdd[i] + e.Phi_q.T @ c.lam[i], e.QA, atol=1e-8)


@pytest.mark.parametrize("coordinates", FAMILIES)
def test_the_motor_gives_the_same_torque_in_all_coordinates(driven, coordinates):
    c = driven[1].in_coordinates(coordinates)
    np.testing.assert_allclose(c["lam.motor.drive"], driven[1]["lam.motor.drive"], atol=1e-8)


@pytest.mark.parametrize("coordinates", FAMILIES)
def test_change_points_are_passed_and_turns_counted(coordinates):
    model = se.load("parallelogram")
    expected = se.kinematics(model, t_end=2.3, step=0.05)  # 0.25 s is a change point, and more than two turns
    r = se.kinematics(model, t_end=2.3, step=0.05, coordinates=coordinates)
    np.testing.assert_allclose(r.q, expected.q, atol=1e-12)
    np.testing.assert_allclose(r.qdd, expected.qdd, atol=1e-9)
    assert r.notes == expected.notes and "change point" in r.notes[0]
    stopped = se.kinematics(model, t_end=2.3, step=0.05, coordinates=coordinates, on_singular="stop")
    assert stopped.t[-1] <= 0.25


@pytest.mark.parametrize("coordinates", [*FAMILIES, "relative(cut=B)", {"type": "mixed", "angles": ["rod"]}])
@pytest.mark.parametrize("method", slow_among(["newton", "relaxation", "energy"], "relaxation"))
def test_equilibria_in_all_coordinates_by_every_method(coordinates, method):
    model = se.load("sprung_slider")
    expected = se.equilibrium(model)
    found = se.equilibrium(model, method=method, coordinates=coordinates)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-9)
    np.testing.assert_allclose(found.results.lam, expected.results.lam, atol=1e-7)
    np.testing.assert_allclose(found.stability[0].value, expected.stability[0].value, rtol=1e-6)
    c = found.results.in_coordinates(coordinates)
    assert found.results.settings["coordinates"] == c.coordinates
    e = c.at(0)
    np.testing.assert_allclose(e.Phi_q.T @ c.lam[0], e.QA, atol=1e-7)


@pytest.mark.slow
def test_all_equilibria_in_other_coordinates():
    model = se.Model("bar on a spring")
    bar = model.bar("bar", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Spring("s", se.distance(model.ground.at(0.5, 1.2), bar["end"]), stiffness=30, free=0.8))
    for region, count in ((None, 4), ({"bar.phi": (-1, 5)}, 4), ({"bar.phi": (-1, 4)}, 3)):
        expected, found = (
            se.equilibrium(model, all=True, region=region, coordinates=c) for c in (None, "natural")
        )
        assert len(expected.q) == count
        np.testing.assert_allclose(found.q, expected.q, atol=1e-8)


def test_a_picture_and_a_table(driven):
    c = driven[1].in_coordinates("relative")
    ax = c.plot()
    assert [line.get_label() for line in ax.get_lines()] == c.names
    assert [line.get_label() for line in c.plot("lam.motor.drive").get_lines()] == ["lam.motor.drive"]
    head, first, *others = c.table().splitlines()
    assert head.split() == ["t", *c.names, *(f"{name}d" for name in c.names)]
    np.testing.assert_allclose([float(cell) for cell in first.split()][1 : -len(c.names)], c.z[0], rtol=1e-4)
    assert len(others) == c.t.size - 1


def test_names(driven):
    pytest.importorskip("pandas")
    c = driven[1].in_coordinates("relative")
    assert list(c.to_frame().columns) == c.channels
    np.testing.assert_array_equal(c[f"{c.names[0]}d"], c.zd[:, 0])
    assert c.names[0] in repr(c) and c.names[0] in c._repr_html_()
    with pytest.raises(se.ModelError, match="in relative coordinates"):
        c["z"]


def test_motions_and_equilibria_too():
    r = se.dynamics(se.load("double_pendulum"), t_end=0.1)
    c = r.in_coordinates("relative")
    assert len(c.row_names) == 0 and c.lam.shape == (r.t.size, 0)
    at_rest = se.equilibrium(se.load("double_pendulum")).results.in_coordinates("natural")
    e = at_rest.at(0)
    np.testing.assert_allclose(e.Phi_q.T @ at_rest.lam[0], e.QA, atol=1e-8)


def test_what_is_not_driven_is_refused():
    with pytest.raises(se.UnsupportedError, match="needs a driver for every free motion"):
        se.kinematics(se.load("double_pendulum"), t_end=1, coordinates="natural")
