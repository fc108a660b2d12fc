"""The equations of motion in the coordinates z of a family.

A family says where the bodies are, q = f(z), and how they move, qd = R zd. All else follows:

    M_z = R^T M R,    Q_z = R^T (QA - M Rd zd),    Phi_z = Phi_q R,    gamma_z = gamma - Phi_q Rd zd

Rows that a family satisfies identically are left out; its own rows (such as rigid lengths) come before the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..system.applied_forces import Loads, applied
from ..system.constraints import SystemArrays, gamma, move, phi, phi_q
from ..system.workspace import Workspace


class TransformedEquations(NamedTuple):
    """The equations at one state."""

    # the bodies: q = f(z), qd = R zd, qdd = R zdd + bias
    q: Floats
    qd: Floats
    R: Floats  # (coordinates of the bodies, n)
    bias: Floats  # Rd zd
    # in the coordinates of the family
    M: Floats  # (n, n)
    Q: Floats
    Phi: Floats
    J: Floats  # (m, n), Phi_z
    nu: Floats
    gamma: Floats
    # intermediate results, which are also in the workspace
    f: Floats
    F: Floats
    data: Floats
    QA: Floats


def new_equations(arrays: SystemArrays, n: int, own: int, w: Workspace) -> TransformedEquations:
    """Arrays for n coordinates and `own` rows before those of the system, evaluated in a workspace."""
    bodies, kept = 3 * arrays.mass.size, arrays.row_start.size - 1
    m = own + kept
    q, qd, bias, QA = np.zeros((4, bodies))
    R, M, Q, J = np.zeros((bodies, n)), np.zeros((n, n)), np.zeros(n), np.zeros((m, n))
    Phi, nu, gamma = np.zeros((3, m))
    return TransformedEquations(q, qd, R, bias, M, Q, Phi, J, nu, gamma, w.f, w.F, w.data, QA)


class BodiesContext(NamedTuple):
    """Context of `evaluate_bodies`."""

    S: SystemArrays
    L: Loads
    E: TransformedEquations
    w: Workspace


class Context(NamedTuple):
    """Context of `evaluate` of a family; `Z` are its own arrays."""

    S: SystemArrays
    E: TransformedEquations
    bodies_f: Any  # the kernel pointer `evaluate_bodies`, which all families moment
    bodies_c: Any
    Z: Any


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def evaluate_bodies(c, t, y, out):
    """Phi, Phi_q, gamma and QA of the bodies, from q and qd in E."""
    S, L, E, w = c.S, c.L, c.E, c.w
    own = E.Phi.size - (S.row_start.size - 1)
    move(S, t, E.q, E.qd, w)
    phi(S, w, E.Phi[own:])
    phi_q(S, w)
    gamma(S, w, E.gamma[own:])
    applied(S, L, t, E.q, E.qd, w, E.QA)


@kernel
def transform(c, t):
    """All equations except M, from known q, qd, R and bias; the family's own rows are left alone."""
    invoke(c.bodies_f, c.bodies_c, t, c.E.q, c.E.qd)
    transform_rows(c.S, c.E)
    transform_forces(c.S, c.E)


@kernel
def transform_rows(S, E):
    """Phi_z = Phi_q R,   gamma_z = gamma - Phi_q bias"""
    J, R, column = E.J, E.R, S.jac_column
    own = E.Phi.size - (S.row_start.size - 1)
    for i in range(S.row_start.size - 1):
        k = own + i
        E.nu[k] = E.f[i, 1]
        for j in range(J.shape[1]):
            J[k, j] = 0.0
        for p in range(S.jac_start[i], S.jac_start[i + 1]):
            c, slope = column[p], E.data[p]
            E.gamma[k] -= slope * E.bias[c]
            for j in range(J.shape[1]):
                J[k, j] += slope * R[c, j]


@kernel
def transform_forces(S, E):
    """Q_z = R^T (QA - M bias)"""
    for j in range(E.Q.size):
        E.Q[j] = 0.0
    for c in range(E.QA.size):
        mass = S.inertia[c // 3] if c % 3 == 2 else S.mass[c // 3]
        force = E.QA[c] - mass * E.bias[c]
        for j in range(E.Q.size):
            E.Q[j] += E.R[c, j] * force


@kernel
def transform_masses(S, E):
    """M_z = R^T M R"""
    M, R, n = E.M, E.R, E.Q.size
    for i in range(n):
        for j in range(n):
            M[i, j] = 0.0
    for c in range(E.QA.size):
        mass = S.inertia[c // 3] if c % 3 == 2 else S.mass[c // 3]
        for i in range(n):
            if R[c, i] != 0.0:
                moment = mass * R[c, i]
                for j in range(n):
                    M[i, j] += moment * R[c, j]
