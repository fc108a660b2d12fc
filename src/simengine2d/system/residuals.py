"""The equations of a system along a motion, all instants in one compiled call.

Phi(t, q) = 0,      Phi' = Phi_q qd - nu = 0,      Phi'' = Phi_q qdd - gamma = 0
R = M qdd + Phi_q^T lam - QA = 0
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from .applied_forces import applied_by_pointer
from .constraints import evaluate_rows
from .system import System
from .workspace import refresh


class States(NamedTuple):
    """Instants of a motion; `lam` is zero where forces are not known."""

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats


class Residuals(NamedTuple):
    """The equations at each instant."""

    Phi: Floats
    rate: Floats
    second: Floats
    force: Floats


@kernel
def residuals_at(S, t, q, qd, qdd, lam, w, Phi, rate, second, force):
    """Phi, Phi', Phi'' and R at one instant; the non-zeros of Phi_q are in w.data."""
    evaluate_rows(S, t, q, qd, w, Phi, second)
    applied_by_pointer(S, t, q, qd, w)
    for b in range(S.mass.size):
        for c in range(3):
            mass = S.inertia[b] if c == 2 else S.mass[b]
            force[3 * b + c] = mass * qdd[3 * b + c] - w.Q[3 * b + c]
    for r in range(Phi.size):
        rate[r] = -w.f[r, 1]
        second[r] = -second[r]
        for p in range(S.jac_start[r], S.jac_start[r + 1]):
            j = S.jac_column[p]
            rate[r] += w.data[p] * qd[j]
            second[r] += w.data[p] * qdd[j]
            force[j] += w.data[p] * lam[r]


@kernel(entry=True)
def residuals_along(S, t, Q, Qd, Qdd, Lam, w, Phi, rate, second, force, data):
    """Phi, Phi', Phi'', R and the non-zeros of Phi_q at each instant."""
    for i in range(t.size):
        residuals_at(S, t[i], Q[i], Qd[i], Qdd[i], Lam[i], w, Phi[i], rate[i], second[i], force[i])
        for k in range(w.data.size):
            data[i, k] = w.data[k]


def residuals(system: System, states: States) -> Residuals:
    """The equations of a system at states that need not belong to it."""
    return _evaluated(system, states)[0]


def residuals_and_jacobians(system: System, states: States) -> tuple[Residuals, Floats]:
    """The same, and Phi_q."""
    equations, data = _evaluated(system, states)
    return equations, dense_rows(system, data)


def _evaluated(system: System, states: States) -> tuple[Residuals, Floats]:
    count = states.t.size
    Phi, rate, second = np.zeros((3, count, system.m))
    out = Residuals(Phi, rate, second, np.zeros((count, system.n)))
    data = np.zeros((count, system.arrays.jac_column.size))
    with system.evaluator() as rows, np.errstate(all="ignore"):
        refresh(rows.w, system.arrays)
        residuals_along(system.arrays, *map(np.ascontiguousarray, states), rows.w, *out, data)
    return out, data


@kernel(entry=True)
def rows_along(S, t, Q, still, w, row, data):
    """The non-zeros of Phi_q at each instant; row is scratch."""
    for i in range(t.size):
        evaluate_rows(S, t[i], Q[i], still, w, row[0], row[1])
        for k in range(w.data.size):
            data[i, k] = w.data[k]


def jacobians(system: System, t: Floats, Q: Floats) -> Floats:
    """Phi_q at each instant; forces are not looked at."""
    data = np.zeros((t.size, system.arrays.jac_column.size))
    with system.evaluator() as rows, np.errstate(all="ignore"):
        refresh(rows.w, system.arrays)
        given, scratch = map(np.ascontiguousarray, (t, Q)), np.zeros((2, system.m))
        rows_along(system.arrays, *given, np.zeros(system.n), rows.w, scratch, data)
    return dense_rows(system, data)


def dense_rows(system: System, data: Floats) -> Floats:
    """Phi_q of its non-zeros."""
    S, J = system.arrays, np.zeros((len(data), system.m, system.n))
    J[:, np.repeat(np.arange(system.m), np.diff(S.jac_start)), S.jac_column] = data
    return J
