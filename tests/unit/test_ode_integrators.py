"""Integrators of y' = f(t, y): the claims of every registered one, and what integrations promise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import simengine2d as se
import simengine2d.integrators  # which registers them
from simengine2d.integrators import loop_state as loop
from simengine2d.integrators.implicit_runge_kutta import ImplicitRungeKutta
from simengine2d.integrators.ode_method import OdeMethod
from simengine2d.integrators.runge_kutta import RungeKutta
from simengine2d.methods import Integrator
from simengine2d.numerics.kernel_pointer import kernel_pointer, python_pointer

ODE = {name: cls for name, cls in Integrator.registry.items() if issubclass(cls, OdeMethod)}
OURS = [cls() for cls in ODE.values() if cls.keeps] + [se.BDF(k) for k in (1, 3, 4, 5)]
ONE_STEP = [method for method in OURS if not method.name.startswith(("adams", "bdf"))]
MULTISTEP = [method for method in OURS if method not in ONE_STEP]
ADAPTIVE = [method for method in OURS if method.adaptive]
ITERATED = [method for method in OURS if isinstance(method, ImplicitRungeKutta | se.BDF)]
SCIPY = [cls() for cls in ODE.values() if not cls.keeps]


def marched(method, f, y0, times, *, t0=0.0, **options):
    """The integration after a run to the end, and its rows."""
    integration = method.integration(f, t0, np.array(y0, dtype=float), **options)
    Y = np.zeros((len(times), len(y0) + options.get("notes", np.zeros(0)).size))
    row, why = integration.integrate(np.array(times, dtype=float), 0, Y, 10**6)
    assert (row, why) == (len(times), loop.DONE)
    return integration, Y


# a nonlinear problem with a closed form: a pendulum released at an angle of 2 rad,
# sin(theta / 2) = k sn(K - t), k = sin 1

K2 = np.sin(1.0) ** 2


@python_pointer
def pendulum(t, y, out):
    out[:] = y[1], -np.sin(y[0])


def swing(t):
    sn, cn, _, _ = ellipj(ellipk(K2) - t, K2)
    return np.array([2.0 * np.arcsin(np.sqrt(K2) * sn), -2.0 * np.sqrt(K2) * cn])


# another, without symmetry and not autonomous: y1' = -2 t y1^2, y2' = y1 y2; y1 = 1/(1 + t^2), y2 = exp(atan t)


@python_pointer
def curved(t, y, out):
    out[:] = -2.0 * t * y[0] ** 2, y[0] * y[1]


def exact(t):
    return np.array([1.0 / (1.0 + t**2), np.exp(np.arctan(t))])


Y0 = (1.0, 1.0)


@python_pointer
def curved_derivatives(t, y, out):
    out[:] = -4.0 * t * y[0], 0.0, y[1], y[0]


# Claims -----------------------------------------------------------------------------------------------

# steps at which the error is far above rounding and its next term small
STEPS = {order: 1 / 32 for order in range(1, 6)} | {8: 1 / 4}


@pytest.mark.parametrize("method", OURS, ids=repr)
def test_the_claimed_order_is_observed(method):
    """From two step sizes; adaptive methods take fixed steps where they are given one."""
    times, h = [1.0, 2.0, 3.0, 4.0], STEPS[method.order]
    wanted = np.array([swing(t) for t in times])
    rows = [marched(method, pendulum, [2.0, 0.0], times, step=step)[1] for step in (h, h / 2)]
    errors = [np.abs(Y - wanted).max() for Y in rows]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(method.order, abs=0.3)


def test_every_ode_method_claims_its_kind():
    expected = {
        "forward_euler", "heun", "rk4", "bogacki_shampine", "dormand_prince", "tsitouras5", "dop853", "adams_bashforth",
        "adams_bashforth_moulton", "backward_euler", "trapezoidal", "trapezoidal_adaptive", "implicit_midpoint",
        "radau_iia", "radau_adaptive", "bdf", "tr_bdf2", "rosenbrock", "adams_variable", "bdf_variable",
    }  # fmt: skip
    assert expected <= set(ODE)
    assert all("ode" in cls.solves and cls.__doc__ for cls in ODE.values())
    assert {name for name in expected if "dae" in ODE[name].solves} == {"backward_euler", "bdf", "radau_iia"}


def test_the_order_of_bdf_is_its_number_of_steps():
    assert [se.BDF(k).order for k in (1, 2, 3, 4, 5)] == [1, 2, 3, 4, 5]
    assert se.BDF.order == se.BDF().order == 2
    with pytest.raises(se.ModelError, match="bdf needs k from 1 to 5, not 6"):
        se.BDF(6)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_bdf_coefficients_are_exact_for_polynomials(k):
    """y = t^p with t = 1, 0, -1, ... for the end of the step, y_n, y_n-1, ..., and p up to k."""
    method, t = se.BDF(k), -np.arange(k, dtype=float)
    for p in range(k + 1):
        assert method.alpha @ t**p + method.beta * p == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("name", [name for name, cls in ODE.items() if issubclass(cls, ImplicitRungeKutta)])
def test_implicit_tableaus_are_consistent(name):
    method = ODE[name]()
    np.testing.assert_allclose(method.A.sum(axis=1), method.c, atol=1e-15)
    for power in range(1, method.order + 1):  # sum b c^(p-1) = 1/p
        assert method.b @ method.c ** (power - 1) == pytest.approx(1 / power, abs=1e-14)
    if "dae" in method.solves:  # stiffly accurate
        np.testing.assert_array_equal(method.A[-1], method.b)


# Stability --------------------------------------------------------------------------------------------

Z = [-0.6 + 0.4j, -2.0 + 1.5j, 0.3 - 0.8j]


def linear(z):
    """y' = z y in real and imaginary part, with its derivatives."""
    A = np.array([[z.real, -z.imag], [z.imag, z.real]])

    def f(t, y, out):
        out[:] = A @ y

    def jac(t, y, out):
        out[:] = A.ravel()

    return {"f": python_pointer(f), "jac": python_pointer(jac)}


