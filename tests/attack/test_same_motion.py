"""One motion by many ways: outputs at random times, runs in pieces, a Simulator that advances by chance.

Free linkages and chains under forces that jump, bend, push for a moment or switch with the state. The oracle is the
default at rtol = 1e-11, with three outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

FAMILIES = ("reference_point", "relative", "natural", "mixed")
ODE, DAE = ("projection", "augmented"), ("index3", "ggl", "augmented_lagrangian")
FIXED = ("rk4", "newmark", "hht", "generalized_alpha", "bdf", "radau_iia", "adams_bashforth_moulton")
LINKAGES = [
    lambda rng: builders.four_bar(1, 2, 3, 3),
    lambda rng: builders.four_bar(1, 2.5, 2, 3),
    lambda rng: builders.slider_crank(1, 3),
    lambda rng: builders.chain(int(rng.integers(1, 6))),
    lambda rng: builders.four_bar_ladder(2),  # through singular poses
]
FORCES = [
    "5*(t > {T})", "20*(t > {T})*(t < {T} + 0.03)", "3*sin(9*t)", "-4*abs(t - {T})", "-2*xd", "-0.5*xd*abs(xd)",
    "3 if x > 0.1 else -1", "10*step(t, {T}, 0, {T} + 0.1, 1)",
]  # fmt: skip
RTOL, ALLOWED, THROUGH_POSES = 1e-8, 1e-5, 1e-4
ALLOWED_IN_PIECES = 3e-4  # of fixed steps, which end at other times


def mechanism(rng: np.random.Generator) -> tuple[se.Model, str]:
    model = LINKAGES[rng.integers(len(LINKAGES))](rng)
    model.gravity = (0, -9.81)
    name = str(rng.choice(list(model.bodies)))
    force = str(rng.choice(FORCES)).format(T=round(rng.uniform(0.1, 0.9), 3))
    model.add(se.PointForce("push", name, fx=force, fy="0"))
    return model, f"{model.name}, {force} on {name}"


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    for _ in range(count):
        model, what = mechanism(rng)
        try:
            want = se.dynamics(model, t_eval=[0.0, 0.5, 1.0], rtol=1e-11)
            yield from (f"{what} {how}" for how in wrong(model, want, rng))
        except se.SimEngineError as error:
            yield f"{what}: {error}"


def wrong(model: se.Model, want: se.Results, rng: np.random.Generator) -> Iterator[str]:
    passed = any("singular pose" in note for note in want.notes)
    allowed = (THROUGH_POSES if passed else ALLOWED) * (1.0 + np.abs(want.qd).max())
    off = lambda q: np.abs(q - want.q[-1]).max() / allowed
    times = np.union1d(rng.uniform(0.0, 1.0, rng.integers(1, 30)), [0.0, 1.0])
    ways: dict[str, Any] = {"coordinates": str(rng.choice(FAMILIES)), "formulation": str(rng.choice(ODE))}
    simulator = se.Simulator(model, rtol=RTOL, **ways)
    for t in times:
        simulator.advance_to(float(t))
    if off(simulator.q) > 1.0:
        yield f"by a Simulator, {ways}: off by {off(simulator.q):.1e} of what is allowed"
    ways["formulation"] = str(rng.choice(ODE + DAE))
    results = se.dynamics(model, t_eval=times, rtol=RTOL, **ways)
    if off(results.q[-1]) > 1.0:
        yield f"at random times, {ways}: off by {off(results.q[-1]):.1e} of what is allowed"
    elif results.verdict.word == "do not trust":
        yield f"at random times, {ways}: right, but {results.verdict}"
    if not passed:
        yield from wrong_in_pieces(model, rng)


def wrong_in_pieces(model: se.Model, rng: np.random.Generator) -> Iterator[str]:
    """A run of fixed steps that ends and goes on at round times."""
    options: dict[str, Any] = {"integrator": str(rng.choice(FIXED)), "step": 0.005}
    ends = np.unique(np.round(rng.uniform(0.05, 0.95, rng.integers(1, 4)), int(rng.integers(1, 5)))).tolist()
    whole, parts = se.dynamics(model, t_end=1.0, **options), se.dynamics(model, t_end=ends[0], **options)
    for end in [*ends[1:], 1.0]:
        parts = parts.resume(end)
    off = np.abs(parts.q[-1] - whole.q[-1]).max() / (1.0 + np.abs(whole.qd).max())
    if off > ALLOWED_IN_PIECES:
        yield f"in pieces that end at {ends}, {options}: off by {off:.1e}"
    if np.any(np.diff(parts.t) < 1e-9):
        yield f"in pieces that end at {ends}, {options}: an output twice"


@pytest.mark.slow
def test_the_same_motion_by_any_way():
    assert list(attack(np.random.default_rng(1), 25)) == []
