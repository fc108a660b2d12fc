"""The arrays of a System are constant: no analysis writes them, so that any number of threads may read them at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from mechanisms import pendulum
from simengine2d.model import library
from simengine2d.numerics.arrays import constant
from simengine2d.numerics.kernel import kernel
from simengine2d.system.elimination import elimination_program

# Models -----------------------------------------------------------------------------------------------


def shipped(name: str) -> Callable[[], se.Model]:
    def load() -> se.Model:
        with library.file(name) as path:
            return se.load(path)

    return load


def law(s: float, sd: float, t: float) -> float:
    return 30.0 * (s - 1.0) + 0.5 * sd


def drag(t: float, q: Any, qd: Any) -> float:
    return -0.3 * float(qd[2])


def swing(t: float) -> Any:
    return 0.2 * t * t


def cam() -> se.Model:
    """An eccentric that lifts a roller on a spring."""
    m = se.Model("cam", gravity=(0, -9.81))
    wheel = m.body("wheel", mass=2, inertia=0.01, angular_velocity=3)
    follower = m.body("follower", mass=0.5, inertia=0.01, at=(0.01, 0.07))
    m.add(se.Revolute("O", m.ground, wheel))
    m.add(se.Translational("guide", m.ground, follower, at=(0.01, 0.07), direction=(0, 1)))
    m.add(
        se.Cam(
            "contact",
            wheel,
            follower,
            se.Curve(x="0.05*cos(s) + 0.01", y="0.05*sin(s)"),
            follower="roller",
            radius=0.02,
        )
    )
    m.add(se.Spring("k", se.y(m.ground, follower), stiffness=200, free=0.1))
    return m


TIMES, LIFTS = [0, 0.25, 0.5, 1], [0, 0.1, 0.15, 0.3]
SPECIAL: dict[str, Callable[[], se.Model]] = {
    "python law": lambda: pendulum(se.Spring("k", "distance(a.start, b.end)", law=law)),
    "python body law": lambda: pendulum(se.Torque("d", "b", law=drag)),
    "expression law": lambda: pendulum(
        se.Spring("k", "distance(a.start, b.end)", law="30*(s-1)+sin(3*t)+0.1*sd^3")
    ),
    "table law": lambda: pendulum(
        se.Spring(
            "k", "distance(a.start, b.end)", law=se.Table(of="s", points=[0, 1, 2, 3], values=[-5, 0, 9, 30])
        )
    ),
    "force formula": lambda: pendulum(se.Force("F", along={"b.phi": "-b.phid*(1 + a.phi^2) + sin(3*t)"})),
    "potential": lambda: pendulum(se.Force("V", potential="5*(b.phi - a.phi)^2")),
    "position formula": lambda: pendulum(se.Constraint("c", "b.phi - a.phi*(1 + 0.2*sin(a.phi)) + 0.1*t")),
    "velocity formula": lambda: pendulum(se.Constraint("c", "b.phid - a.phid*(1 + 0.2*cos(a.phi))")),
    "driver": lambda: pendulum(se.Driver("d", "angle(ground, a)", "sin(t)")),
    "table driver": lambda: pendulum(se.Driver("d", "angle(ground, a)", se.Table(times=TIMES, values=LIFTS))),
    "python driver": lambda: pendulum(se.Driver("d", "angle(ground, a)", swing)),
    "cam": cam,
}
RESTLESS = ("roberval_balance", "shaft_governor")
"""They have no equilibrium, and it takes long to find that out."""
MODELS = {name: shipped(name) for name in library.names() if name not in RESTLESS} | SPECIAL
THREADED = [
    "python law",
    "table law",
    "force formula",
    "position formula",
    "velocity formula",
    "python driver",
    "cam",
    "four_bar",
]
OPTIONS = [{}, {"coordinates": "relative"}, {"integrator": "newmark", "step": 0.002}]


# Arrays -----------------------------------------------------------------------------------------------


def arrays_in(thing: Any, path: str) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of nested tuples, with the way to each."""
    if isinstance(thing, np.ndarray):
        yield path, thing
    elif isinstance(thing, tuple):
        for name, part in zip(getattr(thing, "_fields", range(len(thing))), thing, strict=True):
            yield from arrays_in(part, f"{path}.{name}")


def constant_arrays(system: se.System) -> dict[str, np.ndarray]:
    programs = [
        elimination_program(system, redundant, tangent)
        for redundant in (False, True)
        for tangent in (False, True)
    ]
    return dict(arrays_in((system.arrays, system.load_arrays, *programs), "system"))


def attempt(act: Callable[[], Any]) -> None:
    """Some analyses do not suit some models; they must leave the arrays alone all the same."""
    try:
        act()
    except se.SimEngineError:
        pass


