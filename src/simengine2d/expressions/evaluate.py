"""Expressions: what `2*pi*sin(omega*t)` means. The grammar is in `syntax.py`, its parser in `parser.py`.

Values come from the same operations as the derivatives (`operations.py`), so a number in a model file and a
function in a compiled run cannot disagree.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

import numpy as np

from ..errors import ModelError, Problem, Subject, unknown
from . import operations
from .parser import parse, parse_matlab
from .recorded import Recorded, as_number, called, isfinite, operate
from .syntax import (
    CONSTANTS,
    FUNCTIONS,
    IDENTIFIER,
    MEANINGS,
    NOT_FINITE,
    Call,
    Chain,
    Constant,
    ExpressionError,
    Lookup,
    Name,
    Node,
    Number,
    TextPlace,
    Unary,
    mistake,
    to_text,
    walk,
)
from .units import UNITS

NAMES_OF_UNITS = frozenset(UNITS)
NOTHING: Mapping[str, float] = MappingProxyType({})


def from_matlab(text: str) -> str:
    """The text that means here what `text` means in MATLAB: the same except for powers of powers."""
    tree = parse_matlab(text)
    return text if tree == parse(text) else to_text(tree)


def to_matlab(text: str) -> str:
    """The text that means in MATLAB what `text` means here; `to_text` puts powers of powers in parentheses."""
    tree = parse(text)
    return text if tree == parse_matlab(text) else to_text(tree)


def names_in(node: Node) -> frozenset[str]:
    """The variables, parameters and references of an expression, without constants."""
    return node.names


def calls_in(node: Node) -> set[str]:
    """The functions an expression calls."""
    return {part.name for part, _ in walk(node) if isinstance(part, Call)}


def substitute(node: Node, replacements: Mapping[str, Node]) -> Node:
    """The expression with names replaced by expressions."""
    if node.names.isdisjoint(replacements):
        return node
    if isinstance(node, Name):
        return replacements.get(node.name, node)
    return node.with_parts([substitute(part, replacements) for part in node.parts])


def check_names(node: Node, known: Collection[str]) -> None:
    """Raise one error that lists every name of the expression that is not known."""
    refuse_ambiguous(node, known)
    if all(name in known for name in node.names):
        return
    problems: dict[str, str] = {}
    for part, _ in walk(node):
        if isinstance(part, Name) and part.name not in known and part.name not in problems:
            candidates = (*known, *CONSTANTS, *FUNCTIONS)
            hint = unknown("name", part.name, candidates, plural="known names")
            problems[part.name] = str(mistake(_located(part), f"unknown name '{part.name}'. {hint}"))
    if problems:
        raise ExpressionError(list(problems.values()))


def refuse_ambiguous(node: Node, known: Collection[str]) -> None:
    """Refuse `2 s` where s is a variable or a parameter, too."""
    if NAMES_OF_UNITS.isdisjoint(known):  # as a rule
        return
    for unit in sorted(node.units):
        if unit in known:
            raise mistake(
                _located(node),
                f"'{unit}' is a unit after a number, and a name that is known here, too. Write '*' between factors, or "
                "the number in SI units.",
            )


def refuse_hidden(node: Node, variables: Iterable[str], parameters: Iterable[str]) -> None:
    """Refuse names that are both a variable of this expression and a parameter of the model."""
    both = {*variables} & {*parameters}
    for part, _ in walk(node) if both else ():
        if isinstance(part, Name) and part.name in both:
            name = part.name
            raise mistake(
                _located(part),
                f"'{name}' is a variable of this expression, and the model has a parameter '{name}' too. "
                "Give the parameter another name.",
            )


def _located(node: Node) -> TextPlace:
    """The place of a node; a node that was built, not parsed, has its own text."""
    return node.place if node.place.text else TextPlace(to_text(node), 1)


# Values -----------------------------------------------------------------------------------------------


def evaluate(node: Node, values: Mapping[str, float] = NOTHING) -> float:
    """The value of an expression: finite, or an ExpressionError that names the operation without a value."""
    check_names(node, values)
    return _value(node, values)


def _value(node: Node, values: Mapping[str, float]) -> float:
    match node:
        case Name(name):
            return _finite(node, as_number(values[name]))
        case Chain():
            return _chain_value(node, values)
        case Number(value):
            return _finite(node, value)
        case Constant(name):
            return CONSTANTS[name]
        case Unary(operator, operand):
            return _operate(lambda: node, operations.PREFIX[operator], _value(operand, values))
        case Call("piecewise", args):
            return _piecewise_value(args, values)
        case Call("sqrt", (Chain(first, (("-", less),)),)):
            return _root_of_difference(node, first, less, values)
        case Call(name, args):
            return _call_value(node, name, [_value(arg, values) for arg in args])
        case Lookup():
            return _table_value(node, _value(node.argument, values))
    raise TypeError(f"no value for {node!r}")


def _finite(node: Node, value: float) -> float:
    if not isfinite(value):
        raise mistake(_located(node), f"'{to_text(node)}' is {value}, which is not a finite number.")
    return value


def _chain_value(node: Chain, values: Mapping[str, float]) -> float:
    value = _value(node.first, values)
    for operator, operand in node.rest:
        if operator in ("and", "or") and (value != 0.0) == (operator == "or"):
            value = float(value != 0.0)  # decided: the rest may have no value
            continue
        code, left, right = operations.INFIX[operator], value, _value(operand, values)
        value = operate(code, left, right)
        if not isfinite(value):
            shown = Chain(Number(left), ((operator, Number(right)),), place=_located(operand))
            raise _no_value(shown, code, left, right)
    return value


def _root_of_difference(node: Call, first: Node, less: Node, values: Mapping[str, float]) -> float:
    """sqrt(a - b); where it has no value, as in a triangle that does not close, the message compares a and b."""
    inside = _value(node.args[0], values)
    if inside >= 0.0:
        return operate(operations.SQRT, inside)
    small, large, remedy = first, less, ""
    if _is_square(small) and _is_square(large):
        small, large = small.parts[0], large.parts[0]
        remedy = " Lengths like these do not meet: make the first longer, or the second shorter."
    sizes = [_with_value(part, values) for part in (small, large)]
    text = f"the root has no real value: {sizes[0]} is too small beside {sizes[1]}.{remedy}"
    raise mistake(_located(node), text)


def _with_value(node: Node, values: Mapping[str, float]) -> str:
    text, value = to_text(node), f"{_value(node, values):.6g}"
    return text if text == value else f"{text} = {value}"


def _is_square(node: Node) -> bool:
    return isinstance(node, Chain) and [*node.rest] == [("^", Number(2.0))]


def _piecewise_value(args: tuple[Node, ...], values: Mapping[str, float]) -> float:
    for condition, value in zip(args[:-1:2], args[1::2], strict=True):
        if _value(condition, values) != 0.0:
            return _value(value, values)
    return _value(args[-1], values)


def _call_value(node: Call, name: str, values: list[float]) -> float:
    shown = lambda: Call(name, tuple(Number(value) for value in values), place=_located(node))
    if name in operations.MANY_ARGUMENTS:
        value = values[0]
        for other in values[1:]:
            value = _operate(shown, operations.MANY_ARGUMENTS[name], value, other)
        return value
    if name not in _CODES:  # a call that `also` let the parser accept, such as a measure
        hint = unknown("function", name, FUNCTIONS)
        raise mistake(_located(node), f"'{name}' is not a function of numbers. {hint}")
    return _operate(shown, _CODES[name], *values)


def _table_value(node: Lookup, argument: float) -> float:
    value = called(node.table.jet, argument)[0]
    if not isfinite(value):
        first, last = node.table.times[0], node.table.times[-1]
        raise mistake(
            _located(node),
            f"{node.name}({argument:g}) is outside the table '{node.name}', which goes from {first:g} to {last:g}. "
            "Add points, or make it periodic.",
        )
    return value


_CODES = operations.ONE_ARGUMENT | operations.TWO_ARGUMENTS | operations.RISES


def _operate(shown: Callable[[], Node], code: int, *values: float) -> float:
    """The value of one operation; `shown` is the operation with its numbers, for the message."""
    value = operate(code, *values)
    if not isfinite(value):
        raise _no_value(shown(), code, *values)
    return value


def _no_value(shown: Node, code: int, *values: float) -> ExpressionError:
    reason = "has no finite real value"
    if code in (operations.DIVIDE, operations.MOD) and values[1] == 0.0:
        reason = "divides by zero"
    elif code >= operations.RAMP and not values[1] < values[3]:
        reason = "needs x0 < x1 in (x, x0, h0, x1, h1)"
    return mistake(_located(shown), f"{to_text(shown)} {reason}.")


def number(value: object, parameters: Mapping[str, float] = NOTHING) -> float:
    """A finite float from a number or from an expression in the parameters."""
    if isinstance(value, float) and math.isfinite(value):  # the usual case
        return float(value)
    if isinstance(value, str):
        return evaluate(parse(value), parameters)
    if isinstance(value, Recorded):
        return value  # type: ignore[return-value]
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        kind = type(value).__name__
        raise ModelError(f"{value!r} is of type {kind}. Give a number or an expression such as '30*deg'.")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ModelError(f"the value {result} is not a finite number. Give a finite number or an expression.")
    return result


PARAMETERS = "parameters"


# Parameters -------------------------------------------------------------------------------------------


def resolve_parameters(raw: Mapping[str, object]) -> dict[str, float]:
    """The values of parameters that may refer to each other in any order; all problems in one error."""
    values, problems = parameter_values(raw)
    if problems:
        raise ModelError(problems)
    return values


def parameter_values(raw: Mapping[str, object]) -> tuple[dict[str, float], list[Problem]]:
    """The values of those parameters that have one, and the problems of the others."""
    problems = [Problem(problem, (PARAMETERS, str(name))) for name in raw if (problem := _name_problem(name))]
    trees: dict[str, Node] = {}
    values: dict[str, float] = {}
    for name, value in raw.items():
        try:
            if isinstance(value, str):
                tree = parse(value)
                check_names(tree, raw)
                trees[name] = tree
            else:
                values[name] = number(value)
        except ModelError as error:
            problems += [of_parameter(name).says(problem) for problem in error.problems]
    for name in _ordered(trees, problems):
        if names_in(trees[name]) <= values.keys():  # otherwise another parameter is the problem
            try:
                values[name] = evaluate(trees[name], values)
            except ModelError as error:
                problems += [of_parameter(name).says(problem) for problem in error.problems]
    return {name: values[name] for name in raw if name in values}, problems


def of_parameter(name: str) -> Subject:
    return Subject(f"parameter '{name}'", (PARAMETERS, name))


@lru_cache(maxsize=1000)
def _name_problem(name: object) -> str:
    """What is wrong with a parameter's name, or an empty text."""
    if not isinstance(name, str) or re.fullmatch(IDENTIFIER, name) is None:
        return f"parameter {name!r}: a parameter's name is letters, digits and _, and does not start with a digit."
    if name in MEANINGS or name.lower() in NOT_FINITE:
        meaning = MEANINGS.get(name, MEANINGS[NOT_FINITE[0]])
        return (
            f"parameter '{name}': this name already has a meaning in expressions, {meaning}. Choose another."
        )
    return ""


def _in_order(graph: Mapping[str, AbstractSet[str]]) -> bool:
    """Whether every name comes after those that it needs, as most are written."""
    seen: set[str] = set()
    for name, needs in graph.items():
        if not needs <= seen:
            return False
        seen.add(name)
    return True


def _ordered(trees: Mapping[str, Node], problems: list[Problem]) -> list[str]:
    """Names sorted so that those they refer to come first; cycles are reported and left out."""
    graph = {name: tree.names & trees.keys() for name, tree in trees.items()}
    if _in_order(graph):
        return list(graph)
    while True:
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            cycle = list(reversed(error.args[1]))  # graphlib lists what is needed before what needs it
            sentence = f"the parameters {' -> '.join(cycle)} refer to each other in a circle."
            problems.append(Problem(sentence, (PARAMETERS,)))
            graph = {name: needs - set(cycle) for name, needs in graph.items() if name not in cycle}
