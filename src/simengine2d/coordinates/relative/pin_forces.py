"""Multipliers of mechanisms whose joints are all pins: the forces in these, from the last bodies inward.

    f_k = m_k a_k - Q_k + sum f_j,      0 = moment about the pin,      j: bodies on k, and pins that close loops

These are the Newton-Euler equations on the arms with which the accelerations were just computed, and with them the
forces in pins that close loops. What is left to check are the moments, and the pins themselves, from the motion of the
bodies on both sides. Where that does not hold in loops, or near a singular pose, the whole system is solved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...methods import Formulation
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ...system.frames import EX as ARM_X
from ...system.frames import EY as ARM_Y
from ...system.frames import PX as PLACE_X
from ...system.frames import PY as PLACE_Y
from ...system.kkt_refinement import SHARE, larger_share
from ..equations import OutputMonitors, OutputMultipliers
from .joint_multipliers import HOLDS, is_singular, whole_system
from .loops import OTHER, PINNED, ROW, Loops
from .tree_motion import (  # fmt: skip
    ALPHA,
    AX,
    AY,
    BODY,
    CX,
    CY,
    DX,
    DY,
    GX0,
    GY0,
    INERTIA,
    KIND,
    MASS,
    OMEGA,
    PARENT,
    PIN,
    Tree,
)

if TYPE_CHECKING:
    from .relative import Relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# entries of `worst`: errors of positions, velocities and accelerations; the last relative to its terms
POSITION, VELOCITY, ACCELERATION, SHARED = range(4)


class PinForces(NamedTuple):
    """Context of `pin_forces`. Bodies are numbered as in the tree."""

    T: Tree
    arms: Floats  # lengths by which moments are compared with forces
    applied: Floats  # forces and moments about O; empty if there are none
    row: Ints  # (bodies, 2): of x and y in each pin
    weight: Floats  # (bodies, 2): Phi_q for x and y of the body in these rows
    carried: Floats  # (bodies, 4): force and moment of the bodies outboard, and the size of the terms of the moment
    loops: Loops
    closing: Ints  # rows of the system that close loops
    follows: int  # 1 if accelerations are those of the equations of motion at the state
    worst: Floats
    monitors: OutputMonitors
    whole_f: Any  # the same from the whole system; 0 if no loops are closed
    whole_c: Any


@kernel_pointer
def pin_forces(c, t, y, out):
    """lam of the state whose accelerations were just computed, with y = (q, qd, qdd)."""
    closed, worst, monitors = c.whole_f != 0, c.worst, c.monitors
    if closed and is_singular(c):
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    for k in range(worst.size):
        worst[k] = 0.0
    for k in range(c.carried.shape[0]):
        for a in range(4):
            c.carried[k, a] = 0.0
    close_pins(c, y, out)
    lost = forces_inward(c, y, out)
    if closed and c.follows == 1:  # else rows are pulled or give way, and need not hold
        lost = larger_share(lost, worst[SHARED], 1.0)
    if closed and not lost <= HOLDS:
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    for k in range(3):
        monitors.errors[k] = max(monitors.errors[k], worst[k])
    monitors.lost[1] = max(monitors.lost[1], worst[POSITION])
    monitors.changed[1] = larger_share(monitors.changed[1], worst[SHARED], 1.0)
    if not lost <= monitors.lost[0]:
        monitors.lost[0] = lost


@kernel(inline=True)
def close_pins(c, y, out):
    """The forces of pins that close loops, on the bodies at both ends."""
    loops, weight = c.loops, c.loops.weight
    for g in range(loops.group.shape[0] - 1):
        i, j = loops.group[g, ROW], loops.group[g, OTHER]
        r, s = loops.row_start[i], loops.row_start[j]
        a, b, fx, fy = loops.term[r, 1], loops.term[r, 2], weight[r] * loops.lam[i], weight[s] * loops.lam[j]
        out[c.closing[i]], out[c.closing[j]] = loops.lam[i], loops.lam[j]
        press(c, b, fx, fy)
        press(c, a, -fx, -fy)
        one, other = point_at(c, y, b), point_at(c, y, a)
        # Phi = w (b - a) - f, with a constant f
        gap = (one[0] - other[0] - loops.f[i, 0] / weight[r], one[1] - other[1] - loops.f[j, 0] / weight[s])
        note_pin(c, gap, one, other, abs(one[4]) + abs(one[5]) + abs(other[4]) + abs(other[5]))


@kernel(inline=True)
def press(c, frame, fx, fy):
    """A force at a frame, taken to the pin of its body."""
    k, F, carried = c.loops.frame_body[frame], c.loops.F, c.carried
    if k < c.T.numbers.shape[0]:
        one, two = F[frame, ARM_X] * fy, F[frame, ARM_Y] * fx
        carried[k, 0] += fx
        carried[k, 1] += fy
        carried[k, 2] += one - two
        carried[k, 3] += abs(one) + abs(two)


@kernel(inline=True)
def forces_inward(c, y, out):
    """The forces in all pins of the tree. Returns the largest moment left, relative to its terms."""
    T, carried = c.T, c.carried
    J, N, nb = T.constant, T.state, T.numbers.shape[0]
    usual, lost = SHARE * mean_acceleration(c), 0.0
    for k in range(nb - 1, -1, -1):
        # m a of the mass center; the ground accelerates with -g
        m, cx, cy, alpha, omega2 = J[k, MASS], N[k, CX], N[k, CY], N[k, ALPHA], N[k, OMEGA] * N[k, OMEGA]
        fx = m * (N[k, AX] - alpha * cy - omega2 * cx)
        fy = m * (N[k, AY] + alpha * cx - omega2 * cy)
        turning = J[k, INERTIA] * alpha
        moment = turning + cx * fy - cy * fx + carried[k, 2]
        size = abs(turning) + abs(cx * fy) + abs(cy * fx) + carried[k, 3]
        fx, fy = fx + carried[k, 0], fy + carried[k, 1]
        if c.applied.size > 0:
            fx, fy = fx - c.applied[3 * k], fy - c.applied[3 * k + 1]
            moment -= c.applied[3 * k + 2]
            size += abs(c.applied[3 * k + 2])
        # a pin carries a force alone; moments that are rounding errors of other terms need not vanish
        arm = c.arms[k]
        size += (m * (abs(cx) + abs(cy)) + J[k, INERTIA] / arm) * usual
        lost = larger_share(lost, abs(moment), max(size, SHARE * (abs(fx) + abs(fy)) * arm))
        out[c.row[k, 0]], out[c.row[k, 1]] = -fx / c.weight[k, 0], -fy / c.weight[k, 1]
        p = T.numbers[k, PARENT]
        if p < nb:
            one, two = N[k, DX] * fy, N[k, DY] * fx
            carried[p, 0] += fx
            carried[p, 1] += fy
            carried[p, 2] += one - two
            carried[p, 3] += abs(one) + abs(two)
        check_pin(c, k, y)
    return lost


@kernel(inline=True)
def mean_acceleration(c):
    """Of all bodies, weighted by mass: the actual one with the weight, or the one that applied forces would cause."""
    J, N, momenta, masses, forces = c.T.constant, c.T.state, 0.0, 0.0, 0.0
    for k in range(J.shape[0]):
        momenta += J[k, MASS] * (abs(N[k, AX]) + abs(N[k, AY]) + c.arms[k] * abs(N[k, ALPHA]))
        masses += J[k, MASS]
    for k in range(c.applied.size // 3):
        forces += abs(c.applied[3 * k]) + abs(c.applied[3 * k + 1]) + abs(c.applied[3 * k + 2]) / c.arms[k]
    return max(momenta, forces) / masses


@kernel(inline=True)
def check_pin(c, k, y):
    """A pin of the tree: its point of the body against its point of the parent."""
    index, N, J, n = c.T.numbers, c.T.state, c.T.constant, y.size // 3
    p, i = index[k, PARENT], 3 * index[k, BODY]
    one = point_of(y, n, i, -N[k, CX], -N[k, CY])
    other = (N[k, DX], N[k, DY], 0.0, 0.0, 0.0, 0.0)
    if p < index.shape[0]:
        other = point_of(y, n, 3 * index[p, BODY], N[k, DX] - N[p, CX], N[k, DY] - N[p, CY])
    gap = (one[0] - other[0] - J[k, GX0], one[1] - other[1] - J[k, GY0])
    size = max(abs(one[4]) + abs(one[5]), abs(y[2 * n + i]) + abs(y[2 * n + i + 1]))
    note_pin(c, gap, one, other, size)


@kernel(inline=True)
def note_pin(c, gap, one, other, size):
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma of a pin."""
    worst, second = c.worst, max(abs(one[4] - other[4]), abs(one[5] - other[5]))
    worst[POSITION] = max(worst[POSITION], abs(gap[0]), abs(gap[1]))
    worst[VELOCITY] = max(worst[VELOCITY], abs(one[2] - other[2]), abs(one[3] - other[3]))
    worst[ACCELERATION] = max(worst[ACCELERATION], second)
    worst[SHARED] = larger_share(worst[SHARED], second, size) if second > 0.0 else worst[SHARED]


