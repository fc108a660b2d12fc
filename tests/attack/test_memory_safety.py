"""No use of the engine ends the interpreter: copies, threads, functions that raise or call back, Ctrl-C, odd arrays.

Uses follow each other at random in a process of its own under a fault handler, on objects that live on from one use to
the next. After each use the motion of a system is compared, bit for bit, with that of one nobody has touched.
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import simengine2d as se
from mechanisms import pendulum
from simengine2d import builders

A_BATCH = 250  # uses of one process


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """A sentence for each process that ended by a signal, and for each use with a wrong or a foreign answer."""
    here = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for batch in range(-(-count // A_BATCH)):
        seed, uses = int(rng.integers(1 << 30)), min(A_BATCH, count - batch * A_BATCH)
        go = [sys.executable, "-X", "faulthandler", __file__, str(seed), str(uses)]
        done = subprocess.run(go, capture_output=True, text=True, env=here, timeout=60 + 4 * uses)
        yield from (line[7:] for line in done.stdout.splitlines() if line.startswith("WRONG: "))
        if done.returncode != 0:
            last = [line for line in done.stdout.splitlines() if line.startswith("use ")][-1:]
            yield f"seed {seed}: ended with {done.returncode} after {last}: {done.stderr[-1500:]}"


@pytest.mark.slow
def test_no_use_ends_the_interpreter_or_changes_a_motion():
    assert list(attack(np.random.default_rng(3), 60)) == []


# The mechanisms -----------------------------------------------------------------------------------------


class Trouble:
    """What the Python functions of the mechanisms do beside their work, once."""

    after = 0
    act: Callable[[], object] | None = None

    @classmethod
    def strike(cls) -> None:
        act, cls.after = cls.act, cls.after - 1
        if act is not None and cls.after <= 0:
            cls.act = None
            act()


def troubled_push(s, sd, t):
    Trouble.strike()
    return 30 * (s - 1) + 0.5 * sd


def troubled_torque(t, q, qd):
    Trouble.strike()
    return 0.5 * np.sin(3 * t) - 0.1 * qd[2]


def turning(t):
    Trouble.strike()
    return np.sin(2 * t)


def expressions() -> se.Model:
    spring = se.Spring("e", "distance(a.start, b.end)", law="30*(s-1)+0.5*sd*abs(sd)+sin(3*t)")
    return pendulum(spring, se.Torque("T", "b", "-0.1*phid"))


def python_laws() -> se.Model:
    spring = se.Spring("k", "distance(a.start, b.end)", law=troubled_push)
    return pendulum(spring, se.Torque("T", "a", law=troubled_torque))


def formulas() -> se.Model:
    return pendulum(se.Force("F", along={"b.phi": "-b.phid + sin(3*t)"}))


def driven() -> se.Model:
    return pendulum(se.Driver("d", "angle(ground, a)", turning))


def plain_linkage() -> se.Model:
    return builders.four_bar(1, 2, 3, 3)


KINDS = [expressions, python_laws, formulas, driven, plain_linkage]
WAYS = [
    {},
    {"integrator": "rk4", "step": 0.01},
    {"integrator": "newmark", "step": 0.01},
    {"coordinates": "relative"},
]
T_END = 0.05


class World:
    """The objects that live on, and the motions of systems that nobody has touched."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.systems = [(kind, se.System(kind())) for kind in KINDS]
        self.want = {(kind, i): run(se.System(kind()), i) for kind in KINDS for i in range(len(WAYS))}
        self.results = [se.dynamics(kind(), t_end=T_END) for kind in KINDS]
        self.simulators = [se.Simulator(kind()) for kind in KINDS]
        self.poses = [se.formulate(kind(), "reference_point") for kind in KINDS]
        self.kept: list[object] = []

    def one(self, things: list) -> object:
        return things[self.rng.integers(len(things))]

    def check(self, kind: Callable[[], se.Model], system: se.System) -> None:
        way = int(self.rng.integers(len(WAYS)))
        assert np.array_equal(run(system, way), self.want[kind, way]), (
            f"{kind.__name__} moves otherwise, {WAYS[way]}"
        )

    def churn(self) -> None:
        """Others take the memory that was given back."""
        if self.rng.random() < 0.3:
            gc.collect()
        self.kept = [self.rng.random(50) for _ in range(2000)]


