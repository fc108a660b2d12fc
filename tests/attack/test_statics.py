"""Statics off the beaten path: rest that is no rest, folds that are passed, forces without a value."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

import numpy as np
import pytest

import simengine2d as se

TRY = {"newton": {}, "relaxation": {"method": "relaxation"}, "energy": {"method": "energy"}}


def random_model(rng: np.random.Generator) -> se.Model:
    """Bars in a chain, a block on a rail, springs with random rest lengths between them; often nothing holds it."""
    scale, mass = 10.0 ** rng.uniform(-3, 3, 2)
    m = se.Model("random", gravity=(0, -9.81 * scale) if rng.random() < 0.8 else (0, 0))
    at = np.zeros(2)
    for k in range(rng.integers(1, 4)):
        to = at + scale * rng.uniform(-1, 1, 2)
        bar = m.bar(f"bar{k}", tuple(at), tuple(to), mass=float(mass * 10.0 ** rng.uniform(-2, 2)))
        m.add(se.Revolute(f"pin{k}", m.ground if k == 0 else f"bar{k - 1}.end", bar["start"]))
        at = to
    if rng.random() < 0.6:
        block = m.body(
            "block", mass=float(mass), inertia=float(mass * scale**2), at=tuple(scale * rng.uniform(-1, 1, 2))
        )
        m.add(se.Translational("rail", m.ground, block, direction=float(rng.uniform(0, 6.3))))
    bodies = list(m.bodies)
    for k in range(rng.integers(0, 3)):
        a, b = (str(rng.choice(["ground", *bodies])) for _ in range(2))
        if a != b:
            stiffness, free = mass * 10.0 ** rng.uniform(0, 3), scale * rng.uniform(-1, 2)
            m.add(
                se.Spring(
                    f"spring{k}",
                    se.distance(m[a], m[b]),
                    stiffness=float(stiffness),
                    damping=1.0,
                    free=float(free),
                )
            )
    return m


def begins_to_move(m: se.Model, q: np.ndarray) -> float:
    """Accelerations from rest in a pose, by a dense KKT matrix, against the forces on each body."""
    system = se.System(m)
    n, rest = system.n, np.zeros(system.n)
    J, M, Q = system.Phi_q(0.0, q), system.M(), system.QA(0.0, q, rest)
    L = np.tile([1.0, 1.0, system.length], n // 3)
    J, M, Q = J / L, M / np.outer(L, L), Q / L
    K = np.block([[M, J.T], [J, np.zeros((system.m, system.m))]])
    x = np.linalg.lstsq(K, np.concatenate([Q, np.zeros(system.m)]), rcond=1e-14)[0]
    forces = (np.abs(Q) + np.abs(J).T @ np.abs(x[n:])).reshape(-1, 3).max(axis=1)
    moved = np.abs(M @ x[:n]).reshape(-1, 3).max(axis=1)
    shifted = system.QA(0.0, q + system.length * np.random.default_rng(1).uniform(-1, 1, n) / L, rest) / L
    size = max(float(forces.max()), float(np.abs(shifted - Q).max()))
    # rounding of the dense matrix leaves some 1e-10 of the largest force on bodies that feel none
    return float((moved / np.maximum(forces, 1e-5 * size)).max()) if size else 0.0


def rests(rng: np.random.Generator, method: str) -> str | None:
    m = random_model(rng)
    try:
        found = se.equilibrium(m, **TRY[method])
    except se.SimEngineError:
        return None
    moves = begins_to_move(m, found.q[0])
    return (
        f"{method}: a body feels {moves:.1e} of its forces in '{found.results.status}'"
        if moves > 1e-4
        else None
    )


def passes_its_fold(rng: np.random.Generator) -> str | None:
    """A shallow truss under a load P = 2 k y (L / l - 1), l^2 = b^2 + y^2: dP/dy = 0 where l^3 = L b^2."""
    b, k = 10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(0, 4)
    h = b * rng.uniform(0.2, 1.5)
    L = hypot(b, h)
    side = (L * b * b) ** (1 / 3)
    y = (side**2 - b * b) ** 0.5
    fold = 2 * k * y * (L / side - 1)
    m = se.Model("truss", gravity=(0, 0), parameters={"P": 0.0})
    top = m.body("top", mass=1, inertia=1, at=(0, h))
    m.add(se.AbsoluteX("x", top, 0.0))
    m.add(se.AbsoluteAngle("a", top, 0.0))
    m.add(se.PointForce("load", top, 0.0, "-P"))
    for name, x in (("left", -b), ("right", b)):
        m.add(se.Spring(name, se.distance(m.ground.at(x, 0), top), stiffness=k, free=L))
    to = fold * rng.uniform(1.05, 20)
    path = se.equilibrium_path(m, "P", to, within=(-1.5 * fold, 2 * to))
    found = [value for value, _ in path.folds]
    if len(found) == 2 and np.allclose(found, [fold, -fold], rtol=1e-8):
        return None
    return f"b = {b:.4g}, h = {h:.4g}, k = {k:.4g}, to {to:.4g}: folds {found} instead of +-{fold:.9g}"


NOWHERE = ("1/x", "log(x)", "sqrt(x-1)", "x/abs(x)", "log(t)", "1/t", "sqrt(x)", "x^(1/3)", "exp(1000*(x+1))")


def has_no_value(rng: np.random.Generator) -> str | None:
    """A force without value or derivative at the drawn pose: every analysis says so, and none returns nan."""
    law = str(rng.choice(NOWHERE))

    def block(driven: bool) -> se.Model:
        m = se.Model("block", gravity=(0, 0))
        b = m.body("b", mass=1, inertia=1)
        m.add(se.Translational("rail", m.ground, b))
        m.add(se.Spring("hold", se.x(m.ground, b), stiffness=1.0))
        m.add(se.PointForce("f", b, fx=law))
        if driven:
            m.add(se.Driver("push", se.x(m.ground, b), "0*t"))
        return m

    uses = {
        "equilibrium": lambda: se.equilibrium(block(False)).q,
        "relaxation": lambda: se.equilibrium(block(False), method="relaxation").q,
        "energy": lambda: se.equilibrium(block(False), method="energy").q,
        "modes": lambda: se.modes(block(False)).omega,
        "linearize": lambda: se.linearize(block(False)).A,
        "inverse": lambda: se.inverse_dynamics(block(True), t_end=0.1).lam,
    }
    name = str(rng.choice(list(uses)))
    try:
        found = np.asarray(uses[name]())
    except se.SimEngineError:
        return None
    return None if np.all(np.isfinite(found)) else f"{name} under fx = {law} returned {found}"


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    for k in range(count):
        trial = (
            lambda: rests(rng, str(rng.choice(list(TRY)))),
            lambda: passes_its_fold(rng),
            lambda: has_no_value(rng),
        )[k % 3]
        wrong = trial()
        if wrong:
            yield wrong


@pytest.mark.slow
def test_no_rest_that_is_no_rest_and_no_fold_is_passed_over() -> None:
    assert list(attack(np.random.default_rng(3), 30)) == []


def test_a_block_that_nothing_holds_has_no_equilibrium() -> None:
    m = se.Model("no equilibrium", gravity=(0, -9.81))
    block = m.body("block", mass=1, inertia=1)
    b = m.body("b", mass=1, inertia=0.1, at=(0.3, 0.2), points={"P": (0.4, 0.3)})
    m.add(se.Translational("rail", m.ground, block, direction="-30*deg"))
    m.add(se.Spring("s", se.distance(block, b["P"]), stiffness=20, damping=1, free=-1.0))
    with pytest.raises(se.ConvergenceError, match="no equilibrium"):
        se.equilibrium(m, method="relaxation")


@pytest.mark.parametrize("law", NOWHERE[:7])
def test_statics_and_inverse_dynamics_say_which_force_has_no_value(law: str) -> None:
    m = se.Model("block", gravity=(0, 0))
    b = m.body("b", mass=1, inertia=1)
    m.add(se.Translational("rail", m.ground, b))
    m.add(se.PointForce("f", b, fx=law))
    for analysis in (se.equilibrium, se.modes, se.linearize):
        with pytest.raises(se.ModelError, match=r"'f'|\(f\)|b\.x"):
            analysis(m)
    m.add(se.Driver("push", se.x(m.ground, b), "0*t"))
    if law != "sqrt(x)":  # it has a value at 0
        with pytest.raises(se.ModelError, match=r"'f'|\(f\)"):
            se.inverse_dynamics(m, t_end=0.1)
