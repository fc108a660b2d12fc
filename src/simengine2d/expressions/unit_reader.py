"""Expressions of a model with units, rewritten for SI units.

A bare number is in the model's unit of its place: of the field that it fills, or of what it is added to or compared
with. Names and numbers with units know what they measure. What cannot be decided is refused:

    2*L + 50            L a length: 50 is one, too
    30*sin(w*t)         an angle's amplitude in degrees, where angles are in degrees
    2*pi*t              refused as an angle: it is a time
    sin(90), pi/4       refused, where angles are in degrees: nobody knows what was meant
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .evaluate import evaluate, names_in
from .operations import RISES
from .syntax import Call, Chain, Constant, Lookup, Name, Node, Number, Unary, mistake
from .unit_system import ANGLE, NOTHING, SI, UnitSystem
from .units import Dimension, Quantity

WORDS: dict[Dimension, str] = {
    (1, 0, 0, 0): "a mass",
    (0, 1, 0, 0): "a length",
    (0, 0, 1, 0): "a time",
    (0, 0, 0, 1): "an angle",
    (0, 0, 0, 0): "a number",
    (1, 1, -2, 0): "a force",
    (1, 2, -2, 0): "a torque",
    (0, 1, -1, 0): "a velocity",
    (0, 1, -2, 0): "an acceleration",
    (0, 0, -1, 1): "an angular velocity",
    (0, 0, -1, 0): "a frequency",
}
TURNS = ("sin", "cos", "tan")
ANGLES = ("asin", "acos", "atan", "atan2")
ALIKE = ("min", "max", "hypot", "mod", "atan2")
"""Functions whose arguments are of one kind."""
PURE = ("exp", "log", "log10", "sinh", "cosh", "tanh", "asin", "acos", "atan")


class UnknownName(Exception):
    """The expression names something that is not known; others will say so."""


class Sort(NamedTuple):
    """What an expression measures. A bare number takes the unit of its place."""

    dimension: Dimension = NOTHING
    is_bare: bool = False
    is_zero: bool = False
    has_pi: bool = False
    factors: int = 0
    """How many bare parameters are multiplied in it."""

    @property
    def is_ratio(self) -> bool:
        """A number because its units cancel: as an angle, it is in radians."""
        return not self.is_bare and self.dimension == NOTHING


BARE, OF_PARAMETER = Sort(is_bare=True), Sort(is_bare=True, factors=1)
Read = tuple[Node, Sort]


class UnitReader:
    """Reads trees with the sorts of their names; `calls` reads measures and places."""

    def __init__(
        self,
        units: UnitSystem,
        sort_of: Callable[[str], Sort | None],
        calls: Callable[[UnitReader, Call], Read | None],
    ) -> None:
        self.units, self.sort_of, self.calls = units, sort_of, calls

    # places

    def in_place(self, node: Node, sort: Sort, dimension: Dimension | None) -> Node:
        """The expression in SI units, as the value of a field with this dimension; None accepts any."""
        if dimension is None or sort.is_zero:
            return node
        if sort.is_bare or (sort.is_ratio and dimension[:3] != NOTHING[:3]):
            return self._bare(node, sort, dimension)
        if sort.dimension[:3] != dimension[:3]:
            raise mistake(
                node.place, f"{_said(node)} is {words(sort.dimension)}; {_needed(dimension, self.units)}."
            )
        if dimension[:3] == NOTHING[:3]:
            self._refuse_ratio(node, sort.dimension, dimension)
        return node

    def _bare(self, node: Node, sort: Sort, dimension: Dimension) -> Node:
        """A bare number gets its unit."""
        if sort.is_zero or dimension == NOTHING:
            return node
        if sort.has_pi and dimension == ANGLE and not self.units.counts_radians:
            raise mistake(
                node.place,
                f"a bare number is in {self.units.angle} here, and this has pi in it. Multiply it by 1 rad.",
            )
        if sort.factors > 1 and not self.units.is_coherent:
            raise mistake(
                node.place,
                f"this is a product of bare numbers, and {self.units.name(dimension)} need not be the "
                "product of their units. Write the parameters with units.",
            )
        if isinstance(node, Number):
            return Number(self.units.scaled(node.value, dimension), place=node.place)
        factor = self.units.factor(dimension)
        return node if factor == 1.0 else Chain(node, (("*", Number(factor)),), place=node.place)

    def _refuse_ratio(self, node: Node, dimension: Dimension, wanted: Dimension) -> None:
        """A number whose units cancel is not taken for an angle in degrees, nor the other way round."""
        if self.units.counts_radians or bool(dimension[3]) == bool(wanted[3]):
            return
        remedy = f"{'Multiply' if wanted[3] else 'Divide'} it by 1 rad or by 1 {self.units.angle}"
        raise mistake(node.place, f"{_said(node)} is {words(dimension)}, not {words(wanted)}. {remedy}.")

    # trees

    def read(self, node: Node) -> Read:
        """The expression in SI units, but for bare numbers that have no place yet; and what it measures."""
        match node:
            case Quantity():
                return Number(node.value, place=node.place), Sort(node.dimension)
            case Number(value):
                return node, BARE._replace(is_zero=value == 0.0)
            case Constant(name):
                return node, Sort(ANGLE) if name == "deg" else BARE._replace(has_pi=name == "pi")
            case Name(name):
                return node, self._named(name)
            case Unary(operator, operand):
                inner, sort = self.read(operand)
                return node.with_parts([inner]), sort if operator == "-" else BARE
            case Chain(_, rest):
                return self._chain(node, rest[0][0])
            case Lookup(_, _, argument):
                return node.with_parts([self._in_model_units(argument)]), BARE
            case Call():
                return self.calls(self, node) or self._call(node)
        raise TypeError(f"no units for {node!r}")

    def _named(self, name: str) -> Sort:
        sort = self.sort_of(name)
        if sort is None:
            raise UnknownName(name)
        return sort

    def _chain(self, node: Chain, operator: str) -> Read:
        if operator in ("+", "-"):
            parts, sort = self._alike(node.parts)
            return node.with_parts(parts), sort
        if operator in ("*", "/"):
            return self._product(node)
        if operator == "^":
            return self._power(node)
        if operator in ("and", "or"):
            return node.with_parts([self.read(part)[0] for part in node.parts]), BARE
        return node.with_parts(self._alike(node.parts)[0]), BARE

    def _alike(self, nodes: Sequence[Node]) -> tuple[list[Node], Sort]:
        """Operands that are added or compared: bare numbers among them take the unit of the others."""
        read = [self.read(node) for node in nodes]
        measured = [(node, sort) for node, sort in read if not sort.is_bare]
        if not measured:
            sorts = [sort for _, sort in read]
            factors, pi = max(s.factors for s in sorts), any(s.has_pi for s in sorts)
            return [node for node, _ in read], Sort(NOTHING, True, all(s.is_zero for s in sorts), pi, factors)
        dimension = self._common(measured)
        parts = [self._bare(node, sort, dimension) if sort.is_bare else node for node, sort in read]
        if (
            dimension[3]
            and dimension[:2] != (0, 0)
            and len(measured) < len(read)
            and not self.units.counts_radians
        ):
            self._refuse_beside_turns(read, dimension)
        return parts, Sort(dimension)

    def _refuse_beside_turns(self, read: list[Read], dimension: Dimension) -> None:
        bare = next((node for node, sort in read if sort.is_bare and not sort.is_zero), None)
        if bare is not None:
            raise mistake(bare.place, "the unit of this number is not clear here. Write it after the number.")

    def _common(self, measured: list[Read]) -> Dimension:
        """What all operands measure; lengths of arcs, radius times angle, are lengths."""
        _, sort = measured[0]
        dimension = sort.dimension
        for node, other in measured[1:]:
            if other.dimension[:3] != dimension[:3]:
                raise mistake(
                    node.place,
                    f"{words(dimension)} and {words(other.dimension)} cannot be added or compared.",
                )
            if dimension == NOTHING or other.dimension == NOTHING:
                self._refuse_ratio(node, other.dimension, dimension)
            if other.dimension[3] == (0 if dimension[:2] != (0, 0) else 1):
                dimension = other.dimension
        return dimension

    def _product(self, node: Chain) -> Read:
        operators = ["*", *(operator for operator, _ in node.rest)]
        read = [self.read(part) for part in node.parts]
        total = NOTHING
        for operator, (_, sort) in zip(operators, read, strict=True):
            sign = 1 if operator == "*" else -1
            total = _plus(total, sort.dimension, sign)
        sorts = [sort for _, sort in read]
        bare = all(sort.is_bare for sort in sorts)
        zero = any(s.is_zero for s, operator in zip(sorts, operators, strict=True) if operator == "*")
        pi, factors = any(sort.has_pi for sort in sorts), sum(sort.factors for sort in sorts)
        return node.with_parts([part for part, _ in read]), Sort(total, bare, zero, pi, factors)

    def _power(self, node: Chain) -> Read:
        (base, sort), (exponent, of) = (self.read(part) for part in node.parts)
        self._refuse_measured(exponent, of)
        changed = node.with_parts([base, exponent])
        if sort.is_bare or sort.dimension == NOTHING:
            return changed, sort._replace(factors=2 * sort.factors)
        if names_in(exponent):
            raise mistake(node.place, f"the exponent of {words(sort.dimension)} must be a number.")
        return changed, Sort(_times(sort.dimension, evaluate(exponent, {})))

    # functions

    def _call(self, node: Call) -> Read:
        if node.name in RISES:
            x, x0, h0, x1, h1 = node.args
            (x, x0, x1), _ = self._alike([x, x0, x1])
            (h0, h1), sort = self._alike([h0, h1])
            return node.with_parts([x, x0, h0, x1, h1]), sort
        if node.name == "piecewise":
            return self._piecewise(node)
        if node.name in ALIKE:
            parts, sort = self._alike(node.args)
            return node.with_parts(parts), Sort(ANGLE) if node.name in ANGLES else sort
        if len(node.args) != 1:
            raise UnknownName(node.name)
        return self._of_one(node)

    def _of_one(self, node: Call) -> Read:
        argument, sort = self.read(node.args[0])
        changed = node.with_parts([argument])
        if node.name in TURNS:
            self._refuse_bare_turn(argument, sort)
            return changed, BARE
        if node.name in PURE:
            self._refuse_measured(argument, sort)
            return changed, Sort(ANGLE) if node.name in ANGLES else BARE
        if node.name == "sqrt":
            return changed, sort if sort.is_bare else Sort(_times(sort.dimension, 0.5))
        if node.name == "abs":
            return changed, sort
        if node.name == "sign":
            return changed, BARE
        raise UnknownName(node.name)

    def _piecewise(self, node: Call) -> Read:
        """piecewise(c1, v1, c2, v2, otherwise)"""
        conditions = [self.read(part)[0] for part in node.args[:-1:2]]
        values, sort = self._alike([*node.args[1::2], node.args[-1]])
        pairs = [part for pair in zip(conditions, values, strict=False) for part in pair]
        return node.with_parts([*pairs, values[-1]]), sort

    def _refuse_bare_turn(self, node: Node, sort: Sort) -> None:
        if sort.is_bare and not sort.is_zero and not self.units.counts_radians:
            raise mistake(
                node.place,
                f"is this in {self.units.angle} or in rad? Write the unit, as in sin(30 deg).",
            )
        if sort.dimension[:3] != NOTHING[:3]:
            raise mistake(node.place, f"{_said(node)} is {words(sort.dimension)}; an angle is needed.")

    def _refuse_measured(self, node: Node, sort: Sort) -> None:
        if sort.dimension[:3] != NOTHING[:3]:
            raise mistake(
                node.place,
                f"{_said(node)} is {words(sort.dimension)}; a number is needed. Divide it by its unit.",
            )
        if not sort.is_bare:
            self._refuse_ratio(node, sort.dimension, NOTHING)

    def _in_model_units(self, node: Node) -> Node:
        """The argument of a table, whose points are bare numbers."""
        node, sort = self.read(node)
        if sort.is_bare or sort.is_ratio:
            return node
        if sort.dimension[3] and sort.dimension[:2] != (0, 0) and not self.units.counts_radians:
            raise mistake(node.place, "the unit of this is not clear in a table. Divide it by its unit.")
        return Chain(node, (("/", Number(self.units.factor(sort.dimension))),), place=node.place)


def _plus(a: Dimension, b: Dimension, sign: int) -> Dimension:
    m, l, t, w = (x + sign * y for x, y in zip(a, b, strict=True))  # noqa: E741
    return m, l, t, w


def _times(a: Dimension, factor: float) -> Dimension:
    m, l, t, w = (int(x * factor) if x * factor == int(x * factor) else x * factor for x in a)  # noqa: E741
    return m, l, t, w  # type: ignore[return-value]


def _said(node: Node) -> str:
    return f"'{node.name}'" if isinstance(node, Name) else "this"


def words(dimension: Dimension) -> str:
    """`a length`, `an angle`, `a quantity in N/m`."""
    if dimension[:3] != NOTHING[:3] and dimension[:2] != (0, 0):
        dimension = (*dimension[:3], 0)
    return WORDS.get(dimension, f"a quantity in {SI.name(dimension)}")


def _needed(dimension: Dimension, units: UnitSystem) -> str:
    return f"{words(dimension)} is needed, such as 2 {units.name(dimension).replace('²', '^2').replace('³', '^3')}"
