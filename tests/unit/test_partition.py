"""Independent coordinates that are chosen anew keep what an integrator promises."""

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

pytestmark = pytest.mark.slow  # many steps


def four_bar() -> se.Model:
    """It swings back and forth under its weight."""
    return builders.four_bar(1.6, 2.3, 2.0, 1.2, crank_angle=1.2)


def slider_crank() -> se.Model:
    return builders.slider_crank(1.0, 2.5, crank_angle=0.7)


@pytest.mark.parametrize("formulation", ["partitioning", "matrix_r"])
@pytest.mark.parametrize("coordinates", ["reference_point", "natural", "mixed", "relative"])
@pytest.mark.parametrize("built", [four_bar, slider_crank])
def test_fixed_steps_have_order_4_where_coordinates_turn_back(built, coordinates, formulation):
    model = built()
    model.gravity = (0, -9.81)
    exact = se.dynamics(model, t_eval=[0.0, 1.0, 2.0, 3.0], rtol=1e-12)
    assert np.ptp(np.sign(exact["crank.phid"])) > 0
    errors = []
    for step in (0.02, 0.005):
        r = se.dynamics(
            model, t_end=3, step=step, integrator="rk4", coordinates=coordinates, formulation=formulation
        )
        errors.append(np.abs(r.q[:: round(1 / step)] - exact.q).max())
    assert errors[0] < 3e-3 and errors[1] < errors[0] / 4**3.3  # 4**4 but for changes of the choice


@pytest.mark.parametrize("formulation", ["partitioning", "matrix_r"])
def test_outputs_are_found_with_a_choice_of_their_own(formulation):
    """Many outputs of many steps are found together, long after the choice of their steps."""
    model = se.Model(gravity=(0, -9.81))
    wheel = model.body("wheel", mass=1, inertia=0.5, at=(0.2, 0), angular_velocity=20)
    model.add(se.Revolute("O", model.ground.at(0, 0), wheel.at(-0.2, 0)))
    times = np.linspace(0, 2, 1001)
    r = se.dynamics(model, t_eval=times, rtol=1e-3, coordinates="mixed", formulation=formulation)
    np.testing.assert_allclose(np.hypot(r["wheel.x"], r["wheel.y"]), 0.2, rtol=1e-12)
    assert np.ptp(r.energy().total) < 0.01 * r.energy().kinetic.max()


def test_a_redundant_joint_stays_redundant_at_loose_tolerances():
    """Three parallel cranks: one row too many, which errors of a step make look independent."""
    model = builders.four_bar(1, 2, 1, 2, crank_angle=1.0)
    model.gravity = (0, -9.81)
    third = model.bar("third", (1, 0), (1 + np.cos(1.0), np.sin(1.0)), mass=1)
    coupler = model.bodies["coupler"]
    model.add(se.Revolute("E", model.ground, third["start"]))
    model.add(se.Revolute("F", third["end"], coupler))
    for rtol, allowed in ((1e-2, 0.1), (1e-8, 1e-6)):
        r = se.dynamics(model, t_end=0.5, rtol=rtol, formulation="partitioning")
        turned = r["rocker.phi"] - r["rocker.phi"][0] - r["crank.phi"] + r["crank.phi"][0]
        assert np.abs(turned).max() < 1e-9
        assert np.ptp(r.energy().total) < allowed * r.energy().kinetic.max()
