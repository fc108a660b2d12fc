"""Names that a model gives to tables and formulas, and laws that read channels of any body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

import simengine2d as se
from loading import written
from simengine2d.expressions.breaks import switches_of
from simengine2d.expressions.enclosures import enclose
from simengine2d.expressions.evaluate import evaluate
from simengine2d.expressions.function import expression_function
from simengine2d.expressions.function_table import HESSIAN, as_arrays, evaluate_function, new_scratch
from simengine2d.expressions.table import Table
from simengine2d.expressions.vocabulary import Vocabulary

X = np.linspace(0.0, 6.0, 13)
VARIABLES = ("x", "xd", "y", "yd", "t")


def table(smooth: bool = True, periodic: bool = False) -> Table:
    values = np.sin(X)
    values[-1] = values[0] if periodic else values[-1]
    return Table(of="u", points=X, values=values, smooth=smooth, periodic=periodic)


def words(gas: Table) -> Vocabulary:
    formulas = {"f(a, b)": "gas(a*b) + a*gas(b)", "g": "f(x, y)^2 + 3*gas(x)", "x2(x)": "x^2"}
    return Vocabulary({"gas": gas}, formulas)


def test_a_smooth_table_is_a_spline_and_another_one_straight_lines():
    u = np.linspace(0.0, 6.0, 97)
    spline = CubicSpline(X, np.sin(X))
    np.testing.assert_allclose([table().jet(v)[0] for v in u], spline(u), rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        [table(False).jet(v)[0] for v in u], np.interp(u, X, np.sin(X)), rtol=0, atol=1e-15
    )
    assert np.isnan(table().jet(6.1)[0]) and np.isnan(table(False).jet(-0.1)[0])
    assert table(periodic=True).jet(1.3 + 12) == pytest.approx(table(periodic=True).jet(1.3), abs=1e-14)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("periodic", [True, False])
@given(st.floats(0.3, 2.2), st.floats(0.3, 2.2), st.floats(-2, 2), st.floats(-2, 2))
def test_values_and_derivatives_are_those_of_the_table(smooth, periodic, x, y, xd, yd):
    """2 f(x, y)^2 + 6 G(x) + G(3/2) with f = G(x y) + x G(y), by the chain rule."""
    gas = table(smooth, periodic)
    function = expression_function(words(gas).parse("g*2 + gas(1.5)"), "", ("x", "y", "t"), {})
    arrays = as_arrays([function], [VARIABLES], HESSIAN)
    out = new_scratch(arrays).results
    evaluate_function(arrays, 0, HESSIAN, np.array([x, xd, y, yd, 0.0]), out)
    (G, G1, G2), (H, H1, H2), (K, K1, K2) = gas.jet(x * y), gas.jet(y), gas.jet(x)
    f, f_x, f_y = G + x * H, y * G1 + H, x * G1 + x * H1
    f_xx, f_xy, f_yy = y * y * G2, G1 + x * y * G2 + H1, x * x * G2 + x * H2
    gradient = np.array([4 * f * f_x + 6 * K1, 4 * f * f_y])
    hessian = np.array(
        [
            [4 * (f_x * f_x + f * f_xx) + 6 * K2, 4 * (f_x * f_y + f * f_xy)],
            [4 * (f_x * f_y + f * f_xy), 4 * (f_y * f_y + f * f_yy)],
        ]
    )
    rates = np.array([xd, yd])
    # sums of some ten terms of order 10 to 100
    assert out[0] == pytest.approx(2 * f * f + 6 * K + gas.jet(1.5)[0], abs=1e-13)
    np.testing.assert_allclose(out[[3, 5]], gradient, rtol=0, atol=1e-12)
    np.testing.assert_allclose(out[8:33].reshape(5, 5)[np.ix_([0, 2], [0, 2])], hessian, rtol=0, atol=1e-11)
    assert out[1] == pytest.approx(gradient @ rates, abs=1e-11)
    assert out[2] == pytest.approx(rates @ hessian @ rates, abs=1e-10)


def test_arguments_are_local():
    assert evaluate(words(table()).parse("x2(y + 1) + x"), {"x": 10.0, "y": 2.0}) == 19.0


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("periodic", [True, False])
def test_bounds_enclose(smooth, periodic):
    node = words(table(smooth, periodic)).parse("gas(0.5*t)")
    for a, b in ((0.1, 0.4), (2.0, 5.0), (7.0, 7.0), (1.0, 11.9)):
        low, high, slope_low, slope_high = enclose(node, a, b)
        for t in np.linspace(a, b, 50):
            value, slope, _ = table(smooth, periodic).jet(0.5 * t)
            assert low - 1e-14 <= value <= high + 1e-14
            assert slope_low - 1e-14 <= 0.5 * slope <= slope_high + 1e-14


def test_straight_lines_have_kinks_and_splines_only_stops():
    (lines,) = switches_of(words(table(False)).parse("gas(2*t)"))
    assert lines.hard and lines.bends and lines.levels == tuple(X)
    (soft,) = switches_of(words(table(periodic=True)).parse("gas(2*t)"))
    assert not soft.hard and soft.period == 6.0


@pytest.mark.parametrize(
    ("formulas", "text", "sentence"),
    [
        ({}, "gas(7)", "gas(7) is outside the table 'gas', which goes from 0 to 6"),
        ({}, "gas(1, 2)", "the table 'gas' has one argument, found 2"),
        ({"f(a)": "a"}, "f", "'f' is a formula with arguments. Write f(a)."),
        ({"f(a)": "a"}, "f(1, 2)", "found 2 arguments. Write f(a)."),
        ({"f(a": "a"}, "1", "a name is a word, with arguments if it has any: gap, pressure(u)"),
        ({"f": "g + 1", "g": "f"}, "f", "formulas use each other in a circle"),
        ({"f": "sinn(t)"}, "f", "formula 'f': expression 'sinn(t)', column 1: unknown function 'sinn'"),
        ({"gas": "2"}, "gas", "formula 'gas' is there twice"),
        ({"sin": "2"}, "1", "formula 'sin': this name has a meaning in expressions already, a function"),
        ({f"f{i}": f"f{i - 1}*f{i - 1}" if i else "t" for i in range(20)}, "f19", "more than 10000 parts"),
    ],
)
def test_mistakes_are_answered(formulas, text, sentence):
    with pytest.raises(se.ModelError) as caught:
        evaluate(Vocabulary({"gas": table()}, formulas, taken={"sin": "a function"}).parse(text), {})
    assert sentence in str(caught.value)


# In models --------------------------------------------------------------------------------------------

ENGINE = """
name: gas spring
parameters: {area: 2}
tables:
  gas: {points: [[0, 1], [0.5, 3], [1, 2], [2, 0.5]], smooth: SMOOTH}
