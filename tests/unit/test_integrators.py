"""Integrators: the order each claims, energy, and what `dynamics` says about bad input."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import simengine2d as se
import simengine2d.integrators  # which registers them
from simengine2d import builders
from simengine2d.analyses.dynamics.resume import resume
from simengine2d.methods import Integrator
from simengine2d.model import library

FIXED = {name: cls for name, cls in Integrator.registry.items() if not cls.adaptive}
LEVELS = ("q", "qd", "qdd", "lam")
T_END = 0.4


def pendulum():
    return builders.chain(1, angle=0.3)


@pytest.fixture(scope="module")
def reference():
    return se.dynamics(pendulum(), t_eval=[0.0, T_END], rtol=1e-12)


def errors(method, step, reference):
    results = se.dynamics(pendulum(), t_end=T_END, step=step, integrator=method)
    return np.array([np.abs(getattr(results, k)[-1] - getattr(reference, k)[-1]).max() for k in LEVELS])


def observed_order(method, reference, steps=40):
    """From two step sizes, at each level."""
    coarse, fine = (errors(method, T_END / count, reference) for count in (steps, 2 * steps))
    return np.log2(coarse / fine)


@pytest.mark.parametrize("name", FIXED)
def test_the_claimed_order_is_observed(name, reference):
    """In q, qd, qdd and lam; the next term of the error is h times as large, and h is 0.01 of a swing of 0.4 s."""
    assert observed_order(FIXED[name](), reference) == pytest.approx(FIXED[name].order, abs=0.3)


@pytest.mark.parametrize(
    "method",
    [
        se.Newmark(beta=0.25, gamma=0.5),
        se.HHT(alpha=0.0),
        se.HHT(alpha=-1 / 3),
        se.GeneralizedAlpha(rho=0.0),
        se.GeneralizedAlpha(rho=0.5),
        se.GeneralizedAlpha(rho=1.0),
    ],
    ids=repr,
)
def test_second_order_over_the_options(method, reference):
    assert observed_order(method, reference) == pytest.approx(2, abs=0.15)


def test_every_integrator_can_be_named():
    assert {"newmark", "hht", "generalized_alpha", "dop853"} <= set(Integrator.registry)
    for name, cls in Integrator.registry.items():
        assert cls.name == name
        assert cls.solves in (("ode",), ("dae",), ("ode", "dae"))
        assert cls.__doc__


def test_methods_with_the_same_coefficients_agree():
    """HHT with alpha = 0 is Newmark's trapezoidal rule, to the last bit."""
    first, second = (
        se.dynamics(pendulum(), t_end=0.1, step=0.01, integrator=method)
        for method in (se.HHT(alpha=0.0), se.Newmark(beta=0.25, gamma=0.5))
    )
    np.testing.assert_array_equal(first.q, second.q)


def test_the_error_of_dop853_falls_with_the_tolerance():
    exact = se.dynamics(pendulum(), t_eval=[0.0, 1.0], rtol=1e-13)
    found = [np.abs(se.dynamics(pendulum(), t_eval=[0.0, 1.0], rtol=r).q - exact.q).max() for r in RTOLS]
    assert all(after < before for before, after in pairwise(found))
    assert found[-1] < 1e-4 * found[0]
    assert all(error <= rtol for error, rtol in zip(found, RTOLS, strict=True))


RTOLS = [1e-4, 1e-6, 1e-8, 1e-10]


@pytest.mark.parametrize("newton", ["exact", "course"])
def test_both_newton_iterations_find_the_same_step(newton):
    model = builders.four_bar(1, 2, 3, 3)
    exact = se.dynamics(model, t_end=0.05, step=0.01, integrator="newmark")
    other = se.dynamics(model, t_end=0.05, step=0.01, integrator=se.Newmark(newton=newton))
    np.testing.assert_allclose(other.q, exact.q, atol=1e-10)
    np.testing.assert_allclose(other.lam, exact.lam, atol=1e-6)


