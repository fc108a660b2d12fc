"""A run and its stepper: one base that is abstract where its kinds differ, and one stepper after another."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.dynamics.dae_stepper import DaeStepper
from simengine2d.analyses.dynamics.ode_stepper import OdeStepper
from simengine2d.analyses.dynamics.stepper import DynamicsStepper


@pytest.mark.parametrize("kind", [OdeStepper, DaeStepper])
def test_a_kind_of_stepper_overrides_nothing_that_does_something(kind):
    base = {
        name: part
        for name, part in vars(DynamicsStepper).items()
        if callable(part) or isinstance(part, property)
    }
    again = {name for name in vars(kind) if name in base and name not in ("__init__", "__doc__")}
    assert again == DynamicsStepper.__abstractmethods__


def stiff_pendulum(**torque):
    model = se.Model()
    a, b = model.bar("a", (0, 0), (1, 0), mass=1), model.bar("b", (1, 0), (2, 0.3), mass=1)
    model.add(se.Revolute("O", model.ground, a["start"]))
    model.add(se.Revolute("A", a["end"], b["start"]))
    model.add(se.Spring("s", se.angle(a, b), stiffness=1e6, damping=1e5, free=0.25))
    if torque:
        model.add(se.Torque("motor", a, **torque))
    return model


@pytest.mark.slow
def test_a_stiff_run_that_fails_tells_of_both_of_its_steppers():
    with pytest.raises(se.SimEngineError) as caught:
        se.dynamics(stiff_pendulum(value="sqrt(0.3 - t)"), t_end=1, step=0.01)
    results = caught.value.results
    assert any("dop853" in note for note in results.notes) and any(
        "Radau IIA of order 9" in note for note in results.notes
    )
    assert results.statistics["steps"] > 0 and results.statistics["implicit steps"] > 0
    assert results.settings["formulation"]["name"] == "projection"
    assert results.t[-1] == pytest.approx(0.3, abs=0.011)


@pytest.mark.slow
def test_a_simulator_does_not_use_what_a_run_has_left():
    system = se.System(stiff_pendulum())
    se.dynamics(system, t_end=0.01)
    after, alone = se.Simulator(system), se.Simulator(stiff_pendulum())
    for simulator in (after, alone):
        simulator.advance_to(2e-3)  # further than a run goes before it gives up explicit steps
    assert np.array_equal(after.q, alone.q) and after.statistics == alone.statistics


@pytest.mark.slow
def test_a_method_that_cannot_be_taken_back_ends_before_a_singular_pose_in_a_sentence():
    model = builders.four_bar(1, 2, 1, 2, crank_angle=1.0, gravity=(0, 0))
    model.bodies["crank"].angular_velocity = 5.0
    with pytest.raises(se.ConvergenceError, match="Look for a singular pose") as caught:
        se.dynamics(model, t_end=1, rtol=1e-9, integrator="adams_variable")
    assert np.allclose(caught.value.results["crank.phi"], 1.0 + 5.0 * caught.value.results.t, atol=1e-6)
