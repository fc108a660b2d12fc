"""The doors of reference-point coordinates, on the sparse factorization: a step costs as much as there are bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..doors import door
from ..equations import D, Work, accelerate, solve_kkt
from ..formula_rows import rows_at
from ..functions import functions_at
from ..kernels import kernel
from ..loads import Loads, applied
from ..moving_frames import move_frames, place_frames
from ..rows import S, gamma, phi, phi_q
from .index1 import project as project_state

Floats = NDArray[np.float64]

SINGULAR = 1e11  # spread of the pivots above which accelerations and multipliers have lost their digits


class Sparse(NamedTuple):
    """Context of these doors."""

    S: S
    L: Loads
    D: D
    w: Work
    tolerance: Floats
    found: Floats  # largest errors of the constraint equations at the three levels
    singular_at: Floats  # time of the first output at which accelerations had lost their digits


@door
def accelerations(c, t, y, out):
    """(qd, qdd); lam stays in w.x."""
    n = y.size // 2
    accelerate(c.S, c.L, c.D, t, y[:n], y[n:], c.w)
    for j in range(n):
        out[j], out[n + j] = y[n + j], c.w.x[j]


@door
def solve(c, t, y, out):
    """x of M x + Phi_q^T lam = b, Phi_q x = c with y = (q, b, c), and lam; the pivots stay in w.v."""
    w, n = c.w, c.w.Q.size
    place_frames(c.S, y[:n], w.F)
    rows_at(c.S, t, w.F, w.f)
    phi_q(c.S, w.F, w.data)
    solve_kkt(c.S, c.D, y[n : 2 * n], y[2 * n :], w)
    for k in range(out.size):
        out[k] = w.x[k]


@door
def project(c, t, y, notes):
    """Bring y onto the constraints."""
    n = y.size // 2
    project_state(c.S, c.D, t, y[:n], y[n:], c.tolerance[0], notes, c.w)


@door
def watch(c, t, y, notes):
    """Leave y as it is."""


@door
def multipliers(c, t, y, out):
    """lam of Phi_q^T lam = QA - M qdd, with y = (q, qd, qdd): what the constraints must take up.

    It is the multiplier of the smallest change of qdd that closes the balance. A formulation's own multipliers come
    back from its own accelerations, since M qdd = QA - Phi_q^T lam.
    """
    S, w, n = c.S, c.w, y.size // 3
    q, qd, qdd = y[:n], y[n : 2 * n], y[2 * n :]
    functions_at(S.functions, t, w.f)
    place_frames(S, q, w.F)
    move_frames(S, qd, w.F)
    rows_at(S, t, w.F, w.f)
    phi_q(S, w.F, w.data)
    applied(S, c.L, t, w.f, w.F, q, qd, w.Q)
    note_errors(c, qd, qdd)
    for j in range(n):
        w.Q[j] -= (S.inertia[j // 3] if j % 3 == 2 else S.mass[j // 3]) * qdd[j]
    for i in range(out.size):
        w.row[i] = 0.0
    solve_kkt(S, c.D, w.Q, w.row, w)
    for i in range(out.size):
        out[i] = w.x[n + i]


@door
def latest_multipliers(c, t, y, out):
    """lam of the state whose accelerations were just found, with y = (q, qd, qdd)."""
    n = y.size // 3
    for i in range(out.size):
        out[i] = c.w.x[n + i]
    if np.isnan(c.singular_at[0]) and spread_of_pivots(c.D, n, c.w.v) > SINGULAR:
        c.singular_at[0] = t
    note_errors(c, y[n : 2 * n], y[2 * n :])


@kernel
def spread_of_pivots(D, n, v):
    """Largest over smallest pivot of the multipliers; v holds their reciprocals."""
    smallest, largest = 1.0e300, 0.0
    for i in range(n, D.diagonal.size):
        pivot = abs(v[D.diagonal[i]])
        smallest, largest = min(smallest, pivot), max(largest, pivot)
    return largest / smallest if largest > 0.0 else 1.0


@kernel
def note_errors(c, qd, qdd):
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma: the largest of each goes into `found`."""
    S, w, found = c.S, c.w, c.found
    phi(S, w.f, w.F, w.row)
    for i in range(w.row.size):
        found[0] = max(found[0], abs(w.row[i]))
    gamma(S, w.f, w.F, w.row)
    for i in range(w.row.size):
        rate, second = -w.f[i, 1], -w.row[i]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            rate += w.data[p] * qd[S.jac_column[p]]
            second += w.data[p] * qdd[S.jac_column[p]]
        found[1], found[2] = max(found[1], abs(rate)), max(found[2], abs(second))


def softened(d: D, n: int, compliance: Floats) -> D:
    """The same program with -compliance in the block of the multipliers, which then needs no refinement."""
    if not np.any(compliance):
        return d
    template = d.template.copy()
    template[d.diagonal[n:]] = -compliance
    return d._replace(template=template, refinements=np.zeros(1, dtype=np.int64))


def new_context(system: Any, d: D, w: Work, tolerance: float) -> Sparse:
    return Sparse(
        system.arrays, system.load_arrays, d, w, np.array([tolerance]), np.zeros(3), np.array([np.nan])
    )
