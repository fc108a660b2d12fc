"""Index 1: the accelerations as a function of the state, kept on the constraints by projection.

    [ M      Phi_q^T ] [ qdd ]   [ QA    ]          y = (q, qd),  yd = (qd, qdd)
    [ Phi_q     0    ] [ lam ] = [ gamma ]

Positions and velocities are brought back to Phi = 0 and Phi_q qd = nu by the smallest change in the metric of M,
which is the same matrix with the right-hand sides (0, -Phi) and (0, nu - Phi_q qd).
"""

from __future__ import annotations

import numpy as np

from ...expressions.function_table import functions_at
from ...numerics.kernel import kernel
from ...system.constraints import phi, phi_q, place
from ...system.equations_of_motion import solve_kkt

MOST_CORRECTIONS = 8
LARGEST_CORRECTION = (
    1e4  # of a coordinate, against the violation it removes, both as lengths of the mechanism
)


# Staying on the constraints ---------------------------------------------------------------------------


@kernel(inline=True)
def correct(D, q, change, violation):
    """q += change, unless the change is out of proportion, as in a singular pose."""
    size = 0.0
    for j in range(q.size):
        size = max(size, abs(change[j]) * D.per_coordinate[j])
    if size <= LARGEST_CORRECTION * violation:
        for j in range(q.size):
            q[j] += change[j]


@kernel(inline=True)
def project(S, D, t, q, qd, tolerance, worst, w):
    """Bring a state onto the constraints, first q, then qd. What was found goes into `worst`."""
    functions_at(S.functions, w.scratch, t, w.f)
    before, level = np.inf, 0
    for iteration in range(MOST_CORRECTIONS):
        place(S, t, q, w)
        phi_q(S, w)
        if level == 0:
            position_errors(S, w)
        else:
            rate_errors(S, qd, w)
        found = largest_error(D, w.row)
        if iteration == 0:
            worst[0] = max(worst[0], largest_entry(w.row))
        if level == 0 and (found <= tolerance or found > 0.5 * before):
            level, before = 1, np.inf
            rate_errors(S, qd, w)
            found = largest_error(D, w.row)
            worst[1] = max(worst[1], largest_entry(w.row))
        if level == 1 and (found <= tolerance or found > 0.5 * before):
            return
        before = found
        for j in range(q.size):
            w.Q[j] = 0.0
        solve_kkt(S, D, w.Q, w.row, w)
        correct(D, q if level == 0 else qd, w.x, found)


@kernel(inline=True)
def position_errors(S, w):
    """-Phi into w.row."""
    phi(S, w, w.row)
    for i in range(w.row.size):
        w.row[i] = -w.row[i]


@kernel(inline=True)
def rate_errors(S, qd, w):
    """nu - Phi_q qd into w.row."""
    for i in range(w.row.size):
        w.row[i] = w.f[i, 1]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            w.row[i] -= w.data[p] * qd[S.jac_column[p]]


@kernel(inline=True)
def largest_error(D, row):
    """The largest error of a row as a length of the mechanism."""
    found = 0.0
    for i in range(row.size):
        found = max(found, abs(row[i]) * D.per_row[i])
    return found


@kernel(inline=True)
def largest_entry(row):
    found = 0.0
    for i in range(row.size):
        found = max(found, abs(row[i]))
    return found


@kernel
def bring_back(S, D, t, q, qd, tolerance, worst, w):
    """Bring a state onto the constraints as well as rounding allows."""
    project(S, D, t, q, qd, tolerance, worst, w)
