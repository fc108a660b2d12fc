"""Motion of a tree of bodies, from the ground outward.

Each body k has a reference point O_k at its inboard joint; the arms reach from O of its parent p to O_k (d) and from
O_k to its mass center (c), in global axes. With e the direction of a slide and s its coordinate:

    phi_k = phi_p + turn + sign theta
    v_k = v_p + omega_p x d + sd e
    a_k = a_p + alpha_p x d + sdd e + b,      b = -omega_p^2 d + 2 omega x sd e

Accelerations are those of the point of the body that is at O_k at the moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.frame import GROUND, PlacedFrame
from ...model.resolved_body import ResolvedBody
from ...numerics.arrays import columns, starts
from ...numerics.kernel import kernel
from ...numerics.lanes import chosen
from ...numerics.rotation import padded, rotate
from .tree import Branch, TreeJoint

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# how a body is connected to its parent: a slot is in the parent or in the body itself
PIN, SLIDE, SLOT, OWN_SLOT, WELD, FLOAT = range(6)
COORDINATES = np.array([1, 1, 2, 2, 0, 3])
"""Of each connection; the last one turns the body, if anything does."""

# numbers of a body: its parent, its connection, its first coordinate, its number in the system, and the coordinate that
# turns it, or -1
PARENT, KIND, FIRST, BODY, TURNED = range(5)

# constants of a body: sign of its angle, arms in the axes of parent and body, mass, inertia; fixed angle, direction of
# the slide in the axes of the one that has it, offset in global axes
SIGN, PX0, PY0, CX0, CY0, MASS, INERTIA, TURN, EX0, EY0, GX0, GY0 = range(12)

# state of a body, the most needed first: 8 numbers are a cache line
PHI, OMEGA, COS, SIN, DX, DY, CX, CY = range(8)
# b; inertia about O, reciprocal of a pivot; acceleration of O
BX, BY, WW, WX, WY, H, ALPHA, AX = range(8, 16)
# rest of the inertia; force that the motion needs, also on the slide
AY, XX, XY, YY, PW, PX, PY, PS = range(16, 24)
# position and velocity of O; the slide: its direction, its own b (OWN_SLOT)
X, Y, VX, VY, EX, EY, IX, IY = range(24, 32)
# the slide: inertia, reciprocal of the pivot
SW, SX, SY, SH = range(32, 36)
# of a pin, with w = (wx, wy): w . b and d x w
WB, DW = 36, 37
BODY_STATE = 40


class Tree(NamedTuple):
    """Bodies from the ground outward; the ground itself has the number after the last."""

    numbers: Ints  # (bodies, 5)
    constant: Floats  # (bodies, 12)
    state: Floats  # (bodies + 1, BODY_STATE)
    # phi, cos phi and sin phi side by side, for `rotate`
    angles: Floats
    cosines: Floats
    sines: Floats


@kernel(inline=True)
def turn_tree(T, y):
    """phi, omega, and the rotations of all bodies, which wait for no arm."""
    index, J, N = T.numbers, T.constant, T.state
    n, nb, largest = y.size // 2, index.shape[0], 0.0
    phi = omega = 0.0
    for k in range(nb):
        p, j = index[k, PARENT], index[k, TURNED]
        # the parent is most often the body before
        if p != k - 1:
            phi, omega = N[p, PHI], N[p, OMEGA]
        phi += J[k, TURN]
        if j >= 0:
            phi += J[k, SIGN] * y[j]
            omega += J[k, SIGN] * y[n + j]
        N[k, PHI], N[k, OMEGA], T.angles[k] = phi, omega, phi
        # nan stays
        largest = chosen(abs(phi) <= largest, largest, abs(phi))
    rotate(T.angles, T.cosines, T.sines, nb, largest)


@kernel(inline=True)
def move_tree(T, y, places):
    """Angles, arms and b of all bodies at y = (z, zd); positions and velocities of O where `places`."""
    turn_tree(T, y)
    index, J, N = T.numbers, T.constant, T.state
    for k in range(index.shape[0]):
        # d: from O of the parent to the joint, in its axes at first
        p, kind = index[k, PARENT], index[k, KIND]
        c, s, omega_p = N[p, COS], N[p, SIN], N[p, OMEGA]
        dx = N[p, CX] + c * J[k, PX0] - s * J[k, PY0]
        dy = N[p, CY] + s * J[k, PX0] + c * J[k, PY0]
        # c: from O to the mass center, and the acceleration that turning gives O
        c, s = T.cosines[k], T.sines[k]
        cx, cy = c * J[k, CX0] - s * J[k, CY0], s * J[k, CX0] + c * J[k, CY0]
        bx, by = -omega_p * omega_p * dx, -omega_p * omega_p * dy
        N[k, COS], N[k, SIN] = c, s
        if kind != PIN:
            dx, dy, cx, cy, bx, by = move_slide(T, k, kind, y, dx, dy, cx, cy, bx, by)
        N[k, DX], N[k, DY], N[k, CX], N[k, CY] = dx, dy, cx, cy
        N[k, BX], N[k, BY] = bx, by
        if places:
            place_body(T, k, y)


@kernel(inline=True)
def move_slide(T, k, kind, y, dx, dy, cx, cy, bx, by):
    """d, c and b of a body that is not on a pin, from those it would have if it did not slide."""
    J, N, n, j, p = T.constant, T.state, y.size // 2, T.numbers[k, FIRST], T.numbers[k, PARENT]
    # free: its own coordinates are the pose
    if kind == FLOAT:
        return y[j], y[j + 1], 0.0, 0.0, 0.0, 0.0
    # a slide along an axis of the parent, with Coriolis acceleration
    if kind in (SLIDE, SLOT):
        c, s, omega = N[p, COS], N[p, SIN], N[p, OMEGA]
        ex, ey = c * J[k, EX0] - s * J[k, EY0], s * J[k, EX0] + c * J[k, EY0]
        N[k, EX], N[k, EY] = ex, ey
        dx, dy = dx + y[j] * ex, dy + y[j] * ey
        coriolis = 2.0 * omega * y[n + j]
        bx, by = -omega * omega * dx - coriolis * ey, -omega * omega * dy + coriolis * ex
    # a slide along an axis of the body itself
    if kind == OWN_SLOT:
        c, s = N[k, COS], N[k, SIN]
        ex, ey = c * J[k, EX0] - s * J[k, EY0], s * J[k, EX0] + c * J[k, EY0]
        N[k, EX], N[k, EY] = ex, ey
        cx, cy = cx + y[j] * ex, cy + y[j] * ey
        coriolis = 2.0 * N[k, OMEGA] * y[n + j]
        N[k, IX], N[k, IY] = -coriolis * ey, coriolis * ex
    return dx, dy, cx, cy, bx, by


@kernel(inline=True)
def place_body(T, k, y):
    """Position and velocity of O, once the arms and angular velocities are known."""
    J, N, p, kind = T.constant, T.state, T.numbers[k, PARENT], T.numbers[k, KIND]
    dx, dy, omega_p = N[k, DX], N[k, DY], N[p, OMEGA]
    N[k, X], N[k, Y] = N[p, X] + dx + J[k, GX0], N[p, Y] + dy + J[k, GY0]
    N[k, VX], N[k, VY] = N[p, VX] - omega_p * dy, N[p, VY] + omega_p * dx
    if kind != PIN:
        add_slide_rate(N, k, kind, T.numbers[k, FIRST], y)


@kernel(inline=True)
def add_slide_rate(N, k, kind, j, y):
    """v_k += sd e"""
    n = y.size // 2
    if kind == FLOAT:
        N[k, VX], N[k, VY] = y[n + j], y[n + j + 1]
    elif kind != WELD:
        N[k, VX] += y[n + j] * N[k, EX]
        N[k, VY] += y[n + j] * N[k, EY]


@kernel(inline=True)
def write_place(N, k, i, q, qd):
    """The mass center of body k from O."""
    omega = N[k, OMEGA]
    q[i], q[i + 1], q[i + 2] = N[k, X] + N[k, CX], N[k, Y] + N[k, CY], N[k, PHI]
    qd[i], qd[i + 1], qd[i + 2] = N[k, VX] - omega * N[k, CY], N[k, VY] + omega * N[k, CX], omega


@kernel(inline=True)
def write_acceleration(N, k, i, ground, qdd):
    """The acceleration of the mass center of body k from that of O, both measured against the ground."""
    alpha, omega2 = N[k, ALPHA], N[k, OMEGA] * N[k, OMEGA]
    qdd[i] = N[k, AX] - N[ground, AX] - alpha * N[k, CY] - omega2 * N[k, CX]
    qdd[i + 1] = N[k, AY] - N[ground, AY] + alpha * N[k, CX] - omega2 * N[k, CY]
    qdd[i + 2] = alpha


@kernel
def accelerate_tree(T, zdd):
    """alpha and a of all bodies from those of the ground."""
    index, N = T.numbers, T.state
    for k in range(index.shape[0]):
        p, kind, j = index[k, PARENT], index[k, KIND], index[k, FIRST]
        alpha = N[p, ALPHA]
        ax = N[p, AX] - alpha * N[k, DY] + N[k, BX]
        ay = N[p, AY] + alpha * N[k, DX] + N[k, BY]
        if kind == FLOAT:
            ax, ay, alpha = zdd[j], zdd[j + 1], zdd[j + 2]
        elif kind == PIN:
            alpha += T.constant[k, SIGN] * zdd[j]
        elif kind != WELD:
            ax, ay = ax + zdd[j] * N[k, EX], ay + zdd[j] * N[k, EY]
            if kind != SLIDE:
                alpha += T.constant[k, SIGN] * zdd[j + 1]
            if kind == OWN_SLOT:
                ax, ay = ax + N[k, IX], ay + N[k, IY]
        N[k, ALPHA], N[k, AX], N[k, AY] = alpha, ax, ay


# Building ---------------------------------------------------------------------------------------------


def tree_arrays(bodies: Sequence[ResolvedBody], branches: Sequence[Branch]) -> Tree:
    """The arrays of a tree whose branches are in order."""
    number = {body.name: i for i, body in enumerate(bodies)}
    node = {branch.body: k for k, branch in enumerate(branches)} | {GROUND: len(branches)}
    carried = [(node[branch.parent], kind_of(branch), number[branch.body]) for branch in branches]
    parent, kind, body = np.array(carried, dtype=np.int64).reshape(-1, 3).T
    first = starts(COORDINATES[kind])
    turned = np.where(np.isin(kind, (PIN, SLOT, OWN_SLOT, FLOAT)), first[1:] - 1, -1)
    n, constants = len(branches), [_constants(branch, bodies[number[branch.body]]) for branch in branches]
    state = np.zeros((n + 1, BODY_STATE))
    state[-1, COS] = 1.0
    return Tree(
        np.column_stack([parent, kind, first[:-1], body, turned]),
        columns(12, constants).T.copy(),
        state,
        padded(n),
        padded(n),
        padded(n),
    )


def kind_of(branch: Branch) -> int:
    joint = branch.joint
    if joint is None:
        return FLOAT
    if not joint.on_line:
        return PIN if joint.angle is None else WELD
    if joint.angle is not None:
        return SLIDE
    return SLOT if joint.a.body == branch.parent else OWN_SLOT


def _constants(branch: Branch, body: ResolvedBody) -> tuple[float, ...]:
    joint, masses = branch.joint, (body.mass, body.inertia)
    if joint is None:
        return (1.0, 0.0, 0.0, 0.0, 0.0, *masses, *[0.0] * 5)
    sign = 1.0 if joint.a.body == branch.parent else -1.0
    turn = 0.0 if joint.angle is None else sign * (joint.angle + joint.a.angle - joint.b.angle)
    if joint.on_line:
        *arms, ex, ey = _line(joint, sign)
        return (sign, *arms, *masses, turn, ex, ey, 0.0, 0.0)
    outer, inner = (joint.a, joint.b) if sign > 0.0 else (joint.b, joint.a)
    gx, gy = joint.offset
    return (sign, outer.x, outer.y, -inner.x, -inner.y, *masses, turn, 0.0, 0.0, sign * gx, sign * gy)


def _line(joint: TreeJoint, sign: float) -> tuple[float, ...]:
    """Arms and direction where b is on a line of a, r_b = r_a + s u_a + across v_a."""
    a, b, across = joint.a, joint.b, joint.offset[1]
    if sign > 0.0:  # the line is in the parent
        (ux, uy), (x, y) = _axis(a.angle), _beside(a, a.angle, across)
        return x, y, -b.x, -b.y, ux, uy
    if joint.angle is None:  # the line is in the body
        (ux, uy), (x, y) = _axis(a.angle), _beside(a, a.angle, across)
        return b.x, b.y, -x, -y, -ux, -uy
    # the line is in the body, but does not turn against the parent
    angle = b.angle - joint.angle
    (ux, uy), (x, y) = _axis(angle), _beside(b, angle, -across)
    return x, y, -a.x, -a.y, -ux, -uy


def _axis(angle: float) -> tuple[float, float]:
    return cos(angle), sin(angle)


def _beside(frame: PlacedFrame, angle: float, across: float) -> tuple[float, float]:
    """The point `across` to the left of an axis through the frame."""
    return frame.x - across * sin(angle), frame.y + across * cos(angle)
