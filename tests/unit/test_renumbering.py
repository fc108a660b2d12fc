"""Runs take over what runs of other models have prepared, with their own numbers: nothing of the others is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d import builders
from simengine2d.analyses.dynamics import idle_families
from simengine2d.coordinates.relative.relative import Relative
from simengine2d.model import library
from simengine2d.numerics.patterns import patterns
from simengine2d.system import evaluation
from simengine2d.system.geometry import geometries
from simengine2d.system.renumbering import OwnSystem


@pytest.fixture(autouse=True)
def nothing_left():
    forget()
    yield
    forget()


def forget() -> None:
    """As in a new process."""
    patterns.clear()
    geometries.clear()
    idle_families.shared.waiting.clear()
    evaluation.idle.waiting.clear()


@pytest.fixture
def renumbered(monkeypatch) -> list[bool]:
    """Whether coordinates could take the numbers of another model, each time that they were asked."""
    answers: list[bool] = []
    take = Relative.take_numbers

    def taken(self, system, q):
        other = self.system.source is not system
        answers.extend([take(self, system, q)] if other else [])
        return answers[-1] if other else take(self, system, q)

    monkeypatch.setattr(Relative, "take_numbers", taken)
    return answers


def outcome(model: se.Model, **options: Any) -> Any:
    """Everything that a run says, to the last bit."""
    try:
        r = se.dynamics(model, **{"t_end": 0.1, **options})
    except se.SimEngineError as error:
        return str(error)
    arrays = [array.tobytes() for array in (r.t, r.q, r.qd, r.qdd, r.lam)]
    return arrays, r.notes, r.residuals, r.method, r.statistics


def outcome_in_a_new_process(model: se.Model, **options: Any) -> Any:
    forget()
    return outcome(model, **options)


def shipped(name: str, k: int) -> se.Model:
    """A shipped mechanism with other masses, weight and parameters."""
    with library.file(name) as path:
        m = se.load(path)
    for body in m.bodies.values():
        if isinstance(body.mass, float | int) and isinstance(body.inertia, float | int):
            body.mass, body.inertia = body.mass * (1 + 0.01 * k), body.inertia * (1 + 0.02 * k)
    if all(isinstance(g, float | int) for g in m.gravity):
        m.gravity = (m.gravity[0], m.gravity[1] * (1 + 0.03 * k))
    numbers = {key: v * (1 + 1e-3 * k) for key, v in m.parameters.items() if isinstance(v, float)}
    m.parameters.update(numbers)
    return m


def sprung(k: int) -> se.Model:
    """A slider-crank with a spring, a law of time, a force and a torque, of other lengths."""
    m = builders.slider_crank(0.3 + 0.01 * k, 1.0 + 0.02 * k)
    bodies = list(m.bodies.values())
    for i, body in enumerate(bodies):
        body.mass, body.inertia = 1.0 + 0.1 * k + i, 0.1 + 0.01 * k
    m.add(se.Spring("spring", se.distance(m.ground, bodies[-1]), stiffness=20.0 + k, free=0.5, damping=0.1))
    m.add(se.Torque("motor", bodies[0], f"{1.5 + k}*sin(3*t) - 0.1*phid"))
    m.add(se.Torque("steady", bodies[0], f"{0.5 + 0.1 * k}*cos(t)"))
    return m


def pendulum(k: int) -> se.Model:
    m = builders.chain(3, angle=0.1 * k + 0.1)
    m.add(se.Driver("d", se.angle(m.ground, next(iter(m.bodies.values()))), f"{0.1 * k + 0.1} + 0.37*t^3"))
    return m


MODELS: dict[str, Callable[[int], se.Model]] = {
    "sprung slider-crank": sprung,
    "driven chain": pendulum,
    **{
        name: lambda k, name=name: shipped(name, k)
        for name in ("four_bar", "slider_crank", "trebuchet", "v_twin", "toggle_press")
    },
}


@pytest.mark.parametrize(
    "name", slow_among(MODELS, "four_bar", "slider_crank", "trebuchet", "v_twin", "toggle_press")
)
def test_models_in_turn_have_the_bytes_of_a_new_process(name, renumbered):
    numbers = (0, 1, 2, 1, 0, 3)
    in_turn = [outcome(MODELS[name](k)) for k in numbers]
    assert renumbered and all(renumbered)
    alone = {k: outcome_in_a_new_process(MODELS[name](k)) for k in set(numbers)}
    assert in_turn == [alone[k] for k in numbers]


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_shipped_mechanisms_in_turn_have_the_bytes_of_a_new_process(name):
    numbers = (0, 1, 2, 0)
    for options in ({}, {"integrator": "tsitouras5"}, {"integrator": "rk4", "step": 0.01}):
        in_turn = [outcome(shipped(name, k), **options) for k in numbers]
        alone = {k: outcome_in_a_new_process(shipped(name, k), **options) for k in set(numbers)}
        assert in_turn == [alone[k] for k in numbers]


def pins(apart: float) -> se.Model:
    """A bar on two pins at the same point, or at two points."""
    m = se.Model("bar")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Driver("also x", se.x(m.ground, bar.at(-0.5 + apart, 0.0)), 0.0))
    return m


def test_what_differs_in_more_than_numbers_is_built_anew(renumbered):
    """Masses may be very unequal, rows may hold anyway, and a table may end: the same patterns, other runs."""

    def cranks(mass: float) -> se.Model:
        m = builders.four_bar(1, 2, 3, 3)
        for body in m.bodies.values():
            body.mass, body.inertia = 1.0, 0.2
        next(iter(m.bodies.values())).mass = mass
        return m

    masses = (1.0, 1e9, 2.0, 0.0, 1.0)
    in_turn = [outcome(cranks(mass)) for mass in masses]
    assert True in renumbered
    alone = {mass: outcome_in_a_new_process(cranks(mass)) for mass in set(masses)}
    assert in_turn == [alone[mass] for mass in masses]
    in_turn = [outcome(pins(apart)) for apart in (0.0, 0.1, 0.0)]
    alone = {apart: outcome_in_a_new_process(pins(apart)) for apart in (0.0, 0.1)}
    assert in_turn == [alone[apart] for apart in (0.0, 0.1, 0.0)]


def test_results_and_systems_are_not_touched_by_later_runs():
    system = se.System(sprung(1))
    arrays = [a.copy() for a in system.arrays if isinstance(a, np.ndarray)]
    first = se.dynamics(system, t_end=0.1)
    kept, reactions = (
        [a.copy() for a in (first.q, first.lam)],
        first.reaction("B") if "B" in first.model.joints else 0,
    )
    for k in (2, 3):
        se.dynamics(sprung(k), t_end=0.1)
    assert all(map(np.array_equal, kept, (first.q, first.lam)))
    assert reactions is not None
    given = [a for a in system.arrays if isinstance(a, np.ndarray)]
    assert all(map(np.array_equal, arrays, given)) and not any(a.flags.writeable for a in given)
    again = se.dynamics(system, t_end=0.1)
    assert again.q.tobytes() == first.q.tobytes() and again.lam.tobytes() == first.lam.tobytes()


def test_a_system_that_runs_again_keeps_what_it_has_prepared(renumbered):
    system = se.System(sprung(0))
    for k in range(3):
        se.dynamics(system, t_end=0.05)
        se.dynamics(sprung(k), t_end=0.05)
    taken = len(renumbered)
    se.dynamics(system, t_end=0.05)
    assert len(renumbered) == taken


@pytest.mark.slow
def test_what_is_left_is_bounded():
    for links in range(1, 25):
        se.dynamics(builders.chain(links), t_end=1e-3)
    assert sum(map(len, idle_families.shared.waiting.values())) <= 16


@pytest.mark.slow
def test_runs_in_threads_have_families_of_their_own():
    alone = [outcome(sprung(k)) for k in range(4)]
    together: list[Any] = [None] * 16

    def work(first: int) -> None:
        for k in range(first, 16, 4):
            together[k] = outcome(sprung(k % 4))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone * 4


def test_a_system_of_its_own_takes_numbers_and_refuses_other_structures():
    one, other, longer = (
        se.System(m) for m in (builders.chain(2), builders.chain(2, angle=0.4), builders.chain(3))
    )
    own, q = OwnSystem(one), other.drawn_q
    rows = own.evaluated(0.0, one.drawn_q)
    assert rows.Phi.tobytes() == one.Phi(0.0, one.drawn_q).tobytes()
    assert own.take_numbers(other)
    assert own.evaluated(0.1, q, q).gamma.tobytes() == other.evaluated(0.1, q, q).gamma.tobytes()
    assert own.length == other.length and own.bodies is other.bodies
    assert not own.take_numbers(longer)


@pytest.mark.slow
def test_what_many_runs_have_prepared_is_not_kept_for_ever(monkeypatch):
    """Each run through a singular pose, or of another kind, leaves more that follows the numbers."""
    monkeypatch.setattr(idle_families, "MOST_WRITERS", 30)
    system = se.System(sprung(0))
    for k in range(12):
        se.dynamics(system, t_end=0.01, max_step=0.01 + 0.001 * k)
        se.dynamics(sprung(k), t_end=0.01, max_step=0.01 + 0.001 * k)
    left = [*system.idle.waiting.values(), *idle_families.shared.waiting.values()]
    families = [family for waiting in left for family in waiting if isinstance(family, Relative)]
    assert families and all(len(family.system.writers) <= 30 for family in families)


@pytest.mark.slow
def test_singular_poses_are_passed_as_in_a_new_process():
    def ladder(k: int) -> se.Model:
        m = builders.four_bar_ladder(1, speed=1.0 + 0.01 * k)
        for body in m.bodies.values():
            body.mass, body.inertia = 1.0 + 0.1 * k, 0.1
        return m

    numbers = (0, 1, 2, 0)
    in_turn = [outcome(ladder(k), t_end=4.0) for k in numbers]
    alone = {k: outcome_in_a_new_process(ladder(k), t_end=4.0) for k in set(numbers)}
    assert in_turn == [alone[k] for k in numbers]
