"""Laws: g of a few variables, with its partial derivatives. What a force element pushes with.

A push on a measure has the variables s, sd, t; a force on a body those of the body's own state and t. A law is
linear, an expression, a table of one variable, a function of time alone, or a Python function. The last is
differentiated by central differences, all others exactly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from ..errors import ModelError, UnsupportedError, listed
from ..numerics.contexts import holds_addresses
from ..numerics.kernel import Callback, call_address, kernel, owning
from ..numerics.kernel_pointer import bound, invoke, kernel_pointer
from .evaluate import Node, Number, check_names, names_in, number, parse, refuse_hidden, substitute
from .programs import Program, compile_program, fold, run
from .table import Table, spline_at
from .time_function import Function, as_function, declared_breaks

STATE = ("x", "y", "phi", "xd", "yd", "phid", "t")
PUSH = ("s", "sd", "t")

TIME, LINEAR, PROGRAM, TABLE, CALLBACK = range(5)


@final
@dataclass(frozen=True, eq=False)
class Law:
    """g(variables). Made by `as_law` and `linear_law`; never changes."""

    text: str
    kind: int
    time: Function | None = None
    """Added to every law: what it is at a given time, whatever the state."""
    numbers: tuple[float, ...] = ()
    program: Program | None = field(default=None, repr=False)
    callback: Callback | None = field(default=None, repr=False)
    tree: Node | None = field(default=None, repr=False)
    """The expression of a law that is one of the state."""
    table: Table | None = field(default=None, repr=False)
    of: int = 0
    """Of which variable it is a table."""
    breaks: tuple[float, ...] | None = field(default=None, repr=False)
    """The times at which a Python law is told to jump or bend; None where nothing is told."""

    @property
    def packed(self) -> int:
        """What a kernel needs besides the tape: an address, or of a table its variable and whether it repeats."""
        if self.table is not None:
            return 2 * self.of + int(self.table.periodic)
        return self.callback.address if self.callback else 0

    def __deepcopy__(self, memo: object) -> Law:
        return self


def linear_law(stiffness: float, damping: float, free: float, actuator: Function) -> Law:
    """k (s - free) + c sd + h(t)."""
    return Law("a linear law", LINEAR, actuator, (stiffness, damping, free))


def as_law(value: object, variables: Sequence[str], parameters: Mapping[str, float]) -> Law:
    """A law of a number, an expression, a Table, a time Function or a callable of the variables."""
    if isinstance(value, Law):
        return value
    if isinstance(value, Table):
        return _from_table(value, variables)
    if isinstance(value, str):
        return _from_expression(value, variables, parameters)
    if callable(value) and not isinstance(value, Function):
        name = str(getattr(value, "__name__", type(value).__name__))
        callback = value_callback(value, len(variables))
        breaks = declared_breaks(value)
        return Law(f"the function {name}", CALLBACK, as_function(0.0), callback=callback, breaks=breaks)
    return Law("a function of time", TIME, as_function(value, parameters))


def _from_table(table: Table, variables: Sequence[str]) -> Law:
    """A table of time, or of one of the variables. On a measure, where either may be meant, it has to say which."""
    if table.variable not in variables or (not table.of and "s" in variables):
        known = listed([*variables], 10)
        raise ModelError(
            f"the table is one of {f'{table.of!r}' if table.of else 'time'}; the variables of this law are {known}. "
            f'Write Table(of="{variables[0]}", points=..., values=...), in a file {{of: {variables[0]}, points: [...], '
            'values: [...]}, for a law of that variable, and Table(of="t", points=..., values=...) for one of time.'
        )
    if table.variable == "t":
        return Law("a table of time", TIME, as_function(table))
    numbers = (*table.times, *table.coefficients().ravel().tolist())
    return Law(
        f"a table of {table.of}", TABLE, as_function(0.0), numbers, table=table, of=variables.index(table.of)
    )


def _from_expression(text: str, variables: Sequence[str], parameters: Mapping[str, float]) -> Law:
    return expression_law(parse(text), text, variables, parameters)


def expression_law(tree: Node, text: str, variables: Sequence[str], parameters: Mapping[str, float]) -> Law:
    """The law of an expression in the variables, of which the last is t."""
    check_names(tree, [*variables, *parameters])
    refuse_hidden(tree, variables, parameters)
    known: dict[str, Node] = {n: Number(number(v)) for n, v in parameters.items() if n not in variables}
    tree = fold(substitute(tree, known))
    if not names_in(tree) - {"t"}:
        return Law(f"'{text.strip()}'", TIME, as_function(text, parameters))
    program = compile_program(tree, list(variables))
    return Law(f"'{text.strip()}'", PROGRAM, as_function(0.0), program=program, tree=tree)


def value_callback(function: Callable[..., Any], count: int) -> Callback:
    """Calls function(*variables); the kernel passes the address of the array of variables."""
    return Callback(_AtAddress(function, count))


class _AtAddress:
    """A function of variables that lie at an address."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self.function, self.count = function, count

    def __call__(self, t: float, address: int) -> float:
        values = tuple((ctypes.c_double * self.count).from_address(address))
        result = float(self.function(*values))
        if not np.isfinite(result):
            raise ModelError(f"its value is {result} at {values}.")
        return result


