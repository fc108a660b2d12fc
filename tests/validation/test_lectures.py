"""What the lecture notes say about the methods of dynamics, tried out; docs/reference/lectures.md lists all of it.

Course ME451 (University of Wisconsin-Madison): "Elements of the numerical solution of the dynamics problem" (2011),
the flow chart of Newmark's method (2010), "Inverse analysis, equilibrium analysis" (2014).
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import simengine2d as se


def pendulum() -> se.Model:
    """20 kg, 2 m, a spring of 45 N m/rad, a damper of 10 N m s/rad, 30 sin(2 pi t) N at the tip; it hangs at rest."""
    m = se.Model("pendulum")
    bar = m.bar("bar", (0, 0), (0, -2), mass=20)
    m.add(se.Revolute("pin", m.ground, bar["start"]))
    m.add(se.Spring("rsda", se.angle(m.ground, bar), stiffness=45, damping=10, free="-pi/2"))
    m.add(se.PointForce("push", bar["end"], fx="30*sin(2*pi*t)"))
    return m


def first_step(**newton):
    return se.explain(pendulum(), "dynamics", integrator=se.Newmark(**newton), step=0.01, at=0.01)


def test_newton_converges_quadratically_on_one_newmark_step():
    """1.9, 3e-7, then rounding: lam is some 200 N, so that of Psi is about 1e-11."""
    norms = first_step().norms
    assert norms[0] == pytest.approx(1.88, abs=0.01)  # 30 sin(2 pi h), the force that was not there before
    assert norms[1] == pytest.approx(3.0e-7, rel=0.02)
    assert norms[2] < 1e-11


def test_the_matrix_of_the_flow_chart_converges_linearly_and_ends_at_its_rule_of_thumb():
    """[M, Phi_q^T; Phi_q, 0] instead of the Jacobian; the iteration ends when corrections are below 1e-3."""
    e = first_step(newton="course")
    J = e[0]["Jacobian"]
    np.testing.assert_allclose(J[:3, :3], np.diag([20, 20, 20 * 2**2 / 12]), rtol=1e-14)
    np.testing.assert_array_equal(J[3:, 3:], 0.0)
    np.testing.assert_allclose(J[:3, 3:], J[3:, :3].T, rtol=1e-14)
    factors = e.norms[1:4] / e.norms[:3]
    assert np.all(factors < 0.01)
    assert np.ptp(np.log10(factors)) < 1.0  # each about as large as the one before
    early = first_step(newton="course", tolerance=1e-3)
    assert len(early.lines) < len(e.lines)
    corrections = [np.abs(line["correction"][:3]).max() for line in early.lines[:-1]]
    assert corrections[0] > 1e-3 > corrections[-1]
    np.testing.assert_allclose(early.found["qdd"], e.found["qdd"], atol=1e-3)


def test_the_initial_accelerations_of_the_flow_chart():
    """[M, Phi_q^T; Phi_q, 0] [qdd; lam] = [QA; gamma] at rest: nothing moves, the pin carries the weight."""
    start = se.dynamics(pendulum(), t_end=0.01, integrator="newmark", step=0.01)
    np.testing.assert_allclose(start.qdd[0], 0.0, atol=1e-14)
    assert start.reaction("pin", on="bar").fy[0] == pytest.approx(20 * 9.81, rel=1e-14)


@pytest.mark.parametrize(("beta", "gamma", "order"), [(0.3025, 0.6, 1), (0.25, 0.5, 2)])
def test_newmark_is_of_first_order_as_the_notes_say_unless_gamma_is_one_half(beta, gamma, order):
    def error(h):
        run = se.dynamics(pendulum(), t_end=0.5, step=h, integrator=se.Newmark(beta=beta, gamma=gamma))
        return np.abs(run["bar.phi"] - exact(run.t)).max()

    exact = lambda t: se.dynamics(pendulum(), t_eval=t, rtol=1e-11)["bar.phi"]
    assert np.log2(error(0.002) / error(0.001)) == pytest.approx(order, abs=0.1)


def test_beta_of_the_notes_is_the_one_without_overshoot():
    """beta = (gamma + 1/2)^2 / 4."""
    assert se.Newmark().beta == pytest.approx((se.Newmark().gamma + 0.5) ** 2 / 4, rel=1e-15)


def test_ode45_is_of_fifth_order():
    """The notes give RK45 the order 4, that of its error estimate; the step goes on with the formula of order 5."""

    def error(h):
        run = se.ivp.solve(lambda t, y: -y, (0, 1), [1.0], "ode45", h=h)
        return abs(run.y[0, -1] - np.exp(-1))

    assert np.log2(error(0.1) / error(0.05)) == pytest.approx(5.0, abs=0.2)


def test_the_door_starts_with_a_jerk():
    """phi = pi/2 sin(pi t/4) has the speed pi^2/8 at t = 0: the door is pushed already, and the damper's 1 N m s/rad
    is all that the motor feels."""
    m = se.Model("door", gravity=(0, 0))
    panel = m.body("door", mass=30, inertia=2.5, at=(0.5, 0), points={"H": (-0.5, 0)})
    m.add(se.Revolute("hinge", m.ground, panel["H"]))
    m.add(se.Spring("closer", se.angle(m.ground, panel), stiffness=8, damping=1))
    m.add(se.Driver("motor", se.angle(m.ground, panel), "pi/2*sin(pi*t/4)"))
    r = se.inverse_dynamics(m, t_end=2, step=0.01)
    phi, phid, phidd = (r[f"door.{name}"] for name in ("phi", "phid", "phidd"))
    assert phid[0] == pytest.approx(pi**2 / 8)
    # (J' + m L^2) phidd + k phi + c phid
    np.testing.assert_allclose(r["motor.torque"], (2.5 + 30 * 0.5**2) * phidd + 8 * phi + phid, atol=1e-12)


def test_the_exam_a_model_and_an_analysis_as_files_and_a_plot_of_a_reaction(tmp_path):
    """adm and acf files are written, read again, and give the reaction of a joint."""
    files = tmp_path / "pendulum.adm", tmp_path / "pendulum.acf"
    pendulum().save(files[0])
    files[1].write_text(
        '{"simulation": "dynamics", "tend": 0.5, "stepSize": 0.01, "outputSteps": 50}\n', encoding="utf-8"
    )
    wanted = se.dynamics(pendulum(), t_end=0.5, step=0.01, integrator="newmark")
    found = se.run(*files)
    joint = next(
        name for name in found.model.elements if found.model.elements[name].title.startswith("Revolute")
    )
    np.testing.assert_allclose(found[f"{joint}.fx"], wanted["pin.fx"], atol=1e-9)
    found.plot_reaction(joint)


def test_high_order_costs_stability_in_multistep_methods_and_buys_it_in_runge_kutta_methods():
    """High order, the slide says, "usually" has "very small stability regions"; here of y' = -y."""
    decay = lambda t, y: -y
    limits = lambda *methods: [se.lab.largest_step(decay, method, y0=[1.0]).h for method in methods]
    np.testing.assert_allclose(
        limits("ab1", "ab2", "ab3", "ab4"), [2, 1, 6 / 11, 3 / 10], rtol=1e-6
    )  # Hairer
    assert np.all(np.diff(limits("forward_euler", "rk4")) > 0.7)  # 2 and 2.785
    assert np.isinf(limits("backward_euler")).all()


def test_the_augmented_equations_are_n_plus_nc_and_the_embedded_ones_n_minus_nc():
    """The pinned link has n = 3 coordinates and nc = 2 constraints: 5 equations, or 1."""
    at = se.formulate(pendulum()).at(independent="bar.phi")
    n, nc = at.QA.size, at.Phi.size
    assert (n + nc, n - nc) == (5, 1) and at.M_bar.shape == (1, 1)
    np.testing.assert_allclose(at.M_bar, 20 * 2**2 / 3, rtol=1e-14)  # m L^2 / 3 about the pin


@pytest.mark.slow
def test_results_can_be_drawn_while_a_run_goes_on():
    drawn = []
    method = se.ForwardEuler()  # any with steps of its own
    r = se.dynamics(
        pendulum(), t_end=4, step=0.001, integrator=method, keep=lambda r: drawn.append(r["bar.phi"])
    )
    assert len(drawn) > 1
    for so_far in drawn:
        np.testing.assert_array_equal(so_far, r["bar.phi"][: so_far.size])
