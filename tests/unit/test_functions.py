"""Functions of time: values and two derivatives against SymPy, tables against SciPy, callables, kernels."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from scipy.interpolate import CubicSpline

from simengine2d.errors import ModelError
from simengine2d.expressions.dual import Jet
from simengine2d.expressions.function import Function, as_function, expression_function
from simengine2d.expressions.function_table import HESSIAN, evaluate_function, functions_at, new_scratch, pack
from simengine2d.expressions.parser import parse
from simengine2d.expressions.syntax import Call, Chain, Constant, ExpressionError, Name, Node, Number, Unary
from simengine2d.expressions.table import Table
from simengine2d.numerics.kernel import JIT, kernel

T = sp.Symbol("t", real=True)

# The oracle: the same tree in SymPy -------------------------------------------------------------------

SHAPES = {
    "ramp": lambda s: s,
    "step": lambda s: 3 * s**2 - 2 * s**3,
    "step5": lambda s: 10 * s**3 - 15 * s**4 + 6 * s**5,
    "poly4567": lambda s: 35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7,
    "cycloidal": lambda s: s - sp.sin(2 * sp.pi * s) / (2 * sp.pi),
    "harmonic": lambda s: (1 - sp.cos(sp.pi * s)) / 2,
}
JOIN = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "^": lambda a, b: a**b, "<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "and": sp.And, "or": sp.Or,
}  # fmt: skip
CALLS = {
    "asin": sp.asin, "acos": sp.acos, "atan": sp.atan, "atan2": sp.atan2, "abs": sp.Abs, "sign": sp.sign,
    "min": sp.Min, "max": sp.Max, "log10": lambda a: sp.log(a) / sp.log(10),
    "hypot": lambda a, b: sp.sqrt(a**2 + b**2), "mod": lambda a, b: a - b * Floor(a / b),
}  # fmt: skip


class Floor(sp.Function):
    """floor with the derivative between the jumps."""

    @classmethod
    def eval(cls, x):
        return sp.floor(x) if x.is_number else None

    def fdiff(self, argindex=1):
        return sp.S.Zero


def rise(name: str, x, x0, h0, x1, h1):
    shape = h0 + (h1 - h0) * SHAPES[name]((x - x0) / (x1 - x0))
    return sp.Piecewise((h0, x < x0), (h1, x >= x1), (shape, True))


def to_sympy(node: Node):
    match node:
        case Number(value):
            return sp.Rational(str(value))
        case Constant(name):
            return {"pi": sp.pi, "e": sp.E, "deg": sp.pi / 180}[name]
        case Name(_):
            return T
        case Unary(operator, operand):
            return -to_sympy(operand) if operator == "-" else sp.Not(to_sympy(operand))
        case Chain(first, rest):
            result = to_sympy(first)
            for operator, operand in rest:
                result = JOIN[operator](result, to_sympy(operand))
            return result
        case Call("piecewise", args):
            parts = [to_sympy(arg) for arg in args]
            return sp.Piecewise(*zip(parts[1::2], parts[:-1:2], strict=True), (parts[-1], True))
        case Call(name, args) if name in SHAPES:
            return rise(name, *map(to_sympy, args))
        case Call(name, args):
            return CALLS.get(name, getattr(sp, name, None))(*map(to_sympy, args))
    raise TypeError(node)


def derivative_of_jumps(expression):
    """sign, floor and Abs have no derivative but that of the branch taken."""
    expression = expression.replace(sp.Derivative, lambda f, *_: sp.S.Zero)
    return expression.replace(sp.DiracDelta, lambda *_: sp.S.Zero)


EXPRESSIONS = [
    "3*t - 2", "t^3", "t^2.5", "t^-2", "2^t", "t^t", "(1 + t)^(2*t)", "(t - 5)^3", "1/(1 + t^2)",
    "t/(t + 2)/(t + 3)",
    "-t*sin(t)", "sin(3*t)", "cos(t^2)", "tan(t/2)", "asin(t/3)", "acos(t/3)", "atan(2*t)", "sinh(t)",
    "cosh(t)",
    "tanh(t)", "exp(-t)", "log(1 + t)", "ln(t)", "log10(t + 1)", "sqrt(t + 1)", "abs(t - 1)",
    "abs(sin(5*t))",
    "sign(t - 1)*t^2", "atan2(sin(t), cos(2*t))", "atan2(t, -2)", "hypot(t, 2 + t^2)", "mod(t, 0.3)*t",
    "mod(t^2, 1 + t)", "min(t, 1, t^2)", "max(sin(t), cos(t))", "piecewise(t < 1, t^2, t < 2, 2*t - 1, 3)",
    "t^3 if t < 1 and t > 0.5 or t > 1.5 else -t", "(2 if not t < 1 else 3)*t",
    "sin(t)*exp(cos(t))/sqrt(1 + t)",
    "pi/2 + sin(4*t)", "30*deg*t + e*t^2", "sin(cos(sin(t)))^2",
    *(f"{name}(t, 0.5, 1, 1.5, 3)" for name in SHAPES),
    *(f"{name}(t^2, t/4, sin(t), 2 + t, 3*t)" for name in SHAPES),
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_value_and_two_derivatives_against_sympy(text: str) -> None:
    f = as_function(text)
    exact = to_sympy(parse(text))
    orders = [exact, derivative_of_jumps(exact.diff(T)), derivative_of_jumps(exact.diff(T, 2))]
    for t in np.random.default_rng(7).uniform(0.05, 1.95, 6):
        expected = [float(order.subs(T, sp.Rational(float(t))).evalf(30)) for order in orders]
        scale = max(1.0, *map(abs, expected))
        assert f.jet(t) == pytest.approx(expected, rel=1e-11, abs=1e-13 * scale)
        assert f(t) == f.jet(t)[0]


@pytest.mark.parametrize("name", SHAPES)
def test_rises_hold_still_before_and_after(name: str) -> None:
    f = as_function(f"{name}(t, 1, 2, 3, 5)")
    assert f.jet(0.9) == (2.0, 0.0, 0.0)
    assert f.jet(3.0) == (5.0, 0.0, 0.0)
    assert f(1.0) == 2.0


@pytest.mark.parametrize(
    ("text", "t", "expected"),
    [
        ("abs(t)", 0.0, (0, 1, 0)), ("min(t, 1)", 1.0, (1, 1, 0)), ("sign(t)", 0.0, (0, 0, 0)),
        ("harmonic(t, 0, 0, 1, 2)", 0.0, (0, 0, math.pi**2)), ("t^2", 0.0, (0, 0, 2)),
        ("t^1", 0.0, (0, 1, 0)),
        ("t^0", 0.0, (1, 0, 0)), ("piecewise(t < 0, sqrt(-1 - t), t)", 1.0, (1, 1, 0)),
        ("piecewise(t > 0 and log(t) > 1, 1, 2*t)", -1.0, (-2, 2, 0)), ("tanh(t)", 1000.0, (1, 0, 0)),
    ],
)  # fmt: skip
def test_the_branch_taken(text: str, t: float, expected: tuple[float, ...]) -> None:
    assert as_function(text).jet(t) == pytest.approx(expected, rel=1e-14)


# Constants and parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("given", [2, 2.0, np.float32(2), "2", "k", "1 + k/2", "piecewise(k > 0, k, 1/0)"])
def test_constants(given: object) -> None:
    f = as_function(given, {"k": 2.0})
    assert f.is_constant and f.jet(5.0) == (2.0, 0.0, 0.0) and f.domain == (-math.inf, math.inf)


def test_parameters_and_variable() -> None:
    f = as_function("A*sin(w*t)", {"A": 2.0, "w": 3.0})
    assert not f.is_constant and f.text == "'A*sin(w*t)'"
    assert f.jet(0.2) == pytest.approx((2 * math.sin(0.6), 6 * math.cos(0.6), -18 * math.sin(0.6)))
    assert as_function("x^2", variable="x").jet(3.0) == (9.0, 6.0, 2.0)
    assert as_function("piecewise(k > 0, t*(1/k), t)", {"k": 0.0}).jet(2.0) == (2.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("t", 0),
        ("pi/2 + sin(2*2*t)", 5),  # two numbers, and a product, a sine and a sum
        ("step5(t, 0, 0, 1, 1)", 1),
        ("cos(t)*cos(t) + sin(t)", 4),
        ("t^2", 1),
    ],
)
def test_folding_shortens_the_tape(text: str, operations: int) -> None:
    tape = as_function(text).tape
    assert tape is not None and len(tape.operations) == operations


def test_a_function_is_itself() -> None:
    f = as_function("t")
    assert as_function(f) is f and copy.deepcopy(f) is f


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("sin(x)", "column 5: unknown name 'x'. The known names are t, k, pi"),
        ("t + 1/0", "column 7: 1 / 0 divides by zero"),
        (None, "None is of type NoneType"),
        (True, "True is of type bool"),
        (math.nan, "the value nan is not a finite number"),
        ([1, 2], r"\[1, 2\] is of type list"),
        ((math.sin, math.cos), r"three functions \(f, fd, fdd\)"),
        ((1, 2, 3), r"three functions \(f, fd, fdd\)"),
    ],
)
def test_what_is_no_function(given: object, what: str) -> None:
    with pytest.raises(ModelError, match=what):
        as_function(given, {"k": 1.0})


def test_no_value_says_why() -> None:
    with pytest.raises(
        ModelError, match=r"'sqrt\(1 - t\)' has no value at t = 2: .* 1 is too small beside t = 2\."
    ):
        as_function("sqrt(1 - t)")(2.0)
    with pytest.raises(ModelError, match=r"'sqrt\(-t\)' has no value at t = 2: .*sqrt\(-2\) has no finite"):
        as_function("sqrt(-t)")(2.0)
    f = as_function("sqrt(t)")
    assert f(0.0) == 0.0
    with pytest.raises(ModelError, match="or one of its derivatives is not finite at t = 0"):
        f.jet(0.0)


# Tables -----------------------------------------------------------------------------------------------

TIMES = np.array([0.0, 0.4, 1.0, 1.3, 2.0, 3.0])


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_table_is_scipys_spline(count: int) -> None:
    times, values = TIMES[:count], np.sin(3 * TIMES[:count])
    f, spline = as_function(Table(times, values)), CubicSpline(times, values)
    assert f.domain == (times[0], times[-1]) and not f.is_constant
    for t in [*times, *np.linspace(times[0], times[-1], 17)]:
        assert f.jet(t) == pytest.approx([float(spline(t, k)) for k in range(3)], rel=1e-12, abs=1e-12)


def test_table_is_exact_on_cubics() -> None:
    f = as_function(Table(TIMES, 2 - TIMES + 3 * TIMES**2 - TIMES**3))
    for t in (0.0, 0.2, 1.1, 2.9, 3.0):
        assert f.jet(t) == pytest.approx(
            (2 - t + 3 * t**2 - t**3, -1 + 6 * t - 3 * t**2, 6 - 6 * t), abs=1e-12
        )


def test_periodic_table_repeats() -> None:
    times = np.linspace(1.0, 3.0, 21)
    values = np.sin(np.pi * times)
    f = as_function(Table(times, values, periodic=True))
    spline = CubicSpline(times, np.append(values[:-1], values[0]), bc_type="periodic")
    assert f.domain == (-math.inf, math.inf)
    for t in (1.0, 1.55, 2.99, 3.0, 3.3, 17.77, -4.2):
        expected = [float(spline(1 + (t - 1) % 2, k)) for k in range(3)]
        assert f.jet(t) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_table_ends() -> None:
    f = as_function(Table([0, 1, 2], [0, 1, 4]))
    assert f(2.0 + 1e-12) == pytest.approx(4.0)
    with pytest.raises(ModelError, match=r"table of 3 points from 0 to 2 ends: at t = 2.5 is outside 0 to 2"):
        f(2.5)


@pytest.mark.parametrize(
    ("times", "values", "periodic", "what"),
    [
        ([0], [1], False, "has 1 points. Give at least 2"),
        ([0, 1], [1], False, "2 times but 1 values"),
        ([0, 2, 1], [1, 2, 3], False, "do not increase: 1 comes after 2"),
        ([0, 1, 1], [1, 2, 3], False, "do not increase: 1 comes after 1"),
        ([0, 1], [1, math.nan], False, "value number 2 of the table is nan"),
        ([0, math.inf], [1, 2], False, "time number 2 of the table is inf"),
        ([0, 1], [1, 2], True, "a periodic table ends with the value it begins with"),
        ([0, 1], ["a", 2], False, "the values of a table are numbers"),
        ([[0, 1]], [1, 2], False, r"one list of numbers, found the shape \(1, 2\)"),
    ],
)
def test_bad_tables(times: list, values: list, periodic: bool, what: str) -> None:
    with pytest.raises(ModelError, match=what):
        Table(times, values, periodic)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("0,1\n1,3\n2,7\n", {}),
        ("time,angle\n0,1\n1,3\n\n2,7\n", {}),
        ("# a comment\nx;time;angle\n9;0;1\n9;1;3\n9;2;7\n", {"time": "time", "value": "angle"}),
        ("\ufefftime\tangle\n0\t1\n1\t3\n2\t7\n", {"time": 0, "value": "angle"}),
        ("0  1\n1  3\n2  7\n", {}),
    ],
)
def test_csv(tmp_path: Path, text: str, columns: dict) -> None:
    path = tmp_path / "motion.csv"
    path.write_text(text, encoding="utf-8")
    assert Table.from_csv(path, **columns) == Table((0, 1, 2), (1, 3, 7))


@pytest.mark.parametrize(
    ("text", "columns", "what"),
    [
        ("", {}, "is empty"),
        ("0,1\n", {}, "motion.csv: the table has 1 points"),
        ("0,1\n1,x\n", {}, "motion.csv, line 2: found 'x' in column 1, expected a finite number"),
        ("t,y\n0,1\n\n1,nan\n", {}, "motion.csv, line 4: found 'nan' in column 1"),
        ("0,1\n1\n", {}, "motion.csv, line 2: no column 1"),
        ("0,1\n1,2\n", {"value": 5}, "line 1: no column 5"),
        ("0,1\n0,2\n", {}, "motion.csv: the times of the table do not increase"),
        ("time,angle\n0,1\n", {"value": "angel"}, "no column 'angel' .* Did you mean 'angle'"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, columns: dict, what: str) -> None:
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(ModelError, match=what):
        Table.from_csv(path, **columns)


def test_missing_csv(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.csv does not exist"):
        Table.from_csv(tmp_path / "nowhere.csv")
    with pytest.raises(ModelError, match="cannot be read"):
        Table.from_csv(tmp_path)


# Python functions -------------------------------------------------------------------------------------

PAIRS = [
    (lambda t: 3 * t - 2, "3*t - 2"),
    (lambda t: np.pi / 2 + np.sin(4 * t), "pi/2 + sin(4*t)"),
    (lambda t: np.float64(2) * t + t * np.float64(3) + np.int64(1), "5*t + 1"),
    (lambda t: 2**t + t**2 + t**-1.5, "2^t + t^2 + t^-1.5"),
    (lambda t: 1 / (1 + t) - (-t) + +t, "1/(1 + t) + 2*t"),
    (lambda t: np.cos(t) * np.tan(t) + np.arcsin(t / 3) + np.arccos(t / 3) + np.arctan(t),
     "cos(t)*tan(t) + asin(t/3) + acos(t/3) + atan(t)"),
    (lambda t: np.sinh(t) + np.cosh(t) * np.tanh(t), "sinh(t) + cosh(t)*tanh(t)"),
    (lambda t: np.exp(-t) + np.log(t) + np.sqrt(t) + np.log10(t), "exp(-t) + log(t) + sqrt(t) + log10(t)"),
    (lambda t: abs(t - 1) + np.abs(t) + 5 % (t + 1) + t % 0.3,
     "abs(t - 1) + abs(t) + mod(5, t + 1) + mod(t, 0.3)"),
    (lambda t: np.hypot(t, 2) + np.arctan2(t, 1 + t), "hypot(t, 2) + atan2(t, 1 + t)"),
    (lambda t: t**2 if t < 1 else 2 * t - 1, "t^2 if t < 1 else 2*t - 1"),
    (lambda t: np.where(t < 1, t**2, 2 * t), "t^2 if t < 1 else 2*t"),
    (lambda t: np.maximum(t, t**2), "max(t, t^2)"),
    (lambda t: 0.0 if t < 1 else (t - 1) ** 3, "0 if t < 1 else (t - 1)^3"),
    (lambda t: 4.0, "4"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "text"), PAIRS, ids=[text for _, text in PAIRS])
def test_callables_are_differentiated(function, text: str) -> None:
    f, expected = as_function(function), as_function(text)
    for t in (0.2, 0.9, 1.7):
        assert f.jet(t) == pytest.approx(expected.jet(t), rel=1e-13)


def test_jet_compares_by_value() -> None:
    jet = Jet(2.0, 1.0)
    assert jet > 1 and jet >= 2 and jet < 3 and jet <= 2 and jet == 2 and jet != 3
    assert bool(jet) and not Jet(0.0, 1.0) and repr(jet) == "Jet(2.0, 1.0, 0.0)"
    with pytest.raises(TypeError):
        jet + "1"


def test_three_callables() -> None:
    f = as_function((math.sin, math.cos, lambda t: -math.sin(t)))
    assert f.jet(0.3) == (math.sin(0.3), math.cos(0.3), -math.sin(0.3))
    assert f.text == "the functions sin, cos, <lambda>"


def broken(t):
    raise KeyError("cam profile")


def hidden(t):
    return math.sin(t.value)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (
            lambda t: math.sin(t),
            r"<lambda> cannot be differentiated: .*np.sin instead of math.sin.*\(f, fd, fdd\)",
        ),
        (math.sin, "the function sin cannot be differentiated"),
        (lambda t: np.sin(t) if t < 1 else math.sin(t), "cannot be differentiated"),
        (lambda t: "fast", "'?fast'?"),
        (lambda: 1.0, "cannot be differentiated"),
        (hidden, "hidden depends on t but hides its derivatives: it returned 0 at t = 0, 0.123"),
        (broken, "the function broken raised KeyError: 'cam profile'"),
        ((math.sin, math.cos, broken), "the function broken raised KeyError at 0: 'cam profile'"),
    ],
)
def test_bad_callables(given: object, what: str) -> None:
    with pytest.raises(ModelError, match=what):
        as_function(given)


def test_a_callable_that_raises_later() -> None:
    def short(t):
        if t > 5:
            raise ValueError("the data end")
        return t * t

    f = as_function(short)
    assert f.jet(2.0) == (4.0, 4.0, 2.0)
    with pytest.raises(ModelError, match="the function short raised ValueError at t = 6: the data end"):
        f(6.0)


# Kernels ----------------------------------------------------------------------------------------------


@kernel(entry=True)
def all_at(table, scratch, t, f):
    functions_at(table, scratch, t, f)


def in_a_kernel(functions: list[Function], t: float) -> np.ndarray:
    f = np.empty((len(functions), 3))
    table = pack(functions)
    all_at(table, new_scratch(table), t, f)
    return f


def many() -> list[Function]:
    return [
        as_function(2.0),
        as_function("sin(3*t)"),
        as_function(Table(TIMES, TIMES**2)),
        as_function(lambda t: np.exp(-t)),
        as_function("step(t, 0, 0, 1, 2) + t"),
        as_function((math.sin, math.cos, lambda t: -math.sin(t))),
        as_function(Table([0, 0.5, 1], [0, 1, 0], periodic=True)),
    ]


def test_packed_functions_in_a_kernel() -> None:
    functions = many()
    expected = [list(g.jet(0.37)) for g in functions]
    assert in_a_kernel(functions, 0.37) == pytest.approx(np.array(expected), rel=1e-14)


@pytest.mark.skipif(not JIT, reason="plain Python has no types")
def test_every_table_has_one_type() -> None:
    import numba

    kinds = [numba.typeof(table) for table in (pack([]), pack(many()), pack([as_function(1)]))]
    assert kinds[0] == kinds[1] == kinds[2]


def test_kernels_give_nan_where_there_is_no_value() -> None:
    functions = [as_function("1/t"), as_function("log(t)"), as_function(Table([1, 2], [0, 1]))]
    assert np.isnan(in_a_kernel(functions, 0.0)).all()


def test_a_function_of_several_variables() -> None:
    """g, and g' and g'' along the motion: s changes by sd, t by one."""
    variables = ("s", "sd", "t")
    text, known = "-k*s - c*sd^2 + sin(t)*s", {"k": 10.0, "c": 3.0}
    function = expression_function(parse(text), text, variables, known)
    table = pack([function], [variables], HESSIAN)
    out = new_scratch(table).results
    evaluate_function(table, 0, HESSIAN, np.array([0.5, 2.0, 0.3]), out)
    s, sd, t = symbols = sp.symbols(variables)
    exact = sp.sympify(text, locals=known)
    along = lambda g: sp.diff(g, s) * sd + sp.diff(g, t)
    at = {s: 0.5, sd: 2.0, t: 0.3}
    expected = [exact, along(exact), along(along(exact))]
    expected += [sp.diff(exact, v) for v in symbols] + [
        sp.diff(exact, v, w) for v in symbols for w in symbols
    ]
    assert out[:15] == pytest.approx([float(each.subs(at)) for each in expected], rel=1e-14)


def test_unknown_variable_of_an_expression() -> None:
    with pytest.raises(ExpressionError, match="unknown name 'q'"):
        expression_function(parse("q"), "q", ("t",), {})


@pytest.mark.parametrize("text", ["t,x\n0,0\n1,0,5\n2,1\n", "0,0\n1,0,5\n", "0 0\n1 0 5\n"])
def test_a_row_with_more_cells_than_the_first_is_refused(tmp_path, text):
    """The rest of a decimal with a comma would be lost."""
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"has 3 cells, the first row has 2.*decimals with a point"):
        Table.from_csv(path)
    path.write_text(text.replace("0,5", "0.5,").replace("0 5", "0.5"))
    assert Table.from_csv(path).values[1] == 0.5
