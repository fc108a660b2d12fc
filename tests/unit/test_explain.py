"""Steps laid open: what is shown is what the engine computes, and converges as the theory says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d.errors import ModelError, OptionError, UnsupportedError


def pendulum() -> se.Model:
    """A bar on a pin with a torsion spring, as in the lecture notes on index 3."""
    m = se.Model("pendulum", gravity=(0, -9.81))
    bar = m.body("bar", mass=2, inertia=0.3, at=(1, 0), points={"O": (-1, 0), "P": (1, 0)})
    m.add(se.Revolute("pin", m.ground, bar["O"]))
    m.add(se.Spring("spring", "angle(ground, bar)", stiffness=50, damping=1))
    return m


def slider_crank() -> se.Model:
    return se.builders.slider_crank(1.0, 2.2, crank_angle=1.0)


# Implicit steps on differential-algebraic equations ----------------------------------------------------


@pytest.mark.parametrize("model", [pendulum, slider_crank])
@pytest.mark.parametrize(
    ("integrator", "formulation", "coordinates"),
    [
        ("newmark", "index3", "reference_point"),
        ("hht", "index3", "mixed"),
        ("generalized_alpha", "index3", "relative"),
        ("bdf", "ggl", "reference_point"),
        ("radau_iia", "index3", "reference_point"),
        ("backward_euler", "ggl", "relative"),
        ("newmark(newton='modified')", "index3", "reference_point"),
        ("newmark(newton='course')", "index3", "reference_point"),
        ("newmark", "augmented_lagrangian", "reference_point"),
    ],
)
def test_the_replayed_iteration_ends_where_the_engine_does(model, integrator, formulation, coordinates):
    how = {"integrator": integrator, "formulation": formulation, "coordinates": coordinates, "step": 0.01}
    e = se.explain(model(), "dynamics", at=0.05, **how)
    r = se.dynamics(model(), t_end=0.05, **how)
    family = se.formulate(model(), coordinates)
    q = family.bodies(e.found["q"], e.found["qd"], e.found["qdd"]).q
    # whole turns are counted by the run, not by a family at another state
    turned = np.abs(np.exp(1j * q[2::3]) - np.exp(1j * r.q[-1][2::3]))
    assert np.abs(np.delete(q - r.q[-1], slice(2, None, 3))).max() < 1e-12
    assert turned.max() < 1e-12
    for line in e.lines[:-1]:
        left = line.values["Jacobian"] @ line.values["correction"] + line.values["Psi"]
        assert np.abs(left).max() < 1e-9 * max(1.0, np.abs(line.values["Psi"]).max())


@pytest.mark.parametrize("k", slow_among([2, 4], 4))
@pytest.mark.parametrize("at", slow_among([0.01, 0.02, 0.06], 0.01, 0.06))
def test_a_method_that_looks_back_shows_its_starter(k, at):
    how = {"integrator": f"bdf(k={k})", "formulation": "ggl", "coordinates": "reference_point", "step": 0.01}
    e, r = se.explain(slider_crank(), "dynamics", at=at, **how), se.dynamics(slider_crank(), t_end=at, **how)
    assert np.abs(e.found["q"] - r.q[-1]).max() < 1e-12
    assert np.abs(e.found["qd"] - r.qd[-1]).max() < 1e-11
    started = round(at / 0.01) < k
    assert ("radau_iia takes the first ones" in repr(e).replace("\n", " ")) == started
    assert any("(3)" in name for name in e.columns["Jacobian"]) == started  # three stages


def test_one_newmark_step_converges_quadratically():
    e = se.explain(slider_crank(), "dynamics", integrator="newmark", step=0.05, at=0.5)
    first, second, third = e.norms[:3]
    assert first > 0.5 and e.norms[-1] < 1e-10
    assert second < 1e-2 and third < 1e-3 * second**2 / first**2
    text = repr(e)
    assert "iteration 0" in text and "beta h^2" in text and max(map(len, text.splitlines())) <= 80


def test_a_quasi_newton_step_converges_linearly():
    e = se.explain(pendulum(), "dynamics", integrator=se.Newmark(newton="modified"), step=0.01, at=0.05)
    factors = [line.values["factor"] for line in e.lines[1:]]
    assert len(factors) >= 4 and all(1e-4 < factor < 0.1 for factor in factors)


def test_the_matrix_is_that_of_the_textbook():
    """[M + b K + c D, Phi_q^T; Phi_q, 0] of the pendulum, with b = beta h^2 and c = gamma h; by hand."""
    h, beta, gamma, k, damping = 0.01, 0.3025, 0.6, 50.0, 1.0
    e = se.explain(pendulum(), "dynamics", integrator="newmark", step=h, at=h)
    line, b, c = e[0], beta * h * h, gamma * h
    names = e.columns["Jacobian"]
    assert names == ("bar.xdd", "bar.ydd", "bar.phidd", "lam pin.x", "lam pin.y")
    a0, lam = line["x"][:3], line["x"][3:]
    phi = 0.5 * h * h * a0[2]  # from rest: a1 is guessed as a0
    # Phi = r_O - 0 with r_O = (x - cos phi, y - sin phi)
    Phi_q = np.array([[1, 0, np.sin(phi)], [0, 1, -np.cos(phi)]])
    bend = lam @ np.array([np.cos(phi), np.sin(phi)])
    K, D = np.diag([0, 0, bend + k]), np.diag([0, 0, damping])
    wanted = np.block([[np.diag([2, 2, 0.3]) + b * K + c * D, Phi_q.T], [Phi_q, np.zeros((2, 2))]])
    assert np.abs(line["Jacobian"] - wanted).max() < 1e-12


# Ordinary differential equations -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrator",
    ["forward_euler", "heun", "rk4", "adams_bashforth", "adams_bashforth_moulton", "backward_euler", "trapezoidal",
     "implicit_midpoint", "radau_iia", "bdf", "bdf(k=4)"],
)  # fmt: skip
@pytest.mark.parametrize("at", slow_among([0.01, 0.02, 0.06], 0.06))
def test_steps_of_ordinary_differential_equations_are_those_of_the_engine(integrator, at):
    how = {
        "integrator": integrator,
        "formulation": "augmented",
        "coordinates": "reference_point",
        "step": 0.01,
    }
    e = se.explain(slider_crank(), "dynamics", at=at, **how)
    r = se.dynamics(slider_crank(), t_end=at, **how)
    end = e.found.get("y1 on the constraints", e.found["y1"])
    assert np.abs(np.concatenate([r.q[-1], r.qd[-1]]) - end).max() < 1e-12


def test_adaptive_methods_show_their_error_estimate():
    e = se.explain(
        slider_crank(), "dynamics", integrator="dormand_prince", formulation="projection", step=0.01
    )
    assert e.lines[-1].name == "error estimate" and 0 < e[-1]["norm"] < 1e-6
    assert len(e) == 7  # six stages and the estimate


def test_backward_euler_on_a_function_and_its_second_root():
    """y1 = 1 - 0.1 y1^2 has the roots (-1 +- sqrt(1.4)) / 0.2."""
    roots = (-1 + np.sqrt(1.4)) / 0.2, (-1 - np.sqrt(1.4)) / 0.2
    f = lambda t, y: -(y**2)
    near, far = (se.explain(f, integrator="backward_euler", y0=[1], step=0.1, guess=g) for g in ([1], [-10]))
    assert near.found["y1"][0] == pytest.approx(roots[0], abs=1e-14)
    assert far.found["y1"][0] == pytest.approx(roots[1], abs=1e-13)
    assert near.norms[2] < 10 * near.norms[1] ** 2  # quadratic


def test_rk4_stages_of_a_function():
    """y' = y from 1 with h = 0.1: K = 1, 1.05, 1.0525, 1.10525."""
    e = se.explain(lambda t, y: y, integrator="rk4", y0=[1.0], step=0.1)
    assert [float(line.values["K"][0]) for line in e] == pytest.approx([1, 1.05, 1.0525, 1.10525], abs=1e-15)
    assert e.found["y1"][0] == pytest.approx(1.1051708333333333, abs=1e-15)
    assert "K2 = f(t + 1/2 h, y + h (1/2 K1))" in repr(e)


