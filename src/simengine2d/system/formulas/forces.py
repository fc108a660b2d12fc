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
from ...model.elements import Action
from ...model.frame import PlacedFrame
from ...model.measure import KINDS, Term
from ...numerics.contexts import holds_addresses
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import bound, invoke, kernel_pointer
from ..frames import FRAME_STATE, term_gradient
from .values import (
    COUNT,
    FormulaContext,
    evaluate_formula,
    formula_context,
    pack_formulas,
    read_measures,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# columns of `target`: the formula, the number of the measure of a potential or -1, then the measure pushed along
FORMULA, VARIABLE, TERM_KIND, TERM_A, TERM_B = range(5)


class _Actions(NamedTuple):
    """Context of the kernel pointers."""

    g: FormulaContext
    target: Ints


@holds_addresses
class LoadFormulas(NamedTuple):
    """The forces by formulas, and the kernel pointers to them; 0 where there are none."""

    g: FormulaContext
    target: Ints  # (targets, 5)
    force: Floats  # scratch: along each target
    slope_start: Ints  # where the derivatives of each target begin
    slopes: Floats  # scratch: of each target by u_1, ud_1, u_2, ...
    at_f: Any
    at_c: Any
    slopes_f: Any
    slopes_c: Any
    at_kept: Any
    slopes_kept: Any


def load_formulas(actions: Sequence[Action], frame: dict[PlacedFrame, int]) -> LoadFormulas:
    """The arrays of forces by formulas; `frame` numbers the frames."""
    formulas = [action.formula for action in actions]
    terms = [measure.terms[0] for formula in formulas for measure in formula.measures]
    kind, a, b = _columns(terms, frame)
    counts = [len(formula.measures) for formula in formulas]
    first = np.cumsum([0, *counts])[:-1].tolist()
    F = np.zeros((len(frame) if actions else 0, FRAME_STATE))
    g = formula_context(pack_formulas(formulas, first, kind, a, b), F, np.zeros((0, 2)))
    target = np.array(
        [
            (i, j if action.potential else -1, KINDS[term.kind], frame[term.a], frame[term.b])  # type: ignore[index]
            for i, action in enumerate(actions)
            for j, term in enumerate(action.along.terms)
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
    slope_start = np.cumsum([0, *(2 * counts[i] for i in target[:, FORMULA])]).astype(np.int64)
    context, needed = _Actions(g, target), bool(actions)
    at, slopes = bound(forces_at, context, needed), bound(slopes_at, context, needed)
    return LoadFormulas(
        g,
        target,
        np.zeros(len(target)),
        slope_start,
        np.zeros(int(slope_start[-1])),
        *at[:2],
        *slopes[:2],
        at[2],
        slopes[2],
    )


def _columns(terms: Sequence[Any], frame: dict[PlacedFrame, int]) -> tuple[Ints, Ints, Ints]:
    rows = [(KINDS[term.kind], frame[term.a], frame[term.b]) for term in terms]
    kind, a, b = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    return kind, a, b


# Kernels ----------------------------------------------------------------------------------------------


@kernel
def copy_frames(c, flat):
    """The frames, from the flat array that came through a kernel pointer."""
    for k in range(c.F.shape[0]):
        for j in range(FRAME_STATE):
            c.F[k, j] = flat[FRAME_STATE * k + j]


@kernel_pointer
def forces_at(c, t, y, out):
    """The force along each target."""
    copy_frames(c.g, y)
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
    copy_frames(c.g, y)
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
def add_actions(S, A, t, F, Q):
    """Q += sum_k F_k s_k,q"""
    invoke(A.at_f, A.at_c, t, F, A.force)
    nb, body = S.mass.size, S.frame_body
    for k in range(A.force.size):
        a, b = A.target[k, TERM_A], A.target[k, TERM_B]
        d = term_gradient(A.target[k, TERM_KIND], F, a, b)
        for side in range(2):
            i = body[a if side == 0 else b]
            if i < nb:
                for c in range(3):
                    Q[3 * i + c] += A.force[k] * d[3 * side + c]


def terms_of(action: Action) -> tuple[Term, ...]:
    """What an action pushes along, and what it reads."""
    return (*action.along.terms, *(measure.terms[0] for measure in action.formula.measures))


def frames_of(action: Action) -> list[PlacedFrame]:
    """The frames that an action pushes and reads."""
    return [frame for term in terms_of(action) for frame in (term.a, term.b)]  # type: ignore[misc]
