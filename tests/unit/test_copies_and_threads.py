"""One System in several threads, inside its own functions, copied and pickled; what is freed when nobody needs it."""

import copy
import gc
import pickle
import sys
import threading
import time
from multiprocessing import get_context

import numpy as np
import pytest

import simengine2d as se
from mechanisms import pendulum
from simengine2d import builders
from simengine2d.analyses.dynamics.run import Run
from simengine2d.numerics.kernel import JIT, Callback, kernel
from simengine2d.numerics.kernel_pointer import kernel_pointer
from simengine2d.system.workspace import MOST_KINDS, MOST_KNOWN

pytestmark = pytest.mark.slow  # long motions, for compiled kernels


class Inside:
    """What the law does beside its work, once."""

    act = None

    @classmethod
    def now(cls):
        act, cls.act = cls.act, None
        if act is not None:
            act()


def push(s, sd, t):
    Inside.now()
    return 30 * (s - 1) + 0.5 * sd


MODELS = {
    "python": lambda: pendulum(se.Spring("k", "distance(a.start, b.end)", law=push)),
    "expression": lambda: pendulum(se.Spring("k", "distance(a.start, b.end)", law="30*(s-1)+sin(3*t)")),
    "formula": lambda: pendulum(se.Force("F", along={"b.phi": "-b.phid + sin(3*t)"})),
    "driver": lambda: pendulum(se.Driver("d", "angle(ground, a)", "sin(t)")),
    "plain": lambda: builders.four_bar(1, 2, 3, 3),
}
OPTIONS = [{}, {"integrator": "newmark", "step": 0.01}, {"coordinates": "relative"}]
every_model = pytest.mark.parametrize("kind", MODELS)


def motion(system, **options):
    return se.dynamics(system, t_end=0.1, **options).q


def at_once(count, act):
    found = [None] * count

    def work(i):
        found[i] = act()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@every_model
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_threads_find_the_motion_that_one_alone_finds(kind, options):
    want, shared = motion(se.System(MODELS[kind]()), **options), se.System(MODELS[kind]())
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        found = at_once(4, lambda: motion(shared, **options))
    finally:
        sys.setswitchinterval(before)
    for q in found:
        np.testing.assert_array_equal(q, want)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_law_may_ask_the_system_that_asks_it(options):
    system = se.System(MODELS["python"]())
    want, inner = motion(se.System(MODELS["python"]()), **options), []

    def ask():
        inner.append(motion(system, **options))
        system.QA(0.0, np.ones(system.n), np.ones(system.n))

    Inside.act = ask
    np.testing.assert_array_equal(motion(system, **options), want)
    np.testing.assert_array_equal(inner[0], want)


@pytest.mark.parametrize("kind", ["expression", "formula", "driver"])
def test_evaluations_in_threads_are_those_of_one_alone(kind):
    system, q = se.System(MODELS[kind]()), np.linspace(0.1, 0.9, 6)
    look = lambda: (system.QA(0.3, q, q), system.Phi(0.3, q), system.gamma(0.3, q, q))
    want = look()
    for found in at_once(4, lambda: [look() for _ in range(5)]):
        for each in found:
            for one, other in zip(each, want, strict=True):
                np.testing.assert_array_equal(one, other)


def copies_of(thing):
    return copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))


@every_model
def test_copies_of_a_system_move_as_it_does_when_it_is_gone(kind):
    system = se.System(MODELS[kind]())
    want, copies = motion(system), copies_of(system)
    del system
    gc.collect()
    junk = [np.random.default_rng(i).random(50) for i in range(2000)]
    for each in copies:
        np.testing.assert_array_equal(motion(each), want)
    assert junk


def test_a_copy_is_of_the_model_as_it_was():
    model = MODELS["expression"]()
    system = se.System(model)
    model.body("late", mass=1, inertia=1)
    assert [each.n for each in copies_of(system)] == [6, 6, 6]


def test_a_system_goes_to_another_process():
    system = se.System(MODELS["expression"]())
    with get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(motion, (system,)), motion(system))


def test_a_function_that_another_process_would_not_find_is_named():
    system = se.System(pendulum(se.Spring("k", "distance(a.start, b.end)", law=lambda s, sd, t: s)))
    with pytest.raises(se.UnsupportedError, match=r"Spring 'k' has the function <lambda>.*top of a module"):
        pickle.dumps(system)
    assert copy.deepcopy(system).n == 6


