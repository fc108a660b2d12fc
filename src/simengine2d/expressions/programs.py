"""Postfix programs: an expression as two flat arrays, run by one kernel on a stack of jets.

Instruction k is `codes[k]` with `operands[k]`: NUMBER pushes the operand, VARIABLE pushes the jet of the
variable with that index, every other code acts on the top of the stack. The caller seeds the variables' jets:
(t, 1, 0) gives f, f', f'' along t; (s, 1, 0), (sd, 0, 0), (t, 0, 0) gives g and its partial derivative by s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..numerics.kernel import kernel
from . import operations
from .evaluate import Call, Chain, Name, Node, Number, Unary, check_names, evaluate, names_in


@dataclass(frozen=True)
class Program:
    """What `run` needs; `height` is that of its stack in jets, the variables' included."""

    codes: tuple[int, ...]
    operands: tuple[float, ...]
    height: int


@kernel
def run(codes, operands, start, stop, z, top):
    """Run the instructions start..stop-1 on the stack of jets `z`; return where the result begins.

    The variables' jets lie at the bottom, three numbers each; the last of them begins at z[top].
    """
    for k in range(start, stop):
        code = codes[k]
        if code > operations.VARIABLE:
            top = operations.operate(code, z, top)
            continue
        top += 3
        if code == operations.NUMBER:
            z[top], z[top + 1], z[top + 2] = operands[k], 0.0, 0.0
        else:
            i = 3 * int(operands[k])
            z[top], z[top + 1], z[top + 2] = z[i], z[i + 1], z[i + 2]
    return top


def compile_program(node: Node, variables: Sequence[str]) -> Program:
    """The program of an expression in the variables, in the order of their indices."""
    check_names(node, variables)
    writer = _ProgramWriter(list(variables))
    writer.write(fold(node))
    return Program(tuple(writer.codes), tuple(writer.operands), len(variables) + writer.highest)


def fold(node: Node) -> Node:
    """The same expression with every part that holds no name worked out."""
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
    """Branches that are never taken go unseen: their 1/0 is what the condition guards against."""
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
class _ProgramWriter:
    """Writes instructions and watches the height of the stack."""

    variables: list[str]
    codes: list[int] = field(default_factory=list)
    operands: list[float] = field(default_factory=list)
    height: int = 0
    highest: int = 0

    def put(self, code: int, growth: int, operand: float = 0.0) -> None:
        self.codes.append(code)
        self.operands.append(operand)
        self.height += growth
        self.highest = max(self.highest, self.height)

    def write(self, node: Node) -> None:
        match node:
            case Number(value):
                self.put(operations.NUMBER, 1, value)
            case Name(name):
                self.put(operations.VARIABLE, 1, float(self.variables.index(name)))
            case Unary(operator, operand):
                self.write(operand)
                self.put(operations.PREFIX[operator], 0)
            case Chain(first, rest):
                self.write(first)
                for operator, operand in rest:
                    self.write(operand)
                    self.put(operations.INFIX[operator], -1)
            case Call("piecewise", args):
                self.write_piecewise(args)
            case Call(name, args):
                self.write_call(name, args)

    def write_piecewise(self, args: tuple[Node, ...]) -> None:
        """From the last branch to the first, so that the stack stays three high however many there are."""
        self.write(args[-1])
        for i in range(len(args) - 3, -1, -2):
            self.write(args[i])
            self.write(args[i + 1])
            self.put(operations.SELECT, -2)

    def write_call(self, name: str, args: tuple[Node, ...]) -> None:
        self.write(args[0])
        for arg in args[1:]:
            self.write(arg)
            if name in operations.MANY_ARGUMENTS:
                self.put(operations.MANY_ARGUMENTS[name], -1)
        if name not in operations.MANY_ARGUMENTS:
            code = (operations.ONE_ARGUMENT | operations.TWO_ARGUMENTS | operations.RISES)[name]
            self.put(code, 1 - len(args))
