"""Newton's iteration for the stages of an implicit method: what all formulations share.

A formulation may add to Newton's equations (`complete`), change more than their unknowns (`follow`), and do something
when the stages are found (`settle`), each by a kernel pointer. Unknowns and equations are scaled such that the mass of
each coordinate, and the mass that each constraint feels, is 1.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.base import Family
from ..errors import ModelError, listed
from ..methods import Formulation
from ..numerics.echelon import echelon, echelon_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, KernelPointer, invoke, kernel_pointer
from .stages import (
    ABSOLUTE,
    CHANGE,
    CONVERGED,
    COURSE,
    EXACT,
    FACTORIZATIONS,
    ITERATION,
    ITERATIONS,
    KEPT,
    LARGEST,
    MODIFIED,
    RANK,
    RELATIVE,
    ROUNDING,
    SIZE_B,
    SIZE_C,
    DaeStages,
    NewtonEquations,
    StageLinearization,
    add_stages,
    copy,
    linearize_stages,
    new_newton_equations,
    new_stages,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEWTON = {"exact": EXACT, "modified": MODIFIED, "course": COURSE}

MOST_ITERATIONS = 12
EPSILON = 2e-15  # of positions, whose errors are sums of some roundings
SLOW = 0.1  # reduction of an error at which modified Newton factors anew
STALLED = 1e-6  # largest change that may be taken for rounding, against the accelerations
AMPLIFIED = 1e3  # the same against rounding in a usual pose: near a singular one, constraints amplify it


class StagedFormulation(Formulation, abstract=True):
    """A formulation of differential-algebraic equations. Without kernel pointers of its own it is index 3."""

    poses: ClassVar[str] = "dae"
    complete: ClassVar[KernelPointer | None] = None
    """Adds to Newton's equations."""
    follow: ClassVar[KernelPointer | None] = None
    """Changes what follows from their unknowns."""
    settle: ClassVar[KernelPointer | None] = None
    """What is done at the end of a step when its stages are found."""
    multipliers: ClassVar[int] = 1
    """Kinds of multipliers that are unknowns of Newton's equations."""
    keeps_factors: ClassVar[bool] = True
    """Whether the factors of an earlier matrix can serve."""
    holds_velocities: ClassVar[bool] = False
    """Whether Phi_z zd = nu holds at the ends of steps."""

    @property
    def penalty(self) -> float:
        return 0.0


class Factors(NamedTuple):
    """Newton's matrix reduced to echelon form, in `NewtonEquations.A`."""

    exchanged: Ints
    column: Ints
    unit: Floats  # of the unknowns
    x: Floats  # the changes
    pivots: Ints  # (n), of projections


class Changing(NamedTuple):
    """Context of `change_stages`."""

    st: DaeStages
    eq: NewtonEquations
    factors: Factors


class Iteration(NamedTuple):
    """Context of `solve_stages`; kernel pointers that a formulation does not have are 0."""

    linearize_f: Any
    linearize_c: Any
    complete_f: Any
    complete_c: Any
    change_f: Any
    change_c: Any
    follow_f: Any
    follow_c: Any
    settle_f: Any
    settle_c: Any
    st: DaeStages
    options: Floats
    size: Floats
    a: Floats  # (s, n), the first guess
    lam: Floats  # (s, m)


class Settling(NamedTuple):
    """Context of a formulation's `settle`."""

    posed: StageLinearization
    factors: Factors


class Solver(NamedTuple):
    """The kernel pointer that solves the stages of a method, and its arrays."""

    solve: BoundKernel
    st: DaeStages
    eq: NewtonEquations
    factors: Factors