def run(system: se.System, way: int) -> np.ndarray:
    return se.dynamics(system, t_end=T_END, **WAYS[way]).q


# Uses ---------------------------------------------------------------------------------------------------


def a_run(w: World) -> None:
    w.check(*w.one(w.systems))


def a_copy(w: World) -> None:
    i = int(w.rng.integers(len(w.systems)))
    kind, system = w.systems[i]
    how = w.one(
        [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)), lambda s: se.System(s.model)]
    )
    w.systems[i] = kind, how(system)
    del system
    w.churn()
    w.check(*w.systems[i])


def threads(w: World) -> None:
    kind, system = w.one(w.systems)
    ways = w.rng.integers(len(WAYS), size=4)
    found: list[object] = [None] * len(ways)

    def work(i: int) -> None:
        if i % 2:
            system.QA(0.0, system.drawn_q, system.drawn_q)
        found[i] = run(system, ways[i])

    each = [threading.Thread(target=work, args=(i,)) for i in range(len(ways))]
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    for way, q in zip(ways, found, strict=True):
        assert np.array_equal(q, w.want[kind, int(way)]), f"{kind.__name__} in threads, {WAYS[way]}"


class Planned(Exception):
    """Raised by a user's function."""


def fail() -> None:
    raise Planned("as planned")


def a_function_that_raises(w: World) -> None:
    kind, system = w.one([pair for pair in w.systems if pair[0] in (python_laws, driven)])
    with suppress(se.SimEngineError):
        troubled(w, fail, lambda: run(system, int(w.rng.integers(len(WAYS)))))
    w.check(kind, system)


def a_function_that_calls_back(w: World) -> None:
    kind, system = w.one([pair for pair in w.systems if pair[0] in (python_laws, driven)])
    q = system.drawn_q
    acts = [
        lambda: run(system, 0),
        lambda: w.check(kind, system),
        lambda: system.QA(0.0, q, q),
        lambda: system.gamma(0.0, q, q),
        lambda: pickle.loads(pickle.dumps(system)),
        w.churn,
        lambda: se.kinematics(builders.four_bar(1, 2, 3, 3, speed=2), t_end=0.1),
    ]
    way = int(w.rng.integers(len(WAYS)))
    q = troubled(w, w.one(acts), lambda: run(system, way))
    assert np.array_equal(q, w.want[kind, way]), f"{kind.__name__} that calls back, {WAYS[way]}"


def troubled(w: World, act: Callable[[], object], work: Callable[[], object]) -> object:
    Trouble.after, Trouble.act = int(w.rng.integers(1, 60)), act
    try:
        return work()
    finally:
        Trouble.act = None


def a_system_that_goes_away(w: World) -> None:
    """Its own function drops the last reference to it."""
    kind = w.one([python_laws, driven])
    held = [se.System(kind())]
    q = troubled(w, lambda: (held.clear(), w.churn()), lambda: run(held.pop(), 0))
    assert np.array_equal(q, w.want[kind, 0]), f"{kind.__name__} that goes away"


def an_interruption(w: World) -> None:
    kind, system = w.one(w.systems)
    signal.setitimer(signal.ITIMER_REAL, float(w.rng.uniform(1e-5, 0.02)))
    try:
        with suppress(KeyboardInterrupt, se.SimEngineError):
            try:
                for way in range(len(WAYS)):
                    run(system, way)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    w.check(kind, system)


