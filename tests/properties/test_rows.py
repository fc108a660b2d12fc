"""Every joint type on random states: Phi_q and gamma against differences of Phi along a motion.

Both bodies move and turn along q(t) = q + qd t + qdd t^2 / 2, and by the chain rule

    d Phi / dt = Phi_q qd - nu,      d2 Phi / dt2 = Phi_q qdd - gamma

A newly registered joint is tested here by itself: its fields say how to make a random one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import simengine2d as se
from marking import slow_among
from simengine2d.model.elements import Element, Joint, Pair
from simengine2d.model.measure import KINDS
from simengine2d.model.registry import element_names
from simengine2d.system.system import System

JOINTS = [name for name in element_names() if issubclass(Element.registry[name], Joint)]

# eighth-order central differences; with h = 0.01 and motions of order 1 about points at least 0.5 apart their
# truncation stays below 1e-9, the rounding of second differences (1e-15 * 10 / h^2) below 1e-10
H = 0.01
STEPS = np.arange(-4, 5)
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / H
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]) / H**2
TOLERANCE = 1e-7

numbers = st.floats(-1.0, 1.0).map(lambda v: round(v, 3))
positive = st.floats(0.3, 2.0).map(lambda v: round(v, 3))
# two radii: where they differ, the period of a mesh is far longer than what one sample moves
sizes = st.tuples(positive, positive).map(lambda pair: (pair[0], pair[0] + pair[1]))
places = st.tuples(numbers, numbers, numbers)
times = st.sampled_from(["0.3", "t^2 - t", "sin(2*t) + 0.1*t", "exp(-t)*cos(3*t)"])


def frames(body):
    return places.map(lambda place: se.Frame(body, place=place))


@st.composite
def measures(draw):
    """A weighted sum of two measures, at most one of them a direction."""
    kinds = [draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from(["x", "angle", "distance"]))]
    return sum(
        (draw(positive) * getattr(se, kind)(draw(frames("one")), draw(frames("two"))) for kind in kinds[1:]),
        draw(positive) * getattr(se, kinds[0])(draw(frames("one")), draw(frames("two"))),
    )


@st.composite
def formulas(draw):
    """One or two formulas of both bodies, smooth where they are drawn."""
    texts = [
        f"one.x*cos(two.phi) - {draw(positive)}*two.y^2 + t*one.phi",
        f"exp(0.3*one.phi)*distance(one, two.at({draw(numbers)}, {draw(numbers)}))^2 - {draw(times)}",
        f"sin({draw(positive)}*two.x + one.y*t)/(3 + one.phi^2)",
        f"{draw(positive)}*one.x - two.phi/3 + ({draw(times)})",
    ]
    return draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2, unique=True))


def fields_of(cls):
    """A strategy for each field, by what the field holds."""
    bodies = iter(["one", "two"])
    by_kind = {
        "number": lambda: positive,
        "numbers": lambda: sizes,
        "function": lambda: times,
        "frame": lambda: frames(next(bodies, "two")),
        "measure": measures,
        "direction": lambda: numbers | st.tuples(positive, numbers),
        "formulas": formulas,
    }
    strategies = {name: by_kind[kind.name]() for name, kind in cls.kinds().items() if kind.name in by_kind}
    strategies |= {name: st.booleans() for name, kind in cls.kinds().items() if kind.file_type is bool}
    required = cls.required()
    return {name: s if name in required else st.none() | s for name, s in strategies.items() if name != "at"}


@st.composite
def generic(draw, cls, apart=False):
    """Any joint whose fields may hold any positive numbers; `apart`: its two points may not coincide."""
    drawn = {name: draw(strategy) for name, strategy in fields_of(cls).items()}
    joint = cls(name="J", **{name: value for name, value in drawn.items() if value is not None})
    if issubclass(cls, Pair) and not apart and draw(st.booleans()):  # given by its place
        joint = replace(joint, a=se.Frame("one"), b=se.Frame("two"), at=draw(places))
    return joint


@st.composite
def gears(draw):
    given = {draw(st.sampled_from(["radii", "teeth"])): draw(sizes)}
    return se.Gear("J", draw(frames("one")), draw(frames("two")), internal=draw(st.booleans()), **given)


@st.composite
def ellipses(draw):
    """Small ones: the frames of the bodies stay outside."""
    width, height = draw(st.floats(0.1, 0.2)), draw(st.floats(0.1, 0.2))
    return se.Curve(x=f"{width}*cos(s)", y=f"{height}*sin(s)")


@st.composite
def cams(draw):
    follower = draw(st.sampled_from(["knife", "roller", "flat"]))
    radius = {"radius": 0.1} if follower == "roller" else {}
    return se.Cam(
        "J", draw(frames("one")), draw(frames("two")), draw(ellipses()), follower=follower, **radius
    )


@st.composite
def points_on_curves(draw):
    return se.PointOnCurve("J", draw(frames("one")), draw(frames("two")), draw(ellipses()))


@st.composite
def rolling_curves(draw):
    return se.RollingCurves("J", draw(frames("one")), draw(frames("two")), draw(ellipses()), draw(ellipses()))


SPECIAL = {
    "Gear": gears(),
    "Link": generic(se.Link, apart=True),
    "Belt": generic(se.Belt, apart=True),
    "Cam": cams(),
    "PointOnCurve": points_on_curves(),
    "RollingCurves": rolling_curves(),
}


def joints(name):
    return SPECIAL.get(name, generic(Element.registry[name]))


APART = np.array([0, 0, 0, 4, 0, 0])
coordinates = st.lists(st.floats(-1.5, 1.5), min_size=6, max_size=6).map(np.array)


@st.composite
def systems(draw, name):
    """A joint between two bodies drawn anywhere, but not on top of each other."""
    model = se.Model()
    model.body("one", at=(draw(numbers), draw(numbers)), angle=draw(numbers))
    model.body("two", at=(draw(numbers) + 4.0, draw(numbers)), angle=draw(numbers))
    model.add(draw(joints(name)))
    return System(model)


def continuous(system, samples):
    """Rows with a direction are known up to their period only."""
    for i, period in enumerate(system.arrays.row_period):
        if period > 0.0:
            samples[:, i] = np.unwrap(samples[:, i], period=period)
    return samples


def far_apart(system, q):
    """Frames stay apart, so that distances and directions are smooth along the samples."""
    F = system.frames(q)
    a, b = system.arrays.term_a, system.arrays.term_b
    return np.min(np.hypot(*(F[b, :2] - F[a, :2]).T)) > 0.5


@st.composite
def posed(draw, name):
    """A system and a pose in which its rows are smooth."""
    system, q = draw(systems(name)), draw(coordinates) + APART
    assume(far_apart(system, q))
    return system, q


@pytest.mark.parametrize("name", slow_among(JOINTS, "RollingCurves"))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_jacobian_and_gamma_are_the_derivatives_of_phi(name, data):
    system, q = data.draw(posed(name))
    qd, qdd = data.draw(coordinates), data.draw(coordinates)
    t = 0.7
    times = t + H * STEPS
    path = [q + H * k * qd + (H * k) ** 2 / 2 * qdd for k in STEPS]
    samples = continuous(system, np.array([system.Phi(s, p) for s, p in zip(times, path, strict=True)]))
    Phi_q = system.Phi_q(t, q)
    size = 1.0 + np.abs(samples).max()
    np.testing.assert_allclose(FIRST @ samples, Phi_q @ qd - system.nu(t, q), atol=TOLERANCE * size)
    expected = Phi_q @ qdd - system.gamma(t, q, qd)
    np.testing.assert_allclose(SECOND @ samples, expected, atol=TOLERANCE * (size + np.abs(expected).max()))


@pytest.mark.parametrize("name", slow_among(JOINTS, "RollingCurves"))
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_column_of_the_jacobian(name, data):
    system, q = data.draw(posed(name))
    freedom = Element.registry[name].freedom
    assert freedom is None or system.m == 3 - freedom  # what the class claims
    Phi_q = system.Phi_q(0.0, q)
    for j, unit in enumerate(np.eye(6)):
        samples = continuous(system, np.array([system.Phi(0.0, q + H * k * unit) for k in STEPS]))
        size = 1.0 + np.abs(samples).max()
        np.testing.assert_allclose(FIRST @ samples, Phi_q[:, j], atol=TOLERANCE * size)


def test_every_registered_joint_can_be_made():
    """A joint with fields that no strategy knows needs an entry in SPECIAL."""
    known = {"number", "numbers", "function", "frame", "measure", "direction", "formulas"}
    for name in JOINTS:
        kinds = Element.registry[name].kinds().values()
        plain = all(kind.name in known or kind.file_type is bool for kind in kinds)
        assert plain or name in SPECIAL, f"write a strategy for {name} in SPECIAL"