def stage_solver(
    formulation: StagedFormulation, family: Family, B: Floats, newton: str, tolerance: float | None
) -> Solver:
    """Stages of a formulation in the coordinates of a family, for a method with these B_ij / h^2."""
    if newton not in NEWTON:
        raise ModelError(f"newton = {newton!r} must be one of {listed(NEWTON)}.")
    relative, absolute = (1e-10, 1e-12) if tolerance is None else (0.0, tolerance)
    # accelerations are B^-1 times what positions lack
    rounding = EPSILON * float(np.abs(B).max() * np.abs(np.linalg.inv(B)).sum(axis=1).max())
    iteration = NEWTON[newton] if formulation.keeps_factors else EXACT
    options = np.array([relative, absolute, rounding, iteration, formulation.penalty])
    st, eq = (
        new_stages(family, len(B)),
        new_newton_equations(family, len(B), formulation.multipliers, options),
    )
    N = eq.right.size
    whole = [np.zeros(size, dtype=np.int64) for size in (N, N, family.n)]
    factors = Factors(whole[0], whole[1], np.ones(N), np.zeros(N), whole[2])
    posed = StageLinearization(family.bound.f, family.bound.c, family.equations, st, eq)
    changing = Changing(st, eq, factors)
    pointers = [linearize_stages.bind(posed)]
    for each, its_context in (
        (formulation.complete, changing),
        (change_stages, changing),
        (formulation.follow, changing),
        (formulation.settle, Settling(posed, factors)),
    ):
        pointers.append(each.bind(its_context) if each else BoundKernel(0, 0, None))
    addresses = [part for each in pointers for part in (each.f, each.c)]
    context: tuple[Any, ...] = (*addresses, st, options, eq.size, np.zeros_like(st.a), np.zeros_like(st.lam))
    return Solver(solve_stages.bind(Iteration(*context)), st, eq, factors)


# Newton's equations -----------------------------------------------------------------------------------


@kernel
def scale(A, J, s, mass, felt, unit):
    """A in units of the masses; stiffness and damping are masses to a step."""
    n, m = mass.size, felt.size
    for k in range(s * n):
        unit[k] = 1.0 / np.sqrt(max(mass[k % n], abs(A[k, k])))
    for k in range(s * n, unit.size):
        i, row = (k - s * n) // m % s, (k - s * n) % m
        # what a constraint feels of these
        feels = 0.0
        for p in range(n):
            feels += (J[i, row, p] * unit[i * n + p]) ** 2
        unit[k] = 1.0 / np.sqrt(feels) if feels > 0.0 else 1.0 / np.sqrt(felt[row])
    for i in range(unit.size):
        for j in range(unit.size):
            A[i, j] *= unit[i] * unit[j]


