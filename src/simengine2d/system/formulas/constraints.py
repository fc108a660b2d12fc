"""Constraint rows that are formulas of measures, Phi = g(u, t), or of their rates, g(u, ud, t) = 0.

At a state such a row acts like an ordinary one whose weights are the derivatives of g. `formulas_at` writes these into
the workspace, where every kernel finds them:

    Phi_q = sum_j g_j s_j,q      nu = -g_t      gamma = -(g along the motion)'' - sum_j g_j (s_j,q qd)_q qd

A row of velocities is linear in the rates, g = sum_j w_j(u, t) ud_j + g0(u, t). It holds no position, so its Phi is 0:

    Phi_q = sum_j w_j s_j,q      nu = -g0       gamma = -(g along the motion)' - sum_j w_j (s_j,q qd)_q qd
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...expressions.function_table import ALONG, FIRST_SLOPE, GRADIENT, HESSIAN
from ...model.elements import Row
from ...model.formula import VELOCITY
from ...numerics.arrays import Floats, Ints, constant
from ...numerics.contexts import lay_out_once
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import NOTHING, as_words, kernel_pointer
from .values import (
    COUNT,
    TERM,
    FormulaContext,
    Formulas,
    evaluate_formula,
    formula_context,
    pack_formulas,
    read_measures,
    rest,
)


class RowFormulas(NamedTuple):
    """The rows that are formulas."""

    row: Ints
    level: Ints  # of every row of the system: POSITION or VELOCITY
    bend_start: Ints  # where the second derivatives of each formula begin
    g: Formulas


class _Rows(NamedTuple):
    """Context of the kernel pointers."""

    g: FormulaContext
    row: Ints
    level: Ints
    weight: Floats  # those of the workspace, written here


def row_formulas(rows: Sequence[Row], row_start: Ints, kind: Ints, a: Ints, b: Ints) -> RowFormulas:
    """The formulas among the rows; the other arrays are those of the system."""
    numbered = [(i, row.formula) for i, row in enumerate(rows) if row.formula is not None]
    number = np.array([i for i, _ in numbered], dtype=np.int64)
    level = np.array([0 if row.formula is None else row.formula.level for row in rows], dtype=np.int64)
    formulas = [formula for _, formula in numbered]
    g = pack_formulas(formulas, [int(row_start[i]) for i in number], kind, a, b)
    bend_start = np.cumsum([0, *(len(formula.measures) ** 2 for formula in formulas)]).astype(np.int64)
    return RowFormulas(number, level, bend_start, g)


_NONE = np.zeros(0, dtype=np.int64)
NO_FORMULAS = constant(row_formulas((), _NONE, _NONE, _NONE, _NONE))
for _part in NO_FORMULAS:
    lay_out_once(row_formulas, _part)  # as long as the program runs


class RowPointers(NamedTuple):
    """The words of `formulas_at` and `bends_at` in one workspace, and what keeps alive where they work."""

    rows_f: Any = 0
    rows_c: Any = 0
    bends_f: Any = 0
    bends_c: Any = 0
    rows_kept: Ints = NOTHING


NO_POINTERS = RowPointers()


def row_pointers(rows: RowFormulas, F: Floats, weight: Floats, memory: Floats) -> RowPointers:
    at = formulas_at.bind(_Rows(formula_context(rows.g, F, memory), rows.row, rows.level, weight))
    return RowPointers(*as_words(at, bends_at.bind_like(at)))


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def formulas_at(c, t, y, out):
    """Weights into the workspace, and f, f', f'' of each formula into the rows of out."""
    for i in range(c.row.size):
        read_measures(c.g, i, t)
        if c.level[c.row[i]] == VELOCITY:
            write_velocity_row(c, i, t, out)
        else:
            write_position_row(c, i, out)


@kernel
def write_position_row(c, i, out):
    """f = sum_j g_j u_j - g, so that sum_j g_j u_j - f is g;   f' = -g_t;   f'' = -g''"""
    g, row = c.g, 3 * c.row[i]
    first, count = g.formulas[i, TERM], g.formulas[i, COUNT]
    u, results = g.scratch.variables, g.scratch.results
    evaluate_formula(g, i, GRADIENT)
    total = -results[0]
    for j in range(count):
        c.weight[first + j] = results[FIRST_SLOPE + 2 * j]
        total += results[FIRST_SLOPE + 2 * j] * u[2 * j]
    out[row], out[row + 1], out[row + 2] = total, -results[FIRST_SLOPE + 2 * count], -results[2]


@kernel
def write_velocity_row(c, i, t, out):
    """f = sum_j w_j u_j, so that Phi is 0;   f' = -g0;   f'' = -g'"""
    g, row = c.g, 3 * c.row[i]
    first, count = g.formulas[i, TERM], g.formulas[i, COUNT]
    u, results = g.scratch.variables, g.scratch.results
    rest(g, i)  # w and g0 do not depend on the rates, which may not be known yet
    evaluate_formula(g, i, GRADIENT)
    total = 0.0
    for j in range(count):
        c.weight[first + j] = results[FIRST_SLOPE + 2 * j + 1]
        total += results[FIRST_SLOPE + 2 * j + 1] * u[2 * j]
    out[row], out[row + 1] = total, -results[0]
    read_measures(g, i, t)
    evaluate_formula(g, i, ALONG)
    out[row + 2] = -results[1]


@kernel_pointer
def bends_at(c, t, y, out):
    """Second derivatives of each formula, row by row: g_jk, or w_j by u_k for a row of velocities."""
    at = 0
    for i in range(c.row.size):
        read_measures(c.g, i, t)
        evaluate_formula(c.g, i, HESSIAN)
        shift, count = 1 if c.level[c.row[i]] == VELOCITY else 0, c.g.formulas[i, COUNT]
        n = 2 * count + 1
        h = FIRST_SLOPE + n
        for j in range(count):
            for k in range(count):
                out[at] = c.g.scratch.results[h + n * (2 * j + shift) + 2 * k]
                at += 1
