"""Expressions of channels and measures: `rod.B.y - 0.1*sin(3*rod.B.x)`, `distance(a, b) - 0.2`, `slider.xd`.

The rate of a measure is written `rate(distance(a, b))`. A weighted sum of measures is a measure, too:
`2*angle(ground, crank) - along(ground.G, slider)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import ModelError
from ..expressions.evaluate import check_names, evaluate, names_in, number, substitute
from ..expressions.parser import ANYTHING, parse
from ..expressions.syntax import Call, Chain, Name, Node, Number, Unary, to_text
from ..expressions.vocabulary import Vocabulary
from .frame import AT, GROUND, Frame, frame_in
from .measure import KINDS, Measure, Term

RATE = "rate"
QUANTITIES = {
    "x": ("x", 0),
    "y": ("y", 0),
    "phi": ("angle", 0),
    "xd": ("x", 1),
    "yd": ("y", 1),
    "phid": ("angle", 1),
}


@dataclass
class ChannelExpression:
    """An expression whose variables are the measures s_k and their rates, then t."""

    text: str
    tree: Node
    measures: list[Measure] = field(default_factory=list)

    @property
    def variables(self) -> list[str]:
        return [name for k in range(len(self.measures)) for name in (_value(k), _rate(k))] + ["t"]


def parse_channels(text: str, words: Vocabulary | None = None) -> ChannelExpression:
    """Parse an expression and collect its channels and measures; other names are left unchanged."""
    read = parse if words is None else words.parse
    expression = ChannelExpression(text, read(text, (*KINDS, AT, RATE)))
    expression.tree = _replaced(expression.tree, expression)
    return expression


def _replaced(node: Node, expression: ChannelExpression) -> Node:
    """The expression with a variable in place of every channel and measure."""
    if isinstance(node, Call) and node.name == RATE:
        return _replaced_rate(node, expression)
    if isinstance(node, Call) and node.name in KINDS:
        if len(node.args) != 2:
            raise ModelError(
                f"'{expression.text}': {node.name} takes two frames, {len(node.args)} were given."
            )
        a, b = (frame_in(arg, expression.text) for arg in node.args)
        return _variable(expression, Measure((Term(1.0, node.name, a, b),)), 0)
    if isinstance(node, Name) and "." in node.name:
        reference, _, quantity = node.name.rpartition(".")
        if quantity in QUANTITIES:
            kind, order = QUANTITIES[quantity]
            body, _, point = reference.partition(".")
            frame = Frame(body, point or None)
            return _variable(expression, Measure((Term(1.0, kind, Frame(GROUND), frame),)), order)
    return node.with_parts([_replaced(part, expression) for part in node.parts])


def _replaced_rate(node: Call, expression: ChannelExpression) -> Node:
    """rate(u), where u is a channel or a measure."""
    inside = [_replaced(arg, expression) for arg in node.args]
    names = [_value(k) for k in range(len(expression.measures))]
    if len(inside) != 1 or not isinstance(inside[0], Name) or inside[0].name not in names:
        raise ModelError(
            f"'{expression.text}': {to_text(node)} must contain one channel or measure, such as "
            "rate(distance(a.P, b.Q))."
        )
    return Name(_rate(names.index(inside[0].name)))


def _variable(expression: ChannelExpression, measure: Measure, order: int) -> Node:
    if measure not in expression.measures:
        expression.measures.append(measure)
    k = expression.measures.index(measure)
    return Name(_rate(k) if order else _value(k))


def _value(k: int) -> str:
    return f"measure {k}"


def _rate(k: int) -> str:
    return f"rate of measure {k}"


# Weighted sums ----------------------------------------------------------------------------------------


def parse_measure(text: str, parameters: Mapping[str, float]) -> Measure:
    """A weighted sum of measures; the weights may be expressions of the parameters."""
    expression = parse_channels(text)
    known: dict[str, Node] = {name: Number(number(value)) for name, value in parameters.items()}
    measures: dict[str, Node] = {name: Number(1.0) for name in expression.variables[:-1]}
    check_names(substitute(expression.tree, measures), {*parameters, "t"})
    if not expression.measures:
        raise ModelError(f"'{text}' does not name a measure; write for example angle(ground, crank).")
    parts = linear_parts(substitute(expression.tree, known), set(measures))
    values = expression.variables[:-1:2]
    if parts is None or parts[1] or not parts[0].keys() <= set(values):
        raise ModelError(
            f"'{text}' is not a weighted sum of measures: only sums and numeric factors are allowed."
        )
    return measure_of(parts[0], values, expression.measures)


def measure_of(weights: Mapping[str, float], names: Sequence[str], measures: Sequence[Measure]) -> Measure:
    """The sum of measures with the weights of their names."""
    sums = (weights.get(name, 0.0) * measure for name, measure in zip(names, measures, strict=True))
    return Measure(tuple(term for each in sums for term in each.terms))


def frames_in(measure: Measure | str) -> Iterator[Frame]:
    """The frames that a measure refers to, as written."""
    measures = parse_channels(measure).measures if isinstance(measure, str) else [measure]
    yield from _frames_of(measures)


def frames_in_formula(text: str) -> Iterator[Frame]:
    """The same of a formula, which may use names that only its model knows."""
    expression = ChannelExpression(text, parse(text, (*KINDS, AT, RATE, ANYTHING)))
    _replaced(expression.tree, expression)
    yield from _frames_of(expression.measures)


def _frames_of(measures: Sequence[Measure]) -> Iterator[Frame]:
    for term in (term for each in measures for term in each.terms):
        assert isinstance(term.a, Frame) and isinstance(term.b, Frame)
        yield from (term.a, term.b)


Linear = tuple[dict[str, float], list[tuple[float, Node]]]
"""Weights by name, and weighted parts that contain none of the names."""


def linear_parts(node: Node, names: set[str]) -> Linear | None:
    """An expression as a weighted sum of the names; None if it is not one."""
    if not names_in(node) & names:
        return {}, [(1.0, node)]
    match node:
        case Name(name):
            return {name: 1.0}, []
        case Unary("-", operand):
            return _times(linear_parts(operand, names), -1.0)
        case Chain(first, rest) if rest[0][0] in "+-":
            total = linear_parts(first, names)
            for operator, operand in rest:
                total = _plus(total, _times(linear_parts(operand, names), 1.0 if operator == "+" else -1.0))
            return total
        case Chain(first, rest) if rest[0][0] in "*/":
            return _product([("*", first), *rest], names)
    return None


def _plus(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return None
    weights = {name: a[0].get(name, 0.0) + b[0].get(name, 0.0) for name in {**a[0], **b[0]}}
    return weights, a[1] + b[1]


def _times(a: Linear | None, factor: float) -> Linear | None:
    if a is None:
        return None
    return {name: factor * w for name, w in a[0].items()}, [(factor * w, node) for w, node in a[1]]


def _product(factors: list[tuple[str, Node]], names: set[str]) -> Linear | None:
    """One factor with the names, all others numbers."""
    inside = [node for operator, node in factors if operator == "*" and names_in(node)]
    numbers = [(operator, node) for operator, node in factors if not names_in(node)]
    if len(inside) != 1 or len(numbers) != len(factors) - 1:
        return None
    factor = 1.0
    for operator, node in numbers:
        value = evaluate(node, {})
        if operator == "/" and value == 0.0:
            return None
        factor = factor * value if operator == "*" else factor / value
    return _times(linear_parts(inside[0], names), factor)