def body_law(law: Any, component: int, title: str) -> Law:
    """One component of a Python law (t, q, qd) of a body's state."""
    if not callable(law):
        raise UnsupportedError(
            f"{title} follows the law '{law}', for which no Python function was given. "
            f"Load the model with functions={{'{law}': f}}, f(t, q, qd)."
        )
    name, part = str(getattr(law, "__name__", type(law).__name__)), _Component(law, component)
    callback = value_callback(part, len(STATE))
    return Law(
        f"the function {name}", CALLBACK, as_function(0.0), callback=callback, breaks=declared_breaks(law)
    )


class _Component:
    """One component of a law (t, q, qd) as a function of a body's state."""

    def __init__(self, law: Callable[..., Any], component: int) -> None:
        self.law, self.component = law, component

    def __call__(self, x: float, y: float, phi: float, xd: float, yd: float, phid: float, t: float) -> float:
        force = self.law(t, np.array([x, y, phi]), np.array([xd, yd, phid]))
        return float(np.atleast_1d(force)[self.component])


class LawArrays(NamedTuple):
    """All laws of a model. Row i of `laws`: kind, start, stop, height, `Law.packed`, index of the time function."""

    laws: np.ndarray
    codes: np.ndarray
    numbers: np.ndarray
    stack: np.ndarray  # scratch for the highest program


@holds_addresses
class CompiledLaws(NamedTuple):
    """The laws, and the pointer to those that are tables, expressions or Python functions; 0 where there are none."""

    laws: np.ndarray
    codes: np.ndarray  # like the stack, here only to be kept alive
    numbers: np.ndarray
    stack: np.ndarray
    found: np.ndarray  # scratch: value and partial derivatives of a curved law
    curved_f: Any
    curved_c: Any
    kept: Any


KIND, START, STOP, HEIGHT, ADDRESS, FUNCTION = range(6)


def pack_laws(laws: Sequence[Law], first_function: int) -> CompiledLaws:
    """The laws as arrays; the time function of law i has the index first_function + i."""
    rows: list[tuple[int, ...]] = []
    codes: list[int] = []
    numbers: list[float] = []
    for i, law in enumerate(laws):
        tape = law.program or Program((0,) * len(law.numbers), law.numbers, 0)
        rows.append(
            (law.kind, len(codes), len(codes) + len(tape.codes), tape.height, law.packed, first_function + i)
        )
        codes += tape.codes
        numbers += tape.operands
    all_of_them = LawArrays(
        owning(np.array(rows, dtype=np.int64).reshape(-1, 6), [law.callback for law in laws if law.callback]),
        np.array(codes, dtype=np.int64),
        np.array(numbers, dtype=float),
        np.empty(3 * max((row[HEIGHT] for row in rows), default=0)),
    )
    curved = any(law.kind not in (TIME, LINEAR) for law in laws)
    return CompiledLaws(*all_of_them, np.zeros(1 + len(STATE)), *bound(curved_at, all_of_them, curved))


