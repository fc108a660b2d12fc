"""Measures written as text: `2*angle(ground, crank) - along(ground.G, slider)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import ModelError
from ..expressions.evaluate import Call, Chain, Node, Unary, calls_in, evaluate, parse
from .frame import AT, Frame, frame_in
from .measure import KINDS, Measure, Term


def parse_measure(text: str, parameters: Mapping[str, float]) -> Measure:
    """A weighted sum of measures; the weights may be expressions of the parameters."""
    measure = _linear(_tree(text), parameters, text)
    if not isinstance(measure, Measure):
        raise ModelError(f"'{text}' does not name a measure; write for example angle(ground, crank).")
    return measure


def frames_in(measure: Measure | str) -> Iterator[Frame]:
    """The frames a measure refers to, as written."""
    if isinstance(measure, str):
        yield from _frames(_tree(measure), measure)
        return
    for term in measure.terms:
        assert isinstance(term.a, Frame) and isinstance(term.b, Frame)
        yield from (term.a, term.b)


def _tree(text: str) -> Node:
    return parse(text, also=(*KINDS, AT))


def _linear(node: Node, parameters: Mapping[str, float], text: str) -> Measure | float:
    """Value of an expression whose unknowns are measures."""
    if not calls_in(node) & KINDS.keys():
        return evaluate(node, parameters)
    if isinstance(node, Call) and node.name in KINDS:
        return _measure(node, text)
    if isinstance(node, Unary) and node.operator == "-":
        return -_linear(node.operand, parameters, text)
    if isinstance(node, Chain):
        total = _linear(node.first, parameters, text)
        for operator, operand in node.rest:
            total = _combine(operator, total, _linear(operand, parameters, text), text)
        return total
    raise _not_linear(text)


def _combine(operator: str, left: Measure | float, right: Measure | float, text: str) -> Measure | float:
    both = isinstance(left, Measure) and isinstance(right, Measure)
    if operator == "+" and both:
        return left + right  # type: ignore[operator]
    if operator == "-" and both:
        return left - right  # type: ignore[operator]
    if operator == "*" and not both:
        return left * right  # type: ignore[operator]
    if operator == "/" and not isinstance(right, Measure) and right != 0.0:
        return left / right
    raise _not_linear(text)


def _not_linear(text: str) -> ModelError:
    return ModelError(
        f"'{text}' is not a weighted sum of measures: only sums and numeric factors are allowed."
    )


def _measure(node: Call, text: str) -> Measure:
    if len(node.args) != 2:
        raise ModelError(f"'{text}': {node.name} takes two frames, {len(node.args)} were given.")
    a, b = (frame_in(arg, text) for arg in node.args)
    return Measure((Term(1.0, node.name, a, b),))


def _frames(node: Node, text: str) -> Iterator[Frame]:
    if isinstance(node, Call) and node.name in KINDS:
        yield from (frame_in(arg, text) for arg in node.args)
        return
    for part in node.parts:
        yield from _frames(part, text)
