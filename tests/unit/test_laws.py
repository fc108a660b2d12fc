"""Laws: every kind, its value and its partial derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import simengine2d as se
from simengine2d.expressions.function import as_function
from simengine2d.expressions.function_table import (
    FIRST_SLOPE,
    HESSIAN,
    evaluate_function,
    law_in_time,
    law_slopes,
    law_value,
    new_scratch,
    pack,
)
from simengine2d.expressions.law import PUSH, STATE, as_law, body_law, linear_law
from simengine2d.expressions.operations import MANY_ARGUMENTS, ONE_ARGUMENT, RISES, TWO_ARGUMENTS
from simengine2d.expressions.parser import parse
from simengine2d.symbolic.to_sympy import to_sympy


def evaluated(law, z):
    """Value and derivatives of one law at the variables z, of which the last is t."""
    table, z = pack([law], [PUSH if len(z) == len(PUSH) else STATE]), np.array(z, dtype=float)
    out = new_scratch(table).results
    value = law_value(table, 0, z, out)
    same = law_slopes(table, 0, z, out)
    assert value == same or np.isnan(value)
    return value, out[FIRST_SLOPE : FIRST_SLOPE + z.size].copy()


PUSH_EXPRESSIONS = [
    "k*(s - 1) + 0.3*sd",
    "k*s^3 + s*sd",
    "sin(2*s)*exp(-sd) + t",
    "sqrt(s)/(1 + sd^2)",
    "atan2(s, sd) + tanh(s*t)",
    "log(s) + cosh(sd) - abs(sd)",
    "s^2.5 + 2^sd",
]


@pytest.mark.parametrize("text", PUSH_EXPRESSIONS)
def test_expressions_against_sympy(text):
    symbols = sympy.symbols("s sd t", real=True)
    exact = sympy.sympify(text, locals=dict(zip(PUSH, symbols, strict=True)) | {"k": 7.0})
    law = as_law(text, PUSH, {"k": 7.0})
    for z in [(0.8, -0.4, 0.3), (2.5, 1.7, 1.1), (0.1, -3.0, 2.0)]:
        value, derivatives = evaluated(law, z)
        at = dict(zip(symbols, z, strict=True))
        assert value == pytest.approx(float(exact.subs(at)), rel=1e-12)
        for k in (0, 1):
            assert derivatives[k] == pytest.approx(
                float(exact.diff(symbols[k]).subs(at)), rel=1e-11, abs=1e-12
            )


OPERATIONS = [
    *(f"{name}(0.3*s + s*sd)" for name in ONE_ARGUMENT),
    *(f"{name}(s + 0.1*sd, sd + 0.5*s)" for name in (*TWO_ARGUMENTS, *MANY_ARGUMENTS)),
    *(f"{name}(s + sd, 0.1*s, sd, 1 + s, 2*sd)" for name in RISES),
    *("s^sd", "s/sd", "s^3", "s^-2", "2^(s*t)", "s*sd if s < sd else s^2*t", "s*sd if s > sd else s^2*t"),
    *("(s < sd)*s^2 + (s >= sd)*s^3", "sin(s)*cos(s) + cos(s*t)", "-s^2 + (not s)"),
]


@pytest.mark.parametrize("text", OPERATIONS)
def test_every_operation_against_sympy(text):
    """Value, both derivatives along the motion, gradient and Hessian of each operation."""
    symbols = sympy.symbols(PUSH, real=True)
    s, sd, t = symbols
    exact = to_sympy(parse(text), dict(zip(PUSH, symbols, strict=True)))
    table = pack([as_law(text, PUSH, {})], [PUSH], HESSIAN)
    out, z = new_scratch(table).results, np.array([0.4, 0.3, 0.7])
    evaluate_function(table, 0, HESSIAN, z, out)
    along = lambda g: sympy.diff(g, s) * sd + sympy.diff(g, t)
    expected = [exact, along(exact), along(along(exact))]
    expected += [sympy.diff(exact, v) for v in symbols]
    expected += [sympy.diff(exact, v, w) for v in symbols for w in symbols]
    at = dict(zip(symbols, z.tolist(), strict=True))
    assert out[:15] == pytest.approx([float(each.subs(at)) for each in expected], rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("text", ["-c*xd*sqrt(xd^2 + yd^2)", "sin(phi)*x + y*phid*t", "xd^3 + cos(x*y)"])
def test_laws_of_a_body_against_sympy(text):
    symbols = sympy.symbols(STATE, real=True)
    exact = sympy.sympify(text, locals=dict(zip(STATE, symbols, strict=True)) | {"c": 0.5})
    z = (0.3, -0.7, 1.1, 2.0, -0.4, 0.9, 0.6)
    at = dict(zip(symbols, z, strict=True))
    value, derivatives = evaluated(as_law(text, STATE, {"c": 0.5}), z)
    assert value == pytest.approx(float(exact.subs(at)), rel=1e-12)
    for k in range(6):
        assert derivatives[k] == pytest.approx(float(exact.diff(symbols[k]).subs(at)), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("s", "value", "slope"), [(0.5, 0.0, 0.0), (1.5, 10.0, 20.0), (3.0, 60.0, 40.0)])
def test_a_piecewise_law(s, value, slope):
    """A stop: nothing below 1, 20 (s - 1) up to 2, stiffer above."""
    law = as_law("0 if s < 1 else 20*(s - 1) if s < 2 else 20 + 40*(s - 2)", PUSH, {})
    found, derivatives = evaluated(law, (s, 0.7, 0.0))
    assert (found, derivatives[0], derivatives[1]) == (value, slope, 0.0)


def test_a_linear_law():
    value, derivatives = evaluated(linear_law(40.0, 3.0, 0.5), (0.8, -0.2, 1.5))
    assert value == pytest.approx(40 * 0.3 - 3 * 0.2)
    assert list(derivatives[:2]) == [40.0, 3.0]


def test_a_table_is_read_over_the_first_variable():
    places = np.linspace(0.0, 3.0, 61)
    law = as_law(se.Table(of="s", points=places, values=np.sin(places)), PUSH, {})
    value, derivatives = evaluated(law, (1.234, 5.0, 9.0))
    # a natural cubic spline of step 0.05: h^4 / 384 and h^3 / 24
    assert value == pytest.approx(np.sin(1.234), abs=2e-7)
    assert derivatives[0] == pytest.approx(np.cos(1.234), abs=1e-5)
    assert derivatives[1] == 0.0


@pytest.mark.parametrize("value", [3.5, "2*t + 1", as_function("2*t + 1")])
def test_a_function_of_time_has_no_derivatives(value):
    found, derivatives = evaluated(as_law(value, PUSH, {}), (0.1, 0.2, 1.25))
    assert found == 3.5
    assert not np.any(derivatives[:2])


def test_a_python_function_is_differentiated_by_differences():
    law = as_law(lambda s, sd, t: s**3 + np.sin(sd) * t, PUSH, {})
    value, derivatives = evaluated(law, (0.7, 0.4, 2.0))
    assert value == pytest.approx(0.7**3 + np.sin(0.4) * 2.0, rel=1e-15)
    assert derivatives[0] == pytest.approx(3 * 0.49, rel=1e-6)
    assert derivatives[1] == pytest.approx(2 * np.cos(0.4), rel=1e-6)


def test_a_python_law_of_a_body_gets_time_and_states():
    seen = []

    def drag(t, q, qd):
        seen.append((t, *q, *qd))
        return -0.5 * qd[0], t * q[1]

    z = (1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 7.0)
    first, derivatives = evaluated(body_law(drag, 0, "PointForce 'drag'", "FX, FY"), z)
    second, _ = evaluated(body_law(drag, 1, "PointForce 'drag'", "FX, FY"), z)
    assert (7.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0) in seen
    assert (first, second) == (-2.0, 14.0)
    assert derivatives[STATE.index("xd")] == pytest.approx(-0.5, rel=1e-6)
    assert np.abs(np.delete(derivatives[:6], STATE.index("xd"))).max() < 1e-9


def test_the_law_of_several_is_found_by_its_number():
    laws = [linear_law(1.0, 0.0, 0.0), as_law("s^2", PUSH, {}), as_law("t", PUSH, {})]
    table = pack(laws, [PUSH] * 3)
    out = new_scratch(table).results
    values = [law_value(table, i, np.array([3.0, 1.0, 0.5]), out) for i in range(3)]
    assert values == [3.0, 9.0, 0.5]


@pytest.mark.parametrize("given", [lambda s, sd, t: 1 / 0, lambda s, sd, t: float("nan")])
def test_a_python_law_without_a_value_gives_nan_and_keeps_the_reason(given):
    law = as_law(given, PUSH, {})
    value, _ = evaluated(law, (1.0, 0.0, 0.0))
    assert np.isnan(value)
    assert law.callback is not None and law.callback.raised is not None


def test_unknown_names_in_a_law_are_named():
    with pytest.raises(se.ModelError, match="stiff"):
        as_law("stiff*s", PUSH, {"stiffness": 3.0})


def test_a_law_that_only_has_a_name_says_how_to_give_it():
    with pytest.raises(se.UnsupportedError, match=r"laws=\{'piston': 'FX, FY'\}"):
        body_law("piston", 0, "PointForce 'gas'", "FX, FY")


def moved(force, t_end=3.0):
    """Where a force has led a mass of 1 kg on a rail."""
    model = se.Model("rail", gravity=(0, 0))
    model.body("b", mass=1, inertia=1)
    model.add(se.Translational("rail", model.ground, "b"))
    model.add(force)
    return float(se.dynamics(model, t_end=t_end)["b.x"][-1])


def test_a_table_of_times_given_to_a_force_is_a_function_of_time():
    table = se.Table((0, 1, 2, 3, 4), (0, 1, 2, 3, 4))
    assert moved(se.PointForce("F", "b", fx=table)) == pytest.approx(4.5, rel=1e-6)
    assert moved(se.PointForce("F", "b", fx=se.Table(of="t", points=(0, 4), values=(0, 4)))) == pytest.approx(
        4.5
    )
    torque = as_law(table, STATE, {})
    assert evaluated(torque, (9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 2.5))[0] == pytest.approx(2.5)


@pytest.mark.parametrize(("of", "k"), list(zip(STATE[:-1], range(6), strict=True)))
def test_a_table_says_of_what_it_is_a_function(of, k):
    law = as_law(se.Table(of=of, points=(0, 1, 2, 3), values=(0, 1, 8, 27)), STATE, {})
    state = [9.0] * 7
    state[k] = 2.5
    value, slopes = evaluated(law, state)
    assert value == pytest.approx(2.5**3)
    assert slopes[k] == pytest.approx(3 * 2.5**2)
    assert sum(slope != 0.0 for slope in slopes) == 1


def test_a_periodic_table_of_an_angle_repeats():
    law = as_law(se.Table(of="phi", points=(0, 1, 2), values=(0, 1, 0), periodic=True), STATE, {})
    at = lambda phi: evaluated(law, (0, 0, phi, 0, 0, 0, 0))[0]
    assert at(-7.5) == pytest.approx(at(0.5)) == pytest.approx(at(8.5))


def test_a_table_that_may_mean_two_things_is_refused():
    with pytest.raises(se.ModelError, match=r'one of time.*of="s", points.*of="t", points'):
        as_law(se.Table((0, 1), (0, 1)), PUSH, {})
    with pytest.raises(se.ModelError, match="one of 'x'; the variables of this law are s, sd"):
        as_law(se.Table(of="x", points=(0, 1), values=(0, 1)), PUSH, {})
    with pytest.raises(se.ModelError, match="one of 's', but a function of t"):
        as_function(se.Table(of="s", points=(0, 1), values=(0, 1)))
    with pytest.raises(se.ModelError, match=r"Table\(times=.*Table\(of="):
        se.Table((0, 1), (0, 1), of="s")
    with pytest.raises(se.ModelError, match=r"Table\(times=.*Table\(of="):
        se.Table(points=(0, 1), values=(0, 1))


@pytest.mark.parametrize("name", STATE[:-1])
def test_a_parameter_that_a_variable_would_hide_is_refused(name):
    with pytest.raises(se.ModelError, match=f"a parameter '{name}' too"):
        as_law(f"10*{name}", STATE, {name: 3.0})
    assert evaluated(as_law("10*k", STATE, {name: 3.0, "k": 2.0}), [0.0] * 7)[0] == 20.0


def test_a_law_of_time_is_known_until_time_changes_and_a_python_function_is_always_called():
    table = pack([as_function("sin(t)"), as_function("2*t")], [PUSH, PUSH])
    scratch = new_scratch(table)
    for t in (0.3, 0.3, 0.7, 0.3):
        z = np.array([1.0, 2.0, t])
        assert law_in_time(table, 0, z, scratch) == np.sin(t)
        assert law_in_time(table, 1, z, scratch) == 2 * t
        assert scratch.known[0].tolist() == [t, np.sin(t)]
    called = pack([as_function(lambda t: t**2)], [PUSH])
    scratch = new_scratch(called)
    assert law_in_time(called, 0, np.array([1.0, 2.0, 3.0]), scratch) == 9.0
    assert np.isnan(scratch.known).all()
