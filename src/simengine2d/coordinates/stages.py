"""Stages of implicit methods on differential-algebraic equations: what a family of coordinates z is asked for.

Alpha methods, BDF and stiffly accurate Runge-Kutta methods all make positions and velocities linear in the
accelerations of their stages:

    z_i = base_z_i + sum_j B_ij a_j + sum_j C_ij e_j,      zd_i = base_zd_i + sum_j C_ij a_j

and ask at each stage for M a + Phi_z^T lam = Q and for the constraints. e corrects velocities in formulations that hold
constraints of positions and velocities together; else it is 0. A family answers with two kernel pointers. `evaluate`
finds what the present stages leave of the equations, and `solve` corrects them by Newton's equations. Those of one
stage, with b = B, c = C and the constraints divided by b:

    [ M + b K + c D   Phi_z^T ] [ da   ]     [ M a + Phi_z^T lam - Q ]
    [ Phi_z              0    ] [ dlam ] = - [ Phi / b               ]

    K = d(M a + Phi_z^T lam - Q) / dz,      D = -dQ / dzd,      G = d(Phi_z zd - nu) / dz

Where a constraint holds a velocity, its row is [ Phi_z + (b / c) G   0 ] with (Phi_z zd - nu) / c. Constraints that
give way have a compliance, -compliance dlam in their own row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel

Floats = NDArray[np.float64]

# entries of the options: relative and absolute tolerance of the accelerations, what rounding of a position makes of
# them times b, the iteration, the reduction of an error at which kept factors are given up, the largest change against
# the accelerations that may be rounding, and the level at which constraints are asked for
RELATIVE, ABSOLUTE, ROUNDING, ITERATION, SLOW, STALLED, LEVEL = range(7)
EXACT, MODIFIED, COURSE = range(3)
POSITION, VELOCITY, ACCELERATION = range(3)
# entries of the state: b and c are the largest B_ij and C_ij; KEPT is the b of the factors that are kept, else 0
CONVERGED, KEPT, SIZE_B, SIZE_C, CHANGE, LARGEST, ITERATIONS, EVALUATIONS, FACTORIZATIONS = range(9)
STATE_SIZE = 9


class Stages(NamedTuple):
    """The stages of one method: s of them, with n coordinates and m constraints."""

    t: Floats
    base_z: Floats  # (s, n)
    base_zd: Floats
    B: Floats  # (s, s)
    C: Floats
    # the unknowns, and the states that follow from them
    a: Floats  # (s, n)
    lam: Floats  # (s, m)
    mu: Floats
    e: Floats  # (s, n)
    z: Floats
    zd: Floats
    # what is left of the equations
    balance: Floats  # (s, n), M a + Phi_z^T lam - Q
    gap: Floats  # (s, m), Phi / b, or the rate for constraints that hold a velocity
    rate: Floats  # (s, m), (Phi_z zd - nu) / c, where there are mu
    slip: Floats  # (s, n), (c / b) W^-1 e - Phi_z^T mu
    # the corrections
    da: Floats
    dlam: Floats
    dmu: Floats
    de: Floats
    state: Floats
    options: Floats


def new_stages(s: int, n: int, m: int, options: Floats) -> Stages:
    of_stages = lambda k: np.zeros((s, k))
    return Stages(
        np.zeros(s), of_stages(n), of_stages(n), of_stages(s), of_stages(s),
        of_stages(n), of_stages(m), of_stages(m), of_stages(n), of_stages(n), of_stages(n),
        of_stages(n), of_stages(m), of_stages(m), of_stages(n),
        of_stages(n), of_stages(m), of_stages(m), of_stages(n),
        np.zeros(STATE_SIZE), options,
    )  # fmt: skip


class StageTask(NamedTuple):
    """What a formulation asks of a family."""

    st: Stages
    twice: bool  # whether constraints of positions and velocities are held together, with mu and e
    compliance: Floats  # (m)
    redundant: bool  # whether constraints may depend on each other


class StageEquations(NamedTuple):
    """The answer of a family."""

    evaluate: BoundKernel
    solve: BoundKernel
    factors: dict[str, Floats]
    """What is kept of a factorization."""
    errors: Floats = np.zeros((0, 3))
    """Of the rows, at the levels of positions, velocities and accelerations, where a family tells them."""


class KeptStages(NamedTuple):
    """What a checkpoint needs of stages: their state, and what is kept of a factorization."""

    st: Stages
    factors: dict[str, Floats]
    iteration: Any = None  # Newton's, where its corrections can be made once more


@kernel
def add_stages(base, A, X, out):
    """out_i = base_i + sum_j A_ij X_j"""
    for i in range(base.shape[0]):
        for k in range(base.shape[1]):
            out[i, k] = base[i, k]
        for j in range(base.shape[0]):
            share = A[i, j]
            for k in range(base.shape[1]):
                out[i, k] += share * X[j, k]


@kernel
def is_kept(state):
    """Whether factors of an earlier matrix serve."""
    return state[KEPT] != 0.0


@kernel
def keep_factors(state):
    state[FACTORIZATIONS] += 1.0
    state[KEPT] = state[SIZE_B]


@kernel
def tangent_shares(st):
    """Factors of B and C in Newton's matrix: "course" is without second derivatives."""
    return 0.0 if st.options[ITERATION] == COURSE else 1.0
