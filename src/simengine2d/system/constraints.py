"""Rows: the constraints of a model as constant arrays, and Phi, Phi_q and gamma from them in a workspace.

Every constraint row is a weighted sum of measures minus a function of time, Phi = sum_k w_k s_k(q) - f(t), so

    nu = -Phi_t = f',      gamma = f'' - sum_k w_k (s_q qd)_q qd
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import NamedTuple

import numpy as np

from ..expressions.function import Function
from ..expressions.function_table import ALONG, FunctionTable, functions_at, pack
from ..model.elements import Row
from ..model.frame import GROUND, PlacedFrame
from ..model.measure import KINDS
from ..model.resolved import ResolvedBody
from ..numerics.arrays import Floats, Ints, constant
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
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
            total -= periods[i] * floor(total / periods[i] + 0.5)
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


@kernel(entry=True)
def evaluate(S, t, q, qd, w, Phi, right):
    """Phi, the non-zeros of Phi_q in w.data, and gamma at a state."""
    move(S, t, q, qd, w)
    phi(S, w, Phi)
    phi_q(S, w)
    gamma(S, w, right)


# Building ---------------------------------------------------------------------------------------------


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
    index = {body.name: i for i, body in enumerate(bodies)} | {GROUND: len(bodies)}
    terms = [(i, term) for i, row in enumerate(rows) for term in row.measure.terms]
    placed = {frame for _, term in terms for frame in (term.a, term.b)} | set(more_frames)
    frames: list[PlacedFrame] = sorted(placed, key=lambda p: (index[p.body], p))  # type: ignore[arg-type, union-attr]
    number = {frame: k for k, frame in enumerate(frames)}
    body_of = np.array([index[p.body] for p in frames], dtype=np.int64)
    a = np.array([number[term.a] for _, term in terms], dtype=np.int64)  # type: ignore[index]
    b = np.array([number[term.b] for _, term in terms], dtype=np.int64)  # type: ignore[index]
    row_of = np.array([i for i, _ in terms], dtype=np.int64)
    jac_start, jac_column, slots = phi_q_structure(row_of, body_of[a], body_of[b], len(rows), len(bodies))
    angles = np.array([p.angle for p in frames])
    kind = np.array([KINDS[term.kind] for _, term in terms], dtype=np.int64)
    weight = np.array([term.weight for _, term in terms])
    row_start = np.searchsorted(row_of, np.arange(len(rows) + 1)).astype(np.int64)
    formulas = NO_FORMULAS._replace(level=np.zeros(len(rows), dtype=np.int64))
    if any(row.formula is not None for row in rows):
        formulas = row_formulas(rows, row_start, kind, a, b)
    return constant(
        SystemArrays(
            mass=np.array([body.mass for body in bodies]),
            inertia=np.array([body.inertia for body in bodies]),
            gravity=np.array(gravity),
            frame_body=body_of,
            frame_x=np.array([p.x for p in frames]),
            frame_y=np.array([p.y for p in frames]),
            frame_angle=angles,
            frame_cos=np.cos(angles),
            frame_sin=np.sin(angles),
            term_kind=kind,
            term_a=a,
            term_b=b,
            term_weight=weight,
            row_start=row_start,
            row_period=np.array([row.measure.period if row.formula is None else 0.0 for row in rows]),
            functions=pack(functions, order=ALONG),
            formulas=formulas,
            jac_start=jac_start,
            jac_column=jac_column,
            term_slot=slots,
        )
    ), number


def phi_q_structure(row_of: Ints, body_a: Ints, body_b: Ints, m: int, nb: int) -> tuple[Ints, Ints, Ints]:
    """Structure of Phi_q by rows, and where each term adds its six derivatives."""
    columns: list[list[int]] = [[] for _ in range(m)]
    for i, ba, bb in zip(row_of, body_a, body_b, strict=True):
        columns[i] += [3 * body + c for body in (ba, bb) if body < nb for c in range(3)]
    columns = [sorted(set(c)) for c in columns]
    start = np.concatenate([[0], np.cumsum([len(c) for c in columns])]).astype(np.int64)
    position = [{c: start[i] + k for k, c in enumerate(cols)} for i, cols in enumerate(columns)]
    slots = [
        position[i][3 * body + c] if body < nb else -1
        for i, ba, bb in zip(row_of, body_a, body_b, strict=True)
        for body in (ba, bb)
        for c in range(3)
    ]
    column = [c for cols in columns for c in cols]
    return start, np.array(column, dtype=np.int64), np.array(slots, dtype=np.int64).reshape(-1, 6)
