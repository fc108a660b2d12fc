"""Formulas as users give them: text, a SymPy expression, or a Python function of symbols. All become text.

A SymPy expression has symbols named like channels: `sp.Symbol("rod.B.y")`. A function is called once, with a symbol for
each of its arguments, identified by its name: `lambda rod, sin: rod.B.y - 0.1*sin(3*rod.B.x)`.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable
from typing import Any, final

from ..errors import ModelError, ended
from ..expressions.operations import NUMPY_NAMES, ONE_ARGUMENT
from ..expressions.parser import DEEPEST, parse
from ..expressions.syntax import Call, Chain, Name, Node, Number, Unary, to_text, walk
from .frame import AT
from .measure import KINDS
from .measure_text import RATE

LARGEST = 10_000  # parts of a formula
EXAMPLE = "'rod.B.y - 0.1*sin(3*rod.B.x)'"


def formula_texts(given: Any, what: str) -> tuple[Any, ...]:
    """One or several formulas as text; numeric and parsed ones are returned unchanged."""
    if callable(given) and not _is_sympy(given):
        given = _called(given, what)
    parts = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not parts:
        raise ModelError(f"{what} is empty; write a formula such as {EXAMPLE}.")
    return tuple(formula_text(part, what) for part in parts)


def formula_text(given: Any, what: str) -> Any:
    """A formula as text; a parsed one is returned unchanged."""
    if isinstance(given, Symbol):
        _check_size(given.node, "parts", what)
        return _text(given.node, what)
    if _is_sympy(given):
        _check_size(given, "args", what)
        return _text(_from_sympy(given, what), what)
    if isinstance(given, numbers.Real) and not isinstance(given, bool):
        return to_text(Number(float(given)))
    if callable(given):
        return formula_text(_called(given, what), what)
    if isinstance(given, bool | bytes | dict) or given is None:
        raise ModelError(f"{what} is {given!r}; write a formula such as {EXAMPLE}.")
    return given


def texts_of(given: Any) -> list[str]:
    """Every formula of a field, as written; for components, also the channels."""
    if isinstance(given, dict):
        return [str(text) for pair in given.items() for text in pair]
    return [given] if isinstance(given, str) else list(given)


def _check_size(root: Any, parts: str, what: str) -> None:
    """Refuse expressions that become huge when written out: shared parts count each time they occur."""
    sizes: dict[int, int] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        below = getattr(node, parts, ())
        unknown = [part for part in below if id(part) not in sizes]
        if unknown:
            stack += unknown
            continue
        sizes[id(node)] = 1 + sum(sizes[id(part)] for part in below)
        stack.pop()
    if sizes[id(root)] > LARGEST:
        raise ModelError(
            f"{what} has {sizes[id(root)]:.3g} parts when written out; the limit is {LARGEST}. "
            "Split it into parameters, or use a table."
        )


def _text(node: Node, what: str) -> str:
    if max(depth for _, depth in walk(node)) > DEEPEST + 1:
        raise ModelError(f"{what} is nested more than {DEEPEST} levels deep. Split it into parameters.")
    return to_text(node)


# Functions of symbols ---------------------------------------------------------------------------------


@final
class Symbol:
    """A part of an expression. `rod.B.y` is a channel, `sin(...)` and `distance(rod.A, ...)` are calls by name."""

    node: Node
    __slots__ = ("node",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Node) -> None:
        object.__setattr__(self, "node", node)

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("_") or not isinstance(self.node, Name):
            raise AttributeError(f"a formula has no part '{name}'; bodies and points have")
        return Symbol(Name(f"{self.node.name}.{name}"))

    def __getitem__(self, name: str) -> Symbol:
        """A point of a body, also if its name is not a Python identifier: `rod["B 1"].x`."""
        return Symbol(Name(f"{_name_of(self.node)}.{name}"))

    def __call__(self, *arguments: Any) -> Symbol:
        return Symbol(Call(_name_of(self.node), tuple(_node(argument) for argument in arguments)))

    def __neg__(self) -> Symbol:
        return Symbol(Unary("-", self.node))

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol(Call("abs", (self.node,)))

    def __bool__(self) -> bool:
        raise ModelError(
            "a function of symbols cannot branch on them. Use piecewise(condition, value, otherwise), or min and max."
        )


def _name_of(node: Node) -> str:
    if not isinstance(node, Name):
        raise ModelError(f"'{to_text(node)}' is neither a body nor a function.")
    return node.name


def _node(value: Any) -> Node:
    if isinstance(value, Symbol):
        return value.node
    if isinstance(value, numbers.Real):
        return Number(float(value))
    raise ModelError(f"{value!r} cannot be part of a formula; use numbers and the function's arguments.")


def _infix(operator: str, reflected: bool = False) -> Callable[[Symbol, Any], Any]:
    def operation(self: Symbol, other: Any) -> Any:
        if not isinstance(other, Symbol | numbers.Real):
            return NotImplemented
        left, right = (_node(other), self.node) if reflected else (self.node, _node(other))
        # keep a long sum as one chain
        if isinstance(left, Chain) and operator in "+-" and left.rest[0][0] in "+-":
            return Symbol(Chain(left.first, (*left.rest, (operator, right))))
        return Symbol(Chain(left, ((operator, right),)))

    return operation


for _name, _operator in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "^",
}.items():  # fmt: skip
    setattr(Symbol, f"__{_name}__", _infix(_operator))
    setattr(Symbol, f"__r{_name}__", _infix(_operator, reflected=True))
for _name, _operator in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(Symbol, f"__{_name}__", _infix(_operator))
# np.sin(x) calls x.sin() on an object that is not an array
for _name in ONE_ARGUMENT:
    setattr(Symbol, NUMPY_NAMES.get(_name, _name), lambda self, name=_name: Symbol(Call(name, (self.node,))))


def _called(function: Callable[..., Any], what: str) -> Any:
    """What a function returns for symbols named after its arguments."""
    try:
        names = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        return function(*(Symbol(Name(name)) for name in names))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{what}: the function {getattr(function, '__name__', function)!s} raised {type(error).__name__}: "
            f"{ended(error)} It is called with symbols: use np.sin, or an argument named sin, instead of math.sin."
        ) from error


# SymPy ------------------------------------------------------------------------------------------------


def _is_sympy(given: Any) -> bool:
    return any(str(base.__module__).startswith("sympy.") for base in type(given).__mro__)


def _from_sympy(expression: Any, what: str) -> Node:
    """The tree of a SymPy expression; its symbols are channels, measures, parameters or t."""
    import sympy as sp

    others = {sp.Abs: "abs", sp.Min: "min", sp.Max: "max", sp.atan2: "atan2"}
    functions = {
        getattr(sp, name): name for name in ONE_ARGUMENT if name not in ("abs", "sqrt", "log10")
    } | others
    relations = {sp.Lt: "<", sp.Le: "<=", sp.Gt: ">", sp.Ge: ">=", sp.Eq: "==", sp.Ne: "!="}

    def tree(e: Any, depth: int = 0) -> Node:
        if depth > DEEPEST:
            raise ModelError(f"{what} is nested more than {DEEPEST} levels deep. Split it into parameters.")
        inner = [tree(part, depth + 1) for part in e.args] if not isinstance(e, sp.Piecewise) else []
        # names and numbers
        if e.is_Symbol:
            return parse(e.name, also=(AT, RATE, *KINDS)) if "(" in e.name else Name(e.name)
        if e.is_number and e.is_real:
            return Number(_finite(float(e), what))
        # operators
        if e.is_Add or e.is_Mul:
            operator = "+" if e.is_Add else "*"
            return Chain(inner[0], tuple((operator, part) for part in inner[1:]))
        if e.is_Pow:
            return Chain(inner[0], (("^", inner[1]),))
        # choices, comparisons and functions
        if isinstance(e, sp.Piecewise):
            pairs = [(tree(c, depth + 1), tree(v, depth + 1)) for v, c in e.args if c != sp.true]
            last = [tree(v, depth + 1) for v, c in e.args if c == sp.true]
            if last:
                return Call("piecewise", (*(part for pair in pairs for part in pair), last[0]))
        if type(e) in relations:
            return Chain(inner[0], ((relations[type(e)], inner[1]),))
        if e.func in functions:
            return Call(functions[e.func], tuple(inner))
        raise ModelError(f"{what}: SymPy's {e} has no counterpart in formulas. Use elementary functions.")

    return tree(sp.sympify(expression))


def _finite(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise ModelError(f"{what} contains a number that is too large; the largest is about 1.8e308.")
    return value