@pytest.mark.parametrize("z", Z)
@pytest.mark.parametrize("method", ONE_STEP, ids=repr)
def test_one_step_of_a_linear_problem_is_the_stability_function(method, z):
    _, Y = marched(method, **linear(z), y0=[1.0, 0.0], times=[1.0], step=1.0)
    assert complex(*Y[-1]) == pytest.approx(complex(method.stability(z)), abs=1e-13)


@pytest.mark.parametrize("method", MULTISTEP, ids=repr)
def test_many_steps_of_a_linear_problem_grow_with_the_largest_root(method):
    """The other roots are at most 0.8 as large; after 110 steps nothing is left of them."""
    z = -0.1 + 0.1j
    _, Y = marched(method, **linear(z), y0=[1.0, 0.0], times=[110.0, 111.0], step=1.0)
    before, after = Y[:, 0] + 1j * Y[:, 1]
    assert after / before == pytest.approx(complex(method.stability(z)), abs=1e-10)


@pytest.mark.parametrize("method", [*OURS, se.RadauAdaptive()], ids=repr)
def test_stability_functions_approximate_the_exponential(method):
    """R(z) - e^z goes with z^(p+1): halved z, 2^(p+1) times less; and arrays are taken entry by entry."""
    z = np.array([0.4j, 0.2j])
    coarse, fine = np.abs(method.stability(z) - np.exp(z))
    assert np.log2(coarse / fine) > method.order + 0.5
    assert method.stability(np.zeros((2, 3))) == pytest.approx(np.ones((2, 3)))


@pytest.mark.parametrize("method", [m for m in OURS if isinstance(m, RungeKutta)], ids=repr)
def test_the_limit_of_stability_of_explicit_methods(method):
    limit = method.tableau.stability
    inside = -np.linspace(0.0, limit, 500)
    assert np.all(np.abs(method.stability(inside)) <= 1.0 + 1e-12)
    assert np.abs(method.stability(-1.06 * limit)) > 1.0


@pytest.mark.parametrize("method", [m for m in ITERATED if m.order < 3 or m.name == "radau_iia"], ids=repr)
def test_implicit_methods_are_a_stable(method):
    y = np.concatenate([-np.logspace(-3, 3, 40), [0.0], np.logspace(-3, 3, 40)])
    assert np.all(np.abs(method.stability(1j * y)) <= 1.0 + 1e-12)


