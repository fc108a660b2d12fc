"""The parser: tokens, then precedence climbing. Nothing here can execute code."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from ..errors import listed, unknown
from .operations import MANY_ARGUMENTS, RISES, TWO_ARGUMENTS
from .syntax import (
    ALIASES,
    COMPARISON,
    CONSTANTS,
    FUNCTIONS,
    IDENTIFIER,
    INFIX,
    KEYWORDS,
    NOT,
    NOT_FINITE,
    OR,
    POWER,
    SIGNS,
    UNARY,
    Call,
    Chain,
    Constant,
    ExpressionError,
    Name,
    Node,
    Number,
    TextPlace,
    Unary,
    mistake,
    walk,
)
from .units import UNITS, quantity

LONGEST_TEXT = 10_000
DEEPEST = 100
LONGEST_KEPT, MOST_KEPT = 1_000, 512  # characters of a text whose tree is kept, and how many trees
ANYTHING = "*"

# Tokens -----------------------------------------------------------------------------------------------


class Token(NamedTuple):
    kind: str  # number, name, quoted, operator, end
    text: str
    column: int

    def shown(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<name>{IDENTIFIER}(?:\.{IDENTIFIER})*)
    | (?P<quoted>'(?:[^']|'')+'|"(?:[^"]|"")+")
    | (?P<operator>\*\*|\.\^|\.\*|\./|&&|\|\||<=|>=|==|!=|~=|[-+*/^<>&|~!(),])""",
    re.VERBOSE,
)


