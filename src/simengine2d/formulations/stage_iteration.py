"""Newton's iteration for the stages of an implicit method, whatever the formulation and the coordinates.

A family's kernel pointers find what the stages leave of the equations, and correct them (`coordinates/stages.py`). Here
is when that is enough, when factors of an earlier matrix serve, and what is done when it does not converge.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.base import Family
from ..coordinates.stages import (
    ABSOLUTE,
    CHANGE,
    CONVERGED,
    COURSE,
    EXACT,
    ITERATION,
    ITERATIONS,
    KEPT,
    LARGEST,
    MODIFIED,
    POSITION,
    RELATIVE,
    ROUNDING,
    SIZE_B,
    SIZE_C,
    SLOW,
    STALLED,
    StageEquations,
    Stages,
    StageTask,
    add_stages,
    new_stages,
)
from ..errors import ModelError, listed
from ..methods import Formulation
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, KernelPointer, invoke

Floats = NDArray[np.float64]

NEWTON = {"exact": EXACT, "modified": MODIFIED, "course": COURSE}

MOST_ITERATIONS = 12
EPSILON = 2e-15  # of positions, whose errors are sums of some roundings
GIVEN_UP = 0.2  # reduction of an error at which modified Newton factors again
LARGEST_ROUNDING = 1e-6  # largest change that may be taken for rounding, against the accelerations
AMPLIFIED = 1e3  # the same against rounding in a usual pose: near a singular one, constraints amplify it


class StagedFormulation(Formulation, abstract=True):
    """A formulation of differential-algebraic equations. As it is, it is index 3."""

    poses: ClassVar[str] = "dae"
    twice: ClassVar[bool] = False
    """Whether constraints of positions and velocities are held together at each stage."""
    settle: ClassVar[KernelPointer | None] = None
    """What is done at the end of a step when its stages are found."""
    soft: ClassVar[bool] = False
    """Whether constraints give way in Newton's equations, by `compliances`; their multipliers take over in the end."""
    keeps_factors: ClassVar[bool] = True
    """Whether the factors of an earlier matrix can serve."""
    holds_velocities: ClassVar[bool] = False
    """Whether Phi_z zd = nu holds at the ends of steps."""


class Iteration(NamedTuple):
    """What `solve_stages` works with."""

    evaluate_f: Any
    evaluate_c: Any
    solve_f: Any
    solve_c: Any
    settle_f: Any  # 0 where nothing is to be done at the end
    settle_c: Any
    st: Stages
    size: Floats  # (n), of the coordinates
    a: Floats  # (s, n), the first guess
    lam: Floats  # (s, m)
    twice: int


class Settling(NamedTuple):
    """Context of a formulation's `settle`: the stages of the step, and one beside them, whose level may be chosen."""

    step: Stages
    st: Stages
    evaluate_f: Any
    evaluate_c: Any
    solve_f: Any
    solve_c: Any
    size: Floats


class StageSolver(NamedTuple):
    """What `solve_stages` works with, and what is kept of factors."""

    iteration: Iteration
    factors: dict[str, Floats]

    @property
    def st(self) -> Stages:
        return self.iteration.st


def stage_solver(
    formulation: StagedFormulation,
    family: Family,
    B: Floats,
    newton: str,
    tolerance: float | None,
    redundant: bool,
    compliance: Floats,
) -> StageSolver:
    """Stages of a formulation in the coordinates of a family, for a method with these B_ij / h^2."""
    if newton not in NEWTON:
        raise ModelError(f"newton = {newton!r} must be one of {listed(NEWTON)}.")
    relative, absolute = (1e-10, 1e-12) if tolerance is None else (0.0, tolerance)
    # accelerations are B^-1 times what positions lack
    rounding = EPSILON * float(np.abs(B).max() * np.abs(np.linalg.inv(B)).sum(axis=1).max())
    kind = NEWTON[newton] if formulation.keeps_factors else EXACT
    options = np.array([relative, absolute, rounding, kind, GIVEN_UP, LARGEST_ROUNDING, POSITION])
    st = new_stages(len(B), family.n, family.m, options)
    task = StageTask(st, formulation.twice, compliance, redundant)
    equations, settle = family.stage_equations(task), BoundKernel(0, 0, None)
    if formulation.settle is not None:
        settle = formulation.settle.bind(settling(family, task))
    return iteration(family, equations, st, settle, formulation.twice)


def iteration(
    family: Family, equations: StageEquations, st: Stages, settle: BoundKernel, twice: bool
) -> StageSolver:
    """Newton's iteration on the equations of a family."""
    pointers = (equations.evaluate, equations.solve, settle)
    addresses = (part for each in pointers for part in (each.f, each.c))
    size, first_guess = np.array(family.sizes, dtype=float), (np.zeros_like(st.a), np.zeros_like(st.lam))
    everything: tuple[Any, ...] = (*addresses, st, size, *first_guess, int(twice))
    context = Iteration(*everything)
    kept = equations.factors if st.options[ITERATION] == MODIFIED else {}
    return StageSolver(context, kept)


def settling(family: Family, task: StageTask) -> Settling:
    options = task.st.options.copy()
    options[ITERATION] = COURSE
    st = new_stages(1, family.n, family.m, options)
    equations = family.stage_equations(task._replace(st=st))
    addresses = (*equations.evaluate[:2], *equations.solve[:2])
    everything: tuple[Any, ...] = (task.st, st, *addresses, np.array(family.sizes, dtype=float))
    return Settling(*everything)


# Changes ----------------------------------------------------------------------------------------------


@kernel
def copy(values, out):
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j]


@kernel
def add(changes, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] += changes[i, j]


