"""Sweeps backward through the equations against derivatives of all equations, which are found in other ways."""

from __future__ import annotations

import numpy as np

import simengine2d as se
from simengine2d.lab.sensitivity.node_equations import node_equations
from simengine2d.lab.sensitivity.parameters import varied_numbers
from simengine2d.lab.sensitivity.variational import linear_equations
from simengine2d.system.residuals import States


def of_every_kind() -> se.Model:
    """Three bodies with joints, forces and laws of all kinds, whose numbers follow from a few parameters."""
    model = se.Model("of every kind", gravity=(0.3, "-9.81*m/2"))
    model.parameters |= {
        "L": 1.2, "m": 2.0, "k": 30.0, "c": 0.4, "f": 3.1, "w": 1.7, "r": 0.5, "slant": 0.3, "drive": 0.2, "tip": 0.9,
    }  # fmt: skip
    crank = model.body("crank", at=("L/2", 0.1), angle="slant", mass="m", inertia="m*L^2/12")
    rod = model.body("rod", at=("1.5*L", 0.4), mass="3*m", inertia=0.7)
    block = model.body("block", at=(2.5, 0.8), mass=1.5, inertia="0.2*r")
    model.add(se.Revolute("A", crank.at("L/2", "0.1*r"), rod.at("-L/2", 0.0)))
    model.add(se.Link("link", rod.at("r", 0.2), block.at(0.0, "0.3*L")))
    model.add(se.Translational("rail", model.ground.at(0.0, 0.8, angle="slant/3"), block))
    model.add(se.Gear("gear", model.ground.at(0.0, "r"), crank.at(0.1, 0.0), radii=("r", 0.3)))
    model.add(
        se.Driver("drive", se.distance(model.ground.at(0, 3), crank.at("-L/3", 0)), "2 + drive*sin(w*t)")
    )
    along = "along(crank.at(0.1, 0.2), rod.at(0.0, r)) + 0.3*r*angle(crank, rod)"
    model.add(se.Spring("spring", along, stiffness="k", damping="c", free="L/2"))
    model.add(se.PointForce("push", rod.at("tip", 0.1), fx="f*cos(w*t) + k*phid", fy="f*x", axes="body"))
    model.add(se.PointForce("wind", block.at(0.2, "tip"), fx="-c*xd*abs(xd)", fy="f"))
    model.add(se.Torque("motor", crank, "f - c*phid^3"))
    model.add(se.Force("own", along={"distance(crank, block)": "k*exp(-w*rod.phi^2)*block.xd"}))
    model.add(se.Force("well", potential="k*rod.phi^2*block.x + f*crank.y"))
    return model


def test_sweeps_give_what_derivatives_of_all_equations_give():
    """At any states, which need not be those of a motion; to what differences in the second way lose."""
    model = of_every_kind()
    numbers = varied_numbers(model, [*model.parameters])
    system, rng = numbers[0].system(0.0), np.random.default_rng(5)
    assert all(number.slopes_of_numbers is not None for number in numbers)
    n, m, count = system.n, system.m, 5
    q = system.drawn_q + 0.1 * rng.normal(size=(count, n))
    states = States(rng.uniform(size=count), q, *rng.normal(size=(2, count, n)), rng.normal(size=(count, m)))
    kept, chosen = np.arange(m), np.tile([2, 5], (count, 1))  # the angles of crank and rod
    found = node_equations(system, states, kept, chosen, numbers)
    expected = linear_equations(system, states, kept, chosen, numbers)
    np.testing.assert_allclose(found.B, expected.at.B, rtol=0, atol=1e-10 * np.abs(found.B).max())
    for one, other in zip(found.reduced, expected.reduced, strict=True):
        size = np.abs(other).max(axis=(1, 2), keepdims=True)
        np.testing.assert_allclose(one / size, other / size, rtol=0, atol=1e-8)


def test_a_law_that_is_too_steep_for_the_first_step_is_differentiated_with_a_smaller_one():
    model = se.Model("pushed")
    model.parameters |= {"w": 2000.0}
    model.body("stone", mass=1, inertia=1, at=(0, 0))
    model.add(se.PointForce("shaker", "stone", fx="sin(w*t)"))
    (number,) = varied_numbers(model, ["w"])
    t, still = np.linspace(0.0, 1.0, 7), np.zeros((7, 3))
    states = States(t, still, still, still, np.zeros((7, 0)))
    found = node_equations(number.system(0.0), states, np.arange(0), np.tile(np.arange(3), (7, 1)), [number])
    np.testing.assert_allclose(found.reduced.source[:, 0, 0], t * np.cos(2000.0 * t), atol=1e-8)


def test_a_model_that_differs_elsewhere_is_not_taken_for_the_one_before():
    """d/df of f t^2 / 2m, for other masses, of which nothing may be left from the call before."""
    for mass in (1.0, 4.0, 1.0):
        model = se.Model("pushed", gravity=(0, 0))
        model.parameters |= {"f": 3.0}
        model.body("stone", mass=mass, inertia=1, at=(0, 0))
        model.add(se.PointForce("push", "stone", fx="f"))
        found = se.sensitivity(model, ["f"], "dynamics", "final(stone.x)", t_end=2)
        assert abs(found["final(stone.x)"]["f"] - 2.0 / mass) < 1e-10
