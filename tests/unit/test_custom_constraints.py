"""Every built-in joint written again as a Constraint gives the same motion and the same reactions.

Steps are fixed, so both runs make the same errors of integration; they differ by rounding, which grows to some 1e-12 in
the second that is simulated.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import simengine2d as se
from formula_text import as_custom
from marking import slow_among
from simengine2d.model.elements import Element, Joint
from simengine2d.model.registry import element_names

SAME = 1e-10


def two_bodies():
    """A pendulum and a body near it, both moving."""
    model = se.Model(gravity=(0.5, -9.81))
    model.body(
        "a",
        mass=2,
        inertia=0.3,
        at=(0.4, 0.1),
        angle=0.3,
        angular_velocity=1.0,
        points={"P": (0.5, 0.1, 0.2)},
    )
    model.body(
        "b", mass=1, inertia=0.1, at=(1.5, 0.2), angle=-0.4, velocity=(0.3, 0.5), points={"Q": (-0.3, 0.2)}
    )
    model.add(se.Revolute("hinge", "ground", "a.at(-0.4, 0)"))
    model.add(se.Spring("spring", "distance(ground, b)", stiffness=30, damping=1, free=1.5))
    return model


def gears(joint):
    """Two wheels on the ground; a torque on the first."""
    model = se.Model()
    model.body("a", mass=2, inertia=0.3, angular_velocity=1.0)
    model.body("b", mass=1, inertia=0.1, at=(0.5, 0.2))
    model.add(se.Revolute("A", "ground", "a"))
    model.add(se.Revolute("B", "ground", "b"))
    model.add(se.Torque("T", "a", "3*cos(2*t)"))
    model.add(joint)
    return model


JOINTS = {
    "Revolute": se.Revolute("J", "a", "b", at=(1.1, 0.2)),
    "Fixed": se.Fixed("J", "a", "b"),
    "Translational": se.Translational("J", "a", "b", direction=0.6),
    "PinSlot": se.PinSlot("J", "a.P", "b.Q"),
    "RevoluteTranslational": se.RevoluteTranslational("J", "a.P", "b.Q"),
    "Link": se.Link("J", "a.P", "b.Q"),
    "RackPinion": se.RackPinion("J", "a.P", "b", 0.2),
    "Coupler": se.Coupler("J", "2*angle(ground, a) - along(a.P, b.Q)"),
    "Driver": se.Driver("J", "angle(a, b)", "-0.7 + sin(3*t)"),
    "AbsoluteX": se.AbsoluteX("J", "b.Q", "1.3 + 0.1*sin(2*t)"),
    "AbsoluteY": se.AbsoluteY("J", "b.Q", 0.5),
    "AbsoluteAngle": se.AbsoluteAngle("J", "b", "-0.4 + t^2"),
    "AbsoluteDistance": se.AbsoluteDistance("J", "b.Q", "1.2 + 0.1*t"),
    "RelativeX": se.RelativeX("J", "a.P", "b.Q", 0.4),
    "RelativeY": se.RelativeY("J", "a.P", "b.Q", "0.1*cos(t)"),
    "RelativeAngle": se.RelativeAngle("J", "a", "b", -0.7),
    "RelativeDistance": se.RelativeDistance("J", "a.P", "b.Q", "0.5 + 0.1*t"),
    "Gear": se.Gear("J", "a", "b", teeth=(20, 35)),
    "Belt": se.Belt("J", "a", "b", (0.2, 0.1)),
}


def models(name):
    if name in ("Gear", "Belt"):
        built_in = gears(JOINTS[name])
    else:
        built_in = two_bodies()
        built_in.add(JOINTS[name])
    # how far bodies are moved to close a joint depends on the points they have, so both start from the same state
    start = se.assemble(built_in)
    built_in = se.with_initial_pose(built_in, start.q, start.qd)
    return built_in, as_custom(built_in, "J")


def same(found, wanted, size=1.0):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=SAME * (size + np.abs(wanted).max(initial=0.0)))


def check_same(custom, built_in):
    same(custom.q, built_in.q)
    same(custom.qd, built_in.qd)
    same(custom.qdd, built_in.qdd)
    same(custom.lam, built_in.lam)
    for body in ("a", "b"):
        bodies = {
            frame.body
            for row in built_in.resolved.rows["J"]
            for t in row.measure.terms
            for frame in (t.a, t.b)
        }
        if body in bodies:
            same(
                np.array(custom.reaction("J", on=body, at=body)),
                np.array(built_in.reaction("J", on=body, at=body)),
            )


def test_every_joint_of_the_registry_is_written_again():
    joints = {name for name in element_names() if issubclass(Element.registry[name], Joint)}
    ours = {name for name in joints if Element.registry[name].__module__.startswith("simengine2d.")}
    formulas = {"Constraint", "PointOnCurve", "Cam", "RollingCurves"}  # which are formulas themselves
    assert ours - formulas == {*JOINTS}


@pytest.mark.parametrize("name", JOINTS)
def test_a_joint_as_a_formula_moves_in_the_same_way(name):
    built_in, custom = models(name)
    options = {"t_end": 1.0, "step": 0.02, "integrator": "rk4"}
    check_same(se.dynamics(custom, **options), se.dynamics(built_in, **options))


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["newmark", "hht", "generalized_alpha"])
@pytest.mark.parametrize("name", JOINTS)
def test_it_does_so_with_implicit_methods(name, integrator):
    built_in, custom = models(name)
    options = {"t_end": 0.5, "step": 0.01, "integrator": f"{integrator}(tolerance=1e-13)"}
    found, wanted = se.dynamics(custom, **options), se.dynamics(built_in, **options)
    # the constraints are divided by h^2 / 4, which makes accelerations of their rounding
    same(found.q, wanted.q)
    same(found.qd, wanted.qd)
    np.testing.assert_allclose(found.lam, wanted.lam, atol=1e-8 * (1.0 + np.abs(wanted.lam).max()))


@pytest.mark.parametrize("coordinates", ["mixed", "relative"])
@pytest.mark.parametrize("name", slow_among(["PinSlot", "RelativeDistance", "Driver"], "PinSlot"))
def test_it_does_so_in_other_coordinates(name, coordinates):
    built_in, custom = models(name)
    # a family may fulfill a built-in row by itself, so the errors of integration differ
    found = se.dynamics(custom, t_end=0.5, step=0.1, rtol=1e-11, coordinates=coordinates)
    wanted = se.dynamics(built_in, t_end=0.5, step=0.1, rtol=1e-11)
    np.testing.assert_allclose(found.q, wanted.q, atol=1e-8)
    np.testing.assert_allclose(found.lam, wanted.lam, atol=1e-7 * np.abs(wanted.lam).max())


def test_kinematics_follows_formulas():
    model = se.Model("slider-crank")
    model.bar("crank", (0, 0), (0.3, 0))
    model.bar("rod", (0.3, 0), (1.1, 0))
    model.add(se.Revolute("O", "ground", "crank.start"))
    model.add(se.Revolute("A", "crank.end", "rod.start"))
    model.add(se.AbsoluteY("guide", "rod.end"))
    model.add(se.Driver("motor", "angle(ground, crank)", "2*t + 0.1*sin(t)"))
    wanted = se.kinematics(model, t_end=2, step=0.05)
    custom = model
    for name in ("O", "A", "guide", "motor"):
        custom = as_custom(custom, name)
    found = se.kinematics(custom, t_end=2, step=0.05)
    same(found.q, wanted.q)
    same(found.qd, wanted.qd)
    same(found.qdd, wanted.qdd)


def test_a_weighted_sum_is_an_ordinary_row():
    """Formulas that need no derivatives cost nothing more."""
    model = two_bodies()
    model.parameters["k"] = 3
    model.add(se.Constraint("J", ["2*a.x - (b.phi - a.phi)/k + sin(t)*2", "a.x*a.y - 1"]))
    system = se.System(model)
    linear, other = (row for name, row in system.rows if name == "J")
    assert linear.formula is None and other.formula is not None
    assert [(t.weight, t.kind) for t in linear.measure.terms] == [
        (2, "x"),
        (-1 / 3, "angle"),
        (1 / 3, "angle"),
    ]
    assert linear.value.jet(0.5) == pytest.approx((-2 * np.sin(0.5), -2 * np.cos(0.5), 2 * np.sin(0.5)))


def test_directions_may_pass_full_turns_in_weighted_sums():
    """An arm turns three times about a gear that stands still; teeth 20 and 10 make the planet turn 9 times."""
    model = se.Model(gravity=(0, 0))
    model.body("arm", mass=1, inertia=1)
    model.body("planet", mass=1, inertia=1, at=(0.3, 0))
    model.add(se.Revolute("O", "ground", "arm"))
    model.add(se.Revolute("P", "arm.at(0.3, 0)", "planet"))
    model.add(se.Driver("motor", "angle(ground, arm)", "2*pi*t"))
    model.add(se.Constraint("mesh", "0.1*angle(ground, planet) - 0.3*direction(ground, planet)"))
    r = se.kinematics(model, t_end=3, step=0.1)
    assert r["planet.phi"][-1] == pytest.approx(9 * 2 * np.pi, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_reactions_of_formulas_balance_every_body(seed):
    """Newton and Euler: m a and J alpha are the sums of weight, forces and reactions; formulas hold random numbers."""
    k = np.random.default_rng(seed).uniform(0.2, 1.0, 6).round(3)
    model = two_bodies()
    model.add(se.Constraint("curve", f"b.Q.y - {k[0]}*sin({k[1]}*b.Q.x) - {k[2]}*a.phi*b.phi + t*{k[3]}"))
    model.add(se.Constraint("gear", f"b.phid*(1 + {k[4]}*cos(b.phi)) + {k[5]}*rate(along(a.P, b.Q))"))
    model.add(
        se.Force("wind", {"b.Q.x": "a.phid*b.y", "a.phi": "-b.xd"}, potential=f"{k[0]}*distance(a.P, b)^3")
    )
    r = se.dynamics(model, t_end=0.5, step=0.05, rtol=1e-9)
    for body, (mass, inertia) in {"a": (2, 0.3), "b": (1, 0.1)}.items():
        names = [n for n, e in model.elements.items() if body in {frame.body for frame in e.frames()}]
        total = sum(np.array(r.reaction(name, on=body, at=body)) for name in names)
        weight = mass * np.array(model.gravity)
        needed = np.array([mass * r[f"{body}.xdd"], mass * r[f"{body}.ydd"], inertia * r[f"{body}.phidd"]])
        needed[:2] -= weight[:, None]
        np.testing.assert_allclose(total, needed, atol=1e-9 * (1.0 + np.abs(needed).max()))
    assert r.power_balance() < 1e-9


def grown(x):
    """A short program for a formula that nobody could write down."""
    for _ in range(60):
        x = x * x + x
    return x


def constrained(formula):
    model = se.Model()
    model.body("rod", mass=1, inertia=1)
    model.add(se.Constraint("c", formula))
    model.check()


@pytest.mark.parametrize("formula", [lambda rod: grown(rod.x), grown(sp.Symbol("rod.x"))])
def test_a_formula_that_grows_beyond_measure_is_refused(formula):
    with pytest.raises(se.ModelError, match="parts when written out; the limit is 10000"):
        constrained(formula)
