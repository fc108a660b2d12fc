"""Tapes: an expression of several variables as a list of operations, each evaluated once.

Operation k acts on the results of earlier ones. Parts that occur twice in an expression are one operation, and those
without a name are numbers. `tape_kernels` computes values, gradients and second derivatives on a tape.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from . import operations as jets
from .evaluate import evaluate, names_in
from .recorded import Recorded, called, is_recorded, isfinite, isnan
from .syntax import Call, Chain, Lookup, Name, Node, Number, Unary
from .table import Table

# operations that only tapes have: the argument if it is positive, else nan; a cosine or sine next to its partner
POSITIVE, COS_BESIDE, SIN_BESIDE = 60, 61, 62
# a table, its numbers counted and listed among those of the tape
LOOKUP, PERIODIC_LOOKUP = 63, 64
PARTNERS = {jets.COS: (jets.SIN, COS_BESIDE), jets.SIN: (jets.COS, SIN_BESIDE)}

# operations with a value everywhere, so that nothing is lost if they are multiplied by zero
TOTAL = {
    jets.NEGATE, jets.ABS, jets.SIN, jets.COS, COS_BESIDE, SIN_BESIDE, jets.ATAN, jets.TANH,
    jets.ADD, jets.SUBTRACT, jets.MULTIPLY,
}  # fmt: skip
COMMUTES = {jets.ADD, jets.MULTIPLY, jets.HYPOT}


@dataclass(frozen=True)
class Tape:
    """The operations; their results come after those of the variables `reads`."""

    reads: tuple[str, ...]
    operations: tuple[tuple[int, int, int, int], ...]
    """Code, left and right operand, then the condition of a choice; for a number, its index among `numbers`, and for a
    table, after its operand, where it begins there."""
    numbers: tuple[float, ...]


def compile_tape(node: Node) -> Tape:
    """The tape of an expression."""
    node = fold(node)
    reads = tuple(sorted(names_in(node)))
    writer = _TapeWriter({name: k for k, name in enumerate(reads)})
    operations, numbers = writer.without_idle(writer.write(node))
    return Tape(reads, tuple(operations), tuple(numbers))


def fold(node: Node) -> Node:
    """The same expression with every part that contains no name evaluated."""
    if isinstance(node, Number):
        return node
    if not names_in(node):
        return Number(evaluate(node, {}), place=node.place)
    if isinstance(node, Call) and node.name == "piecewise":
        return _fold_piecewise(node)
    folded = node.with_parts([fold(part) for part in node.parts])
    return _fold_start(folded) if isinstance(folded, Chain) else folded


def _fold_start(chain: Chain) -> Node:
    """2*pi*t to 6.28*t: the operators of a chain are applied from left to right."""
    numbers = 0
    while isinstance(chain.parts[numbers], Number):
        numbers += 1
    if numbers < 2:
        return chain
    start = Chain(chain.first, chain.rest[: numbers - 1], place=chain.place)
    return Chain(Number(evaluate(start, {}), place=chain.place), chain.rest[numbers - 1 :], place=chain.place)


def _fold_piecewise(node: Call) -> Node:
    """Branches that are never taken are not evaluated: the condition guards against their 1/0."""
    kept: list[Node] = []
    for condition, value in zip(node.args[:-1:2], node.args[1::2], strict=True):
        condition = fold(condition)
        if not isinstance(condition, Number):
            kept += [condition, fold(value)]
        elif condition.value != 0.0:
            return Call("piecewise", (*kept, fold(value)), place=node.place) if kept else fold(value)
    last = fold(node.args[-1])
    return Call("piecewise", (*kept, last), place=node.place) if kept else last


@dataclass
class _TapeWriter:
    """Writes operations, and remembers those already written."""

    inputs: dict[str, int]
    operations: list[tuple[int, int, int, int]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    known: dict[tuple[int, int, int, Hashable], int] = field(default_factory=dict)
    total: set[int] = field(default_factory=set)
    tables: list[Table] = field(default_factory=list)

    def put(self, code: int, left: int = 0, right: int = 0, extra: int = 0, number: float = 0.0) -> int:
        """The index of an operation."""
        if code in COMMUTES and right < left:
            left, right = right, left
        if code == jets.POWER and self.is_number(right):
            code = jets.FIXED_POWER
        if code not in (jets.NUMBER, jets.SELECT):
            values = [self.value(place) for place in _operands(code, left, right, extra)]
            worked_out = math.nan if any(map(isnan, values)) else called(_value, code, values)
            if isfinite(worked_out):
                return self.number(worked_out)
        key = (code, left, right, _key_of(number) if code == jets.NUMBER else float(extra))
        if key not in self.known:
            place = self.known[key] = len(self.inputs) + len(self.operations)
            self.operations.append((code, left, right, extra))
            self.numbers.append(number)
            if code == jets.NUMBER or (code in TOTAL and all(map(self.is_total, self.operands(place)))):
                self.total.add(place)
        return self.known[key]

    def is_number(self, place: int) -> bool:
        k = place - len(self.inputs)
        return k >= 0 and self.operations[k][0] == jets.NUMBER

    def value(self, place: int) -> float:
        return self.numbers[place - len(self.inputs)] if self.is_number(place) else math.nan

    def number(self, value: float) -> int:
        places = range(len(self.inputs), len(self.inputs) + len(self.operations))
        if is_recorded(value, *self.numbers):  # which have to be compared to be found
            for place in places:
                if self.is_number(place) and self.value(place) == value:
                    return place
        return self.put(jets.NUMBER, number=value)

    def without_idle(self, last: int) -> tuple[list[tuple[int, int, int, int]], list[float]]:
        """The operations that the result needs; it is the last of them."""
        n, needed, waiting = len(self.inputs), set(), [last]
        while waiting:
            place = waiting.pop()
            if place >= n and place not in needed:
                needed.add(place)
                waiting += self.operands(place)
        place_of = {old: n + k for k, old in enumerate(sorted(needed))} | {k: k for k in range(n)}
        operations: list[tuple[int, int, int, int]] = []
        numbers: list[float] = []
        starts: dict[int, int] = {}
        for old in sorted(needed):
            code, operands = self.operations[old - n][0], [place_of[place] for place in self.operands(old)]
            if code == jets.NUMBER:
                operands = [len(numbers)]
                numbers.append(self.numbers[old - n])
            left, right, condition = (*operands, 0, 0)[:3]
            if code in (LOOKUP, PERIODIC_LOOKUP):
                table = self.operations[old - n][3]
                condition = starts.setdefault(table, len(numbers))
                if condition == len(numbers):
                    numbers += [float(len(self.tables[table].numbers)), *self.tables[table].numbers]
            operations.append((code, left, right, condition))
        return operations, numbers

    def operands(self, place: int) -> list[int]:
        """The indices of the operands of an operation."""
        return _operands(*self.operations[place - len(self.inputs)])

    def binary(self, code: int, left: int, right: int) -> int:
        """An operation of two operands; operations that change nothing are omitted."""
        a, b = self.value(left), self.value(right)
        if (code in (jets.ADD, jets.SUBTRACT) and b == 0.0) or (
            code in (jets.MULTIPLY, jets.DIVIDE) and b == 1.0
        ):
            return left
        if code == jets.POWER and b == 2.0:
            return self.put(jets.MULTIPLY, left, left)
        if (code == jets.ADD and a == 0.0) or (code == jets.MULTIPLY and a == 1.0):
            return right
        if code == jets.MULTIPLY and (
            (a == 0.0 and self.is_total(right)) or (b == 0.0 and self.is_total(left))
        ):
            return self.number(0.0)
        return self.put(code, left, right)

    def is_total(self, place: int) -> bool:
        return place < len(self.inputs) or place in self.total

    def unary(self, code: int, operand: int) -> int:
        """An operation of one operand; the sine and the cosine of an angle are computed together."""
        if code in PARTNERS and (code, operand, 0, 0.0) not in self.known:
            partner, beside = PARTNERS[code]
            if (partner, operand, 0, 0.0) in self.known:
                return self.put(beside, operand, self.known[partner, operand, 0, 0.0])
        return self.put(code, operand)

    def write(self, node: Node) -> int:
        match node:
            case Number(value):
                return self.number(value)
            case Name(name):
                return self.inputs[name]
            case Unary(operator, operand):
                return self.put(jets.PREFIX[operator], self.write(operand))
            case Chain(first, rest):
                place = self.write(first)
                for operator, operand in rest:
                    place = self.binary(jets.INFIX[operator], place, self.write(operand))
                return place
            case Call("piecewise", args):
                return self.write_piecewise(args)
            case Call(name, args) if name in jets.RISES:
                return self.write_rise(jets.RISES[name], *(self.write(arg) for arg in args))
            case Call(name, args) if name in jets.ONE_ARGUMENT:
                return self.unary(jets.ONE_ARGUMENT[name], self.write(args[0]))
            case Call(name, args):
                code = (jets.TWO_ARGUMENTS | jets.MANY_ARGUMENTS)[name]
                place = self.write(args[0])
                for arg in args[1:]:
                    place = self.binary(code, place, self.write(arg))
                return place
            case Lookup(_, table, argument):
                return self.write_lookup(table, self.write(argument))
        raise TypeError(f"no tape for {node!r}")

    def write_lookup(self, table: Table, place: int) -> int:
        if self.is_number(place):
            return self.number(called(table.jet, self.value(place))[0])
        if table not in self.tables:
            self.tables.append(table)
        code, index = PERIODIC_LOOKUP if table.periodic else LOOKUP, self.tables.index(table)
        return self.put(code, place, extra=index)

    def write_piecewise(self, args: tuple[Node, ...]) -> int:
        place = self.write(args[-1])
        for i in range(len(args) - 3, -1, -2):
            place = self.put(jets.SELECT, place, self.write(args[i + 1]), self.write(args[i]))
        return place

    def write_rise(self, code: int, x: int, a: int, h: int, b: int, k: int) -> int:
        """h + (k - h) g(s) with s = (x - a) / (b - a), where a < b."""
        length = self.put(POSITIVE, self.binary(jets.SUBTRACT, b, a))
        s = self.binary(jets.DIVIDE, self.binary(jets.SUBTRACT, x, a), length)
        rise = self.binary(jets.MULTIPLY, self.binary(jets.SUBTRACT, k, h), self.put(code, s))
        return self.binary(jets.ADD, h, rise)


def _key_of(number: Any) -> Hashable:
    """A number as part of a key; a recorded one has been compared with all others, and is new."""
    return (number.place,) if isinstance(number, Recorded) else number  # type: ignore[no-any-return]


def _operands(code: int, left: int, right: int, condition: int) -> list[int]:
    if code == jets.NUMBER:
        return []
    if code == jets.SELECT:
        return [left, right, condition]
    return [left, right] if jets.ADD <= code < jets.SELECT or code in (COS_BESIDE, SIN_BESIDE) else [left]


def _value(code: int, values: list[float]) -> float:
    """An operation of numbers."""
    if code == POSITIVE:
        return values[0] if values[0] > 0.0 else math.nan
    if code > jets.SELECT:
        return float(jets.rise_derivatives(code, values[0])[0])
    return jets.apply(code, *((value, 0.0, 0.0) for value in values))[0]
