"""Functions of time f(t) with f' and f'': numbers, expressions, tables and Python functions.

A model's functions are packed into flat arrays, and the pointer `varying_at` evaluates them in compiled code. Kernels
know the constants only, so that the many operations of expressions are compiled once, where a model needs them.
Where a function has no finite value the kernel gives nan; `Function.jet` at the same t then says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from ..errors import ModelError, ended
from ..numerics.contexts import holds_addresses
from ..numerics.kernel import Callback, call_address, kernel, owning
from ..numerics.kernel_pointer import bound, invoke, kernel_pointer
from .dual import Jet, differentiated
from .evaluate import NOTHING, Node, Number, check_names, evaluate, number, parse, refuse_hidden, substitute
from .programs import Program, compile_program, fold, run
from .table import Table, spline_at

__all__ = ["Function", "FunctionTable", "Jet", "Table", "as_function", "functions_at", "pack"]

CONSTANT, PROGRAM, SPLINE, PERIODIC_SPLINE, CALLBACK = 0, 1, 2, 3, 4
EVERYWHERE = (-math.inf, math.inf)


@final
@dataclass(frozen=True, eq=False)
class Function:
    """f(t) with f' and f''. Made by `as_function`; never changes."""

    text: str
    kind: int
    domain: tuple[float, float] = EVERYWHERE
    constant: float = 0.0
    variable: str = "t"
    node: Node | None = field(default=None, repr=False)
    program: Program | None = field(default=None, repr=False)
    table: Table | None = field(default=None, repr=False)
    callback: Callback | None = field(default=None, repr=False)
    breaks: tuple[float, ...] | None = field(default=None, repr=False)
    """The times at which a Python function is told to jump or bend; None where nothing is told."""

    @property
    def is_constant(self) -> bool:
        return self.kind == CONSTANT

    def __call__(self, t: float) -> float:
        """f(t); a ModelError where f has no finite value."""
        return self._checked(t, 1)[0]

    def jet(self, t: float) -> tuple[float, float, float]:
        """f(t), f'(t), f''(t); a ModelError where one of them is not finite."""
        value, first, second = self._checked(t, 3)
        return value, first, second

    def _checked(self, t: float, count: int) -> tuple[float, ...]:
        t = number(t)
        with np.errstate(all="ignore"):  # without JIT NumPy would warn of what is told below
            # a stack of its own: other threads may ask too
            packed = self._packed._replace(stack=np.empty_like(self._packed.stack))
            result = function_at(packed, 0, t)
        if not all(math.isfinite(part) for part in result[:count]):
            raise self._no_value(t)
        return tuple(float(part) for part in result)

    @cached_property
    def _packed(self) -> Functions:
        return as_arrays([self])

    def _no_value(self, t: float) -> ModelError:
        """The reason why a value or a derivative at t is not finite."""
        where = f"at {self.variable} = {t:g}"
        if self.table is not None:
            first, last = self.domain
            return ModelError(
                f"{self.text} ends: {where} is outside {first:g} to {last:g}. Add points, or repeat it."
            )
        if self.callback is not None and self.callback.raised is not None:
            error = self.callback.raised
            return ModelError(f"{self.text} raised {type(error).__name__} {where}: {ended(error)}")
        if self.node is not None:
            try:
                evaluate(self.node, {self.variable: t})
            except ModelError as error:
                return ModelError(f"{self.text} has no value {where}: {error}")
        return ModelError(f"{self.text} or one of its derivatives is not finite {where}.")

    def __deepcopy__(self, memo: object) -> Function:
        return self  # it never changes, and the address of a callback cannot be copied

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_packed"}


def as_function(value: object, parameters: Mapping[str, float] = NOTHING, *, variable: str = "t") -> Function:
    """A Function of a number, an expression, a Table, a callable f(t), or three callables (f, fd, fdd)."""
    if isinstance(value, Function):
        return value
    if isinstance(value, str):
        return _from_expression(value, parameters, variable)
    if isinstance(value, Table):
        return _from_table(value, variable)
    if isinstance(value, tuple):
        return _from_three(value)
    if callable(value):
        name = _name_of(value)
        return Function(
            f"the function {name}",
            CALLBACK,
            callback=Callback(differentiated(value, name)),
            breaks=declared_breaks(value),
        )
    constant = number(value)
    return Function(f"{constant:g}", CONSTANT, constant=constant)


def _from_expression(text: str, parameters: Mapping[str, float], variable: str) -> Function:
    tree = parse(text)
    check_names(tree, [variable, *parameters])
    refuse_hidden(tree, [variable], parameters)
    known: dict[str, Node] = {
        name: Number(number(value)) for name, value in parameters.items() if name != variable
    }
    tree = fold(substitute(tree, known))
    shown = f"'{text.strip()}'"
    if isinstance(tree, Number):
        return Function(shown, CONSTANT, constant=tree.value)
    return Function(shown, PROGRAM, variable=variable, node=tree, program=compile_program(tree, [variable]))


def _from_table(table: Table, variable: str) -> Function:
    if table.of not in ("", variable):
        raise ModelError(
            f"the table is one of '{table.of}', but a function of {variable} is needed here. "
            "Write Table(times=..., values=...) for a function of time."
        )
    first, last = table.times[0], table.times[-1]
    text = f"the table of {len(table.times)} points from {first:g} to {last:g}"
    if table.periodic:
        return Function(text, PERIODIC_SPLINE, table=table)
    return Function(text, SPLINE, domain=(first, last), table=table)


