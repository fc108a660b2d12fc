"""All functions of a model in a few constant arrays, and the one kernel that evaluates them.

A function g has the variables z = (u_1, ud_1, ..., u_p, ud_p, t): measures, their rates, and time. A function of time
has none but t, the law of a spring s, sd and t, a law of a body's state three measures, a formula those that it names.
Along the motion u_j changes by ud_j and t by one, so

    g' = sum_j g_uj ud_j + g_t,      g'' = sum_jk (g_uj)_uk ud_j ud_k + ... + g_tt,      without udd

The arrays never change. What an evaluation writes lies in a `Scratch` that the caller brings, one for each thread:
`results` begins with g, g', g'', the gradient by all variables, and the Hessian.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints, constant
from ..numerics.contexts import holds_addresses
from ..numerics.kernel import call_address, kernel, owning
from ..numerics.kernel_pointer import bound, invoke, kernel_pointer
from ..numerics.patterns import once_per_pattern
from .operations import NAN
from .table import spline_at
from .tape_kernels import FIRST, RESULT, SECOND, VALUE, WEIGHT, backward, forward, second_derivatives

if TYPE_CHECKING:
    from .function import Function


# kinds: a number; k (s - free) + c sd; an expression; a table of one variable; a Python function of one variable with
# its derivatives; a Python function of all variables without them
CONSTANT, LINEAR, TAPE, SPLINE, PERIODIC_SPLINE, CALLBACK, VALUE_CALLBACK = range(7)

# columns of `functions`: the kind; START .. STOP - 1 of the operations of a tape; where its numbers begin and end;
# where the list of what it reads begins, and how many variables that are; the address of a Python function
KIND, START, STOP, NUMBER, END, INPUT, READ, ADDRESS = range(8)

# what is asked for: g, g' and g'' only, the gradient too, the Hessian too
ALONG, GRADIENT, HESSIAN = 0, 1, 2
ORDERS = 3
FIRST_SLOPE = 3  # where the gradient begins among the results; the Hessian comes after it


class Functions(NamedTuple):
    """The constant arrays: context of the kernel pointer."""

    functions: Ints  # (n, 8)
    operations: Ints  # (operations, 4)
    numbers: Floats
    inputs: Ints  # places among the variables
    sizes: Ints  # of the two arrays of a `Scratch`


@holds_addresses
class FunctionTable(NamedTuple):
    """The same arrays, and the kernel pointer to what is neither constant nor linear; 0 where there is nothing such."""

    functions: Ints
    operations: Ints
    numbers: Floats
    inputs: Ints
    sizes: Ints
    at_f: Any
    at_c: Any
    kept: Any


class Scratch(NamedTuple):
    """What evaluations of a table write: the variables of a function, and its results."""

    variables: Floats
    results: Floats
    known: Floats  # (functions, 2): of laws of time alone, the time for which they are known, and their value


def new_scratch(*tables: Functions | FunctionTable) -> Scratch:
    """Scratch that serves some tables, one evaluation after the other."""
    variables, results = map(max, zip(*(table.sizes.tolist() for table in tables), strict=True))
    most = max(table.functions.shape[0] for table in tables)
    return Scratch(np.zeros(variables), np.zeros(results), np.full((most, 2), np.nan))


def pack(
    functions: Sequence[Function], variables: Sequence[Sequence[str]] | None = None, order: int = GRADIENT
) -> FunctionTable:
    """The functions for kernels; `variables` names those that each is called with, t alone if nothing is said."""
    arrays = as_arrays(functions, variables, order)
    needed = any(function.kind > LINEAR for function in {*functions})  # many rows share one
    return FunctionTable(*arrays, *constant(bound(function_at, arrays, needed)))


def with_own_numbers(table: FunctionTable) -> FunctionTable:
    """The same functions, whose numbers are in an array of their own."""
    return _with(table, constant(table.numbers.copy()))


def with_numbers(table: FunctionTable, numbers: Floats) -> FunctionTable:
    """The same functions with other numbers; the table itself, where these are its own."""
    return table if numbers.tobytes() == table.numbers.tobytes() else _with(table, numbers)


def _with(table: FunctionTable, numbers: Floats) -> FunctionTable:
    if table.at_f == 0:
        return table._replace(numbers=numbers)
    arrays = Functions(*table[:2], numbers, *table[3:5])
    return FunctionTable(*arrays, *constant(bound(function_at, arrays, needed=True)))


def as_arrays(
    functions: Sequence[Function], variables: Sequence[Sequence[str]] | None = None, order: int = GRADIENT
) -> Functions:
    """The constant arrays of some functions, for evaluations up to an order."""
    if variables is None and all(function.kind == CONSTANT for function in {*functions}):
        return _constants(functions)
    rows: list[tuple[int, ...]] = []
    operations: list[tuple[int, int, int, int]] = []
    numbers: list[float] = []
    inputs: list[int] = []
    most, longest = 1, 0
    for i, function in enumerate(functions):
        names = list(function.reads if variables is None else variables[i])
        steps = function.tape.operations if function.tape else ()
        address = function.callback.address if function.callback else 0
        stop, end = len(operations) + len(steps), len(numbers) + len(function.numbers)
        rows.append(
            (
                *(function.kind, len(operations), stop, len(numbers), end),
                *(len(inputs), len(function.reads), address),
            )
        )
        operations += steps
        numbers += function.numbers
        inputs += [names.index(name) for name in function.reads]
        most = max(most, len(names))
        longest = max(longest, _results(len(names), len(function.reads), len(steps), order))
    owners = [function.callback for function in functions if function.callback]
    table = np.array(rows, dtype=np.int64).reshape(-1, 8)
    arrays = Functions(
        owning(table, owners) if owners else table,
        np.array(operations, dtype=np.int64).reshape(-1, 4),
        np.array(numbers, dtype=np.float64),
        np.array(inputs, dtype=np.int64),
        np.array([most, longest], dtype=np.int64),
    )
    return constant(arrays)


def _constants(functions: Sequence[Function]) -> Functions:
    """The arrays of numbers: many rows have no other function."""
    table, operations, inputs, sizes = _table_of_constants(len(functions))
    numbers = np.array([function.numbers[0] for function in functions], dtype=np.float64)
    return Functions(table, operations, constant(numbers), inputs, sizes)


@once_per_pattern
def _table_of_constants(count: int) -> tuple[Ints, Ints, Ints, Ints]:
    table = np.zeros((count, 8), dtype=np.int64)
    table[:, KIND], table[:, NUMBER] = CONSTANT, np.arange(count)
    table[:, END] = table[:, NUMBER] + 1
    sizes = np.array([1, _results(0, 0, 0, ALONG) if count else 0])
    return table, np.zeros((0, 4), dtype=np.int64), np.zeros(0, dtype=np.int64), sizes


def _results(variables: int, reads: int, steps: int, order: int) -> int:
    """How many numbers an evaluation writes."""
    places, hessian = reads + steps, order == HESSIAN
    return FIRST_SLOPE + variables + variables**2 + RESULT * places + hessian * (places * reads + reads**2)


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def function_at(table, code, z, out):
    """Function `code // ORDERS` at the variables z, with what `code % ORDERS` asks for, into out."""
    index = int(code) // ORDERS
    evaluate_function(table, index, int(code) - ORDERS * index, z, out)


@kernel(inline=True)
def evaluate(table, index, order, z, out):
    """The same for a kernel that calls through the pointer. z holds the variables and nothing else."""
    invoke(table.at_f, table.at_c, float(ORDERS * index + order), z, out)


@kernel(inline=True)
def evaluate_function(table, index, order, z, out):
    kind, n = table.functions[index, KIND], z.size
    if kind == TAPE:
        evaluate_tape(table, index, order, z, out)
        return
    first, numbers, start = table.functions[index, INPUT], table.numbers, table.functions[index, NUMBER]
    for k in range((0 if order == ALONG else n) + (n * n if order == HESSIAN else 0)):
        out[FIRST_SLOPE + k] = 0.0
    out[1] = out[2] = 0.0
    if kind == CONSTANT:
        out[0] = numbers[start]
    elif kind == LINEAR:
        out[0] = numbers[start] * (z[0] - numbers[start + 2]) + numbers[start + 1] * z[1]
        out[1] = numbers[start] * z[1]
        if order != ALONG:
            out[FIRST_SLOPE], out[FIRST_SLOPE + 1] = numbers[start], numbers[start + 1]
    elif kind == VALUE_CALLBACK:
        evaluate_python(table.functions[index, ADDRESS], order, z, out)
    else:
        k = table.inputs[first]
        value, slope, bend = function_of_one(table, index, z[k])
        rate = rate_of(z, k)
        out[0], out[1], out[2] = value, slope * rate, bend * rate * rate
        if order != ALONG:
            out[FIRST_SLOPE + k] = slope
        if order == HESSIAN:
            out[FIRST_SLOPE + n + n * k + k] = bend


@kernel(inline=True)
def rate_of(z, k):
    """How fast variable k changes along the motion."""
    if k == z.size - 1:
        return 1.0
    return z[k + 1] if k % 2 == 0 else 0.0


@kernel
def function_of_one(table, index, u):
    """g, g', g'' of a table or a Python function of one variable."""
    row = table.functions[index]
    if row[KIND] == CALLBACK:
        address = row[ADDRESS]
        return call_address(address, u, 0), call_address(address, u, 1), call_address(address, u, 2)  # type: ignore
    return spline_at(table.numbers, row[NUMBER], row[END], row[KIND] == PERIODIC_SPLINE, u)


