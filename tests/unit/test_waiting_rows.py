"""Rows that wait for the end of the steps: the same numbers as those written on the way."""

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.dynamics.repeated_runs import earlier_calls
from simengine2d.numerics.kernel import JIT
from simengine2d.numerics.rotation import FAR

pytestmark = pytest.mark.skipif(not JIT, reason="without numba nothing is computed side by side")


def pendulum(angle):
    m = se.Model(gravity=(0.0, -9.81))
    arm = [0.5 * np.cos(angle), 0.5 * np.sin(angle)]
    rod = m.body("rod", mass=1.0, inertia=0.1, at=arm, angle=angle, angular_velocity=3.0)
    m.add(se.Revolute("pin", m.ground, rod.at(-0.5, 0.0)))
    return m


def driven():
    m = builders.four_bar(1.0, 2.5, 2.0, 2.2)
    m.add(se.Torque("motor", m.bodies["crank"], "3*sin(5*t)"))
    return m


MODELS = {
    "chain": lambda: builders.chain(5),
    "four-bar": lambda: builders.four_bar(1.0, 2.5, 2.0, 2.2),
    "driven": driven,
    "one body": lambda: pendulum(0.4),
}


def waits(system):
    runs = [run for each in earlier_calls(system).waiting.values() for run in each]
    return any(getattr(run.prepared, "waiting", None) is not None for run in runs)


def same(first, again):
    names = ("t", "q", "qd", "qdd", "lam")
    return first.statistics == again.statistics and all(
        np.array_equal(getattr(first, name), getattr(again, name)) for name in names
    )


def repeated(model, **asked):
    """Whether rows waited, and whether that changed a bit."""
    system = se.System(model)
    first, *others = [se.dynamics(system, **asked) for _ in range(3)]
    return waits(system), all(same(first, other) for other in others)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rtol", [1e-1, 1e-4, 1e-8])
def test_outputs_that_follow_the_steps(name, rtol):
    assert repeated(MODELS[name](), t_end=1.5, rtol=rtol) == (True, True)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [2, 3, 23, 400])
def test_outputs_at_given_times(name, count):
    assert repeated(MODELS[name](), t_eval=np.linspace(0.0, 1.2, count)) == (True, True)


def test_outputs_close_to_each_other_and_at_the_ends_of_steps():
    model = MODELS["four-bar"]
    ends = se.dynamics(model(), t_end=1.0, rtol=1e-3, max_step=0.05).t
    times = np.unique(np.concatenate([ends, ends[:-1] + 1e-9, [0.2, 0.2 + 1e-12, 0.25]]))
    assert repeated(model(), t_eval=times, rtol=1e-3, max_step=0.05) == (True, True)


def test_more_steps_than_are_stored():
    asked = {"t_eval": np.linspace(0.0, 2.0, 50), "rtol": 1e-6, "max_step": 0.004}
    assert repeated(MODELS["four-bar"](), **asked) == (False, True)


def test_states_that_are_not_computed_side_by_side():
    """Turns that cannot be counted in quarters: lanes refuse."""
    assert repeated(pendulum(1.5 * FAR), t_eval=np.linspace(0.0, 1.0, 30))[1]
