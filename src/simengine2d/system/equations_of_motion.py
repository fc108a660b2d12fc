"""The equations of motion, assembled and solved: accelerations and multipliers.

[ M      Phi_q^T ] [ qdd ]   [ QA    ]
[ Phi_q   -eps   ] [ lam ] = [ gamma ]
"""

from __future__ import annotations

from typing import NamedTuple

from ..numerics.arrays import Floats, Ints, ShortInts
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
from ..numerics.ldl import Elimination, eliminate, substitute
from .applied_forces import applied_by_pointer
from .constraints import gamma, move, phi, phi_q
from .formulas.derivatives import Couplings


class EquationArrays(NamedTuple):
    """Elimination program of a system, and the slots of its entries."""

    program: Elimination
    diagonal: Ints  # slot of each diagonal entry
    jacobian: Ints  # slot of each non-zero of Phi_q
    right: Ints  # slot of each right-hand side
    term_blocks: ShortInts  # (terms, 6, 6) slots of second derivatives; -1 if there are none
    bends: ShortInts  # (terms, 2), those by the angles alone: displacements along x and y have no others
    couplings: Couplings
    masses: Floats  # of each coordinate; where it has none, the inertia that it feels through its rows
    template: Floats  # M and -eps in their slots, zero elsewhere
    refinements: Ints  # how often a solution is corrected at most, for eps, delta and rounding
    stabilization: Floats  # Baumgarte's 2 alpha and beta^2; zero if there is none
    compliance: Floats  # of each row, if the equations themselves are compliant; zero otherwise
    arms: Floats  # of each body: a length that makes its angle comparable with its displacements
    shares: Floats  # of each row: its Phi_q M^-1 Phi_q^T in the initial pose, without massless bodies
    per_coordinate: Floats  # the length of the mechanism that a change of each coordinate corresponds to
    per_row: Floats  # the length of the mechanism that an error of each row corresponds to
    dropped: Ints  # rows that others imply, if known; the whole matrix omits them


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def evaluate_state(S, t, q, qd, w):
    """Functions of time, frames, Phi_q and QA at a state."""
    move(S, t, q, qd, w)
    phi_q(S, w)
    applied_by_pointer(S, t, q, qd, w)


@kernel(inline=True)
def fill_matrix(D, data, v):
    """M, Phi_q and -eps into the slots."""
    template, jacobian = D.template, D.jacobian
    for p in range(v.size):
        v[p] = template[p]
    for p in range(jacobian.size):
        v[jacobian[p]] = data[p]


@kernel(inline=True)
def accelerate(S, D, t, q, qd, w):
    """qdd and lam into w.x."""
    evaluate_state(S, t, q, qd, w)
    gamma(S, w, w.row)
    if D.stabilization[0] + D.stabilization[1] > 0.0:
        stabilize(S, D, qd, w)
    solve_kkt(S, D, w.Q, w.row, w)


@kernel
def stabilize(S, D, qd, w):
    """gamma - 2 alpha (Phi_q qd - nu) - beta^2 Phi: errors of the constraints decay as in a damped oscillator."""
    alpha2, beta2 = D.stabilization[0], D.stabilization[1]
    errors = w.correction[: w.row.size]
    phi(S, w, errors)
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
        invoke(w.refine_f, w.refine_c, 0.0, b, c)
