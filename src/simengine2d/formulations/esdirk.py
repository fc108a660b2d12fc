"""Steps for stiff motions: a diagonally implicit method of order 4 on the index-1 equations, stage by stage.

    M a + Phi_q^T lam = QA,      Phi_q a = gamma      at      v_i = qd + h sum_j A_ij a_j,   q_i = q + h sum_j A_ij v_j

Newton's matrix, with b = (h / 4)^2 and c = h / 4, is the same for all stages; the derivatives of gamma are left out,
which are not stiff:

    [ M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd   Phi_q^T ]
    [ Phi_q                                         0    ]

Nothing is divided by h^2, as the constraints of index 3 are: accelerations and multipliers keep their digits in short
steps. The last stage is the end of the step, and its accelerations and multipliers are those that are reported. The end
is then brought onto the constraints by the smallest change in the metric of the same matrix, which a stiff spring
resists.

The first stage is the end of the last step, so that the stages are of order 2: positions that a stiff spring holds are
followed as exactly as others. The method is L-stable, and its estimate of order 3.

Kennedy & Carpenter, Applied Numerical Mathematics 44 (2003) 139-181: ESDIRK4(3)6L[2]SA.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.reference_point.projection import correct, largest_error, position_errors, rate_errors
from ..expressions.function_table import functions_at
from ..numerics.kernel import kernel
from ..numerics.ldl import eliminate, solve_again, substitute
from ..system.constraints import gamma as acceleration_side
from ..system.constraints import phi_q, place
from ..system.derivatives import newton_matrix
from ..system.equations_of_motion import evaluate_state, solve_kkt

Floats = NDArray[np.float64]

A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 4, 1 / 4, 0, 0, 0, 0],
        [8611 / 62500, -1743 / 31250, 1 / 4, 0, 0, 0],
        [5012029 / 34652500, -654441 / 2922500, 174375 / 388108, 1 / 4, 0, 0],
        [
            15267082809 / 155376265600,
            -71443401 / 120774400,
            730878875 / 902184768,
            2285395 / 8070912,
            1 / 4,
            0,
        ],
        [82889 / 524892, 0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4],
    ]
)
ERROR = A[5] - np.array(
    [
        4586570599 / 29645900160,
        0,
        178811875 / 945068544,
        814220225 / 1159782912,
        -3700637 / 11593932,
        61727 / 225920,
    ]
)

STAGES = 6
GAMMA = 0.25
MOST_ITERATIONS = 12
MOST_CORRECTIONS = 4
SLOW = 0.3  # reduction of an error at which the matrix is made anew
STALLED = 1e-8  # changes, against the accelerations, which are rounding where they become no smaller


class Esdirk(NamedTuple):
    """The stages of a step, and the table of the method."""

    a: Floats  # (6, n), accelerations of the stages
    A: Floats
    AA: Floats  # A^2
    c: Floats
    error: Floats
    twice: Floats  # error A
    counts: Floats  # iterations and factorizations


ITERATIONS, FACTORIZATIONS = range(2)


def new_esdirk(n: int) -> Esdirk:
    return Esdirk(np.zeros((STAGES, n)), A.copy(), A @ A, A.sum(axis=1), ERROR.copy(), ERROR @ A, np.zeros(2))


@kernel
def place_stage(p, i, h):
    """q_i and v_i of the accelerations tried."""
    k, q, qd = p.esdirk, p.new[0], p.new[1]
    for j in range(q.size):
        first, second = 0.0, 0.0
        for s in range(i + 1):
            first += k.A[i, s] * k.a[s, j]
            second += k.AA[i, s] * k.a[s, j]
        q[j] = p.q[j] + h * (k.c[i] * p.qd[j] + h * second)
        qd[j] = p.qd[j] + h * first


@kernel
def stage_residual(S, L, t, p, a, w):
    """QA - M a - Phi_q^T lam and gamma - Phi_q a into w.rest, with everything at the stage evaluated."""
    evaluate_state(S, L, t, p.new[0], p.new[1], w)
    acceleration_side(S, w, w.row)
    rest, n = w.rest, a.size
    for i in range(S.mass.size):
        rest[3 * i] = w.Q[3 * i] - S.mass[i] * a[3 * i]
        rest[3 * i + 1] = w.Q[3 * i + 1] - S.mass[i] * a[3 * i + 1]
        rest[3 * i + 2] = w.Q[3 * i + 2] - S.inertia[i] * a[3 * i + 2]
    for i in range(p.lam.size):
        rest[n + i] = w.row[i]
        for e in range(S.jac_start[i], S.jac_start[i + 1]):
            rest[S.jac_column[e]] -= w.data[e] * p.new_lam[i]
            rest[n + i] -= w.data[e] * a[S.jac_column[e]]


@kernel
def stage_change(S, L, D, p, t, h, anew, w):
    """Newton's correction into w.x, by the factors that are there or by new ones."""
    p.esdirk.counts[ITERATIONS] += 1.0
    if not anew:
        solve_again(D.program, w.v, w.rest, w.x, w.work)
        return
    c = GAMMA * h
    newton_matrix(S, L, D, t, p.new[0], p.new[1], p.new_lam, c * c, c, w)
    for k in range(w.rest.size):
        w.v[D.right[k]] = w.rest[k]
    eliminate(D.program, w.v)
    substitute(D.program, w.v, w.x, w.work)
    p.esdirk.counts[FACTORIZATIONS] += 1.0