@kernel(inline=True)
def point_at(c, y, frame):
    """The same as `point_of` for a frame of a row that closes a loop."""
    k, F, N = c.loops.frame_body[frame], c.loops.F, c.T.state
    if k == c.T.numbers.shape[0]:
        return F[frame, PLACE_X], F[frame, PLACE_Y], 0.0, 0.0, 0.0, 0.0
    i = 3 * c.T.numbers[k, BODY]
    return point_of(y, y.size // 3, i, F[frame, ARM_X] - N[k, CX], F[frame, ARM_Y] - N[k, CY])


@kernel(inline=True)
def point_of(y, n, i, ex, ey):
    """Position, velocity and acceleration of the point of a body at an arm e from its mass center."""
    omega, alpha = y[n + i + 2], y[2 * n + i + 2]
    return (
        y[i] + ex,
        y[i + 1] + ey,
        y[n + i] - omega * ey,
        y[n + i + 1] + omega * ex,
        y[2 * n + i] - alpha * ey - omega * omega * ex,
        y[2 * n + i + 1] + alpha * ex - omega * omega * ey,
    )


# Building ---------------------------------------------------------------------------------------------


def is_pinned(family: Relative, loops: Loops) -> bool:
    """Whether all bodies are on pins, pins close the loops, and no other row carries anything."""
    on_pins = bool(np.all(family.tree.numbers[:, KIND] == PIN))
    closed_by_pins = bool(np.all(loops.group[:-1, PINNED] == 1))
    rows = 2 * (len(family.branches) + len(loops.group) - 1)
    return on_pins and closed_by_pins and family.system.m == family.system.arrays.term_a.size == rows


def multipliers_of_pins(
    family: Relative, loops: Loops, applied: Floats, formulation: Formulation
) -> OutputMultipliers:
    """Where the accelerations are computed in the tree of the loops, and with them the `applied` forces."""
    system, S, tree = family.system, family.system.arrays, loops.T
    row = np.array([branch.joint.rows for branch in family.branches if branch.joint], dtype=np.int64)
    term, body = S.row_start[row], tree.numbers[:, BODY]
    side = np.where(S.frame_body[S.term_b[term]] == body[:, None], 1.0, -1.0)
    arms, weight = np.zeros(len(row)), np.zeros(row.shape)

    def write_numbers() -> None:
        arms[:], weight[:] = system.arms[body], side * S.term_weight[term]

    system.follow_numbers(write_numbers)
    follows = not formulation.gives_way and formulation.stabilization == (0.0, 0.0)
    whole, monitors = whole_system(family, follows)
    context = PinForces(
        tree,
        arms,
        applied,
        row,
        weight,
        np.zeros((len(row), 4)),
        loops,
        np.array(family.remaining_rows, dtype=np.int64),
        int(follows),
        np.zeros(4),
        monitors,
        *(whole[:2] if whole else (0, 0)),
    )
    return OutputMultipliers(pin_forces.bind(context), monitors)
