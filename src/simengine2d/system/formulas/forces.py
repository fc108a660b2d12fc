"""Applied forces that are formulas of measures and their rates.

A force F_k(u, ud, t) along a measure s_k adds F_k s_k,q to QA; a potential energy V(u, t) adds -V_j u_j,q for each
measure that it reads. The derivatives of the forces are exact:

    QA_q = sum_k F_k s_k,qq + s_k,q^T (F_k,u u_q + F_k,ud ud_q),      QA_qd = sum_k s_k,q^T F_k,ud u_q
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...expressions.function_table import ALONG, FIRST_SLOPE, GRADIENT, HESSIAN
from ...model.curves.contact_arrays import new_memory
from ...model.elements import Action
from ...model.frame import PlacedFrame
from ...model.measure import KINDS, Term
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import NOTHING, as_words, invoke, kernel_pointer
from ..frames import term_gradient
from .values import (
    COUNT,
    FormulaContext,
    Formulas,
    evaluate_formula,
    formula_context,
    pack_formulas,
    read_measures,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# columns of `target`: the formula, the number of the measure of a potential or -1, then the measure pushed along
FORMULA, VARIABLE, TERM_KIND, TERM_A, TERM_B = range(5)


class LoadFormulas(NamedTuple):
    """The forces by formulas."""

    g: Formulas
    target: Ints  # (targets, 5)
    slope_start: Ints  # where the derivatives of each target begin: by u_1, ud_1, u_2, ...


class _Actions(NamedTuple):
    """Context of the kernel pointers."""

    g: FormulaContext
    target: Ints


def load_formulas(actions: Sequence[Action], frame: dict[PlacedFrame, int]) -> LoadFormulas:
    """The arrays of forces by formulas; `frame` numbers the frames."""
    formulas = [action.formula for action in actions]
    terms = [measure.terms[0] for formula in formulas for measure in formula.measures]
    kind, a, b = _columns(terms, frame)
    counts = [len(formula.measures) for formula in formulas]
    first = np.cumsum([0, *counts])[:-1].tolist()
    g = pack_formulas(formulas, first, kind, a, b)
    target = np.array(
        [
            (i, j if action.potential else -1, KINDS[term.kind], frame[term.a], frame[term.b])  # type: ignore[index]
            for i, action in enumerate(actions)
            for j, term in enumerate(action.along.terms)
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
    slope_start = np.cumsum([0, *(2 * counts[i] for i in target[:, FORMULA])]).astype(np.int64)
    return LoadFormulas(g, target, slope_start)


def force_pointers(forces: LoadFormulas, F: Floats) -> tuple[Any, ...]:
    """The words of `forces_at` and `slopes_at` in one workspace; zeros where there are no formulas."""
    if len(forces.target) == 0:
        return 0, 0, 0, 0, NOTHING
    at = forces_at.bind(_Actions(formula_context(forces.g, F, new_memory(0)), forces.target))
    return as_words(at, slopes_at.bind_like(at))


def _columns(terms: Sequence[Any], frame: dict[PlacedFrame, int]) -> tuple[Ints, Ints, Ints]:
    rows = [(KINDS[term.kind], frame[term.a], frame[term.b]) for term in terms]
    kind, a, b = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    return kind, a, b


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def forces_at(c, t, y, out):
    """The force along each target."""
    before, found = -1, c.g.scratch.results
    for k in range(c.target.shape[0]):
        i, j = c.target[k, FORMULA], c.target[k, VARIABLE]
        if i != before:
            read_measures(c.g, i, t)
            evaluate_formula(c.g, i, ALONG if j < 0 else GRADIENT)
            before = i
        out[k] = found[0] if j < 0 else -found[FIRST_SLOPE + 2 * j]


@kernel_pointer
def slopes_at(c, t, y, out):
    """Derivatives of the force along each target by u and ud of every measure of its formula."""
    at, before, found = 0, -1, c.g.scratch.results
    for k in range(c.target.shape[0]):
        i, j = c.target[k, FORMULA], c.target[k, VARIABLE]
        if i != before:
            read_measures(c.g, i, t)
            evaluate_formula(c.g, i, GRADIENT if j < 0 else HESSIAN)
            before = i
        n = 2 * c.g.formulas[i, COUNT] + 1
        for variable in range(n - 1):
            slope = found[FIRST_SLOPE + variable] if j < 0 else -found[FIRST_SLOPE + n + n * 2 * j + variable]
            out[at] = slope
            at += 1


@kernel
def add_actions(S, A, t, w, Q):
    """Q += sum_k F_k s_k,q"""
    invoke(w.forces_f, w.forces_c, t, w.force, w.force)
    nb, body = S.mass.size, S.frame_body
    for k in range(A.target.shape[0]):
        a, b = A.target[k, TERM_A], A.target[k, TERM_B]
        d = term_gradient(A.target[k, TERM_KIND], w.F, a, b)
        for side in range(2):
            i = body[a if side == 0 else b]
            if i < nb:
                for c in range(3):
                    Q[3 * i + c] += w.force[k] * d[3 * side + c]


def terms_of(action: Action) -> tuple[Term, ...]:
    """What an action pushes along, and what it reads."""
    return (*action.along.terms, *(measure.terms[0] for measure in action.formula.measures))


def frames_of(action: Action) -> list[PlacedFrame]:
    """The frames that an action pushes and reads."""
    return [frame for term in terms_of(action) for frame in (term.a, term.b)]  # type: ignore[misc]
