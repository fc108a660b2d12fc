"""How large a step may be: closed forms of stability limits, models and functions, and blow-ups that are no success."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest

import simengine2d as se

LIMITS = [
    # real eigenvalue -1: 1 - h >= -1 and so on; -2.785... is the real root of 1 + z/2 + z^2/6 + z^3/24 = 0
    ("forward_euler", -1, 2.0),
    ("heun", -1, 2.0),
    ("rk4", -1, 2.785293563405282),
    ("ab2", -1, 1.0),
    ("ab3", -1, 6 / 11),
    ("ab4", -1, 0.3),
    ("backward_euler", -1, inf),
    ("trapezoidal", -1, inf),
    ("bdf(k=5)", -1, inf),
    # undamped oscillations
    ("forward_euler", 1j, 0.0),
    ("heun", 1j, 0.0),
    ("ab2", 1j, 0.0),
    ("rk4", 1j, sqrt(8)),
    ("implicit_midpoint", 1j, inf),
    ("bdf(k=2)", 1j, inf),
    # Newmark with gamma = 1/2: 2 / sqrt(1 - 4 beta)
    ("newmark(beta=1/12, gamma=1/2)", 1j, sqrt(6)),
    ("newmark(beta=1/6, gamma=1/2)", 1j, sqrt(12)),
    ("newmark(beta=1/4, gamma=1/2)", 1j, inf),
    ("generalized_alpha", 1j, inf),
]


@pytest.mark.parametrize(("method", "value", "limit"), LIMITS)
def test_limits_are_those_of_the_formulas(method, value, limit):
    assert se.lab.largest_step(value, method).h == pytest.approx(limit, rel=1e-9, abs=1e-12)
    assert se.lab.largest_step(50 * value, method).h == pytest.approx(limit / 50, rel=1e-9, abs=1e-12)


def test_the_leapfrog_of_an_oscillation_has_the_limit_two():
    """The central difference method is Newmark's with beta -> 0: 2 / omega."""
    assert se.lab.largest_step(1j, "newmark(beta=1e-9, gamma=1/2)").h == pytest.approx(2.0, rel=1e-8)


def test_eigenvalues_that_grow_do_not_count():
    limit = se.lab.largest_step([-10, 3], "forward_euler")
    assert limit.h == pytest.approx(0.2) and limit.critical == -10
    assert list(limit.limits) == [pytest.approx(0.2), inf]


def damped_slider(damping=2.0):
    m = se.Model("slider", gravity=(0, 0))
    s = m.body("s", mass=2, inertia=1, at=(1, 0))
    m.add(se.Translational("rail", m.ground, s))
    m.add(se.Spring("spring", "x(ground, s)", stiffness=800, damping=damping))
    return m


def test_a_model_and_its_equation_have_the_same_limit():
    of_model = se.lab.largest_step(damped_slider(), "rk4")
    of_f = se.lab.largest_step(lambda t, y: [y[1], -400 * y[0] - y[1]], "rk4", y0=[0.3, 0])
    assert of_model.h == pytest.approx(of_f.h, rel=1e-6)
    assert of_model.critical.imag == pytest.approx(np.sqrt(400 - 0.25)) or of_model.critical.imag < 0
    ax = of_model.plot()
    z = ax.lines[-1].get_xydata()
    assert np.hypot(*z.T) == pytest.approx([20 * of_model.h] * 2, rel=1e-6)


@pytest.mark.parametrize(
    ("method", "formulation"), [("rk4", "projection"), ("forward_euler", "augmented"), ("ab3", "projection")]
)
def test_the_limit_is_where_runs_begin_to_grow(method, formulation):
    m = damped_slider(damping=20.0)
    h = se.lab.largest_step(m, method).h
    run = lambda step: se.dynamics(m, t_end=200 * step, step=step, integrator=method, formulation=formulation)
    below, above = run(0.97 * h), run(1.2 * h)
    assert np.abs(below["s.x"]).max() < 2 and np.abs(above["s.x"]).max() > 10
    assert above.verdict.word == "do not trust" and "nothing supplies it" in str(above.verdict)


