"""The variational equations of independent coordinates v = E q, at all nodes of a motion: v'' = a v + b v' + c.

K = [Phi_q; E] has the inverse (S, B), and Y = B (B^T M B)^-1. The equations of `variational.py`, multiplied by a column
y of Y, have no qdd_p but that of v. What they leave are derivatives of weighted sums G of the equations:

    v''_p = -(G_p + G_qd qd_p + G_q q_p)      of G = y . R + y2 . Phi''            with y2 = -S^T M y
    qd_p  = B v'_p - S (Phi'_p + Phi'_q q_p)  adds y1 . Phi' to G for what is left, with y1 = -S^T G_qd
    q_p   = B v_p - S Phi_p                   adds y0 . Phi                         with y0 = -S^T G_q

so three sweeps backward for each free motion take the place of derivatives of all equations by all parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...numerics.dense_lu import lu_factor, lu_solve, lu_solve_transposed
from ...numerics.kernel import kernel
from ...system.constraints import evaluate_rows
from ...system.renumbering import is_shareable, own_system
from ...system.residuals import States
from ...system.system import System
from ...system.workspace import refresh
from .motion_slopes import all_parameter_slopes
from .number_slopes import Directions
from .variational import ReducedEquations, linear_equations
from .varied import VariedNumber
from .weighted_equations import distrusted, new_sweep, number_count, sweep_equations, sweep_rows


class NodeScratch(NamedTuple):
    """Scratch of one node."""

    K: Floats
    pivots: Ints
    B: Floats
    inertia: Floats
    inertia_pivots: Ints
    free: Floats
    r: Floats
    Phi: Floats
    second: Floats
    no_forces: Floats


@kernel
def solve_free(S, kept, chosen, masses, w, x):
    """K and its factors, B, and the factors of B^T M B; False where K is singular."""
    n, f = x.r.size, chosen.size
    for r in range(n):
        for j in range(n):
            x.K[r, j] = 0.0
    for r in range(kept.size):
        for p in range(S.jac_start[kept[r]], S.jac_start[kept[r] + 1]):
            x.K[r, S.jac_column[p]] = w.data[p]
    for c in range(f):
        x.K[kept.size + c, chosen[c]] = 1.0
    if lu_factor(x.K, x.pivots) == 0.0:
        return False
    for c in range(f):
        for j in range(n):
            x.r[j] = 0.0
        x.r[kept.size + c] = 1.0
        lu_solve(x.K, x.pivots, x.r)
        for j in range(n):
            x.B[j, c] = x.r[j]
    for c in range(f):
        for d in range(f):
            total = 0.0
            for j in range(n):
                total += x.B[j, c] * masses[j] * x.B[j, d]
            x.inertia[c, d] = total
    return f == 0 or lu_factor(x.inertia, x.inertia_pivots) > 0.0


@kernel
def eliminate(kept, x, weights, by_free):
    """weights = -S^T r, and by_free = -B^T r"""
    lu_solve_transposed(x.K, x.pivots, x.r)
    for i in range(kept.size):
        weights[kept[i]] = -x.r[i]
    for c in range(by_free.size):
        by_free[c] = -x.r[kept.size + c]


class Weights(NamedTuple):
    """Of R, Phi, Phi' and Phi'' in the equations of each free motion, (nodes, free motions, equations)."""

    y: Floats
    y0: Floats
    y1: Floats
    y2: Floats


