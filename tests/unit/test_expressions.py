"""Expressions: what is read, what it means, and the sentence for every mistake."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simengine2d.errors import ModelError
from simengine2d.expressions.evaluate import (
    calls_in,
    evaluate,
    names_in,
    number,
    resolve_parameters,
    substitute,
)
from simengine2d.expressions.parser import parse
from simengine2d.expressions.syntax import (
    FUNCTIONS,
    Call,
    Chain,
    Constant,
    ExpressionError,
    Name,
    Number,
    Unary,
    to_text,
    walk,
)
from simengine2d.expressions.units import Quantity

VALUES = {"a": 2.5, "b": -1.5, "c": 3.0, "t": 0.7}


def value(text: str) -> float:
    return evaluate(parse(text), VALUES)


def sentence(text: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        evaluate(parse(text), {"t": 0.5})
    return str(caught.value)


# Meaning ----------------------------------------------------------------------------------------------

PRECEDENCE = [
    "-t**2", "-t**2**c", "2**-t", "2**-t**2", "2**3**2", "a-b-c", "a/b/c", "a/b*c", "a*b/c*t", "-a*b",
    "a*-b", "a--b",
    "a+b*c**2", "(a+b)*c", "-(a+b)**2", "+a-+b", "a-b+c-t", "a<b", "a+1<b*c", "not a<b", "not a<b and c>t",
    "a<b or b<c and c<a", "(a<b or b<c) and c<a", "(not a or b) != 0", "not not a", "a if a<b else c",
    "a if a<b else b if b<c else c", "(a if t else b)*c", "1+(a if t>9 else b)", "a==a", "a!=b", "a>=b",
    "a<=b",
    "1e-3+.5+2.5E3+1.", "2*(t>0.5)",
]  # fmt: skip


@pytest.mark.parametrize("text", PRECEDENCE)
def test_precedence_is_pythons(text: str) -> None:
    assert value(text) == pytest.approx(float(eval(text, {}, dict(VALUES))), rel=1e-14)


@pytest.mark.parametrize(
    ("matlab", "python"),
    [
        ("t^2", "t**2"), ("t.^2", "t**2"), ("2.*t", "2*t"), ("a.*b./c", "a*b/c"), ("a ~= b", "a != b"),
        ("a<b && b<c", "a<b and b<c"), ("a<b || b<c", "a<b or b<c"), ("~(a<b)", "not a<b"), ("!(a<b)",
        "not (a<b)"),
        ("a<b & b<c", "a<b and b<c"), ("a<b | b<c", "a<b or b<c"), ("a | b && c", "(a or b) and c"),
        ("~a < b", "(not a) < b"), ("ln(a)", "log(a)"), ("arcsin(t)", "asin(t)"), ("arctan2(a, b)",
        "atan2(a, b)"),
        ("a if t < 1 else b", "piecewise(t < 1, a, b)"), ("'a'", "a"), ('"a"', "a"), ("-t.^2", "-(t**2)"),
    ],
)  # fmt: skip
def test_spellings_are_one_tree(matlab: str, python: str) -> None:
    assert parse(matlab) == parse(python)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sin(30*deg)", 0.5), ("2*π", 2 * math.pi), ("e", math.e), ("log(e^2)", 2), ("log10(1000)", 3),
        ("atan2(1, -1)", 0.75 * math.pi),
        ("hypot(3, 4)", 5), ("mod(-1, 3)", 2), ("mod(1, -3)", -2), ("min(3, 1, 2)", 1), ("max(3)", 3),
        ("max(1, 2, 3, 2)", 3), ("sign(-3) + sign(0)", -1), ("abs(-3)", 3), ("sqrt(0)", 0), ("0^0", 1),
        ("(-2)^3", -8),
        ("piecewise(t < 0, 1, t < 1, 2, 3)", 2), ("piecewise(t > 0, 1, 1/0)", 1), ("t < 0 and 1/0 > 1", 0),
        ("t > 0 or 1/0 > 1", 1), ("step(5, 0, 1, 4, 3)", 3), ("step(-5, 0, 1, 4, 3)", 1),
        ("step(1, 0, 0, 2, 4)", 2),
        ("ramp(1, 0, 0, 4, 8)", 2), ("step5(2, 0, 0, 4, 8)", 4), ("harmonic(1, 0, 0, 2, 4)", 2),
        ("cycloidal(1, 0, 0, 4, 1)", 0.25 - 0.5 / math.pi), ("poly4567(1, 0, 0, 2, 4)", 2),
    ],
)  # fmt: skip
def test_functions(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-14)


def test_names() -> None:
    tree = parse("crank.A + 'Long Rod.A' * sin(pi*t) - \"it's\" + 'it''s' + 'pi'")
    assert names_in(tree) == {"crank.A", "Long Rod.A", "t", "it's", "pi"}
    assert calls_in(tree) == {"sin"}
    assert substitute(parse("t + a"), {"a": parse("2*b")}) == parse("t + (2*b)")


def test_long_sums_are_not_deep() -> None:
    assert evaluate(parse("1+" * 4000 + "1")) == 4001.0
    assert evaluate(parse("(" * 100 + "1" + ")" * 100)) == 1.0


# Mistakes ---------------------------------------------------------------------------------------------

MISTAKES = [
    ("", 1, "the text is empty"),
    ("   ", 1, "the text is empty"),
    ("2 + sinn(t)", 5, "unknown function 'sinn'. Did you mean 'sin'? The functions are sin, cos"),
    ("__import__('os')", 1, "unknown function '__import__'. The functions are sin, cos"),
    ("os.system('x')", 1, "unknown function 'os.system'"),
    ("1 + tt", 5, "unknown name 'tt'. Did you mean 't'? The known names are t, pi, e, deg, sin"),
    ("1 + atan2(t)", 5, "atan2 takes 2 arguments, found 1"),
    ("sin(t, t)", 1, "sin takes 1 argument, found 2"),
    ("sin()", 1, "sin takes 1 argument, found 0"),
    ("min()", 1, "min takes at least 1 argument, found 0"),
    ("step(t, 0)", 1, "step takes 5 arguments (x, x0, h0, x1, h1), found 2"),
    ("piecewise(t, 1)", 1, "piecewise takes conditions with values and a last value"),
    ("1 + #", 5, "the character '#' has no meaning here"),
    ("t = 1", 3, "the character '=' has no meaning here. Use == to compare"),
    ("[1]", 1, "the character '[' has no meaning here"),
    ("2*'abc", 3, "the quote ' is not closed"),
    ("2*(t + 1", 9, "found the end where ')' is expected, to close the '(' at column 3"),
    ("sin(t", 6, "found the end where ')' is expected, to close the '(' at column 4"),
    ("t)", 2, "found ')' after a complete expression."),
    ("2 t", 3, "found 't' after a complete expression. Write '*' between factors"),
    (
        "1 kgs",
        3,
        "found 'kgs' after a complete expression. Write '*' between factors. After a number, the units are kg",
    ),
    ("2 m^x", 5, "found 'x' where the power of a unit is expected, as in m^2"),
    ("2 m^20", 5, "found '20' where the power of a unit is expected"),
    ("1e305 km^3", 1, "1e305 with its unit is too large"),
    ("(t)(t)", 4, "found '(' after a complete expression. Write '*'"),
    ("0x10", 2, "found 'x10' after a complete expression"),
    ("1 +", 4, "found the end where a number, a name or '(' is expected"),
    ("1 + * 2", 5, "found '*' where a number"),
    ("sin(t,)", 7, "found ')' where a number"),
    ("1e999", 1, "the number 1e999 is too large"),
    ("-inf", 2, "'inf' is not a finite number"),
    ("NaN", 1, "'NaN' is not a finite number"),
    ("2*sin", 3, "'sin' is a function. Write sin(...)"),
    ("0 < t < 1", 7, "comparisons do not chain. Write 'a < b and b < c'"),
    ("1 + not t", 5, "'not' binds loosely here"),
    ("1 if t", 7, "found the end where 'else' is expected"),
    ("(" * 200, 102, "nested more than 100 levels"),
    ("-" * 200 + "1", 102, "nested more than 100 levels"),
    ("t^" * 200 + "1", 203, "nested more than 100 levels"),
    ("t" * 10_001, 10_001, "the text has 10001 characters; at most 10000"),
    ("1 + sqrt(-t)", 5, "sqrt(-0.5) has no finite real value"),
    ("1/(t - 0.5)", 6, "1 / 0 divides by zero"),
    ("mod(t, 0)", 1, "mod(0.5, 0) divides by zero"),
    ("exp(1000)", 1, "exp(1000) has no finite real value"),
    ("1e200*1e200", 7, "1e+200 * 1e+200 has no finite real value"),
    ("(-t)^t", 6, "(-0.5) ^ 0.5 has no finite real value"),
    ("10^400", 4, "10 ^ 400 has no finite real value"),
    ("0^-1", 3, "0 ^ (-1) has no finite real value"),
    ("log(0)", 1, "log(0) has no finite real value"),
    ("asin(2)", 1, "asin(2) has no finite real value"),
    ("step(t, 1, 0, 1, 2)", 1, "step(0.5, 1, 0, 1, 2) needs x0 < x1"),
]


@pytest.mark.parametrize(("text", "column", "what"), MISTAKES, ids=[m[0][:20] for m in MISTAKES])
def test_every_mistake_has_its_sentence(text: str, column: int, what: str) -> None:
    found = sentence(text)
    assert f", column {column}: " in found
    assert what in found
    assert repr(text) in found or "..." in found


def test_not_text() -> None:
    with pytest.raises(ExpressionError, match="an expression is text, found 3"):
        parse(3)  # type: ignore[arg-type]


def test_calls_accepted_for_others_have_no_value_here() -> None:
    tree = parse("1 + distance(a, b)", also=["distance"])
    with pytest.raises(ExpressionError, match="column 5: 'distance' is not a function of numbers"):
        evaluate(tree, VALUES)


def test_all_unknown_names_at_once() -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(parse("x + y + x"), {})
    assert len(caught.value.problems) == 2


def test_deep_trees_through_the_first_operand() -> None:
    text = "(" * 90 + "t" + "^2*3+1<5 & 1 | 1 and 1 or 1)" * 90
    assert "nested more than 100 levels" in sentence(text)


# Properties -------------------------------------------------------------------------------------------

ALPHABET = st.sampled_from(
    [
        *"0123456789.eEtx'\"()+-*/^<>=!~&|, ",
        " if ",
        " else ",
        " not ",
        " and ",
        "sin(",
        "min(",
        "**",
        ".^",
        "1e9",
        "é",
    ]
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(ALPHABET, max_size=40).map("".join)))
def test_any_text_gives_a_tree_or_a_sentence(text: str) -> None:
    try:
        tree = parse(text)
    except ExpressionError:
        return
    again = parse(to_text(tree))
    if any(
        isinstance(node, Quantity) for node, _ in walk(tree)
    ):  # numbers with units are written without them
        values = [
            [node.value for node, _ in walk(each) if isinstance(node, Number)] for each in (tree, again)
        ]
        assert values[0] == values[1] and to_text(again) == to_text(tree)
    else:
        assert again == tree


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["(", "-", "sin(", "t^", "1 if 1 else ", "~", "1+(", "not ", "not(1+"]),
    st.integers(1, 1600),
)
def test_no_depth_breaks_the_parser(opening: str, count: int) -> None:
    try:
        parse(opening * count + "t" + ")" * (opening.count("(") * count))
    except ExpressionError as error:
        assert "nested" in str(error) or "characters" in str(error) or "binds loosely" in str(error)


NAMES = st.one_of(
    st.sampled_from(["t", "crank.A", "Long Rod.A", "it's", 'a"b', "pi", "if", "inf", "sin"]),
    st.text(min_size=1),
)
LEAVES = st.one_of(
    st.floats(min_value=0, allow_infinity=False).filter(lambda v: math.copysign(1, v) > 0).map(Number),
    st.sampled_from(["pi", "e", "deg"]).map(Constant),
    NAMES.map(Name),
)
ARGUMENTS = {"atan2": 2, "hypot": 2, "mod": 2, "min": 3, "max": 1, "piecewise": 5} | dict.fromkeys(
    ["ramp", "step", "step5", "poly4567", "cycloidal", "harmonic"], 5
)


def chains(children: st.SearchStrategy) -> st.SearchStrategy:
    def of(operators: list[str], most: int) -> st.SearchStrategy:
        link = st.tuples(st.sampled_from(operators), children)
        return st.builds(Chain, children, st.lists(link, min_size=1, max_size=most).map(tuple))

    comparisons = ["<", "<=", ">", ">=", "==", "!="]
    kinds = [(["+", "-"], 3), (["*", "/"], 3), (["and"], 3), (["or"], 3), (["^"], 1), (comparisons, 1)]
    return st.one_of([of(*kind) for kind in kinds])


def calls(children: st.SearchStrategy) -> st.SearchStrategy:
    def of(name: str) -> st.SearchStrategy:
        count = ARGUMENTS.get(name, 1)
        return st.builds(Call, st.just(name), st.tuples(*[children] * count))

    return st.sampled_from(FUNCTIONS).flatmap(of)


TREES = st.recursive(
    LEAVES,
    lambda c: st.one_of(st.builds(Unary, st.sampled_from(["-", "not"]), c), chains(c), calls(c)),
    max_leaves=15,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(TREES)
def test_text_parses_back_to_the_same_tree(tree) -> None:
    text = to_text(tree)
    if len(text) <= 10_000:
        assert parse(text) == tree


# Numbers and parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("given_value", [2, 2.0, "2", "1+1", "k", np.float32(2), np.int64(2), "4*k/4"])
def test_number(given_value: object) -> None:
    result = number(given_value, {"k": 2.0})
    assert result == 2.0 and type(result) is float


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (True, "True is of type bool"),
        (np.True_, "is of type bool"),
        (None, "None is of type NoneType"),
        ([1], r"\[1\] is of type list"),
        (1j, "is of type complex"),
        (math.nan, "the value nan is not a finite number"),
        (-math.inf, "the value -inf is not a finite number"),
        (np.float64("nan"), "the value nan"),
        (10**400, "the value inf"),
        ("t", "unknown name 't'"),
    ],
)
def test_what_is_no_number(bad: object, what: str) -> None:
    with pytest.raises(ModelError, match=what):
        number(bad)


def test_parameters_in_any_order() -> None:
    raw = {"area": "pi*r^2", "r": "d/2", "d": 4, "rate": "30*deg"}
    assert resolve_parameters(raw) == pytest.approx(
        {"area": 4 * math.pi, "r": 2, "d": 4, "rate": math.pi / 6}
    )
    assert list(resolve_parameters(raw)) == list(raw)
    assert resolve_parameters({}) == {}


def test_a_long_row_of_parameters() -> None:
    raw: dict[str, object] = {f"p{i}": f"p{i + 1} + 1" for i in range(3000)}
    assert resolve_parameters(raw | {"p3000": 0})["p0"] == 3000.0


def test_all_parameter_problems_at_once() -> None:
    raw = {"a": "b", "b": "a", "c": "c", "d": "q + 1",
    "x y": 1, "sin": 1, "t": 1, "sd": 1, "deg": 1, "if": 1,
           "f": True, "g": "1/0", "h": "a + 1", "k": "(1"}  # fmt: skip
    with pytest.raises(ModelError) as caught:
        resolve_parameters(raw)
    text = str(caught.value)
    expected = [
        "parameter 'x y': a parameter's name is letters",
        "parameter 'sin': this name already has a meaning in expressions, a function. Choose another.",
        "parameter 't': this name", "parameter 'sd': this name", "parameter 'deg': this name",
        "parameter 'if': this name", "parameter 'd': expression 'q + 1', column 1: unknown name 'q'",
        "parameter 'f': True is of type bool",
        "parameter 'g': expression '1/0', column 3: 1 / 0 divides by zero",
        "parameter 'k': expression '(1', column 3", "c -> c refer to each other in a circle",
    ]  # fmt: skip
    for what in expected:
        assert what in text
    assert "a -> b -> a" in text or "b -> a -> b" in text
    assert len(caught.value.problems) == len(expected) + 1  # `h` only suffers from `a`


def test_the_root_of_a_negative_difference_says_what_is_too_small():
    """As where the links of a starter cannot meet: the message compares lengths, not squares."""
    with pytest.raises(
        ModelError,
        match=r"coupler \+ rocker = 0.9 is too small beside diagonal = 0.98.*Lengths like these do not meet",
    ):
        number("sqrt((coupler + rocker)^2 - diagonal^2)", {"coupler": 0.1, "rocker": 0.8, "diagonal": 0.98})
    with pytest.raises(ModelError, match=r"a = 1 is too small beside 2 \* b = 4"):
        number("sqrt(a - 2*b)", {"a": 1.0, "b": 2.0})
    assert number("sqrt(a - b)", {"a": 3.0, "b": 2.0}) == 1.0