def test_answers_say_what_is_asked_for():
    assert "steps of any size" in str(se.lab.largest_step(-1, "backward_euler"))
    assert "no step is stable" in str(se.lab.largest_step(1j, "heun"))
    with pytest.raises(se.ModelError, match="give the state y0"):
        se.lab.largest_step(lambda t, y: -y, "rk4")
    with pytest.raises(se.ModelError, match="no eigenvalue"):
        se.lab.largest_step("crank", "rk4")


# Blow-ups ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "y0", "t1", "method", "h"),
    [
        (lambda t, y: -1000 * y, [1.0], 1, "forward_euler", 0.01),
        (lambda t, y: -1000 * (y - np.cos(t)), [0.0], 1, "rk4", 0.01),
        (lambda t, y: [y[1], -100 * y[0]], [1.0, 0.0], 20, "forward_euler", 0.04),
        (lambda t, y: -50 * y, [1.0], 2, "ab4", 0.02),
    ],
)
def test_a_blow_up_is_no_success(f, y0, t1, method, h):
    s = se.ivp.solve(f, (0, t1), y0, method, h=h)
    assert np.abs(s.y).max() > 1e6
    assert not s.success and s.status == -2 and "not stable" in s.message
    assert np.isfinite(s.y).all() and s.t[-1] == t1  # it can still be shown


@pytest.mark.parametrize(
    ("f", "y0", "t1", "method", "h"),
    [
        (lambda t, y: 3 * y, [1.0], 40, "rk4", 0.01),
        (lambda t, y: 3 * y, [1.0], 40, "forward_euler", 0.01),
        (lambda t, y: [y[1], 25 * y[0]], [1e-3, 0], 10, "trapezoidal", 0.01),
        (lambda t, y: np.array([1e9]), [0.0], 1, "rk4", 0.1),
        (lambda t, y: -1000 * y, [1.0], 1, "backward_euler", 0.01),
    ],
)
def test_a_solution_that_grows_by_itself_is_a_success(f, y0, t1, method, h):
    assert se.ivp.solve(f, (0, t1), y0, method, h=h).success


def test_linear_systems_of_second_order_too():
    unstable = se.ivp.newmark(1, 0, 100, 0, (0, 60), 1, 0, 0.5, beta=1 / 6, gamma=0.5)
    assert not unstable.success and "not stable" in str(unstable)
    assert se.ivp.newmark(1, 0, 100, 0, (0, 60), 1, 0, 0.05).success
    assert se.ivp.newmark(1, 0, -4, 0, (0, 20), 1, 0, 0.05).success  # a pencil that falls


# Newmark's order --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "gamma", "order"),
    [
        (0.25, 0.5, 2),
        pytest.param(1 / 6, 0.5, 2, marks=pytest.mark.slow),
        pytest.param(0.5, 0.5, 2, marks=pytest.mark.slow),
        (0.3025, 0.6, 1),
    ],
)
def test_newmark_claims_the_order_that_is_observed(beta, gamma, order):
    found = se.lab.order(se.Newmark(beta=beta, gamma=gamma), damped_slider(), t_end=0.2)
    assert found.claimed == order
    assert [found.observed[name] for name in ("q", "qd", "qdd")] == pytest.approx([order] * 3, abs=0.15)


def test_undamped_accelerations_on_constraints_do_not_converge_and_this_is_said():
    found = se.lab.order(se.Newmark(beta=0.25, gamma=0.5))
    assert found.claimed == 2 and found.observed["q"] == pytest.approx(2, abs=0.05)
    assert "qdd and reactions do not converge" in found.remarks[0] and found.remarks[0] in str(found)
    assert se.lab.order("newmark").remarks == []
