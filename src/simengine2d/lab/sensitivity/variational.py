"""The variational equations: how a motion under forces changes with the parameters, in independent coordinates.

At each instant the coordinates v = E q are independent of each other, so that [Phi_q; E] has an inverse (S, B):

    q_p   = S (-Phi_p) + B v_p
    qd_p  = S (-Phi'_p - (Phi')_q q_p) + B v'_p
    qdd_p = S (-Phi''_p - (Phi'')_q q_p - 2 (Phi')_q qd_p) + B v''_p

All constraints are satisfied at all levels. Since B^T Phi_q^T = 0, the equations of motion are those of v alone,

    B^T M B v''_p = -B^T (R_p + R_q q_p + R_qd qd_p + M a),      qdd_p = a + B v''_p

linear equations, as many as there are free motions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...system.residuals import Residuals, States
from ...system.system import System
from .motion_slopes import MotionSlopes, all_parameter_slopes
from .state_slopes import StateSlopes, state_slopes
from .varied import Varied


class Inverses(NamedTuple):
    """(S, B) at each instant."""

    S: Floats
    B: Floats


def inverses(J: Floats, chosen: Ints) -> Inverses:
    """For the rows of Phi_q that are independent, and the coordinates `chosen` at each instant."""
    count, m, n = J.shape
    square = np.zeros((count, n, n))
    square[:, :m] = J
    np.put_along_axis(square[:, m:], chosen[:, :, None], 1.0, axis=2)
    both: Floats = np.asarray(np.linalg.inv(square), dtype=np.float64)
    return Inverses(both[:, :, :m], both[:, :, m:])


class ReducedEquations(NamedTuple):
    """v'' = by_v v + by_rate v' + source at each instant."""

    by_v: Floats
    by_rate: Floats
    source: Floats


class Tangents(NamedTuple):
    """q_p, qd_p and a for v_p, v'_p and the parameters themselves, as columns in this order."""

    q: Floats
    qd: Floats
    a: Floats
    force: Floats  # R_p + R_q q_p + R_qd qd_p


def tangents(by_state: StateSlopes, by_p: Residuals, at: Inverses) -> Tangents:
    count, n, f = at.B.shape
    still, unknowns = np.zeros((count, n, f)), np.zeros((count, at.S.shape[2], 2 * f))
    Phi, rate, second = (np.concatenate([unknowns, part], axis=2) for part in by_p[:3])
    q = -at.S @ Phi
    q[:, :, :f] += at.B
    qd = -at.S @ (rate + by_state.rate @ q)
    qd[:, :, f : 2 * f] += at.B
    a = -at.S @ (second + by_state.second @ q + 2.0 * (by_state.rate @ qd))
    force = np.concatenate([still, still, by_p.force], axis=2)
    return Tangents(q, qd, a, force + by_state.stiffness @ q + by_state.damping @ qd)


def reduced_equations(system: System, parts: Tangents, at: Inverses) -> ReducedEquations:
    f, masses, B_T = at.B.shape[2], system.masses[:, None], np.swapaxes(at.B, 1, 2)
    inertia = B_T @ (masses * at.B)
    answer: Floats = -np.asarray(
        np.linalg.solve(inertia, B_T @ (parts.force + masses * parts.a)), dtype=np.float64
    )
    return ReducedEquations(answer[:, :, :f], answer[:, :, f : 2 * f], answer[:, :, 2 * f :])


def full_slopes(
    system: System, parts: Tangents, at: Inverses, reduced: ReducedEquations, v: Floats, rate: Floats
) -> MotionSlopes:
    """The derivatives of all coordinates and multipliers where those of v and v' are known."""
    count = v.shape[2]
    columns = np.concatenate([v, rate, np.broadcast_to(np.eye(count), (v.shape[0], count, count))], axis=1)
    second = reduced.by_v @ v + reduced.by_rate @ rate + reduced.source
    qdd = parts.a @ columns + at.B @ second
    force = parts.force @ columns + system.masses[:, None] * qdd
    lam = -np.swapaxes(at.S, 1, 2) @ force
    return MotionSlopes(parts.q @ columns, parts.qd @ columns, qdd, lam)


class LinearEquations(NamedTuple):
    """All of them at some instants of a motion."""

    at: Inverses
    parts: Tangents
    reduced: ReducedEquations


def linear_equations(
    system: System, states: States, kept: Ints, chosen: Ints, numbers: Sequence[Varied]
) -> LinearEquations:
    """With the rows that are kept, and the independent coordinates of each instant."""
    by_state, by_p = state_slopes(system, states), all_parameter_slopes(numbers, states)
    by_state = by_state._replace(
        J=by_state.J[:, kept], rate=by_state.rate[:, kept], second=by_state.second[:, kept]
    )
    by_p = by_p._replace(Phi=by_p.Phi[:, kept], rate=by_p.rate[:, kept], second=by_p.second[:, kept])
    at = inverses(by_state.J, chosen)
    parts = tangents(by_state, by_p, at)
    return LinearEquations(at, parts, reduced_equations(system, parts, at))
