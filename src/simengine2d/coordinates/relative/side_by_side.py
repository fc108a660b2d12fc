"""Outputs of a tree, eight side by side: the same kernels as for one, on tables of lanes.

The recursion from body to body waits for its last step; with several outputs at once it does not, and the processor
computes them together. Each has the numbers that it would have alone, to the last bit. Where one of them is not an
ordinary output, beside a singular pose or where nothing is finite, all are left to be made one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import JIT, kernel
from ...numerics.kernel_pointer import invoke, rare_kernel_pointer
from ...numerics.lanes import (
    LANES,
    anywhere,
    chosen,
    everywhere,
    lane_zeros,
    lanes_in,
    lanes_of_rows,
    larger,
    rows_of_lanes,
)
from ...numerics.rotation import FAR
from ...system.kkt_refinement import larger_share
from ..equations import AGAIN, LARGEST_CORRECTION, LEFT, UP_TO, VELOCITY, LaneSlopes, Several
from .articulated import accelerate_joints, eliminate_joints, weigh
from .held_rows import HeldRows
from .joint_forces import HOLDS, NEAR_SINGULAR, JointForces, balance
from .loops import Closing, Loops, change_of, close_loops, place_rows, row_residual, spread_of_loops
from .row_errors import GAP, SHARED
from .tree_motion import (  # fmt: skip
    AX,
    AY,
    BODY,
    COS,
    CX,
    CY,
    OMEGA,
    PHI,
    PW,
    PX,
    PY,
    SIN,
    VX,
    VY,
    Tree,
    X,
    Y,
    move_tree,
    place_body,
    write_acceleration,
    write_place,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BODIES = 2_000  # whose tables are not too large for the memory near the processor
MOST_CORRECTIONS = 5  # at each level; what needs more is no ordinary output
LOST = 5  # in `errors`, after those of rows: what is left over of the equations


class Limits(NamedTuple):
    """What is exact enough in a projection; see `ProjectionContext`."""

    per_row: Floats
    per_coordinate: Floats
    tolerance: Floats


class Tables(NamedTuple):
    """What is written for outputs side by side: the last dimension is that of the lanes."""

    c: JointForces
    gravity: Floats
    limits: Limits
    forces_f: Any
    forces_c: Any
    # the tree, and its state in one row
    state: Floats
    flat: Floats
    angles: Floats
    cosines: Floats
    sines: Floats
    # the rows that close loops
    F: Floats
    G: Floats
    W: Floats
    V: Floats
    b: Floats
    closing: Floats
    work: Floats
    row: Floats
    # the rows that the joints of the tree hold
    held: Floats
    slope: Floats
    basis: Floats
    R: Floats
    # the outputs
    y: Floats  # (z, zd)
    x: Floats  # a change of it, or zdd
    q: Floats  # (q, qd, qdd)
    lam: Floats
    applied: Floats
    carried: Floats
    errors: Floats
    times: Floats  # of the lanes
    told: Ints  # see `Several`
    done: Ints  # (1,): 1 if projection succeeded


class SideBySide(NamedTuple):
    """Context of `several_outputs`; a kernel pointer that is not needed is 0."""

    s: Tables
    project_f: Any
    project_c: Any
    loops_f: Any
    loops_c: Any


class Written(NamedTuple):
    """What `balance` reads and writes, side by side."""

    T: Tree
    held: HeldRows
    loops: Loops
    carried: Any
    applied: Any
    errors: Any


# Tables of lanes in place of arrays --------------------------------------------------------------------------


@kernel(inline=True)
def tree_in(s):
    T = s.c.T
    turned = lanes_in(s.angles), lanes_in(s.cosines), lanes_in(s.sines)
    return Tree(T.numbers, T.constant, lanes_in(s.state), turned[0], turned[1], turned[2])


@kernel(inline=True)
def loops_in(s):
    c = s.c.loops
    return Loops(
        tree_in(s), lanes_in(s.flat), c.functions, c.rows, c.frame_body, c.frame, c.term, c.weight, c.period,
        c.row_start, c.group, c.node, c.freedom, c.pair, c.program, c.f, lanes_in(s.F), lanes_in(s.G), lanes_in(s.W),
        lanes_in(s.V), lanes_in(s.b), lanes_in(s.closing), lanes_in(s.work), c.stabilization,
        c.compliance, c.soft,
    )  # fmt: skip


@kernel(inline=True)
def held_in(s):
    h = s.c.held
    return HeldRows(
        h.number, h.start, h.frame_body, h.frame, lanes_in(s.held), h.term, h.weight, h.period, h.row_start, h.f,
        lanes_in(s.slope), lanes_in(s.basis), lanes_in(s.R),
    )  # fmt: skip


@kernel(inline=True)
def closing_in(s):
    """Rows that close loops by pins at constant places."""
    return Closing(loops_in(s), 0, 0, 0, 0, 0, 0, 0, 0)


# Closed loops ---------------------------------------------------------------------------------------------


@rare_kernel_pointer
def project_lanes(s, unused, y, out):
    """`project`: each lane is corrected until it is on the constraints; done[0] is then 1."""
    closing, state, x, row = closing_in(s), lanes_in(s.y), lanes_in(s.x), lanes_in(s.row)
    n, tolerance = s.x.shape[0], s.limits.tolerance[0]
    s.done[0] = 0
    move_tree(closing.c.T, state, True)
    place_rows(closing, 0.0)
    for level in range(2):
        before, active, corrections = np.inf, 1.0, 0
        while True:
            error = errors_in(s, closing.c, level, row)
            active = chosen(error <= tolerance, 0.0, active)
            active = chosen(error > 0.5 * before, 0.0, active)
            if everywhere(active == 0.0):
                break
            corrections += 1
            if corrections > MOST_CORRECTIONS:
                return
            before = error
            change_of(closing, row, x)
            correct_lanes(s, state, x, level * n, error, active)
            if level == VELOCITY:
                active = chosen(LEFT * error <= tolerance, 0.0, active)
                if everywhere(active == 0.0):
                    break
            move_tree(closing.c.T, state, True)
            place_rows(closing, 0.0)
    s.done[0] = 1


@kernel(inline=True)
def errors_in(s, c, level, row):
    """-Phi, or nu - Phi_z zd, into row; the largest as a length of the mechanism."""
    error = abs(row[0]) * 0.0
    for i in range(row.size):
        row[i] = row_residual(c, level, i)
        error = larger(error, abs(row[i]) * s.limits.per_row[i])
    return error


@kernel(inline=True)
def correct_lanes(s, y, x, first, error, active):
    """y += x in lanes that are active, unless the change is out of proportion."""
    size = abs(x[0]) * 0.0
    for j in range(x.size):
        moved = abs(x[j]) * s.limits.per_coordinate[j]
        size = chosen(moved <= size, size, moved)
    active = chosen(size <= LARGEST_CORRECTION * error, active, 0.0)
    for j in range(x.size):
        y[first + j] = chosen(active > 0.0, y[first + j] + x[j], y[first + j])


@rare_kernel_pointer
def solve_loops_of_lanes(s, unused, y, out):
    """lam of the trees as they move, and the resulting forces on the freedoms."""
    closing = closing_in(s)
    place_rows(closing, 0.0)
    for i in range(closing.c.b.size):
        closing.c.b[i] = 0.0
    close_loops(closing)


@rare_kernel_pointer
def slopes_of_lanes(several, unused, y, out):
    """zdd of the states and at the times in the tables; done[0] is 1 unless some state is no ordinary one."""
    s = several.s
    s.done[0] = 1 if accelerated(several, tree_in(s), lanes_in(s.y), lanes_in(s.x)) else 0


# Outputs ----------------------------------------------------------------------------------------------------


@rare_kernel_pointer
def several_outputs(several, first, rows, out):
    """The motion of the bodies and lam at outputs from `first` on; rows and out as in `recover`."""
    s, k = several.s, int(first)
    n, q, m = s.x.shape[0], s.q.shape[0] // 3, s.lam.shape[0]
    count = out.size // (3 * q + m)
    wide = rows.size // count - 1
    s.told[UP_TO], s.told[AGAIN] = k, k + 1
    if s.c.whole_f != 0 and np.isnan(s.c.monitors.singular_at[1]):  # what is usual is not known yet
        return
    s.told[AGAIN] = k + LANES
    lanes_of_rows(rows, k * wide, wide, count - 1 - k, s.y, 2 * n)
    for lane in range(LANES):
        s.times[lane] = rows[count * wide + min(k + lane, count - 1)]
    if told(several):
        used = min(LANES, count - k)
        monitor(s, used)
        for part in range(3):
            rows_of_lanes(s.q, part * q, q, out, (part * count + k) * q, q, used)
        rows_of_lanes(s.lam, 0, m, out, 3 * count * q + k * m, m, used)
        s.told[UP_TO] = k + used


@kernel(inline=True)
def told(several):
    """Motion and multipliers in all lanes; False where an output is no ordinary one."""
    s = several.s
    if several.project_f != 0:
        invoke(several.project_f, several.project_c, 0.0, s.times, s.times)
        if s.done[0] == 0:
            return False
    T, y, zdd = tree_in(s), lanes_in(s.y), lanes_in(s.x)
    if not accelerated(several, T, y, zdd):
        return False
    w = Written(T, held_in(s), loops_in(s), lanes_in(s.carried), lanes_in(s.applied), lanes_in(s.errors))
    write_bodies(s, T, y)
    if s.c.whole_f != 0 and anywhere(spread_of_loops(w.loops) > NEAR_SINGULAR):
        return False
    lost = balance(s.c, w, lanes_in(s.q), lanes_in(s.lam))
    lanes_in(s.errors)[LOST] = lost
    return everywhere(lost < np.inf) and (s.c.whole_f == 0 or everywhere(lost <= HOLDS))


@kernel(inline=True)
def accelerated(several, T, y, zdd):
    """zdd; False where a turn is too large to be counted in quarters, or where something is not finite."""
    s, N, nb = several.s, T.state, T.numbers.shape[0]
    N[nb, AX], N[nb, AY] = -s.gravity[0], -s.gravity[1]
    move_tree(T, y, s.forces_f != 0 or several.loops_f != 0)
    far = abs(T.angles[0])
    for k in range(1, nb):
        far = chosen(abs(T.angles[k]) <= far, far, abs(T.angles[k]))
    if not everywhere(far < FAR):
        return False
    weigh(T)
    if s.forces_f != 0:
        apply_to_lanes(s, N)
    eliminate_joints(T)
    if several.loops_f != 0:
        invoke(several.loops_f, several.loops_c, 0.0, s.times, s.times)
    accelerate_joints(T, zdd)
    size = abs(zdd[0])
    for j in range(1, zdd.size):
        size = size + abs(zdd[j])
    return everywhere(size < np.inf)


@kernel(inline=True)
def apply_to_lanes(s, N):
    """Springs, forces and torques, whose laws are evaluated lane by lane."""
    one, ground = s.c.T.state, s.c.T.numbers.shape[0]
    for lane in range(LANES):
        for k in range(ground):
            for place in (PHI, OMEGA, COS, SIN, CX, CY, X, Y, VX, VY):
                one[k, place] = s.state[k, place, lane]
        invoke(s.forces_f, s.forces_c, s.times[lane], s.times, s.times)
        for j in range(s.c.applied.size):
            s.applied[j, lane] = s.c.applied[j]
    Q = lanes_in(s.applied)
    for k in range(ground):
        N[k, PX] -= Q[3 * k]
        N[k, PY] -= Q[3 * k + 1]
        N[k, PW] -= Q[3 * k + 2]


@kernel(inline=True)
def write_bodies(s, T, y):
    """(q, qd, qdd) of all bodies."""
    nb = T.numbers.shape[0]
    q, rates, second = lanes_in(s.q[: 3 * nb]), lanes_in(s.q[3 * nb : 6 * nb]), lanes_in(s.q[6 * nb :])
    for k in range(nb):
        i = 3 * T.numbers[k, BODY]
        place_body(T, k, y)
        write_place(T.state, k, i, q, rates)
        write_acceleration(T.state, k, i, nb, second)


@kernel(inline=True)
def monitor(s, used):
    """The worst of the outputs."""
    monitors = s.c.monitors
    for lane in range(used):
        for k in range(3):
            monitors.errors[k] = max(monitors.errors[k], s.errors[k, lane])
        monitors.lost[1] = max(monitors.lost[1], s.errors[GAP, lane])
        monitors.changed[1] = larger_share(monitors.changed[1], s.errors[SHARED, lane], 1.0)
        if not s.errors[LOST, lane] <= monitors.lost[0]:
            monitors.lost[0] = s.errors[LOST, lane]


# Building -----------------------------------------------------------------------------------------------


def several_at_once(
    c: JointForces, gravity: Floats, forces: tuple[Any, Any], limits: Limits, projected: bool
) -> Several:
    """Outputs of a tree, brought onto the constraints if `projected`; pins at constant places close its loops."""
    closed = c.closing.size > 0
    s = tables(c, gravity, forces, limits)
    solving = solve_loops_of_lanes.bind(s) if closed else None
    project = project_lanes.bind(s) if closed and projected else None
    pointers = [word for bound in (project, solving) for word in (bound[:2] if bound else (0, 0))]
    several = several_outputs.bind(SideBySide(s, *pointers))
    slopes = LaneSlopes(slopes_of_lanes.bind_like(several), s.y, s.x, s.times, s.done)
    kernels = [several_outputs, slopes_of_lanes]
    kernels += [
        kernel for kernel, there in ((project_lanes, project), (solve_loops_of_lanes, solving)) if there
    ]
    return Several(several, s.told, tuple(kernels), slopes)


def tables(c: JointForces, gravity: Floats, forces: tuple[Any, Any], limits: Limits) -> Tables:
    nb, n, loops, held = len(c.T.numbers), limits.per_coordinate.size, c.loops, c.held
    like = lambda array: lane_zeros(*array.shape)
    state = like(c.T.state)
    state[-1, COS] = 1.0
    return Tables(
        c, gravity, limits, *forces,
        state, state.reshape(-1, LANES), lane_zeros(nb), lane_zeros(nb), lane_zeros(nb),
        like(loops.F), like(loops.G), like(loops.W), like(loops.V), like(loops.b), like(loops.lam),
        like(loops.work), lane_zeros(c.closing.size),
        like(held.F), like(held.slope), like(held.basis), like(held.R),
        lane_zeros(2 * n), lane_zeros(n), lane_zeros(9 * nb), lane_zeros(c.per_row.size), like(c.applied),
        like(c.carried), lane_zeros(LOST + 1), np.zeros(LANES), np.array([0, 0, 0 if JIT else 1]),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
