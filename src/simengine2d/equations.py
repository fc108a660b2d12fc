"""The equations of motion, assembled and solved: accelerations and multipliers, and Newton's matrix.

[ M      Phi_q^T ] [ qdd ]   [ QA    ]
[ Phi_q   -eps   ] [ lam ] = [ gamma ]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .formula_rows import rows_at
from .formula_tangent import Couplings
from .functions import functions_at
from .kernels import kernel
from .kkt import Elimination, eliminate, solve_again, substitute
from .loads import applied
from .moving_frames import (
    FRAME_STATE,
    move_frames,
    place_frames,
)
from .rows import gamma, phi, phi_q
from .system import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class D(NamedTuple):
    """Elimination program of a system, and where its entries go."""

    program: Elimination
    diagonal: Ints  # slot of each diagonal entry
    jacobian: Ints  # slot of each non-zero of Phi_q
    right: Ints  # slot of each right-hand side
    term_blocks: Ints  # (terms, 6, 6) slots of second derivatives; -1 where there are none
    push_start: Ints  # coordinates that each push acts on: push_coordinate[push_start[i] : push_start[i + 1]]
    push_coordinate: Ints
    push_block_start: Ints
    push_blocks: Ints
    wrench_blocks: Ints  # (wrenches, 3, 3)
    formulas: Couplings
    template: Floats  # M and -eps in their slots, zero elsewhere
    refinements: Ints  # how often at most a solution is corrected for eps and delta
    stabilization: Floats  # Baumgarte's 2 alpha and beta^2; zero where there is none


class Work(NamedTuple):
    """Scratch arrays, one set per run."""

    f: Floats
    F: Floats
    data: Floats
    v: Floats
    Q: Floats
    row: Floats
    x: Floats
    rest: Floats
    correction: Floats
    work: Floats
    H: Floats
    G: Floats


def new_work(system: System, d: D) -> Work:
    n, m = system.n, system.m
    return Work(
        np.empty((m + len(system.load_functions), 3)),
        np.zeros((system.arrays.frame_body.size, FRAME_STATE)),
        np.empty(system.arrays.jac_column.size),
        np.empty(d.program.column.size),
        np.empty(n),
        np.empty(m),
        np.empty(n + m),
        np.empty(n + m),
        np.empty(n + m),
        np.empty(n + m),
        np.empty((6, 6)),
        np.empty((3, max(1, d.push_coordinate.size))),
    )


REFINED = 1e-14  # change of a solution at which refinement ends


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def evaluate_state(S, L, t, q, qd, w):
    """Frames, Phi_q, gamma (into w.row) and QA at a state."""
    functions_at(S.functions, t, w.f)
    place_frames(S, q, w.F)
    move_frames(S, qd, w.F)
    rows_at(S, t, w.F, w.f)
    phi_q(S, w.F, w.data)
    applied(S, L, t, w.f, w.F, q, qd, w.Q)


@kernel(inline=True)
def fill_matrix(D, data, v):
    """M, Phi_q and -eps into the slots."""
    template, jacobian = D.template, D.jacobian
    for p in range(v.size):
        v[p] = template[p]
    for p in range(jacobian.size):
        v[jacobian[p]] = data[p]


@kernel(inline=True)
def accelerate(S, L, D, t, q, qd, w):
    """qdd and lam into w.x."""
    evaluate_state(S, L, t, q, qd, w)
    gamma(S, w.f, w.F, w.row)
    if D.stabilization[0] + D.stabilization[1] > 0.0:
        stabilize(S, D, qd, w)
    solve_kkt(S, D, w.Q, w.row, w)


@kernel
def stabilize(S, D, qd, w):
    """gamma - 2 alpha (Phi_q qd - nu) - beta^2 Phi: errors of the constraints decay as in a damped oscillator."""
    alpha2, beta2 = D.stabilization[0], D.stabilization[1]
    errors = w.correction[: w.row.size]
    phi(S, w.f, w.F, errors)
    for i in range(w.row.size):
        rate = -w.f[i, 1]
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            rate += w.data[p] * qd[S.jac_column[p]]
        w.row[i] -= alpha2 * rate + beta2 * errors[i]


@kernel(inline=True)
def solve_kkt(S, D, b, c, w):
    """w.x of M x + Phi_q^T y = b, Phi_q x = c with Phi_q in w.data; refined where rows are redundant."""
    v, right = w.v, D.right
    fill_matrix(D, w.data, v)
    n = b.size
    for j in range(n):
        v[right[j]] = b[j]
    for i in range(c.size):
        v[right[n + i]] = c[i]
    eliminate(D.program, v)
    substitute(D.program, v, w.x, w.work)
    if D.refinements[0] > 0:
        refine(S, D, b, c, w)


@kernel
def refine(S, D, b, c, w):
    """x += K^-1 (right-hand side - K x) with the true matrix, without eps, until it no longer changes."""
    for _ in range(D.refinements[0]):
        residual_of_kkt(S, b, c, w)
        solve_again(D.program, w.v, w.rest, w.correction, w.work)
        size, change = 0.0, 0.0
        for j in range(w.x.size):
            w.x[j] += w.correction[j]
            size, change = max(size, abs(w.x[j])), max(change, abs(w.correction[j]))
        if change <= REFINED * size:
            return


@kernel(inline=True)
def residual_of_kkt(S, b, c, w):
    """(b, c) - K x into w.rest."""
    n, x, rest, start, column, data = b.size, w.x, w.rest, S.jac_start, S.jac_column, w.data
    mass, inertia = S.mass, S.inertia
    for i in range(mass.size):
        rest[3 * i] = b[3 * i] - mass[i] * x[3 * i]
        rest[3 * i + 1] = b[3 * i + 1] - mass[i] * x[3 * i + 1]
        rest[3 * i + 2] = b[3 * i + 2] - inertia[i] * x[3 * i + 2]
    for i in range(c.size):
        total = c[i]
        for p in range(start[i], start[i + 1]):
            total -= data[p] * x[column[p]]
            rest[column[p]] -= data[p] * x[n + i]
        rest[n + i] = total


@kernel
def accelerations(S, L, D, t, q, qd, w):
    """The same as `accelerate`, for callers that are in no hurry: it is compiled once."""
    accelerate(S, L, D, t, q, qd, w)
