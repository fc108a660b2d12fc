"""Expressions of model files as SymPy: `crank_angle + speed*t`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import UndefinedFunction

from ..errors import ModelError
from ..expressions.operations import ONE_ARGUMENT
from ..expressions.syntax import Call, Chain, Constant, Lookup, Name, Node, Number, Unary, to_text
from ..expressions.table import Table
from ..expressions.tape import fold
from .symbols import as_number

LARGEST_EXPONENT = 64  # of a number; a larger one would fill pages with digits


class Whole(sp.floor):
    """The whole part of a number, constant between its jumps."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return sp.Integer(0)


FUNCTIONS: dict[str, Any] = {
    **{name: getattr(sp, name) for name in ONE_ARGUMENT if hasattr(sp, name)},
    "abs": sp.Abs,
    "atan2": sp.atan2,
    "log10": lambda u: sp.log(u, 10),
    "hypot": lambda a, b: sp.sqrt(a**2 + b**2),
    "mod": lambda a, b: a - b * Whole(a / b),
    "min": sp.Min,
    "max": sp.Max,
}
RISES: dict[str, Any] = {
    "ramp": lambda s: s,
    "step": lambda s: 3 * s**2 - 2 * s**3,
    "step5": lambda s: 10 * s**3 - 15 * s**4 + 6 * s**5,
    "poly4567": lambda s: 35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7,
    "cycloidal": lambda s: s - sp.sin(2 * sp.pi * s) / (2 * sp.pi),
    "harmonic": lambda s: (1 - sp.cos(sp.pi * s)) / 2,
}
RELATIONS: dict[str, Any] = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "==": sp.Eq, "!=": sp.Ne}
CONNECTIVES: dict[str, Any] = {"and": sp.And, "or": sp.Or}
CONSTANTS = {"pi": sp.pi, "e": sp.E, "deg": sp.pi / 180}


def to_sympy(node: Node, names: Mapping[str, Any]) -> sp.Expr:
    """The tree of an expression with SymPy's symbols for its names."""
    fold(node)  # refuses what has no finite value before SymPy tries to work it out
    return _value(node, names)


def _value(node: Node, names: Mapping[str, Any]) -> Any:
    match node:
        case Number(value):
            return as_number(value)
        case Constant(name):
            return CONSTANTS[name]
        case Name(name):
            return names[name]
        case Unary("-", operand):
            return -_value(operand, names)
        case Chain(_, ((operator, _), *_)) if operator in RELATIONS or operator in CONNECTIVES:
            return _as_number(_condition(node, names))
        case Unary("not", _):
            return _as_number(_condition(node, names))
        case Chain(first, rest):
            return _chain(first, rest, names)
        case Call("piecewise", args):
            pairs = zip(args[:-1:2], args[1::2], strict=True)
            cases = [(_value(value, names), _condition(condition, names)) for condition, value in pairs]
            return sp.Piecewise(*cases, (_value(args[-1], names), True))
        case Call(name, args) if name in RISES:
            return _rise(name, *(_value(arg, names) for arg in args))
        case Call(name, args) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(arg, names) for arg in args))
        case Lookup(name, table, argument):
            return table_function(name, table)(_value(argument, names))
    raise ModelError(f"'{to_text(node)}' cannot be written as a formula.")


@cache
def table_function(name: str, table: Table, order: int = 0) -> Any:
    """A table, or its derivative of an order, as a function that SymPy differentiates and evaluates."""
    return UndefinedFunction(
        name + "'" * order,
        __dict__={"fdiff": lambda self, index=1: table_function(name, table, order + 1)(*self.args)},
        _imp_=staticmethod(lambda u: table.jet(float(u))[order] if order < 3 else 0.0),
    )


def _chain(first: Node, rest: tuple[tuple[str, Node], ...], names: Mapping[str, Any]) -> Any:
    if rest[0][0] == "^":
        return _power(_value(first, names), _value(rest[0][1], names))
    total = _value(first, names)
    for operator, operand in rest:
        right = _value(operand, names)
        if operator in "+-":
            total = total + right if operator == "+" else total - right
        else:
            total = total * right if operator == "*" else total / right
    return total


def _power(base: Any, exponent: Any) -> Any:
    """Powers of numbers with large exponents are worked out as floating-point numbers."""
    if base.is_number and exponent.is_number and abs(exponent) > LARGEST_EXPONENT:
        return sp.Float(base) ** sp.Float(exponent)
    return base**exponent


def _rise(name: str, x: Any, x0: Any, h0: Any, x1: Any, h1: Any) -> Any:
    between = h0 + (h1 - h0) * RISES[name]((x - x0) / (x1 - x0))
    return sp.Piecewise((h0, x < x0), (h1, x >= x1), (between, True))


def _condition(node: Node, names: Mapping[str, Any]) -> Any:
    match node:
        case Chain(first, ((operator, second),)) if operator in RELATIONS:
            return RELATIONS[operator](_value(first, names), _value(second, names))
        case Chain(first, rest) if rest[0][0] in CONNECTIVES:
            condition = _condition(first, names)
            for operator, operand in rest:
                condition = CONNECTIVES[operator](condition, _condition(operand, names))
            return condition
        case Unary("not", operand):
            return sp.Not(_condition(operand, names))
    return sp.Ne(_value(node, names), 0)


def _as_number(condition: Any) -> Any:
    return sp.Piecewise((1, condition), (0, True))
