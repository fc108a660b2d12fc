"""Functions of time, laws of forces and formulas are one thing: g of a few variables, with exact derivatives.

If a function has no finite value, kernels return nan; `Function.jet` at the same t then says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np

from ..errors import ModelError, ended
from ..numerics.kernel import Callback
from .dual import differentiated
from .evaluate import NOTHING, check_names, evaluate, number, refuse_ambiguous, refuse_hidden, substitute
from .function_table import (
    ALONG,
    CALLBACK,
    CONSTANT,
    LINEAR,
    PERIODIC_SPLINE,
    SPLINE,
    TAPE,
    VALUE_CALLBACK,
    Functions,
    as_arrays,
    evaluate_function,
    new_scratch,
)
from .parser import LONGEST_KEPT, MOST_KEPT, parse
from .recorded import is_recorded
from .syntax import Node, Number
from .table import Table
from .tape import Tape, compile_tape, fold
from .vocabulary import Vocabulary

EVERYWHERE = (-math.inf, math.inf)


@final
@dataclass(frozen=True, eq=False)
class Function:
    """g of the variables that it reads. Made by `as_function`, `as_law` and `formula_of`; never changes."""

    text: str
    kind: int
    reads: tuple[str, ...] = ()
    numbers: tuple[float, ...] = field(default=(), repr=False)
    domain: tuple[float, float] = EVERYWHERE
    """The times at which a function of time has a value."""
    tree: Node | None = field(default=None, repr=False)
    tape: Tape | None = field(default=None, repr=False)
    table: Table | None = field(default=None, repr=False)
    callback: Callback | None = field(default=None, repr=False)
    breaks: tuple[float, ...] | None = field(default=None, repr=False)
    """The times at which a Python function is said to jump or bend; None where nothing is said."""

    @property
    def is_constant(self) -> bool:
        return self.kind == CONSTANT

    @property
    def is_zero(self) -> bool:
        return self.kind == CONSTANT and self.constant == 0.0

    @property
    def is_linear(self) -> bool:
        """k (s - free) + c sd; `numbers` are k, c and free."""
        return self.kind == LINEAR

    @property
    def of_time(self) -> bool:
        """Whether it depends on nothing but time."""
        return set(self.reads) <= {"t"} and self.kind not in (LINEAR, VALUE_CALLBACK)

    @property
    def reads_time(self) -> bool:
        """Whether it is known to change with time; of a Python law nothing is known."""
        return "t" in self.reads and self.kind != VALUE_CALLBACK

    @property
    def constant(self) -> float:
        """The value of a constant; 0 for other functions."""
        return self.numbers[0] if self.kind == CONSTANT else 0.0

    def __call__(self, t: float) -> float:
        """The value of a function of one variable; a ModelError where it is not finite."""
        return self._checked(t, 1)[0]

    def jet(self, t: float) -> tuple[float, float, float]:
        """f(t), f'(t), f''(t); a ModelError where one of them is not finite."""
        value, first, second = self._checked(t, 3)
        return value, first, second

    def _checked(self, t: float, count: int) -> tuple[float, ...]:
        t, out = number(t), new_scratch(self._arrays).results
        with np.errstate(all="ignore"):  # without JIT NumPy would warn of what is reported below
            evaluate_function(self._arrays, 0, ALONG, np.array([t]), out)
        values = out[:3].tolist()
        if not all(map(math.isfinite, values[:count])):
            raise self._no_value(t)
        return tuple(values)

    @cached_property
    def _arrays(self) -> Functions:
        return as_arrays([self], order=ALONG)

    def _no_value(self, t: float) -> ModelError:
        """The reason why a value or a derivative at t is not finite."""
        variable = self.reads[0] if self.reads else "t"
        where = f"at {variable} = {t:g}"
        if self.table is not None:
            first, last = self.domain
            return ModelError(
                f"{self.text} ends: {where} is outside {first:g} to {last:g}. Add points, or repeat it."
            )
        if self.callback is not None and self.callback.raised is not None:
            error = self.callback.raised
            return ModelError(f"{self.text} raised {type(error).__name__} {where}: {ended(error)}")
        if self.tree is not None:
            try:
                evaluate(self.tree, {variable: t})
            except ModelError as error:
                return ModelError(f"{self.text} has no value {where}: {error}")
        return ModelError(f"{self.text} or one of its derivatives is not finite {where}.")

    def __deepcopy__(self, memo: object) -> Function:
        return self  # it never changes, and the address of a callback cannot be copied

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_arrays"}


def constant_function(text: str, value: float) -> Function:
    return Function(text, CONSTANT, numbers=(value,))


