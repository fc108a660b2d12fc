"""Second derivatives of constraints that are formulas, and the blocks in which formulas and forces are differentiated.

A row g(u, t) adds lam g_jk u_j,q^T u_k,q to (Phi_q^T lam)_q, beside what its measures add by their own curvature.

Blocks are dense over the coordinates of the bodies that a formula or a force names; `where` says at which row of the
block a body begins, -1 for the ground.
"""

from __future__ import annotations

from typing import NamedTuple

from ...numerics.arrays import Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke
from ..frames import term_gradient, term_rate


class Couplings(NamedTuple):
    """Coordinates that rows by formulas, forces and wrenches couple, in this order, and the slots of each block."""

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
def add_formula_rates(S, t, w, out):
    """sum_jk g_jk (s_j,q qd) s_k,q of the rows that are formulas, by the non-zeros of Phi_q."""
    bend_rows(t, w)
    for i in range(S.formulas.row.size):
        row = S.formulas.row[i]
        first, count = S.row_start[row], S.row_start[row + 1] - S.row_start[row]
        for k in range(first, first + count):
            rate = 0.0
            for j in range(count):
                of_j = term_rate(S.term_kind[first + j], w.F, S.term_a[first + j], S.term_b[first + j])
                rate += w.bends[S.formulas.bend_start[i] + j * count + k - first] * of_j
            gradient = term_gradient(S.term_kind[k], w.F, S.term_a[k], S.term_b[k])
            for r in range(6):
                if S.term_slot[k, r] >= 0:
                    out[S.term_slot[k, r]] += rate * gradient[r]


# Blocks in the sparse matrix --------------------------------------------------------------------------


@kernel(inline=True)
def begin_block(C, i, where, B):
    """An empty block, and where its bodies begin in it; all others are -1. Returns its size."""
    first, size = C.start[i], C.start[i + 1] - C.start[i]
    for p in range(0, size, 3):
        where[C.coordinate[first + p] // 3] = p
    for p in range(size):
        for u in range(size):
            B[p, u] = 0.0
    return size


@kernel(inline=True)
def end_block(C, i, straight, crossed, where, B, v):
    """straight B + crossed B^T into the slots of the block, which are those of its upper triangle."""
    first, size, at = C.start[i], C.start[i + 1] - C.start[i], C.block_start[i]
    for p in range(size):
        v[C.block[at + p * size + p]] += B[p, p]
        for u in range(p + 1, size):
            v[C.block[at + p * size + u]] += straight * B[p, u] + crossed * B[u, p]
    for p in range(0, size, 3):
        where[C.coordinate[first + p] // 3] = -1
