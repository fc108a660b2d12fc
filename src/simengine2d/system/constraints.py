"""Rows: the constraints of a model as constant arrays, and Phi, Phi_q and gamma from them in a workspace.

Every constraint row is a weighted sum of measures minus a function of time, Phi = sum_k w_k s_k(q) - f(t), so

    nu = -Phi_t = f',      gamma = f'' - sum_k w_k (s_q qd)_q qd
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..expressions.function import Function
from ..expressions.function_table import ALONG, FunctionTable, functions_at, pack
from ..model.elements import Row
from ..model.frame import GROUND, PlacedFrame
from ..model.measure import DIRECTION, KINDS, Term
from ..model.resolved_body import ResolvedBody
from ..numerics.arrays import Floats, Ints, ascending, columns, constant, starts
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
from ..numerics.patterns import once_per_pattern
from .formulas.constraints import NO_FORMULAS, RowFormulas, row_formulas
from .frames import move_frames, place_frames, term_gradient, term_second_order, term_value


class SystemArrays(NamedTuple):
    """The arrays of one system; the same type for every model, so nothing is compiled per model.

    They are constant, and cannot be written: what changes is in a `Workspace`.
    """

    # bodies; the ground has the index after the last body
    mass: Floats
    inertia: Floats
    gravity: Floats
    # frames, sorted by body
    frame_body: Ints
    frame_x: Floats
    frame_y: Floats
    frame_angle: Floats
    frame_cos: Floats
    frame_sin: Floats
    # terms w * s(a, b); the terms of row i are row_start[i] : row_start[i + 1]
    term_kind: Ints
    term_a: Ints
    term_b: Ints
    term_weight: Floats  # of measures; those of formulas follow the state, see `Workspace.weight`
    row_start: Ints
    row_period: Floats
    functions: FunctionTable
    formulas: RowFormulas
    # Phi_q by rows: columns jac_column[jac_start[i] : jac_start[i + 1]]; six slots per term, -1 for the ground
    jac_start: Ints
    jac_column: Ints
    term_slot: Ints


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def weigh_rows(t, w):
    """Weights, f, f' and f'' of the rows that are formulas, where the frames are placed and moved."""
    if w.rows_f != 0:
        invoke(w.rows_f, w.rows_c, t, w.f, w.f)


@kernel(inline=True)
def place(S, t, q, w):
    """Frames at q, and the weights of formulas there, with known functions of time."""
    place_frames(S, q, w.F)
    weigh_rows(t, w)


@kernel(inline=True)
def move_on(S, t, qd, w):
    """Velocities of the placed frames, and their contribution to formulas."""
    move_frames(S, qd, w.F)
    weigh_rows(t, w)


@kernel(inline=True)
def move(S, t, q, qd, w):
    """Functions of time, frames, and the weights of formulas at a state."""
    functions_at(S.functions, w.scratch, t, w.f)
    place_frames(S, q, w.F)
    move_frames(S, qd, w.F)
    weigh_rows(t, w)


@kernel(inline=True)
def phi(S, w, out):
    """Phi = sum_k w_k s_k - f(t); a row with a direction is reduced to the nearest turn."""
    kind, a, b, weight = S.term_kind, S.term_a, S.term_b, w.weight
    start, periods, f, F = S.row_start, S.row_period, w.f, w.F
    for i in range(out.size):
        total = -f[i, 0]
        for k in range(start[i], start[i + 1]):
            total += weight[k] * term_value(kind[k], F, a[k], b[k])
        if periods[i] > 0.0:
            total -= periods[i] * np.floor(total / periods[i] + 0.5)
        out[i] = total


@kernel(inline=True)
def phi_q(S, w):
    """The non-zeros of Phi_q, row by row, into w.data."""
    kind, a, b, slot = S.term_kind, S.term_a, S.term_b, S.term_slot
    weight, F, data = w.weight, w.F, w.data
    data[:] = 0.0
    for k in range(kind.size):
        factor = weight[k]
        g = term_gradient(kind[k], F, a[k], b[k])
        if slot[k, 0] >= 0:  # body a is not the ground
            data[slot[k, 0]] += factor * g[0]
            data[slot[k, 1]] += factor * g[1]
            data[slot[k, 2]] += factor * g[2]
        if slot[k, 3] >= 0:
            data[slot[k, 3]] += factor * g[3]
            data[slot[k, 4]] += factor * g[4]
            data[slot[k, 5]] += factor * g[5]


@kernel(inline=True)
def gamma(S, w, out):
    """Right-hand side of the acceleration equation, f'' - sum_k w_k (s_q qd)_q qd."""
    kind, a, b, weight, start, f, F = S.term_kind, S.term_a, S.term_b, w.weight, S.row_start, w.f, w.F
    for i in range(out.size):
        total = f[i, 2]
        for k in range(start[i], start[i + 1]):
            total -= weight[k] * term_second_order(kind[k], F, a[k], b[k])
        out[i] = total


@kernel(inline=True)
def evaluate_rows(S, t, q, qd, w, Phi, right):
    """Phi, the non-zeros of Phi_q in w.data, and gamma at a state."""
    move(S, t, q, qd, w)
    phi(S, w, Phi)
    phi_q(S, w)
    gamma(S, w, right)