@kernel(inline=True)
def evaluate_tape(table, index, order, z, out):
    """One pass forward, one backward for the gradient, one more forward for the Hessian."""
    operations, inputs, row, n = table.operations, table.inputs, table.functions[index], z.size
    start, stop, first, reads = row[START], row[STOP], row[INPUT], row[READ]
    w = out[FIRST_SLOPE + n + n * n :]
    for k in range(reads):
        w[RESULT * k], w[RESULT * k + SECOND] = z[inputs[first + k]], 0.0
        w[RESULT * k + FIRST] = rate_of(z, inputs[first + k])
    last = forward(operations, table.numbers, start, stop, row[NUMBER], reads, w)
    out[0], out[1], out[2] = w[last + VALUE], w[last + FIRST], w[last + SECOND]
    if order == ALONG:
        return
    backward(operations, start, stop, reads, w)
    for k in range(n):
        out[FIRST_SLOPE + k] = 0.0
    for k in range(reads):
        out[FIRST_SLOPE + inputs[first + k]] = w[RESULT * k + WEIGHT]
    if order == GRADIENT:
        return
    places, h = reads + stop - start, FIRST_SLOPE + n
    G = w[RESULT * places :]
    H = G[reads * places :]
    second_derivatives(operations, start, stop, reads, w, G, H)
    for k in range(n * n):
        out[h + k] = 0.0
    for j in range(reads):
        for k in range(reads):
            out[h + n * inputs[first + j] + inputs[first + k]] = H[reads * j + k]