def test_poses_are_copied_and_simulators_are_not():
    posed = se.formulate(MODELS["python"](), "mixed")
    for each in copies_of(posed):
        for one, other in zip(each.at(), posed.at(), strict=True):
            np.testing.assert_array_equal(one, other)
    simulator = se.Simulator(MODELS["python"]())
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(se.UnsupportedError, match="addresses"):
            act(simulator)
    system = se.System(MODELS["python"]())
    for arrays in (system.arrays, system.load_arrays):
        with pytest.raises(se.UnsupportedError, match="addresses"):
            copy.deepcopy(arrays)


def test_a_law_cannot_ask_the_simulator_that_asks_it():
    simulator = se.Simulator(MODELS["python"]())
    refused = []

    def ask():
        with pytest.raises(se.ModelError, match="cannot be asked or moved by a force"):
            simulator.advance_to(1.0)
        with pytest.raises(se.ModelError, match="cannot be asked or moved by a force"):
            _ = simulator.q
        refused.append(True)

    Inside.act = ask
    simulator.advance_to(0.01)
    assert refused and simulator.t == 0.01


def test_arrays_of_other_sizes_are_refused_before_kernels_read_them():
    system, posed = se.System(MODELS["plain"]()), se.formulate(MODELS["plain"]())
    for odd in (np.zeros(0), np.zeros(3), np.zeros(1000), np.zeros((9, 1))):
        for act in (system.Phi, system.Phi_q):
            with pytest.raises(se.ModelError, match="9 coordinates"):
                act(0.0, odd)
        for act in (system.gamma, system.QA):
            with pytest.raises(se.ModelError, match="9 coordinates"):
                act(0.0, system.drawn_q, odd)
        with pytest.raises(se.ModelError, match="has the shape"):
            posed.bodies(odd, posed.qd, posed.qd)


def test_functions_of_python_go_when_their_model_goes():
    gc.collect()
    before = len(Callback.by_address)
    systems = [se.System(MODELS["python"]()) for _ in range(5)]
    arrays = systems[0].load_arrays
    assert len(Callback.by_address) == before + 5
    del systems
    gc.collect()
    assert len(Callback.by_address) == before + 1  # the arrays hold its address
    del arrays
    gc.collect()
    assert len(Callback.by_address) == before


def test_a_system_keeps_few_workspaces_and_no_runs():
    system = se.System(MODELS["plain"]())
    for k in range(MOST_KINDS + 10):
        se.dynamics(system, t_end=0.02, integrator="rk4", step=0.01 + 1e-5 * k)
        se.dynamics(system, t_eval=[1e-3 * k, 1e-3 * k + 0.01])
    gc.collect()
    assert len(system.idle.waiting) <= MOST_KINDS
    assert all(len(answers) <= MOST_KNOWN for answers in system.known.values())
    # asked of the type: a weak proxy that another test has left behind may be dead
    runs = [thing for thing in gc.get_objects() if issubclass(type(thing), Run)]
    assert not [run for run in runs if run.system is system]


def first(c, t, y, out):
    out[0] = 2.0 * y[0]


def second(c, t, y, out):
    out[0] = 3.0 * y[0]


def test_doors_may_be_gone_through_by_several_threads_at_first():
    pointers = [kernel_pointer(first), kernel_pointer(second)]

    def through():
        out = np.zeros((2, 1))
        for row, each in zip(out, pointers, strict=True):
            each.bind(se.System(builders.four_bar(1, 2, 3, 3)).arrays)(0.0, np.ones(1), row)
        return out[:, 0].tolist()

    assert at_once(6, through) == [[2.0, 3.0]] * 6


@kernel(entry=True)
def spin(x, n):
    for _ in range(n):
        x[0] = x[0] * 0.999999 + 1.0e-3 / (1.0 + x[0])


@pytest.mark.skipif(not JIT, reason="Python code needs the interpreter")
def test_other_threads_run_while_a_kernel_does():
    x, turns = np.ones(1), 0
    spin(x, 10)
    thread = threading.Thread(target=spin, args=(x, 20_000_000))
    thread.start()
    while thread.is_alive():
        time.sleep(1e-3)
        turns += 1
    assert turns > 5  # with the interpreter locked it is 1
