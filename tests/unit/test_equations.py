"""The contract of all coordinate families: each verb of their equations against the matrices M, Phi_z, Q, nu, gamma."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.coordinates.base import Family
from simengine2d.coordinates.equations import POSITION, VELOCITY, Configuration, projection
from simengine2d.coordinates.reference_point.reference_point import ReferencePoint
from simengine2d.model import library

MODELS = ["four_bar", "slider_crank", "double_pendulum", "parallelogram"]
FORMULATIONS = [se.Projection(), se.Augmented(), se.Penalty()]


def state_of(model, name):
    """A family, its configuration at the start, and a state a little off the constraints."""
    with library.file(model) as path:
        at = assemble(se.load(path))
    family = Family.registry.named(name)(at.system, at.q)
    z, rng = family.positions(at.q), np.random.default_rng(5)
    redundant = model == "parallelogram"
    start = Configuration(at.t, z, redundant)
    off = z + 1e-4 * family.sizes * rng.uniform(-1, 1, z.size)
    rates = family.velocities(at.q, at.qd) + 1e-2 * family.sizes * rng.uniform(-1, 1, z.size)
    return family, start, np.concatenate([off, rates])


def matrices_at(family, t, y):
    e = family.at(t, y[: family.n], y[family.n :])
    return {name: getattr(e, name).copy() for name in ("M", "J", "Q", "Phi", "nu", "gamma")}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", sorted(Family.registry.loaded()))
def test_residuals_and_smallest_changes(name, model):
    """M x + Phi_z^T lam = 0 and Phi_z x = row: x is a combination of M^-1 Phi_z^T that removes the residual."""
    family, start, y = state_of(model, name)
    equations, e, zd = (
        family.equations_of_motion(se.Projection(), start),
        matrices_at(family, start.t, y),
        y[family.n :],
    )
    row, x = np.empty(family.m), np.empty(family.n)
    equations.evaluate(start.t, y, y)
    for level, expected in ((POSITION, -e["Phi"]), (VELOCITY, e["nu"] - e["J"] @ zd)):
        equations.residual(float(level), y, row)
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-13 * max(1.0, np.abs(zd).max()))
    row[:] = e["J"] @ np.linspace(
        1.0, 2.0, family.n
    )  # rows that depend on each other do not contradict each other
    equations.smallest_change(0.0, row, x)
    np.testing.assert_allclose(e["J"] @ x, row, rtol=0, atol=1e-9 * max(1.0, np.abs(row).max(initial=0.0)))
    lam = np.linalg.lstsq(e["J"].T, -e["M"] @ x, rcond=None)[0]
    np.testing.assert_allclose(e["M"] @ x + e["J"].T @ lam, 0.0, atol=1e-8 * np.abs(e["M"] @ x).max())


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.name)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", sorted(Family.registry.loaded()))
def test_accelerations_balance_the_forces(name, model, formulation):
    """M zdd + Phi_z^T lam = Q, where rows ask for gamma - 2 alpha (Phi_z zd - nu) - beta^2 Phi and may give way."""
    family, start, y = state_of(model, name)
    if start.redundant:  # rows contradict each other off the constraints
        projection(family.equations_of_motion(se.Projection(), start), np.array([1e-13]))(
            start.t, y, np.zeros(2)
        )
    yd, n = np.empty_like(y), family.n
    formulation.problem(family, start).rhs(start.t, y, yd)
    e = matrices_at(family, start.t, y)
    np.testing.assert_array_equal(yd[:n], y[n:])
    lam = np.linalg.lstsq(e["J"].T, e["Q"] - e["M"] @ yd[n:], rcond=None)[0]
    size = max(1.0, np.abs(e["Q"]).max(), np.abs(e["M"] @ yd[n:]).max())
    np.testing.assert_allclose(e["M"] @ yd[n:] + e["J"].T @ lam, e["Q"], rtol=0, atol=1e-9 * size)
    alpha2, beta2 = formulation.stabilization
    asked = e["gamma"] - alpha2 * (e["J"] @ y[n:] - e["nu"]) - beta2 * e["Phi"]
    loose = 1e-4 if formulation.gives_way else 1e-9  # 1 / factor of what forces would do without the rows
    np.testing.assert_allclose(
        e["J"] @ yd[n:],
        asked,
        rtol=0,
        atol=loose * max(1.0, np.abs(asked).max(initial=0.0), np.abs(yd).max()),
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", sorted(Family.registry.loaded()))
def test_projection_ends_on_the_constraints(name, model):
    family, start, y = state_of(model, name)
    problem = se.Projection().problem(family, start)
    problem.tolerance[0] = 1e-13 * family.system.length
    before = matrices_at(family, start.t, y)
    problem.finish(start.t, y, problem.monitors)
    after = matrices_at(family, start.t, y)
    assert np.abs(after["Phi"]).max(initial=0.0) < 1e-11
    assert np.abs(after["J"] @ y[family.n :] - after["nu"]).max(initial=0.0) < 1e-10
    np.testing.assert_allclose(
        problem.monitors[0], np.abs(before["Phi"]).max(initial=0.0), rtol=1e-9, atol=1e-13
    )


def test_what_a_formulation_says_is_what_runs():
    """Right-hand side and end of a step are the verbs of the family's equations, in every family."""
    for name in Family.registry.loaded():
        family, start, _ = state_of("four_bar", name)
        for formulation in FORMULATIONS:
            verbs = family.equations_of_motion(formulation, start)
            problem = formulation.problem(family, start)
            assert type(problem.rhs.kept[1]) is type(verbs.accelerate.kept[1])


def test_a_family_in_one_file_is_complete_but_for_symbols():
    """Registered, integrated, and named in a sentence where its q = f(z) would be needed as an expression."""

    class Shifted(ReferencePoint):
        name = "shifted"

    try:
        with library.file("four_bar") as path:
            model = se.load(path)
        expected = se.dynamics(model, t_end=0.1, coordinates="reference_point")
        found = se.dynamics(model, t_end=0.1, coordinates="shifted")
        np.testing.assert_array_equal(found.q, expected.q)
        with pytest.raises(se.UnsupportedError, match=r"'shifted' coordinates.*Use one of mixed, natural"):
            model.equations(coordinates="shifted")
    finally:
        del Family.registry["shifted"]
