"""Random mechanisms in natural and mixed coordinates move as they do in reference-point coordinates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from test_balance import numbers, positive, quickly, trees

import simengine2d as se
from families import check_against_bodies, moving
from simengine2d import builders


@quickly
@given(model=trees(), seed=st.integers(0, 1000))
def test_trees(model, seed):
    """Pins, guides, slots, welds and rods, with springs, forces and torques."""
    system, q, qd = moving(model, seed)
    counted = any(
        isinstance(e, se.Spring) and e.measure.terms[0].kind == "angle" for e in model.forces.values()
    )
    check_against_bodies("mixed", system, q, qd)
    if not counted:
        check_against_bodies("natural", system, q, qd)


@quickly
@given(
    angle=st.floats(0.3, 1.4), masses=st.tuples(positive, positive, positive), stiffness=positive,
    place=st.tuples(numbers, numbers), seed=st.integers(0, 1000),
)  # fmt: skip
def test_loops(angle, masses, stiffness, place, seed):
    """A four-bar whose coupler carries a spring and a pendulum somewhere."""
    model = builders.four_bar(1, 2, 2.2, 2.5, crank_angle=angle, masses=masses)
    model.add(se.Spring("spring", "distance(crank.end, rocker.start)", stiffness=stiffness, free=1))
    tip = model.body("tip", mass=1, inertia=0.2, at=(1, 3), angle=angle)
    model.add(se.Revolute("P", "coupler", tip, at=place))
    for name in ("natural", "mixed"):
        check_against_bodies(name, *moving(model, seed))


@quickly
@given(ratio=positive, torque=numbers, seed=st.integers(0, 1000))
def test_gears(ratio, torque, seed):
    """A planet on a turning arm, whose angles are added."""
    model = se.Model("gears")
    arm = model.body("arm", mass=1, inertia=0.5, at=(1, 0))
    sun = model.body("sun", mass=2, inertia=0.2)
    planet = model.body("planet", mass=1, inertia=ratio, at=(2, 0))
    model.add(se.Revolute("O", model.ground, arm, at=(0, 0)))
    model.add(se.Revolute("S", model.ground, sun, at=(0, 0)))
    model.add(se.Revolute("P", arm, planet, at=(2, 0)))
    model.add(se.Gear("mesh", sun, planet, radii=(2 * ratio / (1 + ratio), 2 / (1 + ratio))))
    model.add(se.Torque("motor", sun, torque))
    f = check_against_bodies("mixed", *moving(model, seed))
    assert [name for name in f.names if name.endswith(".phi")] == ["sun.phi", "planet.phi"]
