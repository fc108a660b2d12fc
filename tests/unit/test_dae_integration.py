"""Differential-algebraic equations in any coordinates: orders of all pairs, constraints, what a marcher promises."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from dae_runs import exact_pendulum, motion, new_family, new_rows, pendulum, violations
from marking import slow_among
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.formulations.augmented_lagrangian import AugmentedLagrangian
from simengine2d.formulations.ggl import GGL
from simengine2d.formulations.index3 import Index3
from simengine2d.integrators import loop_state
from simengine2d.integrators.bdf import BDF
from simengine2d.integrators.dae_integration import dae_integration
from simengine2d.integrators.implicit_runge_kutta import (
    BackwardEuler,
    ImplicitMidpoint,
    RadauIIA,
    Trapezoidal,
)
from simengine2d.integrators.second_order_tables import table_of

FORMULATIONS = [Index3(), GGL(), AugmentedLagrangian()]
NAMES = [each.name for each in FORMULATIONS]
GGL_FIRST = slow_among(FORMULATIONS, *FORMULATIONS[::2])  # the others with the JIT alone
TRAPEZOIDAL = se.Newmark(beta=0.25, gamma=0.5)
T_END = 0.4


def lam_sign(run):
    """Phi_q = -d(center)/dq or its opposite, as the joint is written; the closed form leaves it open."""
    return np.sign(run.family.at(0.0, run.z[0], run.zd[0]).J[0, 0])


def errors(formulation, method, steps):
    """Of positions, velocities, accelerations and multipliers at the end."""
    run = motion(pendulum(), formulation, method, [0.0, T_END], step=T_END / steps)
    assert run.why == loop_state.DONE
    q, qd, qdd, pull = exact_pendulum(T_END)
    found = run.z[-1], run.zd[-1], run.zdd[-1], run.lam[-1]
    wanted = q, qd, qdd, lam_sign(run) * pull
    return np.array([np.abs(a - b).max() for a, b in zip(found, wanted, strict=True)])


def observed_order(formulation, method, steps):
    return np.log2(errors(formulation, method, steps) / errors(formulation, method, 2 * steps))


# Orders -----------------------------------------------------------------------------------------------


def test_the_closed_form_fulfills_the_equations_of_motion():
    family, _, _ = new_family(pendulum())
    for t in (0.0, 0.3, 1.0):
        q, qd, qdd, pull = exact_pendulum(t)
        e = family.at(t, q, qd)
        sign = np.sign(e.J[0, 0])
        np.testing.assert_allclose(e.M @ qdd + e.J.T @ (sign * pull), e.Q, atol=1e-12)
        np.testing.assert_allclose(e.J @ qdd, e.gamma, atol=1e-12)
        np.testing.assert_allclose(e.Phi, 0.0, atol=1e-14)


@pytest.mark.parametrize("formulation", GGL_FIRST, ids=NAMES)
@pytest.mark.parametrize(
    ("method", "order"),
    [(se.Newmark(), 1), (TRAPEZOIDAL, 2), (se.HHT(), 2), (se.GeneralizedAlpha(), 2), (BackwardEuler(), 1)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_one_stage_methods_have_their_order_at_all_levels(formulation, method, order):
    """The next term of the error is some h / T times as large: 0.3 of an order at 40 steps of a quarter swing."""
    assert observed_order(formulation, method, 40) == pytest.approx(order, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_bdf_has_order_k_at_all_levels(formulation, k):
    """At 160 and 320 steps; for k = 5 rounding divided by h^2 leaves no more digits, and 80 are taken."""
    steps = 80 if k == 5 else 160
    order = observed_order(formulation, BDF(k), steps)
    assert order[:2] == pytest.approx(k, abs=0.3)
    assert np.all(order[2:] > k - 0.4)


@pytest.mark.parametrize(
    ("formulation", "orders"),
    [(Index3(), (5, 3, 2, 2)), (GGL(), (5, 5, 3, 3)), (AugmentedLagrangian(), (5, 5, 5, 5))],
    ids=NAMES,
)
def test_orders_of_radau_iia(formulation, orders):
    """Index 3: 2s - 1 in positions, s in velocities, s - 1 in multipliers; index 2: 2s - 1 twice, then s.

    Hairer, Lubich & Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods (1989),
    table 2.3. The projections of the augmented Lagrangian give accelerations and multipliers the order of the state.
    """
    assert observed_order(formulation, RadauIIA(), 20) == pytest.approx(orders, abs=0.3)


# Agreement --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [se.Newmark(), se.HHT(), se.GeneralizedAlpha()], ids=lambda method: method.name
)
def test_alpha_methods_take_the_steps_of_the_sparse_lane(method):
    """The same formulas, solved by other means: equal but for the tolerance of Newton's iteration, 1e-10."""
    model, times = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5), np.linspace(0.0, 0.3, 4)
    run = motion(model, Index3(), method, times, step=0.05)
    sparse = se.dynamics(model, t_eval=times, step=0.05, integrator=method, formulation="index3")
    np.testing.assert_allclose(run.z, sparse.q, atol=1e-9)
    np.testing.assert_allclose(run.zd, sparse.qd, atol=1e-9)
    np.testing.assert_allclose(run.zdd, sparse.qdd, atol=1e-6)
    np.testing.assert_allclose(run.lam, sparse.lam, atol=1e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [(BDF(1), BackwardEuler()), (se.HHT(alpha=0.0), TRAPEZOIDAL), (Trapezoidal(), TRAPEZOIDAL)],
    ids=lambda method: repr(method),
)
def test_one_method_under_two_names(one, other):
    first, second = (motion(pendulum(), GGL(), method, [0.0, 0.2], step=0.02) for method in (one, other))
    np.testing.assert_allclose(first.z, second.z, atol=1e-13)
    np.testing.assert_allclose(first.zd, second.zd, atol=1e-12)