def tokenize(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise mistake(TextPlace(text, position + 1), _stray(text[position]))
        kind = str(match.lastgroup)
        if kind != "space":
            kind = "operator" if match[0] in KEYWORDS else kind
            tokens.append(Token(kind, match[0], position + 1))
        position = match.end()
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


def _stray(character: str) -> str:
    if character in "'\"":
        return f"the quote {character} is not closed, or there is nothing between the quotes."
    remedy = " Use == to compare." if character == "=" else " Quote a name that holds it: 'Long Rod.A'."
    return f"the character {character!r} has no meaning here.{remedy}"


# The parser -------------------------------------------------------------------------------------------


def parse(text: str, also: Collection[str] = ()) -> Node:
    """The tree of an expression, or an ExpressionError that says where and what.

    `also` lists further names that may be called, with any arguments: measures and frames; `ANYTHING` stands for all.
    Where there are any, a frame may be written as a call too: crank.at(0.5, 0).
    """
    if not isinstance(text, str):
        raise ExpressionError(f"an expression is text, found {text!r} of type {type(text).__name__}.")
    if len(text) > LONGEST_TEXT:
        raise mistake(
            TextPlace(text, LONGEST_TEXT + 1),
            f"the text has {len(text)} characters; at most {LONGEST_TEXT} are read. Use a table instead.",
        )
    if not text.strip():
        raise mistake(
            TextPlace(text, 1), "the text is empty. Write a number or an expression such as 'sin(2*t)'."
        )
    return _kept_tree(text, tuple(also)) if len(text) <= LONGEST_KEPT else _tree(text, tuple(also))


def _tree(text: str, also: tuple[str, ...]) -> Node:
    return _not_too_deep(_Parser(text, also).whole())


_kept_tree = lru_cache(maxsize=MOST_KEPT)(_tree)
"""Variants of a model share their texts: each is parsed once. Trees never change."""


def parse_matlab(text: str) -> Node:
    """The tree of an expression as MATLAB reads it: powers from left to right, so that 2^3^2 is 64 and 2^-t^2 (2^-t)^2.

    All other operators bind as in `parse`.
    """
    parse(text)  # for what it refuses
    return _not_too_deep(_MatlabParser(text, ()).whole())


def _not_too_deep(node: Node) -> Node:
    deepest, depth = max(walk(node), key=lambda visit: visit[1])
    if depth > DEEPEST + 1:
        raise mistake(deepest.place, _TOO_DEEP)
    return node


_TOO_DEEP = f"the expression is nested more than {DEEPEST} levels deep. Split it into parameters."


class _Parser:
    """Precedence climbing. Every method leaves `position` after what it has read."""

    def __init__(self, text: str, also: Collection[str]) -> None:
        self.text = text
        self.more = also
        self.tokens = tokenize(text)
        self.position = 0
        self.depth = -1

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def at(self, *operators: str) -> bool:
        return self.token.kind == "operator" and self.token.text in operators

    def place(self, token: Token) -> TextPlace:
        return TextPlace(self.text, token.column)

    def fail(self, token: Token, what: str) -> ExpressionError:
        return mistake(self.place(token), what)

    def whole(self) -> Node:
        node = self.choice()
        if self.token.kind != "end":
            factor = self.token.kind != "operator" or self.at("(")
            remedy = " Write '*' between factors." if factor else ""
            if self.token.kind == "name" and self.tokens[self.position - 1].kind == "number":
                remedy += f" After a number, the units are {listed(UNITS, 60)}."
            raise self.fail(self.token, f"found {self.token.shown()} after a complete expression.{remedy}")
        return node

    def choice(self) -> Node:
        """value if condition else otherwise"""
        value = self.operation(OR)
        if not self.at("if"):
            return value
        place = self.place(self.take())
        condition = self.operation(OR)
        if not self.at("else"):
            raise self.fail(
                self.token, f"found {self.token.shown()} where 'else' is expected: 'a if c else b'."
            )
        self.take()
        self.deeper()
        otherwise = self.choice()
        self.depth -= 1
        return Call("piecewise", (condition, value, otherwise), place=place)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail(self.token, _TOO_DEEP)

    def operation(self, loosest: int) -> Node:
        """Operands joined by operators that bind at least as tightly as `loosest`."""
        self.deeper()
        node = self.prefixed(loosest)
        while (level := self.infix_level()) >= loosest:
            node = self.chain(node, level)
        self.depth -= 1
        return node

    def infix_level(self) -> int:
        token = self.token
        return INFIX[token.text][0] if token.kind == "operator" and token.text in INFIX else 0

    def chain(self, first: Node, level: int) -> Node:
        place = self.place(self.token)
        rest: list[tuple[str, Node]] = []
        while self.infix_level() == level:
            token = self.take()
            if level == COMPARISON and rest:
                raise self.fail(token, "comparisons do not chain. Write 'a < b and b < c'.")
            # the exponent may carry a sign, and holds the powers to its right: 2^-t^2 = 2^(-(t^2))
            operand = self.operation(UNARY if level == POWER else level + 1)
            rest.append((INFIX[token.text][1], operand))
        return Chain(first, tuple(rest), place=place)

    def prefixed(self, loosest: int) -> Node:
        if self.at("-", "+", "~", "!"):
            token = self.take()
            operand = self.operation(UNARY)
            if token.text == "+":
                return operand
            return Unary("-" if token.text == "-" else "not", operand, place=self.place(token))
        if self.at("not"):
            token = self.take()
            if loosest > NOT:
                raise self.fail(token, "'not' binds loosely here. Write parentheses: (not a).")
            return Unary("not", self.operation(NOT), place=self.place(token))
        return self.atom()

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "quoted":
            quote = token.text[0]
            return Name(token.text[1:-1].replace(quote * 2, quote), place=self.place(token))
        if token.kind == "name":
            return self.call(token) if self.at("(") else self.named(token)
        if token.text == "(":
            node = self.choice()
            self.close(token)
            return node
        raise self.fail(token, f"found {token.shown()} where a number, a name or '(' is expected.")

    def number(self, token: Token) -> Node:
        value = float(token.text)
        if not math.isfinite(value):
            raise self.fail(token, f"the number {token.text} is too large; the largest is about 1.8e308.")
        if self.at_unit(self.position):
            return self.with_units(token)
        return Number(value, place=self.place(token))

    def with_units(self, token: Token) -> Node:
        try:
            return quantity(token.text, self.units(), self.place(token))
        except OverflowError:
            raise self.fail(
                token, f"{token.text} with its unit is too large; the largest is about 1.8e308."
            ) from None

    def at_unit(self, position: int) -> bool:
        """Whether a unit comes; a name before a parenthesis is a function."""
        token, after = self.tokens[position], self.tokens[min(position + 1, len(self.tokens) - 1)]
        return token.kind == "name" and token.text in UNITS and after.text != "("

    def units(self) -> list[tuple[str, int]]:
        """The units after a number, with their powers: kN/m, kg m^2."""
        units, sign = [], 1
        while True:
            name = self.take().text
            units.append((name, sign * self.power()))
            if self.at("*", "/") and self.at_unit(self.position + 1) and self.joined():
                sign = -1 if self.take().text == "/" else 1
            elif self.at_unit(self.position):
                sign = 1
            else:
                return units

    def power(self) -> int:
        """The exponent of a unit, where one is written at it: m^2, s^-1."""
        if not (self.at("^", "**") and self.touches(self.position)):
            return 1
        minus = self.tokens[self.position + 1].text == "-"
        digits = self.tokens[self.position + 1 + minus]
        if digits.text not in tuple("123456789"):
            raise self.fail(
                digits, f"found {digits.shown()} where the power of a unit is expected, as in m^2."
            )
        self.position += 2 + minus
        return -int(digits.text) if minus else int(digits.text)

    def joined(self) -> bool:
        """Whether there is no space around an operator."""
        return self.touches(self.position) and self.touches(self.position + 1)

    def touches(self, position: int) -> bool:
        """Whether there is no space before a token."""
        before, token = self.tokens[position - 1], self.tokens[position]
        return before.column + len(before.text) == token.column

    def named(self, token: Token) -> Node:
        name = SIGNS.get(token.text, token.text)
        if name in CONSTANTS:
            return Constant(name, place=self.place(token))
        if name.lower() in NOT_FINITE:
            raise self.fail(token, f"'{name}' is not a finite number. Write the number that is meant.")
        if name in FUNCTIONS or name in ALIASES:
            raise self.fail(
                token,
                f"'{name}' is a function. Write {name}(...); to refer to a thing of that name, quote it.",
            )
        return Name(name, place=self.place(token))

    def call(self, token: Token) -> Node:
        name = ALIASES.get(token.text, token.text)
        if name not in FUNCTIONS and not self.also(name):
            hint = unknown("function", name, [*self.more, *FUNCTIONS])
            raise self.fail(token, f"unknown function '{name}'. {hint}")
        opening = self.take()
        args: list[Node] = []
        while not self.at(")") or args:
            args.append(self.choice())
            if not self.at(","):
                break
            self.take()
        self.close(opening)
        wrong = _wrong_count(name, len(args))
        if wrong and not self.also(name):
            raise self.fail(token, f"{token.text} takes {wrong}, found {len(args)}.")
        return Call(name, tuple(args), place=self.place(token))

    def also(self, name: str) -> bool:
        return name in self.more or ANYTHING in self.more or (bool(self.more) and name.endswith(".at"))

    def close(self, opening: Token) -> None:
        if not self.at(")"):
            shown, column = self.token.shown(), opening.column
            raise self.fail(
                self.token, f"found {shown} where ')' is expected, to close the '(' at column {column}."
            )
        self.take()


class _MatlabParser(_Parser):
    """Powers associate to the left, and an exponent is one number, name, call or parenthesis with its signs."""

    def chain(self, first: Node, level: int) -> Node:
        if level != POWER:
            return super().chain(first, level)
        token = self.take()
        return Chain(first, ((INFIX[token.text][1], self.exponent()),), place=self.place(token))

    def exponent(self) -> Node:
        if not self.at("-", "+", "~", "!"):
            return self.atom()
        token = self.take()
        self.deeper()
        operand = self.exponent()
        self.depth -= 1
        if token.text == "+":
            return operand
        return Unary("-" if token.text == "-" else "not", operand, place=self.place(token))


def _wrong_count(name: str, count: int) -> str:
    """What `name` takes if it is not `count` arguments, else nothing."""
    if name == "piecewise":
        right = count >= 3 and count % 2 == 1
        return (
            "" if right else "conditions with values and a last value: piecewise(c1, v1, c2, v2, otherwise)"
        )
    if name in MANY_ARGUMENTS:
        return "" if count >= 1 else "at least 1 argument"
    if name in RISES:
        return "" if count == 5 else "5 arguments (x, x0, h0, x1, h1)"
    expected = 2 if name in TWO_ARGUMENTS else 1
    return "" if count == expected else f"{expected} argument{'s' if expected > 1 else ''}"
