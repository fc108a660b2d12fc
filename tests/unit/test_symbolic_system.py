"""Systems written as formulas: what is derived, how it moves, where it rests, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import simengine2d as se
from simengine2d.errors import AssemblyError, ModelError, SingularityError, UnsupportedError
from simengine2d.symbolic import SymbolicSystem

G, L1, L2, M1, M2 = 9.81, 0.8, 0.5, 1.3, 0.7
NUMBERS = {"g": G, "L1": L1, "L2": L2, "m1": M1, "m2": M2}
PENDULUM = {
    "q": "x y",
    "C": ["(x^2 + y^2 - L^2)/2"],
    "M": ["m", "m"],
    "V": "m*g*y",
    "parameters": {"m": 2, "g": G, "L": 0.7},
}


def double_pendulum():
    """Two points on massless rods, angles from the vertical."""
    return SymbolicSystem(
        q="a b",
        T="m1*(L1*ad)^2/2 + m2*((L1*ad)^2 + (L2*bd)^2 + 2*L1*L2*ad*bd*cos(a - b))/2",
        V="-(m1 + m2)*g*L1*cos(a) - m2*g*L2*cos(b)",
        parameters=NUMBERS,
    )


def double_pendulum_of_bodies(a, b):
    model = se.Model(gravity=(0, -G))
    x, y = L1 * np.sin(a), -L1 * np.cos(a)
    first = model.body("first", mass=M1, inertia=0, at=(x, y), angle=a, points={"O": (0, L1)})
    second = model.body(
        "second",
        mass=M2,
        inertia=0,
        at=(x + L2 * np.sin(b), y - L2 * np.cos(b)),
        angle=b,
        points={"A": (0, L2)},
    )
    model.add(se.Revolute("O", model.ground, first["O"]))
    model.add(se.Revolute("A", first, second["A"]))
    return model


# Derivation -------------------------------------------------------------------------------------------


def test_lagranges_equations_of_the_double_pendulum():
    """M and Q of two points on rods; the book form, for example Goldstein, Classical Mechanics, chapter 1."""
    system = double_pendulum()
    a, b = system.q
    ad, bd = system.qd
    g, l1, l2, m1, m2 = (next(s for s in system.letters if s.name == name) for name in NUMBERS)
    M = sp.Matrix(
        [[(m1 + m2) * l1**2, m2 * l1 * l2 * sp.cos(a - b)], [m2 * l1 * l2 * sp.cos(a - b), m2 * l2**2]]
    )
    Q = sp.Matrix(
        [
            -m2 * l1 * l2 * bd**2 * sp.sin(a - b) - (m1 + m2) * g * l1 * sp.sin(a),
            m2 * l1 * l2 * ad**2 * sp.sin(a - b) - m2 * g * l2 * sp.sin(b),
        ]
    )
    assert (system.M - M).expand().is_zero_matrix
    assert (system.QA - Q).expand().is_zero_matrix


def test_the_double_pendulum_moves_as_the_one_of_bodies():
    """Both to rtol = 1e-10 over 2 s of a motion that is not yet chaotic: 1e-7 after the growth of errors."""
    start = double_pendulum().initial(a=1.2, b=-0.4)
    mine = se.dynamics(start, t_end=2, step=0.1, rtol=1e-10)
    bodies = se.dynamics(double_pendulum_of_bodies(1.2, -0.4), t_end=2, step=0.1, rtol=1e-10)
    np.testing.assert_allclose(mine["a"], bodies["first.phi"], atol=1e-7)
    np.testing.assert_allclose(mine["bd"], bodies["second.phid"], atol=1e-6)


def test_symbols_functions_of_time_and_text_say_the_same():
    text = SymbolicSystem(**PENDULUM)
    x, y, m, g, L = sp.symbols("x y m g L")
    numbers = PENDULUM["parameters"]
    plain = SymbolicSystem(
        [x, y], C=[(x**2 + y**2 - L**2) / 2], M=sp.diag(m, m), V=m * g * y, parameters=numbers
    )
    X, Y = dynamicsymbols("x y")
    T = m * (X.diff() ** 2 + Y.diff() ** 2) / 2
    moving = SymbolicSystem(
        [X, Y], C=[(X**2 + Y**2 - L**2) / 2], T=T, V=m * g * Y, parameters={m: 2, g: G, L: 0.7}
    )
    for other in (plain, moving):
        for quantity in ("M", "QA", "Phi_q", "gamma"):
            state = 0.0, np.array([0.3, -0.6]), np.array([1.0, 0.5])
            np.testing.assert_allclose(
                other.lambdify(quantity)(*state), text.lambdify(quantity)(*state), rtol=1e-15
            )


def test_time_in_constraints_and_energies():
    """A bead on a wire that turns: r'' = omega^2 r - g sin(omega t), with the motion of the wire as a constraint."""
    bead = SymbolicSystem(
        q={"r": 0, "phi": 0}, C={"wire": "phi - w*t"}, T="m*(rd^2 + r^2*phid^2)/2", V="m*g*r*sin(phi)",
        parameters={"m": 2.0, "g": G, "w": 1.5},
    )  # fmt: skip
    assert bead.nu == sp.Matrix([next(s for s in bead.letters if s.name == "w")])
    start = bead.initial(r=1.0)
    assert start["phid"] == pytest.approx(1.5) and start["rd"] == 0.0
    r = se.dynamics(start, t_end=1, step=0.25, rtol=1e-10)
    w, t = 1.5, r.t
    drift = G / (2 * w**2)  # r = A cosh(w t) + B sinh(w t) + drift sin(w t)
    exact = np.cosh(w * t) - drift * np.sinh(w * t) + drift * np.sin(w * t)
    np.testing.assert_allclose(r["r"], exact, atol=1e-8)
    torque = -r["lamwire"]
    power = 2 * 2.0 * exact * r["rd"] * w + 2.0 * G * exact * np.cos(w * t)  # d/dt (m r^2 w) + m g r cos
    np.testing.assert_allclose(torque, power, atol=1e-6)


def test_a_kinetic_energy_may_have_terms_linear_in_the_rates():
    """T_1 = b(q) . qd gives gyroscopic forces: a charge in a plane, x'' = w y', y'' = -w x'."""
    charge = SymbolicSystem(q="x y", T="(xd^2 + yd^2)/2 + w/2*(x*yd - y*xd)", parameters={"w": 2.0})
    r = se.dynamics(charge.initial(xd=1), t_end=1, step=0.5, rtol=1e-10)
    np.testing.assert_allclose(r["x"], np.sin(2 * r.t) / 2, atol=1e-8)
    np.testing.assert_allclose(r["y"], (np.cos(2 * r.t) - 1) / 2, atol=1e-8)


# Motion -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["projection", se.Augmented(alpha=5, beta=5)])
def test_energy_stays(formulation):
    r = se.dynamics(
        SymbolicSystem(**PENDULUM).initial(x=0.5, guess={"y": -1}),
        t_end=3,
        rtol=1e-9,
        formulation=formulation,
    )
    energy = (r["xd"] ** 2 + r["yd"] ** 2) + 2 * G * r["y"]
    assert np.ptp(energy) < 1e-6
    assert r.residuals["position"] < (1e-13 if formulation == "projection" else 1e-7)
    assert r.channels == ["x", "y", "xd", "yd", "xdd", "ydd", "lam1"]
    assert r.to_frame().shape == (101, 7)


def test_other_integrators_take_fixed_steps():
    begin = SymbolicSystem(**PENDULUM).initial(x=0.5, guess={"y": -1})
    exact = se.dynamics(begin, t_end=1, rtol=1e-11)["x"][-1]
    coarse, fine = (
        se.dynamics(begin, t_end=1, step=h, integrator="rk4")["x"][-1] - exact for h in (0.02, 0.01)
    )
    assert np.log2(abs(coarse / fine)) == pytest.approx(4, abs=0.4)


def test_dependent_constraints_are_allowed():
    twice = SymbolicSystem(**{**PENDULUM, "C": {"rod": "(x^2 + y^2 - L^2)/2", "same": "x^2 + y^2 - L^2"}})
    once = SymbolicSystem(**PENDULUM)
    options = {"t_end": 1, "rtol": 1e-9}
    r, s = (se.dynamics(system.initial(x=0.5, guess={"y": -1}), **options) for system in (twice, once))
    np.testing.assert_allclose(r["x"], s["x"], atol=1e-8)
    np.testing.assert_allclose(r["lamrod"] + 2 * r["lamsame"], s["lam1"], atol=1e-6)
    assert "rod, same" in r.notes[0]


# Initial states ---------------------------------------------------------------------------------------


def test_coordinates_and_rates_can_be_held():
    state = SymbolicSystem(**PENDULUM).initial(x=0.3, xd=2.0, guess={"y": -1})
    assert state["y"] == pytest.approx(-np.sqrt(0.7**2 - 0.3**2), abs=1e-12)
    assert state["yd"] == pytest.approx(-0.3 * 2.0 / state["y"], abs=1e-12)


def test_a_start_without_a_gradient_is_left():
    state = SymbolicSystem(**PENDULUM).initial()  # at x = y = 0 the gradient of the constraint vanishes
    assert np.hypot(state["x"], state["y"]) == pytest.approx(0.7)


def test_states_that_cannot_be_are_refused_in_words():
    system = SymbolicSystem(**PENDULUM)
    with pytest.raises(AssemblyError, match="with x = 2: constraint '1' stays at"):
        system.initial(x=2)
    with pytest.raises(AssemblyError, match=r"xd = 1, yd = 1: constraint '1' opens"):
        system.initial(x=0.3, y=-np.sqrt(0.7**2 - 0.3**2), xd=1, yd=1)
    with pytest.raises(ModelError, match="'z' is neither a coordinate"):
        system.initial(z=1)


# Rest and small motions -------------------------------------------------------------------------------


def test_equilibrium_and_small_motions_of_the_double_pendulum():
    system = double_pendulum()
    hanging = se.equilibrium(system, start={"a": 0.4, "b": -0.3})
    np.testing.assert_allclose(hanging.q, 0.0, atol=1e-9)
    assert hanging.stable
    assert not se.equilibrium(system, start={"a": 3.0, "b": 0.1}).stable
    # (m1 + m2) L1^2 w^4 ... : det(K - w^2 M) = 0 with K = diag((m1 + m2) g L1, m2 g L2)
    M = np.array([[(M1 + M2) * L1**2, M2 * L1 * L2], [M2 * L1 * L2, M2 * L2**2]])
    K = np.diag([(M1 + M2) * G * L1, M2 * G * L2])
    expected = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)))
    found = se.linearize(system).eigenvalues.imag
    np.testing.assert_allclose(np.sort(found[found > 0]), np.sort(expected), rtol=1e-9)


def test_a_constrained_equilibrium_has_its_multiplier():
    rest = se.equilibrium(SymbolicSystem(**PENDULUM), start={"x": 0.1, "y": -0.6})
    assert rest["y"] == pytest.approx(-0.7) and abs(rest["x"]) < 1e-9
    assert rest.lam[0] == pytest.approx(2 * G / 0.7)  # C_q^T lam = Q: y lam = -m g
    A = se.linearize(rest, states=["x"]).A
    np.testing.assert_allclose(A, [[0, 1], [-G / 0.7, 0]], atol=1e-9)


def test_inputs_are_parameters():
    cart = SymbolicSystem(q="x", M=["m"], Q=["u - c*xd - k*x"], parameters={"m": 2, "u": 0, "c": 0.4, "k": 8})
    small = se.linearize(cart, inputs="u")
    np.testing.assert_allclose(small.A, [[0, 1], [-4, -0.2]])
    np.testing.assert_allclose(small.B, [[0], [0.5]])
    assert small.states == ["x", "xd"]


# What is refused --------------------------------------------------------------------------------------

WRONG = [
    ({"q": ""}, "q is empty"),
    ({"q": "x x", "M": [1, 1]}, "'x' has two meanings"),
    ({"q": "x xd", "M": [1, 1]}, "'xd' has two meanings"),
    ({"q": "x t", "M": [1, 1]}, "'t' has two meanings"),
    ({"q": [3], "M": [1]}, "a coordinate is 3"),
    ({"q": "x"}, "either the mass matrix M or the kinetic energy T"),
    ({"q": "x", "M": [1], "T": "xd^2"}, "either the mass matrix M or the kinetic energy T"),
    ({"q": "x", "M": [1, 2]}, "M has 2 entries; 1 are needed"),
    ({"q": "x y", "M": [[1, 2], [3, 4]]}, "symmetric"),
    ({"q": "x y", "M": [[1, 2]]}, "M must be 2 x 2"),
    ({"q": "x y", "M": [[1, 2], 3]}, "M must be 2 x 2"),
    ({"q": "x", "M": 3}, "M is 3; give 1 masses"),
    ({"q": "x", "M": ["xd"]}, "M holds xd"),
    ({"q": "x", "T": "xd^3"}, "T holds xd; a kinetic energy is quadratic"),
    ({"q": "x", "M": [1], "V": "x*xd"}, "V holds xd"),
    ({"q": "x", "M": [1], "C": ["xd - 1"]}, "constraint '1' holds xd"),
    ({"q": "x", "M": [1], "C": ["t - 1"]}, "holds no coordinate"),
    ({"q": "x", "M": [1], "C": [None]}, r"C\[0\] is None"),
    ({"q": "x", "M": [1], "Q": {"y": 1}}, "Q names 'y'"),
    ({"q": "x", "M": [1], "parameters": {"x": 1}}, "'x' has two meanings"),
    ({"q": "x", "M": [1], "parameters": {"k": float("nan")}}, "not a finite number"),
    ({"q": "x", "M": [1], "Q": [sp.Function("f")(sp.Symbol("t"))]}, r"holds f\(t\)"),
    ({"q": "x", "M": [1], "Q": [sp.Symbol("x") > 1]}, "is not an expression"),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG)
def test_wrong_systems_are_refused_in_words(given, sentence):
    with pytest.raises(ModelError, match=sentence):
        SymbolicSystem(**given)


HOSTILE = [
    "9^9^9^9",
    "x^" + "(2^" * 90 + "2" + ")" * 90,
    "(" * 5000 + "x" + ")" * 5000,
    "x + " * 300_000 + "x",
    "x.__class__.__mro__",
    "__import__('os').system('true')",
    "exp(exp(exp(exp(9))))",
    "1/0",
    "lambda: 1",
    "x = 3",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_ends_in_a_sentence(text):
    with pytest.raises(ModelError) as caught:
        SymbolicSystem(q="x", M=[1], Q=[text], parameters={}).lambdify("QA")
    assert len(str(caught.value)) < 1000


def test_large_powers_are_not_multiplied_out():
    system = SymbolicSystem(
        q="x y", T="(x + 1)^9999*xd^2 + yd^2", C=["(x + y + 1)^9999 - 1"], V="(x + y)^9999"
    )
    assert system.C_q[0] == 9999 * (system.q[0] + system.q[1] + 1) ** 9998
    assert sp.count_ops(system.gamma) < 500 and sp.count_ops(system.J) < 5000


def test_numbers_that_are_missing_are_named():
    system = SymbolicSystem(q="x", M=["m"], Q=["-k*x"])
    assert system.stiffness[0] == next(s for s in system.QA.free_symbols if s.name == "k")
    with pytest.raises(ModelError, match="hold m without a value"):
        se.dynamics(system, t_end=1)


def test_motions_without_mass_are_refused():
    with pytest.raises(ModelError, match="a free motion has no mass"):
        se.dynamics(SymbolicSystem(q="x y", M=[1, 0]), t_end=1)


def test_contradictions_on_the_way_are_told_with_the_results_so_far():
    """x = 1 - t up to the point where the rod of length L cannot follow any more."""
    pulled = SymbolicSystem(**{**PENDULUM, "C": ["(x^2 + y^2 - L^2)/2", "y + 0.5 + t"]})
    with pytest.raises((SingularityError, se.ConvergenceError)) as caught:
        se.dynamics(pulled.initial(guess={"x": 0.4}), t_end=1, step=0.01)
    assert 0.1 < caught.value.results.t[-1] <= 0.2


def test_options_of_models_are_refused():
    system = SymbolicSystem(**PENDULUM)
    with pytest.raises(UnsupportedError, match="events"):
        se.dynamics(system, t_end=1, events=se.Event("crank.x - 1"))
    with pytest.raises(UnsupportedError, match="does not do; choose dop853"):
        se.dynamics(system, t_end=1, step=0.1, integrator="newmark", formulation="augmented")
    with pytest.raises(UnsupportedError, match="all"):
        se.equilibrium(system, all=True)
    with pytest.raises(ModelError, match="there is no channel 'z'"):
        _ = se.dynamics(system.initial(x=0.5, guess={"y": -1}), t_end=0.1)["z"]
