"""Formulas at a state, in compiled code: their values and derivatives by the measures they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...expressions.tape_kernels import (
    FIRST,
    RESULT,
    SECOND,
    VALUE,
    WEIGHT,
    backward,
    forward,
    second_derivatives,
)
from ...model.curves.contact_arrays import Contact, ContactContext, Contacts, pack_contacts
from ...model.curves.contact_kernel import RESULTS, contact_at
from ...model.formula import Formula
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke
from ..frames import term_rate, term_value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# columns of `formulas`: its measures are the terms TERM .. TERM + COUNT - 1, its operations START .. STOP - 1, and it
# reads READ variables, which are listed from INPUT on; or it is the contact CONTACT, -1 where it is none
TERM, COUNT, START, STOP, INPUT, READ, CONTACT = range(7)


class Formulas(NamedTuple):
    """The formulas of a system, and the measures that they read."""

    formulas: Ints  # (formulas, 7)
    operations: Ints  # (operations, 4)
    numbers: Floats
    inputs: Ints  # variables: 2 j for u_j, 2 j + 1 for ud_j, 2 count for t
    term_kind: Ints
    term_a: Ints
    term_b: Ints
    contacts: Contacts


class FormulaContext(NamedTuple):
    """The formulas, and the arrays in which one run evaluates them."""

    formulas: Ints
    operations: Ints
    numbers: Floats
    inputs: Ints
    term_kind: Ints
    term_a: Ints
    term_b: Ints
    F: Floats  # state of the frames
    u: Floats  # the variables
    g: Floats  # derivatives of a formula by its variables
    h: Floats  # its second derivatives
    z: Floats  # results of its operations
    G: Floats  # gradients of its operations
    H: Floats  # second derivatives by its inputs
    contact: Floats  # value and derivatives of a contact
    contact_f: Any  # the kernel pointer to contacts; 0 where there are none
    contact_c: Any


def pack_formulas(
    formulas: Sequence[Formula], first: Sequence[int], kind: Ints, a: Ints, b: Ints
) -> Formulas:
    """The arrays of formulas whose measures begin at the terms `first`."""
    rows: list[tuple[int, ...]] = []
    operations: list[tuple[int, int, int, int]] = []
    numbers: list[float] = []
    inputs: list[int] = []
    contacts: list[Contact] = []
    for formula, begin in zip(formulas, first, strict=True):
        tape, count = formula.tape, len(formula.measures)
        stop = len(operations) + len(tape.operations)
        touching = -1 if formula.contact is None else len(contacts)
        contacts += [] if formula.contact is None else [formula.contact]
        rows.append((begin, count, len(operations), stop, len(inputs), len(tape.inputs), touching))
        operations += tape.operations
        numbers += tape.numbers
        inputs += tape.inputs
    integers = lambda values, width: np.array(values, dtype=np.int64).reshape(-1, width)
    return Formulas(
        integers(rows, 7),
        integers(operations, 4),
        np.array(numbers, dtype=float),
        integers(inputs, 1)[:, 0].copy(),
        kind,
        a,
        b,
        pack_contacts(contacts),
    )


def formula_context(g: Formulas, F: Floats, memory: Floats) -> FormulaContext:
    """Scratch for formulas that read the frames F; `memory` is that of their contacts."""
    rows = g.formulas
    variables = 2 * int(rows[:, COUNT].max(initial=0)) + 1
    reads = int(rows[:, READ].max(initial=0))
    longest = reads + int((rows[:, STOP] - rows[:, START]).max(initial=0))
    touching = contact_at.bind(ContactContext(*g.contacts, memory)) if len(memory) else None
    return FormulaContext(
        *g[:-1],
        F,
        np.zeros(variables),
        np.zeros(variables),
        np.zeros((variables, variables)),
        np.zeros((longest, RESULT)),
        np.zeros((longest, reads)),
        np.zeros((reads, reads)),
        np.zeros(RESULTS),
        *(touching[:2] if touching is not None else (0, 0)),
    )


@kernel
def read_measures(c, i, t):
    """u, ud and t of formula i into c.u."""
    first, count = c.formulas[i, TERM], c.formulas[i, COUNT]
    for j in range(count):
        kind, a, b = c.term_kind[first + j], c.term_a[first + j], c.term_b[first + j]
        c.u[2 * j], c.u[2 * j + 1] = term_value(kind, c.F, a, b), term_rate(kind, c.F, a, b)
    c.u[2 * count] = t


@kernel
def rest(c, i):
    """Put the rates to zero."""
    for j in range(c.formulas[i, COUNT]):
        c.u[2 * j + 1] = 0.0


@kernel
def evaluate_formula(c, i):
    """g, and its first and second derivative along the motion, less the parts with udd."""
    if c.formulas[i, CONTACT] >= 0:
        return evaluate_contact(c, i)
    first, count = c.formulas[i, INPUT], c.formulas[i, COUNT]
    for k in range(c.formulas[i, READ]):
        variable = c.inputs[first + k]
        c.z[k, VALUE], c.z[k, SECOND] = c.u[variable], 0.0
        if variable == 2 * count:
            c.z[k, FIRST] = 1.0
        else:
            c.z[k, FIRST] = c.u[variable + 1] if variable % 2 == 0 else 0.0
    start, stop = c.formulas[i, START], c.formulas[i, STOP]
    last = forward(c.operations, c.numbers, start, stop, c.formulas[i, READ], c.z)
    return c.z[last, VALUE], c.z[last, FIRST], c.z[last, SECOND]


@kernel
def formula_gradient(c, i):
    """Derivatives by all variables into c.g, where the formula has been evaluated."""
    if c.formulas[i, CONTACT] >= 0:
        contact_gradient(c, i)
        return
    first, reads = c.formulas[i, INPUT], c.formulas[i, READ]
    backward(c.operations, c.formulas[i, START], c.formulas[i, STOP], reads, c.z)
    for variable in range(2 * c.formulas[i, COUNT] + 1):
        c.g[variable] = 0.0
    for k in range(reads):
        c.g[c.inputs[first + k]] = c.z[k, WEIGHT]


@kernel
def formula_bends(c, i):
    """Second derivatives by all variables into c.h, where the gradient has been found."""
    if c.formulas[i, CONTACT] >= 0:
        contact_bends(c, i)
        return
    first, reads, variables = c.formulas[i, INPUT], c.formulas[i, READ], 2 * c.formulas[i, COUNT] + 1
    second_derivatives(c.operations, c.formulas[i, START], c.formulas[i, STOP], reads, c.z, c.G, c.H)
    for a in range(variables):
        for b in range(variables):
            c.h[a, b] = 0.0
    for j in range(reads):
        for k in range(reads):
            c.h[c.inputs[first + j], c.inputs[first + k]] = c.H[j, k]


# Contacts ---------------------------------------------------------------------------------------------


@kernel
def evaluate_contact(c, i):
    """The same of a contact, which writes its derivatives too."""
    invoke(c.contact_f, c.contact_c, float(c.formulas[i, CONTACT]), c.u, c.contact)
    count, first, second = c.formulas[i, COUNT], 0.0, 0.0
    for j in range(count):
        first += c.contact[1 + j] * c.u[2 * j + 1]
        for k in range(count):
            second += c.contact[1 + count + j * count + k] * c.u[2 * j + 1] * c.u[2 * k + 1]
    return c.contact[0], first, second


@kernel
def contact_gradient(c, i):
    """A contact reads neither rates nor time."""
    count = c.formulas[i, COUNT]
    for j in range(count):
        c.g[2 * j], c.g[2 * j + 1] = c.contact[1 + j], 0.0
    c.g[2 * count] = 0.0


@kernel
def contact_bends(c, i):
    count = c.formulas[i, COUNT]
    for a in range(2 * count + 1):
        for b in range(2 * count + 1):
            c.h[a, b] = 0.0
    for j in range(count):
        for k in range(count):
            c.h[2 * j, 2 * k] = c.contact[1 + count + j * count + k]
