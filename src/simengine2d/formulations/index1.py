"""Index 1: the accelerations as a function of the state, kept on the constraints by projection.

    [ M      Phi_q^T ] [ qdd ]   [ QA    ]          y = (q, qd),  yd = (qd, qdd)
    [ Phi_q     0    ] [ lam ] = [ gamma ]

Positions and velocities are brought back to Phi = 0 and Phi_q qd = nu by the smallest change in the metric of M,
which is the same matrix with the right-hand sides (0, -Phi) and (0, nu - Phi_q qd).
"""

from __future__ import annotations

from ..coordinates.reference_point import place_frames
from ..equations import solve_kkt
from ..functions import functions_at
from ..kernels import kernel
from ..system import phi, phi_q


@kernel(entry=False)
def project(S, D, t, y, tolerance, w):
    """Bring y onto the constraints. Returns the violations of Phi and of its rate that were found."""
    n, m = w.Q.size, w.row.size
    q, qd = y[:n], y[n:]
    functions_at(S.functions, t, w.f)
    found = 0.0
    for iteration in range(5):
        place_frames(S, q, w.F)
        phi(S, w.f, w.F, w.row)
        violation = 0.0
        for i in range(m):
            violation = max(violation, abs(w.row[i]))
            w.row[i] = -w.row[i]
        if iteration == 0:
            found = violation
        if violation <= tolerance:
            break
        phi_q(S, w.F, w.data)
        for j in range(n):
            w.Q[j] = 0.0
        solve_kkt(S, D, w.Q, w.row, w)
        for j in range(n):
            q[j] += w.x[j]
    phi_q(S, w.F, w.data)
    rate_found = 0.0
    for i in range(m):
        rate = w.f[i, 1]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            rate -= w.data[p] * qd[S.jac_column[p]]
        w.row[i] = rate
        rate_found = max(rate_found, abs(rate))
    if rate_found > tolerance:
        for j in range(n):
            w.Q[j] = 0.0
        solve_kkt(S, D, w.Q, w.row, w)
        for j in range(n):
            qd[j] += w.x[j]
    return found, rate_found
