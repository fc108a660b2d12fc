"""A mechanism solved as a whole, by Newton with a sparse factorization of Phi_q.

Phi_q dq = -Phi,      Phi_q qd = nu,      Phi_q qdd = gamma
"""

from __future__ import annotations

from ...expressions.function_table import functions_at
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.rank import LOST_PIVOT
from ...numerics.sparse_lu import factor, solve
from ...system.constraints import gamma, move_on, phi, phi_q, place
from .stepper import CONTRACTION, DETERMINANTS, DONE, LARGEST_TURN, PIVOT, PIVOTS_EACH, REPIVOT, STUCK, WHY

GROWTH = 1e4  # size of a multiplier that calls for new pivots


@kernel
def position(S, P, w, t, q):
    """Newton for Phi(q, t) = 0 from the prediction in q, with the functions of time in w.rows.f.

    Returns (converged, largest multiplier of the factors).
    """
    # factor Phi_q at the prediction
    length, rows, lu, dq = w.length[0], w.rows, w.lu, w.dq
    place(S, t, q, rows)
    phi_q(S, rows)
    pivot, growth, _ = factor(P, rows.data, lu, w.work)
    if not pivot > LOST_PIVOT:
        return False, growth
    before = 1.0e300
    for iteration in range(8):
        # a correction, and its size as a length
        phi(S, rows, w.Phi)
        solve(P, lu, w.Phi, dq, w.work)
        size, turn, reach = 0.0, 0.0, length
        for j in range(q.size):
            q[j] -= dq[j]
            size = max(size, abs(dq[j]) * w.size[j])
            reach = max(reach, abs(q[j]) * w.size[j])
            if j % 3 == 2:
                turn = max(turn, abs(dq[j]))
        if not size < 1.0e100 or turn > LARGEST_TURN:
            return False, growth
        place(S, t, q, rows)
        # converged, or too slow
        nothing_left = size <= 1.0e-15 * reach or (iteration > 0 and size <= 1.0e-12 * reach)
        only_rounding_left = iteration > 0 and size <= 1.0e-9 * length and size >= 0.5 * before
        if nothing_left or only_rounding_left:
            return True, growth
        if size > CONTRACTION * before and size > 1.0e-9 * length:
            return False, growth
        before = size
    return False, growth


@kernel
def rates(S, P, w, t, q, qd, qdd):
    """Velocities and accelerations at a closed pose. Returns (smallest pivot, growth)."""
    rows = w.rows
    place(S, t, q, rows)
    phi_q(S, rows)
    pivot, growth, _ = factor(P, rows.data, w.lu, w.work)
    if not pivot > LOST_PIVOT:
        return pivot, growth
    for i in range(rows.row.size):  # nu = f'
        rows.row[i] = rows.f[i, 1]
    solve(P, w.lu, rows.row, qd, w.work)
    move_on(S, t, qd, rows)
    gamma(S, rows, rows.row)
    solve(P, w.lu, rows.row, qdd, w.work)
    for i in range(w.pivots.size):
        w.pivots[i] = w.lu[P.diagonal[i]]
    return pivot, growth


@kernel_pointer
def solve_whole(c, t, q, answer):
    """The motion at a time, from the guess in q."""
    S, P, w = c.S, c.P, c.w
    functions_at(S.functions, w.rows.scratch, t, w.rows.f)
    answer[WHY] = STUCK
    closes, growth = position(S, P, w, t, q)
    if closes:
        pivot, growth = rates(S, P, w, t, q, w.new_d, w.new_dd)
        answer[PIVOT], answer[DETERMINANTS], answer[PIVOTS_EACH] = pivot, 1.0, q.size
        if pivot > LOST_PIVOT:
            answer[WHY] = DONE
    if growth > GROWTH:
        answer[WHY] = REPIVOT


@kernel_pointer
def measure_whole(c, t, y, worst):
    """The largest errors so far, of the state just solved."""
    errors_of_whole(c.S, c.w, c.w.new_d, c.w.new_dd, worst)


@kernel
def errors_of_whole(S, w, qd, qdd, worst):
    """Errors of all rows, redundant ones too, at the three levels."""
    start, column, data = S.jac_start, S.jac_column, w.rows.data
    phi(S, w.rows, w.Phi)
    for i in range(w.Phi.size):
        velocity, acceleration = -w.rows.f[i, 1], -w.rows.row[i]
        for p in range(start[i], start[i + 1]):
            velocity += data[p] * qd[column[p]]
            acceleration += data[p] * qdd[column[p]]
        worst[0] = max(worst[0], abs(w.Phi[i]))
        worst[1] = max(worst[1], abs(velocity))
        worst[2] = max(worst[2], abs(acceleration))
