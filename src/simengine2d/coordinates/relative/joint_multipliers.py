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
from ...system.constraints import SystemArrays, gamma
from ...system.elimination import elimination_program, lengths_per_row, unequal
from ...system.equations_of_motion import evaluate_state
from ...system.kkt_refinement import residual_of_kkt
from ...system.workspace import Workspace
from ..equations import Configuration, OutputMonitors, OutputMultipliers, new_monitors
from ..reference_point.multipliers import add_inertia, multipliers_of_bodies, note_errors
from .loops import COUPLING, DIAGONAL, DIAGONAL2, ENTRY, OTHER, Loops
from .tree_motion import BODY

if TYPE_CHECKING:
    from .relative import Relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOLDS = 1e-13  # residual of an equation, relative to its terms, that is accepted
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
    pinned: Ints  # 1 where these are x and y
    rest: Floats  # what is left of QA - M qdd
    basis: Floats  # (3, 3)
    R: Floats  # (3, 3)
    follows: int  # 1 if accelerations are those of the equations of motion at the state
    whole_f: Any  # the same from the whole system; 0 if no loops are closed
    whole_c: Any


@kernel_pointer
def joint_multipliers(c, t, y, out):
    """lam of the state whose accelerations were just computed, with y = (q, qd, qdd)."""
    S, w, n = c.S, c.w, y.size // 3
    qd, qdd = y[n : 2 * n], y[2 * n :]
    if c.whole_f != 0 and (np.isnan(c.monitors.singular_at[1]) or spread_of_loops(c.loops) > NEAR_SINGULAR):
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    evaluate_state(S, t, y[:n], qd, w)
    for j in range(n):
        c.rest[j] = w.Q[j]
    add_inertia(S, qdd, -1.0, c.rest)
    for k in range(c.closing.size):
        out[c.closing[k]] = c.loops.lam[k]
        take_from_bodies(S, w.data, c.closing[k], c.loops.lam[k], c.rest)
    for k in range(c.held_start.size - 2, -1, -1):
        if c.pinned[k] == 1:
            pin_body(c, k, out)
        else:
            hold_body(c, k, out)
    # (qdd, lam) in the equations of motion; or the correction 0 where rows are pulled or give way
    for j in range(n):
        w.x[j] = qdd[j] if c.follows == 1 else 0.0
    for i in range(out.size):
        w.x[n + i], w.row[i] = out[i], 0.0
    if c.follows == 1:
        gamma(S, w, w.row)
    else:
        add_inertia(S, qdd, -1.0, w.Q)
    lost = residual_of_kkt(S, c.D, w.Q, w.row, w)
    if c.whole_f != 0 and not lost <= HOLDS:
        invoke(c.whole_f, c.whole_c, t, y, out)
        return
    if not lost <= c.monitors.lost[0]:
        c.monitors.lost[0] = lost
    note_errors(c, qd, qdd)


@kernel
def take_from_bodies(S, data, i, lam, rest):
    """rest -= Phi_q^T lam of one row"""
    for p in range(S.jac_start[i], S.jac_start[i + 1]):
        rest[S.jac_column[p]] -= data[p] * lam


@kernel
def pin_body(c, k, out):
    """lam of a pin: its rows are x and y, each of which carries the force along its own axis."""
    S, first, x = c.S, c.held_start[k], 3 * c.loops.T.numbers[k, BODY]
    for axis in range(2):
        i = c.held[first + axis]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            if S.jac_column[p] == x + axis:
                out[i] = c.rest[x + axis] / c.w.data[p]
        take_from_bodies(S, c.w.data, i, out[i], c.rest)


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
        take_from_bodies(S, data, i, out[i], c.rest)


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
    pins = [branch.joint is not None and branch.joint.is_pin for branch in family.branches]
    follows = not formulation.gives_way and formulation.stabilization == (0.0, 0.0)
    whole: BoundKernel | None = None
    monitors = new_monitors()
    if family.m:  # the watch over their rank needs the elimination program anyway
        d = elimination_program(system, False, False)
        whole, monitors = multipliers_of_bodies(system, d, system.new_workspace(d), follows)
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
        np.array(pins, dtype=np.int64),
        np.zeros(system.n),
        np.zeros((3, 3)),
        np.zeros((3, 3)),
        int(follows),
        whole.f if whole else 0,
        whole.c if whole else 0,
    )
    return OutputMultipliers(joint_multipliers.bind(context), monitors)
