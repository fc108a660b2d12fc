"""How the equations of a system along a motion (`system/residuals.py`) change with its state.

Since (Phi')_q is the rate of Phi_q along the motion, (Phi'')_qd = 2 (Phi')_q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analyses.statics.stiffness import (
    applied_slopes,
    first_coordinates,
    formula_row_slopes,
    row_slopes,
)
from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...system.constraints import evaluate_rows
from ...system.residuals import Residuals, States, dense_rows, residuals
from ...system.system import System
from ...system.workspace import refresh
from .differences import CENTRAL

STEP = 1e-3
"""Of a length of the mechanism, or of a radian."""


class StateSlopes(NamedTuple):
    """At each instant: Phi_q, (Phi')_q, (Phi'')_q, R_q and R_qd."""

    J: Floats
    rate: Floats
    second: Floats
    stiffness: Floats
    damping: Floats


def state_slopes(system: System, states: States) -> StateSlopes:
    """Derivatives with respect to q and qd."""
    stiffness, damping, turning, data = _exact_slopes(system, states)
    if system.has_formulas:  # their mixed derivatives by q and t are not known
        rate, second = _rows_by_coordinates(system, states)
    else:
        rate, second = turning, _second_slopes(system, states)
    return StateSlopes(dense_rows(system, data), rate, second, stiffness, damping)


@kernel(entry=True)
def slopes_along(S, L, t, Q, Qd, Lam, w, where, G, B, row, K, by_q, by_qd, rates, data):
    """(Phi_q^T lam)_q, QA_q, QA_qd, (Phi_q qd)_q and the non-zeros of Phi_q at each instant.

    G, B and row are scratch.
    """
    for i in range(t.size):
        evaluate_rows(S, t[i], Q[i], Qd[i], w, row[0], row[1])
        for k in range(w.data.size):
            data[i, k] = w.data[k]
        row_slopes(S, Lam[i], Qd[i], w, K[i], rates[i])
        if S.formulas.row.size > 0:
            formula_row_slopes(S, t[i], Lam[i], Qd[i], w, where, B, K[i], rates[i])
        applied_slopes(S, L, t[i], Q[i], Qd[i], w, where, G, by_q[i], by_qd[i])


@kernel(entry=True)
def rates_along(S, t, Q, V, w, still, row, K, rates):
    """(Phi_q v)_q at each instant; row and K are scratch."""
    for i in range(t.size):
        evaluate_rows(S, t[i], Q[i], V[i], w, row[0], row[1])
        row_slopes(S, still, V[i], w, K, rates[i])


def _exact_slopes(system: System, states: States) -> tuple[Floats, Floats, Floats, Floats]:
    """R_q, R_qd, (Phi_q qd)_q and the non-zeros of Phi_q."""
    count, m, n = states.t.size, system.m, system.n
    K, by_q, by_qd = np.zeros((3, count, n, n))
    rates = np.zeros((count, m, n))
    scratch = np.empty((3, n)), np.empty((n, n)), np.empty((2, m))
    given = [np.ascontiguousarray(each) for each in (states.t, states.q, states.qd, states.lam)]
    S, L = system.arrays, system.load_arrays
    data = np.zeros((count, S.jac_column.size))
    with system.evaluator() as rows, np.errstate(all="ignore"):
        refresh(rows.w, S)
        slopes_along(S, L, *given, rows.w, first_coordinates(system), *scratch, K, by_q, by_qd, rates, data)
    return K - by_q, -by_qd, rates, data


def _second_slopes(system: System, states: States) -> Floats:
    """(Phi'')_q = d/dt (Phi')_q along the motion: (Phi_q qdd)_q + (Phi_q(q + s qd) qd)_q,s at s = 0."""
    fastest = np.max(np.abs(states.qd) / system.sizes, axis=1, initial=0.0)
    step = STEP / np.where(fastest > 0.0, fastest, 1.0)
    q, qd, along = states.q, states.qd, step[:, None] * states.qd
    places = [q, *(q + offset * along for offset in CENTRAL.offsets)]
    velocities = [states.qdd, *[qd] * len(CENTRAL.offsets)]
    t = np.tile(states.t, len(places))
    rates = _rates(system, t, np.concatenate(places), np.concatenate(velocities))
    here, *around = rates.reshape(len(places), states.t.size, *rates.shape[1:])
    return np.asarray(here + CENTRAL.slope(around, step[:, None, None]))


def _rates(system: System, t: Floats, q: Floats, v: Floats) -> Floats:
    m, n = system.m, system.n
    out = np.zeros((t.size, m, n))
    given = [np.ascontiguousarray(each) for each in (t, q, v)]
    with system.evaluator() as rows, np.errstate(all="ignore"):
        refresh(rows.w, system.arrays)
        rates_along(system.arrays, *given, rows.w, np.zeros(m), np.empty((2, m)), np.empty((n, n)), out)
    return out


def _rows_by_coordinates(system: System, states: States) -> tuple[Floats, Floats]:
    """(Phi')_q and (Phi'')_q by differences of the rows at one instant."""
    by_q = [_by_coordinate(system, states, j) for j in range(system.n)]
    columns = lambda name: np.stack([getattr(each, name) for each in by_q], axis=-1)
    return columns("rate"), columns("second")


def _by_coordinate(system: System, states: States, j: int) -> Residuals:
    step, around = STEP * system.sizes[j], []
    for offset in CENTRAL.offsets:
        moved = states.q.copy()
        moved[:, j] += offset * step
        around.append(residuals(system, states._replace(q=moved)))
    return Residuals(*(CENTRAL.slope(parts, step) for parts in zip(*around, strict=True)))