@kernel
def right_side(eq, b, c):
    """-(M a + Phi_z^T lam - Q), -Phi / b, -(Phi_z zd - nu) / c, as far as they are equations."""
    s, n = eq.balance.shape
    right, m, k = eq.right, eq.Phi.shape[1], 0
    twice = right.size > s * (n + m)
    for i in range(s):
        for j in range(n):
            right[k] -= eq.balance[i, j]
            k += 1
    for i in range(s * m if right.size > k else 0):
        if eq.holds_rate[i % m] == 0.0:
            right[k] -= eq.Phi[i // m, i % m] / b
        elif not twice:
            right[k] -= eq.rate[i // m, i % m] / c
        k += 1
    for i in range(s * m if right.size > k else 0):
        right[k] -= eq.rate[i // m, i % m] / c
        k += 1


@kernel
def contradiction(left, mass, size):
    """What redundant equations contradict each other, as an acceleration in sizes of the coordinates."""
    heaviest = 0.0
    for j in range(mass.size):
        heaviest = max(heaviest, mass[j] * size[j] ** 2)
    return left / np.sqrt(heaviest) if left > 0.0 else 0.0


@kernel
def change_accelerations(a, x, size, state):
    """a += da; the largest change and the largest acceleration, in sizes of the coordinates."""
    s, n = a.shape
    for i in range(s):
        for k in range(n):
            change = x[i * n + k]
            a[i, k] += change
            if not abs(change) < 1.0e200:  # max(0, nan) would be 0
                state[CHANGE] = np.inf
            state[CHANGE] = max(state[CHANGE], abs(change) / size[k])
            state[LARGEST] = max(state[LARGEST], abs(a[i, k]) / size[k])


@kernel
def change_multipliers(lam, x, first):
    s, m = lam.shape
    if x.size > first:
        for i in range(s):
            for k in range(m):
                lam[i, k] += x[first + i * m + k]


@kernel_pointer
def change_stages(c, t, y, out):
    """Solve Newton's equations and change the unknowns; the right side may hold something already and is used up."""
    st, eq, factors, state = c.st, c.eq, c.factors, c.st.state
    s, n = st.a.shape
    x, unit = factors.x, factors.unit
    if state[KEPT] == 0.0:
        scale(eq.A, eq.J, s, eq.mass, eq.felt, unit)
        state[RANK] = echelon(eq.A, factors.exchanged, factors.column)
        state[FACTORIZATIONS] += 1.0
        state[KEPT] = state[SIZE_B]
    right_side(eq, state[SIZE_B], state[SIZE_C])
    for k in range(x.size):
        eq.right[k] *= unit[k]
    left = echelon_solve(eq.A, factors.exchanged, factors.column, int(state[RANK]), eq.right, x)
    for k in range(x.size):
        x[k] *= unit[k]
        eq.right[k] = 0.0
    state[CHANGE], state[LARGEST] = contradiction(left, eq.mass, eq.size), 0.0
    change_accelerations(st.a, x, eq.size, state)
    change_multipliers(st.lam, x, s * n)
    change_multipliers(st.mu, x, s * (n + st.lam.shape[1]))


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
    """The largest position in sizes of the coordinates, or 1."""
    reach = 1.0
    for i in range(z.shape[0]):
        for k in range(size.size):
            reach = max(reach, abs(z[i, k]) / size[k])
    return reach


@kernel
def correct(c, t, y):
    """One correction of all unknowns."""
    invoke(c.linearize_f, c.linearize_c, t, y, y)
    if c.complete_f != 0:
        invoke(c.complete_f, c.complete_c, t, y, y)
    invoke(c.change_f, c.change_c, t, y, y)
    if c.follow_f != 0:
        invoke(c.follow_f, c.follow_c, t, y, y)


@kernel
def stalled(change, before, largest, rounding):
    """Whether changes of exact Newton are rounding: they become no smaller, and are tiny."""
    return change > 0.5 * before and change <= STALLED * largest and change <= AMPLIFIED * rounding


@kernel
def iterate(c, t, y):
    """Correct until accelerations do not change any more; state[CONVERGED] tells whether they came to rest."""
    state, options, before = c.st.state, c.options, np.inf
    for iteration in range(MOST_ITERATIONS):
        if options[ITERATION] == EXACT:
            state[KEPT] = 0.0
        fresh = state[KEPT] == 0.0
        correct(c, t, y)
        state[ITERATIONS] += 1.0
        found = state[CHANGE]
        allowed = options[RELATIVE] * state[LARGEST] + options[ABSOLUTE]
        rounding = options[ROUNDING] * reach_of(c.st.z, c.size) / state[SIZE_B]
        exact = options[ITERATION] == EXACT and iteration > 1
        if found <= allowed + rounding or (exact and stalled(found, before, state[LARGEST], rounding)):
            state[CONVERGED] = 1.0
            break
        if not found < 1.0e200 or (fresh and iteration > 3 and found > 2.0 * before):
            break
        if found > SLOW * before:
            state[KEPT] = 0.0
        before = found


@kernel
def begin_again(c):
    """The unknowns as they were guessed."""
    copy(c.a, c.st.a)
    copy(c.lam, c.st.lam)
    for i in range(c.st.a.shape[0]):
        for k in range(c.st.a.shape[1]):
            c.st.e[i, k] = 0.0
        for k in range(c.st.mu.shape[1]):
            c.st.mu[i, k] = 0.0


@kernel_pointer
def solve_stages(c, t, y, out):
    """Solve the stages from their present accelerations and multipliers; out becomes the state of the last stage."""
    st, state = c.st, c.st.state
    s, n = st.a.shape
    state[CONVERGED], state[SIZE_B], state[SIZE_C] = 0.0, largest(st.B), largest(st.C)
    if abs(state[KEPT] - state[SIZE_B]) > 1.0e-6 * state[KEPT]:
        state[KEPT] = 0.0
    copy(st.a, c.a)
    copy(st.lam, c.lam)
    iterate(c, t, y)
    kind = c.options[ITERATION]
    if state[CONVERGED] == 0.0 and kind != EXACT:
        # once more from the first guess, with a matrix of its own for each correction
        begin_again(c)
        c.options[ITERATION] = EXACT
        iterate(c, t, y)
        c.options[ITERATION] = kind
    if state[CONVERGED] == 0.0:
        state[KEPT] = 0.0
    add_stages(st.base_z, st.B, st.a, st.z)
    add_stages(st.z, st.C, st.e, st.z)
    add_stages(st.base_zd, st.C, st.a, st.zd)
    if c.settle_f != 0 and state[CONVERGED] == 1.0:
        invoke(c.settle_f, c.settle_c, st.t[s - 1], y, y)
    for k in range(n):
        out[k], out[n + k] = st.z[s - 1, k], st.zd[s - 1, k]