# Kinematics and statics ---------------------------------------------------------------------------------


def test_kinematics_of_a_four_bar():
    four_bar = se.builders.four_bar(1, 2.5, 2, 2.2, speed=6.28)
    e = se.explain(four_bar, "kinematics", at=0.1, step=0.1)
    r = se.kinematics(four_bar, t_eval=[0, 0.1])
    position, velocity, acceleration = e.parts
    assert np.abs(position.found["q"] - r.q[-1]).max() < 1e-12
    assert np.abs(velocity.found["qd"] - r.qd[-1]).max() < 1e-11
    assert np.abs(acceleration.found["qdd"] - r.qdd[-1]).max() < 1e-10
    norms = position.norms
    assert norms[4] < 10 * norms[3] ** 2 and norms[3] < 10 * norms[2] ** 2


@pytest.mark.parametrize("method", ["newton", "energy", "relaxation"])
def test_equilibrium_line_by_line(method):
    e = se.explain(pendulum(), "equilibrium", method=method)
    assert e.found["q"] == pytest.approx(se.equilibrium(pendulum(), method=method).q.reshape(-1), abs=1e-12)
    assert e.norms[0] > 1 and e.norms[-1] < 1e-4
    if method == "energy":
        energies = [line.values["V - V0"] for line in e]
        assert all(after < before for before, after in pairwise(energies[:3]))


