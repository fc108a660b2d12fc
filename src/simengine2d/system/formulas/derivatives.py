"""Second derivatives of constraints and forces that are formulas.

A row g(u, t) adds lam g_jk u_j,q^T u_k,q to (Phi_q^T lam)_q, beside what its measures add by their own curvature.
Forces F_k along s_k add F_k s_k,qq + s_k,q^T (F_k,u u_q + F_k,ud ud_q) to QA_q and s_k,q^T F_k,ud u_q to QA_qd.

Blocks are dense over the coordinates of the bodies that a formula names; `where` says at which row of the block a body
begins, -1 for the ground.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke
from ..frames import term_gradient, term_hessian
from .forces import FORMULA, TERM_A, TERM_B, TERM_KIND
from .values import COUNT, TERM

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Couplings(NamedTuple):
    """Coordinates that each formula couples, first those of rows, then those of forces; and the slots of its block."""

    start: Ints
    coordinate: Ints
    block_start: Ints
    block: Ints


# Blocks -----------------------------------------------------------------------------------------------


@kernel
def bend_rows(t, w):
    """Second derivatives of all rows that are formulas, into w.bends."""
    invoke(w.bends_f, w.bends_c, t, w.f, w.bends)


@kernel
def add_row_block(S, i, lam, w, where, B):
    """B += lam sum_jk g_jk u_j,q^T u_k,q of formula i."""
    row = S.formulas.row[i]
    first, count = S.row_start[row], S.row_start[row + 1] - S.row_start[row]
    at = S.formulas.bend_start[i]
    for j in range(count):
        a_j, b_j = S.term_a[first + j], S.term_b[first + j]
        left = term_gradient(S.term_kind[first + j], w.F, a_j, b_j)
        for k in range(count):
            g = lam * w.bends[at + j * count + k]
            if g != 0.0:
                a_k, b_k = S.term_a[first + k], S.term_b[first + k]
                right = term_gradient(S.term_kind[first + k], w.F, a_k, b_k)
                add_product_of(S, where, g, a_j, b_j, left, a_k, b_k, right, B)


@kernel
def bend_forces(t, w):
    """Forces and their derivatives of all actions, into their scratch."""
    invoke(w.forces_f, w.forces_c, t, w.force, w.force)
    invoke(w.slopes_f, w.slopes_c, t, w.force, w.slopes)


@kernel
def add_action_block(S, L, i, qd, of_q, of_qd, w, where, B):
    """B += of_q QA_q + of_qd QA_qd of the forces of formula i."""
    A, g, F, H = L.formulas, L.formulas.g, w.F, w.H
    first, count = g.formulas[i, TERM], g.formulas[i, COUNT]
    for k in range(A.target.shape[0]):
        if A.target[k, FORMULA] != i:
            continue
        kind, a, b, at = A.target[k, TERM_KIND], A.target[k, TERM_A], A.target[k, TERM_B], A.slope_start[k]
        left = term_gradient(kind, F, a, b)
        term_hessian(kind, F, a, b, H)
        add_hessian(S, where, of_q * w.force[k], a, b, H, B)
        for j in range(count):
            kind, c, d = g.term_kind[first + j], g.term_a[first + j], g.term_b[first + j]
            by_u, by_ud = w.slopes[at + 2 * j], w.slopes[at + 2 * j + 1]
            right = term_gradient(kind, F, c, d)
            add_product_of(S, where, of_q * by_u + of_qd * by_ud, a, b, left, c, d, right, B)
            if by_ud != 0.0 and of_q != 0.0:
                term_hessian(kind, F, c, d, H)
                swing = rate_gradient(S, c, d, H, qd)
                add_product_of(S, where, of_q * by_ud, a, b, left, c, d, swing, B)


@kernel
def rate_gradient(S, a, b, H, qd):
    """ud_q = u_qq qd over the coordinates of two bodies."""
    return (
        row_times(S, a, b, H, 0, qd),
        row_times(S, a, b, H, 1, qd),
        row_times(S, a, b, H, 2, qd),
        row_times(S, a, b, H, 3, qd),
        row_times(S, a, b, H, 4, qd),
        row_times(S, a, b, H, 5, qd),
    )


@kernel
def row_times(S, a, b, H, r, qd):
    """Row r of H times the velocities of two bodies; the ground has none."""
    total, nb = 0.0, S.mass.size
    for s in range(6):
        i = S.frame_body[a if s < 3 else b]
        if i < nb:
            total += H[r, s] * qd[3 * i + s % 3]
    return total


@kernel
def add_product_of(S, where, factor, a, b, left, c, d, right, B):
    """B += factor left^T right, where left lies over the bodies of frames a and b, right over those of c and d."""
    for r in range(6):
        p = where[S.frame_body[a if r < 3 else b]]
        if p < 0 or left[r] == 0.0:
            continue
        for s in range(6):
            u = where[S.frame_body[c if s < 3 else d]]
            if u >= 0 and right[s] != 0.0:
                B[p + r % 3, u + s % 3] += factor * left[r] * right[s]


@kernel
def add_hessian(S, where, factor, a, b, H, B):
    """B += factor H over the bodies of frames a and b."""
    for r in range(6):
        p = where[S.frame_body[a if r < 3 else b]]
        for s in range(6):
            u = where[S.frame_body[a if s < 3 else b]]
            if p >= 0 and u >= 0:
                B[p + r % 3, u + s % 3] += factor * H[r, s]


# Into the sparse matrix -------------------------------------------------------------------------------


@kernel
def add_formula_tangent(S, L, C, t, qd, lam, of_q, of_qd, w):
    """of_q ((Phi_q^T lam)_q - QA_q) - of_qd QA_qd of all formulas, symmetrized."""
    rows = S.formulas.row.size
    if rows > 0:
        bend_rows(t, w)
    if L.formulas.target.shape[0] > 0:
        bend_forces(t, w)
    for i in range(C.start.size - 1):
        begin_block(C, i, w.where, w.B)
        if i < rows:
            add_row_block(S, i, of_q * lam[S.formulas.row[i]], w, w.where, w.B)
        else:
            add_action_block(S, L, i - rows, qd, -of_q, -of_qd, w, w.where, w.B)
        end_block(C, i, w.B, w.v)


@kernel
def begin_block(C, i, where, B):
    """An empty block, and where its bodies begin in it."""
    for j in range(where.size):
        where[j] = -1
    first, count = C.start[i], C.start[i + 1] - C.start[i]
    for p in range(0, count, 3):
        where[C.coordinate[first + p] // 3] = p
    for p in range(count):
        for u in range(count):
            B[p, u] = 0.0


@kernel
def end_block(C, i, B, v):
    """The symmetric part of the block into its slots."""
    count, at = C.start[i + 1] - C.start[i], C.block_start[i]
    for p in range(count):
        v[C.block[at + p * count + p]] += B[p, p]
        for u in range(p + 1, count):
            v[C.block[at + p * count + u]] += 0.5 * (B[p, u] + B[u, p])