@kernel
def solve_stage(S, L, D, p, i, t, h, w):
    """Newton's iteration for the accelerations and multipliers of stage i; whether they came to rest."""
    a, n = p.esdirk.a[i], p.q.size
    anew, before = i == 1, 1.0e300
    for iteration in range(MOST_ITERATIONS):
        place_stage(p, i, h)
        stage_residual(S, L, t, p, a, w)
        stage_change(S, L, D, p, t, h, anew, w)
        size, largest = 0.0, 0.0
        for k in range(w.x.size):
            if not abs(w.x[k]) < 1.0e200:  # max(0, nan) would be 0
                return False
        for j in range(n):
            a[j] += w.x[j]
            size = max(size, abs(w.x[j]) / p.scale[j])
            largest = max(largest, abs(a[j]) / p.scale[j])
        for k in range(p.lam.size):
            p.new_lam[k] += w.x[n + k]
        if size <= p.tolerance[0] * largest + p.tolerance[1]:
            return True
        if iteration > 1 and size > 0.5 * before:
            if size <= STALLED * largest:
                return True
            if size > 2.0 * before:
                return False
        anew = size > SLOW * before
        before = size
    return False


@kernel
def esdirk_step(S, L, D, p, t, h, rtol, atol, w):
    """One step to t into p.new and p.new_lam. Returns its error in tolerances, or infinity where there is no step."""
    k = p.esdirk
    for i in range(p.lam.size):
        p.new_lam[i] = p.lam[i]
    for j in range(p.q.size):
        k.a[0, j] = p.qdd[j]
    for i in range(1, STAGES):
        for j in range(p.q.size):
            k.a[i, j] = k.a[i - 1, j]
        if not solve_stage(S, L, D, p, i, t - (1.0 - k.c[i]) * h, h, w):
            return np.inf
    place_stage(p, STAGES - 1, h)
    for j in range(p.q.size):
        p.new[2, j] = p.new[3, j] = k.a[STAGES - 1, j]
    return step_error(p, h, rtol, atol)


@kernel
def step_error(p, h, rtol, atol):
    """Difference to the embedded method in positions and velocities, in tolerances."""
    k, worst = p.esdirk, 0.0
    for j in range(p.q.size):
        first, second = 0.0, 0.0
        for s in range(STAGES):
            first += k.error[s] * k.a[s, j]
            second += k.twice[s] * k.a[s, j]
        of_q = atol[j] + rtol * max(abs(p.q[j]), abs(p.new[0, j]))
        of_qd = atol[j] + rtol * max(abs(p.qd[j]), abs(p.new[1, j]))
        worst = max(worst, abs(h * h * second) / of_q, abs(h * first) / of_qd)
    return worst


@kernel
def smallest_multipliers(S, D, p, t, w):
    """The smallest lam with the same forces, where redundant constraints leave a choice.

    M x + Phi_q^T y = Phi_q^T lam,   Phi_q x = 0      has x = 0 and all such lam as its y
    """
    functions_at(S.functions, w.scratch, t, w.f)
    place(S, t, p.q, w)
    phi_q(S, w)
    for j in range(p.q.size):
        w.Q[j] = 0.0
    for i in range(p.lam.size):
        w.row[i] = 0.0
        for e in range(S.jac_start[i], S.jac_start[i + 1]):
            w.Q[S.jac_column[e]] += w.data[e] * p.lam[i]
    solve_kkt(S, D, w.Q, w.row, w)
    for i in range(p.lam.size):
        p.lam[i] = w.x[p.q.size + i]


@kernel
def hold(S, D, p, t, w):
    """Bring the state onto the constraints, first q, then qd, by the factors of the step."""
    functions_at(S.functions, w.scratch, t, w.f)
    level, before, n = 0, np.inf, p.q.size
    for _ in range(2 * MOST_CORRECTIONS):
        place(S, t, p.q, w)
        phi_q(S, w)
        if level == 0:
            position_errors(S, w)
        else:
            rate_errors(S, p.qd, w)
        found = largest_error(D, w.row)
        if found == 0.0 or found > 0.5 * before:
            if level == 1:
                return
            level, before = 1, np.inf
            continue
        before = found
        for j in range(n):
            w.rest[j] = 0.0
        for i in range(p.lam.size):
            w.rest[n + i] = w.row[i]
        solve_again(D.program, w.v, w.rest, w.x, w.work)
        correct(D, p.q if level == 0 else p.qd, w.x, found)
