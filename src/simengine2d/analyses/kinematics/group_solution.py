"""The groups of a mechanism, solved one after the other: positions, velocities, accelerations, and their errors.

Phi_q is block triangular in the order of the groups, so its determinant is the product of theirs, up to a constant: it
vanishes where one of these does.
"""

from __future__ import annotations

from ...expressions.function_table import functions_at
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ...numerics.rank import LOST_PIVOT
from .dyad_solution import solve_dyad, tangent
from .group_newton import close_group, rates_of_group
from .group_rows import (
    accelerate_frame,
    gap_of_row,
    move_frame,
    place_frame,
    rate_of_row,
    second_rate_of_row,
)
from .groups import DRIVEN, DYAD
from .hinges import (
    BAL,
    BPHI,
    BW,
    BX,
    BY,
    accelerate_on_hinge,
    acceleration_of,
    move_on_hinge,
    place_on_hinge,
    position_of,
    report_body,
    turn_body,
    velocity_of,
)
from .stepper import (
    CONTEXT,
    DETERMINANTS,
    DONE,
    LARGEST_TURN,
    MEASURE_OTHERS,
    PIVOT,
    PIVOTS_EACH,
    SOLVE_LARGER,
    STUCK,
    WHY,
)


@kernel(inline=True)
def solve_group(S, G, w, q, g):
    """Returns (smallest pivot, determinant); zeros if the group does not close."""
    form, h = G.form[g], G.hinge_start[g]
    if form == DRIVEN:
        place_on_hinge(S, G, w, q, h)
        move_on_hinge(S, G, w, h, w.x)
        accelerate_on_hinge(S, G, w, h, w.x)
        return 1.0, 1.0
    if form == DYAD:
        return solve_dyad(S, G, w, q, g)
    invoke(w.calls[SOLVE_LARGER], w.calls[CONTEXT], float(g), q, w.group_answer)
    return w.group_answer[0], w.group_answer[1]


@kernel(inline=True)
def solve_groups(S, G, w, q):
    """Returns the smallest pivot; 0 on failure. The reciprocals of the determinants are in w.pivots."""
    smallest = 1.0
    for g in range(G.form.size):
        pivot, determinant = solve_group(S, G, w, q, g)
        if not pivot > LOST_PIVOT:
            return 0.0
        smallest = min(smallest, pivot)
        w.pivots[g] = 1.0 / determinant
        for h in range(G.hinge_start[g], G.hinge_start[g + 1]):
            report_body(w, G.body[h], q)
    return smallest


@kernel_pointer
def solve_in_groups(c, t, q, answer):
    """The motion at a time, from the guess in q, from which no body may turn far."""
    S, G, w = c.S, c.G, c.w
    functions_at(S.functions, w.rows.scratch, t, w.rows.f)
    for j in range(2, q.size, 3):
        w.dq[j] = q[j]
    answer[PIVOT] = solve_groups(S, G, w, q)
    answer[WHY], answer[DETERMINANTS], answer[PIVOTS_EACH] = DONE, G.form.size, 1.0
    if not answer[PIVOT] > 0.0:
        answer[WHY] = STUCK
        return
    for j in range(2, q.size, 3):
        if not abs(q[j] - w.dq[j]) <= LARGEST_TURN:
            answer[WHY] = STUCK


@kernel_pointer
def solve_larger(c, g, q, answer):
    """A group that is neither driven nor a dyad: (smallest pivot, determinant)."""
    answer[0], answer[1] = close_group(c.S, c.G, c.w, q, int(g))
    if answer[0] > 0.0:
        rates_of_group(c.S, c.G, c.w, int(g))


@kernel_pointer
def choose_sides(c, t, q, side):
    """The side on which each dyad closes, that of the pose q: the sign of t1 x t2."""
    S, G, w, B = c.S, c.G, c.w, c.w.bodies
    functions_at(S.functions, w.rows.scratch, t, w.rows.f)
    for i in range(q.size // 3):
        turn_body(w, i, q[3 * i + 2])
        B[i, BX], B[i, BY] = q[3 * i], q[3 * i + 1]
    for g in range(G.form.size):
        if G.form[g] == DYAD:
            h = G.hinge_start[g]
            x, y = position_of(S, B, G.tip[h])
            t1x, t1y = tangent(S, G, w, h, x, y)
            t2x, t2y = tangent(S, G, w, h + 1, x, y)
            side[g] = 1.0 if t1x * t2y > t1y * t2x else -1.0


# Errors -----------------------------------------------------------------------------------------------


@kernel(inline=True)
def errors_of_pins(S, G, w, worst):
    """Errors of the two rows of each pin, at the three levels."""
    B, f, pins = w.bodies, w.rows.f, G.pins
    position, velocity, acceleration = worst[0], worst[1], worst[2]
    for p in range(pins.shape[0]):
        a, b, i, j = pins[p, 0], pins[p, 1], pins[p, 2], pins[p, 3]
        ax, ay = position_of(S, B, a)
        bx, by = position_of(S, B, b)
        position = max(position, abs(bx - ax - f[i, 0]), abs(by - ay - f[j, 0]))
        ax, ay = velocity_of(S, B, a)
        bx, by = velocity_of(S, B, b)
        velocity = max(velocity, abs(bx - ax - f[i, 1]), abs(by - ay - f[j, 1]))
        ax, ay = acceleration_of(S, B, a)
        bx, by = acceleration_of(S, B, b)
        acceleration = max(acceleration, abs(bx - ax - f[i, 2]), abs(by - ay - f[j, 2]))
    worst[0], worst[1], worst[2] = position, velocity, acceleration


@kernel(inline=True)
def errors_of_angles(S, G, w, worst):
    """Errors of the rows on single angles."""
    B, f, angles = w.bodies, w.rows.f, G.angles
    for p in range(angles.shape[0]):
        a, b, i = angles[p, 0], angles[p, 1], angles[p, 2]
        k, m = S.frame_body[a], S.frame_body[b]
        gap = B[m, BPHI] + S.frame_angle[b] - B[k, BPHI] - S.frame_angle[a] - f[i, 0]
        worst[0] = max(worst[0], abs(gap))
        worst[1] = max(worst[1], abs(B[m, BW] - B[k, BW] - f[i, 1]))
        worst[2] = max(worst[2], abs(B[m, BAL] - B[k, BAL] - f[i, 2]))


@kernel_pointer
def measure_groups(c, t, y, worst):
    """The largest errors so far of all rows, redundant ones too, at the three levels, of the state just solved."""
    errors_of_pins(c.S, c.G, c.w, worst)
    errors_of_angles(c.S, c.G, c.w, worst)
    if c.G.others.size > 0:
        invoke(c.w.calls[MEASURE_OTHERS], c.w.calls[CONTEXT], t, y, worst)


@kernel_pointer
def measure_others(c, t, y, worst):
    """The same for rows of any measure."""
    S, G, w = c.S, c.G, c.w
    for p in range(G.other_frames.size):
        place_frame(S, w, G.other_frames[p])
        move_frame(S, w, G.other_frames[p])
        accelerate_frame(S, w, G.other_frames[p])
    for p in range(G.others.size):
        i = G.others[p]
        worst[0] = max(worst[0], abs(gap_of_row(S, w.rows, i)))
        worst[1] = max(worst[1], abs(rate_of_row(S, w.rows, i)))
        worst[2] = max(worst[2], abs(second_rate_of_row(S, w.rows, w.A, i)))
