"""Stages in the coordinates of any family whose bodies depend on a few columns each: linear in their number.

Newton's equations are those of `stage_pattern`, filled by `stage_tangent` and solved by the frontal method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..numerics.arrays import Floats, Ints
from ..numerics.frontal import Fronts, factor_fronts, solve_fronts
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import kernel_pointer
from ..system.constraints import SystemArrays
from ..system.workspace import Workspace
from .body_map import BodyMap, Distances, TangentSlots
from .stage_balance import find_balance, find_gaps, find_slips, pose
from .stage_pattern import Terms, add_terms, stage_factors
from .stage_tangent import find_tangent, weigh
from .stages import CHANGE, Stages, is_kept, keep_factors


class MappedStages(NamedTuple):
    """Context of the kernel pointers."""

    place_f: Any
    place_c: Any
    bend_f: Any
    bend_c: Any
    S: SystemArrays
    w: Workspace  # writes second derivatives above the diagonal
    below: Workspace  # the same, but below it
    st: Stages
    X: BodyMap
    upper: TangentSlots
    lower: TangentSlots
    couple: Ints  # (couples, 2) of bodies
    couple_start: Ints  # pairs of their columns, row by row
    couple_pair: Ints
    stiffness: Floats  # K_q of each couple
    slope_start: Ints  # entries of J that a non-zero of Phi_q contributes to
    slope: Ints
    target: Ints  # row of the family that a remaining row belongs to
    stretch: Floats  # its derivative by the row
    distances: Distances
    mass_pair: Ints  # constant masses: pair and columns
    mass_row: Ints
    mass_column: Ints
    mass: Floats
    weights: Floats  # (n), the diagonal of M where factors were made
    share: Floats  # (m): what mu is multiplied by where no position is held
    slack: Floats  # (m): eps dlam as an acceleration, where constraints are redundant
    holds_rate: Ints
    errors: Floats  # (m, 3), of the rows at the levels of positions, velocities and accelerations
    lam: Floats  # of the rows that remain
    slopes: Floats  # G_q, by non-zeros of Phi_q
    y: Floats  # (z, zd, zdd)
    pull: Floats  # on all columns
    terms: Terms
    factors: Floats
    V: Floats  # the numbers of a stage
    K: Fronts
    right: Floats
    x: Floats
    outboard: Floats  # (bodies and ghosts, 3, 3): inertia of what depends on them
    inertial: int  # whether M is R^T M R
    twice: int
    loads: int


# What is left of the equations ------------------------------------------------------------------------


@kernel_pointer
def evaluate(c, t, y, out):
    """What the present stages leave of the equations."""
    st = c.st
    for i in range(st.t.size):
        pose(c, i)
        find_balance(c, i)
        for j in range(st.a.shape[1]):
            st.balance[i, j] = c.pull[j]
        find_gaps(c, i)
        if c.twice == 1:
            find_slips(c, i)


# Newton's equations -----------------------------------------------------------------------------------


@kernel_pointer
def solve(c, t, y, out):
    """The corrections of all stages."""
    st, K = c.st, c.K
    if not is_kept(st.state):
        K.v[:] = 0.0
        stage_factors(st, c.factors)
        if c.twice == 1:
            pose(c, st.t.size - 1)
            weigh(c)
        for i in range(st.t.size):
            if st.t.size > 1:  # a single stage is where it was evaluated
                pose(c, i)
            find_tangent(c, i)
            add_terms(c.terms, c.factors, i, c.V, K.v)
        factor_fronts(K)
        keep_factors(st.state)
    s, n = st.a.shape
    m = st.lam.shape[1]
    mu = c.right.shape[0] - m - (c.pull.size - n)
    c.right[:] = 0.0
    for i in range(s):
        put(st.balance[i], 0, i, c.right)
        put(st.gap[i], n, i, c.right)
        if c.twice == 1:
            put(st.slip[i], mu - n, i, c.right)
            put(st.rate[i], mu, i, c.right)
    solve_fronts(K, c.right, c.x)
    st.state[CHANGE] = 0.0
    for i in range(s):
        take(c.x, 0, i, st.da[i])
        take(c.x, n, i, st.dlam[i])
        if c.twice == 1:
            take(c.x, mu - n, i, st.de[i])
            take(c.x, mu, i, st.dmu[i])
        for k in range(m):
            st.state[CHANGE] = max(st.state[CHANGE], c.slack[k] * abs(st.dlam[i, k]))


@kernel(inline=True)
def put(values, first, i, right):
    for k in range(values.size):
        right[first + k, i] = -values[k]


@kernel(inline=True)
def take(x, first, i, out):
    for k in range(out.size):
        out[k] = x[first + k, i]