def _from_three(three: tuple[object, ...]) -> Function:
    functions = [function for function in three if callable(function)]
    if len(three) != 3 or len(functions) != 3:
        raise ModelError(f"a function with its derivatives is three functions (f, fd, fdd), found {three!r}.")
    for function in functions:
        _check_number_from(function)
    return Function(
        f"the functions {', '.join(map(_name_of, functions))}",
        CALLBACK,
        callback=Callback(_Checked(functions)),
        breaks=declared_breaks(functions[0]),
    )


def declared_breaks(function: object) -> tuple[float, ...] | None:
    """The times that `function.breaks` tells; None where it is not there."""
    told = getattr(function, "breaks", None)
    if told is None:
        return None
    try:
        return tuple(sorted(number(t) for t in told))
    except (TypeError, ModelError) as error:
        raise ModelError(
            f"the breaks of the function {_name_of(function)} are {told!r}; a list of times is needed: {error}"
        ) from None


class Derivatives:
    """d(t, k): the k-th of the functions f, fd, fdd at t."""

    def __init__(self, functions: Sequence[Callable[[float], Any]]) -> None:
        self.functions = functions

    def __call__(self, t: float, k: int) -> float:
        return float(self.functions[k](t))


@final
class _Checked(Derivatives):
    """Those of a user, who may return anything."""

    def __call__(self, t: float, k: int) -> float:
        return number(self.functions[k](t))


def _check_number_from(function: Callable[[float], Any]) -> None:
    try:
        number(function(0.0))
    except Exception as error:
        raise ModelError(
            f"the function {_name_of(function)} raised {type(error).__name__} at 0: {error}"
        ) from error


def _name_of(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


# Flat arrays for kernels ------------------------------------------------------------------------------


class Functions(NamedTuple):
    """All functions of a model, in few arrays because every array passed to a kernel costs time.

    Row i of `functions` is KIND, START, STOP, HEIGHT, ADDRESS. The function owns start..stop-1 of the tape:
    the codes and operands of a program; or in `numbers` alone its constant, or its knots and coefficients.
    """

    functions: np.ndarray  # int64, (n, 5)
    codes: np.ndarray  # int64, (m,)
    numbers: np.ndarray  # float64, (m,)
    stack: np.ndarray  # float64, scratch for the highest program


@holds_addresses
class FunctionTable(NamedTuple):
    """The functions, and the kernel pointer to those that are no constants; 0 where there are none."""

    functions: np.ndarray
    codes: np.ndarray  # like the stack, here only to be kept alive
    numbers: np.ndarray
    stack: np.ndarray
    varying_f: Any
    varying_c: Any
    kept: Any


KIND, START, STOP, HEIGHT, ADDRESS = 0, 1, 2, 3, 4


def pack(functions: Sequence[Function]) -> FunctionTable:
    """The functions for kernels."""
    arrays = as_arrays(functions)
    constant = all(function.kind == CONSTANT for function in functions)
    return FunctionTable(*arrays, *bound(varying_at, arrays, not constant))


def as_arrays(functions: Sequence[Function]) -> Functions:
    rows: list[tuple[int, ...]] = []
    codes: list[int] = []
    numbers: list[float] = []
    for function in functions:
        start = len(codes)
        program = _tape(function)
        codes += program.codes
        numbers += program.operands
        address = function.callback.address if function.callback else 0
        rows.append((function.kind, start, len(codes), program.height, address))
    return Functions(
        functions=owning(
            np.array(rows, dtype=np.int64).reshape(-1, 5), [f.callback for f in functions if f.callback]
        ),
        codes=np.array(codes, dtype=np.int64),
        numbers=np.array(numbers, dtype=np.float64),
        stack=np.empty(3 * max((row[HEIGHT] for row in rows), default=0)),
    )


def _tape(function: Function) -> Program:
    """What the function writes on the tape; a constant and a table write numbers only."""
    if function.program:
        return function.program
    numbers = (function.constant,)
    if function.table:
        numbers = (*function.table.times, *function.table.coefficients().ravel().tolist())
    return Program((0,) * len(numbers), numbers, 0)


@kernel
def function_at(table, index, t):
    """f, f', f'' of one function at t; nan where it has no value."""
    kind = table.functions[index, KIND]
    start, stop = table.functions[index, START], table.functions[index, STOP]
    if kind == CONSTANT:
        return table.numbers[start], 0.0, 0.0
    if kind == PROGRAM:
        z = table.stack
        z[0], z[1], z[2] = t, 1.0, 0.0
        i = run(table.codes, table.numbers, start, stop, z, 0)
        return z[i], z[i + 1], z[i + 2]
    if kind == CALLBACK:
        address = table.functions[index, ADDRESS]
        return call_address(address, t, 0), call_address(address, t, 1), call_address(address, t, 2)  # type: ignore
    return spline_at(table.numbers, start, stop, kind == PERIODIC_SPLINE, t)


@kernel_pointer
def varying_at(table, t, y, out):
    """f, f', f'' of every function that is no constant, three numbers each."""
    for i in range(out.size // 3):
        if table.functions[i, KIND] != CONSTANT:
            out[3 * i], out[3 * i + 1], out[3 * i + 2] = function_at(table, i, t)


@kernel(inline=True)
def functions_at(table, t, f):
    """f, f', f'' of every function at t into the rows of f."""
    functions, numbers, varying = table.functions, table.numbers, False
    for i in range(f.shape[0]):
        if functions[i, KIND] == CONSTANT:
            f[i, 0], f[i, 1], f[i, 2] = numbers[functions[i, START]], 0.0, 0.0
        else:
            varying = True
    if varying:
        invoke(table.varying_f, table.varying_c, t, f, f)
