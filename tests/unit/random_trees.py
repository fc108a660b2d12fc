"""Random mechanisms for the tests of relative coordinates: trees of every joint in both directions, and loops."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import simengine2d as se
from families import least_squares
from simengine2d.coordinates.relative.relative import Relative

numbers = st.floats(-1.0, 1.0).map(lambda v: round(v, 3))
positive = st.floats(0.3, 2.0).map(lambda v: round(v, 3))
places = st.tuples(numbers, numbers)

# all but rods are closed as drawn; rods and angles make no tree joint, so that bodies float
JOINTS = {
    "pin": lambda name, a, b, at: se.Revolute(name, a, b, at=at),
    "guide": lambda name, a, b, at: se.Translational(name, a, b, at=(*at, 0.4)),
    "slot": lambda name, a, b, at: se.RevoluteTranslational(name, a.at(*at), b.at(0.3, -0.2)),
    "weld": lambda name, a, b, at: se.Fixed(name, a, b, at=at),
    "rod": lambda name, a, b, at: se.Link(name, a.at(0, 3), b, length=2.0),
    "angle": lambda name, a, b, at: se.Coupler(name, se.angle(a, b)),
}


@st.composite
def mechanisms(draw, loops=True):
    """Bodies that each hang on an earlier one or on the ground; some more joints and springs close loops."""
    model = se.Model("tree", gravity=draw(places))
    sides = [model.ground]
    for i in range(draw(st.integers(1, 5))):
        place, angle = (2.0 * i + 2, draw(numbers)), draw(numbers)
        body = model.body(f"body{i}", mass=draw(positive), inertia=draw(positive), at=place, angle=angle)
        join(draw, model, f"J{i}", sides[draw(st.integers(0, i))], body)
        sides.append(body)
    if loops:
        for i in range(draw(st.integers(0, 2))):
            first, second = sorted(draw(st.sets(st.integers(0, len(sides) - 1), min_size=2, max_size=2)))
            join(draw, model, f"L{i}", sides[first], sides[second])
    add_forces(draw, model, sides)
    return model


def join(draw, model, name, a, b):
    kind = draw(st.sampled_from(sorted(JOINTS)))
    at = (draw(numbers), draw(numbers))
    model.add(JOINTS[kind](name, a, b, at) if draw(st.booleans()) else JOINTS[kind](name, b, a, at))


def add_forces(draw, model, sides):
    """A spring, a force that turns with its body, and a torque: all ways in which forces come."""
    last = sides[-1]
    if draw(st.booleans()):
        model.add(
            se.Spring("spring", se.distance(model.ground.at(0, 5), last.at(0.2, 0.1)), stiffness=3, free=4)
        )
    if draw(st.booleans()):
        model.add(se.PointForce("push", last.at(0.1, 0.3), fx="1 - 0.3*xd", fy="cos(3*t)", axes="body"))
    if draw(st.booleans()):
        model.add(se.Torque("twist", sides[1], "2*sin(t) - 0.2*phid"))


def posed(model, seed, size=1.0):
    """Relative coordinates as drawn, with a random state: z near the drawn pose and any zd."""
    system = se.System(model)
    family = Relative(system, system.drawn_q)
    rng = np.random.default_rng(seed)
    z = family.positions(system.drawn_q) + size * rng.normal(size=family.n)
    return system, family, z, rng.normal(size=family.n)


def solved(M, Q, J, gamma, compliance=0.0):
    """zdd and the smallest lam of [M J^T; J -c] by least squares."""
    n, m = M.shape[0], J.shape[0]
    K = np.block([[M, J.T], [J, -compliance * np.eye(m)]])
    x = least_squares(K, np.concatenate([Q, gamma]), rcond=1e-12)
    return x[:n], x[n:]


def independent(family, t, z, zd):
    """Whether the rows that are kept are well independent; else accelerations are not unique, or contradict them."""
    e = family.at(t, z, zd)
    sizes = np.linalg.svd(e.J @ np.linalg.solve(e.M, e.J.T), compute_uv=False)
    usual = sizes.max(initial=1.0 / np.diag(e.M).max(initial=1.0))  # a lone row may vanish too
    return family.m <= family.n and sizes.min(initial=1.0) > 1e-4 * usual