# Iterations -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ITERATED, ids=repr)
@pytest.mark.parametrize("newton", ["modified", "fixed_point"])
def test_all_iterations_find_the_same_steps(method, newton):
    """Each step is solved to 1e-13; 20 of them add up."""
    newtons, other = (
        marched(method, curved, Y0, [0.0, 1.0], step=0.05, newton=kind) for kind in ("exact", newton)
    )
    np.testing.assert_allclose(other[1], newtons[1], atol=1e-11)
    assert other[0].counts()["jacobians"] < newtons[0].counts()["jacobians"]


@pytest.mark.parametrize("method", [se.BackwardEuler(), se.Trapezoidal(), se.RadauIIA(), se.BDF(4)], ids=repr)
def test_derivatives_that_do_not_serve_are_renewed(method):
    """Robertson's reaction: those of the start lead nowhere. Its three shares add up to 1."""

    def robertson(t, y, out):
        slow, fast, end = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        out[:] = fast - slow, slow - fast - end, end

    rows = [
        marched(method, python_pointer(robertson), [1.0, 0.0, 0.0], [5.0], step=0.1, newton=newton)
        for newton in ("exact", "modified")
    ]
    np.testing.assert_allclose(rows[1][1], rows[0][1], atol=1e-9)
    assert rows[0][1].sum() == pytest.approx(1.0, abs=1e-10)
    assert 2 <= rows[1][0].counts()["jacobians"] < rows[0][0].counts()["jacobians"]


@pytest.mark.parametrize("method", [*ITERATED, se.Rosenbrock()], ids=repr)
def test_given_derivatives_save_evaluations(method):
    differences = marched(method, curved, Y0, [1.0], step=0.1)
    given = marched(method, curved, Y0, [1.0], step=0.1, jac=curved_derivatives)
    assert given[0].counts()["evaluations"] < differences[0].counts()["evaluations"]
    np.testing.assert_allclose(given[1], differences[1], atol=1e-8)


@pytest.mark.parametrize("method", [se.BackwardEuler(), se.RadauIIA(), se.BDF(3)], ids=repr)
def test_a_step_that_does_not_converge_is_reported(method):
    """A fixed point iteration diverges where h |lambda| = 30; Newton's does not."""
    f = linear(-30.0 + 0.0j)["f"]
    Y, times = np.zeros((1, 2)), np.array([3.0])
    integration = method.integration(f, 0.0, np.array([1.0, 0.0]), step=1.0, newton="fixed_point")
    assert integration.integrate(times, 0, Y, 100) == (0, loop.NO_CONVERGENCE)
    assert integration.t == 0.0 and np.all(integration.y == [1.0, 0.0])
    assert np.abs(marched(method, f, [1.0, 0.0], times, step=1.0, newton="modified")[1]).max() < 0.1


@pytest.mark.parametrize("newton", ["exact", "modified", "fixed_point"])
@pytest.mark.parametrize("method", [se.TRBDF2(), se.TrapezoidalAdaptive()], ids=repr)
def test_adaptive_methods_shorten_steps_that_do_not_converge(method, newton):
    """y' = 50 (cos t - y); its solution tends to (2500 cos t + 50 sin t) / 2501."""

    def f(t, y, out):
        out[0] = 50.0 * (np.cos(t) - y[0])

    _, Y = marched(method, python_pointer(f), [0.0], [1.0], rtol=1e-6, atol=1e-6, newton=newton)
    assert Y[-1, 0] == pytest.approx((2500 * np.cos(1.0) + 50 * np.sin(1.0)) / 2501, abs=1e-5)


# Error control ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*ADAPTIVE, *SCIPY], ids=repr)
def test_errors_keep_to_what_was_asked(method):
    for rtol in (1e-3, 1e-5):
        _, Y = marched(method, curved, Y0, [0.7, 2.0], rtol=method.local(rtol))
        assert np.abs(Y - [exact(0.7), exact(2.0)]).max() <= rtol


@pytest.mark.parametrize("method", ADAPTIVE, ids=repr)
def test_outputs_do_not_change_adaptive_steps(method):
    few = marched(method, curved, Y0, [2.0], rtol=1e-5)[0]
    many, Y = marched(method, curved, Y0, np.linspace(0.0, 2.0, 41), rtol=1e-5)
    assert few.step_end == many.step_end
    np.testing.assert_array_equal(few.path.new, many.path.new)
    np.testing.assert_allclose(Y, [exact(t) for t in np.linspace(0.0, 2.0, 41)], atol=3e-3)


