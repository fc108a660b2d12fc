"""Recorded numbers: the same operations on other values give the same floats; what cannot be recorded says so."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from simengine2d.errors import ModelError
from simengine2d.expressions.evaluate import evaluate, substitute
from simengine2d.expressions.parser import parse
from simengine2d.expressions.recorded import NotRecorded, Recording, atan2, called, cos, hypot, plain, sin
from simengine2d.expressions.syntax import Number
from simengine2d.expressions.tape import compile_tape

A_AND_B = np.random.default_rng(3).uniform(0.05, 3.0, (40, 2))
EXPRESSIONS = [
    "a + b*2 - 3/a",
    "-a^b + 2^a - b^2 + a^-0.5",
    "sqrt(a^2 + b^2) + hypot(a, b) - abs(a - b)",
    "sin(a)*cos(b) + tan(a/4) + atan2(a, b) + asin(a/4) + exp(-b) + log(a)",
    "min(a, b, 1) + max(a, b) + mod(a, b) + sign(a - b)",
    "piecewise(a > b, a, a <= 1 and b > 1, b, 2*a)",
    "(a < b) + (a >= 1 or b < 1) + step5(a, 0, 0, 4, b) + ramp(b, 0, 1, 4, a)",
]


def replayed(recorded, samples=A_AND_B):
    columns, right = recorded.recording.replay(samples)
    return columns[recorded.place], right


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_computed_again_to_the_last_bit(text):
    tree = parse(text)
    a, b = Recording(A_AND_B[0]).varied
    values, right = replayed(evaluate(tree, {"a": a, "b": b}))
    expected = [evaluate(tree, {"a": a, "b": b}) for a, b in A_AND_B.tolist()]
    assert right.any() and right[0]
    assert values[right].tolist() == [value for value, good in zip(expected, right, strict=True) if good]


@pytest.mark.parametrize("text", [f"{text} + t*a" for text in EXPRESSIONS])
def test_the_numbers_of_a_function_of_time_are_computed_again(text):
    def tape(a, b):
        return compile_tape(substitute(parse(text), {"a": Number(a), "b": Number(b)}))

    recording = Recording(A_AND_B[0])
    recorded = tape(*recording.varied)
    columns, right = recording.replay(A_AND_B)
    assert right[0]
    for k in np.flatnonzero(right):
        expected = tape(*A_AND_B[k].tolist())
        numbers = [n if isinstance(n, float) else columns[n.place][k] for n in recorded.numbers]
        assert (recorded.operations, numbers) == (expected.operations, [*expected.numbers])


def test_operations_and_functions_of_python():
    def compute(a, b):
        x, y = 2 * cos(a) - b / 3, -sin(b) + a**3
        return hypot(x, y) + atan2(y, x) + abs(x - 1) + round(a)

    values, right = replayed(compute(*Recording(A_AND_B[0]).varied))
    expected = np.array([compute(a, b) for a, b in A_AND_B.tolist()])
    assert values[right].tolist() == expected[right].tolist() and 0 < right.sum() < len(right)
    assert (np.rint(A_AND_B[:, 0]) == np.rint(A_AND_B[0, 0])).tolist() == right.tolist()


def test_a_comparison_becomes_a_condition():
    a, b = Recording([1.0, 2.0]).varied
    larger = b if a < b else a
    assert replayed(larger + 0.0, np.array([[1.0, 5.0], [3.0, 2.0], [2.0, 2.0]]))[1].tolist() == [
        True,
        False,
        False,
    ]
    assert bool(a) and a != b and b >= 2.0  # each of them another condition
    assert replayed(larger + 0.0, np.array([[0.0, 3.0], [1.0, 1.5], [1.0, 2.5]]))[1].tolist() == [
        False,
        False,
        True,
    ]


def test_what_has_no_value_is_not_right():
    (a,) = Recording([4.0]).varied
    root = evaluate(parse("1/sqrt(a)"), {"a": a})
    values, right = replayed(root, np.array([[4.0], [-1.0], [0.0], [np.nan], [1.0]]))
    assert right.tolist() == [True, False, False, False, True] and values[[0, 4]].tolist() == [0.5, 1.0]
    with pytest.raises(NotRecorded, match="not finite"):
        evaluate(parse("1/(a - 4)"), {"a": a})


def test_a_function_that_asks_for_floats_is_recorded_as_a_whole():
    def box(sizes, names):
        width, height = map(float, sizes)
        return {"area": width * height, "name": names, "diagonal": math.hypot(width, height)}

    a, b = Recording([3.0, 4.0]).varied
    answer = called(box, (a, b), ["box"])
    assert answer["name"] == ["box"] and (plain(answer["area"]), plain(answer["diagonal"])) == (12.0, 5.0)
    assert replayed(answer["diagonal"], np.array([[5.0, 12.0], [8.0, 6.0]]))[0].tolist() == [13.0, 10.0]
    assert replayed(answer["diagonal"], np.array([[5.0, 12.0]])) == (13.0, [True])
    assert not replayed(answer["diagonal"], np.array([[5.0, np.inf]]))[1]


def test_a_number_is_not_lost():
    (a,) = Recording([2.0]).varied
    for leave in (float, math.sin, hash, copy.deepcopy, np.float64, lambda x: np.array([x], dtype=float)):
        with pytest.raises((NotRecorded, TypeError)):
            leave(a)
    with pytest.raises(ModelError):
        evaluate(parse(f"{a} + 1"))
