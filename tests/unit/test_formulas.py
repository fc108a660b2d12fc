"""Formulas: what is read, what is refused, and that their derivatives are exact.

Central differences of order 6 over steps of 1e-2 leave 1e-9 of quantities of order one.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
import sympy as sp

import simengine2d as se
from simengine2d.analyses.statics.stiffness import constraint_stiffness, force_slopes, jacobian_slope

STEPS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
FIRST = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0
H = 1e-2
EXACT = 1e-7

POSITIONS = [
    "a.P.y - k*sin(3*a.P.x)*cos(t) + a.phi^2*b.Q.x",
    "distance(a.P, b.Q)^2*exp(a.phi) - 2*t",
    "atan2(a.y, b.x + 3)*sqrt(2 + along(a, b.Q)^2) - log(4 + t)*b.phi",
    "across(a.P, b)*misalignment(a, b.Q) + tanh(half_distance2(a, b))/k",
]
VELOCITIES = [
    "a.P.yd*cos(a.phi) - a.P.xd*sin(a.phi)*exp(0.1*t)",
    "k*rate(distance(a.P, b.Q))*b.phi - sin(t)*a.x + b.phid",
    "piecewise(a.x > 0, a.xd - b.xd/(2 + b.x^2), 2*a.xd)",
]


def bodies(*elements):
    model = se.Model(parameters={"k": 0.3})
    model.body("a", mass=1, inertia=0.1, at=(0.3, 0.05), points={"P": (0.2, 0.1)})
    model.body("b", mass=2, inertia=0.2, at=(1.3, 0.35), points={"Q": (-0.2, 0.1, 0.3)})
    for element in elements:
        model.add(element)
    return model


def state(system, seed):
    random = np.random.default_rng(seed)
    q = system.drawn_q + 0.2 * random.standard_normal(system.n)
    return 0.7, q, random.standard_normal(system.n), random.standard_normal(system.m)


def derivative(f):
    return FIRST @ np.array([f(H * k) for k in STEPS]) / H


def jacobian(f, z):
    return np.column_stack([derivative(lambda s, unit=unit: f(z + s * unit)) for unit in np.eye(z.size)])


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, atol=EXACT * (1.0 + np.abs(wanted).max()))


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_positions_have_exact_derivatives(seed):
    system = se.System(bodies(se.Constraint("c", POSITIONS)))
    assert system.arrays.formulas.row.size == 4
    t, q, qd, lam = state(system, seed)
    close(system.Phi_q(t, q), jacobian(lambda z: system.Phi(t, z), q))
    close(system.nu(t, q), -derivative(lambda s: system.Phi(t + s, q)))
    rate = lambda s: system.Phi_q(t + s, q + s * qd) @ qd - system.nu(t + s, q + s * qd)
    close(system.gamma(t, q, qd), -derivative(rate))
    close(constraint_stiffness(system, t, q, lam), jacobian(lambda z: system.Phi_q(t, z).T @ lam, q))
    close(jacobian_slope(system, t, q, qd), jacobian(lambda z: system.Phi_q(t, z) @ qd, q))


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_velocities_have_exact_derivatives(seed):
    system = se.System(bodies(se.Constraint("c", VELOCITIES)))
    assert system.velocity_rows.tolist() == [0, 1, 2]
    t, q, qd, lam = state(system, seed)
    np.testing.assert_allclose(system.Phi(t, q), 0.0, atol=1e-15)
    rate = lambda s: system.Phi_q(t + s, q + s * qd) @ qd - system.nu(t + s, q + s * qd)
    close(system.gamma(t, q, qd), -derivative(rate))
    close(constraint_stiffness(system, t, q, lam), jacobian(lambda z: system.Phi_q(t, z).T @ lam, q))
    close(jacobian_slope(system, t, q, qd), jacobian(lambda z: system.Phi_q(t, z) @ qd, q))


def test_values_are_those_of_sympy():
    """The gradient, nu and gamma of a rail, from SymPy's own derivatives."""
    x, y, phi, t = sp.symbols("x y phi t")
    px, py = x + sp.Rational(1, 5) * sp.cos(phi), y + sp.Rational(1, 5) * sp.sin(phi)
    g = py - sp.sin(3 * px) * sp.exp(-t) + phi**2 * px
    rates = sp.symbols("xd yd phid")
    along = lambda e: sum(sp.diff(e, c) * r for c, r in zip((x, y, phi), rates, strict=True)) + sp.diff(e, t)
    values = {x: 0.3, y: -0.2, phi: 0.7, t: 0.4, **dict(zip(rates, (1.1, -0.6, 2.0), strict=True))}
    model = se.Model()
    model.body("rod", mass=1, inertia=1, points={"P": (0.2, 0)})
    model.add(se.Constraint("c", "rod.P.y - sin(3*rod.P.x)*exp(-t) + rod.phi^2*rod.P.x"))
    system = se.System(model)
    q, qd = np.array([0.3, -0.2, 0.7]), np.array([1.1, -0.6, 2.0])
    exact = lambda e: float(e.subs(values))
    assert system.Phi(0.4, q)[0] == pytest.approx(exact(g), rel=1e-13)
    np.testing.assert_allclose(
        system.Phi_q(0.4, q)[0], [exact(sp.diff(g, c)) for c in (x, y, phi)], rtol=1e-13
    )
    assert system.nu(0.4, q)[0] == pytest.approx(-exact(sp.diff(g, t)), rel=1e-13)
    assert system.gamma(0.4, q, qd)[0] == pytest.approx(-exact(along(along(g))), rel=1e-12)
    K = constraint_stiffness(system, 0.4, q, np.array([2.0]))
    np.testing.assert_allclose(
        K, 2 * np.array(sp.hessian(g, (x, y, phi)).subs(values), dtype=float), rtol=1e-12
    )