# Worksheets ---------------------------------------------------------------------------------------------


def test_worksheets(tmp_path):
    e = se.explain(pendulum(), "dynamics", integrator="newmark", step=0.01)
    page = e.save(tmp_path / "step.html").read_text()
    assert "lam pin.x" in page and "http" not in page and page.count("<table") > 6
    tex = e.save(tmp_path / "step.tex").read_text()
    assert r"\begin{pmatrix}" in tex and r"\documentclass" in tex
    assert tex.count("{") == tex.count("}") and tex.count(r"\begin{") == tex.count(r"\end{")
    text = e.save(tmp_path / "step.txt").read_text()
    assert "Jacobian =" in text
    frame = e.to_frame()
    assert list(frame.index) == [line.name for line in e] and frame["norm"].iloc[-1] < 1e-9
    assert frame["x[bar.phidd]"].iloc[0] == pytest.approx(-2 * 9.81 / (0.3 + 2), rel=1e-12)
    with pytest.raises(ModelError, match=r"\.html, a \.tex or a \.txt"):
        e.save(tmp_path / "step.pdf")


def test_the_plot_takes_and_returns_axes():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    e = se.explain(pendulum(), "dynamics", integrator="newmark", step=0.01)
    assert e.plot(ax) is ax and len(ax.lines) == 1 and ax.get_yscale() == "log"
    plt.close("all")


# Bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"what": "dynamcs"}, ModelError, "Did you mean 'dynamics'"),
        ({"integrator": "newmark"}, ModelError, "step = None must be a positive number"),
        ({"integrator": "newmark", "step": 0.01, "at": 0.015}, ModelError, "not the end of a step"),
        (
            {"integrator": "bdf_variable", "formulation": "augmented", "step": 0.01},
            UnsupportedError,
            "does not show",
        ),
        ({"what": "position"}, UnsupportedError, "Add a driver"),
        ({"what": "equilibrium", "method": "newtn"}, ModelError, "one of newton"),
        ({"stepp": 0.01}, OptionError, "Did you mean 'step'"),
    ],
)
def test_bad_input_is_answered(options, error, words):
    with pytest.raises(error, match=words):
        se.explain(pendulum(), **options)


def test_functions_need_a_state():
    with pytest.raises(ModelError, match="give y0"):
        se.explain(lambda t, y: y, integrator="rk4", step=0.1)
    with pytest.raises(ModelError, match="not 3"):
        se.explain(3)
