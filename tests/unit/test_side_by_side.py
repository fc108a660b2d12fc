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
from simengine2d.coordinates.relative.side_by_side import several_outputs
from simengine2d.numerics import kernel_pointer as kernel_pointers
from simengine2d.numerics.arrays import Floats
from simengine2d.numerics.kernel import JIT, kernel
from simengine2d.numerics.lanes import LANES, lanes_in
from simengine2d.system.kkt_refinement import larger_share


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


# Numba -------------------------------------------------------------------------------------------------


@kernel(entry=True)
def shares(lanes, numbers):
    """A kernel for lanes, and then the same for numbers."""
    table = lanes_in(lanes)
    table[0] = larger_share(table[0], table[1], table[2])
    numbers[0] = larger_share(numbers[0], numbers[1], 4.0)


def test_numbers_go_to_kernels_for_numbers_whichever_was_compiled_first() -> None:
    lanes, numbers = np.full((3, LANES), 2.0), np.array([0.5, 3.0])
    shares(lanes, numbers)
    assert lanes[0].tolist() == [2.0] * LANES
    assert numbers.tolist() == [0.75, 3.0]


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_where_numba_cannot_compile_lanes_outputs_are_made_one_by_one(monkeypatch) -> None:
    system = se.System(four_bar())
    expected = se.dynamics(system, t_end=0.5)
    monkeypatch.setattr(several_outputs, "refused", True)
    again = [se.dynamics(se.System(system.model), t_end=0.5) for _ in range(2)]
    other = se.System(system.model)
    once, twice = (se.dynamics(other, t_end=0.5) for _ in range(2))
    for results in (*again, once, twice):
        for name in ("t", "q", "qd", "qdd", "lam"):
            assert getattr(results, name).tobytes() == getattr(expected, name).tobytes()


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_kernel_that_cannot_be_compiled_is_refused_once(monkeypatch) -> None:
    tried: list[int] = []

    def fail(parts) -> None:
        tried.append(len(parts))
        raise TypeError("no such type")

    monkeypatch.setattr(kernel_pointers, "build_together", fail)
    pointer = kernel_pointers.rare_kernel_pointer(lambda c, t, y, out: None)
    pointer.bind(np.zeros(1))
    assert [kernel_pointers.compiled_together([pointer]) for _ in range(3)] == [False] * 3
    assert tried == [1]


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
