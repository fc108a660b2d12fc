"""g of rows by elimination in a tree against QR: the sine of the angle between a row and those before it."""

import numpy as np
import pytest

import simengine2d as se
from simengine2d.analyses.singular_poses import geometric_masses, shares_by_elimination
from simengine2d.coordinates.relative.loop_arrays import RowLimits
from simengine2d.coordinates.relative.loops import spread_of_loops
from simengine2d.coordinates.relative.recursive import RecursiveEquations
from simengine2d.coordinates.relative.relative import Relative
from simengine2d.coordinates.relative.tree_motion import FLOAT, KIND, OWN_SLOT, PIN, SLIDE, SLOT, WELD
from simengine2d.model import library
from simengine2d.system.system import System

RANDOM = np.random.default_rng(7)


def sines(rows):
    """Of each row, scaled by the masses, against all before it."""
    lengths = np.linalg.norm(rows, axis=1)
    return np.abs(np.diag(np.linalg.qr(rows.T)[1])) / np.where(lengths > 0.0, lengths, 1.0)


def family_of(model):
    system = System(model)
    return Relative(system, system.drawn_q)


def expected(family, masses, q, order):
    """Rows of the tree come first, then the others in the order of elimination."""
    rows = family.system.Phi_q(0.0, q) / np.sqrt(masses)
    left = [family.remaining_rows[i] for i in order]
    before = [i for held in family.held_rows() for i in held]
    g = np.ones(family.system.m)
    g[left] = sines(rows[before + left])[len(before) :]
    return g


def check(family, poses=4):
    masses = geometric_masses(family.system)
    bound = family.row_shares(masses)
    loops = bound.kept[1].closing.c
    pairs = loops.group[loops.program.order, :2]
    order = [row for row in pairs.ravel() if row < family.m]
    start = family.positions(family.q)
    for _ in range(poses):
        z = start + 0.3 * family.sizes * RANDOM.normal(size=family.n)
        q = family.bodies(0.0, z, *np.zeros((2, family.n))).q
        g = np.full(family.system.m, np.nan)
        bound(0.0, q, g)
        assert np.allclose(g, expected(family, masses, q, order), atol=1e-8)


def is_watched(name):
    family = family_of(se.load(name))
    return 0 < family.m <= family.n and family.is_recursive


WATCHED = [
    name for name in library.names() if name != "tautochrone" and is_watched(name)
]  # its track has ends


@pytest.mark.parametrize("name", WATCHED)
def test_every_shipped_mechanism_off_its_constraints(name):
    check(family_of(se.load(name)))


def kinds(family):
    return set(family.tree.numbers[:, KIND].tolist())


def test_pins_slides_welds_and_free_bodies_are_among_them():
    assert {PIN, SLIDE, WELD, FLOAT} <= set().union(*(kinds(family_of(se.load(name))) for name in WATCHED))


@pytest.mark.parametrize("kind", [SLOT, OWN_SLOT])
def test_slots_in_either_body(kind):
    m = se.Model(gravity=(0.0, -9.81))
    arm = m.body("arm", mass=1.0, inertia=0.1, at=(0.4, 0.3), angle=0.6)
    block = m.body("block", mass=1.0, inertia=0.1, at=(1.0, 0.4), angle=-0.3)
    rod = m.body("rod", mass=1.0, inertia=0.1)
    m.add(se.Revolute("pivot", m.ground, arm.at(-0.5, 0.0)))
    ends = (arm.at(0.5, 0.0), block.at(0.1, 0.2)) if kind == SLOT else (block.at(0.1, 0.2), arm.at(0.5, 0.0))
    m.add(se.PinSlot("slot", *ends, direction=(1.0, 0.4)))
    m.add(se.Translational("guide", arm, rod, direction=(0.8, 0.6)))
    m.add(se.Link("tie", block.at(0.3, 0.0), m.ground.at(2.0, 0.0), 1.7))
    m.add(se.Link("stay", rod.at(0.2, 0.1), m.ground.at(-1.0, 1.0), 1.2))
    family = family_of(m)
    assert kind in kinds(family)
    check(family)


def test_a_row_that_vanishes_is_lost():
    """Flat, a parallelogram's rod closes along itself: no angle moves it that way."""
    family = family_of(se.load("parallelogram"))
    flat = np.zeros(family.n)
    bound, g = family.row_shares(geometric_masses(family.system)), np.empty(family.system.m)
    bound(0.0, family.bodies(0.0, flat, *np.zeros((2, family.n))).q, g)
    assert g.min() < 2e-6


def test_pivots_that_vanish_exactly_are_an_infinite_spread():
    """Two flat loops: the first row of each pair moves nothing, and the other is no number then."""
    family = family_of(se.builders.four_bar_ladder(2))
    none = np.zeros(family.m)
    equations = RecursiveEquations(family, np.zeros(2), RowLimits(none, none, none), False)
    with np.errstate(all="ignore"):
        equations.accelerate(0.0, np.zeros(2 * family.n), np.empty(2 * family.n))
        assert spread_of_loops(equations.loops) == np.inf
    upright = np.concatenate([family.positions(family.q), np.zeros(family.n)])
    equations.accelerate(0.0, upright, np.empty(2 * family.n))
    assert spread_of_loops(equations.loops) < 10.0


def test_both_kinds_of_elimination_agree_on_what_all_rows_are_together():
    """The product of g^2 does not depend on the order, where all bodies go before."""
    family = family_of(se.builders.four_bar(1.0, 2.5, 2.0, 2.2))
    masses, q, m = geometric_masses(family.system), family.q, family.system.m
    in_tree, whole = np.empty(m), np.empty(m)
    family.row_shares(masses)(0.0, q, in_tree)
    shares_by_elimination(family.system, True)(0.0, q, whole)
    before = [i for held in family.held_rows() for i in held]
    tree = sines((family.system.Phi_q(0.0, q) / np.sqrt(masses))[before])
    assert np.prod(in_tree) * np.prod(tree) == pytest.approx(np.prod(whole), rel=1e-9)
