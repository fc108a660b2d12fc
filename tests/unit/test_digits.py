"""Masses and lengths that differ by many powers of ten: local scales, and sentences where digits run out."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.analyses.dynamics.initial_state import pace
from simengine2d.analyses.dynamics.row_checks import far_from_the_origin, lost_digits
from simengine2d.coordinates.reference_point.multipliers import spread_of_pivots
from simengine2d.system.elimination import elimination_program
from simengine2d.system.equations_of_motion import accelerate
from simengine2d.system.system import System

pytestmark = pytest.mark.slow  # long motions, for compiled kernels


def point_pendulum(arm=0.1, heavy=0.0):
    m = se.Model("point pendulum")
    b = m.body("b", mass=1, inertia=0, at=(arm, 0))
    m.add(se.Revolute("O", m.ground.at(0, 0), b.at(-arm, 0)))
    if heavy:
        m.add(se.Fixed("F", m.ground, m.body("h", mass=heavy, inertia=heavy)))
    return m


@pytest.mark.parametrize(("arm", "heavy"), [(1e-4, 0.0), (1e-2, 0.0), (0.1, 1e3), (0.1, 1e7), (1e-6, 1e9)])
def test_the_tension_of_a_point_mass_is_3_m_g(arm, heavy):
    quarter = np.sqrt(arm / 9.81) * 1.8540746773013719
    results = se.dynamics(point_pendulum(arm, heavy), t_eval=[0, quarter], rtol=1e-9)
    assert results.reaction("O", on="b").fy[-1] == pytest.approx(29.43, rel=1e-7)


@pytest.mark.parametrize("light", [1e-3, 1e-8, 1e-12])
def test_a_doubled_pin_beside_a_light_bar(light):
    m = se.Model("doubled pin")
    a, b = m.bar("a", (0, 0), (1, 0), mass=1), m.bar("b", (1, 0), (1, -1), mass=light)
    for name, first, second in (("O", m.ground, a["start"]), ("A", a["end"], b["start"])):
        m.add(se.Revolute(name, first, second))
    single = se.dynamics(m, t_eval=[0, 0.5, 1.0], rtol=1e-9)
    m.add(se.Revolute("O again", m.ground, a["start"]))
    double = se.dynamics(m, t_eval=[0, 0.5, 1.0], rtol=1e-9)
    np.testing.assert_allclose(double.q, single.q, atol=1e-8)
    np.testing.assert_allclose(
        double.reaction("O", on="a").fy, single.reaction("O", on="a").fy / 2, rtol=1e-5
    )


def test_a_point_mass_on_a_light_cart_is_not_singular():
    m = se.Model("cart")
    c, b = m.body("c", mass=0.01, inertia=1), m.body("b", mass=1, inertia=0, at=(1, 0))
    m.add(se.Translational("rail", m.ground, c))
    m.add(se.Revolute("pin", c, b.at(-1, 0)))
    found = [
        se.dynamics(m, t_eval=[0, 2], coordinates=name, rtol=1e-8) for name in ("reference_point", "relative")
    ]
    assert found[0]["c.x"][-1] == pytest.approx(found[1]["c.x"][-1], abs=1e-7)


def test_a_light_body_beside_a_heavy_one_has_mass():
    """1e-9 kg is not nothing, whatever else is in the model; exactly nothing is."""
    m = se.Model("dust", gravity=(0, -9.81))
    m.add(se.Fixed("F", m.ground, m.body("h", mass=1e9, inertia=1e9)))
    dust = m.body("dust", mass=1e-9, inertia=1e-18)
    assert se.dynamics(m, t_eval=[0, 1])["dust.y"][-1] == pytest.approx(-9.81 / 2)
    dust.inertia = 0.0
    with pytest.raises(se.ModelError, match="dust turns about"):
        se.dynamics(m, t_eval=[0, 1])


def spread(system: System) -> float:
    d = elimination_program(system, False, False)
    w = system.new_workspace(d)
    at = assemble(system)
    accelerate(system.arrays, d, 0.0, at.q, at.qd, w)
    return float(spread_of_pivots(d, system.n, w.v))


@pytest.mark.parametrize(("length", "mass"), [(1e-6, 1e-9), (1e6, 1e9), (1e3, 1e-3)])
def test_the_spread_of_pivots_has_no_units(length, mass):
    def four_bar(length, mass):
        model = builders.four_bar(length, 2 * length, 3 * length, 3 * length)
        for body in model.bodies.values():
            body.mass = mass
        return System(model)

    assert spread(four_bar(length, mass)) == pytest.approx(spread(four_bar(1, 1)), rel=1e-6)


def test_given_velocities_keep_their_digits_beside_doubled_pins():
    m = builders.chain(3, angle=0.4)
    for k in (1, 2, 3):
        m[f"link{k}"].angular_velocity = 0.1 * k
        below = m.ground if k == 1 else m[f"link{k - 1}"]["end"]
        m.add(se.Revolute(f"again{k}", below, m[f"link{k}"]["start"]))
    m.add(se.Fixed("F", m.ground, m.body("h", mass=1e3, inertia=1)))
    found = assemble(m)
    np.testing.assert_allclose(found.qd.reshape(-1, 3)[:3, 2], [0.1, 0.2, 0.3], rtol=1e-13)
    assert not found.changed_velocities


def watch_on_a_crane(big, small):
    """A bar of the size `big`, at its end two of the size `small`."""
    m, at, before = se.Model("watch"), np.zeros(2), "ground"
    for k, (length, angle) in enumerate(((big, -1.2), (small, 0.3), (small, -0.4))):
        to = at + length * np.array([np.cos(angle), np.sin(angle)])
        bar = m.bar(f"b{k}", tuple(at), tuple(to), mass=length)
        m.add(se.Revolute(f"J{k}", m.ground.at(0, 0) if k == 0 else m[before]["end"], bar["start"]))
        at, before = to, bar.name
    return m


def test_small_bodies_have_a_length_of_their_own():
    system = System(watch_on_a_crane(1e3, 1e-3))
    np.testing.assert_allclose(system.arms, [500, 5e-4, 5e-4])
    diagnosis = se.diagnose(watch_on_a_crane(1e3, 1e-6))
    assert (diagnosis.mobility, diagnosis.redundant) == (3, 0)


def test_bodies_too_small_for_their_place_are_told():
    system = System(watch_on_a_crane(1e6, 1e-6))
    q = assemble(system).q
    assert "closer to it" in (far_from_the_origin(system, q, 1e-6) or "")
    assert far_from_the_origin(System(watch_on_a_crane(1, 1)), np.zeros(9), 1e-6) is None
    try:
        results = se.dynamics(system, t_eval=[0, 1e-3])
    except se.SimEngineError as error:
        assert "origin" in str(error)
    else:
        assert any("origin" in note for note in results.notes)


def test_lost_digits_are_told_with_their_cause():
    system = System(point_pendulum(heavy=1e9))
    assert lost_digits(system, 1e-12) is None
    assert "masses from 1 to 1e+09 kg" in (lost_digits(system, 1e-3) or "")


def test_the_pace_of_large_mechanisms():
    def of(length):
        system = System(builders.four_bar(length, 2 * length, 3 * length, 3 * length))
        return pace(system, assemble(system).qd, system.drawn_qd, np.array(system.resolved.gravity))

    assert of(1.0) == 1.0
    assert of(1e6) == pytest.approx(np.sqrt(9.81 / 1.5e6))


def test_masses_of_eighteen_powers_of_ten():
    """A bar without weight to speak of between two heavy ones: as if it had none."""

    def bars(light):
        m, at, before = se.Model("bars"), np.zeros(2), None
        for k, (mass, angle) in enumerate(((1e9, 0.3), (light, -0.5), (1e9, 0.2))):
            to = at + np.array([np.cos(angle), np.sin(angle)])
            bar = m.bar(f"b{k}", tuple(at), tuple(to), mass=mass)
            m.add(se.Revolute(f"J{k}", m.ground.at(0, 0) if before is None else before, bar["start"]))
            at, before = to, bar["end"]
        return se.dynamics(m, t_eval=[0, 0.4], rtol=1e-9)

    tiny, none = bars(1e-9), bars(0.0)
    np.testing.assert_allclose(tiny.q, none.q, atol=1e-8)
    np.testing.assert_allclose(tiny.reaction("J1", on="b1").fx, none.reaction("J1", on="b1").fx, rtol=1e-6)
