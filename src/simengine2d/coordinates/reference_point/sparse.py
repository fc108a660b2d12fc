"""The kernels of reference-point coordinates, on the sparse factorization: a step costs as much as there are bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.rank import LOST_PIVOT
from ...system.applied_forces import Loads
from ...system.constraints import SystemArrays, gamma, phi, phi_q, place
from ...system.equations_of_motion import (
    SHARE,
    EquationArrays,
    accelerate,
    evaluate_state,
    larger_share,
    mean_acceleration,
    residual_of_kkt,
    solve_kkt,
)
from ...system.workspace import Workspace
from .projection import project as project_state

Floats = NDArray[np.float64]

SINGULAR = (
    1.0 / LOST_PIVOT
)  # spread of the pivots above which accelerations and multipliers have lost their digits
LEFT = 1e4  # the same against the spread at the first output: light bodies among heavy ones have a large one always


class Sparse(NamedTuple):
    """Context of these kernel pointers."""

    S: SystemArrays
    L: Loads
    D: EquationArrays
    w: Workspace
    tolerance: Floats
    found: Floats  # largest errors of the constraint equations at the three levels
    singular_at: Floats  # time of the first output in a singular pose; spread of the pivots at the first one
    lost: Floats  # at outputs: largest share of an equation that is left over, largest gap as a length
    moved: Floats  # at outputs: largest change of accelerations, and of what rows ask of them, against their sizes


@kernel_pointer
def accelerations(c, t, y, out):
    """(qd, qdd); lam stays in w.x."""
    n = y.size // 2
    accelerate(c.S, c.L, c.D, t, y[:n], y[n:], c.w)
    for j in range(n):
        out[j], out[n + j] = y[n + j], c.w.x[j]


@kernel_pointer
def solve(c, t, y, out):
    """x of M x + Phi_q^T lam = b, Phi_q x = c with y = (q, b, c), and lam; the pivots stay in w.v."""
    w, n = c.w, c.w.Q.size
    place(c.S, t, y[:n], w)
    phi_q(c.S, w)
    solve_kkt(c.S, c.D, y[n : 2 * n], y[2 * n :], w)
    for k in range(out.size):
        out[k] = w.x[k]


@kernel_pointer
def project(c, t, y, notes):
    """Bring y onto the constraints."""
    n = y.size // 2
    project_state(c.S, c.D, t, y[:n], y[n:], c.tolerance[0], notes, c.w)


@kernel_pointer
def watch(c, t, y, notes):
    """Leave y as it is."""


@kernel_pointer
def multipliers(c, t, y, out):
    """lam of Phi_q^T lam = QA - M qdd, with y = (q, qd, qdd): what the constraints must take up.

    It is the multiplier of the smallest change of qdd that closes the balance. A formulation's own multipliers come
    back from its own accelerations, since M qdd = QA - Phi_q^T lam.
    """
    w, n = c.w, y.size // 3
    evaluate_state(c.S, c.L, t, y[:n], y[n : 2 * n], w)
    note_errors(c, y[n : 2 * n], y[2 * n :])
    take_up(c, y[2 * n :])
    note_lost_digits(c, t)
    note_change(c, y[2 * n :])
    for i in range(out.size):
        out[i] = w.x[n + i]


@kernel_pointer
def motion(c, t, y, out):
    """lam, and what rounding has taken from qdd in other coordinates, with y = (q, qd, qdd).

    [ M      Phi_q^T ] [ change ]   [ QA - M qdd        ]
    [ Phi_q     0    ] [ lam    ] = [ gamma - Phi_q qdd ]

    In a singular pose, where this leaves more over than qdd did, qdd stays as it is.
    """
    S, w, n = c.S, c.w, y.size // 3
    qdd = y[2 * n :]
    evaluate_state(S, c.L, t, y[:n], y[n : 2 * n], w)
    gamma(S, w, w.row)
    add_inertia(S, qdd, -1.0, w.Q)
    add_slopes(S, w.data, qdd, -1.0, w.row)
    solve_kkt(S, c.D, w.Q, w.row, w)
    add_inertia(S, qdd, 1.0, w.Q)
    add_slopes(S, w.data, qdd, 1.0, w.row)
    note_change(c, qdd)
    for j in range(n):
        w.correction[j], w.x[j] = w.x[j], qdd[j]
    before = residual_of_kkt(S, c.D, w.Q, w.row, w)
    for j in range(n):
        w.x[j] += w.correction[j]
    if residual_of_kkt(S, c.D, w.Q, w.row, w) <= before:
        for j in range(n):
            qdd[j] = w.x[j]
    else:
        take_up(c, qdd)
    note_lost_digits(c, t)
    for i in range(out.size):
        out[i] = w.x[n + i]
    note_errors(c, y[n : 2 * n], qdd)


@kernel
def take_up(c, qdd):
    """w.x of M x + Phi_q^T lam = QA - M qdd, Phi_q x = 0."""
    w = c.w
    for i in range(w.row.size):
        w.row[i] = 0.0
    add_inertia(c.S, qdd, -1.0, w.Q)
    solve_kkt(c.S, c.D, w.Q, w.row, w)


@kernel
def add_inertia(S, qdd, sign, Q):
    """Q += sign M qdd"""
    for j in range(Q.size):
        Q[j] += sign * (S.inertia[j // 3] if j % 3 == 2 else S.mass[j // 3]) * qdd[j]


@kernel
def add_slopes(S, data, qdd, sign, row):
    """row += sign Phi_q qdd"""
    for i in range(row.size):
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            row[i] += sign * data[p] * qdd[S.jac_column[p]]


@kernel
def note_change(c, qdd):
    """The largest part of the accelerations of a body that the change in w.x is."""
    x, least = c.w.x, SHARE * mean_acceleration(c.S, c.D, c.w.Q, qdd)
    for i in range(c.S.mass.size):
        change = max(abs(x[3 * i]), abs(x[3 * i + 1]), c.D.arms[i] * abs(x[3 * i + 2]))
        c.moved[0] = larger_share(c.moved[0], change, reach_of(c.D, qdd, least, 3 * i))


@kernel_pointer
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
    phi(S, w, w.row)
    for i in range(w.row.size):
        found[0] = max(found[0], abs(w.row[i]))
        c.lost[1] = max(c.lost[1], abs(w.row[i]) * c.D.per_row[i])
    gamma(S, w, w.row)
    least = SHARE * mean_acceleration(S, c.D, w.Q, qdd)
    for i in range(w.row.size):
        rate, second, size = -w.f[i, 1], -w.row[i], abs(w.row[i])
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            j = S.jac_column[p]
            rate += w.data[p] * qd[j]
            second += w.data[p] * qdd[j]
            size += abs(w.data[p]) * reach_of(c.D, qdd, least, j)
        found[1], found[2] = max(found[1], abs(rate)), max(found[2], abs(second))
        c.moved[1] = larger_share(c.moved[1], abs(second), size)


@kernel(inline=True)
def reach_of(D, qdd, least, j):
    """Size of the accelerations of the body to which coordinate j belongs."""
    k, arm = j - j % 3, D.arms[j // 3]
    size = max(least, abs(qdd[k]), abs(qdd[k + 1]), arm * abs(qdd[k + 2]))
    return size / arm if j % 3 == 2 else size


def softened(d: EquationArrays, n: int, compliance: Floats) -> EquationArrays:
    """The same program for rows that give way: -compliance in the block of the multipliers."""
    if not np.any(compliance):
        return d
    template, soft = d.template.copy(), np.broadcast_to(compliance, d.compliance.shape).astype(float)
    template[d.diagonal[n:]] = -soft
    return d._replace(template=template, compliance=soft, dropped=d.dropped[:0])


def new_context(system: Any, d: EquationArrays, w: Workspace, tolerance: float) -> Sparse:
    return Sparse(
        system.arrays,
        system.load_arrays,
        d,
        w,
        np.array([tolerance]),
        np.zeros(3),
        np.full(2, np.nan),
        np.zeros(2),
        np.zeros(2),
    )
