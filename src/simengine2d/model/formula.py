"""Formulas: g(u, ud, t) of measures u between frames, their rates ud, and time, with all numbers evaluated.

    rod.B.y - 0.1*sin(3*rod.B.x)    distance(a.P, b.Q)^2 - L^2    skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)

A constraint, a force or a potential energy may be a formula. Its derivatives are computed on the tape of its
operations, so they need not be written, and nothing is compiled for a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

from ..errors import ModelError, unknown
from ..expressions.evaluate import evaluate, names_in, number, refuse_ambiguous, substitute
from ..expressions.function import Function, constant_function, tree_function
from ..expressions.syntax import Call, Chain, Name, Node, Number, Unary, to_text
from ..expressions.tape import fold
from ..expressions.vocabulary import Vocabulary
from .curves.contact_arrays import Contact
from .measure import Measure
from .measure_text import ChannelExpression, linear_parts, measure_of, parse_channels

POSITION, VELOCITY = 0, 1


@final
@dataclass(frozen=True, eq=False)
class Formula:
    """g of the variables u_1, ud_1, ..., u_p, ud_p, t. Made by `formula_of`; never changes."""

    text: str
    measures: tuple[Measure, ...]
    """u_1, ..., u_p: one term of weight one each."""
    variables: tuple[str, ...] = field(repr=False)
    tree: Node = field(repr=False)
    function: Function = field(repr=False)
    contact: Contact | None = field(default=None, repr=False)
    """Set for the gap of a contact with a curve; the function is then empty."""

    @property
    def level(self) -> int:
        """VELOCITY if it reads a rate."""
        return VELOCITY if names_in(self.tree) & set(self.variables[1:-1:2]) else POSITION

    @property
    def reads_time(self) -> bool:
        return "t" in names_in(self.tree)

    @property
    def is_homogeneous(self) -> bool:
        """Zero wherever all rates are zero: a velocity constraint that allows rest."""
        still: dict[str, Node] = {rate: Number(0.0) for rate in self.variables[1:-1:2]}
        return _vanishes(substitute(self.tree, still))

    def __deepcopy__(self, memo: object) -> Formula:
        return self


def formula_of(
    text: str,
    parameters: Mapping[str, float],
    placed: Callable[[Measure], Measure],
    words: Vocabulary | None = None,
) -> Formula:
    """The formula of a text; `placed` finds the frames of a measure."""
    expression = parse_channels(text, words)
    _check_names(expression, parameters)
    measures = tuple(placed(measure) for measure in expression.measures)
    known: dict[str, Node] = {name: Number(number(value)) for name, value in parameters.items()}
    tree = fold(substitute(expression.tree, known))
    return Formula(
        text.strip(), measures, tuple(expression.variables), tree, tree_function(tree, f"'{text.strip()}'")
    )


def contact_formula(text: str, measures: Sequence[Measure], contact: Contact) -> Formula:
    """The gap of a contact as a formula; `text` says what it is."""
    variables = [f"{letter}{j}" for j in range(len(measures)) for letter in ("u", "ud")]
    nothing = constant_function(text, 0.0)
    return Formula(text, tuple(measures), (*variables, "t"), Number(0.0), nothing, contact)


def _check_names(expression: ChannelExpression, parameters: Mapping[str, float]) -> None:
    refuse_ambiguous(expression.tree, parameters)
    strange = names_in(expression.tree) - {*expression.variables, *parameters}
    problems = [
        f"'{expression.text.strip()}' names '{name}', which is neither a channel such as crank.x, crank.A.y, "
        f"crank.phid or rate(distance(a.P, b.Q)), nor a parameter, nor t. {unknown('parameter', name, parameters)}"
        for name in sorted(strange)
    ]
    if problems:
        raise ModelError(problems)


# Weighted sums ----------------------------------------------------------------------------------------


class WeightedSum(NamedTuple):
    """sum_j weight_j u_j - value(t): such a formula is an ordinary row, which costs less."""

    measure: Measure
    value: Function


def weighted_sum(formula: Formula) -> WeightedSum | None:
    """The formula as a weighted sum with constant weights; None if it is not one."""
    parts = linear_parts(formula.tree, set(formula.variables[:-1]))
    if parts is None:
        return None
    weights, rest = parts
    measure = measure_of(weights, formula.variables[:-1:2], formula.measures)
    measure = Measure(tuple(term for term in measure.terms if term.weight != 0.0))
    total = Chain(Number(0.0), tuple(("+", Chain(Number(-w), (("*", node),))) for w, node in rest))
    return WeightedSum(measure, tree_function(total, f"'{to_text(fold(total))}'"))


def _vanishes(node: Node) -> bool:
    """Zero by its structure, whatever the values of the names in it."""
    if not names_in(node):
        return bool(evaluate(node, {}) == 0.0)
    match node:
        case Unary("-", operand):
            return _vanishes(operand)
        case Chain(first, rest) if rest[0][0] in "+-":
            return _vanishes(first) and all(_vanishes(part) for _, part in rest)
        case Chain(first, rest) if rest[0][0] in "*/":
            return _vanishes(first) or any(_vanishes(part) for operator, part in rest if operator == "*")
        case Call("piecewise", args):
            return all(_vanishes(part) for part in (*args[1::2], args[-1]))
    return False


# Rates ------------------------------------------------------------------------------------------------


def check_linear_in_rates(formula: Formula) -> None:
    """A velocity constraint is a sum of rates times functions of positions and time."""
    degree = _degree(formula.tree, set(formula.variables[1:-1:2]))
    if degree is None or degree > 1:
        raise ModelError(
            f"'{formula.text}' is not linear in the velocities. A velocity constraint is a sum of rates, each "
            "times a function of positions and t, such as skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)."
        )


def _degree(node: Node, rates: set[str]) -> int | None:
    """Degree as a polynomial in the rates; None if it is not a polynomial."""
    if not names_in(node) & rates:
        return 0
    match node:
        case Name():
            return 1
        case Unary("-", operand):
            return _degree(operand, rates)
        case Chain(first, rest) if rest[0][0] in "+-":
            degrees = [_degree(part, rates) for part in (first, *(part for _, part in rest))]
            return None if None in degrees else max(degree or 0 for degree in degrees)
        case Chain(first, rest) if rest[0][0] in "*/":
            degrees = [_degree(part, rates) for part in (first, *(part for op, part in rest if op == "*"))]
            divided = any(_degree(part, rates) != 0 for op, part in rest if op == "/")
            return None if None in degrees or divided else sum(degree or 0 for degree in degrees)
        case Call("piecewise", args):
            conditions = [_degree(part, rates) for part in args[:-1:2]]
            values = [_degree(part, rates) for part in (*args[1::2], args[-1])]
            return None if None in values or any(conditions) else max(value or 0 for value in values)
    return None
