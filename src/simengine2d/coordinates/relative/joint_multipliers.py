"""Multipliers of all rows in relative coordinates: those of loops are known, those of the tree follow inward.

    Phi_q^T lam = QA - M qdd

The last body of a branch is held by its inboard joint alone, so the three equations of that body give the multipliers
of the joint; these act on the parent, and so on to the ground: the Newton-Euler equations, body after body. If the
result does not hold to the last digits, or loops are near a singular pose, the whole system is solved instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...methods import Formulation
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer
from ...system.constraints import SystemArrays, gamma, phi
from ...system.elimination import elimination_program, lengths_per_row, unequal
from ...system.equations_of_motion import evaluate_state
from ...system.kkt_refinement import SHARE, larger_share, mean_acceleration
from ...system.workspace import Workspace
from ..equations import Configuration, OutputMonitors, OutputMultipliers, new_monitors
from ..reference_point.multipliers import multipliers_of_bodies
from .loops import COUPLING, DIAGONAL, DIAGONAL2, ENTRY, OTHER, Loops
from .tree_motion import BODY

if TYPE_CHECKING:
    from .relative import Relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOLDS = 1e-11  # residual of an equation, relative to its terms, that is accepted
NEAR_SINGULAR = 1e6  # spread of the pivots of the loops from which the whole system is solved


class Measures(NamedTuple):
    """The scales of the equations of motion."""

    arms: Floats
    per_row: Floats
    compliance: Floats


class JointMultipliers(NamedTuple):
    """Context of `joint_multipliers`."""

    S: SystemArrays
    D: Measures
    w: Workspace
    monitors: OutputMonitors
    loops: Loops
    closing: Ints  # rows of the system that close loops
    held_start: (
        Ints  # rows that the joint of each body of the tree holds: held[held_start[k] : held_start[k + 1]]
    )
    held: Ints
    pinned: (
        Ints  # (bodies, 2): where these are x and y, the entries of Phi_q for x and y of the body; else -1
    )
    rest: Floats  # what is left of QA - M qdd
    basis: Floats  # (3, 3)
    R: Floats  # (3, 3)
    follows: int  # 1 if accelerations are those of the equations of motion at the state
    whole_f: Any  # the same from the whole system; 0 if no loops are closed
    whole_c: Any


@kernel_pointer
def joint_multipliers(c, t, y, out):
    """lam of the state whose accelerations were just computed, with y = (q, qd, qdd)."""
    n, closed = y.size // 3, c.whole_f != 0
    qd, qdd = y[n : 2 * n], y[2 * n :]
    if closed and is_singular(c):
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    evaluate_state(c.S, t, y[:n], qd, c.w)
    subtract_inertia(c, qdd)
    for k in range(c.closing.size):
        out[c.closing[k]] = c.loops.lam[k]
        take_from_bodies(c, c.closing[k], c.loops.lam[k])
    for k in range(c.held_start.size - 2, -1, -1):
        if c.pinned[k, 0] >= 0:
            pin_body(c, k, out)
        else:
            hold_body(c, k, out)
    lost = largest_residual(c)
    worst = check_rows(c, qd, qdd)
    if c.follows == 1:  # else rows are pulled or give way, and need not hold
        lost = larger_share(lost, worst.share, 1.0)
    if closed and not lost <= HOLDS:
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    note(c.monitors, worst)
    if not lost <= c.monitors.lost[0]:
        c.monitors.lost[0] = lost


# The balance of each body ---------------------------------------------------------------------------------------


@kernel(inline=True)
def subtract_inertia(c, qdd):
    """rest = QA - M qdd; the sizes of accelerations, and of the terms of each equation, as in `residual_of_kkt`."""
    S, Q, rest, reach, terms = c.S, c.w.Q, c.rest, c.w.reach, c.w.terms
    least = SHARE * mean_acceleration(S, c.D, Q, qdd)
    for k in range(S.mass.size):
        i, m, J, arm = 3 * k, S.mass[k], S.inertia[k], c.D.arms[k]
        rest[i], rest[i + 1] = Q[i] - m * qdd[i], Q[i + 1] - m * qdd[i + 1]
        rest[i + 2] = Q[i + 2] - J * qdd[i + 2]
        a = max(least, abs(qdd[i]), abs(qdd[i + 1]), arm * abs(qdd[i + 2]))
        reach[i], reach[i + 1], reach[i + 2] = a, a, a / arm
        terms[i], terms[i + 1] = abs(Q[i]) + m * a, abs(Q[i + 1]) + m * a
        terms[i + 2] = abs(Q[i + 2]) + J * reach[i + 2]


@kernel(inline=True)
def take_from_bodies(c, i, lam):
    """rest -= Phi_q^T lam of one row"""
    S, data, rest, terms = c.S, c.w.data, c.rest, c.w.terms
    for p in range(S.jac_start[i], S.jac_start[i + 1]):
        force = data[p] * lam
        rest[S.jac_column[p]] -= force
        terms[S.jac_column[p]] += abs(force)


@kernel(inline=True)
def largest_residual(c):
    """Of QA - M qdd - Phi_q^T lam, relative to the terms of its equation, or to a share of those of the body."""
    lost, rest, terms = 0.0, c.rest, c.w.terms
    for k in range(c.S.mass.size):
        i, arm = 3 * k, c.D.arms[k]
        force = SHARE * max(terms[i], terms[i + 1], terms[i + 2] / arm)
        lost = larger_share(lost, abs(rest[i]), max(terms[i], force))
        lost = larger_share(lost, abs(rest[i + 1]), max(terms[i + 1], force))
        lost = larger_share(lost, abs(rest[i + 2]), max(terms[i + 2], force * arm))
    return lost


# The rows -----------------------------------------------------------------------------------------------------


class RowErrors(NamedTuple):
    """Largest errors of rows: of positions, velocities and accelerations; as a length; relative to their terms."""

    position: float
    velocity: float
    acceleration: float
    gap: float
    share: float


@kernel(inline=True)
def check_rows(c, qd, qdd):
    """Phi, Phi_q qd - nu and Phi_q qdd - gamma"""
    S, w = c.S, c.w
    start, column, data, reach = S.jac_start, S.jac_column, w.data, w.reach
    position = velocity = acceleration = gap = share = 0.0
    phi(S, w, w.row)
    for i in range(w.row.size):
        position, gap = max(position, abs(w.row[i])), max(gap, abs(w.row[i]) * c.D.per_row[i])
    gamma(S, w, w.row)
    for i in range(w.row.size):
        rate, second, size = -w.f[i, 1], -w.row[i], abs(w.row[i])
        for p in range(start[i], start[i + 1]):
            j, slope = column[p], data[p]
            rate += slope * qd[j]
            second += slope * qdd[j]
            size += abs(slope) * reach[j]
        velocity, acceleration = max(velocity, abs(rate)), max(acceleration, abs(second))
        share = larger_share(share, abs(second), size)
    return RowErrors(position, velocity, acceleration, gap, share)


@kernel(inline=True)
def note(monitors, worst):
    errors, lost, changed = monitors.errors, monitors.lost, monitors.changed
    errors[0], errors[1] = max(errors[0], worst.position), max(errors[1], worst.velocity)
    errors[2], lost[1] = max(errors[2], worst.acceleration), max(lost[1], worst.gap)
    changed[1] = larger_share(changed[1], worst.share, 1.0)


# Joints -------------------------------------------------------------------------------------------------------


@kernel(inline=True)
def pin_body(c, k, out):
    """lam of a pin: its rows are x and y, each of which carries the force along its own axis."""
    first, x = c.held_start[k], 3 * c.loops.T.numbers[k, BODY]
    for axis in range(2):
        i = c.held[first + axis]
        out[i] = c.rest[x + axis] / c.w.data[c.pinned[k, axis]]
        take_from_bodies(c, i, out[i])


@kernel
def hold_body(c, k, out):
    """lam of the rows of an inboard joint, by least squares from the three equations of its body.

    Gram and Schmidt on the rows of Phi_q for this body, moments over an arm: v_a = sum_b R_ba e_b.
    """
    S, e, R, data = c.S, c.basis, c.R, c.w.data
    first, count = c.held_start[k], c.held_start[k + 1] - c.held_start[k]
    body = c.loops.T.numbers[k, BODY]
    arm = c.D.arms[body]
    fx, fy, m = c.rest[3 * body], c.rest[3 * body + 1], c.rest[3 * body + 2] / arm
    for a in range(count):
        # the row for this body, orthogonal to those before it
        i = c.held[first + a]
        e[a, 0] = e[a, 1] = e[a, 2] = 0.0
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            j = S.jac_column[p] - 3 * body
            if 0 <= j < 3:
                e[a, j] += data[p] / arm if j == 2 else data[p]
        for b in range(a):
            R[b, a] = e[b, 0] * e[a, 0] + e[b, 1] * e[a, 1] + e[b, 2] * e[a, 2]
            for j in range(3):
                e[a, j] -= R[b, a] * e[b, j]
        R[a, a] = np.sqrt(e[a, 0] ** 2 + e[a, 1] ** 2 + e[a, 2] ** 2)
        for j in range(3):
            e[a, j] /= R[a, a]
        # its share of the force on the body
        force = e[a, 0] * fx + e[a, 1] * fy + e[a, 2] * m
        fx, fy, m = fx - force * e[a, 0], fy - force * e[a, 1], m - force * e[a, 2]
        out[i] = force
    # R lam = shares
    for a in range(count - 1, -1, -1):
        i = c.held[first + a]
        for b in range(a + 1, count):
            out[i] -= R[a, b] * out[c.held[first + b]]
        out[i] /= R[a, a]
    # what remains for the parent
    for a in range(count):
        i = c.held[first + a]
        take_from_bodies(c, i, out[i])


@kernel
def is_singular(c):
    """Whether the pose may be singular, or what is usual is not known yet."""
    return np.isnan(c.monitors.singular_at[1]) or spread_of_loops(c.loops) > NEAR_SINGULAR


@kernel
def spread_of_loops(c):
    """How much smaller a pivot of W^T D^-1 W is than its diagonal; infinite in a singular pose."""
    v, group, spread = c.v, c.group, 1.0
    for g in range(group.shape[0] - 1):
        one, two = 0.0, 0.0
        for e in range(group[g, ENTRY], group[g + 1, ENTRY]):
            one += c.W[e, 0] * c.W[e, 1]
            two += c.W[e, 2] * c.W[e, 3]
        if group.shape[0] == 2:  # solved without elimination
            if group[0, OTHER] < c.lam.size - 1:
                pivot = v[group[0, DIAGONAL2]] - v[group[0, COUPLING]] ** 2 / v[group[0, DIAGONAL]]
                spread = two / abs(pivot) if pivot != 0.0 else np.inf
        else:
            spread = max(spread, one * abs(v[group[g, DIAGONAL]]))
            if group[g, OTHER] < c.lam.size - 1:
                spread = max(spread, two * abs(v[group[g, DIAGONAL2]]))
    return spread


def multipliers_of(
    family: Relative, loops: Loops, formulation: Formulation, at: Configuration
) -> OutputMultipliers | None:
    """Of a formulation in a family; None if the whole system has to be solved.

    Dependent rows share their load in the tree and in the loops alike, and if masses or lengths differ much,
    accelerations are corrected at outputs.
    """
    system = family.system
    if at.redundant or unequal(system):
        return None
    held = [branch.joint.rows if branch.joint else () for branch in family.branches]
    follows = not formulation.gives_way and formulation.stabilization == (0.0, 0.0)
    whole, monitors = whole_system(family, follows)
    x, rest, terms = np.zeros((3, system.n + system.m))
    context = JointMultipliers(
        system.arrays,
        Measures(system.arms, lengths_per_row(system), np.zeros(system.m)),
        system.new_workspace()._replace(x=x, rest=rest, terms=terms),
        monitors,
        loops,
        np.array(family.remaining_rows, dtype=np.int64),
        np.cumsum([0, *map(len, held)]),
        np.array([i for rows in held for i in rows], dtype=np.int64),
        pinned_entries(family),
        np.zeros(system.n),
        np.zeros((3, 3)),
        np.zeros((3, 3)),
        int(follows),
        *(whole[:2] if whole else (0, 0)),
    )
    return OutputMultipliers(joint_multipliers.bind(context), monitors)


def whole_system(family: Relative, follows: bool) -> tuple[BoundKernel | None, OutputMonitors]:
    """Multipliers from the whole system, where loops are closed; the watch over their rank needs its program anyway."""
    if family.m == 0:
        return None, new_monitors()
    d = elimination_program(family.system, False, False)
    return multipliers_of_bodies(family.system, d, family.system.new_workspace(d), follows)


def pinned_entries(family: Relative) -> Ints:
    """Where in Phi_q the rows of pins have x and y of the outboard body; -1 for other joints."""
    S, entries = family.system.arrays, np.full((len(family.branches), 2), -1, dtype=np.int64)
    pins = [k for k, branch in enumerate(family.branches) if branch.joint is not None and branch.joint.is_pin]
    rows = np.array([family.branches[k].joint.rows for k in pins], dtype=np.int64).reshape(-1, 2)  # type: ignore[union-attr]
    first = S.jac_start[rows]
    x = 3 * family.tree.numbers[pins, BODY, None]
    # a row has three entries for each of its bodies
    entries[pins] = np.where(S.jac_column[first] == x, first, first + 3) + np.arange(2)
    return entries
