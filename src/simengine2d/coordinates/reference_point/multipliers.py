"""Multipliers at outputs, from the motion of the bodies, and what is noticed with them.

    M qdd + Phi_q^T lam = QA

Families that find multipliers by themselves leave them to be read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import constant
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer, rare_kernel_pointer
from ...numerics.rank import LOST_PIVOT
from ...system.constraints import SystemArrays, gamma, phi
from ...system.equations_of_motion import EquationArrays, evaluate_state, solve_kkt
from ...system.kkt_refinement import SHARE, larger_share, mean_acceleration, residual_of_kkt
from ...system.system import System
from ...system.workspace import Workspace
from ..equations import OutputMonitors, OutputMultipliers, new_monitors

Floats = NDArray[np.float64]

SINGULAR = (
    1.0 / LOST_PIVOT
)  # spread of the pivots above which accelerations and multipliers have lost their digits
LEFT = 1e4  # the same against the spread at the first output: light bodies among heavy ones have a large one always


class Sparse(NamedTuple):
    """Context of these kernel pointers, and of the verbs in `sparse`."""

    S: SystemArrays
    D: EquationArrays
    w: Workspace
    monitors: OutputMonitors


def new_sparse(system: System, d: EquationArrays, w: Workspace) -> Sparse:
    return Sparse(system.arrays, constant(d), w, new_monitors())


def multipliers_of_bodies(
    system: System, d: EquationArrays, w: Workspace, corrected: bool
) -> OutputMultipliers:
    """Multipliers for any coordinates, from the motion of the bodies; accelerations are corrected where asked for."""
    context = new_sparse(system, d, w)
    pointer = corrected_motion if corrected else multipliers_of_motion
    return OutputMultipliers(pointer.bind(context), context.monitors)


@rare_kernel_pointer
def multipliers_of_motion(c, t, y, out):
    """lam of Phi_q^T lam = QA - M qdd, with y = (q, qd, qdd): what the constraints must take up.

    It is the multiplier of the smallest change of qdd that closes the balance. A formulation's own multipliers come
    back from its own accelerations, since M qdd = QA - Phi_q^T lam.
    """
    w, n = c.w, y.size // 3
    evaluate_state(c.S, t, y[:n], y[n : 2 * n], w)
    note_errors(c, y[n : 2 * n], y[2 * n :])
    take_up(c, y[2 * n :])
    note_lost_digits(c, t)
    note_change(c, y[2 * n :])
    for i in range(out.size):
        out[i] = w.x[n + i]


@kernel_pointer
def corrected_motion(c, t, y, out):
    """lam, and what rounding has taken from qdd in other coordinates, with y = (q, qd, qdd).

    [ M      Phi_q^T ] [ change ]   [ QA - M qdd        ]
    [ Phi_q     0    ] [ lam    ] = [ gamma - Phi_q qdd ]

    In a singular pose, where this leaves more over than qdd did, qdd stays as it is.
    """
    S, w, n = c.S, c.w, y.size // 3
    qdd = y[2 * n :]
    evaluate_state(S, t, y[:n], y[n : 2 * n], w)
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
    x, changed, least = c.w.x, c.monitors.changed, SHARE * mean_acceleration(c.S, c.D, c.w.Q, qdd)
    for i in range(c.S.mass.size):
        change = max(abs(x[3 * i]), abs(x[3 * i + 1]), c.D.arms[i] * abs(x[3 * i + 2]))
        changed[0] = larger_share(changed[0], change, reach_of(c.D, qdd, least, 3 * i))


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
    w, monitors, singular_at = c.w, c.monitors, c.monitors.singular_at
    lost = residual_of_kkt(c.S, c.D, w.Q, w.row, w)
    if not lost <= monitors.lost[0]:
        monitors.lost[0] = lost
    spread = spread_of_pivots(c.D, w.Q.size, w.v)
    if np.isnan(singular_at[1]):
        singular_at[1] = spread
    if np.isnan(singular_at[0]) and spread > max(SINGULAR, LEFT * singular_at[1]):
        singular_at[0] = t


@kernel
def spread_of_pivots(D, n, v):
    """How much smaller a pivot is than the constraint's own share of Phi_q M^-1 Phi_q^T; v holds its reciprocal.

    It is 1 / sin^2 of the angle between a row and the rows before it in the metric of the masses, whatever the units:
    infinite in a singular pose, and M / m where a body of mass m is between bodies of mass M.
    """
    spread = 1.0
    for i in range(n, D.diagonal.size):
        spread = max(spread, abs(v[D.diagonal[i]]) * D.shares[i - n])
    return spread


@kernel
def note_errors(c, qd, qdd):
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma: the largest of each goes into the monitors."""
    S, w = c.S, c.w
    errors, lost, changed = c.monitors.errors, c.monitors.lost, c.monitors.changed
    phi(S, w, w.row)
    for i in range(w.row.size):
        errors[0] = max(errors[0], abs(w.row[i]))
        lost[1] = max(lost[1], abs(w.row[i]) * c.D.per_row[i])
    gamma(S, w, w.row)
    least = SHARE * mean_acceleration(S, c.D, w.Q, qdd)
    for j in range(0, qdd.size, 3):
        w.reach[j] = w.reach[j + 1] = reach_of(c.D, qdd, least, j)
        w.reach[j + 2] = w.reach[j] / c.D.arms[j // 3]
    for i in range(w.row.size):
        rate, second, size = -w.f[i, 1], -w.row[i], abs(w.row[i])
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            j = S.jac_column[p]
            rate += w.data[p] * qd[j]
            second += w.data[p] * qdd[j]
            size += abs(w.data[p]) * w.reach[j]
        errors[1], errors[2] = max(errors[1], abs(rate)), max(errors[2], abs(second))
        changed[1] = larger_share(changed[1], abs(second), size)


@kernel_pointer
def note_rows(c, unused, rows, times):
    """The same for motions [q, qd, qdd, lam], one after another, at some times."""
    n, wide = c.w.Q.size, rows.size // max(1, times.size)
    for k in range(times.size):
        row = rows[k * wide : (k + 1) * wide]
        evaluate_state(c.S, times[k], row[:n], row[n : 2 * n], c.w)
        note_errors(c, row[n : 2 * n], row[2 * n : 3 * n])


@kernel(inline=True)
def reach_of(D, qdd, least, j):
    """Size of the accelerations of the body to which coordinate j belongs."""
    k, arm = j - j % 3, D.arms[j // 3]
    size = max(least, abs(qdd[k]), abs(qdd[k + 1]), arm * abs(qdd[k + 2]))
    return size / arm if j % 3 == 2 else size
