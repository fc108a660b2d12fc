"""Equations of models as SymPy: every quantity, on random states, against the compiled one.

Both evaluate the same formulas in another order, so they differ by rounding alone: 1e-12 of the largest entry.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import simengine2d as se
from marking import slow_among
from simengine2d.errors import ModelError, UnsupportedError
from simengine2d.model import library
from simengine2d.model.elements import Element, Joint
from simengine2d.model.registry import element_names
from simengine2d.symbolic.calculus import BETA, GAMMA, STEP
from simengine2d.symbolic.families import closed_family
from simengine2d.system.system import System

NAMES = [
    "andrews_squeezer", "belt_drive", "cart_pole", "coupled_pendulums", "double_pendulum", "engine", "four_bar",
    "gantry_crane", "geared_five_bar", "geneva_drive", "jansen_leg", "kapitza_pendulum", "pantograph", "parallelogram",
    "peaucellier", "planetary_gear", "quick_return", "rack_pinion", "scotch_yoke", "scott_russell", "slider_crank",
    "sprung_slider", "trebuchet",
]  # fmt: skip
"""Shipped mechanisms with elements of every kind; deriving the equations of all of them would take minutes."""
JOINTS = [name for name in element_names() if issubclass(Element.registry[name], Joint)]
WITHOUT_SYMBOLS = {"Cam", "PointOnCurve", "RollingCurves"}  # the nearest point of a curve has no formula
WITHOUT_COUNTED_TURNS = ["andrews_squeezer", "double_pendulum", "pantograph", "sprung_slider"]
LARGE = ["andrews_squeezer", "geared_five_bar", "jansen_leg", "pantograph", "peaucellier", "quick_return"]
T = 0.3


def loaded(name):
    with library.file(name) as path:
        return se.load(path)


def assert_same(found, compiled, periods=None):
    compiled = np.asarray(compiled)
    difference = found - compiled
    if periods is not None:
        whole = np.where(periods > 0.0, periods, np.inf)
        difference = difference - np.where(periods > 0.0, periods * np.round(difference / whole), 0.0)
    assert np.abs(difference).max(initial=0.0) <= 1e-12 * max(1.0, np.abs(compiled).max(initial=0.0))


def assert_equations_are_the_compiled_ones(model, q, qd, t=T):
    equations, system = model.equations(), System(model)
    value = lambda quantity: equations.lambdify(quantity)(t, q, qd)
    assert_same(value("M"), system.M())
    assert_same(value("QA"), system.QA(t, q, qd))
    assert_same(value("Phi"), system.Phi(t, q), system.arrays.row_period)
    assert_same(value("Phi_q"), system.Phi_q(t, q))
    assert_same(value("nu"), system.nu(t, q))
    assert_same(value("gamma"), system.gamma(t, q, qd))


@pytest.mark.parametrize("name", slow_among(NAMES, *LARGE))
def test_equations_of_every_shipped_mechanism_are_the_compiled_ones(name):
    model, random = loaded(name), np.random.default_rng(1)
    q = System(model).drawn_q
    q = q + 0.1 * random.standard_normal(q.size)
    assert_equations_are_the_compiled_ones(model, q, random.standard_normal(q.size))


def in_families():
    """Each mechanism in each family that knows it; those of many bodies take seconds."""
    for family, names in (("natural", WITHOUT_COUNTED_TURNS), ("mixed", NAMES), ("relative", NAMES)):
        for name in names:
            yield pytest.param(family, name, marks=[pytest.mark.slow] if name in LARGE else [])


@pytest.mark.parametrize(("family", "name"), list(in_families()))
def test_equations_in_other_coordinates_are_the_compiled_ones(family, name):
    assert_same_in_family(loaded(name), family)


@pytest.mark.parametrize("family", slow_among(["mixed", "relative"], "mixed"))
def test_formulas_in_other_coordinates_are_the_compiled_ones(family):
    model = se.Model()
    bar = model.bar("bar", (0, 0), (1, 0), mass=2)
    model.body("rod", mass=1, inertia=0.2, at=(1.3, 0.2), angle=0.5, points={"A": (-0.3, 0), "B": (0.4, 0.1)})
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Constraint("rail", "rod.B.y - 0.1*sin(3*rod.B.x) - 0.2"))
    model.add(se.Constraint("edge", "bar.phid*rod.x + t*rate(distance(bar.end, rod.A)) - sin(t)"))
    model.add(
        se.Force("pull", along={"rod.B.x": "-2*rod.B.xd*bar.phi"}, potential="distance(bar.end, rod.A)^2")
    )
    assert_same_in_family(model, family)


def assert_same_in_family(model, family):
    random = np.random.default_rng(2)
    system = System(model)
    compiled = closed_family(system, family)
    z = compiled.positions(se.assemble(system).q)
    z = z + 0.05 * compiled.sizes * random.standard_normal(z.size)
    zd = random.standard_normal(z.size)
    equations, E = model.equations(family), compiled.at(T, z, zd)
    value = lambda quantity: equations.lambdify(quantity)(T, z, zd)
    periods = np.concatenate([np.zeros(len(compiled.own_rows)), compiled.context.S.row_period])
    assert equations.coordinate_names == compiled.names
    assert equations.row_names == compiled.row_names
    assert_same(value("M"), E.M)
    assert_same(value("QA"), E.Q)
    assert_same(value("Phi"), E.Phi, periods)
    assert_same(value("Phi_q"), E.J)
    assert_same(value("nu"), E.nu)
    assert_same(value("gamma"), E.gamma)


# Every joint, every force -----------------------------------------------------------------------------

Q0 = np.array([0.3, -0.2, 0.4, 2.5, 1.1, -0.7])
QD0 = np.array([0.5, 0.1, -0.8, -0.3, 0.9, 1.2])


def two_bodies(*elements, gravity=(1.0, -9.81), **parameters):
    model = se.Model(gravity=gravity, parameters=parameters)
    model.body("one", mass=2, inertia=0.5, at=(0, 0), points={"P": (0.6, -0.1, 0.3)})
    model.body("two", mass=3, inertia=0.7, at=(3, 0), angle=0.2, points={"R": (-0.2, 0.5)})
    for element in elements:
        model.add(element)
    return model


def example(cls):
    """A joint of the class with something in each field it needs."""
    frames = iter([se.Frame("one", "P"), se.Frame("two", "R")])
    by_kind = {
        "number": lambda: 0.7,
        "numbers": lambda: (0.4, 0.9),
        "function": lambda: "a + sin(2*t)",
        "frame": lambda: next(frames),
        "formulas": lambda: "one.P.x*two.y - sin(a*t)",
        "measure": lambda: 0.8 * se.distance("one.P", "two.R") - se.angle("one", "two") / 3,
    }
    needed = {"Gear": ["radii"]}.get(cls.__name__, []) + cls.required()
    return cls("J", **{name: by_kind[kind.name]() for name, kind in cls.kinds().items() if name in needed})


@pytest.mark.parametrize("name", [name for name in JOINTS if name not in WITHOUT_SYMBOLS])
def test_equations_of_every_joint_are_the_compiled_ones(name):
    assert_equations_are_the_compiled_ones(two_bodies(example(Element.registry[name]), a=0.3), Q0, QD0)


FORMULAS = [
    ["one.P.y - a*sin(3*two.R.x)", "distance(one.P, two.R)^2 - t*one.phi"],
    ["one.yd*cos(one.phi) - one.xd*sin(one.phi)"],
    ["a*t*one.phid - two.phi*rate(distance(one, two.R)) + sin(t)*one.x", "one.x*two.x - 1"],
    ["2*one.x - a*two.y + t^2"],
]


@pytest.mark.parametrize("formulas", FORMULAS)
def test_constraints_of_ones_own_are_the_compiled_ones(formulas):
    assert_equations_are_the_compiled_ones(two_bodies(se.Constraint("J", formulas), a=0.3), Q0, QD0)


def test_a_skate_in_symbols_is_the_books():
    """v = yd cos phi - xd sin phi: Phi_q = (-sin phi, cos phi, 0), gamma = phid (xd cos phi + yd sin phi)."""
    model = se.Model(gravity=(0, 0))
    model.body("skate", mass=1, inertia=1)
    model.add(se.Constraint("edge", "skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)"))
    equations = model.equations()
    phi, (xd, yd, phid) = equations.q[2], equations.qd
    assert equations.Phi == sp.Matrix([0]) and equations.nu == sp.Matrix([0])
    assert equations.Phi_q == sp.Matrix([[-sp.sin(phi), sp.cos(phi), 0]])
    assert sp.expand(equations.gamma[0] - phid * (xd * sp.cos(phi) + yd * sp.sin(phi))) == 0


FORCES = {
    "linear": lambda: se.Spring(
        "F", se.distance("one.P", "two.R"), stiffness=40, damping=3, free=0.8, actuator="5*t"
    ),
    "law": lambda: se.Spring(
        "F", se.angle("one", "two"), law="a*s^3 + 0.2*sd*abs(sd) + (1 if t > 0.1 else 0)"
    ),
    "table": lambda: se.Spring(
        "F", se.x("one", "two"), law=se.Table(of="s", points=(0, 1, 2, 3, 9), values=(0, 2, 1, 5, 3))
    ),
    "callable": lambda: se.Spring("F", se.along("one.P", "two"), law=lambda s, sd, t: s**2 - sd * t),
    "turning": lambda: se.PointForce("F", "one.P", fx="3*t", fy="phi*xd", axes="body"),
    "constant": lambda: se.PointForce("F", "two.R", fx=2, fy=-1.5),
    "torque": lambda: se.Torque("F", "two", "step5(t, 0, 0, 1, a) - 0.1*phid"),
    "formulas": lambda: se.Force("F", along={"one.P.x": "a*two.xd - t", "distance(one, two)": "one.phi^2"}),
    "potential": lambda: se.Force("F", potential="a*distance(one.P, two.R)^3 + one.y*t"),
    "python": lambda: se.Torque("F", "one", law=lambda t, q, qd: q[0] - qd[2] * t),
}


@pytest.mark.parametrize("name", FORCES)
def test_forces_are_the_compiled_ones(name):
    assert_equations_are_the_compiled_ones(two_bodies(FORCES[name](), a=0.3), Q0, QD0)


@pytest.mark.parametrize(
    "motion",
    [se.Table((0.0, 0.5, 1.0, 2.0), (0.0, 0.3, 0.1, 1.0)), lambda t: 0.2 * t**3],
    ids=["table", "function"],
)
def test_a_motion_that_is_no_formula_stays_a_function_of_time(motion):
    model = two_bodies(se.Driver("motor", se.angle("one", "two"), motion))
    equations = model.equations()
    assert equations.nu[0] == sp.Derivative(sp.Function("f_motor", real=True)(equations.t), equations.t)
    assert_equations_are_the_compiled_ones(model, Q0, QD0)


EXPRESSIONS = [
    "ramp(t, 0, 1, 2, 3)", "step(t, 0, 1, 2, 3)", "poly4567(t, 0, 1, 2, 3)", "cycloidal(t, 0, 1, 2, 3)",
    "harmonic(t, 0, 1, 2, 3)", "min(t, 0.2, 1)*max(t, 1)", "mod(7*t, 2)", "hypot(t, 3) + atan2(t, 2)",
    "log10(t + 1)*ln(t + 2)", "sqrt(t)*exp(-t)^2", "piecewise(t < 0.1, 1, t < 0.5, t^2, 3)",
    "(t > 0.1 and not t > 0.2)*2 + sign(t)", "tanh(t) + asin(t) + 30*deg + e*pi", "-2^-t^2", "7 - t/2*3 - 1",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_formulas_of_time_keep_their_meaning(text):
    assert_equations_are_the_compiled_ones(two_bodies(se.AbsoluteX("J", "one.P", text)), Q0, QD0)


# Newmark's matrix -------------------------------------------------------------------------------------


def test_newmarks_matrix_is_the_derivative_of_its_residual():
    """r = [M qdd + Phi_q^T lam - QA; Phi / (beta h^2)] with q and qd by Newmark's formulas, by central differences.

    Differences of 1e-6 leave errors of 1e-9 of the entries, which are of order 100.
    """
    model = loaded("sprung_slider")
    equations, system = model.equations(), System(model)
    random = np.random.default_rng(3)
    n, m, h, beta, gamma = system.n, system.m, 0.05, 0.3025, 0.6
    q, qd, qdd, lam = system.drawn_q, *(random.standard_normal(k) for k in (n, n, m))

    def residual(x):
        q1, qd1 = q + beta * h**2 * (x[:n] - qdd), qd + gamma * h * (x[:n] - qdd)
        forces = system.M() @ x[:n] + system.Phi_q(T, q1).T @ x[n:] - system.QA(T, q1, qd1)
        return np.concatenate([forces, system.Phi(T, q1) / (beta * h**2)])

    x = np.concatenate([qdd, lam])
    steps = 1e-6 * np.eye(n + m)
    differences = np.array([(residual(x + e) - residual(x - e)) / 2e-6 for e in steps]).T
    found = equations.lambdify("J")(T, q, qd, qdd, lam, h, beta, gamma)
    np.testing.assert_allclose(found, differences, atol=1e-6)


def test_newmarks_matrix_of_a_pendulum_is_the_books():
    model = se.Model(gravity=(0, -9.81))
    bar = model.bar("bar", (0, 0), (1, 0), mass=2)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    equations = model.equations()
    m, J, L = sp.symbols("m_bar J_bar L_bar", positive=True)
    phi, (lam_x, lam_y) = equations.q[2], equations.lam
    turn = BETA * STEP**2 * L / 2 * (lam_x * sp.cos(phi) + lam_y * sp.sin(phi))
    corner = sp.diag(m, m, J + turn)
    assert (equations.J[:3, :3] - corner).expand().is_zero_matrix
    assert equations.J[:3, 3:] == equations.Phi_q.T
    assert equations.J[3:, 3:] == sp.zeros(2)
    assert GAMMA not in equations.J.free_symbols  # nothing is damped


# Names and numbers ------------------------------------------------------------------------------------


def test_bars_have_lengths_and_points_have_coordinates():
    text = str(loaded("slider_crank").equations())
    assert "Phi[O.x] = -L_crank*cos(phi_crank)/2 + x_crank" in text
    assert "QA[rod.y] = -g*m_rod" in text
    assert "nu[motor.drive] = speed" in text
    assert "L_rod = 3  (length of rod, m)" in text
    text = str(two_bodies(se.Revolute("J", "one.P", "two.R")).equations())
    assert "xi_one_P" in text and "eta_two_R = 0.5" in text


def test_the_numbers_of_a_model_can_stand_in_its_equations():
    equations = loaded("slider_crank").equations(numbers=True)
    assert equations.legend == []
    assert equations.M[0, 0] == 1 and float(equations.QA[4]) == pytest.approx(-19.62)
    assert equations.M.free_symbols == set()


def test_symbols_can_have_other_numbers():
    equations = loaded("slider_crank").equations()
    q = np.zeros(9)
    assert equations.lambdify("M", m_crank=7)(0.0, q, q)[0, 0] == 7.0
    with pytest.raises(ModelError, match="Did you mean 'm_crank'"):
        equations.lambdify("M", m_crnk=7)


def test_names_that_are_no_words_give_different_symbols():
    model = se.Model()
    for name in ("a b", "a-b", "a_b", "α", "{", "100%"):
        model.body(name, mass=1, inertia=1)
    model.add(se.Revolute("x y", model["a b"], model["a-b"]))
    equations = model.equations()
    symbols = {symbol.name for symbol in (*equations.q, *equations.qd, *equations.lam)}
    assert len(symbols) == 2 * 18 + 2 and all(name.isidentifier() for name in symbols)
    random = np.random.default_rng(0)
    assert_equations_are_the_compiled_ones(model, random.standard_normal(18), random.standard_normal(18))


def test_relative_coordinates_give_the_double_pendulum_of_the_books():
    """M_11 = J_1 + J_2 + m_1 L_1^2 / 4 + m_2 (L_1^2 + L_1 L_2 cos(theta_2) + L_2^2 / 4), for uniform bars."""
    equations = loaded("double_pendulum").equations("relative")
    m1, m2, J1, J2, L1, L2 = sp.symbols("m_upper m_lower J_upper J_lower L_upper L_lower", positive=True)
    theta = equations.q[1]
    expected = J1 + J2 + m1 * L1**2 / 4 + m2 * (L1**2 + L1 * L2 * sp.cos(theta) + L2**2 / 4)
    assert sp.expand(equations.M[0, 0] - expected) == 0
    assert equations.m == 0


def test_natural_coordinates_have_a_constant_mass_matrix():
    equations = loaded("double_pendulum").equations("natural")
    assert not equations.M.free_symbols & set(equations.q)
    L = sp.Symbol("L_upper", positive=True)
    x, y = equations.q[0], equations.q[1]
    assert equations.Phi[0] == x**2 + y**2 - L**2


# Notations --------------------------------------------------------------------------------------------


def test_letters_of_other_books_are_names_too():
    model = loaded("four_bar")
    haug, shabana = model.equations(), model.equations(notation="shabana")
    assert shabana.C_q == haug.Phi_q and shabana.Q_d == haug.gamma and shabana.Q_e == haug.QA
    assert model.equations(notation="garcia_de_jalon").b == haug.nu
    assert haug.Phi_q == model.equations(notation="nikravesh").D
    assert "C_q[A.x, crank.x]" in str(shabana)
    with pytest.raises(AttributeError, match="no 'C_q'"):
        _ = haug.C_q


def test_wrong_words_end_in_sentences():
    model = loaded("four_bar")
    with pytest.raises(ModelError, match="Did you mean 'haug'"):
        model.equations(notation="haugh")
    with pytest.raises(ModelError, match="there is no coordinate"):
        model.equations("polar")
    with pytest.raises(ModelError, match="The quantities are M, Phi_q"):
        model.equations().lambdify("K")
    with pytest.raises(ModelError, match="no bodies"):
        se.Model().equations()
    with pytest.raises(UnsupportedError, match="do not count the turns"):
        model.equations("natural")