@kernel
def evaluate_python(address, order, z, out):
    """A Python law, with its derivatives by central differences; what it does along a motion is not known."""
    out[0], out[1], out[2] = call_address(address, 0.0, z.ctypes.data), NAN, NAN
    if order == ALONG:
        return
    for k in range(z.size - 1):  # t is the last variable, and its derivative is not needed
        here = z[k]
        step = 6.0e-6 * max(1.0, abs(here))
        z[k] = here + step
        after = call_address(address, 0.0, z.ctypes.data)
        z[k] = here - step
        out[FIRST_SLOPE + k] = (after - call_address(address, 0.0, z.ctypes.data)) / (2.0 * step)
        z[k] = here
    if order == HESSIAN:
        n = z.size
        for k in range(n * n):
            out[FIRST_SLOPE + n + k] = NAN


@kernel(inline=True)
def functions_at(table, scratch, t, f):
    """f, f', f'' of functions of time at t into the rows of f."""
    functions, numbers, z, out = table.functions, table.numbers, scratch.variables[:1], scratch.results
    for i in range(f.shape[0]):
        if functions[i, KIND] == CONSTANT:
            f[i, 0], f[i, 1], f[i, 2] = numbers[functions[i, NUMBER]], 0.0, 0.0
        else:
            z[0] = t
            evaluate(table, i, ALONG, z, out)
            f[i, 0], f[i, 1], f[i, 2] = out[0], out[1], out[2]


