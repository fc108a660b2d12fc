"""Formulations: what each does to the constraints, and which integrators it goes with."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d import builders
from simengine2d.methods import Formulation


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
    kinds = [se.GeneralizedAlpha(newton=kind) for kind in ("exact", "modified")]
    exact, modified = (se.dynamics(model, t_end=2, step=1e-3, integrator=kind) for kind in kinds)
    np.testing.assert_allclose(modified.q, exact.q, atol=1e-9)
    assert modified.statistics["factorizations"] < 0.5 * exact.statistics["factorizations"]
    assert modified.statistics["halved steps"] == 0


def test_projection_takes_the_velocities_back():
    """Index 3 keeps Phi = 0 and leaves its rate to the error of the method."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    options = {"t_end": 2, "step": 0.01, "integrator": "newmark"}
    kinds = [se.Index3(projection=wanted) for wanted in (False, True)]
    plain, projected = (se.dynamics(model, **options, formulation=kind) for kind in kinds)
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
            {"integrator": "newmark(tolerance=0)", "step": 0.1},
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


@pytest.mark.slow
def test_steps_that_are_far_too_long_end_in_a_sentence():
    with pytest.raises(
        se.ConvergenceError, match=r"grown beyond all bounds|the joints are apart by"
    ) as caught:
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


# Units ------------------------------------------------------------------------------------------------


def weighed_four_bar(length, mass):
    model = se.Model(gravity=(0, -9.81 * length))
    places = [(0, 0), (0.5 * length, 0.9 * length), (1.9 * length, 1.2 * length), (2 * length, 0)]
    a, b, c = (model.bar(f"b{i}", places[i], places[i + 1], mass=(1 + i) * mass) for i in range(3))
    for i, (x, y) in enumerate(((model.ground, a), (a, b), (b, c), (c, model.ground))):
        model.add(se.Revolute(f"J{i}", x, y, at=places[i]))
    return model


@pytest.mark.parametrize(
    "coordinates", slow_among(["reference_point", "natural", "mixed", "relative"], "natural", "mixed")
)
def test_a_penalty_is_as_exact_in_all_units(coordinates):
    errors = []
    for length, mass in ((1, 1), (1e-4, 1e-9), (1e3, 1e6), (1, 1e9)):
        model = weighed_four_bar(length, mass)
        r = se.dynamics(model, t_end=0.5, formulation="penalty", coordinates=coordinates, rtol=1e-9)
        errors.append(r.residuals["position"] / length)
    np.testing.assert_allclose(errors, errors[0], rtol=0.2)
    assert 1e-12 < errors[0] < 1e-6


@pytest.mark.parametrize("coordinates", ["reference_point", "natural", "relative"])
def test_an_alpha_that_is_given_keeps_its_meaning(coordinates):
    light, heavy = (
        se.dynamics(
            weighed_four_bar(1, mass), t_end=0.5, formulation=se.Penalty(alpha=1e4), coordinates=coordinates
        )
        for mass in (1, 10)
    )
    assert heavy.residuals["position"] == pytest.approx(10 * light.residuals["position"], rel=0.2)


def test_wrong_penalties_are_refused():
    for options in ({"alpha": 0.0}, {"factor": 0.0}, {"omega": -1.0}):
        with pytest.raises(se.ModelError, match="penalty needs alpha > 0"):
            se.Penalty(**options)


@pytest.mark.parametrize("formulation", slow_among(["index3", "ggl", "augmented_lagrangian"], "index3"))
def test_small_mechanisms_have_the_accelerations_of_large_ones(formulation):
    def folded(length):
        model = se.Model(gravity=(0, -9.81 * length))
        a = model.bar("a", (0, 0), (0.3 * length, 0), mass=1)
        b = model.bar("b", (0.3 * length, 0), (0.3 * length, 0.5 * length), mass=1)
        model.add(se.Revolute("O", model.ground, a["start"]))
        model.add(se.Revolute("A", a["end"], b["start"]))
        model.add(se.PinSlot("slot", a, b.at(-0.25 * length, 0.1 * length)))
        return model

    want = se.dynamics(folded(1), t_eval=[0, 0.2])
    for length in (1e-5, 1e4):
        r = se.dynamics(folded(length), t_eval=[0, 0.2], coordinates="natural", formulation=formulation)
        assert r["a.phidd"][-1] == pytest.approx(want["a.phidd"][-1], rel=1e-4)
        assert r.reaction("O").fy[-1] / length == pytest.approx(want.reaction("O").fy[-1], rel=1e-4)


ALL = sorted(Formulation.registry)


@pytest.mark.parametrize("formulation", ALL)
def test_a_doubled_pin_is_fulfilled_by_the_tree(formulation):
    def bar(pins):
        model = se.Model()
        a = model.bar("a", (0, 0), (1, 0), mass=1)
        b = model.bar("b", (1, 0), (2, 1), mass=1)
        for i in range(pins):
            model.add(se.Revolute(f"O{i}", model.ground, a["start"]))
            model.add(se.Revolute(f"A{i}", a["end"], b["start"]))
        return model

    once, twice = (
        se.dynamics(bar(pins), t_end=0.5, coordinates="relative", formulation=formulation) for pins in (1, 2)
    )
    np.testing.assert_allclose(twice.q, once.q, atol=1e-8)
    both = [twice.reaction(f"O{i}").fy for i in range(2)]
    np.testing.assert_allclose(both[0] + both[1], once.reaction("O0").fy, atol=1e-5)
    np.testing.assert_allclose(both[0], both[1], atol=1e-5)
