"""The equations of motion in the coordinates z of a family.

A family says where the bodies are, q = f(z), and how they move, qd = R zd. All else follows:

    M_z = R^T M R,    Q_z = R^T (QA - M Rd zd),    Phi_z = Phi_q R,    gamma_z = gamma - Phi_q Rd zd

Rows that a family fulfills by itself are left out; rows of its own (rigid lengths, say) come before the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..expressions.time_function import functions_at
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..system.applied_forces import Loads, applied
from ..system.constraints import SystemArrays, gamma, phi, phi_q
from ..system.formulas.constraints import rows_at
from ..system.frames import FRAME_STATE, move_frames, place_frames

Floats = NDArray[np.float64]


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
    # on the way
    f: Floats
    F: Floats
    data: Floats
    QA: Floats


def new_equations(arrays: SystemArrays, n: int, own: int, load_functions: int) -> TransformedEquations:
    """Arrays for n coordinates and `own` rows before those of the system."""
    bodies, kept = 3 * arrays.mass.size, arrays.row_start.size - 1
    m = own + kept
    return TransformedEquations(
        np.zeros(bodies),
        np.zeros(bodies),
        np.zeros((bodies, n)),
        np.zeros(bodies),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(m),
        np.zeros((m, n)),
        np.zeros(m),
        np.zeros(m),
        np.zeros((kept + load_functions, 3)),
        np.zeros((arrays.frame_body.size, FRAME_STATE)),
        np.zeros(arrays.jac_column.size),
        np.zeros(bodies),
    )


class BodiesContext(NamedTuple):
    """Context of `evaluate_bodies`."""

    S: SystemArrays
    L: Loads
    E: TransformedEquations


class Context(NamedTuple):
    """Context of a family's pose; `Z` are arrays of its own."""

    S: SystemArrays
    E: TransformedEquations
    bodies_f: Any  # the kernel pointer `evaluate_bodies`, which all families share
    bodies_c: Any
    Z: Any


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def evaluate_bodies(c, t, y, out):
    """Phi, Phi_q, gamma and QA of the bodies, from q and qd in E."""
    S, L, E = c.S, c.L, c.E
    own = E.Phi.size - (S.row_start.size - 1)
    functions_at(S.functions, t, E.f)
    place_frames(S, E.q, E.F)
    move_frames(S, E.qd, E.F)
    rows_at(S, t, E.F, E.f)
    phi(S, E.f, E.F, E.Phi[own:])
    phi_q(S, E.F, E.data)
    gamma(S, E.f, E.F, E.gamma[own:])
    applied(S, L, t, E.f, E.F, E.q, E.qd, E.QA)


@kernel
def transform(c, t):
    """All equations but M, where q, qd, R and bias are known; rows of the family's own are left alone."""
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
                share = mass * R[c, i]
                for j in range(n):
                    M[i, j] += share * R[c, j]


class ToBodiesContext(NamedTuple):
    """Context of `to_bodies`."""

    pose_f: Any
    pose_c: Any
    E: TransformedEquations


@kernel_pointer
def to_bodies(c, t, y, out):
    """(z, zd, zdd) to (q, qd, qdd) with qdd = R zdd + bias."""
    E, n, bodies = c.E, y.size // 3, out.size // 3
    invoke(c.pose_f, c.pose_c, t, y[: 2 * n], y)
    for i in range(bodies):
        qdd = E.bias[i]
        for j in range(n):
            qdd += E.R[i, j] * y[2 * n + j]
        out[i], out[bodies + i], out[2 * bodies + i] = E.q[i], E.qd[i], qdd