# Ways to write them -----------------------------------------------------------------------------------


RAIL = "rod.B.y - 0.1*sin(3*rod.B.x)"


def rail(equation):
    model = se.Model(parameters={"height": 0.1})
    model.body("rod", mass=1, inertia=0.1, at=(0.2, 0.1), points={"B": (0.3, 0.1)})
    model.add(se.Constraint("rail", equation))
    return se.System(model)


def sympy_rail():
    x, y, height = sp.Symbol("rod.B.x"), sp.Symbol("rod.B.y"), sp.Symbol("height")
    return y - height * sp.sin(3 * x)


@pytest.mark.parametrize(
    "given",
    [
        RAIL,
        "rod.B.y - height*sin(3*rod.B.x)",
        "y(ground, rod.B) - 0.1*sin(3*x(ground, rod.at(0.3, 0.1)))",
        lambda rod, sin: rod.B.y - 0.1 * sin(3 * rod.B.x),
        lambda rod, height: rod["B"].y - height * np.sin(3 * rod.B.x),
        sympy_rail(),
    ],
    ids=["text", "parameter", "measures", "function", "numpy", "sympy"],
)
def test_a_rail_may_be_written_in_many_ways(given):
    wanted, found = rail(RAIL), rail(given)
    q, qd = np.array([0.4, -0.3, 0.9]), np.array([1.0, 2.0, 3.0])
    assert found.Phi(0.0, q) == pytest.approx(wanted.Phi(0.0, q), rel=1e-14)
    np.testing.assert_allclose(found.Phi_q(0.0, q), wanted.Phi_q(0.0, q), rtol=1e-13)
    assert found.gamma(0.0, q, qd) == pytest.approx(wanted.gamma(0.0, q, qd), rel=1e-12)


def test_functions_and_sympy_know_measures_powers_and_branches():
    several = lambda a, b, distance, t: [distance(a.P, b.Q) ** 2 - 1.5, -(a.x**2) / b.y + 2 - abs(t)]
    system = se.System(bodies(se.Constraint("c", several)))
    q = np.array([0.3, 0.05, 0.0, 1.3, 0.35, 0.0])
    assert system.Phi(-2.0, q) == pytest.approx([0.6**2 + 0.3**2 - 1.5, -0.09 / 0.35 + 2 - 2])
    d, x = sp.Symbol("distance(a.P, b.Q)"), sp.Symbol("a.x")
    expression = sp.Piecewise((d**2 - 1, x > 0), (sp.sqrt(d), True)) + sp.pi / 2
    system = se.System(bodies(se.Constraint("c", expression)))
    assert system.Phi(0.0, q) == pytest.approx([0.45 - 1 + np.pi / 2])
    assert system.Phi(0.0, -q) == pytest.approx([np.hypot(1.4, 0.3) ** 0.5 + np.pi / 2], rel=1e-12)


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_files_hold_formulas(tmp_path, suffix):
    model = bodies(
        se.Constraint("c", ["a.P.y - k*sin(a.P.x)", "a.yd*cos(a.phi) - a.xd*sin(a.phi)"]),
        se.Force("f", {"a.P.x": "-2*b.xd", "distance(a, b)": 3.0}, potential="k*a.y^2"),
    )
    path = model.save(tmp_path / f"m.{suffix}")
    again = se.load(path)
    assert again.elements["c"].equations == ("a.P.y - k*sin(a.P.x)", "a.yd*cos(a.phi) - a.xd*sin(a.phi)")
    assert again.elements["f"] == model.elements["f"]
    t, q, qd, _ = state(se.System(model), 0)
    for name in ("Phi_q", "nu"):
        found, wanted = (getattr(se.System(m), name)(t, q) for m in (again, model))
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(se.System(again).QA(t, q, qd), se.System(model).QA(t, q, qd))


