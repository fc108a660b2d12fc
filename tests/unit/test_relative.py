"""Relative coordinates: the spanning tree, q = f(z), R and Rd zd, and the same accelerations as in x, y, phi."""

from __future__ import annotations

from functools import partial
from math import pi

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_trees import independent, mechanisms, posed, solved

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.coordinates.relative.relative import Relative
from simengine2d.coordinates.relative.tree import TreeJoint, spanning_tree
from simengine2d.model import library
from simengine2d.model.elements import Pair, Row
from simengine2d.model.frame import PlacedFrame
from simengine2d.model.measure import across, misalignment, x, y

often = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 2**32 - 1)

H = 1e-4  # central differences of fourth order: truncation and rounding are both near 1e-11
OFFSETS, WEIGHTS = (-2, -1, 1, 2), np.array([1, -8, 8, -1]) / (12 * H)


def slope(f):
    """Derivative of f at 0."""
    return sum(w * f(k * H) for k, w in zip(OFFSETS, WEIGHTS, strict=True))


def place(family, z, along, s):
    return family.at(0.0, z + s * along).q.copy()


def held(family):
    return [i for i in range(family.system.m) if i not in family.remaining_rows]


@often
@given(model=mechanisms(), seed=seeds)
def test_coordinates_and_bodies_say_the_same(model, seed):
    _, family, z, zd = posed(model, seed)
    found = family.bodies(0.3, z, zd, np.zeros(family.n))
    np.testing.assert_allclose(family.positions(found.q), z, atol=1e-13)
    np.testing.assert_allclose(family.velocities(found.q, found.qd), zd, atol=1e-12)
    # and the other way round, where the bodies stand as the tree allows
    again = family.bodies(0.3, family.positions(found.q), family.velocities(found.q, found.qd), zd)
    np.testing.assert_allclose(again.q, found.q, atol=1e-13)
    np.testing.assert_allclose(again.qd, found.qd, atol=1e-12)


@often
@given(model=mechanisms(), seed=seeds)
def test_joints_of_the_tree_hold_whatever_the_coordinates(model, seed):
    system, family, z, zd = posed(model, seed, size=3.0)
    found = family.bodies(0.0, z, zd, zd)
    rows = held(family)
    J = system.Phi_q(0.0, found.q)[rows]
    size = 1.0 + np.abs(found.qd).max() ** 2
    assert np.abs(system.Phi(0.0, found.q)[rows]).max(initial=0.0) < 1e-13 * (1 + np.abs(found.q).max())
    assert np.abs(J @ found.qd).max(initial=0.0) < 1e-13 * size
    assert np.abs(J @ found.qdd - system.gamma(0.0, found.q, found.qd)[rows]).max(initial=0.0) < 1e-12 * size


@often
@given(model=mechanisms(), seed=seeds)
def test_derivatives_against_differences(model, seed):
    """R = df/dz,   Rd zd = d(R zd)/dt with zdd = 0"""
    _, family, z, zd = posed(model, seed)
    e = family.at(0.0, z, zd)
    R, bias, qd = e.R.copy(), e.bias.copy(), e.qd.copy()
    columns = [slope(partial(place, family, z, along)) for along in np.eye(family.n)]
    np.testing.assert_allclose(R, np.array(columns).reshape(R.T.shape).T, atol=1e-9)
    np.testing.assert_allclose(qd, R @ zd, atol=1e-13)
    np.testing.assert_allclose(bias, slope(lambda s: family.at(0.0, z + s * zd, zd).qd.copy()), atol=1e-8)
    np.testing.assert_allclose(family.bodies(0.0, z, zd, z).qdd, R @ z + bias, atol=1e-11)


@often
@given(model=mechanisms(), seed=seeds)
def test_accelerations_are_those_of_the_reference_points(model, seed):
    """Also off the loops, since rows are the same; relative to the largest of them."""
    system, family, z, zd = posed(model, seed, size=0.3)
    assume(independent(family, 0.7, z, zd))
    check_accelerations(system, family, 0.7, z, zd)