formulas:
  lift: piston.y - crank.y
  pressure(u): area*gas(u)
bodies:
  crank: {mass: 1, inertia: 0.1}
  piston: {mass: 1, inertia: 0.1, at: [0, 1.2]}
joints:
  rail: {type: Translational, a: ground, b: piston, direction: [0, 1]}
  pin: {type: Revolute, a: ground, b: crank}
forces:
  along: {type: Force, along: {piston.y: pressure(lift)}}
  twist: {type: Torque, frame: crank, value: "-3*phid + pressure(lift)*piston.yd"}
"""


def engine(tmp_path, smooth: bool = True) -> se.Model:
    return se.load(written(tmp_path, ENGINE.replace("SMOOTH", str(smooth).lower()), "engine.yaml"))


@pytest.mark.parametrize("smooth", [True, False])
def test_a_force_calls_a_table(tmp_path, smooth):
    m = engine(tmp_path, smooth)
    r = se.dynamics(m, t_end=0.2, rtol=1e-9)
    np.testing.assert_allclose(r["lift"], r["piston.y"] - r["crank.y"], rtol=0, atol=1e-15)
    gas = np.array([m.tables["gas"].jet(u)[0] for u in r["lift"]])
    np.testing.assert_allclose(r["along.fy"], 2 * gas, rtol=1e-14)
    np.testing.assert_allclose(r["piston.ydd"], 2 * gas - 9.81, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        r["twist.torque"], 2 * gas * r["piston.yd"] - 3 * r["crank.phid"], rtol=1e-13, atol=1e-13
    )


def test_outside_the_table_a_run_says_so(tmp_path):
    with pytest.raises(se.SimEngineError, match=r"is outside the table 'gas', which goes from 0 to 2\."):
        se.dynamics(engine(tmp_path), t_end=3)


def test_files_hold_names(tmp_path):
    m = engine(tmp_path, smooth=False)
    for name in ("again.yaml", "again.json"):
        again = se.load(m.save(tmp_path / name))
        assert again.tables == m.tables and again.formulas == m.formulas
        assert not again.tables["gas"].smooth


def test_python_gives_names(tmp_path):
    m = se.Model("python", parameters={"k": 3})
    m.table("gas", [0, 1, 2], [1, 2, 0], smooth=False)
    m.table("bump", [(0, 0), (1, 1), (2, 0)], periodic=True)
    m.formula("hertz(d)", lambda d, k: k * d**1.5)
    m.formula("depth", "1 - ball.y")
    m.body("ball", mass=1, at=(0, 0.2))
    m.add(se.AbsoluteX("x", "ball"))
    m.add(se.AbsoluteAngle("phi", "ball"))
    m.add(se.Force("push", along={"ball.y": "hertz(depth) + gas(ball.y)*bump(t)"}))
    r = se.dynamics(m, t_end=0.1)
    gas = np.interp(r["ball.y"], [0, 1, 2], [1, 2, 0])
    bump = np.array([m.tables["bump"].jet(t)[0] for t in r.t])
    np.testing.assert_allclose(r["push.fy"], 3 * (1 - r["ball.y"]) ** 1.5 + gas * bump, rtol=1e-13)
    again = se.load(m.save(tmp_path / "m.yaml"))
    assert again.formulas == m.formulas and se.dynamics(again, t_end=0.1)["ball.y"][-1] == r["ball.y"][-1]


def test_motions_and_events_use_names():
    m = se.Model()
    m.table("profile", [(0, 0), (1, 1), (2, 0)])
    m.formula("height", "b.y - 0.5")
    m.body("b", mass=1)
    m.add(se.AbsoluteX("x", "b"))
    m.add(se.AbsoluteAngle("a", "b"))
    m.add(se.Driver("up", "y(ground, b)", "drawn + profile(2*t)"))
    r = se.dynamics(m, t_end=1, events=se.Event("height", "rising"))
    assert r["b.y"][-1] == pytest.approx(0.5, abs=1e-9) and r.t[-1] < 0.5
    (row,) = m.check().rows["up"]
    assert row.value.jet(0.3) == pytest.approx(
        (
            m.tables["profile"].jet(0.6)[0],
            2 * m.tables["profile"].jet(0.6)[1],
            4 * m.tables["profile"].jet(0.6)[2],
        )
    )


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("tables: {gas: {points: [[0, 1]]}}", "table 'gas': points is"),
        ("tables: {gas: {points: [[1, 1], [0, 2]]}}", "do not increase: 0 comes after 1"),
        ("tables: {gas: {file: none.csv}}", "table 'gas': the table none.csv does not exist"),
        (
            "tables: {sin: {points: [[0, 1], [1, 2]]}}",
            "table 'sin': this name has a meaning in expressions already",
        ),
        (
            "tables: {b: {points: [[0, 1], [1, 2]]}}",
            "table 'b': this name has a meaning in expressions already, a body",
        ),
        ("formulas: {a: b.x +}", "formula 'a': expression 'b.x +'"),
        ("formulas: {a: c, c: a}", "in a circle"),
        ("formulas: {phi: 2}", "formula 'phi': this name has a meaning in expressions already, a coordinate"),
    ],
)
def test_wrong_names_in_files_are_answered(tmp_path, section, sentence):
    with pytest.raises(se.ModelError) as caught:
        se.load(written(tmp_path, f"{section}\nbodies: {{b: {{mass: 1}}}}\n", "m.yaml"))
    assert sentence in str(caught.value)


def test_a_table_may_be_a_file(tmp_path):
    written(tmp_path, "angle,pressure\n0,1\n1,3\n2,2\n", "gas.csv")
    text = "tables: {gas: {file: gas.csv, argument: angle, value: pressure, smooth: false}}\nbodies: {b: {mass: 1}}\n"
    m = se.load(written(tmp_path, text, "m.yaml"))
    assert m.tables["gas"].jet(0.5)[0] == 2.0 and m.check()


def test_tables_of_time_may_be_straight_lines():
    times, values = [0, 1, 3], [0, 2, 1]
    m = se.Model()
    m.body("b", mass=1, inertia=1)
    m.add(se.PointForce("f", "b", fx=se.Table(times, values, smooth=False)))
    r = se.dynamics(m, t_eval=np.linspace(0, 3, 31), rtol=1e-10)
    np.testing.assert_allclose(r["f.fx"], np.interp(r.t, times, values), rtol=0, atol=1e-15)
    # the velocity is the integral of the force: 2 t^2 / 2 up to 1, trapezes after it
    assert r["b.xd"][-1] == pytest.approx(1 + 3, rel=1e-12)


# Laws of channels -------------------------------------------------------------------------------------


def two_bodies() -> se.Model:
    m = se.Model("two", gravity=(0, 0), parameters={"k": 7})
    m.body("a", mass=1, inertia=2, at=(0.3, 0), angle=0.4, velocity=(1, 0.2), angular_velocity=0.5,
           points={"P": (0.2, 0.1)})  # fmt: skip
    m.body("b", mass=2, inertia=1, at=(1.5, 1), velocity=(0, -1), angular_velocity=-1)
    return m


def test_a_spring_may_read_other_bodies():
    """The same law as a formula along the measure, with the opposite sign."""
    law = "k*(1 + b.phi^2)*s + a.yd*sd"
    length = "distance(a.P, b)"
    m, other = two_bodies(), two_bodies()
    m.add(se.Spring("s", length, law=law, stiffness=2, free=0.1))
    other.add(
        se.Force(
            "s", along={length: f"-(k*(1 + b.phi^2)*{length} + a.yd*rate({length})) - 2*({length} - 0.1)"}
        )
    )
    r, same = (se.dynamics(each, t_end=0.5, rtol=1e-10) for each in (m, other))
    for channel in ("a.x", "a.phi", "b.yd"):
        assert r[channel][-1] == pytest.approx(same[channel][-1], abs=1e-11)
    s, sd, _ = r.measure(length)
    expected = 7 * (1 + r["b.phi"] ** 2) * s + r["a.yd"] * sd + 2 * (s - 0.1)
    np.testing.assert_allclose(r["s.force"], expected, rtol=1e-13)
    np.testing.assert_allclose(r["s.effort"], -expected, rtol=1e-13)
    assert r.verdict.word == "trust"


def test_a_spring_on_a_sum_may_read_other_bodies():
    measure = "2*x(ground, a) - 0.5*y(ground, b)"
    m = two_bodies()
    m.add(se.Spring("s", measure, law="s^2*b.x + sd"))
    r = se.dynamics(m, t_end=0.2)
    s, sd = 2 * r["a.x"] - 0.5 * r["b.y"], 2 * r["a.xd"] - 0.5 * r["b.yd"]
    np.testing.assert_allclose(r["s.force"], s**2 * r["b.x"] + sd, rtol=1e-13)


@pytest.mark.parametrize("axes", ["global", "body"])
def test_forces_at_points_and_torques_may_read_other_bodies(axes):
    m = two_bodies()
    m.add(se.PointForce("f", "a.P", fx="k*b.y + xd", fy="2 + t", axes=axes))
    m.add(se.Torque("T", "a", "-k*(phi - b.phi) - phid"))
    r = se.dynamics(m, t_end=0.5, rtol=1e-10)
    own_x, own_y = 7 * r["b.y"] + r["a.xd"], 2 + r.t
    phi = r["a.phi"] if axes == "body" else 0 * r.t
    fx, fy = np.cos(phi) * own_x - np.sin(phi) * own_y, np.sin(phi) * own_x + np.cos(phi) * own_y
    np.testing.assert_allclose(r["f.fx"], fx, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(r["f.fy"], fy, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        r["T.torque"], -7 * (r["a.phi"] - r["b.phi"]) - r["a.phid"], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(r["a.xdd"], fx, rtol=1e-8, atol=1e-8)
    assert r.verdict.word == "trust"


def test_an_unknown_body_in_a_law_is_named():
    m = two_bodies()
    m.add(se.Torque("T", "a", "-crnk.phi"))
    with pytest.raises(se.ModelError, match=r"Torque 'T'.*body 'crnk', which is not in the model"):
        m.check()


def test_laws_are_examined_where_bodies_are_wrong():
    m = two_bodies()
    m.add(se.Torque("T", "a", "-b.phi"))
    m.add(se.Torque("U", "a", "-b.phi + nonsense"))
    m["b"].mass = -1
    with pytest.raises(se.ModelError) as caught:
        m.check()
    assert [problem.element for problem in caught.value.problems] == ["b", "U"]


def test_the_equations_show_tables_and_names(tmp_path):
    equations = engine(tmp_path).equations()
    assert "gas" in equations.latex()
    system = se.System(engine(tmp_path))
    q, qd = system.drawn_q + 0.1, np.arange(6) / 10
    QA = equations.lambdify("QA")(0.0, q, qd).ravel()
    np.testing.assert_allclose(QA, system.QA(0.0, q, qd), rtol=1e-13, atol=1e-13)


def test_course_files_hold_formulas_written_out_but_no_tables(tmp_path):
    m = se.Model(parameters={"w": 2})
    m.formula("turn", "w*t")
    m.table("gas", [(0, 1), (1, 2), (2, 0)])
    m.body("b", mass=1, inertia=1)
    m.add(se.AbsoluteAngle("a", "b", "turn^2"))
    with pytest.warns(se.ModelWarning):
        back = se.load(m.save(tmp_path / "m.adm"))
    assert back.check().rows["a"][0].value(0.5) == 1.0
    m.elements["a"].value = "gas(t)"
    with pytest.raises(se.ModelError, match=r"'a'.*calls a table"):
        m.save(tmp_path / "n.adm")


def test_a_parameter_in_a_formula_is_used():
    m = se.Model(parameters={"w": 2})
    m.formula("turn", "w*t")
    m.body("b", mass=1, inertia=1)
    assert "unused" not in {finding.kind for finding in se.doctor(m).findings}


# Python functions -------------------------------------------------------------------------------------


def bessel(u):
    """J_0 by its series: a loop, so that symbols cannot follow it."""
    total, term, k = 0.0, 1.0, 0
    while abs(term) > 1e-18:
        total, k = total + term, k + 1
        term *= -(u * u / 4) / (k * k)
    return total


def test_a_python_function_is_a_table_that_follows_it(tmp_path):
    m = two_bodies()
    m.function("J", bessel, 0, 8)
    u = np.linspace(0, 8, 997)
    off = max(abs(m.tables["J"].jet(each)[0] - bessel(each)) for each in u)
    assert off < 2e-9  # of a range of 1.4
    m.add(se.Torque("T", "a", "J(2 + b.phi)"))
    assert se.System(m).QA(0.0, np.zeros(6), np.zeros(6))[2] == pytest.approx(bessel(2.0), abs=2e-9)
    again = se.load(m.save(tmp_path / "m.yaml"))
    assert again.tables == m.tables


def test_periodic_functions_repeat():
    m = se.Model()
    m.function("wave", lambda u: np.exp(np.cos(u)), 0, 2 * np.pi, periodic=True)
    assert m.tables["wave"].jet(20.0)[0] == pytest.approx(np.exp(np.cos(20.0)), abs=3e-9)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda u: abs(u - 0.3), "may have kinks"),
        (lambda u: 1 / (u - 1), "cannot be evaluated: ZeroDivisionError"),
        (lambda u: float("nan"), "is nan at 0; give a range"),
        (lambda u: "x", "cannot be evaluated: ValueError"),
    ],
)
def test_functions_without_a_table_are_refused(function, sentence):
    with pytest.raises(se.ModelError, match=sentence):
        se.Model().function("f", function, 0, 1)
    with pytest.raises(se.ModelError, match="is not periodic: it is 0 at the start and 1 at the end"):
        se.Model().function("f", lambda u: u, 0, 1, periodic=True)