def test_explicit_methods_notice_stiffness_where_they_are_asked():
    """lambda = -1000: the step stays at the limit of stability."""
    f = linear(-1000.0 + 0.0j)["f"]
    for method in (se.DOP853(), se.DormandPrince(), se.Tsitouras5()):
        watching = method.integration(f, 0.0, np.array([1.0, 0.0]), rtol=1e-6, watch=True)
        assert watching.integrate(np.array([10.0]), 0, np.zeros((1, 2)), 10**4)[1] == loop.TOO_STIFF
        assert watching.t < 5.0
        blind = method.integration(f, 0.0, np.array([1.0, 0.0]), rtol=1e-6)
        assert blind.integrate(np.array([0.5]), 0, np.zeros((1, 2)), 10**4)[1] == loop.DONE


@pytest.mark.parametrize("method", [*ADAPTIVE, *SCIPY], ids=repr)
def test_a_solution_that_grows_without_bound_ends(method):
    """y' = y^2 has a pole at t = 1."""
    f = python_pointer(lambda t, y, out: np.square(y, out=out))
    integration, Y = method.integration(f, 0.0, np.ones(1), rtol=1e-4, span=(0.0, 2.0)), np.zeros((1, 1))
    with np.errstate(over="ignore"):
        row, why = integration.integrate(np.array([2.0]), 0, Y, 10**5)
    assert row == 0 and why in (loop.STEP_TOO_SMALL, loop.NO_CONVERGENCE)
    assert integration.t < 1.001


# Marching ---------------------------------------------------------------------------------------------


def options_of(method):
    return {"rtol": 1e-6} if method.adaptive else {"step": 0.05}


@pytest.mark.parametrize("method", OURS, ids=repr)
def test_a_run_goes_on_elsewhere_bit_for_bit(method):
    """After 3 steps another integration takes over the arrays."""
    times, y0 = np.linspace(0.0, 1.0, 8), np.array(Y0)
    for newton in ("exact", "modified"):
        first, second = (
            method.integration(curved, 0.0, y0, newton=newton, **options_of(method)) for _ in range(2)
        )
        one, Y = np.zeros((8, 2)), np.zeros((8, 2))
        first.integrate(times, 0, one, 10**6)
        begun = method.integration(curved, 0.0, y0, newton=newton, **options_of(method))
        row, why = begun.integrate(times, 0, Y, 3)
        assert why == loop.PAUSED
        for name, array in second.kept().items():
            array[...] = begun.kept()[name]
        second.integrate(times, row, Y, 10**6)
        assert Y.tobytes() == one.tobytes()
        assert first.counts() == second.counts()


@pytest.mark.parametrize("method", OURS, ids=repr)
def test_the_last_step_can_be_looked_into(method):
    integration = method.integration(curved, 0.0, np.array(Y0), **options_of(method))
    Y = np.zeros((1, 2))
    while integration.counts()["steps"] < 3:
        integration.integrate(np.array([1.0]), 0, Y, 1)
    a, b = integration.t, integration.step_end
    assert 0.0 < a < b
    np.testing.assert_array_equal(integration.between(a), integration.y)
    inside = integration.between(a + 0.4 * (b - a))
    straight = 0.6 * integration.between(a) + 0.4 * integration.between(b)
    true = exact(a + 0.4 * (b - a)) - (0.6 * exact(a) + 0.4 * exact(b))
    allowed = (
        1.0 if method.order == 1 else 0.05
    )  # the bend itself, |y''| h^2 / 8, is not that of a method of order 1
    np.testing.assert_allclose(inside - straight, true, atol=allowed * (b - a) ** 2 + 1e-6)


@pytest.mark.parametrize("method", MULTISTEP, ids=repr)
def test_outputs_between_equal_steps_are_nearly_as_good_as_the_steps(method):
    """At least of the order of the method less one; the steps go on unchanged."""
    errors = []
    h = STEPS[method.order]
    for step in (h, h / 2):
        _, Y = marched(method, curved, Y0, [1.0 + 0.4 * step, 1.5], step=step)
        errors.append(np.abs(Y[0] - exact(1.0 + 0.4 * step)).max())
        np.testing.assert_array_equal(Y[1], marched(method, curved, Y0, [1.5], step=step)[1][-1])
    assert np.log2(errors[0] / errors[1]) > method.order - 1.3