def values_at(table: FunctionTable, t: float) -> Floats:
    """The same from Python: f, f', f'' of all functions of time at t, a row for each."""
    functions, scratch = table.functions, new_scratch(table)
    constant = functions[:, KIND] == CONSTANT
    f, z, out = np.zeros((constant.size, 3)), scratch.variables[:1], scratch.results
    f[constant, 0] = table.numbers[functions[constant, NUMBER]]
    for i in np.flatnonzero(~constant):
        z[0] = t
        evaluate(table, i, ALONG, z, out)
        f[i] = out[:3]
    return f


@kernel(inline=True)
def law_value(table, index, z, out):
    """Value of a law at the variables z."""
    functions, numbers = table.functions, table.numbers
    kind, start = functions[index, KIND], functions[index, NUMBER]
    if kind == CONSTANT:
        return numbers[start]
    if kind == LINEAR:  # k (s - free) + c sd
        return numbers[start] * (z[0] - numbers[start + 2]) + numbers[start + 1] * z[1]
    evaluate(table, index, ALONG, z, out)
    return out[0]


@kernel(inline=True)
def is_of_time(table, index, variables):
    """Whether a law is an expression or a table of time alone, and of nothing that Python might change."""
    row = table.functions[index]
    pure = row[KIND] == TAPE or row[KIND] == SPLINE or row[KIND] == PERIODIC_SPLINE
    return pure and row[READ] == 1 and table.inputs[row[INPUT]] == variables - 1


@kernel(inline=True)
def law_in_time(table, index, z, scratch):
    """Value of a law; one of time alone is evaluated once for each time, however often a step is corrected."""
    if not is_of_time(table, index, z.size):
        return law_value(table, index, z, scratch.results)
    t, known = z[z.size - 1], scratch.known
    if known[index, 0] != t:
        evaluate(table, index, ALONG, z, scratch.results)
        known[index, 0], known[index, 1] = t, scratch.results[0]
    return known[index, 1]


@kernel(inline=True)
def law_bends(table, index, z, out):
    """Value, derivatives, and after these the second derivatives of a law."""
    if table.functions[index, KIND] > LINEAR:
        evaluate(table, index, HESSIAN, z, out)
        return out[0]
    for k in range(z.size * z.size):
        out[FIRST_SLOPE + z.size + k] = 0.0
    return law_slopes(table, index, z, out)


@kernel(inline=True)
def law_slopes(table, index, z, out):
    """Value of a law; its derivatives by the variables but t are in out from FIRST_SLOPE on."""
    functions, numbers = table.functions, table.numbers
    kind, start = functions[index, KIND], functions[index, NUMBER]
    of_time = functions[index, READ] == 1 and table.inputs[functions[index, INPUT]] == z.size - 1
    if kind > LINEAR and not of_time:
        evaluate(table, index, GRADIENT, z, out)
        return out[0]
    if kind > LINEAR:
        evaluate(table, index, ALONG, z, out)
    for k in range(z.size):
        out[FIRST_SLOPE + k] = 0.0
    if kind == CONSTANT:
        return numbers[start]
    if kind > LINEAR:
        return out[0]
    out[FIRST_SLOPE], out[FIRST_SLOPE + 1] = numbers[start], numbers[start + 1]
    return numbers[start] * (z[0] - numbers[start + 2]) + numbers[start + 1] * z[1]
