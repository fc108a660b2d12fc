"""Mechanisms that several tests need and the package does not build."""

from __future__ import annotations

import simengine2d as se
from simengine2d import builders


def three_cranks(crank_angle: float = 1.0) -> se.Model:
    """A parallelogram with a third crank: one of its constraint equations is redundant in every pose."""
    model = builders.four_bar(1, 2, 1, 2, crank_angle=crank_angle)
    middle = model.bar("middle", (1, 0), ("1 + Bx", "By"))
    model.add(se.Revolute("E", model.ground, middle["start"]))
    model.add(se.Revolute("F", middle["end"], "coupler"))
    return model


def pendulum(*elements: object) -> se.Model:
    """Two bars that hang from each other, with elements of the test's own."""
    m = se.Model("pendulum", gravity=(0, -9.81))
    a, b = m.bar("a", (0, 0), (1, 0), mass=1), m.bar("b", (1, 0), (2, 0.3), mass=2)
    m.add(se.Revolute("O", m.ground, a["start"]))
    m.add(se.Revolute("A", a["end"], b["start"]))
    for element in elements:
        m.add(element)
    return m


def slider_crank() -> se.Model:
    """The course's sliderCrankDYN.adm, at its dead center."""
    model = se.Model("slider-crank")
    crank = model.body("crank", mass=2, inertia=0.3, at=(2, 0), points={"O": (-2, 0), "A": (2, 0)})
    rod = model.body("rod", mass=3, inertia=0.2, at=(7, 0), points={"A": (-3, 0), "B": (3, 0)})
    slider = model.body("slider", mass=5, inertia=0.5, at=(10, 0))
    model.add(se.Revolute("O", model.ground, crank["O"]))
    model.add(se.Revolute("A", crank["A"], rod["A"]))
    model.add(se.Revolute("B", rod["B"], slider))
    model.add(se.Translational("guide", model.ground, slider))
    return model


# forces between the points one.P and two.R
PUSHES = {
    kind: se.Spring("s", getattr(se, kind)("one.P", "two.R"), stiffness=4, damping=0.6, free=0.3, law="s^2*sd")
    for kind in (
        "distance", "half_distance2", "angle", "along", "across", "misalignment", "x", "y", "direction",
    )
}  # fmt: skip
WRENCHES = {
    "a constant force": se.PointForce("f", "one.P", fx=2, fy=-1),
    "a turning force": se.PointForce("f", "one.P", fx=2, fy=-1, axes="body"),
    "a force of the state": se.PointForce("f", "two.R", fx="x*y - xd^2", fy="sin(phi) + yd*phid"),
    "a turning force of the state": se.PointForce("f", "two.R", fx="x*phi", fy="xd - phid", axes="body"),
    "a torque of the state": se.Torque("f", "two.R", "x^2 - 3*phid + sin(phi)"),
}
SUM = se.Spring("s", se.distance("one.P", "two.R") + 0.5 * se.angle("ground", "one"), stiffness=4, damping=1)
FORCES = PUSHES | {"a sum": SUM} | WRENCHES
