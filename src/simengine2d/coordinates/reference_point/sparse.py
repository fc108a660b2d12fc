"""The equations of motion in reference points, on a sparse factorization: the cost is linear in the bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...expressions.function_table import functions_at
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.ldl import eliminate
from ...system.constraints import phi, phi_q, place
from ...system.equations_of_motion import EquationArrays, accelerate, fill_matrix, solve_kkt
from ...system.system import System
from ...system.workspace import Workspace
from ..equations import POSITION, EquationsOfMotion, Verb
from .multipliers import new_sparse

Floats = NDArray[np.float64]


@kernel_pointer
def accelerations(c, t, y, out):
    """(qd, qdd); lam stays in w.x."""
    n = y.size // 2
    accelerate(c.S, c.D, t, y[:n], y[n:], c.w)
    for j in range(n):
        out[j], out[n + j] = y[n + j], c.w.x[j]


@kernel_pointer
def evaluate(c, t, y, out):
    """Frames, functions of time and Phi_q."""
    functions_at(c.S.functions, c.w.scratch, t, c.w.f)
    place(c.S, t, y[: c.w.Q.size], c.w)
    phi_q(c.S, c.w)


@kernel_pointer
def pivots(c, t, q, out):
    """The matrix at q eliminated; the reciprocals of its pivots stay in w.v."""
    w = c.w
    functions_at(c.S.functions, w.scratch, t, w.f)
    place(c.S, t, q, w)
    phi_q(c.S, w)
    fill_matrix(c.D, w.data, w.v)
    eliminate(c.D.program, w.v)


@kernel_pointer
def residual(c, level, y, row):
    """-Phi, or nu - Phi_q qd"""
    S, w, n = c.S, c.w, y.size // 2
    if level == POSITION:
        phi(S, w, row)
        for i in range(row.size):
            row[i] = -row[i]
        return
    for i in range(row.size):
        row[i] = w.f[i, 1]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            row[i] -= w.data[p] * y[n + S.jac_column[p]]


@kernel_pointer
def smallest_change(c, unused, row, x):
    """x of M x + Phi_q^T lam = 0, Phi_q x = row; the pivots stay in w.v."""
    w = c.w
    for j in range(w.Q.size):
        w.Q[j] = 0.0
    solve_kkt(c.S, c.D, w.Q, row, w)
    for j in range(x.size):
        x[j] = w.x[j]


class SparseEquations(EquationsOfMotion):
    """The equations of a system; those who know its program and scratch arrays share them."""

    accelerate = Verb(accelerations)
    evaluate = Verb(evaluate)
    residual = Verb(residual)
    smallest_change = Verb(smallest_change)

    def __init__(self, system: System, d: EquationArrays, w: Workspace) -> None:
        self.context = new_sparse(system, d, w)
        self.per_row, self.per_coordinate = d.per_row, d.per_coordinate


def softened(d: EquationArrays, n: int, compliance: Floats) -> EquationArrays:
    """The same program for rows that give way: -compliance in the block of the multipliers."""
    if not np.any(compliance):
        return d
    template, soft = d.template.copy(), np.broadcast_to(compliance, d.compliance.shape).astype(float)
    template[d.diagonal[n:]] = -soft
    return d._replace(template=template, compliance=soft, dropped=d.dropped[:0])
