"""Every channel has a name: reactions, multipliers, energies, work, expressions of them; groups of them as tables."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders


@pytest.fixture(scope="module")
def driven() -> se.Results:
    return se.inverse_dynamics(builders.slider_crank(1, 2, speed=2), t_end=0.5, step=0.005)


@pytest.fixture(scope="module")
def damped() -> se.Results:
    """A weight on a damped spring, pushed by a force of time."""
    m = se.Model("shaken", gravity=(0, -9.81))
    weight = m.body("weight", mass=2, inertia=1, at=(0, -1), points={"tip": (0.1, 0)})
    m.add(se.Translational("rail", m.ground, weight, direction="pi/2"))
    spring = se.Spring(
        "spring", se.distance(m.ground, weight), stiffness=80, damping=3, free=0.6, actuator="sin(3*t)"
    )
    m.add(spring)
    m.add(se.PointForce("push", weight, fy="5*sin(7*t)"))
    return se.dynamics(m, t_end=2, step=0.01, rtol=1e-10)


def test_every_channel_that_is_listed_has_an_array_and_a_unit(driven, damped):
    for r in (driven, damped):
        assert len(set(r.channels)) == len(r.channels)
        for channel in r.channels:
            assert r[channel].shape == r.t.shape, channel
            assert r.unit(channel), channel


def test_what_is_listed_depends_on_what_is_known(driven):
    assert {"B.fx", "guide.torque", "motor.effort", "lam.B.x", "crank.xdd", "energy.input"} <= set(
        driven.channels
    )
    moved = se.kinematics(driven.model, t_end=0.1)
    extra = moved.channels[len(moved.motion_channels) :]
    assert extra == ["energy.kinetic", "energy.potential", "energy.total"]


def test_multipliers_by_joint_and_row(driven):
    names = [f"lam.{row}" for row in driven.system.row_names]
    np.testing.assert_array_equal(np.column_stack([driven[name] for name in names]), driven.lam)
    np.testing.assert_array_equal(driven["lam.motor.drive"], -driven["motor.effort"])
    assert [driven.unit(f"lam.{row}") for row in ("B.x", "guide.turn", "motor.drive")] == ["N", "N m", "N m"]
    with pytest.raises(se.ModelError, match=r"no multiplier 'lam\.B\.z'.*Did you mean 'lam\.B\."):
        driven["lam.B.z"]
    with pytest.raises(se.UnsupportedError, match="kinematics has no reactions"):
        se.kinematics(driven.model, t_end=0.1)["lam.B.x"]


def test_a_body_of_that_name_comes_first():
    m = se.Model("names")
    m.body("lam", mass=1, inertia=1, at=(1, 2), points={"B": (1, 0)})
    m.body("energy", mass=1, inertia=1, at=(3, 4))
    r = se.dynamics(m, t_end=0.1)
    assert r["lam.B.x"][0] == 2.0 and r["energy.x"][0] == 3.0
    assert r.unit("lam.B.x") == "m" and not any(name.startswith("energy.k") for name in r.channels)


def test_reactions_on_a_named_body(driven):
    np.testing.assert_array_equal(driven["B.rod.fx"], driven.reaction("B", on="rod").fx)
    np.testing.assert_array_equal(driven["B.slider.fy"], driven["B.fy"])
    np.testing.assert_array_equal(driven["O.ground.fx"], driven.reaction("O", on="ground").fx)
    assert driven.unit("B.rod.torque") == "N m"
    with pytest.raises(se.ModelError, match="does not act on 'crank'"):
        driven["B.crank.fx"]


def test_work_and_energy_balance(damped):
    total, c, speed = damped["energy.total"], 3.0, damped.measure("distance(ground, weight)")[1]
    dissipated, put_in = damped["energy.dissipated"], damped["energy.input"]
    # splines of the power through 201 outputs, whose errors grow with the fourth power of their distance
    np.testing.assert_allclose(total - total[0], put_in - dissipated, atol=1e-6)
    rough = np.concatenate([[0.0], np.cumsum(0.5 * c * (speed[1:] ** 2 + speed[:-1] ** 2) * 0.01)])
    np.testing.assert_allclose(dissipated, rough, rtol=0, atol=2e-3 * dissipated[-1])
    assert np.all(np.diff(dissipated) >= -1e-12)


def test_nothing_is_put_into_a_free_motion():
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=0.5)
    assert not r["energy.input"].any() and not r["energy.dissipated"].any()


def test_a_potential_that_changes_with_time_puts_energy_in():
    m = se.Model("lifted", gravity=(0, 0))
    m.body("bead", mass=1, inertia=1, at=(1, 0))
    m.add(se.Force("well", potential="(1 + t)*bead.x^2/2"))
    r = se.dynamics(m, t_end=1, step=0.005, rtol=1e-10)
    total = r["energy.total"]
    np.testing.assert_allclose(r["energy.input"], total - total[0], atol=1e-8)


def test_expressions_of_channels(driven):
    np.testing.assert_allclose(driven["sqrt(B.fx^2 + B.fy^2)"], np.hypot(driven["B.fx"], driven["B.fy"]))
    np.testing.assert_array_equal(driven["crank.x - rod.x"], driven["crank.x"] - driven["rod.x"])
    np.testing.assert_allclose(
        driven["2*distance(crank.end, slider)^2 + t"],
        2 * driven["distance(crank.end, slider)"] ** 2 + driven.t,
    )
    np.testing.assert_allclose(driven["rate(distance(ground, slider))"], driven["slider.xd"], atol=1e-12)
    assert driven.unit("crank.x - B.fx") == ""
    with pytest.raises(se.ModelError, match=r"in '2\*foo', there is no channel 'foo'"):
        driven["2*foo"]
    with pytest.raises(se.ModelError, match="As an expression"):
        driven["crank.x - "]
    with pytest.raises(se.ModelError, match="'crnk'"):
        driven["distance(crnk.end, slider)^2"]


def test_names_with_signs_are_names():
    m = se.Model("signs")
    m.body("a-b", mass=1, inertia=1, at=(0, 0), points={"p-q": (1, 0)})
    m.add(se.AbsoluteX("x-y", m.bodies["a-b"]))
    r = se.dynamics(m, t_end=0.1)
    assert r["a-b.x"][0] == 0.0 and r["a-b.p-q.x"][0] == 1.0 and r.unit("a-b.p-q.xd") == "m/s"
    assert r["lam.x-y.x"].shape == r.t.shape and r.unit("lam.x-y.x") == "N"


def test_groups_of_channels(driven):
    columns = lambda group: list(driven.to_frame(group).columns)
    assert columns(None) == columns("motion") == driven.motion_channels
    assert columns("all") == driven.channels
    assert columns("lam") == [f"lam.{row}" for row in driven.system.row_names]
    assert columns("energy") == [
        f"energy.{p}" for p in ("kinetic", "potential", "total", "input", "dissipated")
    ]
    assert columns("reactions")[:3] == ["O.fx", "O.fy", "O.torque"]
    with pytest.raises(se.UnsupportedError, match="kinematics has no channels 'lam'"):
        se.kinematics(driven.model, t_end=0.1).to_frame("lam")


def test_tables_and_plots_of_everything(driven, tmp_path):
    head = driven.to_csv(tmp_path / "all.csv", "all").read_text().splitlines()[0]
    assert "lam.B.x [N]" in head and "energy.dissipated [J]" in head
    ax = driven.plot("lam.B.x", "lam.motor.drive")
    assert [line.get_label() for line in ax.get_lines()] == ["lam.B.x"]
    degrees = driven.in_units(angle="deg")
    np.testing.assert_allclose(degrees["crank.phidd"], np.degrees(driven["crank.phidd"]))
    assert degrees.unit("lam.motor.drive") == "N m"