def analyze(system: se.System) -> None:
    model, q = system.model, system.drawn_q
    for look in (system.Phi, system.Phi_q, system.nu):
        look(0.1, q)
    system.gamma(0.1, q, 0.3 * q)
    attempt(lambda: system.QA(0.1, q, 0.3 * q))
    for options in [*OPTIONS, {"coordinates": "natural"}, {"formulation": "index3"}]:
        attempt(lambda options=options: forces_of(se.dynamics(system, t_end=0.02, **options)))
    attempt(lambda: se.Simulator(system).advance_to(0.01))
    attempt(lambda: se.formulate(system, "mixed").at())
    attempt(lambda: se.assemble(system))
    attempt(lambda: se.kinematics(model, t_end=0.02))
    attempt(lambda: se.equilibrium(model))
    attempt(lambda: se.linearize(model))


def forces_of(results: se.Results) -> None:
    for element in results.model.elements:
        results.reaction(element)
    str(results.verdict)
    attempt(results.energy)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_no_analysis_writes_the_arrays(name):
    system = se.System(MODELS[name]())
    arrays = constant_arrays(system)
    before = {path: array.tobytes() for path, array in arrays.items()}
    assert [path for path, array in arrays.items() if array.flags.writeable] == []
    analyze(system)
    after = constant_arrays(system)
    assert [path for path in arrays if after[path] is not arrays[path]] == []
    assert [path for path in arrays if arrays[path].tobytes() != before[path]] == []


@pytest.mark.parametrize("name", SPECIAL)
def test_numpy_refuses_to_write_them(name):
    system = se.System(MODELS[name]())
    for array in constant_arrays(system).values():
        if array.size:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        constant((np.zeros(1), (np.zeros(2),)))[1][0][1] = 1.0


@kernel(entry=True)
def overwrite(S):
    S.mass[0] = 2.0


@pytest.mark.slow
def test_no_kernel_that_writes_them_is_compiled():
    system = se.System(MODELS["driver"]())
    with pytest.raises(Exception, match=r"read-?only"):
        overwrite(system.arrays)
    assert system.arrays.mass[0] == 1.0


@pytest.mark.parametrize("name", ["cam", "position formula", "force formula"])
def test_what_is_evaluated_does_not_depend_on_what_was_evaluated_before(name):
    system, rng = se.System(MODELS[name]()), np.random.default_rng(1)
    states = [system.drawn_q + 0.01 * rng.standard_normal(system.n) for _ in range(4)]
    look = lambda q: (
        system.Phi(0.1, q).tobytes(),
        system.gamma(0.1, q, q).tobytes(),
        system.QA(0.1, q, q).tobytes(),
    )
    want = [look(q) for q in states]
    assert [look(q) for q in reversed(states)] == want[::-1]
    other = se.System(MODELS[name]())
    assert [other.Phi(0.1, q).tobytes() for q in states] == [Phi for Phi, _, _ in want]


# Threads ----------------------------------------------------------------------------------------------


def at_once(count: int, act: Callable[[], Any]) -> list[Any]:
    """What `count` threads find that begin together."""
    found: list[Any] = [None] * count
    gate = threading.Barrier(count)

    def work(i: int) -> None:
        gate.wait()
        found[i] = act()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return found


def motion(system: se.System, options: dict[str, Any]) -> tuple[bytes, ...]:
    r = se.dynamics(system, t_end=0.1, **options)
    return r.q.tobytes(), r.qd.tobytes(), r.qdd.tobytes(), r.lam.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 8])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", THREADED)
def test_threads_on_one_system_find_the_bytes_of_one_alone(name, options, count):
    want = motion(se.System(MODELS[name]()), options)
    system = se.System(MODELS[name]())
    assert at_once(count, lambda: [motion(system, options) for _ in range(2)]) == [[want, want]] * count


@pytest.mark.slow
def test_different_runs_at_once_do_not_disturb_each_other():
    want = [motion(se.System(MODELS["cam"]()), options) for options in OPTIONS]
    system = se.System(MODELS["cam"]())
    for found in at_once(4, lambda: [motion(system, options) for options in OPTIONS]):
        assert found == want


def test_what_a_law_raises_is_told_in_its_own_thread():
    def fails(s, sd, t):
        if threading.current_thread().name == "fails":
            raise ValueError("no value here")
        return s

    system, told = se.System(pendulum(se.Spring("k", "distance(a.start, b.end)", law=fails))), []

    def work():
        try:
            se.dynamics(system, t_end=0.01)
        except se.SimEngineError as error:
            told.append(str(error))

    thread = threading.Thread(target=work, name="fails")
    thread.start()
    thread.join()
    assert "no value here" in told[0]
    assert system.raised() is None
    assert se.dynamics(system, t_end=0.01).t[-1] == 0.01


def test_what_a_system_knows_of_bodies_and_rows_is_constant():
    system = se.System(pendulum())
    for array in (system.masses, system.drawn_q, system.driver_rows, system.velocity_rows):
        assert not array.flags.writeable
    assert not system.drawn_at(system.drawn_q + 1.0).drawn_q.flags.writeable