def a_simulator(w: World) -> None:
    i = int(w.rng.integers(len(KINDS)))
    sim, (kind, system) = w.simulators[i], w.systems[i]
    acts = [
        lambda: sim.advance_to(sim.t + float(w.rng.uniform(0, 0.02))),
        sim.reset,
        sim.renew,
        lambda: (sim.q, sim.lam),
        lambda: refused(copy.deepcopy, sim),
        lambda: refused(pickle.dumps, sim),
        lambda: in_threads(lambda: (sim.advance_to(max(sim.t, 0.01)) if sim.t < 0.01 else None, sim.q)),
        lambda: w.simulators.__setitem__(i, se.Simulator(system)),
    ]
    w.one(acts)()
    if kind in (python_laws, driven):  # its functions may not ask the simulator
        with suppress(se.SimEngineError):
            troubled(w, lambda: sim.q, lambda: sim.advance_to(sim.t + 0.01))
        w.simulators[i] = se.Simulator(system)
    w.check(kind, system)


def refused(act: Callable[..., object], *given: object) -> None:
    with pytest.raises(se.SimEngineError):
        act(*given)


def in_threads(act: Callable[[], object]) -> None:
    """Two at once; the first error comes out."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    each = [threading.Thread(target=work) for _ in range(2)]
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    if errors and not isinstance(errors[0], se.SimEngineError):
        raise errors[0]


def a_pose(w: World) -> None:
    i = int(w.rng.integers(len(w.poses)))
    p = w.poses[i]
    want = p.at()
    found: list[object] = []
    in_threads(lambda: found.append(p.at()))
    for each in found:
        assert all(map(np.array_equal, each, want)), "a pose in threads"
    refused(p.bodies, p.q[:-1], p.qd, p.qd)
    refused(p.at, 0.0, np.zeros(p.q.size + 5))
    w.poses[i] = w.one([copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])(p)
    p = None
    w.churn()
    assert all(map(np.array_equal, w.poses[i].at(), want)), "a pose that was copied"


def results(w: World) -> None:
    i = int(w.rng.integers(len(w.results)))
    r = w.results[i]
    want = r.power_balance()
    in_threads(lambda: (r.energy(), r.power_balance(), r.summary(), r[f"{r.bodies[0]}.x"]))
    w.results[i] = w.one([copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])(r)
    r = None
    w.churn()
    assert w.results[i].power_balance() == want, "results that were copied"


def odd_arrays(w: World) -> None:
    kind, system = w.one(w.systems)
    n, odd = system.n, w.one([np.zeros(0), np.zeros(1), np.zeros((2, 2)), np.zeros(1000), np.zeros((0, 3))])
    assert odd.shape != (n,)
    for act in (system.Phi, system.Phi_q):
        refused(act, 0.0, odd)
    for act in (system.gamma, system.QA):
        refused(act, 0.0, odd, system.drawn_q)
        refused(act, 0.0, system.drawn_q, odd)
    with np.errstate(all="ignore"):
        system.Phi(np.nan, np.full(n, np.nan))
        system.QA(1e300, np.full(n, 1e300), np.full(n, -1e300))
    w.check(kind, system)


def odd_results(w: World) -> None:
    """Rows and columns that do not fit each other are refused, or do no harm."""
    r = w.one(w.results)
    shapes = [(0, 0), (1, 1), (r.t.size, 1), (2, r.q.shape[1]), (r.t.size + 7, r.q.shape[1] + 3)]
    arrays = {name: np.zeros(w.one(shapes)) for name in ("q", "qd", "qdd", "lam") if w.rng.random() < 0.5}
    with suppress(se.SimEngineError):
        odd = dataclasses.replace(r, **arrays)
        for ask in (
            odd.energy,
            odd.power_balance,
            odd.summary,
            lambda: odd["a.end.x"],
            lambda: odd.reaction("A"),
        ):
            with suppress(se.SimEngineError):
                ask()


def many_points(w: World) -> None:
    _, system = w.one(w.systems)
    times = np.linspace(0.0, T_END, int(w.rng.integers(2, 20_000)))
    r = se.dynamics(system, t_eval=times)
    assert r.q.shape == (times.size, system.n) and np.all(np.isfinite(r.q))


def nothing_at_all(w: World) -> None:
    empty, lonely = se.Model("empty"), se.Model("lonely")
    lonely.body("b", mass=1, inertia=1)
    s = se.System(empty)
    assert s.Phi(0.0, np.zeros(0)).size == 0 and s.QA(0.0, np.zeros(0), np.zeros(0)).size == 0
    for act in (
        se.dynamics,
        se.kinematics,
        se.Simulator,
        se.formulate,
        se.diagnose,
        se.equilibrium,
        se.modes,
    ):
        with suppress(se.SimEngineError):
            act(empty, **({"t_end": 0.1} if act in (se.dynamics, se.kinematics) else {}))
    for given in ([], [0.0], [0.0, 0.0], [1.0, 0.5], [np.nan], [0.0, np.inf], [[0.0, 1.0]]):
        with suppress(se.SimEngineError):
            se.dynamics(lonely, t_eval=given)
    pickle.loads(pickle.dumps(s)).Phi(0.0, np.zeros(0))


def a_model_that_changes(w: World) -> None:
    """A system is what the model was."""
    kind = w.one(KINDS)
    model = kind()
    system = se.System(model)
    model.body("late", mass=1, inertia=1)
    w.check(
        kind, w.one([system, copy.copy(system), copy.deepcopy(system), pickle.loads(pickle.dumps(system))])
    )


def own_equations(w: World) -> None:
    """Functions of `ivp.solve` that raise, keep what they were given, call back, or answer nonsense."""
    kept: list[np.ndarray] = []

    def f(t: float, y: np.ndarray) -> object:
        kept.append(y)
        Trouble.strike()
        return -y

    work = lambda: se.ivp.solve(f, (0, 1), np.ones(int(w.rng.integers(1, 5))))
    with suppress(se.SimEngineError, Planned):
        troubled(w, w.one([fail, work, w.churn, gc.collect]), work)
    for nonsense in (lambda t, y: np.zeros(99), lambda t, y: None, lambda t, y: "x"):
        with suppress(se.SimEngineError, TypeError, ValueError):
            se.ivp.solve(nonsense, (0, 1), [1.0, 2.0])
    w.churn()
    assert np.all(np.isfinite(np.concatenate(kept)))


def interrupted_equations(w: World) -> None:
    """What `ivp.solve` has kept when Ctrl-C came is what it would have found."""
    f = lambda t, y: np.array([y[1], -y[0]])
    work = lambda: se.ivp.solve(f, (0, 1), [1.0, 0.0], "rk4", h=0.01, t_eval=np.linspace(0, 1, 101))
    want, found = work(), None
    signal.setitimer(signal.ITIMER_REAL, float(w.rng.uniform(1e-5, 0.005)))
    try:
        try:
            found = work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except se.Interrupted as error:
        found = error.results
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    if found is not None:
        assert np.array_equal(found.y, want.y[:, : found.t.size]), "equations that were interrupted"


USES = [
    a_run,
    a_copy,
    threads,
    a_function_that_raises,
    a_function_that_calls_back,
    a_system_that_goes_away,
    an_interruption,
    a_simulator,
    a_pose,
    results,
    odd_arrays,
    odd_results,
    many_points,
    nothing_at_all,
    a_model_that_changes,
    own_equations,
    interrupted_equations,
]


def main(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.setswitchinterval(1e-5)
    world = World(rng)
    for k in range(count):
        use = world.one(USES)
        print(f"use {k} {use.__name__}", flush=True)
        begun = time.process_time()
        try:
            use(world)
        except BaseException as error:
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            line = (
                "" if where is None else f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
            )
            print(
                f"WRONG: seed {seed}, use {k} {use.__name__}: {type(error).__name__} {error} ({line})",
                flush=True,
            )
        if time.process_time() - begun > 20.0:
            print(
                f"WRONG: seed {seed}, use {k} {use.__name__} took {time.process_time() - begun:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
