"""Models that are alike share what depends on their structure alone; nothing else changes by that."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.dynamics import idle_families
from simengine2d.expressions import function, parser
from simengine2d.model import library
from simengine2d.numerics import patterns as cache
from simengine2d.numerics.patterns import once_per_pattern, patterns
from simengine2d.system import evaluation
from simengine2d.system.elimination import elimination_program
from simengine2d.system.geometry import geometries
from simengine2d.system.workspace import Pool


@pytest.fixture
def empty():
    patterns.clear()
    yield
    patterns.clear()


@pytest.fixture
def switched_off(monkeypatch):
    """Nothing is shared: every pattern and every tree is made again."""

    def off():
        for shared in (patterns, geometries):
            shared.clear()
            monkeypatch.setattr(shared, "keep", lambda key, answer: None)
        monkeypatch.setattr(idle_families, "shared", Pool())
        monkeypatch.setattr(Pool, "give", lambda self, kind, workspace: None)
        monkeypatch.setattr(parser, "_kept_tree", parser._tree)
        monkeypatch.setattr(function, "_kept_function", function._function_with)

    return off


def outcome(act) -> Any:
    """The bytes of results, or what is said instead."""
    try:
        r = act()
    except se.SimEngineError as error:
        return str(error)
    arrays = (r.t, r.q, r.qd, r.qdd, np.zeros(0) if r.lam is None else r.lam)
    return [array.tobytes() for array in arrays], r.notes, r.residuals


def variants(seed: int) -> list[se.Model]:
    """Four-bars and pendulums with springs, new in numbers only."""
    rng = np.random.default_rng(seed)
    models = [builders.four_bar(1 + d, 2.5, 3, 3 + d) for d in 0.1 * rng.random(4)]
    for k in 10 + 5 * rng.random(4):
        m = builders.chain(3, angle=float(rng.random()))
        last = list(m.bodies.values())[-1]
        m.add(se.Spring("s", se.distance(m.ground, last), stiffness=float(k), free="0.1 + 0.2"))
        models.append(m)
    return models


def all_outcomes(models: list[se.Model]) -> list[Any]:
    how = [
        lambda m: se.dynamics(m, t_end=0.05),
        lambda m: se.dynamics(m, t_end=0.02, step=0.01, integrator="generalized_alpha"),
        lambda m: se.kinematics(m, t_end=0.05, step=0.01),
    ]
    return [outcome(lambda m=m, run=run: run(m)) for m in models for run in how]


def test_variants_have_the_same_bytes_as_if_nothing_were_shared(empty, switched_off):
    models = variants(3) + variants(4)
    shared = all_outcomes(models)
    assert patterns.answers
    switched_off()
    assert all_outcomes(variants(3) + variants(4)) == shared


@pytest.mark.slow
def test_shipped_models_have_the_same_bytes_as_if_nothing_were_shared(empty, switched_off):
    def loaded():
        for name in library.names():
            with library.file(name) as path:
                yield se.load(path)

    for _ in range(2):
        shared = all_outcomes(list(loaded()))
    switched_off()
    assert all_outcomes(list(loaded())) == shared


def test_models_new_in_numbers_share_their_programs(empty):
    a, b = (se.System(builders.four_bar(1 + d, 2.5, 3, 3)) for d in (0.0, 0.1))
    assert a.arrays.jac_column is b.arrays.jac_column
    assert a.arrays.frame_x is not b.arrays.frame_x
    one, other = (elimination_program(system, False, True) for system in (a, b))
    assert one.program.target is other.program.target
    assert one.template is not other.template
    assert not one.program.target.flags.writeable


def test_models_of_another_structure_share_nothing(empty):
    """The same joints with another order of bodies, or with other measures, are another structure."""
    a, b = se.Model("a"), se.Model("b")
    for m, order in ((a, "pq"), (b, "qp")):
        for name in order:
            m.bar(name, (0, 0), (1, 0), mass=1)
        m.add(se.Revolute("O", m.ground, m["p"]["start"]))
        m.add(se.Translational("guide", m["p"], m["q"]))
    first, second = se.System(a), se.System(b)
    assert first.arrays.term_slot is not second.arrays.term_slot
    assert not np.array_equal(first.arrays.jac_column, second.arrays.jac_column)


def test_what_is_shared_is_found_by_every_integer():
    @once_per_pattern
    def twice(numbers, factor):
        return (numbers * factor,)

    a = np.array([1, 2])
    assert twice(a, 2)[0] is twice(a.copy(), 2)[0]
    assert twice(a, 3)[0].tolist() == [3, 6]
    assert twice(np.array([[1, 2]]), 2)[0].shape == (1, 2)
    assert twice(np.array([1, 3]), 2)[0].tolist() == [2, 6]
    assert twice(np.array([1, 2], dtype=np.int32), 2)[0].dtype == np.int32


def test_what_is_shared_is_bounded(monkeypatch, empty):
    monkeypatch.setattr(patterns, "most", 100_000)

    @once_per_pattern
    def zeros(size):
        return (np.zeros(size),)

    for size in range(200):
        zeros(size)
    assert patterns.size <= 100_000
    assert sum(answer.size for answer in patterns.answers.values()) == patterns.size
    latest = zeros(199)[0]
    assert zeros(199)[0] is latest


def test_large_patterns_are_not_kept(empty):
    @once_per_pattern
    def large():
        return (np.zeros(int(cache.LARGEST * patterns.most) // 8 + 1),)

    assert large()[0] is not large()[0]


@pytest.mark.slow
def test_thousands_of_variants_leave_nothing_behind(empty):
    def build(k: int) -> None:
        m = se.Model("p", parameters={"L": 1.0 + 1e-4 * k})
        bar = m.bar("bar", (0, 0), ("L", 0), mass=1)
        m.add(se.Revolute("O", m.ground, bar["start"]))
        m.add(se.Driver("d", se.angle(m.ground, bar), f"{1 + k % 700}*t + L"))
        elimination_program(se.System(m), False, True)

    def blocks_after(variants: range) -> int:
        for k in variants:
            build(k)
        gc.collect()
        return sys.getallocatedblocks()

    before = blocks_after(range(1_400))  # more than are kept: what stays from now on stays for ever
    # one object for each variant would be 2,100 blocks; there are 700 drivers, of which 512 trees are kept
    assert blocks_after(range(1_400, 3_500)) < before + 1_000


@pytest.mark.slow
def test_threads_may_build_variants_at_once(empty):
    models = variants(5) * 6
    alone = [outcome(lambda m=m: se.dynamics(m, t_end=0.02)) for m in variants(5)] * 6
    patterns.clear()
    together: list[Any] = [None] * len(models)
    begin = threading.Barrier(4)

    def work(first: int) -> None:
        begin.wait()
        for k in range(first, len(models), 4):
            model = models[k].copy()
            together[k] = outcome(lambda m=model: se.dynamics(m, t_end=0.02))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def everything(system: se.System, q: Any) -> list[bytes]:
    return [part.tobytes() for part in system.evaluated(0.3, q, 0.7 * q)]


@pytest.mark.parametrize("name", library.names())
def test_single_evaluations_as_python_and_compiled_are_the_same_bits(name, monkeypatch):
    with library.file(name) as path:
        system = se.System(se.load(path))
    q = system.drawn_q + np.random.default_rng(1).uniform(-0.1, 0.1, system.n)
    monkeypatch.setattr(evaluation, "SMALL", 10**6)
    monkeypatch.setattr(evaluation, "FEW", 10**9)
    as_python = everything(system, q)
    monkeypatch.setattr(evaluation, "SMALL", -1)
    assert everything(system, q) == as_python
