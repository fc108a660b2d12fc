"""Stages of implicit methods: corrections of all families against dense ones, blocks and fronts against NumPy."""

import numpy as np
import pytest

import simengine2d as se
from dae_runs import new_family
from dense_newton import DenseNewton
from marking import slow_among
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.coordinates import stages as contract
from simengine2d.coordinates.base import Family
from simengine2d.coordinates.relative import stage_map
from simengine2d.errors import UnsupportedError
from simengine2d.integrators.bdf import BDF
from simengine2d.integrators.implicit_runge_kutta import RadauIIA
from simengine2d.integrators.second_order_tables import table_of
from simengine2d.numerics.block_elimination import eliminate_blocks, new_blocks, solve_blocks
from simengine2d.numerics.front_analysis import fronts
from simengine2d.numerics.frontal import factor_fronts, solve_fronts
from simengine2d.numerics.ldl import analyze
from simengine2d.system.elimination import elimination_program


def loaded_four_bar():
    """Forces of all kinds: a damper that swings with its bar, a follower force, a formula that couples two bodies."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)
    names = list(model.bodies)
    model.add(se.Spring("rod", se.distance(model.ground.at(0, 3), names[1]), stiffness=40, damping=7, free=1))
    model.add(se.Torque("brake", names[0], lambda x, y, phi, xd, yd, phid, t: -2.0 * phid - 0.3 * x * yd))
    return model


def skate():
    model = se.Model("skate", gravity=(1.5, 0))
    model.body("skate", mass=2, inertia=0.3, at=(0, 0), angular_velocity=2)
    model.add(se.Constraint("edge", "skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)"))
    return model


def actuator():
    """A distance that follows a function of time, beside a spring and a damper between two bodies."""
    model = builders.slider_crank(1, 3, crank_angle=0.7)
    names = list(model.bodies)
    model.add(
        se.Spring("spring", se.distance(model.ground.at(0, 3), names[1]), stiffness=40, damping=7, free=1)
    )
    model.add(se.Driver("jack", se.distance(model.ground.at(1, 4), names[0]), "4 + 0.1*sin(t)"))
    return model


def stiff_chain():
    """Springs across several bodies of a long way from the ground."""
    model = builders.chain(7, angle=0.3)
    names = list(model.bodies)
    model.add(
        se.Spring("far", se.distance(model.ground.at(3, 3), names[-1]), stiffness=40, damping=7, free=1)
    )
    model.add(se.Spring("across", se.distance(names[1], names[5]), stiffness=40, damping=2, free=1))
    return model


MODELS = {
    "four-bar": loaded_four_bar,
    "skate": skate,
    "chain": lambda: builders.chain(4, angle=0.3),
    "stiff chain": stiff_chain,
    "quick return": lambda: builders.quick_return(1, 2, 4, 3),
    "slot with block": lambda: builders.quick_return(1, 2, 4, 3, block=True),
}
METHODS = [RadauIIA(), BDF(2)]


def stages_off(family, T, z, zd, iteration=contract.EXACT, h=0.02):
    """Stages that are off by as much as a guess may be."""
    options = np.array([1e-10, 1e-12, 1e-15, iteration, 0.1, 1e-6, contract.POSITION])
    s, n, m = T.c.size, family.n, family.m
    st, rng = contract.new_stages(s, n, m, options), np.random.default_rng(1)
    st.t[:], st.B[:], st.C[:] = T.c * h, T.B * h * h, T.C * h
    st.a[:], st.lam[:] = rng.normal(size=(s, n)), rng.normal(size=(s, m))
    st.z[:], st.zd[:] = z + 1e-3 * rng.normal(size=(s, n)), zd + 1e-2 * rng.normal(size=(s, n))
    st.state[contract.SIZE_B], st.state[contract.SIZE_C] = np.abs(st.B).max(), np.abs(st.C).max()
    return st


def solved(family, st, twice, compliance, redundant=False):
    answer = family.stage_equations(contract.StageTask(st, twice, compliance, redundant))
    answer.evaluate(0.0, st.state, st.state)
    answer.solve(0.0, st.state, st.state)


def compare(family, z, zd, method, iteration, skipped=lambda twice: False):
    T, soft = table_of(method), np.full(family.m, 1e-3)
    of_bodies = family.name == "reference_point"  # missing masses are found in another way there
    masses = elimination_program(family.system, False, True).masses if of_bodies else None
    for twice, compliance in ((False, 0.0 * soft), (True, 0.0 * soft), (False, soft)):
        if skipped(twice):
            continue
        st = stages_off(family, T, z, zd, iteration)
        wanted = DenseNewton(family, st, twice, compliance, iteration == contract.EXACT, masses).solve()
        solved(family, st, twice, compliance)
        for level in ("da", "dlam", "dmu", "de") if twice else ("da", "dlam"):
            size = np.abs(wanted[level]).max(initial=0.0) + 1e-300
            np.testing.assert_allclose(getattr(st, level), wanted[level], atol=3e-6 * size, err_msg=level)


@pytest.mark.parametrize("iteration", [contract.EXACT, contract.COURSE], ids=["exact", "course"])
@pytest.mark.parametrize("coordinates", sorted(Family.registry))
@pytest.mark.parametrize("name", slow_among(MODELS, "stiff chain", "slot with block"))
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_sparse_corrections_are_the_dense_ones(name, method, coordinates, iteration):
    """The dense tangent is found by central differences.

    "course" leaves second derivatives out of both, but for those of the rates of constraints in reference points.
    """
    try:
        family, z, zd = new_family(MODELS[name](), coordinates)
    except UnsupportedError:
        assert coordinates == "natural" and name in ("four-bar", "skate")  # angles that count turns
        return
    # a single stage in reference points takes the symmetric part of the tangent
    symmetric = coordinates == "reference_point" and isinstance(method, BDF) and name != "chain"
    of_rates = iteration == contract.COURSE
    compare(
        family, z, zd, method, iteration,
        lambda twice: (symmetric and not twice) or (of_rates and (twice or name == "skate")),
    )  # fmt: skip


@pytest.mark.parametrize("every", [0, 2])
@pytest.mark.parametrize("name", ["chain", "stiff chain", "quick return"])
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_long_ways_from_the_ground(name, method, every, monkeypatch):
    """Pivotal bodies change the equations that are solved, and not their solution."""
    monkeypatch.setattr(stage_map, "EVERY", every)
    compare(*new_family(MODELS[name](), "relative"), method, contract.EXACT)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_distances_as_coordinates(method):
    compare(*new_family(actuator(), "mixed"), method, contract.EXACT)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("coordinates", sorted(Family.registry))
def test_redundant_constraints_are_legal(coordinates, twice):
    """-eps is in their place."""
    family, z, zd = new_family(three_cranks(), coordinates)
    st = stages_off(family, table_of(RadauIIA()), z, zd)
    solved(family, st, twice, np.zeros(family.m), redundant=True)
    assert np.all(np.isfinite(st.da)) and np.all(np.isfinite(st.dlam))
    # gaps that contradict each other are noticed
    assert st.state[contract.CHANGE] > 0.0


@pytest.mark.parametrize("coordinates", sorted(Family.registry))
def test_nothing_moves(coordinates):
    """A body that is held has no coordinates in some families."""
    model = se.Model("held")
    model.add(se.Fixed("weld", model.ground, model.body("body", mass=1, inertia=1, at=(0, 0))))
    results = se.dynamics(model, t_end=0.1, step=0.05, coordinates=coordinates, integrator="newmark")
    np.testing.assert_array_equal(results.q, 0.0)


@pytest.mark.parametrize("s", [1, 3])
def test_fronts_against_a_dense_solution(s):
    """Zeros on the diagonal too, as those of multipliers are: rows are exchanged."""
    rng, n = np.random.default_rng(3), 30
    near = lambda i, j: abs(i - j) <= 2 or {i, j} == {0, n - 1}
    row, column = np.nonzero([[near(i, j) and (i != j or i % 3 > 0) for j in range(n)] for i in range(n)])
    K, A, x = fronts(row, column, n, s), np.zeros((n * s, n * s)), np.zeros((n, s))
    K.v[:] = rng.normal(size=K.v.shape) * 10.0 ** rng.uniform(-3, 3, size=(row.size, 1, 1))
    for block, i, j in zip(K.v, row, column, strict=True):
        A[i * s : i * s + s, j * s : j * s + s] = block
    factor_fronts(K)
    for _ in range(2):  # the factors serve any right-hand side
        right = rng.normal(size=(n, s))
        solve_fronts(K, right, x)
        wanted = np.linalg.solve(A, right.ravel())
        np.testing.assert_allclose(x.ravel(), wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    assert max(K.rows) <= 8 * s


def test_blocks_against_a_dense_solution():
    rng = np.random.default_rng(2)
    couplings = [(i, i) for i in range(5)] + [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    analysis, k = analyze(couplings, [2, 0, 4, 1, 3]), 3
    K = new_blocks(analysis.program, k)
    A = np.zeros((5 * k, 5 * k))
    for i, j in couplings:
        slot = int(analysis.slots(np.array([i]), np.array([j]))[0])
        one, other = rng.normal(size=(2, k, k))
        first, second = (i, j) if analysis.at[i] <= analysis.at[j] else (j, i)
        K.upper[slot] = one + (8.0 * np.eye(k) if i == j else 0.0)
        A[first * k : first * k + k, second * k : second * k + k] = K.upper[slot]
        if i != j:
            K.lower[slot] = other
            A[second * k : second * k + k, first * k : first * k + k] = other
    K.right[:] = rng.normal(size=(5, k))
    eliminate_blocks(analysis.program, K)
    solve_blocks(analysis.program, K)
    np.testing.assert_allclose(K.x.ravel(), np.linalg.solve(A, K.right.ravel()), rtol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["index3", "ggl", "augmented_lagrangian"])
@pytest.mark.parametrize("method", ["radau_iia", "bdf", "generalized_alpha"])
def test_reference_points_find_the_steps_of_mixed_coordinates(method, formulation):
    """Elimination programs and fronts, on formulas that differ by the coordinates: both are as exact as the method.

    The symmetric tangent of single stages costs an iteration now and then.
    """
    how = {"t_end": 0.2, "step": 0.002, "integrator": method, "formulation": formulation}
    ours, theirs = (
        se.dynamics(loaded_four_bar(), coordinates=c, **how) for c in ("reference_point", "mixed")
    )
    np.testing.assert_allclose(ours.q, theirs.q, atol=2e-5)
    assert ours.statistics["Newton iterations"] <= 1.5 * theirs.statistics["Newton iterations"]
