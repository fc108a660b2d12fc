"""Expressions of channels and measures: `rod.B.y - 0.1*sin(3*rod.B.x)`, `distance(a, b) - 0.2`, `slider.xd`.

The rate of a measure is written `rate(distance(a, b))`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import ModelError
from ..expressions.evaluate import Call, Name, Node, parse, to_text
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


def parse_channels(text: str) -> ChannelExpression:
    """Parse an expression and collect its channels and measures; other names are left unchanged."""
    expression = ChannelExpression(text, parse(text, also=(*KINDS, AT, RATE)))
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
