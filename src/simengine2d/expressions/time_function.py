"""Functions of time f(t) with f' and f'', made of numbers, expressions, tables and Python functions.

If a function has no finite value, kernels return nan; `Function.jet` at the same t then says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from ..errors import ModelError
from ..numerics.kernel import Callback
from .dual import differentiated
from .evaluate import NOTHING, number, parse
from .function import (
    EVERYWHERE,
    Function,
    constant_function,
    declared_breaks,
    expression_function,
    name_of,
    python_function,
    table_function,
)
from .table import Table


def as_function(value: object, parameters: Mapping[str, float] = NOTHING, *, variable: str = "t") -> Function:
    """A Function of a number, an expression, a Table, a callable f(t), or three callables (f, fd, fdd)."""
    if isinstance(value, Function):
        return value
    if isinstance(value, str):
        return expression_function(parse(value), value, (variable,), parameters)
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
