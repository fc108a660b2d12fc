"""Exact derivatives of the forces at a state, the basis of statics, vibrations and control.

    QA_q, QA_qd            of the applied forces
    (Phi_q^T lam)_q        of the constraint forces, with the multipliers held
    (Phi_q v)_q            of the velocities of the rows, with v held

Their sum is the stiffness K = (Phi_q^T lam)_q - QA_q and the damping C = -QA_qd of the equations
M qdd + Phi_q^T lam = QA about that state. Nothing is symmetrized: damping and turning forces keep their
unsymmetric part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, listed
from ...model.measure import ANGLE
from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...system.derivatives import add_force_block, add_wrench_block, differentiate_force
from ...system.failures import finite_QA
from ...system.formulas.derivatives import add_row_block, bend_rows
from ...system.frames import term_hessian
from ...system.system import System

# Kernels ----------------------------------------------------------------------------------------------


@kernel(entry=True)
def row_slopes(S, lam, v, w, K, rates):
    """K += sum_i lam_i (Phi_i)_qq, and row i of `rates` += (Phi_i)_qq v."""
    nb, body, H = S.mass.size, S.frame_body, w.H
    for i in range(lam.size):
        for k in range(S.row_start[i], S.row_start[i + 1]):
            if S.term_kind[k] == ANGLE:  # the only measure without curvature
                continue
            a, b, weight = S.term_a[k], S.term_b[k], w.weight[k]
            term_hessian(S.term_kind[k], w.F, a, b, H)
            add_block(body[a], body[b], nb, lam[i] * weight, H, K)
            add_product(body[a], body[b], nb, weight, H, v, rates[i])


@kernel(entry=True)
def formula_row_slopes(S, t, lam, v, w, where, B, K, rates):
    """The same for the curvature of formulas themselves; B is scratch, n x n."""
    bend_rows(t, w)
    for i in range(S.formulas.row.size):
        row = S.formulas.row[i]
        B[:] = 0.0
        add_row_block(S, i, 1.0, w, where, B)
        for j in range(v.size):
            for k in range(v.size):
                K[j, k] += lam[row] * B[j, k]
                rates[row, k] += v[j] * B[j, k]


@kernel
def add_block(body_a, body_b, nb, factor, H, K):
    """Add factor H into the rows and columns of two bodies; the ground has none."""
    for r in range(6):
        i = 3 * (body_a if r < 3 else body_b) + r % 3
        for s in range(6):
            j = 3 * (body_a if s < 3 else body_b) + s % 3
            if i < 3 * nb and j < 3 * nb:
                K[i, j] += factor * H[r, s]


@kernel
def add_product(body_a, body_b, nb, factor, H, v, out):
    """out += factor H v over the coordinates of two bodies."""
    for r in range(6):
        i = 3 * (body_a if r < 3 else body_b) + r % 3
        for s in range(6):
            j = 3 * (body_a if s < 3 else body_b) + s % 3
            if i < 3 * nb and j < 3 * nb:
                out[i] += factor * H[r, s] * v[j]


@kernel(entry=True)
def applied_slopes(S, L, t, q, qd, w, where, G, by_q, by_qd):
    """Add QA_q and QA_qd to dense matrices; G is scratch, three rows of n."""
    n = q.size
    for i in range(L.forces.shape[0]):
        differentiate_force(L, i, t, w)
        add_force_block(S, L, i, qd, 1.0, 0.0, n, w, where, G, by_q)
        add_force_block(S, L, i, qd, 0.0, 1.0, n, w, where, G, by_qd)
    for i in range(L.wrench_frame.size):
        first = 3 * S.frame_body[L.wrench_frame[i]]
        add_wrench_block(S, L, i, t, q, qd, 1.0, 0.0, w.F, w.scratch, first, by_q)
        add_wrench_block(S, L, i, t, q, qd, 0.0, 1.0, w.F, w.scratch, first, by_qd)


# Matrices ---------------------------------------------------------------------------------------------


def force_slopes(system: System, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
    """QA_q and QA_qd, n x n."""
    n = system.n
    by_q, by_qd = np.zeros((n, n)), np.zeros((n, n))
    q, qd = np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(qd, dtype=float)
    S, L = system.arrays, system.load_arrays
    with system.at(t, q, qd) as w:
        applied_slopes(S, L, float(t), q, qd, w, first_coordinates(system), np.empty((3, n)), by_q, by_qd)
    return by_q, by_qd


def finite_slopes(system: System, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
    """QA_q and QA_qd; raises a ModelError if a force has a value but no derivative, like sqrt(x) at x = 0."""
    slopes = force_slopes(system, t, q, qd)
    if all(np.all(np.isfinite(slope)) for slope in slopes):
        return slopes
    finite_QA(system, t, q, qd)
    broken = ~np.isfinite(slopes[0]) | ~np.isfinite(slopes[1])
    names = listed(system.coordinate_names[i] for i in np.flatnonzero(broken.any(axis=1)))
    raise ModelError(
        f"at t = {t:g} s the forces on {names} change infinitely fast with the state, so they have no "
        "linearization there. Start from another pose, or use a law that is smooth there."
    )


def constraint_stiffness(system: System, t: float, q: Floats, lam: Floats) -> Floats:
    """(Phi_q^T lam)_q, n x n; symmetric except for velocity rows."""
    return _row_slopes(system, t, q, lam, np.zeros(system.n))[0]


def jacobian_slope(system: System, t: float, q: Floats, v: Floats) -> Floats:
    """(Phi_q v)_q, m x n."""
    return _row_slopes(system, t, q, np.zeros(system.m), v)[1]


def first_coordinates(system: System) -> NDArray[np.int64]:
    """The first coordinate of each body; the ground has none."""
    return np.append(3 * np.arange(len(system.bodies)), -1)


def _row_slopes(system: System, t: float, q: Floats, lam: Floats, v: Floats) -> tuple[Floats, Floats]:
    K, rates = np.zeros((system.n, system.n)), np.zeros((system.m, system.n))
    lam, v = np.ascontiguousarray(lam, dtype=float), np.ascontiguousarray(v, dtype=float)
    with system.at(t, q) as w:
        row_slopes(system.arrays, lam, v, w, K, rates)
        if system.has_formulas:
            B = np.zeros((system.n, system.n))
            formula_row_slopes(system.arrays, float(t), lam, v, w, first_coordinates(system), B, K, rates)
    if not (np.all(np.isfinite(K)) and np.all(np.isfinite(rates))):
        raise ModelError(
            f"at t = {t:g} s a joint or constraint changes infinitely fast with the pose, like acos(x) at x = 1, so "
            "it has no linearization there. Start from another pose, or write it in another way."
        )
    return K, rates
