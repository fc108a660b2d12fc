"""Formulations: what each does to the constraints, and which integrators it goes with."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders


def pendulum() -> se.Model:
    return builders.chain(1, angle=0.3)


def drift(formulation, t_end=30.0):
    """Largest distance of the pin from its place at the outputs."""
    r = se.dynamics(pendulum(), t_end=t_end, step=0.02, integrator="rk4", formulation=formulation)
    return max(np.abs(r.system.Phi(t, q)).max() for t, q in zip(r.t, r.q, strict=True))


@pytest.mark.slow
def test_the_unstabilized_pendulum_drifts_and_baumgarte_holds_it():
    """Errors of gamma integrate twice to errors of Phi; with Baumgarte's terms they decay."""
    free, held, projected = drift(se.Augmented(0, 0)), drift(se.Augmented(10, 10)), drift("projection")
    assert free > 1e-4
    assert drift(se.Augmented(0, 0), 15.0) < 0.6 * free  # it goes on growing
    assert held < 1e-2 * free
    assert projected < 1e-13


@pytest.mark.parametrize("formulation", [se.Augmented(0, 0), se.Augmented(), se.Projection()], ids=repr)
def test_all_of_index_1_agree(formulation):
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    exact = se.dynamics(model, t_end=2, step=0.1, rtol=1e-12)
    r = se.dynamics(model, t_end=2, step=0.1, rtol=1e-11, formulation=formulation)
    for name in ("q", "qd", "qdd", "lam"):
        found, wanted = getattr(r, name), getattr(exact, name)
        np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.slow
def test_index_3_without_an_integrator_keeps_rtol():
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    exact = se.dynamics(model, t_end=2, step=0.1, rtol=1e-12)
    errors = [
        np.abs(se.dynamics(model, t_end=2, step=0.1, formulation="index3", rtol=r).q - exact.q).max()
        for r in (1e-4, 1e-6)
    ]
    assert errors[0] < 1e-4 and errors[1] < 1e-6


@pytest.mark.slow
def test_modified_newton_factors_less_and_finds_the_same():
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    options = {"t_end": 2, "step": 1e-3, "integrator": "generalized_alpha"}
    exact, modified = (se.dynamics(model, **options, newton=kind) for kind in ("exact", "modified"))
    np.testing.assert_allclose(modified.q, exact.q, atol=1e-9)
    assert modified.statistics["factorizations"] < 0.5 * exact.statistics["factorizations"]
    assert modified.statistics["halved steps"] == 0


def test_projection_takes_the_velocities_back():
    """Index 3 keeps Phi = 0 and leaves its rate to the error of the method."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    options = {"t_end": 2, "step": 0.01, "integrator": "newmark"}
    plain, projected = (se.dynamics(model, **options, projection=p) for p in (False, True))
    assert plain.residuals["position"] < 1e-12 and plain.residuals["velocity"] > 1e-6
    assert projected.residuals["velocity"] < 1e-12
    np.testing.assert_allclose(projected.q, plain.q, atol=1e-2)


def test_the_absolute_tolerance():
    """A mass on a spring far from the origin: relative to its place its swing is nothing, and atol alone tells."""
    model = se.Model(gravity=(0, 0))
    model.body("mass", mass=1, inertia=1, at=(1001, 0))
    model.add(se.Spring("spring", se.x("ground", "mass"), stiffness=1, free=1000))
    loose, tight = (
        np.abs(
            se.dynamics(model, t_end=6, step=0.1, rtol=1e-13, atol=atol)["mass.x"]
            - 1000
            - np.cos(np.linspace(0, 6, 61))
        ).max()
        for atol in (1e-2, 1e-9)
    )
    assert tight < 1e-8 and loose > 10 * tight


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"integrator": "newmark", "formulation": "projection", "step": 0.1},
            "Integrators for 'projection': adams_bashforth",
        ),
        (
            {"integrator": "rk4", "formulation": "index3", "step": 0.1},
            "Integrators for 'index3': backward_euler",
        ),
        ({"formulation": "augmentd"}, "Did you mean 'augmented'?"),
        ({"formulation": 3}, "cannot use 3"),
        ({"coordinates": "polar"}, "The coordinate systems are mixed, natural, reference_point, relative"),
        ({"atol": -1.0}, "atol = -1.0 must be positive"),
        ({"atol": [1.0, 2.0]}, "must be a positive number or an array of 3"),
        (
            {"tolerance": 0.0, "integrator": "newmark", "step": 0.1},
            "tolerance = 0.0 must be a positive number",
        ),
    ],
)
def test_bad_arguments(options, sentence):
    with pytest.raises(se.SimEngineError) as caught:
        se.dynamics(pendulum(), t_end=1, **options)
    assert sentence in str(caught.value)


def test_a_system_saves_the_building():
    """The same bits, from a model and from its system, also the second time."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    system = se.System(model)
    first, second, third = (se.dynamics(each, t_end=1) for each in (model, system, system))
    np.testing.assert_array_equal(first.q, second.q)
    np.testing.assert_array_equal(first.q, third.q)


@pytest.mark.slow
def test_a_long_chain_is_exact():
    """Without looking for dependent rows by a dense factorization; energy tells."""
    r = se.dynamics(builders.chain(400), t_eval=[0.0, 0.25, 0.5], rtol=1e-8)
    _, potential, total = r.energy()
    assert np.abs(total - total[0]).max() < 1e-7 * np.ptp(potential)


def test_steps_that_are_far_too_long_end_in_a_sentence():
    with pytest.raises(se.ConvergenceError, match="grown beyond all bounds") as caught:
        se.dynamics(
            se.builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5),
            t_end=30,
            step=0.3,
            integrator="forward_euler",
        )
    assert caught.value.results.t.size > 0


@pytest.mark.parametrize("coordinates", ["reference_point", "relative"])
def test_runs_of_one_system_do_not_disturb_each_other(coordinates):
    """A run leaves its arrays to the next one of its kind, and to nobody while it runs."""
    model = se.builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    fresh = {
        rtol: se.dynamics(model, t_end=0.2, coordinates=coordinates, rtol=rtol).q for rtol in (1e-4, 1e-8)
    }
    system, inside = se.System(model), []

    def another(t):
        inside.append(se.dynamics(system, t_end=0.2, coordinates=coordinates, rtol=1e-8).q)

    for _ in range(2):
        outside = se.dynamics(system, t_end=0.2, coordinates=coordinates, rtol=1e-4, progress=another)
        np.testing.assert_array_equal(outside.q, fresh[1e-4])
        fixed = [
            se.dynamics(one, t_end=0.2, step=0.01, coordinates=coordinates, integrator="rk4")
            for one in (system, model)
        ]
        np.testing.assert_array_equal(fixed[0].q, fixed[1].q)
    assert len(inside) >= 2
    for q in inside:
        np.testing.assert_array_equal(q, fresh[1e-8])