@pytest.mark.parametrize("method", MULTISTEP, ids=repr)
def test_a_whole_number_of_equal_steps_fills_the_span(method):
    asked = []

    def f(t, y, out):
        asked.append(t)
        out[:] = -y

    integration, _ = marched(method, python_pointer(f), [1.0], [1.0], step=0.3, span=(0.0, 1.0))
    assert integration.counts()["steps"] == 4
    assert max(asked) <= 1.0


def test_fixed_steps_between_outputs_are_equal():
    ends, times = [], [0.0, 0.25, 0.3]
    integration, Y = se.RK4().integration(curved, 0.0, np.array(Y0), step=0.1), np.zeros((3, 2))
    row = 0
    while row < 3:
        row, _ = integration.integrate(np.array(times), row, Y, 1)
        ends.append(integration.step_end)
    np.testing.assert_allclose(np.unique(ends), [0.25 / 3, 0.5 / 3, 0.25, 0.3], atol=1e-15)


@pytest.mark.parametrize("method", OURS, ids=repr)
def test_finish_corrects_every_step_and_writes_notes(method):
    """On a circle: y is brought back to length 1, and the notes count."""

    def turn(t, y, out):
        out[:] = -y[1], y[0]

    calls = []

    def back(t, y, notes):
        calls.append(t)
        y /= np.hypot(*y)
        notes[:] = len(calls), t

    times = np.linspace(0.0, 2.0, 5)
    integration, Y = marched(
        method, python_pointer(turn), [1.0, 0.0], times, finish=python_pointer(back), notes=np.zeros(2),
        **options_of(method),
    )  # fmt: skip
    steps = integration.counts()["steps"]
    assert len(calls) == steps and calls == sorted(calls)
    assert np.hypot(*integration.between(integration.step_end)) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(Y[:, :2], np.transpose([np.cos(times), np.sin(times)]), atol=0.1)
    assert list(Y[0, 2:]) == [0.0, 0.0]
    # each row carries the notes of the last step that ended before it
    assert np.all(Y[:, 3] <= times) and np.all(np.diff(Y[:, 2]) >= 0.0) and Y[-1, 2] >= steps - 1


@pytest.mark.parametrize("method", SCIPY, ids=repr)
def test_methods_of_scipy_say_what_they_cannot(method):
    with pytest.raises(se.UnsupportedError, match="cannot correct states"):
        method.integration(curved, 0.0, np.array(Y0), finish=curved)
    with pytest.raises(se.UnsupportedError, match="cannot be saved"):
        method.integration(curved, 0.0, np.array(Y0), span=(0.0, 1.0)).kept()
    with pytest.raises(se.ModelError, match="chooses its own steps"):
        method.integration(curved, 0.0, np.array(Y0), step=0.1)
    if method.variable_order:
        with pytest.raises(se.UnsupportedError, match="no single stability function"):
            method.stability(1.0)


class Stiffness(NamedTuple):
    k: np.ndarray


@kernel_pointer
def spring_of_the_test(c, t, y, out):
    out[0], out[1] = y[1], -c.k[0] * y[0]


def test_compiled_equations_and_a_users_function_give_the_same_bits():
    k = np.array([4.0])
    users = python_pointer(lambda t, y, out: out.__setitem__(slice(None), (y[1], -k[0] * y[0])))
    for method in (se.DOP853(), se.RadauIIA(), se.AdamsBashforth(), se.Rosenbrock()):
        rows = [
            marched(method, f, [1.0, 0.0], [0.5, 2.0], **options_of(method))[1]
            for f in (spring_of_the_test.bind(Stiffness(k)), users)
        ]
        assert rows[0].tobytes() == rows[1].tobytes()


def test_bad_options_are_said_in_words():
    start = (curved, 0.0, np.array(Y0))
    with pytest.raises(se.ModelError, match="'rk4' takes fixed steps; give a step"):
        se.RK4().integration(*start)
    with pytest.raises(se.ModelError, match="newton = 'raphson' must be one of exact, modified, fixed_point"):
        se.BackwardEuler().integration(*start, step=0.1, newton="raphson")
    with pytest.raises(se.ModelError, match="step = -1 must be a positive number"):
        se.RK4().integration(*start, step=-1)
