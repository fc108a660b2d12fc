"""Implicit steps with error control: what they report follows rtol, and their method keeps its order."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.integrators.implicit_runge_kutta import RadauIIA
from simengine2d.integrators.radau_table import radau_table

pytestmark = pytest.mark.slow  # long motions, for compiled kernels

TIMES = [0.0, 0.5, 1.0]


def stiff_pendulum():
    model = se.Model()
    a, b = model.bar("a", (0, 0), (1, 0), mass=1), model.bar("b", (1, 0), (2, 0.3), mass=1)
    model.add(se.Revolute("O", model.ground, a["start"]))
    model.add(se.Revolute("A", a["end"], b["start"]))
    model.add(se.Spring("s", se.angle(a, b), stiffness=1e6, damping=1e5, free=0.25))
    return model


def held_by_a_stiff_rod():
    model = stiff_pendulum()
    del model.elements["s"]
    rod = se.distance(model.ground.at(0, 2), model.bodies["b"]["end"])
    model.add(se.Spring("rod", rod, stiffness=1e4, damping=1e5, free=2.0))
    return model


def stiff_cranks():
    """A deck on three cranks, whose constraints are redundant."""
    model = se.Model()
    deck = model.bar("deck", (0.3, 1), (2.3, 1), mass=2)
    for i in range(3):
        crank = model.bar(f"c{i}", (i, 0), (i + 0.3, 1), mass=1)
        model.add(se.Revolute(f"O{i}", model.ground, crank["start"]))
        model.add(se.Revolute(f"A{i}", crank, deck, at=(i + 0.3, 1)))
    model.add(se.Spring("s", se.angle("ground", "c0"), stiffness=1e3, damping=1e4))
    return model


def off(found, want):
    return np.abs(found - want).max() / np.abs(want).max()


@pytest.mark.parametrize("build", [stiff_pendulum, held_by_a_stiff_rod, stiff_cranks])
def test_accelerations_and_reactions_follow_rtol(build):
    other = {"coordinates": "relative", "integrator": se.RadauAdaptive(), "formulation": "augmented"}
    want = se.dynamics(build(), t_eval=TIMES, rtol=1e-11, **other)
    for rtol in (1e-4, 1e-6, 1e-8):
        r = se.dynamics(build(), t_eval=TIMES, rtol=rtol)
        assert r.statistics["implicit steps"] > 0
        assert off(r.q, want.q) < rtol
        assert off(r.qdd[1:], want.qdd[1:]) < 30 * rtol
        assert off(r.lam[1:], want.lam[1:]) < 30 * rtol


def test_large_index_3_systems_follow_rtol():
    model = builders.chain(21, angle=0.4)
    want = se.dynamics(model, t_eval=TIMES[:2], rtol=1e-12)
    for rtol in (1e-5, 1e-8):
        r = se.dynamics(model, t_eval=TIMES[:2], rtol=rtol, formulation="index3")
        assert "Radau IIA of order 9" in r.notes[0]
        for name in ("q", "qd", "qdd", "lam"):
            assert off(getattr(r, name), getattr(want, name)) < 3 * rtol
        assert r.residuals["velocity"] < 1e-12 and r.residuals["acceleration"] < rtol


@pytest.mark.parametrize("stages", [3, 5])
def test_the_table_is_of_order_2s_minus_1_with_an_estimate_of_order_s(stages):
    T = radau_table(stages)
    b, c, order = T.A[-1], T.c, 2 * stages - 1
    for p in range(order):
        assert b @ c**p == pytest.approx(1 / (p + 1), abs=1e-14)
    assert abs(b @ c**order - 1 / (order + 1)) > 1e-6
    for p in range(stages):  # stages of order s
        np.testing.assert_allclose(T.A @ c**p, c ** (p + 1) / (p + 1), atol=1e-14)
    powers = T.nodes ** np.arange(order)[:, None]
    np.testing.assert_allclose(powers[:stages] @ T.error, 0.0, atol=1e-14)
    assert abs(powers[stages] @ T.error) > 1e-3
    # a stage beside them integrates polynomials through all nodes exactly
    x, p = 0.3, np.arange(stages + 1)
    weights = T.moments @ (x ** (p + 1) / (p + 1) - T.gamma * x**p)
    np.testing.assert_allclose(powers[: stages + 1] @ weights + T.gamma * x**p, x ** (p + 1) / (p + 1))


def test_three_stages_are_those_of_the_textbook():
    T = radau_table(3)
    np.testing.assert_allclose(T.A, RadauIIA.A, atol=1e-15)
    np.testing.assert_allclose(T.c, RadauIIA.c, atol=1e-15)
    # (8.18) of Hairer & Wanner: e = gamma / 3 (-13 - 7 sqrt(6), -13 + 7 sqrt(6), -1), of Y_i - y
    r = 7 * np.sqrt(6)
    np.testing.assert_allclose(T.error[1:], T.gamma / 3 * np.array([-13 - r, -13 + r, -1]) @ T.A, atol=1e-14)
