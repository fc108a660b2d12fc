"""The laboratory: what it compares, what it refuses, what it draws."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
import simengine2d.integrators  # which registers them
from marking import slow_among
from simengine2d import builders, lab
from simengine2d.integrators.ode_method import OdeMethod
from simengine2d.lab.combinations import combinations, label
from simengine2d.lab.stability import growth
from simengine2d.methods import Formulation, Integrator

pytest.importorskip("matplotlib").use("Agg")


def pendulum():
    return builders.chain(1, angle=0.3)


@pytest.fixture(scope="module")
def comparison():
    return lab.compare(
        pendulum(), "reference_point", ["augmented", "projection", "index3"], ["rk4", "forward_euler", "newmark"],
        t_end=0.4, points=5, step=0.01, repeats=0,
    )  # fmt: skip


# Pairs ------------------------------------------------------------------------------------------------


def test_pairs_match_what_is_posed_with_what_is_solved():
    found = lab.pairs()
    assert set(found) == set(Formulation.registry)
    assert "rk4" in found["projection"] and "rk4" not in found["index3"]
    assert "newmark" in found["index3"] and "newmark" not in found["augmented"]
    for formulation, integrators in found.items():
        for name in integrators:
            assert Formulation.registry[formulation].poses in Integrator.registry[name].solves


def test_a_pair_that_does_not_match_is_refused_before_the_run():
    with pytest.raises(se.UnsupportedError, match=r"Integrators for 'index3': .*generalized_alpha"):
        lab.compare(pendulum(), formulations=["index3"], integrators=["rk4"], t_end=1)


def test_all_of_a_kind_means_all_that_fit():
    found = combinations("reference_point", ["index3"], None)
    assert {each.integrator.name for each in found} == set(lab.pairs()["index3"])


def test_labels_tell_changed_options():
    assert label(se.Augmented()) == "augmented"
    assert label(se.Augmented(alpha=0)) == "augmented(alpha=0)"
    assert label(None) == "default"


# Comparison -------------------------------------------------------------------------------------------


def test_a_trial_is_ran_or_refused_with_the_reason(comparison):
    status = {(trial.formulation, trial.integrator): trial.status for trial in comparison.trials}
    assert len(status) == 9
    assert status["projection", "rk4"] == status["index3", "newmark"] == "ran"
    assert status["index3", "rk4"] == status["augmented", "newmark"] == "refused"
    reasons = [trial.reason for trial in comparison.trials if trial.status == "refused"]
    assert all("Integrators for" in reason for reason in reasons)


def test_differences_are_those_of_the_motions(comparison):
    """Computed once more by hand, for positions and for the reaction of the pin."""
    trial = next(
        t for t in comparison.ran if t.integrator == "forward_euler" and t.formulation == "projection"
    )
    found, reference = trial.results, comparison.reference
    sizes = np.tile([reference.system.length] * 2 + [1.0], 1)
    assert trial.q == pytest.approx(np.abs((found.q - reference.q) / sizes).max(), rel=1e-12)
    force = lambda r: np.array([r["pin1.fx"], r["pin1.fy"]])
    wanted = np.abs(force(found) - force(reference)).max() / np.abs(force(reference)).max()
    assert trial.reactions == pytest.approx(wanted, rel=1e-12)
    assert 1e-4 < trial.q < 0.1  # order 1, steps of 0.01 s


def test_drift_energy_and_cost(comparison):
    trials = {(t.formulation, t.integrator): t for t in comparison.ran}
    assert trials["projection", "rk4"].position < 1e-12 < 1e-8 < trials["augmented", "forward_euler"].position
    assert trials["projection", "rk4"].energy < 1e-6 < trials["projection", "forward_euler"].energy
    assert trials["projection", "rk4"].steps == 40
    assert all(t.seconds > 0.0 and t.evaluations >= t.steps for t in comparison.ran)


def test_the_agreement_names_the_two_that_are_farthest_apart(comparison):
    apart = comparison.agreement["q"]
    assert apart.difference >= max(trial.q for trial in comparison.ran)
    assert "forward_euler" in apart.first + apart.second


def test_the_table_is_plain_text(comparison):
    lines = comparison.table().splitlines()
    assert lines[0].split()[:4] == ["coordinates", "formulation", "integrator", "q"]
    assert sum("projection" in line and "rk4" in line and "e-" in line for line in lines) >= 1
    assert any(line.startswith("refused: ") for line in lines)
    assert len(comparison.records()) == 9
    assert list(comparison.to_frame()["status"]).count("ran") == len(comparison.ran)


def test_a_reference_of_ones_own():
    reference = se.dynamics(pendulum(), t_end=0.2, step=0.1, rtol=1e-12)
    found = lab.compare(pendulum(), "reference_point", "projection", "dop853", reference=reference, repeats=0)
    assert found.reference is reference
    assert found.trials[0].q < 1e-8


def test_what_a_family_refuses_is_told():
    sprung = builders.chain(1)
    sprung.add(se.Spring("torsion", se.angle(sprung.ground, next(iter(sprung.bodies))), stiffness=1))
    (trial,) = lab.compare(sprung, "natural", "projection", "dop853", t_end=0.1, points=2, repeats=0).trials
    assert trial.status == "refused"
    assert "use coordinates='mixed'" in trial.reason


def test_ctrl_c_keeps_what_is_finished():
    def stop_at_the_second(count, total):
        assert total == 2
        if count == 1:
            raise KeyboardInterrupt

    with pytest.raises(se.Interrupted, match="interrupted after 1 of 2") as caught:
        lab.compare(
            pendulum(), "reference_point", "projection", ["rk4", "heun"], t_end=0.1, step=0.01, points=2, repeats=0,
            progress=stop_at_the_second,
        )  # fmt: skip
    assert [trial.integrator for trial in caught.value.results.trials] == ["rk4"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "give t_end"),
        ({"t_end": -1}, "t_end = -1 must be a positive"),
        ({"t_end": 1, "points": 1}, "points = 1 must be"),
        ({"t_end": 1, "coordinates": "polar"}, "no coordinate system 'polar'"),
        ({"t_end": 1, "formulations": []}, "names nothing to compare"),
        ({"t_end": 1, "integrators": ["rk5"]}, "Did you mean 'rk4'"),
    ],
)
def test_bad_arguments(options, sentence):
    with pytest.raises(se.SimEngineError, match=sentence):
        lab.compare(pendulum(), **options)


# Work and precision -----------------------------------------------------------------------------------


def test_more_work_is_more_precision():
    found = lab.work_precision(
        pendulum(),
        integrators=["rk4", "dop853"],
        t_end=0.4,
        points=2,
        rtols=[1e-4, 1e-8],
        steps=[0.05, 0.0125],
        repeats=0,
    )
    assert list(found.curves) == ["rk4", "dop853"]
    for coarse, fine in found.curves.values():
        assert fine.q < 1e-2 * coarse.q
        assert fine.evaluations > coarse.evaluations
    left, right = found.plot()
    assert left.get_xscale() == right.get_yscale() == "log"
    assert "rk4" in found.table()


# Order ------------------------------------------------------------------------------------------------

# SciPy's choose their own steps
FIXED = [name for name, cls in Integrator.registry.items() if issubclass(cls, OdeMethod) and cls.keeps]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_the_order_on_a_differential_equation(name):
    """Jacobi's elliptic functions. Two halvings before rounding of a method of order 8 leave it uncertain by 0.2."""
    found = lab.order(name)
    assert found.observed["y"] == pytest.approx(found.claimed, abs=0.25)