@pytest.mark.parametrize("newton", ["modified", "course"])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
def test_every_iteration_finds_the_same_step(formulation, newton):
    model, times = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5), [0.0, 0.06]
    exact = motion(model, formulation, BDF(2), times, step=0.02)
    other = motion(model, formulation, BDF(2), times, step=0.02, newton=newton)
    np.testing.assert_allclose(other.z, exact.z, atol=1e-11)
    np.testing.assert_allclose(other.lam, exact.lam, rtol=1e-7, atol=1e-7)


def test_modified_newton_factors_less():
    exact, modified = (
        motion(pendulum(), GGL(), RadauIIA(), [0.0, 0.2], step=0.02, newton=newton).integration.counts()
        for newton in ("exact", "modified")
    )
    assert modified["factorizations"] < 0.5 * exact["factorizations"]
    assert modified["halved steps"] == 0


# Constraints ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
@pytest.mark.parametrize("method", [se.GeneralizedAlpha(), BDF(2), RadauIIA()], ids=lambda m: m.name)
def test_nothing_drifts(formulation, method):
    """Over ten seconds; index 3 leaves the velocities to the error of the method, and that does not grow."""
    model, times = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5), np.linspace(0.0, 10.0, 101)
    run = motion(model, formulation, method, times, step=0.02)
    position, velocity = violations(run, times)
    assert position < 1e-11
    if formulation.holds_velocities:
        assert velocity < 1e-10
    else:
        early, late = (
            violations(_rows(run, part), times[part])[1] for part in (slice(0, 51), slice(51, 101))
        )
        assert late < 3.0 * early