@kernel
def change_accelerations(a, da, size, state):
    """a += da; the largest change and the largest acceleration, in sizes of the coordinates."""
    state[LARGEST] = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            a[i, k] += da[i, k]
            if not abs(da[i, k]) < 1.0e200:  # max(0, nan) would be 0
                state[CHANGE] = np.inf
            state[CHANGE] = max(state[CHANGE], abs(da[i, k]) / size[k])
            state[LARGEST] = max(state[LARGEST], abs(a[i, k]) / size[k])


@kernel
def change_corrections(e, de, size, state):
    """e += de, and how much it changes positions, as accelerations."""
    share = state[SIZE_B] / state[SIZE_C]
    for i in range(e.shape[0]):
        for k in range(e.shape[1]):
            e[i, k] += de[i, k]
            state[CHANGE] = max(state[CHANGE], abs(de[i, k]) / (share * size[k]))


@kernel
def place_stages(st, twice):
    """z_i = base_z_i + sum_j B_ij a_j + sum_j C_ij e_j,      zd_i = base_zd_i + sum_j C_ij a_j"""
    add_stages(st.base_z, st.B, st.a, st.z)
    if twice == 1:
        add_stages(st.z, st.C, st.e, st.z)
    add_stages(st.base_zd, st.C, st.a, st.zd)


@kernel
def correct(c, t):
    """One correction of all unknowns."""
    st = c.st
    place_stages(st, c.twice)
    invoke(c.evaluate_f, c.evaluate_c, t, st.state, st.state)
    invoke(c.solve_f, c.solve_c, t, st.state, st.state)
    change_accelerations(st.a, st.da, c.size, st.state)
    add(st.dlam, st.lam)
    if c.twice == 1:
        add(st.dmu, st.mu)
        change_corrections(st.e, st.de, c.size, st.state)
    st.state[ITERATIONS] += 1.0


# The loop ---------------------------------------------------------------------------------------------


@kernel
def largest(A):
    """Size of the largest entry of a matrix."""
    found = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            found = max(found, abs(A[i, j]))
    return found


@kernel
def reach_of(z, size):
    """The largest position in sizes of the coordinates."""
    reach = 0.0
    for i in range(z.shape[0]):
        for k in range(size.size):
            reach = max(reach, abs(z[i, k]) / size[k])
    return reach


@kernel
def stalled(st, before, rounding):
    """Whether changes are rounding: they become no smaller, and are tiny.

    In index 1, where positions are not divided by h^2, that shows in the accelerations alone.
    """
    change, limit = st.state[CHANGE], st.options[STALLED] * st.state[LARGEST]
    if st.options[ROUNDING] > 0.0:
        limit = min(limit, AMPLIFIED * rounding)
    return change > 0.5 * before and change <= limit


@kernel
def iterate(c, t):
    """Correct until accelerations no longer change; state[CONVERGED] is whether the iteration converged."""
    st, state, options, before = c.st, c.st.state, c.st.options, np.inf
    exact = options[ITERATION] == EXACT
    for iteration in range(MOST_ITERATIONS):
        if options[ITERATION] != MODIFIED:
            state[KEPT] = 0.0
        fresh = state[KEPT] == 0.0
        correct(c, t)
        found = state[CHANGE]
        allowed = options[RELATIVE] * state[LARGEST] + options[ABSOLUTE]
        rounding = options[ROUNDING] * reach_of(st.z, c.size) / state[SIZE_B]
        late = iteration > 1 and (exact or options[ROUNDING] == 0.0)
        if found <= allowed + rounding or (late and stalled(st, before, rounding)):
            state[CONVERGED] = 1.0
            return
        if not found < 1.0e200 or (fresh and iteration > 3 and found > 2.0 * before):
            return
        if found > options[SLOW] * before:
            state[KEPT] = 0.0
        before = found


@kernel
def begin_again(c):
    """The unknowns as they were guessed."""
    copy(c.a, c.st.a)
    copy(c.lam, c.st.lam)
    forget_corrections(c)


@kernel
def forget_corrections(c):
    """mu = 0,   e = 0"""
    if c.twice == 0:
        return
    for i in range(c.st.a.shape[0]):
        for k in range(c.st.a.shape[1]):
            c.st.e[i, k] = 0.0
        for k in range(c.st.mu.shape[1]):
            c.st.mu[i, k] = 0.0


@kernel
def solve_stages(c, t, out):
    """Solve the stages from their present accelerations and multipliers; out becomes the state of the last stage."""
    st, state, options = c.st, c.st.state, c.st.options
    s, n = st.a.shape
    state[CONVERGED], state[SIZE_B], state[SIZE_C] = 0.0, largest(st.B), largest(st.C)
    if abs(state[KEPT] - state[SIZE_B]) > 1.0e-6 * state[KEPT]:
        state[KEPT] = 0.0
    kind = options[ITERATION]
    if kind != EXACT:
        copy(st.a, c.a)
        copy(st.lam, c.lam)
    iterate(c, t)
    if state[CONVERGED] == 0.0 and kind != EXACT:
        # once more from the first guess, with a matrix of its own for each correction
        begin_again(c)
        options[ITERATION] = EXACT
        iterate(c, t)
        options[ITERATION] = kind
    if state[CONVERGED] == 0.0:
        state[KEPT] = 0.0
    place_stages(st, c.twice)
    if c.settle_f != 0 and state[CONVERGED] == 1.0:
        invoke(c.settle_f, c.settle_c, t, state, state)
    for k in range(n):
        out[k], out[n + k] = st.z[s - 1, k], st.zd[s - 1, k]
