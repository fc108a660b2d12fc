"""Going on with a run: the same bits as if it had never stopped."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d import builders


def four_bar() -> se.Model:
    return builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)


def stiff() -> se.Model:
    model = four_bar()
    model.add(se.Spring("damper", "angle(ground, crank)", damping=1e4))
    return model


RUNS = {
    "default": (four_bar, {"rtol": 1e-8}),
    "newmark": (four_bar, {"integrator": "newmark", "step": 0.01}),
    "generalized_alpha, modified": (
        four_bar,
        {"integrator": "generalized_alpha(rho=0.7, newton=modified, tolerance=1e-8)", "step": 0.01},
    ),
    "rk4": (four_bar, {"integrator": "rk4", "step": 0.01, "formulation": se.Augmented(3, 4)}),
    "tsitouras5": (four_bar, {"integrator": "tsitouras5", "atol": 1e-5}),
    "index3": (four_bar, {"formulation": "index3", "rtol": 1e-4}),
    "singular poses": (lambda: builders.four_bar_ladder(1), {"rtol": 1e-6}),
    "stiff": (stiff, {"rtol": 1e-4}),
    "events": (four_bar, {"events": [se.Event("crank.phid", stop=False)], "rtol": 1e-7}),
}


@pytest.mark.parametrize(
    "case", slow_among(RUNS, "newmark", "generalized_alpha, modified", "rk4", "index3", "singular poses")
)
def test_bit_for_bit(case, tmp_path):
    build, options = RUNS[case]
    options = {"step": 0.05} | options
    whole = se.dynamics(build(), t_end=4.0, **options)
    part = se.dynamics(build(), t_end=1.5, **options)
    part.save(tmp_path / "part.npz")
    resumed = se.Results.load(tmp_path / "part.npz").resume(t_end=4.0)
    np.testing.assert_array_equal(resumed.t, whole.t)
    if case != "generalized_alpha, modified":  # whose kept factors are not saved
        np.testing.assert_array_equal(resumed.q, whole.q)
        np.testing.assert_array_equal(resumed.qd, whole.qd)
        np.testing.assert_array_equal(resumed.lam, whole.lam)
    np.testing.assert_allclose(resumed.q, whole.q, atol=1e-9)
    assert resumed.events == whole.events
    assert "resumed at t = 1.5 s" in resumed.notes


@pytest.mark.slow
def test_an_interrupted_run_goes_on():
    """Ctrl-C in the middle, then resume to the end that was asked for."""
    whole = se.dynamics(four_bar(), t_end=10.0, step=1e-3, integrator="newmark")

    def stop(t: float) -> None:
        if t > 7.0:
            raise KeyboardInterrupt

    with pytest.raises(se.Interrupted) as caught:
        se.dynamics(four_bar(), t_end=10.0, step=1e-3, integrator="newmark", progress=stop)
    kept = caught.value.results
    assert 0 < kept.t.size < whole.t.size
    np.testing.assert_array_equal(kept.resume().q, whole.q)


def test_what_cannot_be_resumed(tmp_path):
    results = se.dynamics(four_bar(), t_end=1.0)
    with pytest.raises(se.ModelError, match="already reach t = 1 s"):
        results.resume(t_end=0.5)
    results.save(tmp_path / "r.csv")
    with pytest.raises(se.UnsupportedError, match="cannot be resumed"):
        se.Results.load(tmp_path / "r.csv").resume(t_end=2.0)


def test_a_model_with_python_code_is_not_resumed_from_a_file(tmp_path):
    """The file holds another model than the one that ran."""
    model = four_bar()
    model.add(se.Torque("motor", "crank", lambda x, y, phi, xd, yd, phid, t: -phid))
    results = se.dynamics(model, t_end=0.5)
    assert results.resume(t_end=1.0).t[-1] == 1.0
    results.save(tmp_path / "r.npz")
    with pytest.raises(se.UnsupportedError, match="cannot be resumed"):
        se.Results.load(tmp_path / "r.npz").resume(t_end=2.0)


@pytest.mark.parametrize("integrator", ["newmark", "hht", "rk4"])
def test_outputs_of_the_grid_that_differ_by_rounding_are_one(integrator):
    """70 * 0.01 is a little more than 0.7: the run must not take a step of that size, nor give both times."""
    model = se.builders.slider_crank(1, 3)
    whole = se.dynamics(model, t_end=1.0, integrator=integrator, step=0.01)
    parts = se.dynamics(model, t_end=0.4, integrator=integrator, step=0.01).resume(0.7).resume(1.0)
    assert parts.t.size == whole.t.size
    np.testing.assert_allclose(parts.q[-1], whole.q[-1], atol=1e-9)


@pytest.mark.parametrize("apart", [1e-16, 1e-14, 1e-12])
def test_outputs_that_are_almost_one(apart):
    """Index 3 divides by the square of the step."""
    model = se.builders.slider_crank(1, 3)
    options = {"integrator": "newmark", "step": 0.01}
    twice = se.dynamics(model, t_eval=[0, 0.3, 0.3 + apart, 0.7, 0.7 + 2 * apart, 1], **options)
    once = se.dynamics(model, t_eval=[0, 0.3, 0.7, 1], **options)
    np.testing.assert_allclose(twice.qdd[-1], once.qdd[-1], atol=1e-6)