def _rows(run, part):
    return run._replace(z=run.z[part], zd=run.zd[part])


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
@pytest.mark.parametrize(
    ("method", "tolerance"), [(TRAPEZOIDAL, 1e-3), (RadauIIA(), 1e-8)], ids=["newmark", "radau"]
)
def test_redundant_constraints(formulation, method, tolerance):
    """A parallelogram with a third crank, where one equation in twelve follows from the others."""
    times = [0.0, 0.1, 0.2]
    run = motion(three_cranks(), formulation, method, times, step=0.01)
    exact = se.dynamics(three_cranks(), t_eval=times, rtol=1e-11)
    assert run.why == loop_state.DONE
    np.testing.assert_allclose(run.z, exact.q, atol=tolerance)
    balance = [
        run.family.at(t, z, zd).M @ zdd + run.family.at(t, z, zd).J.T @ lam - run.family.at(t, z, zd).Q
        for t, z, zd, zdd, lam in zip(times, run.z, run.zd, run.zdd, run.lam, strict=True)
    ]
    np.testing.assert_allclose(balance, 0.0, atol=1e-6)
    assert np.abs(run.lam).max() < 3.0 * np.abs(exact.lam).max()  # what is redundant carries no large forces


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
def test_a_driven_mechanism_has_no_freedom_left(formulation):
    """As many constraints as coordinates: the motion is that of kinematics, whatever the method."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5, speed=2.0)
    run = motion(model, formulation, BackwardEuler(), [0.0, 0.2], step=0.1)
    exact = se.kinematics(model, t_eval=[0.0, 0.2])
    np.testing.assert_allclose(run.z, exact.q, atol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
def test_a_free_body_needs_no_constraints(formulation):
    """Falling is a parabola, which the trapezoidal rule follows exactly."""
    model = se.Model("falling")
    model.body("stone", mass=2, inertia=3, at=(0, 0), velocity=(1, 0))
    run = motion(model, formulation, TRAPEZOIDAL, [0.0, 1.0], step=0.1)
    np.testing.assert_allclose(run.z[-1], [1.0, -9.81 / 2, 0.0], atol=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
def test_a_constraint_of_velocities(formulation):
    """A skate that spins with w on an incline glides along a cycloid and never goes down for good.

    x = g / 2 w^2 sin^2 wt,  y = g / 2 w^2 (wt - sin wt cos wt).
    Neimark & Fufaev, Dynamics of Nonholonomic Systems (1972), chapter III.
    """
    g, w, t = 1.5, 2.0, 0.8
    model = se.Model("skate", gravity=(g, 0))
    model.body("skate", mass=2, inertia=0.3, at=(0, 0), angular_velocity=w)
    model.add(se.Constraint("edge", "skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)"))
    run = motion(model, formulation, RadauIIA(), [0.0, t], step=0.05)
    a = w * t
    x, y = g / (2 * w**2) * np.sin(a) ** 2, g / (2 * w**2) * (a - np.sin(a) * np.cos(a))
    np.testing.assert_allclose(run.z[-1], [x, y, a], atol=1e-7)
    assert violations(run, [0.0, t])[1] < 1e-12


# Error control ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [GGL(), AugmentedLagrangian()], ids=NAMES[1:])
def test_the_tolerance_is_honored(formulation):
    """At outputs inside of steps, which lie on the constraints; accelerations and multipliers are as exact."""
    times = np.linspace(0.0, 1.0, 21)
    exact = [np.array(level) for level in zip(*map(exact_pendulum, times), strict=True)]
    for rtol in (1e-4, 1e-7):
        run = motion(pendulum(), formulation, RadauIIA(), times, rtol=rtol, newton="modified")
        assert run.why == loop_state.DONE
        assert np.abs(run.z - exact[0]).max() < rtol
        assert np.abs(run.zd - exact[1]).max() < rtol * np.abs(exact[1]).max()
        assert np.abs(run.zdd - exact[2]).max() < 10 * rtol * np.abs(exact[2]).max()
        assert np.abs(run.lam - lam_sign(run) * exact[3]).max() < 10 * rtol * np.abs(exact[3]).max()
        assert max(violations(run, times)) < 1e-12


@pytest.mark.parametrize(
    "method",
    [pytest.param(se.GeneralizedAlpha(), id="generalized_alpha", marks=pytest.mark.slow), RadauIIA()],
    ids=lambda m: m.name,
)
def test_index_3_under_error_control(method):
    times = np.linspace(0.0, 0.3, 4)
    run = motion(pendulum(), Index3(), method, times, rtol=1e-4)
    exact = np.array([exact_pendulum(t)[0] for t in times])
    assert np.abs(run.z - exact).max() < 1e-4


@pytest.mark.slow
def test_each_coordinate_has_its_absolute_tolerance():
    """Where x and y may be wrong by a meter, steps follow the angle alone; where it may too, they are longer still."""
    strict, angle_only, loose = (
        motion(pendulum(), GGL(), RadauIIA(), [0.0, 1.0], rtol=1e-12, atol=atol).integration.counts()["steps"]
        for atol in ([1e-6, 1e-6, 1e-6], [1e-4, 1e-4, 1e-6], [1e-4, 1e-4, 1e-4])
    )
    assert strict >= angle_only > loose


# Promises of a marcher --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (BDF(3), {"step": 0.02}),
        (se.GeneralizedAlpha(), {"step": 0.02, "newton": "modified"}),
        (RadauIIA(), {"rtol": 1e-5, "newton": "modified"}),
    ],
    ids=["bdf", "generalized_alpha", "radau_iia"],
)
def test_an_integration_goes_on_bit_for_bit(method, options):
    """Left after some steps, and taken up by another marcher from the arrays that it keeps."""
    times = np.linspace(0.0, 0.6, 7)
    family, z, zd = new_family(pendulum())
    whole, first, second = (dae_integration(GGL(), method, family, 0.0, z, zd, **options) for _ in range(3))
    Y, Y2 = new_rows(whole, 7), new_rows(first, 7)
    whole.integrate(times, 0, Y, 10_000)
    done, why = first.integrate(times, 0, Y2, 7)
    assert why == loop_state.PAUSED
    for name, array in first.kept().items():
        second.kept()[name][...] = array
    second.integrate(times, done, Y2, 10_000)
    np.testing.assert_array_equal(Y, Y2)


@pytest.mark.parametrize("options", [{"step": 0.05}, {"rtol": 1e-6}], ids=["fixed", "adaptive"])
def test_looking_into_a_step(options):
    """Between its ends the state is as exact as there, and on the constraints."""
    family, z, zd = new_family(pendulum())
    integration = dae_integration(GGL(), RadauIIA(), family, 0.0, z, zd, **options)
    integration.integrate(np.array([0.0, 0.1, 1.0]), 0, new_rows(integration, 3), 3)
    t, end = integration.t, integration.step_end
    assert end > t
    for now in np.linspace(t, end, 5):
        y = integration.between(now)
        q, qd, _, _ = exact_pendulum(now)
        np.testing.assert_allclose(y[:3], q, atol=1e-5)
        np.testing.assert_allclose(y[3:], qd, atol=1e-4)
        assert np.abs(family.at(now, y[:3]).Phi).max() < 1e-12


def test_outputs_that_are_not_equally_spaced():
    """BDF starts again where its step changes, and keeps its order."""
    times = np.array([0.0, 0.05, 0.1131, 0.2, 0.4])
    coarse, fine = (
        np.abs(
            motion(pendulum(), GGL(), BDF(3), times, step=h).z - [exact_pendulum(t)[0] for t in times]
        ).max()
        for h in (0.01, 0.005)
    )
    assert np.log2(coarse / fine) == pytest.approx(3, abs=0.5)
    assert fine < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
@pytest.mark.parametrize("options", [{"step": 0.05}, {"rtol": 1e-6}], ids=["fixed", "adaptive"])
def test_what_cannot_be_solved_is_said(formulation, options):
    """A slider that is driven beyond the reach of its links, at t = 1."""
    model = builders.slider_crank(1, 2, crank_angle=1.0)
    slider_x = float(se.System(model).drawn_q[6])
    model.add(se.Driver("pull", se.x("ground", "slider"), f"{slider_x} + {3.0 - slider_x}*t"))
    run = motion(model, formulation, RadauIIA(), np.linspace(0.0, 2.0, 21), **options)
    assert run.why in (loop_state.NO_CONVERGENCE, loop_state.STEP_TOO_SMALL)
    assert 9 <= run.done <= 11
    assert violations(run, np.linspace(0.0, 2.0, 21)[: run.done])[0] < 1e-9


@pytest.mark.parametrize("method", [ImplicitMidpoint(), se.RK4()], ids=lambda m: m.name)
def test_methods_whose_steps_do_not_end_in_a_stage_are_refused(method):
    with pytest.raises(se.UnsupportedError, match="does not solve differential-algebraic equations"):
        table_of(method)


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        (RadauIIA(), {}, "takes fixed steps; give a step"),
        (BDF(3), {"rtol": 1e-6}, "looks back over 3 equal steps"),
        (RadauIIA(), {"step": 0.1, "newton": "lazy"}, "newton = 'lazy' must be one of"),
    ],
    ids=["step", "bdf", "newton"],
)
def test_bad_arguments(method, options, sentence):
    family, z, zd = new_family(pendulum())
    with pytest.raises(se.ModelError, match=sentence):
        dae_integration(GGL(), method, family, 0.0, z, zd, **options)


def test_the_penalty_must_be_sensible():
    with pytest.raises(se.ModelError, match="needs alpha from 1 to 1e12, not 0"):
        AugmentedLagrangian(alpha=0.0)
