"""The grammar of expressions: the nodes of the tree, and the text of a tree. `expressions/parser.py` reads the text.

Both spellings are understood: MATLAB's `^ .^ .* ./ ~= && || ~` and Python's `** != and or not`, and
`a if c else b`.
From loosest to tightest:

    or ||  <  and &&  <  not  <  |  <  &  <  comparisons  <  + -  <  * /  <  unary - + ~ !  <  ^

Powers associate to the right, as in Python and on paper. MATLAB differs: 2^3^2 is 512 here, 64 there and in .adm files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import ModelError
from .operations import MANY_ARGUMENTS, ONE_ARGUMENT, RISES, TWO_ARGUMENTS
from .table import Table

CONSTANTS = {"pi": math.pi, "e": math.e, "deg": math.pi / 180.0}
SIGNS = {"\u03c0": "pi"}
ALIASES = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2"}
FUNCTIONS = (*ONE_ARGUMENT, *TWO_ARGUMENTS, *MANY_ARGUMENTS, "piecewise", *RISES)
IDENTIFIER = r"[^\W\d]\w*"
KEYWORDS = ("if", "else", "and", "or", "not")
NOT_FINITE = ("inf", "nan", "infinity")
MEANINGS = {
    **dict.fromkeys((*FUNCTIONS, *ALIASES), "a function"),
    **dict.fromkeys((*CONSTANTS, *SIGNS), "a constant"),
    **dict.fromkeys(KEYWORDS, "a word of conditions"),
    **dict.fromkeys(NOT_FINITE, "not a finite number"),
    "t": "the time",
    "s": "the measure of a spring in its law, or the parameter of a curve",
    "sd": "the rate of a spring's measure in its law",
}
"""Names that expressions know, and what each means."""

OR, AND, NOT, BAR, AMPERSAND, COMPARISON, SUM, PRODUCT, UNARY, POWER, ATOM = range(1, 12)

# spelling: precedence and the one spelling used in the tree
INFIX = {
    "or": (OR, "or"), "||": (OR, "or"), "and": (AND, "and"), "&&": (AND, "and"),
    "|": (BAR, "or"), "&": (AMPERSAND, "and"),
    "<": (COMPARISON, "<"), "<=": (COMPARISON, "<="), ">": (COMPARISON, ">"), ">=": (COMPARISON, ">="),
    "==": (COMPARISON, "=="), "!=": (COMPARISON, "!="), "~=": (COMPARISON, "!="),
    "+": (SUM, "+"), "-": (SUM, "-"), "*": (PRODUCT, "*"), ".*": (PRODUCT, "*"), "/": (PRODUCT, "/"),
    "./": (PRODUCT, "/"), "^": (POWER, "^"), "**": (POWER, "^"), ".^": (POWER, "^"),
}  # fmt: skip


@dataclass(frozen=True)
class TextPlace:
    """The place of a node: the whole text and the column, counted from 1."""

    text: str = ""
    column: int = 0


@dataclass(frozen=True)
class Node:
    """A part of an expression. Two nodes are equal if they mean the same, wherever they occur."""

    place: TextPlace = field(default=TextPlace(), compare=False, repr=False, kw_only=True)

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def with_parts(self, parts: Sequence[Node]) -> Node:
        return self

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables, parameters and references in it, without constants."""
        return frozenset().union(*(part.names for part in self.parts))

    @cached_property
    def units(self) -> frozenset[str]:
        """The units of the numbers in it."""
        return frozenset().union(*(part.units for part in self.parts))


@dataclass(frozen=True)
class Number(Node):
    value: float


@dataclass(frozen=True)
class Constant(Node):
    """pi, e, deg."""

    name: str


@dataclass(frozen=True)
class Name(Node):
    """A variable, a parameter, or a reference such as crank.A or 'Long Rod.A'."""

    name: str

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset((self.name,))