def test_a_file_tells_the_line_of_a_wrong_formula(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(
        "bodies:\n  rod: {mass: 1, inertia: 1}\njoints:\n  rail: {type: Constraint, equations: rad.x - 1}\n"
    )
    with pytest.raises(se.ModelError, match=r"m\.yaml, line 4: .*body 'rad'"):
        se.load(path)
    path.write_text(
        "bodies:\n  rod: {mass: 1, inertia: 1}\njoints:\n  rail: {type: Constraint, equations: rod.x - q}\n"
    )
    with pytest.raises(se.ModelError, match=r"m\.yaml, line 4: .*'q', which is neither a channel"):
        se.load(path)


# What is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("a.x - q", "'q', which is neither a channel such as crank.x"),
        ("a.P - 1", "'a.P', which is neither a channel"),
        ("1 - k", "does not involve any body"),
        ("a.x - a.x", "does not involve any body"),
        ("c.x", "body 'c', which is not in the model"),
        ("a.R.x^2", "no point 'R'"),
        ("a.xd^2 - 1", "not linear in the velocities"),
        ("sin(a.xd)", "not linear in the velocities"),
        ("a.xd*b.phid", "not linear in the velocities"),
        ("1/a.xd", "not linear in the velocities"),
        ("rate(a.x + a.y)", "must contain one channel or measure"),
        ("distance(a) - 1", "distance takes two frames, 1 were given"),
        ("a.__class__.x", "no point '__class__'"),
        ("__import__('os')", "unknown function"),
        (True, "write a formula such as"),
        ([], "is empty"),
        (b"a.x", "write a formula such as"),
        (lambda a: 1 / 0, "raised ZeroDivisionError"),
        (lambda a: a.x if a.x > 0 else 0, "cannot branch"),
        (sp.Function("f")(sp.Symbol("a.x")), "no counterpart in formulas"),
    ],
)
def test_what_makes_no_sense_is_refused(formula, message):
    with pytest.raises(se.ModelError, match=message):
        se.System(bodies(se.Constraint("c", formula)))


def nested(depth):
    return "sin(" * depth + "a.x" + ")" * depth


def deep_function(a):
    for _ in range(5000):
        a = np.sin(a + 1)
    return a


HOSTILE = {
    "deep": nested(5000),
    "deeper": "(" * 400_000 + "a.x" + ")" * 400_000,
    "minus": "-" * 9000 + "a.x",
    "long": "a.x + " * 200_000 + "1",
    "power": "a.x - 9^9^9^9^9",
    "exponent": "a.x^1e308^1e308 - 10^(10^10)",
    "attributes": "a.x.__class__.__base__.__subclasses__()",
    "function": "eval('a.x')",
    "bytes": "a.x\x00",
    "tower": sp.Symbol("a.x") - sp.Pow(9, sp.Pow(9, 9, evaluate=False), evaluate=False),
    "loop": deep_function,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_formulas_end_in_a_clear_error(name):
    begin = time.perf_counter()
    with pytest.raises(se.ModelError) as caught:
        se.System(bodies(se.Constraint("c", HOSTILE[name])))
    assert len(str(caught.value)) < 2000
    assert time.perf_counter() - begin < 20.0  # a hang, not a slow machine


def test_a_long_sum_is_no_deep_tree():
    terms = " + ".join(f"{k}*a.x" for k in range(1, 800))
    assert se.System(bodies(se.Constraint("c", terms))).Phi_q(0.0, np.zeros(6))[0, 0] == 799 * 800 / 2
    many = lambda a: sum(k * a.x for k in range(1, 500)) + a.y**2
    assert se.System(bodies(se.Constraint("c", many))).Phi_q(0.0, np.zeros(6))[0, 0] == 499 * 500 / 2


def test_what_needs_positions_refuses_velocities():
    model = bodies(se.Constraint("skate", "a.yd*cos(a.phi) - a.xd*sin(a.phi)"))
    for analysis in (lambda: se.kinematics(model, t_end=1, step=0.1), lambda: se.linearize(model)):
        with pytest.raises(se.UnsupportedError, match="Constraint 'skate' holds velocities only"):
            analysis()


def test_small_motions_on_a_rail_are_those_of_its_curvature():
    """A bead on y = x^2 / 2 rests at the bottom and oscillates with omega^2 = g."""
    model = se.Model(gravity=(0, -9.81))
    model.body("bead", mass=2, inertia=0.3, at=(0.4, 0.1))
    model.add(se.Constraint("rail", "bead.y - bead.x^2/2"))
    model.add(se.AbsoluteAngle("upright", "bead"))
    rest = se.equilibrium(model)
    np.testing.assert_allclose(rest[0].q, 0.0, atol=1e-12)
    np.testing.assert_allclose(se.linearize(model, at=rest).A, [[0, 1], [-9.81, 0]], atol=1e-9)


# Forces -----------------------------------------------------------------------------------------------


FORCES = se.Force(
    "f",
    {
        "a.P.x": "-2*a.P.x*b.phid + b.x^2*t",
        "distance(a.P, b.Q)": "-3*rate(distance(a.P, b.Q))*b.x",
        "b.phi": "sin(a.y)",
    },
    potential="k*distance(a.P, b.Q)^3*cos(b.phi) + a.x*b.y*exp(-t)",
)


@pytest.mark.parametrize("seed", range(3))
def test_forces_have_exact_derivatives(seed):
    system = se.System(bodies(FORCES))
    t, q, qd, _ = state(system, seed)
    by_q, by_qd = force_slopes(system, t, q, qd)
    close(by_q, jacobian(lambda z: system.QA(t, z, qd), q))
    close(by_qd, jacobian(lambda z: system.QA(t, q, z), qd))