def expression_function(
    tree: Node, text: str, variables: tuple[str, ...], parameters: Mapping[str, float]
) -> Function:
    """The function of an expression in the variables."""
    refuse_ambiguous(tree, (*variables, *parameters))
    if not tree.names <= {*variables}:
        check_names(tree, [*variables, *parameters])
    refuse_hidden(tree, variables, parameters)
    used = sorted(tree.names.difference(variables))
    if is_recorded(*(parameters[name] for name in used)):
        return _function_of(tree, text, {name: number(parameters[name]) for name in used})
    values = tuple((name, number(parameters[name]).hex()) for name in used)  # which tells 0 from -0
    make = _kept_function if len(text) <= LONGEST_KEPT else _function_with
    return make(tree, text, values)


def _function_with(tree: Node, text: str, values: tuple[tuple[str, str], ...]) -> Function:
    return _function_of(tree, text, {name: float.fromhex(value) for name, value in values})


def _function_of(tree: Node, text: str, values: Mapping[str, float]) -> Function:
    known: dict[str, Node] = {name: Number(value) for name, value in values.items()}
    return tree_function(substitute(tree, known), f"'{text.strip()}'")


_kept_function = lru_cache(maxsize=MOST_KEPT)(_function_with)
"""Variants of a model share the functions in which no parameter has changed. Functions never change."""


def tree_function(tree: Node, text: str) -> Function:
    """The function of an expression whose names are all variables."""
    tree = fold(tree)
    if isinstance(tree, Number):
        return constant_function(text, tree.value)
    tape = compile_tape(tree)
    return Function(text, TAPE, tape.reads, tape.numbers, tree=tree, tape=tape)


def table_function(table: Table, text: str, domain: tuple[float, float] = EVERYWHERE) -> Function:
    """The spline through the points of a table."""
    kind = PERIODIC_SPLINE if table.periodic else SPLINE
    return Function(text, kind, (table.variable,), table.numbers, domain, table=table)


def python_function(
    callback: Callback, text: str, domain: tuple[float, float] = EVERYWHERE, **more: Any
) -> Function:
    """A Python function of time whose callback gives the derivatives, too."""
    return Function(text, CALLBACK, ("t",), domain=domain, callback=callback, **more)


def name_of(function: object) -> str:
    """What a Python function is called."""
    return str(getattr(function, "__name__", type(function).__name__))


def declared_breaks(function: object) -> tuple[float, ...] | None:
    """The times that `function.breaks` names; None where it is not there."""
    given = getattr(function, "breaks", None)
    if given is None:
        return None
    try:
        return tuple(sorted(number(t) for t in given))
    except (TypeError, ModelError) as error:
        raise ModelError(
            f"the breaks of the function {name_of(function)} are {given!r}; a list of times is needed: {error}"
        ) from None


# Functions of time ------------------------------------------------------------------------------------


def as_function(
    value: object,
    parameters: Mapping[str, float] = NOTHING,
    *,
    variable: str = "t",
    words: Vocabulary | None = None,
) -> Function:
    """A Function of a number, an expression, a Table, a callable f(t), or three callables (f, fd, fdd)."""
    if isinstance(value, Function):
        return value
    if isinstance(value, str):
        tree = parse(value) if words is None else words.parse(value)
        return expression_function(tree, value, (variable,), parameters)
    if isinstance(value, Table):
        return _from_table(value, variable)
    if isinstance(value, tuple):
        return _from_three(value)
    if callable(value):
        name = name_of(value)
        callback = Callback(differentiated(value, name))
        return python_function(callback, f"the function {name}", breaks=declared_breaks(value))
    constant = number(value)
    return constant_function(f"{constant:g}", constant)


def _from_table(table: Table, variable: str) -> Function:
    if table.of not in ("", variable):
        raise ModelError(
            f"the table is one of '{table.of}', but a function of {variable} is needed here. "
            "Write Table(times=..., values=...) for a function of time."
        )
    first, last = table.times[0], table.times[-1]
    text = f"the table of {len(table.times)} points from {first:g} to {last:g}"
    return table_function(table, text, EVERYWHERE if table.periodic else (first, last))


def _from_three(three: tuple[object, ...]) -> Function:
    functions = [function for function in three if callable(function)]
    if len(three) != 3 or len(functions) != 3:
        raise ModelError(f"a function with its derivatives is three functions (f, fd, fdd), found {three!r}.")
    for function in functions:
        _check_number_from(function)
    text = f"the functions {', '.join(map(name_of, functions))}"
    return python_function(Callback(_Checked(functions)), text, breaks=declared_breaks(functions[0]))


class Derivatives:
    """d(t, k): the k-th of the functions f, fd, fdd at t."""

    def __init__(self, functions: Sequence[Callable[[float], Any]]) -> None:
        self.functions = functions

    def __call__(self, t: float, k: int) -> float:
        return float(self.functions[k](t))


@final
class _Checked(Derivatives):
    """The functions of a user, which may return anything."""

    def __call__(self, t: float, k: int) -> float:
        return number(self.functions[k](t))


def _check_number_from(function: Callable[[float], Any]) -> None:
    try:
        number(function(0.0))
    except Exception as error:
        raise ModelError(
            f"the function {name_of(function)} raised {type(error).__name__} at 0: {error}"
        ) from error
