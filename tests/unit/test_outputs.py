"""At which times a motion is given, and that its peaks are among them."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se

pytestmark = pytest.mark.slow  # long motions, for compiled kernels


def double_pendulum(length: float = 1.0) -> se.Model:
    model = se.Model("double pendulum")
    a = model.bar("a", (0, 0), (1, 0), mass=1)
    b = model.bar("b", (1, 0), (1 + length, 0), mass=1)
    model.add(se.Revolute("O", model.ground, a["start"]))
    model.add(se.Revolute("A", a["end"], b["start"]))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("length", [1.0, 0.6])
def test_default_outputs_show_the_peaks(length):
    model = double_pendulum(length)
    shown, fine = se.dynamics(model, t_end=6), se.dynamics(model, t_end=6, step=2e-4)
    for joint in ("O", "A"):
        peak, exact = (np.hypot(r[f"{joint}.fx"], r[f"{joint}.fy"]).max() for r in (shown, fine))
        assert peak == pytest.approx(exact, rel=0.01)
    assert np.all(np.diff(shown.t) > 0) and np.all(np.isin(np.arange(100) * 0.06, shown.t))
    assert shown.t.size > shown.statistics["steps"]
    # more outputs do not change the motion
    np.testing.assert_array_equal(shown.q, se.dynamics(model, t_eval=shown.t).q)


@pytest.mark.parametrize(
    "options", [{}, {"integrator": "newmark", "step": 0.01}, {"coordinates": "relative"}]
)
def test_a_first_output_later_than_the_start(options):
    """The drawn pose belongs to t = 0."""
    model = double_pendulum()
    whole = se.dynamics(model, t_eval=[0, 0.2, 0.4], **options).q
    np.testing.assert_array_equal(se.dynamics(model, t_eval=[0.2, 0.4], **options).q, whole[1:])


def test_no_step_is_longer_than_asked_for():
    model = double_pendulum()
    assert se.dynamics(model, t_end=0.2, max_step=0.01).statistics["steps"] >= 20
    simulator = se.Simulator(model, max_step=0.01)
    simulator.advance_to(0.2)
    assert simulator.statistics["steps"] >= 20
    with pytest.raises(se.ModelError, match="max_step = -1 must be a positive number"):
        se.dynamics(model, t_end=0.2, max_step=-1)
    with pytest.raises(se.ModelError, match="'rk4' takes steps of `step`; it has no max_step"):
        se.dynamics(model, t_end=0.2, integrator="rk4", step=0.01, max_step=0.01)


def test_results_that_cannot_be_resumed_are_saved(tmp_path):
    r = se.dynamics(double_pendulum(), t_end=0.2, integrator="adams_variable", formulation="augmented")
    again = se.Results.load(r.save(tmp_path / "r.npz"))
    np.testing.assert_array_equal(again.q, r.q)
    with pytest.raises(se.UnsupportedError, match="cannot be resumed"):
        again.resume(t_end=1.0)