def test_outputs_do_not_change_an_adaptive_motion():
    """The steps are free of the outputs; those lie on a polynomial of order 7 and are projected."""
    few = se.dynamics(pendulum(), t_eval=[0.0, 1.0])
    many = se.dynamics(pendulum(), t_end=1.0, step=0.02)
    np.testing.assert_allclose(many.q[-1], few.q[-1], atol=1e-12)


def test_outputs_lie_on_the_constraints():
    results = se.dynamics(builders.slider_crank(1, 2), t_end=1, step=0.1)
    for t, q, qd, qdd in zip(results.t, results.q, results.qd, results.qdd, strict=True):
        system = results.system
        assert np.abs(system.Phi(t, q)).max() < 1e-12
        assert np.abs(system.Phi_q(t, q) @ qd - system.nu(t)).max() < 1e-12
        assert np.abs(system.Phi_q(t, q) @ qdd - system.gamma(t, q, qd)).max() < 1e-10


# Energy -----------------------------------------------------------------------------------------------


def test_energy_of_a_pendulum_over_20_periods():
    """A bar of 1 m released from the horizontal: T = 4 sqrt(2 L / 3 g) K(sin 45 deg) = 1.933 s."""
    results = se.dynamics(builders.chain(1), t_end=20 * 1.9333, step=0.4)
    kinetic, potential, total = results.energy()
    exchanged = np.ptp(potential)
    assert exchanged == pytest.approx(9.81 / 2, rel=1e-2)
    assert np.abs(total - total[0]).max() < 1e-5 * exchanged
    assert kinetic.min() >= 0.0
    assert "energy: constant to" in results.summary()


def test_energy_of_a_spring_is_counted():
    model = se.Model(gravity=(0, 0))
    model.body("mass", mass=2, inertia=1, at=(3, 0))
    model.add(se.Spring("spring", se.distance("ground", "mass"), stiffness=8, free=2))
    results = se.dynamics(model, t_end=3, step=0.1, rtol=1e-10)
    np.testing.assert_allclose(results["mass.x"], 2 + np.cos(2 * results.t), atol=1e-8)
    np.testing.assert_allclose(results.energy().total, 4.0, rtol=1e-8)


def test_energy_is_not_mentioned_where_it_need_not_be_constant():
    """A driver, a damper, a force: each takes or gives energy; the power balances all the same."""
    damped = builders.chain(1)
    damped.add(se.Spring("damper", se.angle("ground", "link1"), damping=0.3))
    pushed = builders.chain(1)
    pushed.add(se.Torque("motor", "link1", 2))
    for model in (damped, pushed, builders.chain(1, speed=2)):
        results = se.dynamics(model, t_end=0.5, step=0.1)
        assert "energy" not in results.summary()
        assert results.power_balance() < 1e-12


def test_the_power_of_a_driver():
    """A wheel that speeds up: torque J phidd, power J phidd phid."""
    model = se.Model(gravity=(0, 0))
    wheel = model.body("wheel", mass=1, inertia=3, at=(0, 0))
    model.add(se.Revolute("O", model.ground, wheel))
    model.add(se.Driver("motor", se.angle(model.ground, wheel), "t^2"))
    results = se.dynamics(model, t_end=1, step=0.25)
    np.testing.assert_allclose(results["motor.torque"], 6.0, rtol=1e-10)
    np.testing.assert_allclose(results.energy().kinetic, 1.5 * (2 * results.t) ** 2, atol=1e-9)
    assert results.power_balance() < 1e-12


# Bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"t_end": 0}, "t_end = 0 must be a positive number of seconds"),
        ({"t_end": -1}, "t_end = -1 must be a positive"),
        ({"t_end": "soon"}, "soon"),
        ({}, "dynamics needs t_end or t_eval"),
        ({"t_end": 1, "step": 2}, "step = 2 must not be larger than t_end = 1"),
        ({"t_end": 1, "step": 0}, "step = 0 must be a positive"),
        ({"t_end": 1, "step": -0.1}, "step = -0.1 must be a positive"),
        ({"t_eval": [0.0, 0.0]}, "increasing"),
        ({"t_end": 1, "rtol": 0}, "rtol = 0 must lie between 1e-14 and 0.1"),
        ({"t_end": 1, "rtol": 1}, "rtol = 1 must lie between"),
        ({"t_end": 1, "rtol": float("nan")}, "rtol = nan must lie between"),
        ({"t_end": 1, "integrator": "newmak"}, "Did you mean 'newmark'?"),
        ({"t_end": 1, "integrator": "magic"}, "The integrators are adams_bashforth"),
        ({"t_end": 1, "integrator": "newmark"}, "takes fixed steps; give step="),
        ({"t_end": 1, "step": 0.1, "integrator": "hht(newton=raphson)"}, "newton = 'raphson' must be one of"),
    ],
)  # fmt: skip
def test_bad_arguments_are_said_in_words(given, sentence):
    with pytest.raises(se.ModelError) as caught:
        se.dynamics(pendulum(), **given)
    assert sentence in str(caught.value)


def test_something_else_than_a_model():
    with pytest.raises(se.ModelError, match=r"needs a Model, not 'four_bar\.yaml'"):
        se.dynamics("four_bar.yaml", t_end=1)


def test_a_model_without_bodies():
    with pytest.raises(se.UnsupportedError, match="has no bodies"):
        se.dynamics(se.Model(), t_end=1)


def test_a_free_motion_without_mass_is_named():
    model = se.Model()
    model.body("bead", at=(0, 0))
    with pytest.raises(se.ModelError, match=r"a free motion has no mass.*bead"):
        se.dynamics(model, t_end=1)


def test_a_turn_without_inertia_is_named():
    """A point mass may hang on a pin, but not turn freely about itself."""
    model = se.Model()
    model.body("bob", mass=1, inertia=0, at=(1, 0))
    with pytest.raises(se.ModelError, match=r"a free motion has no mass.*bob"):
        se.dynamics(model, t_end=1)


def test_a_driven_body_needs_no_mass():
    model = se.Model(gravity=(0, 0))
    arm = model.body("arm", at=(0, 0))
    model.add(se.Revolute("O", model.ground, arm))
    model.add(se.Driver("motor", se.angle(model.ground, arm), "t"))
    results = se.dynamics(model, t_end=1, step=0.5)
    np.testing.assert_allclose(results["arm.phi"], results.t, atol=1e-12)


class BrokenLawError(Exception):
    pass


def breaks_late(t, q, qd):
    if t > 0.5:
        raise BrokenLawError("the sensor is gone")
    return 1.0, 0.0


def is_nan_late(t, q, qd):
    return (float("nan") if t > 0.5 else 1.0), 0.0


NEWMARK = {"integrator": "newmark", "step": 0.05}


@pytest.mark.parametrize("options", [{}, NEWMARK], ids=["adaptive", "newmark"])
@pytest.mark.parametrize(
    ("law", "words"),
    [
        (breaks_late, ["breaks_late", "BrokenLawError", "the sensor is gone"]),
        (is_nan_late, ["is_nan_late", "nan"]),
    ],
)
def test_a_force_law_that_fails_is_named_with_its_time(law, words, options):
    model = pendulum()
    model.add(se.PointForce("wind", model["link1"]["end"], law=law))
    with pytest.raises(se.SimEngineError) as caught:
        se.dynamics(model, t_end=1, **{"step": 0.05} | options)
    message, kept = str(caught.value), caught.value.results
    assert all(word in message for word in ["PointForce 'wind'", "t = 0.", *words])
    # what was finished is kept, and right
    assert kept is not None and 0 < kept.t.size <= 11
    assert kept.t[-1] <= 0.5
    good = pendulum()
    good.add(se.PointForce("wind", good["link1"]["end"], fx=1))
    expected = se.dynamics(good, t_eval=kept.t, **options)
    np.testing.assert_allclose(kept.q, expected.q, atol=1e-6)