@kernel(entry=True)
def evaluate(S, t, q, qd, w, Phi, right):
    """The same, called from Python."""
    evaluate_rows(S, t, q, qd, w, Phi, right)


# Building ---------------------------------------------------------------------------------------------


class RowStructure(NamedTuple):
    """What the arrays of rows and frames hold whatever the numbers are: all models alike share it."""

    frame_body: Ints
    term_kind: Ints
    term_a: Ints
    term_b: Ints
    row_start: Ints
    jac_start: Ints
    jac_column: Ints
    term_slot: Ints
    no_level: Ints  # where no row is a formula
    no_period: Floats
    has_directions: bool  # some rows may have a period


def constant_arrays(
    bodies: Sequence[ResolvedBody],
    gravity: tuple[float, float],
    rows: Sequence[Row],
    functions: Sequence[Function] = (),
    more_frames: Iterable[PlacedFrame] = (),
) -> tuple[SystemArrays, dict[PlacedFrame, int]]:
    """The arrays of bodies and rows, and the numbers of the frames.

    Rows without functions serve only to evaluate measures; `more_frames` are needed by applied forces.
    """
    measures = [row.measure.terms for row in rows]
    terms = [term for each in measures for term in each]
    F = _numbered(bodies, terms, more_frames)
    S = row_structure(
        len(bodies),
        F.body,
        np.array([len(each) for each in measures], dtype=np.int64),
        np.array([KINDS[term.kind] for term in terms], dtype=np.int64),
        F.a,
        F.b,
    )
    mass, inertia = columns(2, [(body.mass, body.inertia) for body in bodies])
    formulas, periods = NO_FORMULAS._replace(level=S.no_level), S.no_period
    if any(row.formula is not None for row in rows):
        formulas = constant(row_formulas(rows, S.row_start, S.term_kind, S.term_a, S.term_b))
    if S.has_directions:
        periods = np.array([row.measure.period if row.formula is None else 0.0 for row in rows])
    weight, cosine, sine = (
        np.array([term.weight for term in terms], dtype=float),
        np.cos(F.angle),
        np.sin(F.angle),
    )
    g = np.array(gravity)
    constant((mass, inertia, g, F.x, F.y, F.angle, cosine, sine, weight, periods))
    table = pack(functions, order=ALONG)
    return SystemArrays(
        mass, inertia, g, S.frame_body, F.x, F.y, F.angle, cosine, sine, S.term_kind, S.term_a, S.term_b, weight,
        S.row_start, periods, table, formulas, S.jac_start, S.jac_column, S.term_slot,
    ), F.numbers  # fmt: skip


class NumberedFrames(NamedTuple):
    """Different frames, in the order of their bodies and of the terms."""

    numbers: dict[PlacedFrame, int]
    body: Ints
    x: Floats
    y: Floats
    angle: Floats
    a: Ints  # those of the terms
    b: Ints


def _numbered(
    bodies: Sequence[ResolvedBody], terms: Sequence[Term], more_frames: Iterable[PlacedFrame]
) -> NumberedFrames:
    # as they are met
    met: dict[Any, int] = {}
    sides = [met.setdefault(frame, len(met)) for term in terms for frame in (term.a, term.b)]
    for frame in more_frames:
        met.setdefault(frame, len(met))
    # by body
    index = {body.name: i for i, body in enumerate(bodies)} | {GROUND: len(bodies)}
    body = np.array([index[frame.body] for frame in met], dtype=np.int64)
    order = np.argsort(body, kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    x, y, angle = columns(3, [frame[1:4] for frame in met]).take(order, axis=1)
    a, b = number.take(np.array(sides, dtype=np.int64).reshape(-1, 2).T)
    return NumberedFrames(dict(zip(met, number.tolist(), strict=True)), body[order], x, y, angle, a, b)


@once_per_pattern
def rows_of_slopes(jac_start: Ints) -> Ints:
    """The row of each non-zero of Phi_q."""
    return np.repeat(np.arange(jac_start.size - 1), np.diff(jac_start))


@once_per_pattern
def row_structure(nb: int, frame_body: Ints, sizes: Ints, kind: Ints, a: Ints, b: Ints) -> RowStructure:
    """Structure of Phi_q by rows, and where each term adds its six derivatives. A row has sizes[i] terms."""
    m, row_of = sizes.size, np.repeat(np.arange(sizes.size), sizes)
    # bodies of each row, one after the other, in ascending order
    body = np.column_stack([frame_body[a], frame_body[b]])
    member = row_of[:, None] * (nb + 1) + body
    members = ascending(member[body < nb])
    at = 3 * np.searchsorted(members, member)
    slots = np.where(body < nb, at, -1)[:, :, None] + np.where(body < nb, 1, 0)[:, :, None] * np.arange(3)
    columns = 3 * (members % (nb + 1))[:, None] + np.arange(3)
    return RowStructure(
        frame_body,
        kind,
        a,
        b,
        starts(sizes),
        starts(3 * np.bincount(members // (nb + 1), minlength=m)),
        columns.reshape(-1),
        np.ascontiguousarray(slots.reshape(-1, 6)),
        np.zeros(m, dtype=np.int64),
        np.zeros(m),
        bool(np.any(kind == DIRECTION)),
    )