@dataclass(frozen=True)
class Unary(Node):
    """`-` or `not`."""

    operator: str
    operand: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)

    def with_parts(self, parts: Sequence[Node]) -> Node:
        return Unary(self.operator, parts[0], place=self.place)


@dataclass(frozen=True)
class Chain(Node):
    """a - b + c: operands joined by operators of one precedence, applied from left to right.

    A sum of a thousand terms is one chain, not a tree a thousand deep.
    """

    first: Node
    rest: tuple[tuple[str, Node], ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.first, *(operand for _, operand in self.rest))

    def with_parts(self, parts: Sequence[Node]) -> Node:
        operators = [operator for operator, _ in self.rest]
        return Chain(parts[0], tuple(zip(operators, parts[1:], strict=True)), place=self.place)


@dataclass(frozen=True)
class Call(Node):
    """A function of its arguments; `v if c else w` is stored as piecewise(c, v, w)."""

    name: str
    args: tuple[Node, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.args

    def with_parts(self, parts: Sequence[Node]) -> Node:
        return Call(self.name, tuple(parts), place=self.place)


@dataclass(frozen=True)
class Lookup(Node):
    """A named table at its argument: gas(crank.phi)."""

    name: str
    table: Table
    argument: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.argument,)

    def with_parts(self, parts: Sequence[Node]) -> Node:
        return Lookup(self.name, self.table, parts[0], place=self.place)


class ExpressionError(ModelError):
    """An expression cannot be read or has no value."""


def mistake(place: TextPlace, what: str) -> ExpressionError:
    """`expression 'sinn(t)', column 1: unknown function 'sinn'. ...`"""
    return ExpressionError(f"expression {_excerpt(place)}, column {place.column}: {what}")


def _excerpt(place: TextPlace, around: int = 40) -> str:
    """The text in quotes; for a long one, the part around the column."""
    start, stop = max(0, place.column - around), place.column + around
    text = place.text
    left, right = "..." if start > 0 else "", "..." if stop < len(text) else ""
    return repr(left + text[start:stop] + right)


def walk(node: Node) -> Iterator[tuple[Node, int]]:
    """Every node with its depth, without recursion."""
    waiting = [(node, 1)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(part, depth + 1) for part in reversed(node.parts)]


# Back to text -----------------------------------------------------------------------------------------


def to_text(node: Node) -> str:
    """Text that parses to the same tree; numbers with units become numbers in SI units."""
    match node:
        case Number(value):
            return repr(value).removesuffix(".0")
        case Constant(name):
            return name
        case Name(name):
            return name if _is_plain(name) else "'" + name.replace("'", "''") + "'"
        case Unary(operator, operand):
            space = " " if operator == "not" else ""
            return operator + space + _inside(operand, _level(node))
        case Chain(first, rest):
            level = _level(node)
            return _inside(first, level) + "".join(f" {op} {_inside(part, level)}" for op, part in rest)
        case Call(name, args):
            return f"{name}({', '.join(to_text(arg) for arg in args)})"
        case Lookup(name, _, argument):
            return f"{name}({to_text(argument)})"
    raise TypeError(f"no text for {node!r}")


def _inside(node: Node, level: int) -> str:
    text = to_text(node)
    return f"({text})" if _level(node) <= level else text


def _level(node: Node) -> int:
    match node:
        case Chain(_, rest):
            return INFIX[rest[0][0]][0]
        case Unary(operator, _):
            return NOT if operator == "not" else UNARY
        case Number(value) if math.copysign(1.0, value) < 0.0:
            return UNARY
    return ATOM


_RESERVED = frozenset((*KEYWORDS, *CONSTANTS, *SIGNS, *FUNCTIONS, *ALIASES))
_PLAIN = re.compile(rf"{IDENTIFIER}(?:\.{IDENTIFIER})*")


def _is_plain(name: str) -> bool:
    return name not in _RESERVED and name.lower() not in NOT_FINITE and _PLAIN.fullmatch(name) is not None
