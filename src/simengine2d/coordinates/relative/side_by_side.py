"""Outputs of a tree, eight side by side: the same kernels as for one, on tables of lanes.

The recursion from body to body waits for its last step; with several outputs at once it does not, and the processor
computes them together. Each has the numbers that it would have alone, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...numerics.lanes import LANES, chosen, everywhere, lane_zeros, lanes_in, lanes_of_rows, rows_of_lanes
from ...numerics.rotation import FAR
from ...system.kkt_refinement import SHARE, larger_share
from .articulated import accelerate_joints, eliminate_joints, weigh
from .held_rows import HeldRows
from .joint_forces import (
    ACCELERATION,
    GAP,
    POSITION,
    SHARED,
    VELOCITY,
    JointForces,
    forces_inward,
    mean_acceleration,
)
from .tree_motion import AX, AY, BODY, BODY_STATE, Tree, move_tree, place_body, write_acceleration, write_place

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LOST = 5  # beside the errors: what is left over of the equations


class SideBySide(NamedTuple):
    """Context of `several_outputs`; the last dimension of what it writes is that of the lanes."""

    c: JointForces
    gravity: Floats
    state: Floats
    angles: Floats
    cosines: Floats
    sines: Floats
    y: Floats  # (z, zd)
    zdd: Floats
    q: Floats  # (q, qd, qdd)
    lam: Floats
    carried: Floats
    slope: Floats
    basis: Floats
    R: Floats
    F: Floats
    errors: Floats
    told: Ints  # (1,): outputs that are written


class Written(NamedTuple):
    """What `forces_inward` writes."""

    T: Tree
    held: HeldRows
    carried: Floats
    applied: Floats
    errors: Floats


@kernel_pointer
def several_outputs(s, first, rows, out):
    """The motion of the bodies and lam at outputs from `first` on; rows and out as in `recover`.

    told[0] is then the first one that is not written: `first` itself where some output is not an ordinary one.
    """
    n, q, m, k = s.zdd.shape[0], s.q.shape[0] // 3, s.lam.shape[0], int(first)
    count = out.size // (3 * q + m)
    wide = rows.size // count - 1
    s.told[0] = k
    lanes_of_rows(rows, k * wide, wide, count - 1 - k, s.y, 2 * n)
    if told(s):
        used = min(LANES, count - k)
        monitor(s, used)
        write_several(s, k, used, count, out)
        s.told[0] = k + used


@kernel(inline=True)
def told(s):
    """Motion and multipliers in all lanes; False where angles are large or nothing is finite."""
    c, y, zdd = s.c, lanes_in(s.y), lanes_in(s.zdd)
    N, angles = lanes_in(s.state), lanes_in(s.angles)
    T = Tree(c.T.numbers, c.T.constant, N, angles, lanes_in(s.cosines), lanes_in(s.sines))
    nb = T.numbers.shape[0]
    # accelerations
    N[nb, AX], N[nb, AY] = -s.gravity[0], -s.gravity[1]
    move_tree(T, y, False)
    far = abs(angles[0])
    for k in range(1, nb):
        far = chosen(abs(angles[k]) <= far, far, abs(angles[k]))
    if not everywhere(far < FAR):
        return False
    weigh(T)
    eliminate_joints(T)
    accelerate_joints(T, zdd)
    usual = SHARE * mean_acceleration(T, c.arms, c.applied)
    if not everywhere(usual < np.inf):
        return False
    # bodies
    q, rates, second = lanes_in(s.q[: 3 * nb]), lanes_in(s.q[3 * nb : 6 * nb]), lanes_in(s.q[6 * nb :])
    for k in range(nb):
        i = 3 * T.numbers[k, BODY]
        place_body(T, k, y)
        write_place(N, k, i, q, rates)
        write_acceleration(N, k, i, nb, second)
    # forces
    held, carried, errors, h = c.held, lanes_in(s.carried), lanes_in(s.errors), c.held
    for k in range(nb):
        for a in range(5):
            carried[k, a] = 0.0
    for a in range(LOST):
        errors[a] = 0.0
    held = HeldRows(
        h.number, h.start, h.frame_body, h.frame, lanes_in(s.F), h.term, h.weight, h.period, h.row_start, h.f,
        lanes_in(s.slope), lanes_in(s.basis), lanes_in(s.R),
    )  # fmt: skip
    w = Written(T, held, carried, c.applied, errors)
    errors[LOST] = forces_inward(c, w, lanes_in(s.q), usual, lanes_in(s.lam))
    return True


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


@kernel(inline=True)
def write_several(s, first, used, count, out):
    """Rows of all q, all qd, all qdd and all lam."""
    n, m = s.q.shape[0] // 3, s.lam.shape[0]
    for part in range(3):
        rows_of_lanes(s.q, part * n, n, out, (part * count + first) * n, n, used)
    rows_of_lanes(s.lam, 0, m, out, 3 * count * n + first * m, m, used)


# Building -----------------------------------------------------------------------------------------------


def side_by_side(c: JointForces, gravity: Floats, n: int) -> SideBySide:
    """The tables for the outputs of a tree with n freedoms."""
    nb, held = len(c.T.numbers), c.held
    return SideBySide(
        c, gravity,
        *(lane_zeros(*shape) for shape in (
            (nb + 1, BODY_STATE), (nb,), (nb,), (nb,), (2 * n,), (n,), (9 * nb,), (c.per_row.size,), (nb, 5),
            held.slope.shape, held.basis.shape, held.R.shape, held.F.shape, (LOST + 1,),
        )),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
