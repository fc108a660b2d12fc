"""Stages of implicit methods: the sparse answer of reference points against the dense one, and blocks against NumPy."""

import numpy as np
import pytest

import simengine2d as se
from dae_runs import new_family
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.coordinates import stages as contract
from simengine2d.coordinates.dense_stages import dense_stages
from simengine2d.coordinates.reference_point.stages import sparse_stages
from simengine2d.integrators.bdf import BDF
from simengine2d.integrators.radau_iia import RadauIIA
from simengine2d.integrators.second_order_tables import table_of
from simengine2d.numerics.block_elimination import eliminate_blocks, new_blocks, solve_blocks
from simengine2d.numerics.ldl import analyze


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


MODELS = {"four-bar": loaded_four_bar, "skate": skate, "chain": lambda: builders.chain(4, angle=0.3)}


def corrections(family, answer, T, twice, compliance, redundant=False, iteration=contract.EXACT, h=0.02):
    """da, dlam, de and dmu of a family's answer at stages that are off by as much as a guess may be."""
    options = np.array([1e-10, 1e-12, 1e-15, iteration, 0.1, 1e-6, contract.POSITION])
    s, n, m = T.c.size, family.n, family.m
    st = contract.new_stages(s, n, m, options)
    rng = np.random.default_rng(1)
    z, zd = family_state(family)
    st.t[:], st.B[:], st.C[:] = T.c * h, T.B * h * h, T.C * h
    st.a[:], st.lam[:] = rng.normal(size=(s, n)), rng.normal(size=(s, m))
    st.z[:], st.zd[:] = z + 1e-3 * rng.normal(size=(s, n)), zd + 1e-2 * rng.normal(size=(s, n))
    st.state[contract.SIZE_B], st.state[contract.SIZE_C] = np.abs(st.B).max(), np.abs(st.C).max()
    found = answer(contract.StageTask(st, twice, compliance, redundant))
    found.evaluate(0.0, st.state, st.state)
    found.solve(0.0, st.state, st.state)
    return st


def family_state(family):
    from simengine2d.analyses.dynamics.initial_state import start

    at = start(family.system, 0.0).assembly
    return at.q, at.qd


@pytest.mark.parametrize("iteration", [contract.EXACT, contract.COURSE], ids=["exact", "course"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", [RadauIIA(), BDF(2)], ids=lambda m: m.name)
def test_sparse_corrections_are_the_dense_ones(name, method, iteration):
    """The dense tangent is found by finite differences, to 1e-7 of what it is made of.

    "course" leaves second derivatives out of both, but for those of the rates of constraints in the sparse form.
    """
    family, _, _ = new_family(MODELS[name]())
    T, soft = table_of(method), np.full(family.m, 1e-3)
    for twice, compliance in ((False, 0.0 * soft), (True, 0.0 * soft), (False, soft)):
        if T.c.size == 1 and not twice and name != "chain":
            continue  # a single stage takes the symmetric part of the tangent
        if (twice or name == "skate") and iteration == contract.COURSE:
            continue
        sparse = corrections(
            family, lambda task: sparse_stages(family.system, task), T, twice, compliance, iteration=iteration
        )
        dense = corrections(
            family, lambda task: dense_stages(family, task), T, twice, compliance, iteration=iteration
        )
        for level in ("da", "dlam", "dmu", "de"):
            found, wanted = getattr(sparse, level), getattr(dense, level)
            if twice or level in ("da", "dlam"):
                np.testing.assert_allclose(
                    found, wanted, atol=3e-6 * (np.abs(wanted).max() + 1e-300), err_msg=level
                )


@pytest.mark.parametrize("twice", [False, True])
def test_redundant_constraints_are_legal(twice):
    """-eps stands in their place: corrections are those of the dense form, which leaves rows out, but for eps."""
    family, _, _ = new_family(three_cranks())
    T, none = table_of(RadauIIA()), np.zeros(family.m)
    sparse = corrections(
        family, lambda task: sparse_stages(family.system, task), T, twice, none, redundant=True
    )
    assert np.all(np.isfinite(sparse.da)) and np.all(np.isfinite(sparse.dlam))
    # gaps that contradict each other are noticed
    assert sparse.state[contract.CHANGE] > 0.0


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
    """Sparse and dense solvers, on formulas that differ by the coordinates: both are as exact as the method.

    The symmetric tangent of single stages costs an iteration now and then.
    """
    how = {"t_end": 0.2, "step": 0.002, "integrator": method, "formulation": formulation}
    ours, theirs = (
        se.dynamics(loaded_four_bar(), coordinates=c, **how) for c in ("reference_point", "mixed")
    )
    np.testing.assert_allclose(ours.q, theirs.q, atol=2e-5)
    assert ours.statistics["Newton iterations"] <= 1.5 * theirs.statistics["Newton iterations"]
