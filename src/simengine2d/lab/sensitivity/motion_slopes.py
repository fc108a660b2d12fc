"""How a motion changes with the parameters, where an algebraic equation holds at every instant.

Differentiated with respect to a parameter p along the motion, the equations of `system/residuals.py` are linear in the
derivatives of q, qd, qdd and lam:

    Phi_q q_p               = -Phi_p
    Phi_q qd_p              = -Phi'_p - (Phi')_q q_p
    Phi_q qdd_p             = -Phi''_p - (Phi'')_q q_p - 2 (Phi')_q qd_p
    Phi_q^T lam_p + M qdd_p = -R_p - R_q q_p - R_qd qd_p

Kinematics solves the first three, inverse dynamics all of them, statics the first and the last together.
E. J. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems (1989), section 3.6; E. J. Haug, R. A. Wehage,
N. K. Mani, J. Mech. Trans. Autom. 106 (1984) 247-252.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...analyses.assembly.closure import coordinate_scale
from ...errors import ModelError, UnsupportedError
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.residuals import Residuals, States
from ...system.system import System
from .state_slopes import StateSlopes, state_slopes
from .variant_residuals import VariantEquations
from .varied import Varied

DEPENDENT = 1e-9
"""Singular values of Phi_q, with rows of norm one, that do not count."""


class MotionSlopes(NamedTuple):
    """q_p, qd_p, qdd_p and lam_p: (times, coordinates or rows, parameters)."""

    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats


def states_of(results: Results) -> States:
    """The instants of results; without forces, the multipliers are zero."""
    motion, m = results.motion, results.system.m
    lam = motion.lam if results.lam is not None else np.zeros((motion.t.size, m))
    return States(motion.t, motion.q, motion.qd, motion.qdd, lam)


def all_parameter_slopes(numbers: Sequence[Varied], states: States) -> Residuals:
    """Derivatives of the equations with respect to all parameters, at constant states."""
    return VariantEquations(numbers[0].system(0.0), states).all_slopes(numbers)


# Kinematics and inverse dynamics ----------------------------------------------------------------------


def kinematic_slopes(results: Results, numbers: Sequence[Varied]) -> MotionSlopes:
    """Of a motion that drivers prescribe."""
    states = states_of(results)
    by_state, by_p = state_slopes(results.system, states), all_parameter_slopes(numbers, states)
    return _driven(results.system, by_state, by_p, with_forces=False)


def inverse_slopes(results: Results, numbers: Sequence[Varied]) -> MotionSlopes:
    """Of a prescribed motion and the forces that it takes."""
    states = states_of(results)
    by_state, by_p = state_slopes(results.system, states), all_parameter_slopes(numbers, states)
    return _driven(results.system, by_state, by_p, with_forces=True)


def _driven(system: System, by_state: StateSlopes, by_p: Residuals, *, with_forces: bool) -> MotionSlopes:
    solve, solve_transposed = solvers(system, by_state.J)
    q = solve(-by_p.Phi)
    qd = solve(-by_p.rate - by_state.rate @ q)
    qdd = solve(-by_p.second - by_state.second @ q - 2.0 * (by_state.rate @ qd))
    if not with_forces:
        return MotionSlopes(q, qd, qdd, np.zeros(by_p.Phi.shape))
    force = by_p.force + by_state.stiffness @ q + by_state.damping @ qd + system.masses[:, None] * qdd
    return MotionSlopes(q, qd, qdd, solve_transposed(-force))


Solver = Callable[[Floats], Floats]


def solvers(system: System, J: Floats) -> tuple[Solver, Solver]:
    """x of Phi_q x = b at every instant, and y of Phi_q^T y = b; of many, the smallest."""
    inverse = scaled_inverses(system, J)
    return lambda b: inverse @ b, lambda b: np.swapaxes(inverse, 1, 2) @ b


def scaled_inverses(system: System, J: Floats) -> Floats:
    """The inverse of Phi_q at every instant; where rows are redundant, the pseudo-inverse in lengths."""
    scale = coordinate_scale(system)
    scaled = J * scale
    norms = np.linalg.norm(scaled, axis=2, keepdims=True)
    norms[norms == 0.0] = 1.0
    inverse = np.linalg.pinv(scaled / norms, rcond=DEPENDENT)
    if not np.all(np.isfinite(inverse)):
        raise ModelError(
            "the joints have no finite slopes somewhere in this motion, so it has no derivatives."
        )
    return np.asarray(scale[:, None] * inverse / np.swapaxes(norms, 1, 2))


# Equilibrium ------------------------------------------------------------------------------------------


def equilibrium_slopes(results: Results, numbers: Sequence[Varied]) -> MotionSlopes:
    """Of poses at rest: with the free motions Z, Z^T R_q Z y = -Z^T (R_p + R_q x), q_p = x + Z y, Phi_q x = -Phi_p."""
    states, system = states_of(results), results.system
    by_state, by_p = state_slopes(system, states), all_parameter_slopes(numbers, states)
    inverse = scaled_inverses(system, by_state.J)
    q = -inverse @ by_p.Phi
    for i in range(states.t.size):
        Z = free_motions(system, by_state.J[i])
        K = Z.T @ by_state.stiffness[i] @ Z
        sizes = np.linalg.svd(K, compute_uv=False)
        if sizes.size and sizes[-1] <= DEPENDENT * sizes[0]:
            raise UnsupportedError(
                "the equilibrium is neutral: it can be moved without effort, so its pose does not follow from the "
                "parameters. Hold that motion by a driver or a spring."
            )
        rest = by_p.force[i] + by_state.stiffness[i] @ q[i]
        q[i] -= Z @ np.linalg.solve(K, Z.T @ rest)
    lam = -np.swapaxes(inverse, 1, 2) @ (by_p.force + by_state.stiffness @ q)
    return MotionSlopes(q, np.zeros_like(q), np.zeros_like(q), lam)


def free_motions(system: System, J: Floats) -> Floats:
    """Z with Phi_q Z = 0, n x d, orthonormal in lengths."""
    scale = coordinate_scale(system)
    scaled = J * scale
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    norms[norms == 0.0] = 1.0
    sizes, Vt = np.linalg.svd(scaled / norms)[1:] if J.size else (np.zeros(0), np.eye(system.n))
    return np.asarray(scale[:, None] * Vt[int(np.sum(sizes > DEPENDENT)) :].T)