@pytest.mark.parametrize("name", library.names())
def test_shipped_models_accelerate_as_in_reference_points(name):
    at = assemble(loaded(name))
    family = Relative(at.system, at.q)
    z, zd = family.positions(at.q), family.velocities(at.q, at.qd)
    found = family.bodies(0.0, z, zd, zd)
    np.testing.assert_allclose(found.q, at.q, atol=1e-12)
    np.testing.assert_allclose(found.qd, at.qd, atol=1e-12 * (1 + np.abs(at.qd).max()))
    check_accelerations(at.system, family, 0.0, z, zd)


def loaded(name):
    with library.file(name) as path:
        return se.load(path)


def check_accelerations(system, family, t, z, zd):
    e = family.at(t, z, zd)
    zdd, _ = solved(e.M, e.Q, e.J, e.gamma)
    found = family.bodies(t, z, zd, zdd)
    q, qd = found.q, found.qd
    expected, _ = solved(system.M(), system.QA(t, q, qd), system.Phi_q(t, q), system.gamma(t, q, qd))
    # least squares on the whole matrix loses some digits where masses and lengths are small
    np.testing.assert_allclose(found.qdd, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


# The tree ---------------------------------------------------------------------------------------------


def test_a_four_bar_is_cut_opposite_to_the_ground():
    family = relative(builders.four_bar(1, 2, 3, 3))
    assert family.names == ["A.angle", "D.angle", "B.angle"]
    assert family.row_names == ["C.x", "C.y"]
    assert family.sizes.tolist() == [1.0, 1.0, 1.0]


def test_slides_welds_and_floating_bodies_have_their_coordinates():
    model = se.Model()
    sled, rider, crank, ball = (
        model.body(name, mass=1, inertia=1) for name in ("sled", "rider", "crank", "ball")
    )
    model.add(se.Translational("guide", model.ground, sled))
    model.add(se.Fixed("bolt", sled, rider))
    model.add(se.PinSlot("slot", rider, crank))
    model.add(se.Link("rod", crank, ball.at(0, 1)))
    family = relative(model)
    assert family.names == ["guide.along", "slot.along", "slot.angle", "ball.x", "ball.y", "ball.phi"]
    assert family.row_names == ["rod.length"]
    length = family.system.length
    np.testing.assert_array_equal(family.sizes, [length, length, 1, length, length, 1])


def test_a_body_is_reached_by_a_pin_rather_than_by_a_slot():
    model = se.Model()
    near, far = model.body("near", mass=1, inertia=1), model.body("far", mass=1, inertia=1, at=(1, 0))
    model.add(se.PinSlot("slot", model.ground, far, direction=(1, 0)))
    model.add(se.Revolute("A", model.ground, near))
    model.add(se.Revolute("B", near, far, at=(0.5, 0.5)))
    assert relative(model).names == ["A.angle", "B.angle"]


def test_angles_count_turns_and_add_up_along_a_branch():
    family = relative(two_links())
    found = family.bodies(0.0, np.array([20 * pi + 0.1, -6 * pi + 0.2]), np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(found.q[2::3], [20 * pi + 0.1, 14 * pi + 0.3], atol=1e-14 * 100)
    np.testing.assert_allclose(family.positions(found.q), [20 * pi + 0.1, -6 * pi + 0.2], atol=1e-13)


def two_links():
    model = se.Model()
    first, second = (
        model.body(name, mass=1, inertia=1, at=(i, 0)) for i, name in enumerate(("first", "second"))
    )
    model.add(se.Revolute("A", model.ground, first))
    model.add(se.Revolute("B", first, second, at=(0.5, 0)))
    return model


def test_the_tree_may_run_against_a_joint():
    """The angle is that of side b against side a, also where a hangs on b."""
    model = se.Model()
    body = model.body("body", mass=1, inertia=1, angle=0.4)
    model.add(se.Revolute("A", body, model.ground))
    family = relative(model)
    assert family.positions(family.system.drawn_q).tolist() == [-0.4]


class Shifted(Pair, abstract=True):  # stays out of the registry
    """A pin whose points stay apart by a constant vector: it is known by its rows alone.

    Phi = r_b - r_a - (0.3, -0.2) = 0
    """

    def rows(self):
        yield Row("x", x(self.a, self.b), 0.3)
        yield Row("y", 2.0 * y(self.a, self.b), -0.4)


class Tilted(Pair, abstract=True):
    """A slider that stands at an angle to its guide, beside its axis.

    Phi = [v_a . (r_b - r_a) - 0.1, v_a . u_b - 0.5] = 0
    """

    def rows(self):
        yield Row("across", across(self.a, self.b), 0.1)
        yield Row("turn", misalignment(self.a, self.b), 0.5)


@pytest.mark.parametrize("joint", [Shifted, Tilted])
@pytest.mark.parametrize("swapped", [False, True])
def test_other_joints_are_known_by_their_rows_and_keep_their_offsets(joint, swapped):
    model = se.Model()
    body = model.body("body", mass=1, inertia=1, at=(1, 2), angle=pi - 0.3 if joint is Tilted else 0.5)
    a, b = model.ground.at(0.2, 0.1, 0.3), body.at(0.4, -0.1, 0.2)
    model.add(joint("J", b, a) if swapped else joint("J", a, b))
    at = assemble(model)
    family = Relative(at.system, at.q)
    assert family.names == ["J.angle" if joint is Shifted else "J.along"]
    assert family.remaining_rows == []
    found = family.bodies(0.0, np.array([0.7]), np.array([1.1]), np.array([0.0]))
    assert np.abs(at.system.Phi(0.0, found.q)).max() < 1e-14
    assert np.abs(at.system.Phi_q(0.0, found.q) @ found.qd).max() < 1e-14
    np.testing.assert_allclose(family.bodies(0.0, family.positions(at.q), [0.0], [0.0]).q, at.q, atol=1e-10)


def test_a_motor_and_a_joint_that_moves_in_time_remain_constraints():
    model = se.Model()
    body = model.body("body", mass=1, inertia=1)
    model.add(se.Driver("push", se.across(model.ground, body), 0.0))
    model.add(se.RelativeX("drive", model.ground, body, "sin(t)"))
    family = relative(model)
    assert family.names == ["body.x", "body.y", "body.phi"]
    assert family.row_names == ["push.drive", "drive.x"]


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_links_has_a_tree():
    links = 100_000
    bodies = [f"b{i}" for i in range(links)]
    frames = [PlacedFrame(body, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) for body in ["ground", *bodies]]
    joints = [TreeJoint(f"J{i}", (), frames[i], frames[i + 1], False, (0.0, 0.0), None) for i in range(links)]
    tree = spanning_tree(bodies, joints)
    assert [branch.body for branch in tree] == bodies
    assert tree[-1].parent == bodies[-2]


def test_dense_matrices_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("simengine2d.coordinates.relative.relative.MOST_DENSE", 10)
    with pytest.raises(se.UnsupportedError, match="dense matrices for 2 coordinates do not fit"):
        relative(two_links()).at(0.0, np.zeros(2))


def relative(model):
    system = se.System(model)
    return Relative(system, system.drawn_q)


def test_a_row_that_no_body_moves_is_legal():
    """A point of the ground held where it is: the row has no slopes, and it is the last one."""
    model = builders.four_bar(1, 2, 2.5, 3, masses=(1, 1, 1))
    model.add(se.AbsoluteY("idle", model.ground.at(1, 0), 0))
    results, same = (se.dynamics(model, t_end=0.1, coordinates=c) for c in ("relative", "reference_point"))
    np.testing.assert_allclose(results.q[-1], same.q[-1], atol=1e-5)


def test_functions_of_the_user_are_not_asked_about_random_poses():
    """The tree is tried in random poses to find rows that always hold; only constant rows matter there."""
    model = builders.four_bar(1, 2, 3, 3)
    asked = []

    def turned(t):
        asked.append(t)
        return 0.1 * t

    model.add(se.Driver("motor", se.angle("ground", "crank"), turned))
    system = se.System(model)
    q = assemble(model).q
    asked.clear()
    Relative(system, q)
    assert asked == []
