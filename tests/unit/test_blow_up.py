"""Methods that do not damp what constraints excite: a caution, and an end where the motion is nothing else any more."""

import numpy as np
import pytest

import simengine2d as se

TRAPEZOIDAL = se.Newmark(beta=0.25, gamma=0.5)
UNDAMPED = [TRAPEZOIDAL, se.HHT(alpha=0.0), se.GeneralizedAlpha(rho=1.0), se.Newmark(beta=0.2, gamma=0.5)]
DAMPED = [se.Newmark(), se.HHT(), se.GeneralizedAlpha(), se.GeneralizedAlpha(rho=0.0), se.HHT(alpha=-1 / 3)]
ASKED = "does not damp"


def pendulum():
    model = se.Model("pendulum")
    model.bar("bar", (0, 0), (np.cos(-1), np.sin(-1)), mass=1, angular_velocity=0.5)
    model.add(se.Revolute("O", model.ground, "bar.start"))
    return model


def is_cautious(results):
    return any(ASKED in note for note in results.notes)


@pytest.mark.parametrize("method", [*UNDAMPED, *DAMPED], ids=repr)
def test_the_radius_is_that_of_the_formulas(method):
    """The matrix that leads from (h qd, h^2 a, h^2 qdd) to the next where q stays."""
    am, af, beta, gamma = method.coefficients
    a = np.array([-1.0, beta - 0.5, 0.0]) / beta
    rate = np.array([1.0, 1.0 - gamma, 0.0]) + gamma * a
    true = ((1.0 - am) * a + np.array([0.0, am, -af])) / (1.0 - af)
    # the eigenvalues of a double root are known to the root of the rounding error
    assert np.abs(np.linalg.eigvals([rate, a, true])).max() == pytest.approx(method.radius, abs=1e-6)
    assert method.damps == (method in DAMPED)


@pytest.mark.parametrize("method", UNDAMPED, ids=repr)
def test_what_is_not_damped_is_a_caution(method):
    r = se.dynamics(pendulum(), t_end=0.1, step=0.01, integrator=method)
    assert is_cautious(r) and not r.verdict.is_good and ASKED in str(r.verdict)
    assert "generalized_alpha" in str(r.verdict)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *((method, {}) for method in DAMPED),
        (TRAPEZOIDAL, {"coordinates": "relative"}),
        (TRAPEZOIDAL, {"formulation": "ggl"}),
        (TRAPEZOIDAL, {"formulation": se.Index3(projection=True)}),
    ],
    ids=repr,
)
def test_what_is_damped_or_held_is_none(method, options):
    r = se.dynamics(pendulum(), t_end=0.1, step=0.001, integrator=method, **options)
    assert not is_cautious(r)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["reference_point", "natural"])
@pytest.mark.parametrize("step", [0.02, 0.004])
@pytest.mark.parametrize("method", UNDAMPED, ids=repr)
def test_a_motion_that_grows_without_bound_ends_in_a_sentence(method, step, coordinates):
    with pytest.raises(se.ConvergenceError) as caught:
        se.dynamics(pendulum(), t_end=20, step=step, integrator=method, coordinates=coordinates)
    kept = caught.value.results
    assert ASKED in str(kept.verdict) and np.abs(kept.qd).max() < 30.0


@pytest.mark.slow
def test_the_sentence_names_the_joint_and_the_remedy():
    with pytest.raises(se.ConvergenceError, match=r"the velocities violate O\.[xy] by .*Take hht") as caught:
        se.dynamics(pendulum(), t_end=20, step=0.002, integrator=TRAPEZOIDAL)
    assert caught.value.results.t[-1] > 5.0


@pytest.mark.slow
@pytest.mark.parametrize("method", DAMPED, ids=repr)
def test_damped_methods_run_for_long(method):
    r = se.dynamics(pendulum(), t_end=20, step=0.01, integrator=method)
    assert np.abs(r.qd).max() < 10.0