@kernel(inline=True)
def law_value(table, index, f, z):
    """Value of a law at the variables z. f holds the functions of time."""
    laws, numbers = table.laws, table.numbers
    kind, start = laws[index, KIND], laws[index, START]
    value = f[laws[index, FUNCTION], 0]
    if kind == TIME:
        return value
    if kind == LINEAR:  # k (s - free) + c sd
        return value + numbers[start] * (z[0] - numbers[start + 2]) + numbers[start + 1] * z[1]
    invoke(table.curved_f, table.curved_c, float(index), z, table.found[:1])
    return value + table.found[0]


@kernel
def law_slopes(table, index, z, g):
    """Partial derivatives of a law into g."""
    kind, start, n = table.laws[index, KIND], table.laws[index, START], z.size
    for k in range(n):
        g[k] = 0.0
    if kind == LINEAR:
        g[0], g[1] = table.numbers[start], table.numbers[start + 1]
    elif kind != TIME:
        invoke(table.curved_f, table.curved_c, float(index), z, table.found[: 1 + n])
        for k in range(n):
            g[k] = table.found[1 + k]


@kernel_pointer
def curved_at(table, number, z, out):
    """Value of a curved law at the variables z and, where there is room for them, its partial derivatives.

    The number of the law comes in place of the time, which is the last of the variables.
    """
    index = int(number)
    out[0] = curved_law(table, index, z)
    if out.size > 1:
        curved_slopes(table, index, z, out[1:])


@kernel
def curved_law(table, index, z):
    laws = table.laws
    kind, start, stop = laws[index, KIND], laws[index, START], laws[index, STOP]
    if kind == TABLE:
        of = laws[index, ADDRESS]
        return spline_at(table.numbers, start, stop, of % 2 == 1, z[of // 2])[0]
    if kind == PROGRAM:
        return program_law(table, index, z, -1)[0]
    return call_address(laws[index, ADDRESS], 0.0, z.ctypes.data)


@kernel
def curved_slopes(table, index, z, g):
    laws, n = table.laws, z.size
    kind, start, stop = laws[index, KIND], laws[index, START], laws[index, STOP]
    for k in range(n):
        g[k] = 0.0
    if kind == TABLE:
        of = laws[index, ADDRESS]
        g[of // 2] = spline_at(table.numbers, start, stop, of % 2 == 1, z[of // 2])[1]
    elif kind == PROGRAM:
        for k in range(n - 1):  # t is the last variable, and nobody needs its derivative
            g[k] = program_law(table, index, z, k)[1]
    elif kind == CALLBACK:
        callback_slopes(laws[index, ADDRESS], z, g)


@kernel
def program_law(table, index, z, seed):
    """Value of an expression, and its derivative by the variable `seed`."""
    stack, n = table.stack, z.size
    for k in range(n):
        stack[3 * k], stack[3 * k + 1], stack[3 * k + 2] = z[k], 1.0 if k == seed else 0.0, 0.0
    at = run(
        table.codes, table.numbers, table.laws[index, START], table.laws[index, STOP], stack, 3 * (n - 1)
    )
    return stack[at], stack[at + 1]


@kernel
def callback_slopes(address, z, g):
    """Derivatives of a Python law by central differences."""
    for k in range(z.size - 1):
        here = z[k]
        step = 6.0e-6 * max(1.0, abs(here))
        z[k] = here + step
        after = call_address(address, 0.0, z.ctypes.data)
        z[k] = here - step
        g[k] = (after - call_address(address, 0.0, z.ctypes.data)) / (2.0 * step)
        z[k] = here
