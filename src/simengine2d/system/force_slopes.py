"""Forces along measures as unknowns of their own, beside the law that they follow.

A stiff spring turns with its body. Newton's method with the matrix of another pose then moves bodies across the spring
by what its length lacks, times the stiffness. If the force p is an unknown like the multiplier of a joint, and its law
an equation like a constraint,

    M a + Phi_q^T lam = QA + s_q^T p,      p = F(s, sd, t)

what the length lacks acts along the spring as it was when the matrix was made, S = s_q there, and is corrected at once:

    QA + s_q^T p + S^T (F - p),      dp = F - p + F_q dq + F_qd dqd

C. Lubich, BIT 33 (1993) 151-176, section 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints, constant
from ..numerics.kernel import kernel
from .applied_forces import (
    BY,
    MEASURE,
    READ,
    READ_END,
    SIGN,
    TARGET,
    TARGET_END,
    Loads,
    evaluate_force,
    force_along,
    push_along,
)
from .derivatives import add_measure, differentiate_force
from .formulas.derivatives import Couplings, begin_block, end_block


class ForceRows(NamedTuple):
    """Which coordinates the forces along each target depend on."""

    block: Ints  # of the couplings, for each force
    start: Ints  # (targets + 1), of the slopes


class ForceSlopes(NamedTuple):
    """Of the force along each target, over the coordinates that it depends on."""

    along: Floats  # s_q
    by_q: Floats  # F_q
    by_qd: Floats  # F_qd


def force_rows(L: Loads, C: Couplings, rows: int) -> ForceRows:
    """`rows` blocks of the couplings are those of formulas."""
    block = rows + np.arange(L.forces.shape[0])
    sizes = np.diff(C.start)[block]
    count = L.forces[:, TARGET_END] - L.forces[:, TARGET]
    return constant(ForceRows(block, np.cumsum([0, *np.repeat(sizes, count)]).astype(np.int64)))


def new_slopes(R: ForceRows) -> ForceSlopes:
    return ForceSlopes(*np.zeros((3, int(R.start[-1]))))


@kernel(inline=True)
def find_force_slopes(S, L, C, R, t, qd, force, w, slopes, stiffness, damping):
    """s_q, F_q and F_qd of all forces where the frames are placed, and -QA_q and -QA_qd by slots, symmetrized.

    QA = F s_q,      QA_q = F s_qq + s_q^T F_q,      QA_qd = s_q^T F_qd
    """
    for i in range(L.forces.shape[0]):
        b, first, last = R.block[i], L.forces[i, TARGET], L.forces[i, TARGET_END]
        size = begin_block(C, b, w.where, w.B)
        differentiate_force(L, i, t, w)
        for target in range(first, last):
            # the force that is an unknown, not that of a length which is not yet right
            find_slopes_along(S, L, i, target, force[target], qd, size, R.start[target], w, slopes)
            take_product(slopes.along, slopes.by_q, R.start[target], size, w.B)
        end_block(C, b, 0.5, 0.5, w.where, w.B, stiffness)
        begin_block(C, b, w.where, w.B)
        for target in range(first, last):
            take_product(slopes.along, slopes.by_qd, R.start[target], size, w.B)
        end_block(C, b, 0.5, 0.5, w.where, w.B, damping)


@kernel(inline=True)
def take_product(along, by, at, size, B):
    """B -= s_q^T F_q of one target."""
    for p in range(size):
        for u in range(size):
            B[p, u] -= along[at + p] * by[at + u]


@kernel(inline=True)
def find_slopes_along(S, L, i, target, force, qd, size, at, w, slopes):
    """Those of one target; the curvature, -F s_qq, into the block.

    F_q = sum_j F_uj u_j,q + F_udj ud_j,q,      F_qd = sum_j F_udj u_j,q      with ud_q = u_qq qd
    """
    G, first, reads = w.G, L.forces[i, READ], L.forces[i, READ_END] - L.forces[i, READ]
    own, by, sign = L.targets[target, MEASURE], L.targets[target, BY], L.targets[target, SIGN]
    law = 1 if by < 0 else 1 + (2 * reads + 1) * (by + 1)
    for p in range(size):
        G[0, p] = G[1, p] = G[2, p] = G[3, p] = 0.0
    # s_q and sd_q
    add_measure(S, L, own, 1.0, 1.0, -force, qd, w, w.where, G, 0, 3, w.B)
    for j in range(reads):
        by_u, by_ud = sign * w.law[law + 2 * j], sign * w.law[law + 2 * j + 1]
        if first + j == own:
            for p in range(size):
                G[1, p] += by_u * G[0, p] + by_ud * G[3, p]
                G[2, p] += by_ud * G[0, p]
        else:
            add_measure(S, L, first + j, by_u, by_ud, 0.0, qd, w, w.where, G, 1, 1, w.B)
            add_measure(S, L, first + j, by_ud, 0.0, 0.0, qd, w, w.where, G, 2, 2, w.B)
    for p in range(size):
        slopes.along[at + p], slopes.by_q[at + p], slopes.by_qd[at + p] = G[0, p], G[1, p], G[2, p]


@kernel(inline=True)
def add_held_forces(S, L, C, R, t, F, scratch, slopes, force, lack, Q):
    """Q += s_q^T p + S^T (F - p),   lack = F - p"""
    for i in range(L.forces.shape[0]):
        total, first = evaluate_force(L, i, t, F, scratch), C.start[R.block[i]]
        for target in range(L.forces[i, TARGET], L.forces[i, TARGET_END]):
            m, p = L.targets[target, MEASURE], force[target]
            lack[target] = force_along(L, target, total, scratch.results) - p
            push_along(S, L, m, p, F, Q)
            at = R.start[target]
            for u in range(R.start[target + 1] - at):
                Q[C.coordinate[first + u]] += slopes.along[at + u] * lack[target]


@kernel(inline=True)
def change_forces(L, C, R, slopes, dq, dqd, lack, change):
    """dp = F - p + F_q dq + F_qd dqd"""
    for i in range(L.forces.shape[0]):
        first = C.start[R.block[i]]
        for target in range(L.forces[i, TARGET], L.forces[i, TARGET_END]):
            at, total = R.start[target], lack[target]
            for u in range(R.start[target + 1] - at):
                j = C.coordinate[first + u]
                total += slopes.by_q[at + u] * dq[j] + slopes.by_qd[at + u] * dqd[j]
            change[target] = total