@pytest.mark.parametrize(
    "name", slow_among(["newmark", "hht", "generalized_alpha"], "hht", "generalized_alpha")
)
def test_the_order_on_the_pendulum(name):
    found = lab.order(name)
    assert found.problem == "chain"
    for value in found.observed.values():
        assert value == pytest.approx(found.claimed, abs=0.1)


def test_the_elliptic_functions_solve_their_equations():
    """f against the difference quotient of the solution."""
    known = lab.convergence.elliptic()
    for t in (0.1, 1.3, 2.9):
        slope = (known.exact(t + 1e-5) - known.exact(t - 1e-5)) / 2e-5
        np.testing.assert_allclose(known.f(t, known.exact(t)), slope, atol=1e-9)


def test_the_order_of_a_method_that_chooses_its_steps_is_refused():
    with pytest.raises(se.SimEngineError, match="chooses its own steps"):
        lab.order("dop853", formulation="projection")


def test_the_order_on_ones_own_problem():
    """y' = -2 t y^2, y = 1 / (1 + t^2)."""
    known = lab.KnownMotion(lambda t, y: -2.0 * t * y**2, lambda t: np.array([1.0 / (1.0 + t * t)]), 1.0)
    found = lab.order("heun", known)
    assert found.observed["y"] == pytest.approx(2.0, abs=0.05)
    ax = found.plot()
    assert "order 2" in ax.get_legend().get_texts()[0].get_text()


# Stability --------------------------------------------------------------------------------------------


def test_growth_of_known_methods():
    """Explicit Euler 1 + z, backward Euler 1 / (1 - z), RK4 on its real axis up to -2.785."""
    assert growth("forward_euler", -1.5 + 0.5j) == pytest.approx(abs(-0.5 + 0.5j))
    assert growth("backward_euler", -3.0) == pytest.approx(0.25)
    assert growth("rk4", -2.78) < 1.0 < growth("rk4", -2.79)


def test_growth_of_newmark():
    """Average acceleration neither damps nor excites; rho of generalized-alpha is what fast oscillations keep."""
    assert growth(se.Newmark(beta=0.25, gamma=0.5), 3.0j) == pytest.approx(1.0, abs=1e-7)
    assert growth(se.GeneralizedAlpha(rho=0.6), 1e6j) == pytest.approx(0.6, abs=1e-3)
    # linear acceleration is stable up to omega h = sqrt(12)
    linear = se.Newmark(beta=1 / 6, gamma=0.5)
    assert growth(linear, 3.45j) < 1.0 + 1e-6 and growth(linear, 3.48j) > 1.1


@pytest.mark.parametrize("name", slow_among(["rk4", "bdf", "newmark"], "bdf"))
def test_the_region_is_drawn_on_given_axes(name):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert lab.stability_region(name, ax=ax) is ax
    assert ax.get_title() == name
    assert len(ax.collections) == 2
    plt.close("all")


def test_a_method_of_changing_order_has_no_region():
    with pytest.raises(se.UnsupportedError, match="no single stability function"):
        lab.stability_region("bdf_variable")


def test_every_region_contains_a_little_of_the_left_half_plane():
    for cls in Integrator.registry.values():
        if issubclass(cls, OdeMethod) and not cls.variable_order:
            assert growth(cls(), -0.01) < 1.0
