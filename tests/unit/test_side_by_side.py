"""Outputs that are computed side by side have the numbers that each has alone, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.analyses.dynamics.new_run import new_run, options_from, options_of
from simengine2d.analyses.dynamics.ode_stepper import OdeStepper
from simengine2d.analyses.dynamics.run import Run
from simengine2d.coordinates.equations import UP_TO
from simengine2d.coordinates.ode_problem import Recoverer
from simengine2d.numerics.arrays import Floats


def pendulums(number: int, *, branch: bool = False) -> se.Model:
    """Rods one below the other, from the side; with a `branch`, another one on the first of them."""
    m = se.Model("pendulums")
    before = m.ground
    for i in range(number):
        rod = m.body(f"rod{i}", mass=1.0 + 0.1 * i, inertia=0.05, at=(0.5 + i, 0.0))
        m.add(se.Revolute(f"pin{i}", before.at(0.5 if i else 0.0, 0.0), rod.at(-0.5, 0.0)))
        before = rod
    if branch:
        side = m.body("side", mass=0.7, inertia=0.02, at=(1.0, -0.5), angle=-np.pi / 2)
        m.add(se.Revolute("pin of side", m["rod0"].at(0.5, 0.0), side.at(-0.5, 0.0)))
    return m


def slider() -> se.Model:
    """A pendulum on a cart, and a stone that flies."""
    m = se.Model("cart")
    cart = m.body("cart", mass=2.0, inertia=0.1, at=(0.0, 0.0), velocity=(0.3, 0.0))
    rod = m.body("rod", mass=1.0, inertia=0.05, at=(0.5, 0.0))
    m.body("stone", mass=0.4, inertia=0.01, at=(3.0, 1.0), angular_velocity=2.0)
    m.add(se.Translational("rail", m.ground, cart, direction=(1.0, 0.2)))
    m.add(se.Revolute("pin", cart, rod.at(-0.5, 0.0)))
    return m


def four_bar(*, sprung: bool = False) -> se.Model:
    """A crank, a coupler and a rocker; with a spring and a motor if `sprung`."""
    m = se.Model("four-bar")
    crank = m.body("crank", mass=1.0, inertia=0.05, at=(0.0, 0.5), angle=np.pi / 2, angular_velocity=6.0)
    coupler = m.body("coupler", mass=2.0, inertia=0.6, at=(1.0, 1.5), angle=np.pi / 4)
    rocker = m.body("rocker", mass=1.5, inertia=0.4, at=(2.0, 1.0), angle=np.pi / 2)
    m.add(se.Revolute("A", m.ground, crank.at(-0.5, 0.0)))
    m.add(se.Revolute("B", crank, coupler, at=(0.0, 1.0)))
    m.add(se.Revolute("C", coupler, rocker, at=(2.0, 2.0)))
    m.add(se.Revolute("D", m.ground, rocker, at=(2.0, 0.0)))
    if sprung:
        span = se.distance(m.ground.at(0.0, 2.0), coupler)
        m.add(se.Spring("spring", span, stiffness=30.0, free=0.5, damping=0.3))
        m.add(se.Torque("motor", crank, "3 * sin(7 * t)"))
    return m


def slider_crank() -> se.Model:
    m = se.Model("slider-crank")
    crank = m.body("crank", mass=1.0, inertia=0.05, at=(0.5, 0.0), angular_velocity=5.0)
    rod = m.body("rod", mass=1.5, inertia=0.4, at=(2.0, 0.0))
    piston = m.body("piston", mass=2.0, inertia=0.1, at=(3.0, 0.0))
    m.add(se.Revolute("A", m.ground, crank, at=(0.0, 0.0)))
    m.add(se.Revolute("B", crank, rod, at=(1.0, 0.0)))
    m.add(se.Revolute("C", rod, piston, at=(3.0, 0.0)))
    m.add(se.Translational("guide", m.ground, piston, direction=(1.0, 0.0)))
    return m


MODELS = {
    "four-bar": four_bar,
    "sprung": lambda: four_bar(sprung=True),
    "slider-crank": slider_crank,
    "one": lambda: pendulums(1),
    "two": lambda: pendulums(2),
    "nine": lambda: pendulums(9),
    "branch": lambda: pendulums(4, branch=True),
    "slider": slider,
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [3, 8, 21])
def test_outputs_side_by_side_are_those_one_by_one(name: str, count: int) -> None:
    times = np.linspace(0.0, 1.0, count + 1)[1:]
    asked = {"t_end": None, "step": None, "t_eval": times, "rtol": 1e-4, "atol": None, "max_step": None}
    compare_both(new_run(options_from(se.System(MODELS[name]()), asked)), times)


def test_a_formulation_that_does_not_project_has_outputs_side_by_side_too() -> None:
    times = np.linspace(0.0, 0.5, 12)[1:]
    methods = "dop853", "augmented(alpha=0, beta=0)", "relative"
    options = options_of(four_bar(sprung=True), times, None, *methods, 1e-4, None, (), None, None)
    compare_both(new_run(options), times)


def compare_both(run: Run, times: Floats) -> None:
    run.to_the_end(None)
    stepper, system, count = run.stepper, run.system, times.size
    assert isinstance(stepper, OdeStepper)
    problem, family, monitors = stepper.problem, stepper.family, stepper.monitors
    problem.several.want()
    pointers = problem.finish, problem.rhs, problem.bodies or family.to_bodies, stepper.lam
    alone = Recoverer(pointers, (family.n, system.n, system.m), problem.monitors, family.turns)
    answers = []
    for recovered in (stepper.recovered, alone):
        monitors.errors[:] = monitors.lost[:] = monitors.changed[:] = 0.0
        motion = recovered(times, stepper.Y[-count:])
        answers.append([*motion, *(monitor.copy() for monitor in monitors)])
    assert problem.several.told[UP_TO] == count
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)
