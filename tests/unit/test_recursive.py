"""The recursion in relative coordinates against the same equations with dense matrices."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_trees import independent, mechanisms, posed, solved

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.coordinates import row_scales
from simengine2d.coordinates.equations import Configuration, projection
from simengine2d.coordinates.mapped import MappedEquations
from simengine2d.coordinates.relative import recursive
from simengine2d.coordinates.relative.joint_forces import HOLDS
from simengine2d.coordinates.relative.loop_arrays import RowLimits
from simengine2d.coordinates.relative.loop_paths import path_of
from simengine2d.coordinates.relative.relative import Relative
from simengine2d.coordinates.relative.tree_motion import FLOAT, KIND, OWN_SLOT, PIN, SLIDE, SLOT, WELD
from simengine2d.model import library
from simengine2d.system import elimination

often = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 2**32 - 1)
T = 0.7

# rounding, times the spread of masses and pivots of random mechanisms
TOLERANCE = 1e-10


def equations_of(family, alpha2=0.0, beta2=0.0, compliance=0.0, eps=0.0):
    give = np.full(family.m, compliance)
    rows = RowLimits(give, np.maximum(give, eps), np.ones(family.m))
    return recursive.RecursiveEquations(family, np.array([alpha2, beta2]), rows, bool(np.any(eps)))


def accelerations(family, t, z, zd, alpha2=0.0, beta2=0.0, compliance=0.0, eps=0.0):
    """zdd and lam by the recursion."""
    equations = equations_of(family, alpha2, beta2, compliance, eps)
    out = np.empty(2 * family.n)
    equations.accelerate(t, np.concatenate([z, zd]), out)
    np.testing.assert_array_equal(out[: family.n], zd)
    return out[family.n :], equations.loops.lam[: family.m].copy()


def projected(family, t, z, zd):
    """z, zd and the monitors after the projection."""
    y, monitors = np.concatenate([z, zd]), np.zeros(2)
    projection(equations_of(family), np.array([1e-13]))(t, y, monitors)
    return y[: family.n], y[family.n :], monitors


def softness(family, t, z):
    """One eps for all rows, with which the smallest lam is found."""
    return 1e-6 * recursive.felt_by_loops(family, Configuration(t, z, True)).max()


def check(found, expected, tolerance=TOLERANCE):
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


@often
@given(model=mechanisms(), seed=seeds)
def test_accelerations_and_multipliers_of_random_mechanisms(model, seed):
    _, family, z, zd = posed(model, seed, size=0.3)
    assume(independent(family, T, z, zd))
    e = family.at(T, z, zd)
    zdd, lam = solved(e.M, e.Q, e.J, e.gamma)
    found = accelerations(family, T, z, zd)
    check(found[0], zdd)
    check(found[1], lam)


@often
@given(model=mechanisms(loops=False), seed=seeds)
def test_trees_without_loops_are_met_to_rounding(model, seed):
    _, family, z, zd = posed(model, seed)
    assume(family.m == 0)
    e = family.at(T, z, zd)
    check(accelerations(family, T, z, zd)[0], np.linalg.solve(e.M, e.Q), 1e-12)


@often
@given(model=mechanisms(), seed=seeds)
def test_stabilization_and_compliance(model, seed):
    """[M J^T; J -c] [zdd; lam] = [Q; gamma - 2 alpha (J zd - nu) - beta^2 Phi]"""
    _, family, z, zd = posed(model, seed, size=0.1)
    e = family.at(T, z, zd)
    gamma = e.gamma - 3.0 * (e.J @ zd - e.nu) - 5.0 * e.Phi
    zdd, lam = solved(e.M, e.Q, e.J, gamma, compliance=0.2)
    found = accelerations(family, T, z, zd, alpha2=3.0, beta2=5.0, compliance=0.2)
    check(found[0], zdd)
    check(found[1], lam)


@often
@given(model=mechanisms(), seed=seeds)
def test_velocities_are_projected_by_the_smallest_change(model, seed):
    """M dz + J^T lam = 0,   J (zd + dz) = nu, at a pose that is closed."""
    _, family, z, zd = posed(model, seed, size=0.02)
    assume(independent(family, T, z, zd))
    z = projected(family, T, z, zd)[0]
    e = family.at(T, z, zd)
    assume(np.abs(e.Phi).max(initial=0.0) < 1e-12 and independent(family, T, z, zd))
    change, _ = solved(e.M, np.zeros(family.n), e.J, e.nu - e.J @ zd)
    found = np.abs(e.J @ zd - e.nu).max(initial=0.0)
    after_z, after, monitors = projected(family, T, z, zd)
    np.testing.assert_array_equal(after_z, z)
    np.testing.assert_allclose(monitors[1], found, atol=1e-12)
    check(after - zd, change)


@pytest.mark.parametrize("name", library.names())
def test_shipped_models(name):
    with library.file(name) as path:
        at = assemble(se.load(path))
    family = Relative(at.system, at.q)
    z, zd = family.positions(at.q), family.velocities(at.q, at.qd)
    assert recursive.suits(family)
    eps = softness(family, 0.0, z) if name == "parallelogram" else 0.0
    e = family.at(0.0, z, zd)
    zdd, lam = solved(e.M, e.Q, e.J, e.gamma)
    found = accelerations(family, 0.0, z, zd, eps=eps)
    check(found[0], zdd)
    check(found[1], lam, 1e-8 if eps else TOLERANCE)  # the smallest lam, after some refinements
    # a little off its constraints, it comes back to them
    z, zd, monitors = projected(family, 0.0, z + 1e-3, zd + 1e-2) if not eps else (z, zd, np.ones(2))
    e = family.at(0.0, z, zd)
    assert np.abs(e.Phi).max(initial=0.0) < 1e-11
    assert np.abs(e.J @ zd - e.nu).max(initial=0.0) < 1e-11
    assert family.m == 0 or monitors.min() > 0.0


def test_every_kind_of_branch_occurs_in_the_random_mechanisms():
    kinds = set()

    # what Hypothesis tries depends on the modules that other tests have loaded
    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    @given(model=mechanisms())
    def collect(model):
        kinds.update(posed(model, 0)[1].tree.numbers[:, KIND].tolist())

    collect()
    assert kinds == {PIN, SLIDE, SLOT, OWN_SLOT, WELD, FLOAT}


def test_redundant_loops_share_their_load_in_the_smallest_way():
    model = three_cranks()
    for body in model.bodies.values():
        body.mass = 1.0
    at = assemble(model)
    family = Relative(at.system, at.q)
    z, zd = family.positions(at.q), family.velocities(at.q, at.qd)
    zd = zd + np.array([0.8 if name in ("A.angle", "D.angle", "E.angle") else -0.8 for name in family.names])
    e = family.at(0.0, z, zd)
    assert np.abs(e.J @ zd).max() < 1e-12
    zdd, lam = solved(e.M, e.Q, e.J, e.gamma)
    eps = softness(family, 0.0, z)
    found = accelerations(family, 0.0, z, zd, eps=eps)
    check(found[0], zdd)
    check(found[1], lam, 1e-8)


def test_a_pendulum():
    """(J + m l^2) phidd = -m g l sin(phi)"""
    model = se.Model(gravity=(0, -9.81))
    body = model.body("bar", mass=2.0, inertia=0.5, at=(0, -0.7), points={"O": (0, 0.7)})
    model.add(se.Revolute("O", model.ground, body["O"]))
    system = se.System(model)
    family = Relative(system, system.drawn_q)
    for phi in (0.3, -2.0, 31.0):
        zdd, _ = accelerations(family, 0.0, np.array([phi]), np.array([4.0]))
        np.testing.assert_allclose(zdd, -2.0 * 9.81 * 0.7 * np.sin(phi) / (0.5 + 2.0 * 0.7**2), rtol=1e-14)


def test_a_body_on_a_turning_slide():
    """sdd = omega^2 s and phidd = -2 s sd omega / (J / m + s^2): a bead on a free rod, seen from its pin."""
    model = se.Model(gravity=(0, 0))
    rod = model.body("rod", mass=1.0, inertia=1.5)
    bead = model.body("bead", mass=2.0, inertia=0.5, at=(3, 0))
    model.add(se.Revolute("O", model.ground, rod))
    model.add(se.Translational("along", rod, bead, direction=(1, 0)))
    system = se.System(model)
    family = Relative(system, system.drawn_q)
    assert family.names == ["O.angle", "along.along"]
    s, sd, omega = 3.0, 0.4, 1.7
    zdd, _ = accelerations(family, 0.0, np.array([0.9, s]), np.array([omega, sd]))
    inertia = 1.5 + 0.5 + 2.0 * s**2
    np.testing.assert_allclose(zdd, [-2 * 2.0 * s * sd * omega / inertia, omega**2 * s], rtol=1e-13)


@pytest.mark.parametrize("links", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_long_chain_accelerates_as_in_reference_points(links):
    """1e-11 of the largest acceleration for a thousand links: no digits are lost along the chain."""
    system = se.System(builders.chain(links))
    family = Relative(system, system.drawn_q)
    rng = np.random.default_rng(3)
    z, zd = family.positions(system.drawn_q) + rng.normal(size=links), rng.normal(size=links)
    zdd, _ = accelerations(family, 0.0, z, zd)
    found = family.bodies(0.0, z, zd, zdd)
    residual = system.M().diagonal() * found.qdd - system.QA(0.0, found.q, found.qd)
    # what is left are forces in the joints: they do no work in any motion of the chain
    size = np.abs(residual).max()
    for _ in range(3):
        motion = family.bodies(0.0, z, rng.normal(size=links), zdd).qd
        assert abs(motion @ residual) < 1e-11 * size * np.abs(motion).sum()


def test_a_loop_of_many_rows_is_solved_as_well():
    """A ladder: two rows for each window, each coupled to its neighbors alone."""
    at = assemble(builders.four_bar_ladder(8))
    family = Relative(at.system, at.q)
    z = family.positions(at.q)
    zd = projected(family, 0.0, z, np.linspace(1.0, 2.0, family.n))[1]
    e = family.at(0.0, z, zd)
    assert family.m == 16
    eps = softness(family, 0.0, z)
    zdd, _ = solved(e.M, e.Q, e.J, e.gamma)
    check(accelerations(family, 0.0, z, zd, eps=eps)[0], zdd, 1e-9)


def test_paths_go_branch_by_branch_and_meet():
    #   ground (6) - 0 - 1 - 2 - 4,  1 - 3 - 5
    parent = [6, 0, 1, 1, 2, 3]
    assert path_of(parent, {6, 4}) == [~4, 2, 1, 0]
    assert path_of(parent, {4, 5}) == [~5, 3, ~4, 2, ~1, 0]
    assert path_of(parent, {4, 2}) == [~4, ~2, 1, 0]
    assert path_of(parent, {6}) == []


def start_of(family):
    return Configuration(0.0, family.positions(family.q), False)


def test_what_has_no_inertia_is_left_to_the_equations_of_its_map():
    heavy, light = builders.four_bar(1, 2, 3, 3), builders.four_bar(1, 2, 3, 3)
    for body in heavy.bodies.values():
        body.mass, body.inertia = 1.0, 1.0
    for body in light.bodies.values():
        body.mass, body.inertia = (1.0, 1.0) if body.name == "crank" else (0.0, 0.0)
    families = [Relative(at.system, at.q) for at in map(assemble, (heavy, light))]
    assert [recursive.suits(family) for family in families] == [True, False]
    kinds = [type(family.equations_of_motion(se.Projection(), start_of(family))) for family in families]
    assert kinds == [recursive.RecursiveEquations, MappedEquations]


def test_a_point_mass_on_a_rod_without_mass_has_inertia():
    model = se.Model()
    model.body("rod", mass=0.0, inertia=0.0)
    model.body("bob", mass=1.0, inertia=0.0, at=(1, 0))
    model.add(se.Revolute("O", "ground", "rod"))
    model.add(se.Fixed("tip", "rod", "bob"))
    system = se.System(model)
    assert recursive.suits(Relative(system, system.drawn_q))


@pytest.mark.parametrize("formulation", [se.Projection(), se.Augmented(), se.Penalty()])
def test_formulations_have_the_accelerations_of_their_equations(formulation):
    model = builders.four_bar(1, 2, 3, 3)
    for body in model.bodies.values():
        body.mass, body.inertia = 1.0, 0.2
    at = assemble(model)
    family = Relative(at.system, at.q)
    z, zd = family.positions(at.q) + 0.01, family.velocities(at.q, at.qd) + 0.3
    problem = formulation.problem(family, start_of(family))
    problem.tolerance[0] = 1e-12
    y, out = np.concatenate([z, zd]), np.empty(2 * family.n)
    problem.rhs(0.0, y, out)
    e = family.at(0.0, z, zd)
    compliances = formulation.compliances(row_scales.given_in(family, 0.0, family.positions(at.q)))
    e = family.at(0.0, z, zd)
    alpha2, beta2 = formulation.stabilization
    gamma = e.gamma - alpha2 * (e.J @ zd - e.nu) - beta2 * e.Phi
    check(out[family.n :], solved(e.M, e.Q, e.J, gamma, compliances)[0], 1e-9)
    problem.finish(0.0, y, problem.monitors)
    moved = np.abs(y - np.concatenate([z, zd])).max()
    assert (moved > 1e-3) == formulation.projects


# Multipliers of all rows --------------------------------------------------------------------------------


# mechanisms whose rounding, off their pose at t = 0, exceeds what is accepted of the way body after body
SOLVED_AS_A_WHOLE = (
    "excavator", "front_loader", "landing_gear", "scissor_lift", "toggle_clamp", "valve_train", "walker",
)  # fmt: skip


@pytest.mark.parametrize("formulation", [se.Projection(), se.Augmented(), se.Penalty()], ids=lambda f: f.name)
@pytest.mark.parametrize("name", [name for name in library.names() if name != "parallelogram"])
def test_multipliers_of_the_tree_follow_from_those_of_the_loops(name, formulation):
    """Phi_q^T lam = QA - M qdd, for all rows of the system, at the first output and at later ones."""
    with library.file(name) as path:
        at = assemble(se.load(path))
    system, family = at.system, Relative(at.system, at.q)
    z, zd = family.positions(at.q), family.velocities(at.q, at.qd)
    problem = formulation.problem(family, start_of(family))
    assert problem.multipliers is not None
    y, yd, lam = np.concatenate([z, zd]), np.empty(2 * family.n), np.empty(system.m)
    for t in (0.0, 1e-3, 2e-3):
        problem.rhs(t, y, yd)
        q, qd, qdd = family.bodies(t, z, zd, yd[family.n :])
        problem.multipliers.pointer(t, np.concatenate([q, qd, qdd]), lam)
        needed = system.QA(t, q, qd) - system.M().diagonal() * qdd
        check(system.Phi_q(t, q).T @ lam, needed, 1e-9)
        # the first output is solved as a whole where there are loops, the others body after body. What the whole
        # leaves over, against the terms of an equation that nearly vanish, is rounding: 1e-10 where the accelerations
        # have 14 digits (see the next test)
        whole = t == 0.0 or name in SOLVED_AS_A_WHOLE
        assert problem.multipliers.monitors.lost[0] < (1e-9 if whole else HOLDS)
        problem.multipliers.monitors.lost[:] = 0.0


@often
@given(model=mechanisms(), seed=seeds)
def test_forces_in_joints_of_random_mechanisms(model, seed):
    """Pins, guides, slots and welds in both directions, bodies that float, and rows of all kinds that close loops."""
    system, family, z, zd = posed(model, seed, size=0.3)
    assume(independent(family, T, z, zd) and recursive.suits(family) and not elimination.unequal(system))
    problem = se.Projection().problem(family, Configuration(T, z, False))
    assume(problem.multipliers is not None)  # no row holds in every pose
    z, zd, _ = projected(family, T, z, zd)
    assume(independent(family, T, z, zd))
    y, yd, lam = np.concatenate([z, zd]), np.empty(2 * family.n), np.full(system.m, np.nan)
    monitors = problem.multipliers.monitors
    for _ in range(2):  # the first output is solved as a whole
        problem.rhs(T, y, yd)
        q, qd, qdd = family.bodies(T, z, zd, yd[family.n :])
        monitors.errors[:] = monitors.lost[:] = monitors.changed[:] = 0.0
        problem.multipliers.pointer(T, np.concatenate([q, qd, qdd]), lam)
    needed = system.QA(T, q, qd) - system.M().diagonal() * qdd
    check(system.Phi_q(T, q).T @ lam, needed, 1e-9)
    # what is reported of the rows is what they are
    Phi = np.abs(system.Phi(T, q)).max(initial=0.0)
    rates = np.abs(system.Phi_q(T, q) @ qd - system.nu(T, q)).max(initial=0.0)
    np.testing.assert_allclose(monitors.errors[:2], [Phi, rates], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["hart_inversor", "klann_leg", "jansen_leg", "quick_return", "stephenson_six_bar"]
)
def test_accelerations_have_all_their_digits(name):
    """Against the whole system [M Phi_q^T; Phi_q 0], solved with 40 digits."""
    with library.file(name) as path:
        at = assemble(se.load(path))
    system, family = at.system, Relative(at.system, at.q)
    z, zd = family.positions(at.q), family.velocities(at.q, at.qd)
    y, yd = np.concatenate([z, zd]), np.empty(2 * family.n)
    se.Projection().problem(family, start_of(family)).rhs(0.0, y, yd)
    q, qd, qdd = family.bodies(0.0, z, zd, yd[family.n :])
    right = np.concatenate([system.QA(0.0, q, qd), system.gamma(0.0, q, qd)])
    Phi_q = system.Phi_q(0.0, q)
    zeros = np.zeros((system.m, system.m))
    matrix = np.block([[system.M(), Phi_q.T], [Phi_q, zeros]])
    with mpmath.workdps(40):
        exact = np.array(
            mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(right.tolist())), float
        )
    np.testing.assert_allclose(
        qdd, exact[: system.n].ravel(), rtol=0, atol=1e-12 * np.abs(exact[: system.n]).max()
    )


def test_a_tree_needs_no_elimination_program(monkeypatch):
    tree, loop = builders.chain(4), builders.four_bar(1, 2, 3, 3)
    for body in loop.bodies.values():
        body.mass, body.inertia = 1.0, 0.2
    made: list[int] = []
    structure = elimination.program_structure
    monkeypatch.setattr(elimination, "program_structure", lambda *a: made.append(a[0]) or structure(*a))
    for model in (tree, loop):
        se.dynamics(model, t_end=0.1, coordinates="relative")
    assert set(made) == {len(loop.bodies)}
    expected = se.dynamics(builders.chain(4), t_end=0.1, rtol=1e-10)
    given = se.dynamics(tree, t_end=0.1, rtol=1e-10, coordinates="relative")
    check(given.lam[-1], expected.lam[-1], 1e-8)
