"""How the start of a motion changes with the parameters: the assembled pose, and consistent velocities.

The pose is the closest one to the drawing in which the joints close. Near a drawing that closes, it changes by

    q_p = d_p - Phi_q^+ (Phi_p + Phi_q d_p)      with the drawing d

Velocities minimize |qd - given|_W with Phi_q qd = nu. With y of qd - given = W^-1 Phi_q^T y,

    qd_p = e + W^-1 Phi_q^T (Phi_q W^-1 Phi_q^T)^+ (b - Phi_q e),      e = given_p + W^-1 (Phi_q^T y)_p,
    b = -Phi'_p - (Phi')_q q_p
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analyses.assembly.assemble import UNGIVEN, assemble, given_velocities
from ...analyses.assembly.closure import coordinate_scale, weighted_change
from ...numerics.arrays import Floats
from ...system.system import System
from .motion_slopes import all_parameter_slopes, scaled_inverses
from .parameters import VariedNumber
from .residuals import States, state_slopes

DRAWN_CLOSED = 1e-7
"""Lengths by which a pose that closes as drawn is moved at most."""


def start_slopes(system: System, t: float, numbers: Sequence[VariedNumber]) -> tuple[Floats, Floats]:
    """q_p and qd_p at the start, (coordinates, parameters)."""
    assembly = assemble(system, t)
    nothing = np.zeros((1, system.n))
    states = States(np.array([t]), assembly.q[None], assembly.qd[None], nothing, np.zeros((1, system.m)))
    moved = np.abs(assembly.change / coordinate_scale(system)).max(initial=0.0)
    if moved <= DRAWN_CLOSED * system.length:
        q = _pose_slopes(system, states, numbers)
    else:  # the way from the drawing to the closed pose is a formula, too, though a long one
        slopes = [number.slope(lambda other, _: assemble(other, t).q) for number in numbers]
        q = np.stack(slopes, axis=-1)
    return q, _velocity_slopes(system, states, numbers, q)


def _pose_slopes(system: System, states: States, numbers: Sequence[VariedNumber]) -> Floats:
    J = state_slopes(system, states).J
    Phi_p = all_parameter_slopes(numbers, states).Phi[0]
    drawn = np.stack([number.drawn_slope for number in numbers], axis=-1)
    return np.asarray(drawn - scaled_inverses(system, J)[0] @ (Phi_p + J[0] @ drawn))


def _velocity_slopes(system: System, states: States, numbers: Sequence[VariedNumber], q_p: Floats) -> Floats:
    by_state, by_p = state_slopes(system, states), all_parameter_slopes(numbers, states)
    b = -by_p.rate[0] - by_state.rate[0] @ q_p
    wanted, is_given = wanted_velocities(system)
    given_p = np.stack([number.slope(lambda s, _: wanted_velocities(s)[0]) for number in numbers], axis=-1)
    weight, J, scale = np.where(is_given, 1.0, UNGIVEN), by_state.J[0], coordinate_scale(system)
    units = np.eye(system.m)
    correct = [scale * weighted_change(J * scale, unit, weight) for unit in units]
    change = np.stack(correct, axis=-1) if correct else np.zeros((system.n, 0))
    qd, qd_p = wanted, given_p
    for _ in range(2):  # as the velocities themselves are found
        near = np.where(is_given, wanted, qd)
        e = np.where(is_given[:, None], given_p, qd_p)
        step = change @ (system.nu(float(states.t[0]), states.q[0]) - J @ near)
        qd, e = (
            near + step,
            e
            + (scale**2 / weight)[:, None]
            * _turned(system, states, numbers, q_p, step, J, scale**2 / weight),
        )
        qd_p = e + change @ (b - J @ e)
    return qd_p


def _turned(
    system: System,
    states: States,
    numbers: Sequence[VariedNumber],
    q_p: Floats,
    step: Floats,
    J: Floats,
    D: Floats,
) -> Floats:
    """(Phi_q^T y)_p along the motion of the start, with y of step = D Phi_q^T y."""
    if not np.any(step) or system.m == 0:
        return np.zeros_like(q_p)
    root = np.sqrt(D)
    y = np.asarray(np.linalg.lstsq((J * root).T, step / root, rcond=None)[0], dtype=np.float64)
    total = np.zeros_like(q_p)
    for sign, lam in ((1.0, y), (-1.0, np.zeros(system.m))):
        at = states._replace(lam=lam[None])
        by_state, by_p = state_slopes(system, at), all_parameter_slopes(numbers, at)
        total += sign * (by_p.force[0] + by_state.stiffness[0] @ q_p)
    return total


def wanted_velocities(system: System) -> tuple[Floats, Floats]:
    """The velocities that are given, zero where none are, and where they are given."""
    given = [v for body in system.bodies for v in given_velocities(body)]
    return np.array([0.0 if v is None else v for v in given]), np.array([v is not None for v in given])