def test_an_expression_without_a_value_is_named():
    model = pendulum()
    model.add(se.Torque("motor", model["link1"], "sqrt(0.2 - t)"))
    with pytest.raises(se.SimEngineError, match="motor") as caught:
        se.dynamics(model, t_end=1, step=0.05)
    assert caught.value.results.t[-1] <= 0.2


def test_a_law_without_a_function_is_refused_before_the_run():
    model = pendulum()
    model.add(se.PointForce("gas", model["link1"]["end"], law="pistonForce"))
    with pytest.raises(se.UnsupportedError, match=r"PointForce 'gas' follows the law 'pistonForce'.*laws="):
        se.dynamics(model, t_end=1)


def test_interrupting_keeps_what_was_finished():
    def stop(t):
        raise KeyboardInterrupt

    with pytest.raises(se.Interrupted, match="are kept") as caught:
        se.dynamics(pendulum(), t_end=1, step=0.001, progress=stop)
    kept = caught.value.results
    assert kept.t.size > 0
    assert np.all(np.isfinite(kept.q))
    assert kept.lam.shape == (kept.t.size, 2)


def test_the_same_run_gives_the_same_bytes():
    first, second = (se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=0.3, step=0.1) for _ in range(2))
    for level in LEVELS:
        assert getattr(first, level).tobytes() == getattr(second, level).tobytes()


def test_the_model_is_left_alone():
    model = pendulum()
    before = repr(vars(model))
    se.dynamics(model, t_end=0.1)
    assert repr(vars(model)) == before


def test_the_result_says_what_was_used():
    adaptive = se.dynamics(pendulum(), t_end=0.1)
    fixed = se.dynamics(pendulum(), t_end=0.1, step=0.01, integrator="newmark")
    assert any("dop853" in note for note in adaptive.notes)
    assert any("newmark" in note for note in fixed.notes)
    assert fixed.statistics["steps"] == 10
    assert adaptive.statistics["steps"] > 0
    assert (adaptive.analysis, fixed.analysis) == ("dynamics", "dynamics")


# Fixed steps are fixed --------------------------------------------------------------------------------


@pytest.mark.parametrize("newton", ["modified", "course"])
@pytest.mark.parametrize("coordinates", ["reference_point", "natural"])
@pytest.mark.parametrize("step", [0.05, 0.08])
def test_no_step_is_halved_where_exact_newton_converges(newton, coordinates, step):
    model = se.Model()
    bar = model.bar("bar", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    how = {"t_end": 2, "step": step, "formulation": "index3", "coordinates": coordinates}
    methods = [se.Newmark(beta=0.25, gamma=0.5, newton=kind) for kind in ("exact", newton)]
    exact, other = (se.dynamics(model, integrator=method, **how) for method in methods)
    assert exact.statistics["halved steps"] == other.statistics["halved steps"] == 0
    np.testing.assert_allclose(other.qdd, exact.qdd, atol=1e-7 * np.abs(exact.qdd).max())
    assert not exact.events and not any("halved" in note for note in exact.notes)


@pytest.mark.parametrize("coordinates", ["reference_point", "natural"])
def test_a_halved_step_is_a_note_and_an_event(coordinates):
    with library.file("andrews_squeezer") as path:
        model = se.load(path)
    how = {"step": 0.01, "integrator": se.Newmark(beta=0.25, gamma=0.5), "formulation": "index3"}
    r = se.dynamics(model, t_end=0.03, coordinates=coordinates, **how)
    assert r.statistics["halved steps"] > 0
    (event,) = r.events
    assert event.name == "halved step" and event.t == pytest.approx(0.02) and not event.stop
    assert sum("one fixed step was halved" in note and "after t = 0.02 s" in note for note in r.notes) == 1
    again = resume(r, t_end=0.031)
    assert [e.name for e in again.events][:1] == ["halved step"]
    assert sum(" halved, since" in note for note in again.notes) == 1
