"""Families whose bodies depend on a few coordinates each: their equations are sparse.

    [ M     Phi_z^T ] [ zdd ]   [ Q                                                ]
    [ Phi_z   -c    ] [ lam ] = [ gamma - 2 alpha (Phi_z zd - nu) - beta^2 Phi     ]

are those of a single stage that is asked for accelerations. alpha = beta = c = 0 leaves the constraints to a projection
after each step; alpha and beta are Baumgarte's; a compliance c = 1 / penalty makes
lam = penalty (Phidd + 2 xi omega Phid + omega^2 Phi), the penalty formulation.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ..methods import Formulation
from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..system.elimination import unequal
from . import row_scales
from .base import Family
from .body_map import BodyMap, MapPointers, MapShape
from .equations import Configuration, EquationsOfMotion, Verb
from .stage_setup import mapped_stages
from .stages import (
    ACCELERATION,
    COURSE,
    KEPT,
    POSITION,
    SIZE_B,
    VELOCITY,
    StageEquations,
    Stages,
    StageTask,
    new_stages,
)

CORRECTIONS = 4  # against rounding and the compliance of redundant rows


class Instant(NamedTuple):
    """Context of the verbs: the equations of a single stage."""

    evaluate_f: Any
    evaluate_c: Any
    solve_f: Any
    solve_c: Any
    st: Stages
    errors: Floats  # (m, 3)
    asked: Floats  # (m), what Phi_z a is asked to be
    pushed: Floats  # (n), and M a + Phi_z^T lam
    nothing: Floats  # (n)
    row: Floats  # (m)
    stabilization: Floats  # 2 alpha and beta^2
    compliance: Floats  # (m)
    corrections: Ints


@kernel
def place(c, t, y):
    """The state, at rest; the matrix there is not known yet."""
    st, n = c.st, y.size // 2
    st.t[0], st.state[KEPT] = t, 0.0
    for j in range(n):
        st.z[0, j], st.zd[0, j], st.a[0, j] = y[j], y[n + j], 0.0
    for k in range(c.asked.size):
        st.lam[0, k] = 0.0
    invoke(c.evaluate_f, c.evaluate_c, t, st.state, st.state)
    for j in range(n):
        c.pushed[j] = -st.balance[0, j]
    for k in range(c.asked.size):
        c.asked[k] = -c.errors[k, ACCELERATION]


@kernel
def solve(c, Q, row):
    """a and lam of M a + Phi_z^T lam = Q, Phi_z a - c lam = row."""
    st = c.st
    for j in range(Q.size):
        st.a[0, j] = 0.0
    for k in range(row.size):
        st.lam[0, k] = 0.0
    for correction in range(c.corrections[0]):
        if correction > 0:
            invoke(c.evaluate_f, c.evaluate_c, st.t[0], st.state, st.state)
        for j in range(Q.size):
            st.balance[0, j] = (st.balance[0, j] + c.pushed[j] if correction > 0 else 0.0) - Q[j]
        for k in range(row.size):
            moved = c.errors[k, ACCELERATION] + c.asked[k] if correction > 0 else 0.0
            st.gap[0, k] = moved - c.compliance[k] * st.lam[0, k] - row[k]
        invoke(c.solve_f, c.solve_c, st.t[0], st.state, st.state)
        for j in range(Q.size):
            st.a[0, j] += st.da[0, j]
        for k in range(row.size):
            st.lam[0, k] += st.dlam[0, k]


@kernel_pointer
def accelerations(c, t, y, out):
    """(zd, zdd)"""
    n = y.size // 2
    place(c, t, y)
    for k in range(c.asked.size):
        drift = c.stabilization[0] * c.errors[k, VELOCITY] + c.stabilization[1] * c.errors[k, POSITION]
        c.row[k] = c.asked[k] - drift
    solve(c, c.pushed, c.row)
    for j in range(n):
        out[j], out[n + j] = y[n + j], c.st.a[0, j]


@kernel_pointer
def evaluate(c, t, y, out):
    """Bodies, forces and rows."""
    place(c, t, y)


@kernel_pointer
def residual(c, level, y, row):
    """-Phi, or nu - Phi_z zd"""
    for k in range(row.size):
        row[k] = -c.errors[k, int(level)]


@kernel_pointer
def smallest_change(c, unused, row, x):
    """x of M x + Phi_z^T lam = 0, Phi_z x = row"""
    solve(c, c.nothing, row)
    for j in range(x.size):
        x[j] = c.st.a[0, j]


class MappedEquations(EquationsOfMotion):
    """The equations of a formulation in a family, rows measured in a configuration."""

    accelerate = Verb(accelerations)
    evaluate = Verb(evaluate)
    residual = Verb(residual)
    smallest_change = Verb(smallest_change)

    def __init__(self, family: MappedFamily, formulation: Formulation, at: Configuration) -> None:
        n, m = family.n, family.m
        st = new_stages(1, n, m, np.array([0.0, 0.0, 0.0, COURSE, 0.0, 0.0, ACCELERATION]))
        st.state[SIZE_B] = 1.0
        given = row_scales.given_in(family, at.t, at.z) if formulation.gives_way else np.zeros(m)
        compliance = formulation.compliances(given)
        self.stage = family.stage_equations(StageTask(st, False, compliance, at.redundant))
        refined = at.redundant or unequal(family.system)
        first, then = self.stage.evaluate, self.stage.solve
        self.context = Instant(
            first.f, first.c, then.f, then.c, st, self.stage.errors, np.zeros(m), np.zeros(n), np.zeros(n), np.zeros(m),
            np.array(formulation.stabilization), compliance, np.array([CORRECTIONS if refined else 1]),
        )  # fmt: skip
        self.per_row = row_scales.lengths_in(family, at)
        self.per_coordinate = family.system.length / family.sizes


class MappedFamily(Family, abstract=True):
    """A family that says which coordinates move which bodies, and how."""

    @abstractmethod
    def map_shape(self) -> MapShape:
        """Which coordinates each body depends on."""

    @abstractmethod
    def map_pointers(self, X: BodyMap) -> MapPointers:
        """The kernels that fill the map at a state."""

    def stage_equations(self, task: StageTask) -> StageEquations:
        return mapped_stages(self, self.map_shape(), self.map_pointers, task)

    def equations_of_motion(self, formulation: Formulation, at: Configuration) -> EquationsOfMotion:
        return MappedEquations(self, formulation, at)
