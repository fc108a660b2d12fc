"""Radau IIA with error control, which takes over stiff motions."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.coordinates.reference_point.reference_point import ReferencePoint
from simengine2d.integrators import loop_state
from simengine2d.integrators.radau import radau_integration

ROWS = "q", "qd", "qdd", "lam"


def rod_pendulum(stiffness=1e8):
    """A bob of 1 kg on an elastic rod of 1 m; its vibrations are damped by half of the critical damping."""
    model = se.Model(gravity=(0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=0.1, at=(1, 0))
    rod = se.distance(model.ground.at(0, 0), bob)
    model.add(se.Spring("rod", rod, stiffness=stiffness, free=1.0, damping=np.sqrt(stiffness)))
    return model


def same_bits(one, other):
    for name in ROWS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def speed_after(height):
    """Of a bob that has fallen so far."""
    return np.sqrt(2 * 9.81 * height)


def test_a_stiff_rod_costs_no_more_steps_than_a_soft_one():
    """Newton's iteration converges as fast whatever the stiffness, since the force of the rod is an unknown."""
    steps = []
    for stiffness in (1e6, 1e8, 1e10):
        r = se.dynamics(rod_pendulum(stiffness), t_eval=[0, 1.0], rtol=1e-4)
        steps.append(r.statistics["implicit steps"])
        y, speed = r["bob.y"][-1], np.hypot(r["bob.xd"][-1], r["bob.yd"][-1])
        assert speed == pytest.approx(speed_after(-y), rel=1e-3)
    assert (
        max(steps) < 3 * min(steps) < 300
    )  # explicit ones, or those of a plain iteration, 100 times as many


def test_the_force_of_a_stiff_rod_is_right_at_every_output():
    """To a thousandth: 3e-10 m of its length. Interpolated positions would stretch it by their error, 1e-5 m."""
    model = rod_pendulum()
    r = se.dynamics(model, t_eval=np.linspace(0, 1, 201), rtol=1e-5)
    x, y, xd, yd = (r[f"bob.{name}"] for name in ("x", "y", "xd", "yd"))
    length = np.hypot(x, y)
    speed2 = xd**2 + yd**2
    tension = speed2 / length - 9.81 * y / length
    force = 1e8 * (length - 1.0) + 1e4 * (x * xd + y * yd) / length
    later = r.t > 0.05  # its vibrations have decayed
    np.testing.assert_allclose(force[later], tension[later], atol=0.03)


def test_steps_do_not_depend_on_outputs():
    model = rod_pendulum()
    times = np.linspace(0, 1, 101)
    dense, coarse = (se.dynamics(model, t_eval=times[::every], rtol=1e-4) for every in (1, 10))
    for name in ("steps", "implicit steps"):
        assert dense.statistics[name] == coarse.statistics[name]
    for name in ROWS:
        np.testing.assert_array_equal(getattr(dense, name)[::10], getattr(coarse, name))


def test_a_stepper_that_an_earlier_run_has_left_gives_the_same_bits():
    model = rod_pendulum()
    system, options = se.System(model), {"t_eval": np.linspace(0, 1, 11)}
    first = se.dynamics(system, rtol=1e-4, **options)
    se.dynamics(system, rtol=1e-6, t_eval=[0, 0.7])
    again = se.dynamics(system, rtol=1e-4, **options)
    same_bits(first, again)
    same_bits(first, se.dynamics(se.System(model), rtol=1e-4, **options))
    assert first.notes == again.notes and first.statistics == again.statistics


def test_an_event_inside_a_long_step():
    model = rod_pendulum()
    r = se.dynamics(model, t_end=2.0, rtol=1e-6, events=[se.Event("bob.x", stop=True)])
    assert abs(r["bob.x"][-1]) < 1e-6
    assert r["bob.xd"][-1] == pytest.approx(-speed_after(1.0), rel=1e-6)


def test_a_simulator_takes_the_same_steps():
    model = rod_pendulum()
    simulator = se.Simulator(model, rtol=1e-5)
    for t in (0.2, 0.4, 0.6):
        simulator.advance_to(t)
    r = se.dynamics(model, t_eval=[0, 0.2, 0.4, 0.6], rtol=1e-5)
    np.testing.assert_allclose(simulator.q, r.q[-1], atol=1e-5)


def end_after(steps, stages, span=0.3):
    """Of so many equal steps, of a pendulum on a soft spring."""
    system = se.System(rod_pendulum(50.0))
    y0 = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    family = ReferencePoint(system, y0[:3])
    pointers = {"limit": np.inf, "longest": None, "broken": None, "watch": None, "alarm": None}
    run = radau_integration(
        family, 0.0, y0, 1e-11, np.full(6, 1e-11), stages=stages, **pointers, redundant=False, implied=()
    )
    state, path = run.path.state, run.path
    state[loop_state.TRIED] = span / steps
    for k in range(steps):
        state[loop_state.CONVERGED] = 1.0
        run.attempt(k * span / steps, state, path.new)
        assert state[loop_state.CONVERGED] == 1.0
        path.y[:] = path.new
        state[loop_state.STEPS] += 1.0
    return path.y[:2].copy()


@pytest.mark.parametrize(("stages", "steps"), [(3, (4, 8, 16)), (5, (4, 5, 6))])
def test_the_order_is_2s_minus_1(stages, steps):
    want = end_after(64, stages)
    errors = [np.abs(end_after(count, stages) - want).max() for count in steps]
    orders = -np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert (orders > 2 * stages - 1.3).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["radau_adaptive", "bdf_variable"])
def test_scipys_implicit_methods_reach_the_end(name):
    """Nothing depends on the angle of the bob: differences in its direction must not grow without bound."""
    model = rod_pendulum()
    r = se.dynamics(model, t_eval=[0, 2.0], rtol=1e-4, integrator=name)
    want = se.dynamics(model, t_eval=[0, 2.0], rtol=1e-7)
    np.testing.assert_allclose(r.q[-1], want.q[-1], atol=2e-3)
