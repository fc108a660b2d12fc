"""Formulas at a state, in compiled code: their values and derivatives by the measures they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...expressions.function_table import (
    ALONG,
    FIRST_SLOPE,
    HESSIAN,
    FunctionTable,
    Scratch,
    evaluate,
    new_scratch,
    pack,
)
from ...model.curves.contact_arrays import ContactContext, Contacts, pack_contacts
from ...model.curves.contact_kernel import RESULTS, contact_at
from ...model.formula import Formula
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke
from ..frames import term_rate, term_value

# columns of `formulas`: its measures are the terms TERM .. TERM + COUNT - 1; it is the contact CONTACT, or -1
TERM, COUNT, CONTACT = range(3)


class Formulas(NamedTuple):
    """The formulas of a system, and the measures that they read."""

    formulas: Ints  # (formulas, 3)
    table: FunctionTable
    term_kind: Ints
    term_a: Ints
    term_b: Ints
    contacts: Contacts


class FormulaContext(NamedTuple):
    """The formulas, and the arrays in which one run evaluates them."""

    formulas: Ints
    table: FunctionTable
    term_kind: Ints
    term_a: Ints
    term_b: Ints
    F: Floats  # state of the frames
    scratch: Scratch  # the variables u_1, ud_1, ..., t, and value and derivatives of a formula
    contact: Floats  # value and derivatives of a contact
    contact_f: Any  # the kernel pointer to contacts; 0 where there are none
    contact_c: Any


def pack_formulas(
    formulas: Sequence[Formula], first: Sequence[int], kind: Ints, a: Ints, b: Ints
) -> Formulas:
    """The arrays of formulas whose measures begin at the terms `first`."""
    contacts = [formula.contact for formula in formulas if formula.contact is not None]
    number = np.cumsum([formula.contact is not None for formula in formulas]) - 1
    rows = [
        (begin, len(formula.measures), -1 if formula.contact is None else number[i])
        for i, (formula, begin) in enumerate(zip(formulas, first, strict=True))
    ]
    table = pack(
        [formula.function for formula in formulas], [formula.variables for formula in formulas], HESSIAN
    )
    formula_rows = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Formulas(formula_rows, table, kind, a, b, pack_contacts(contacts))


def formula_context(g: Formulas, F: Floats, memory: Floats) -> FormulaContext:
    """Scratch for formulas that read the frames F; `memory` is that of their contacts."""
    touching = contact_at.bind(ContactContext(*g.contacts, memory)) if len(memory) else None
    pointer = touching[:2] if touching is not None else (0, 0)
    return FormulaContext(*g[:-1], F, new_scratch(g.table), np.zeros(RESULTS), *pointer)


@kernel
def read_measures(c, i, t):
    """u, ud and t of formula i into the variables."""
    first, count, u = c.formulas[i, TERM], c.formulas[i, COUNT], c.scratch.variables
    for j in range(count):
        kind, a, b = c.term_kind[first + j], c.term_a[first + j], c.term_b[first + j]
        u[2 * j], u[2 * j + 1] = term_value(kind, c.F, a, b), term_rate(kind, c.F, a, b)
    u[2 * count] = t


@kernel
def rest(c, i):
    """Put the rates to zero."""
    for j in range(c.formulas[i, COUNT]):
        c.scratch.variables[2 * j + 1] = 0.0


@kernel
def evaluate_formula(c, i, order):
    """g, g' and g'' along the motion, less the parts with udd, and the derivatives asked for, into the results."""
    if c.formulas[i, CONTACT] >= 0:
        evaluate_contact(c, i, order)
    else:
        z = c.scratch.variables[: 2 * c.formulas[i, COUNT] + 1]
        evaluate(c.table, i, order, z, c.scratch.results)


@kernel
def evaluate_contact(c, i, order):
    """The same of a contact, which reads neither rates nor time."""
    u, out, contact = c.scratch.variables, c.scratch.results, c.contact
    invoke(c.contact_f, c.contact_c, float(c.formulas[i, CONTACT]), u, contact)
    count, first, second = c.formulas[i, COUNT], 0.0, 0.0
    n = 2 * count + 1
    for j in range(count):
        first += contact[1 + j] * u[2 * j + 1]
        for k in range(count):
            second += contact[1 + count + j * count + k] * u[2 * j + 1] * u[2 * k + 1]
    out[0], out[1], out[2] = contact[0], first, second
    for k in range((0 if order == ALONG else n) + (n * n if order == HESSIAN else 0)):
        out[FIRST_SLOPE + k] = 0.0
    for j in range(0 if order == ALONG else count):
        out[FIRST_SLOPE + 2 * j] = contact[1 + j]
    for j in range(count if order == HESSIAN else 0):
        for k in range(count):
            out[FIRST_SLOPE + n + 2 * j * n + 2 * k] = contact[1 + count + j * count + k]
