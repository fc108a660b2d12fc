"""The doors of reference-point coordinates, on the sparse factorization: a step costs as much as there are bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..doors import door
from ..equations import D, Work, accelerate, residual_of_kkt, solve_kkt
from ..formula_rows import rows_at
from ..functions import functions_at
from ..kernels import kernel
from ..loads import Loads, applied
from ..moving_frames import move_frames, place_frames
from ..rows import S, gamma, phi, phi_q
from .index1 import project as project_state

Floats = NDArray[np.float64]

SINGULAR = 1e11  # spread of the pivots above which accelerations and multipliers have lost their digits
LEFT = 1e4  # the same against the spread at the first output: light bodies among heavy ones have a large one always


class Sparse(NamedTuple):
    """Context of these doors."""

    S: S
    L: Loads
    D: D
    w: Work
    tolerance: Floats
    found: Floats  # largest errors of the constraint equations at the three levels
    singular_at: Floats  # time of the first output in a singular pose; spread of the pivots at the first one
    lost: Floats  # at outputs: largest share of an equation that is left over, largest gap as a length


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
    note_lost_digits(c, t)
    for i in range(out.size):
        out[i] = w.x[n + i]


@door
def latest_multipliers(c, t, y, out):
    """lam of the state whose accelerations were just found, with y = (q, qd, qdd)."""
    n = y.size // 3
    for i in range(out.size):
        out[i] = c.w.x[n + i]
    note_lost_digits(c, t)
    note_errors(c, y[n : 2 * n], y[2 * n :])


@kernel
def note_lost_digits(c, t):
    """How far the equations of motion that were just solved are from being so; whether the pose is singular."""
    w, n = c.w, c.w.Q.size
    lost = residual_of_kkt(c.S, c.D, w.Q, w.row, w)
    if not lost <= c.lost[0]:
        c.lost[0] = lost
    spread = spread_of_pivots(c.D, n, w.v)
    if np.isnan(c.singular_at[1]):
        c.singular_at[1] = spread
    if np.isnan(c.singular_at[0]) and spread > max(SINGULAR, LEFT * c.singular_at[1]):
        c.singular_at[0] = t


@kernel
def spread_of_pivots(D, n, v):
    """How much smaller a pivot is than the constraint's own share of Phi_q M^-1 Phi_q^T; v holds its reciprocal.

    It is 1 / sin^2 of the angle between a row and the rows before it in the metric of the masses, whatever the units:
    infinite in a singular pose, and M / m where a body of mass m stands between bodies of mass M.
    """
    spread = 1.0
    for i in range(n, D.diagonal.size):
        spread = max(spread, abs(v[D.diagonal[i]]) * D.shares[i - n])
    return spread


@kernel
def note_errors(c, qd, qdd):
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma: the largest of each goes into `found`."""
    S, w, found = c.S, c.w, c.found
    phi(S, w.f, w.F, w.row)
    for i in range(w.row.size):
        found[0] = max(found[0], abs(w.row[i]))
        c.lost[1] = max(c.lost[1], abs(w.row[i]) * c.D.per_row[i])
    gamma(S, w.f, w.F, w.row)
    for i in range(w.row.size):
        rate, second = -w.f[i, 1], -w.row[i]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            rate += w.data[p] * qd[S.jac_column[p]]
            second += w.data[p] * qdd[S.jac_column[p]]
        found[1], found[2] = max(found[1], abs(rate)), max(found[2], abs(second))


def softened(d: D, n: int, compliance: Floats) -> D:
    """The same program for rows that give way: -compliance in the block of the multipliers."""
    if not np.any(compliance):
        return d
    template, soft = d.template.copy(), np.broadcast_to(compliance, d.compliance.shape).astype(float)
    template[d.diagonal[n:]] = -soft
    return d._replace(template=template, compliance=soft, dropped=d.dropped[:0])


def new_context(system: Any, d: D, w: Work, tolerance: float) -> Sparse:
    return Sparse(
        system.arrays,
        system.load_arrays,
        d,
        w,
        np.array([tolerance]),
        np.zeros(3),
        np.full(2, np.nan),
        np.zeros(2),
    )