@kernel(entry=True)
def reduced_along(S, L, masses, kept, chosen, N, t, Q, Qd, Qdd, Lam, w, X, x, flat, a, b, c, weights, B):
    """a, b and c at all nodes, the weights of the equations, and B, which is nan where K is singular.

    N are the slopes of some numbers by parameters, `flat` those of G by all numbers.
    """
    n, m = Q.shape[1], Lam.shape[1]
    for i in range(t.size):
        evaluate_rows(S, t[i], Q[i], Qd[i], w, x.Phi, x.second)
        regular = solve_free(S, kept, chosen[i], masses, w, x)
        for k in range(chosen.shape[1]):
            for j in range(n):
                B[i, j, k] = x.B[j, k] if regular else np.nan
            if not regular:
                continue
            begin_sweep(k, masses, x, X)
            for j in range(flat.size):
                flat[j] = 0.0
            eliminate(kept, x, X.y2, a[i, k])
            sweep_equations(S, L, t[i], Q[i], Qd[i], Qdd[i], Lam[i], w, X)
            for j in range(n):
                weights.y[i, k, j] = X.y[j]
            for j in range(m):
                weights.y2[i, k, j], X.y2[j] = X.y2[j], 0.0
            for level in range(2):  # what is left of velocities, then of positions
                left, y, by_free = (X.by_q, X.y0, a[i, k]) if level else (X.by_qd, X.y1, b[i, k])
                for j in range(n):
                    x.r[j] = left[j]
                eliminate(kept, x, y, by_free)
                sweep_rows(S, t[i], x.no_forces, w, X)
                known = weights.y0 if level else weights.y1
                for j in range(m):
                    known[i, k, j], y[j] = y[j], 0.0
            for j in range(N.slope.size):
                c[i, k, N.parameter[j]] -= flat[N.place[j]] * N.slope[j]


@kernel
def begin_sweep(k, masses, x, X):
    """y = B (B^T M B)^-1 e_k and r = M y; all else is zero."""
    for j in range(x.inertia_pivots.size):
        x.free[j] = 1.0 if j == k else 0.0
    lu_solve(x.inertia, x.inertia_pivots, x.free)
    for j in range(x.r.size):
        X.y[j] = X.by_q[j] = X.by_qd[j] = 0.0
        for d in range(x.free.size):
            X.y[j] += x.B[j, d] * x.free[d]
        x.r[j] = masses[j] * X.y[j]
    for j in range(X.y0.size):
        X.y0[j] = X.y1[j] = X.y2[j] = 0.0


class NodeEquations(NamedTuple):
    """v'' = a v + b v' + c at each node, and how much all coordinates move with v."""

    reduced: ReducedEquations
    B: Floats


def node_equations(
    system: System, states: States, kept: Ints, chosen: Ints, numbers: Sequence[VariedNumber]
) -> NodeEquations:
    """At all states, with the coordinates that are chosen at each of them."""
    if not is_shareable(system):  # formulas and Python functions have no sweeps
        whole = linear_equations(system, states, kept, chosen, numbers)
        return NodeEquations(whole.reduced, whole.at.B)
    n, m, (count, f), P = system.n, system.m, chosen.shape, len(numbers)
    a, b = np.zeros((2, count, f, f))
    reduced = ReducedEquations(a, b, np.zeros((count, f, P)))
    weights, B = Weights(np.zeros((count, f, n)), *np.zeros((3, count, f, m))), np.zeros((count, n, f))
    N = Directions.of([each.slopes_of_numbers for each in numbers])
    flat, given = np.zeros(number_count(system)), [np.ascontiguousarray(each) for each in states]
    with own_system(system) as own, own.evaluator() as rows, np.errstate(all="ignore"):
        X = new_sweep(own, flat, N.place)
        refresh(rows.w, own.arrays)
        reduced_along(
            own.arrays, own.load_arrays, own.masses, kept, np.ascontiguousarray(chosen), N, *given, rows.w, X,
            new_scratch(n, m, f), flat, *reduced, weights, B,
        )  # fmt: skip
    others = [k for k, each in enumerate(numbers) if each.slopes_of_numbers is None]
    others = sorted({*others, *N.parameters_of(distrusted(X, system))})
    if others:
        reduced.source[:, :, others] = _source_by_differences(weights, states, [numbers[k] for k in others])
    return NodeEquations(reduced, B)


def new_scratch(n: int, m: int, f: int) -> NodeScratch:
    pivots, free_pivots = np.zeros(n, dtype=np.int64), np.zeros(f, dtype=np.int64)
    return NodeScratch(
        np.zeros((n, n)), pivots, np.zeros((n, f)), np.zeros((f, f)), free_pivots, np.zeros(f), np.zeros(n),
        *np.zeros((3, m)),
    )  # fmt: skip


def _source_by_differences(weights: Weights, states: States, numbers: Sequence[VariedNumber]) -> Floats:
    """c = -(y . R_p + y0 . Phi_p + y1 . Phi'_p + y2 . Phi''_p)"""
    Phi, rate, second, force = all_parameter_slopes(numbers, states)
    y, y0, y1, y2 = weights
    return -(y @ force + y0 @ Phi + y1 @ rate + y2 @ second)
