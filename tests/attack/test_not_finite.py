"""Forces, drivers and Python laws without a value: a sentence within seconds, and never a row that is not finite."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import simengine2d as se

SECONDS = 2.0  # for a sentence
AT_START = [
    "1/t",
    "log(t)",
    "sqrt(t - 1)",
    "1/(x - {x})",
    "(x - {x})/abs(x - {x})",
    "log(xd)",
    "asin(2 + x - {x})",
    "t/t",
]
ON_THE_WAY = [
    "log({w} - t)", "sqrt({w} - t)", "1/({w} - t)^2", "asin(t/{w})", "sqrt({x} + 0.02 - x) + 1", "1/(t - {w})",
    "log({x} + 0.01 - x) + 5", "tan(t/{w}*pi/2)", "1e200^(t/{w}*2)",
]  # fmt: skip
WAYS: list[dict[str, Any]] = [
    {}, {}, {"coordinates": "natural"}, {"coordinates": "relative"}, {"formulation": "augmented"},
    {"formulation": "penalty"}, {"formulation": "index3"}, {"formulation": "ggl"}, {"integrator": "rk4", "step": 0.01},
    {"integrator": "newmark", "step": 0.01}, {"integrator": "tsitouras5"}, {"integrator": "hht", "step": 0.01},
    {"integrator": "adams_variable", "formulation": "augmented"},
    {"integrator": "radau_adaptive", "formulation": "augmented"},
    {"integrator": "bdf", "step": 0.01, "formulation": "augmented"},
]  # fmt: skip


class Odd(Exception):
    """What a law of the user's raises."""


def slider(rng: np.random.Generator) -> tuple[se.Model, float]:
    x = float(rng.choice([0.0, 0.5]))
    model = se.Model("slider", gravity=(0, 0))
    model.body("b", mass=1, inertia=1, at=(x, 0))
    model.add(se.Translational("rail", model.ground, "b"))
    return model, x


def law(rng: np.random.Generator, x: float) -> Any:
    """An expression or a Python function that has no value at some time."""
    kind, w = rng.integers(4), float(rng.uniform(0.1, 0.9))
    if kind == 0:
        return str(rng.choice(AT_START)).format(x=x)
    if kind == 1:
        return str(rng.choice(ON_THE_WAY)).format(x=x, w=w)
    late = w if rng.random() < 0.5 else -1.0

    def fails(x: float, y: float, phi: float, xd: float, yd: float, phid: float, t: float) -> float:
        if t < late:
            return 1.0
        if kind == 2:
            raise Odd("no value here")
        return float("nan")

    return fails


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Forces of all kinds, by all ways."""
    for _ in range(count):
        model, x = slider(rng)
        force, options = law(rng, x), WAYS[rng.integers(len(WAYS))]
        model.add(se.PointForce("push", "b", fx=force))
        yield from wrong(model, options, f"{force} by {options}")


def wrong(model: se.Model, options: dict[str, Any], what: str, again: bool = True) -> Iterator[str]:
    begun = time.perf_counter()
    try:
        results = se.dynamics(model, t_end=1.0, **options)
    except se.SimEngineError as error:
        results = error.results
        if "push" not in str(error) and "motor" not in str(error):
            yield f"{what}: the sentence does not name the force: {error}"
        if "Odd" in str(error) and not isinstance(error.__cause__, Odd):
            yield f"{what}: the exception is not chained"
    lasted = time.perf_counter() - begun
    if lasted > SECONDS and again:  # unless kernels were compiled
        yield from wrong(model, options, what, again=False)
    elif lasted > SECONDS:
        yield f"{what}: {lasted:.1f} s"
    if results is not None and not all(
        np.isfinite(a).all() for a in (results.q, results.qd, results.qdd, results.lam)
    ):
        yield f"{what}: rows that are not finite, {results.status}"


def test_a_few():
    assert list(attack(np.random.default_rng(1), 12)) == []


@pytest.mark.parametrize("motion", ["sqrt(t)", "0.5 + log(t)", "1/(0.5 - t)", "sqrt(0.5 - t)", "asin(2*t)"])
def test_drivers(motion):
    model, _ = slider(np.random.default_rng(0))
    model.add(se.Driver("motor", "x(ground, b)", motion))
    assert list(wrong(model, {}, motion)) == []


@pytest.mark.parametrize(
    ("law", "options"),
    [
        ("(x - 0.5)/abs(x - 0.5)", {}),
        ("(x - 0.5)/abs(x - 0.5)", {"formulation": "ggl"}),
        ("asin(t/0.7667)", {"integrator": "adams_variable", "formulation": "augmented"}),
    ],
)
def test_a_force_at_its_switch_or_near_its_end_is_named(law, options):
    model = se.Model("slider", gravity=(0, 0))
    model.body("b", mass=1, inertia=1, at=(0.5, 0))
    model.add(se.Translational("rail", model.ground, "b"))
    model.add(se.PointForce("push", "b", fx=law))
    with pytest.raises(se.SimEngineError, match="push"):
        se.dynamics(model, t_end=1.0, **options)


def test_a_simulator_says_it_too():
    model, _ = slider(np.random.default_rng(0))
    model.add(se.PointForce("push", "b", fx="1/t"))
    with pytest.raises(se.SimEngineError, match="push"):
        se.Simulator(model).advance_to(1.0)


def test_a_law_that_failed_once_may_work_again():
    """What an earlier run came upon is forgotten."""
    model, _ = slider(np.random.default_rng(0))
    broken = [True]

    def moody(x: float, y: float, phi: float, xd: float, yd: float, phid: float, t: float) -> float:
        if broken[0]:
            raise Odd
        return 1.0

    model.add(se.PointForce("push", "b", fx=moody))
    system = se.System(model)
    with pytest.raises(se.SimEngineError, match=r"push.*Odd"):
        se.dynamics(system, t_end=1.0)
    broken[0] = False
    assert se.dynamics(system, t_end=1.0)["b.xd"][-1] == pytest.approx(1.0)
