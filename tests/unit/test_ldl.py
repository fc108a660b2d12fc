"""The linear solver of dynamics, and its order of elimination."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.numerics.arrays import starts
from simengine2d.numerics.ldl import analyze, eliminate, solve_again, substitute
from simengine2d.numerics.ordering import elimination_order
from simengine2d.system.elimination import elimination_program
from simengine2d.system.equations_of_motion import accelerate
from simengine2d.system.system import System

MECHANISMS = {
    "four-bar": lambda: builders.four_bar(1, 2, 3, 3),
    "driven four-bar": lambda: builders.four_bar(1, 2, 3, 3, speed=2),
    "slider-crank": lambda: builders.slider_crank(1, 2),
    "quick return": lambda: builders.quick_return(0.3, 0.8, 1.2, 0.5),
    "chain of 1": lambda: builders.chain(1),
    "chain of 12": lambda: builders.chain(12, angle=0.4),
    "ladder of 1": lambda: builders.four_bar_ladder(1),
    "ladder of 5": lambda: builders.four_bar_ladder(5),
}


def solved(system, redundant=False, tangent=False, qd=None, seed=0):
    """Accelerations and multipliers in the drawn pose at random velocities, and the dense equations."""
    q = assemble(system, 0.0).q
    qd = np.random.default_rng(seed).uniform(-1, 1, system.n) if qd is None else qd
    d = elimination_program(system, redundant, tangent)
    w = system.new_workspace(d)
    accelerate(system.arrays, d, 0.0, q, qd, w)
    Phi_q = system.Phi_q(0.0, q)
    K = np.block([[system.M(), Phi_q.T], [Phi_q, np.zeros((system.m, system.m))]])
    return w.x.copy(), K, np.concatenate([system.QA(0.0, q, qd), system.gamma(0.0, q, qd)]), d


@pytest.mark.parametrize("tangent", [False, True])
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_solution_is_that_of_numpy(name, tangent):
    system = System(MECHANISMS[name]())
    x, K, right, _ = solved(system, tangent=tangent)
    np.testing.assert_allclose(K @ x, right, atol=1e-9 * (1.0 + np.abs(x).max()))
    np.testing.assert_allclose(x, np.linalg.solve(K, right), atol=1e-9 * (1.0 + np.abs(x).max()))


def test_the_work_grows_with_the_links_of_a_chain():
    """0.5 to 0.7 us per link need a number of updates per link that does not depend on their number."""
    updates = {
        n: elimination_program(System(builders.chain(n)), False, True).program.target.size
        for n in (10, 20, 40, 80)
    }
    per_link = {(b, a): (updates[b] - updates[a]) / (b - a) for a, b in ((10, 20), (20, 40), (40, 80))}
    assert len(set(per_link.values())) == 1
    assert updates[80] < 200 * 80


def test_the_work_grows_with_the_windows_of_a_ladder():
    updates = [
        elimination_program(System(builders.four_bar_ladder(n)), False, True).program.target.size
        for n in (10, 20, 40)
    ]
    assert updates[2] - updates[1] < 2.2 * (updates[1] - updates[0])


def test_every_unknown_is_eliminated_once():
    for build_model in MECHANISMS.values():
        system = System(build_model())
        order = elimination_program(system, False, False).program.order
        assert sorted(order) == list(range(system.n + system.m))


def ordered(bodies, joints, rows=2):
    """The order of unknowns for joints with so many rows each."""
    start = starts(np.array([len(members) for members in joints], dtype=np.int64))
    members = np.array([body for joint in joints for body in joint], dtype=np.int64)
    return elimination_order(bodies, start, members, np.full(len(joints), rows)).tolist()


def test_a_tree_goes_from_its_leaves_to_the_ground():
    """Each joint follows one of its bodies, so no multiplier has a pivot of zero."""
    joints = [[-1, 0], [0, 1], [1, 2], [0, 3]]
    order = ordered(4, joints)
    place = {unknown: k for k, unknown in enumerate(order)}
    for k, bodies in enumerate(joints):
        assert min(place[3 * body] for body in bodies if body >= 0) < place[3 * 4 + 2 * k]


def test_loops_close_last():
    """A four-bar: three of its joints may go with the bodies, the one that closes the loop comes after all bodies."""
    order = ordered(3, [[-1, 0], [0, 1], [1, 2], [-1, 2]])
    last_body = max(order.index(3 * body) for body in range(3))
    assert sum(order.index(9 + 2 * k) > last_body for k in range(4)) >= 1


def test_no_unknowns_and_single_bodies():
    assert ordered(0, []) == []
    assert ordered(2, []) == [0, 1, 2, 3, 4, 5]


def test_a_second_right_hand_side():
    """`solve_again` uses the factors of `eliminate`."""
    rng = np.random.default_rng(3)
    A = rng.uniform(-1, 1, (6, 6)) + 6 * np.eye(6)
    A = A + A.T
    i, j = np.triu_indices(6)
    analysis = analyze(list(zip(i.tolist(), j.tolist(), strict=True)), [3, 0, 5, 1, 2, 4])
    v = np.zeros(analysis.program.column.size)
    v[analysis.slots(i, j)] = A[i, j]
    first, second = rng.uniform(-1, 1, 6), rng.uniform(-1, 1, 6)
    v[analysis.right_hand(np.arange(6))] = first
    x, work = np.empty(6), np.empty(6)
    eliminate(analysis.program, v)
    substitute(analysis.program, v, x, work)
    np.testing.assert_allclose(A @ x, first, atol=1e-13)
    solve_again(analysis.program, v, second, x, work)
    np.testing.assert_allclose(A @ x, second, atol=1e-13)


# Redundant constraints --------------------------------------------------------------------------------


def consistent_velocity(system, q, seed=0):
    """A random velocity that the constraints allow."""
    Phi_q = system.Phi_q(0.0, q)
    return (np.eye(system.n) - np.linalg.pinv(Phi_q) @ Phi_q) @ np.random.default_rng(seed).uniform(
        -1, 1, system.n
    )


@pytest.mark.parametrize("mass", [1.0, 0.0])
@pytest.mark.parametrize("angle", [0.4, 1.0, 1.5])
def test_redundant_constraints(angle, mass):
    """Three parallel cranks: accelerations of the least-squares solution, multipliers of the smallest norm."""
    model = three_cranks(angle)
    model["middle"].mass = mass
    system = System(model)
    qd = consistent_velocity(system, assemble(system, 0.0).q)
    x, K, right, _ = solved(system, redundant=True, qd=qd)
    exact = np.linalg.lstsq(K, right, rcond=1e-12)[0]  # of the smallest norm
    np.testing.assert_allclose(K @ exact, right, atol=1e-11)
    np.testing.assert_allclose(x[: system.n], exact[: system.n], atol=1e-8 * np.abs(exact).max())
    np.testing.assert_allclose(x[system.n :], exact[system.n :], atol=1e-4 * np.abs(exact).max())


def test_redundant_joints_are_named():
    results = se.dynamics(three_cranks(), t_eval=[0.0, 0.1])
    unique = set(results.model.joints) - set(results.non_unique)
    assert results.non_unique  # every crank carries a part of the redundant force
    assert any("not unique" in note for note in results.notes)
    null = np.linalg.svd(results.system.Phi_q(0.0, results.q[0]).T)[2][-1]
    touched = {name for (name, _), part in zip(results.system.rows, null, strict=True) if abs(part) > 1e-9}
    assert touched == set(results.non_unique)
    assert unique.isdisjoint(touched)


def test_a_regular_mechanism_has_unique_reactions():
    assert se.dynamics(builders.four_bar(1, 2, 3, 3), t_eval=[0.0]).non_unique == []


def test_the_same_joint_twice():
    """Each of the two pins then carries half of the force."""
    twice, once = builders.chain(1), builders.chain(1)
    twice.add(se.Revolute("again", twice.ground, twice["link1"]["start"]))
    r, single = (se.dynamics(model, t_eval=[0.0, 0.3]) for model in (twice, once))
    np.testing.assert_allclose(r.q, single.q, atol=1e-8)
    np.testing.assert_allclose(r["pin1.fy"], single["pin1.fy"] / 2, rtol=1e-4)
    np.testing.assert_allclose(r["again.fy"] + r["pin1.fy"], single["pin1.fy"], rtol=1e-5)
    assert r.non_unique == ["pin1", "again"]


# Bodies without mass ----------------------------------------------------------------------------------


def test_a_point_mass():
    """inertia = 0, held by a pin: the angle has inertia through the constraint only."""
    model = se.Model()
    mass = model.body("mass", mass=2, inertia=0, at=(1, 0), points={"O": (-1, 0)})
    model.add(se.Revolute("O", model.ground, mass["O"]))
    x, K, right, d = solved(System(model), qd=np.zeros(3))
    np.testing.assert_allclose(x, np.linalg.solve(K, right), atol=1e-9)
    assert d.template[d.diagonal[2]] > 0.0


def test_a_body_without_mass_in_a_loop():
    """The block of a quick-return mechanism has neither mass nor inertia; without it the motion is the same."""
    with_block, without = (
        System(builders.quick_return(0.3, 0.8, 1.2, 0.5, block=block)) for block in (True, False)
    )
    x, K, right, _ = solved(with_block, qd=np.zeros(with_block.n))
    np.testing.assert_allclose(x, np.linalg.solve(K, right), atol=1e-8 * np.abs(x).max())
    y, *_ = solved(without, qd=np.zeros(without.n))
    crank = with_block.coordinate_names.index("crank.phi")
    assert x[crank] == pytest.approx(y[without.coordinate_names.index("crank.phi")], rel=1e-8)
