"""Laws: the force of a force element, as a Function of its variables.

The law of a force along a measure has the variables s, sd, t; that of a force on a body those of the body's own state
and t. A law is linear, an expression, a table of one variable, a function of time alone, or a Python function. The last
is differentiated by central differences, all others exactly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, UnsupportedError, listed
from ..numerics.kernel import Callback
from .function import Function, as_function, declared_breaks, expression_function, name_of, table_function
from .function_table import LINEAR, VALUE_CALLBACK
from .parser import parse
from .table import Table
from .vocabulary import Vocabulary

STATE = ("x", "xd", "y", "yd", "phi", "phid", "t")
PUSH = ("s", "sd", "t")


def linear_law(stiffness: float, damping: float, free: float) -> Function:
    """k (s - free) + c sd."""
    return Function("a linear law", LINEAR, PUSH[:2], (stiffness, damping, free))


def as_law(
    value: object,
    variables: Sequence[str],
    parameters: Mapping[str, float],
    words: Vocabulary | None = None,
) -> Function:
    """A law of a number, an expression, a Table, a time Function or a callable of the variables."""
    if isinstance(value, Function):
        return value
    if isinstance(value, Table):
        return _from_table(value, variables)
    if isinstance(value, str):
        tree = parse(value) if words is None else words.parse(value)
        return expression_function(tree, value, tuple(variables), parameters)
    if callable(value):
        return _from_python(value, value, variables)
    return as_function(value)


def _from_table(table: Table, variables: Sequence[str]) -> Function:
    """A table of time, or of one of the variables. On a measure, where either may be meant, it has to say which."""
    if table.variable not in variables or (not table.of and "s" in variables):
        known = listed([*variables], 10)
        raise ModelError(
            f"the table is one of {f'{table.of!r}' if table.of else 'time'}; the variables of this law are {known}. "
            f'Write Table(of="{variables[0]}", points=..., values=...), in a file {{of: {variables[0]}, points: [...], '
            'values: [...]}, for a law of that variable, and Table(of="t", points=..., values=...) for one of time.'
        )
    if table.variable == "t":
        return as_function(table)
    return table_function(table, f"a table of {table.of}")


def _from_python(function: Any, given: object, variables: Sequence[str]) -> Function:
    callback = Callback(_AtAddress(function, len(variables)))
    text = f"the function {name_of(given)}"
    return Function(text, VALUE_CALLBACK, tuple(variables), callback=callback, breaks=declared_breaks(given))


class _AtAddress:
    """A function of variables stored at an address."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self.function, self.count = function, count

    def __call__(self, t: float, address: int) -> float:
        values = tuple((ctypes.c_double * self.count).from_address(address))
        result = float(self.function(*values))
        if not np.isfinite(result):
            raise ModelError(f"its value is {result} at {values}.")
        return result


def body_law(law: Any, component: int, title: str, shape: str) -> Function:
    """One component of a Python law (t, q, qd) of a body's state."""
    if not callable(law):
        raise UnsupportedError(
            f"{title} follows the law '{law}', which was not given. Load the model with laws={{'{law}': '{shape}'}}, "
            f"on the command line --law {law}='{shape}', with expressions of t, x, y, phi, xd, yd, phid, "
            "or with a Python function (t, q, qd)."
        )
    return _from_python(_Component(law, component), law, STATE)


class _Component:
    """One component of a law (t, q, qd) as a function of a body's state."""

    def __init__(self, law: Callable[..., Any], component: int) -> None:
        self.law, self.component = law, component

    def __call__(self, x: float, xd: float, y: float, yd: float, phi: float, phid: float, t: float) -> float:
        force = self.law(t, np.array([x, y, phi]), np.array([xd, yd, phid]))
        return float(np.atleast_1d(force)[self.component])
