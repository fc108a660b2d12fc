"""The history of a run: every step with its size, error and iterations; the motion does not notice."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among

CASES = [
    {},
    {"integrator": "newmark", "step": 0.01},
    {"integrator": "rk4", "formulation": "augmented", "step": 0.01},
    {"integrator": "adams_bashforth", "formulation": "augmented", "step": 0.01},
    {"integrator": "bdf_variable", "formulation": "augmented"},
    {"formulation": "index3"},
]


@pytest.mark.parametrize("how", slow_among(CASES, {"formulation": "index3"}), ids=str)
def test_the_motion_is_the_same_and_steps_are_counted(how):
    model = se.builders.slider_crank(1.0, 2.2, crank_angle=1.0)
    plain, kept = se.dynamics(model, t_end=1, **how), se.dynamics(model, t_end=1, history=True, **how)
    np.testing.assert_array_equal(kept.iterations, kept.history.iterations)
    with pytest.raises(se.ModelError, match="run it with history=True"):
        _ = plain.iterations
    assert np.array_equal(plain.t, kept.t)
    assert np.array_equal(plain.q, kept.q)
    assert plain.history is None
    h = kept.history
    assert np.sum(h.taken) in (
        kept.statistics["steps"],
        kept.statistics["steps"] + 1,
    )  # the last may lead beyond
    assert np.sum(~h.taken) == kept.statistics.get("rejected steps", 0)
    assert np.allclose(h.t[h.taken][1:], (h.t + h.size)[h.taken][:-1], rtol=0, atol=1e-12)
    assert h.iterations.sum() == kept.statistics.get("Newton iterations", 0)
    if "step" in how:
        assert np.allclose(h.size, 0.01)
    assert len(h.to_frame()) == len(h) and "steps of" in repr(h)


def test_errors_of_adaptive_steps_are_below_the_tolerance_where_they_are_taken():
    h = se.dynamics(se.load("double_pendulum"), t_end=3, history=True, rtol=1e-6).history
    assert np.all(h.error[h.taken] <= 1.0)
    assert np.any(~h.taken) and np.all(h.error[~h.taken] > 1.0)


def test_stiff_steps_are_marked():
    m = se.Model("stiff")
    m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Spring("rod", "distance(ground, bar.end)", stiffness=1e8, damping=1e4, free=1.0))
    h = se.dynamics(m, t_end=0.5, history=True).history
    assert h.implicit.any() and not h.implicit[0]


def test_the_plot_takes_and_returns_axes():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    h = se.dynamics(se.load("double_pendulum"), t_end=1, history=True).history
    assert h.plot(ax) is ax
    plt.close("all")


def test_steps_are_channels_and_their_residuals_are_those_of_the_iterations():
    model, how = se.builders.slider_crank(1.0, 2.2, crank_angle=1.0), {"integrator": "newmark", "step": 0.01}
    r = se.dynamics(model, t_end=0.05, history=True, **how)
    assert set(r.channels) >= {"step.size", "step.error", "step.iterations", "step.residual"}
    left = [se.explain(model, "dynamics", at=t, **how).norms for t in r.t[1:]]
    assert np.array_equal(r["step.residual"][1:], [norms[-1] for norms in left])
    assert np.array_equal(r["step.iterations"][1:], [norms.size - 1 for norms in left])
    assert np.allclose(r["step.size"], 0.01) and list(r.to_frame("step")) == list(r.channels)[-4:]
    with pytest.raises(se.ModelError, match="history=True"):
        se.dynamics(model, t_end=0.05, **how)["step.size"]


def test_iterations_of_an_implicit_method_on_accelerations_are_counted():
    model = se.builders.slider_crank(1.0, 2.2, crank_angle=1.0)
    r = se.dynamics(
        model, t_end=0.1, step=0.01, integrator="backward_euler", formulation="augmented", history=True
    )
    assert np.all(r.history.iterations >= 2) and np.all(np.isnan(r.history.residual))
    assert r.history.iterations.sum() == r.statistics["Newton iterations"]
