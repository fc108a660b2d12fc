"""How the start of a motion changes with the parameters: the assembled pose, and consistent velocities.

The pose is the closest one to the drawing in which the joints close. Near a drawing that closes, it changes by

    q_p = d_p - Phi_q^+ (Phi_p + Phi_q d_p)      with the drawing d

Velocities minimize |qd - given|_W with Phi_q qd = nu. With y of qd - given = W^-1 Phi_q^T y,

    qd_p = e + W^-1 Phi_q^T (Phi_q W^-1 Phi_q^T)^+ (b - Phi_q e),      b = -Phi'_p - (Phi')_q q_p,
    e = given_p + W^-1 (Phi_q^T y)_p + (W^-1)_p Phi_q^T y

W compares angles with lengths by the sizes of bodies, which depend on the parameters, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...analyses.assembly.assemble import UNGIVEN, assemble
from ...analyses.assembly.closure import WeightedRows, coordinate_scale
from ...numerics.arrays import Floats, constant
from ...system.residuals import Residuals, States, jacobians
from ...system.system import System
from ...system.workspace import once_per_system
from .motion_slopes import all_parameter_slopes, scaled_inverses
from .state_slopes import StateSlopes, state_slopes
from .varied import VariedNumber, system_slopes

DRAWN_CLOSED = 1e-7
"""Lengths by which a pose that closes as drawn is moved at most."""

ROUNDING = 1e-12
"""Of the largest effort: what moves no velocity."""


@once_per_system
def start_slopes(system: System, t: float, *numbers: VariedNumber) -> tuple[Floats, Floats]:
    """q_p and qd_p at the start, (coordinates, parameters)."""
    assembly = assemble(system, t)
    nothing = np.zeros((1, system.n))
    state = States(np.array([t]), assembly.q[None], assembly.qd[None], nothing, np.zeros((1, system.m)))
    steps = velocity_steps(system, state, jacobians(system, state.t, state.q)[0])
    # at the start with no forces, and with y of each step instead of multipliers
    states = States(*(np.repeat(part, 1 + len(steps.y), axis=0) for part in state))
    states.lam[1:] = steps.y
    by_state, by_p = state_slopes(system, states), all_parameter_slopes(numbers, states)
    moved = np.abs(assembly.change / coordinate_scale(system)).max(initial=0.0)
    if moved <= DRAWN_CLOSED * system.length:
        drawn = np.stack([number.drawn_slope for number in numbers], axis=-1)
        q_p = drawn - scaled_inverses(system, by_state.J[:1])[0] @ (by_p.Phi[0] + by_state.J[0] @ drawn)
    else:  # the way from the drawing to the closed pose is a formula, too, though a long one
        q_p = np.stack([number.slope(lambda other, _: assemble(other, t).q) for number in numbers], axis=-1)
    given_p = np.stack([number.drawn_rate_slope for number in numbers], axis=-1)
    scale_p = _scale_slopes(by_state.J[0], steps, numbers)
    return constant((q_p, _velocity_slopes(system, steps, by_state, by_p, q_p, given_p, scale_p)))


def _scale_slopes(J: Floats, steps: VelocitySteps, numbers: Sequence[VariedNumber]) -> Floats:
    """How the scales of coordinates change that were moved; they have kinks, where another point is the farthest."""
    effort = np.max([np.abs(J.T @ y) for y in steps.y], axis=0)
    moved = np.flatnonzero(effort > ROUNDING * effort.max(initial=0.0))
    slopes = np.zeros((J.shape[1], len(numbers)))
    if moved.size:
        scale_of = lambda other: coordinate_scale(other)[moved]
        slopes[moved] = system_slopes(numbers, scale_of, lambda around: around.scale[:, moved])
    return slopes


class VelocitySteps(NamedTuple):
    """The steps by which velocities are found: qd = near + W^-1 Phi_q^T y."""

    y: list[Floats]
    weight: Floats
    rows: WeightedRows
    """Of scaled coordinates."""


def velocity_steps(system: System, state: States, J: Floats) -> VelocitySteps:
    """As the velocities themselves are found, in two steps."""
    wanted, is_given = wanted_velocities(system)
    weight, scale, y = np.where(is_given, 1.0, UNGIVEN), coordinate_scale(system), []
    qd, nu = wanted, system.nu(float(state.t[0]), state.q[0])
    rows = WeightedRows.of(J * scale, weight)
    for _ in range(2):
        near = np.where(is_given, wanted, qd)
        change = rows.change(nu - J @ near)
        y.append(rows.multipliers(change))
        qd = near + scale * change
    return VelocitySteps(y, weight, rows)


def _velocity_slopes(
    system: System,
    steps: VelocitySteps,
    by_state: StateSlopes,
    by_p: Residuals,
    q_p: Floats,
    given_p: Floats,
    scale_p: Floats,
) -> Floats:
    """qd_p = e + W^-1 Phi_q^T (Phi_q W^-1 Phi_q^T)^+ (b - Phi_q e), step by step."""
    b, J, scale = -by_p.rate[0] - by_state.rate[0] @ q_p, by_state.J[0], coordinate_scale(system)
    is_given = wanted_velocities(system)[1][:, None]
    qd_p = given_p
    for k, y in enumerate(steps.y, start=1):
        # (Phi_q^T y)_p along the change of the pose
        turned = by_p.force[k] - by_p.force[0] + (by_state.stiffness[k] - by_state.stiffness[0]) @ q_p
        e = np.where(is_given, given_p, qd_p) + (scale**2 / steps.weight)[:, None] * turned
        e = e + 2.0 * (scale / steps.weight * (J.T @ y))[:, None] * scale_p
        qd_p = e + scale[:, None] * steps.rows.change(b - J @ e)
    return qd_p


def wanted_velocities(system: System) -> tuple[Floats, Floats]:
    """The velocities that are given, zero where none are, and where they are given."""
    is_given = ~np.isnan(system.drawn_qd)
    return np.where(is_given, system.drawn_qd, 0.0), is_given
