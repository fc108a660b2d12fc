"""Multipliers of a tree whose joints are all pins: the forces in these, from the last bodies inward.

    f_k = m_k a_k - Q_k + sum f_j,      0 = moment about the pin,      j: bodies on k

These are the Newton-Euler equations on the arms with which the accelerations were just computed. What is left to check
are the moments, and the pins themselves, from the motion of the bodies on both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import kernel_pointer
from ...system.kkt_refinement import SHARE, larger_share
from ..equations import OutputMonitors, OutputMultipliers, new_monitors
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


class PinForces(NamedTuple):
    """Context of `pin_forces`. Bodies are numbered as in the tree."""

    T: Tree
    arms: Floats  # lengths by which moments are compared with forces
    applied: Floats  # forces and moments about O; empty if there are none
    row: Ints  # (bodies, 2): of x and y in each pin
    weight: Floats  # (bodies, 2): Phi_q for x and y of the body in these rows
    carried: Floats  # (bodies, 4): force and moment of the bodies outboard, and the size of the terms of the moment
    monitors: OutputMonitors


@kernel_pointer
def pin_forces(c, t, y, out):
    """lam of the state whose accelerations were just computed, with y = (q, qd, qdd)."""
    T, carried, monitors = c.T, c.carried, c.monitors
    J, N, nb = T.constant, T.state, T.numbers.shape[0]
    for k in range(nb):
        for a in range(4):
            carried[k, a] = 0.0
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
    if not lost <= monitors.lost[0]:
        monitors.lost[0] = lost


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
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma of a pin: its point of the body against its point of the parent."""
    index, N, n = c.T.numbers, c.T.state, y.size // 3
    p, i, errors, changed = index[k, PARENT], 3 * index[k, BODY], c.monitors.errors, c.monitors.changed
    gx, gy, vx, vy, ax, ay = point_of(y, n, i, -N[k, CX], -N[k, CY])
    gx, gy = gx - c.T.constant[k, GX0], gy - c.T.constant[k, GY0]
    reach = abs(ax) + abs(ay)
    if p < index.shape[0]:
        other = point_of(y, n, 3 * index[p, BODY], N[k, DX] - N[p, CX], N[k, DY] - N[p, CY])
        gx, gy, vx, vy, ax, ay = (
            gx - other[0], gy - other[1], vx - other[2], vy - other[3], ax - other[4], ay - other[5],
        )  # fmt: skip
    else:
        gx, gy = gx - N[k, DX], gy - N[k, DY]
    gap, second = max(abs(gx), abs(gy)), max(abs(ax), abs(ay))
    errors[0], errors[1] = max(errors[0], gap), max(errors[1], abs(vx), abs(vy))
    errors[2], c.monitors.lost[1] = max(errors[2], second), max(c.monitors.lost[1], gap)
    size = max(reach, abs(y[2 * n + i]) + abs(y[2 * n + i + 1]))
    changed[1] = larger_share(changed[1], second, size) if second > 0.0 else changed[1]


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


def is_pinned(family: Relative) -> bool:
    """Whether all bodies are on pins, without loops, and no other row carries anything."""
    on_pins = bool(np.all(family.tree.numbers[:, KIND] == PIN))
    return on_pins and family.system.m == family.system.arrays.term_a.size == 2 * len(family.branches)


def multipliers_of_pins(family: Relative, tree: Tree, applied: Floats) -> OutputMultipliers:
    """Where the accelerations are computed in `tree`, and with them the `applied` forces."""
    system, S, monitors = family.system, family.system.arrays, new_monitors()
    row = np.array([branch.joint.rows for branch in family.branches if branch.joint], dtype=np.int64)
    term, body = S.row_start[row], tree.numbers[:, BODY]
    side = np.where(S.frame_body[S.term_b[term]] == body[:, None], 1.0, -1.0)
    arms, weight = np.zeros(len(row)), np.zeros(row.shape)

    def write_numbers() -> None:
        arms[:], weight[:] = system.arms[body], side * S.term_weight[term]

    system.follow_numbers(write_numbers)
    context = PinForces(tree, arms, applied, row, weight, np.zeros((len(row), 4)), monitors)
    return OutputMultipliers(pin_forces.bind(context), monitors)
