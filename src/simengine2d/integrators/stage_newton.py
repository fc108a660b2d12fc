"""The equations of implicit stages, and the iterations that solve them.

    z_i = h f(t + c_i h, Y_i),      Y_i = base + sum_j a_ij z_j

One stage at a time if A is lower triangular, all of them together if it is full: a block of stages. Newton's
matrix of a block is I - h a_ij J_j, with J = df/dy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
from .loop_state import EVALUATIONS, FACTORIZATIONS, ITERATED, JACOBIANS, KNOWN, TRIED, Path

EXACT, MODIFIED, FIXED_POINT = range(3)
MOST = (20, 10, 100)  # iterations
SLOW = 0.9  # rate of convergence at which an iteration is given up
STALLED = 0.5  # rate at which only rounding errors are left, if the changes are small
# entries of the memory: whether J is known, the h a_ii of the matrix that is factored, and whether a state follows from
# which the iteration of the next step shall start
HAS_J, FACTORED, GUESSED, START = range(4)
ROUNDING = 2.3e-16
NORMAL = 2.3e-308  # below it numbers lose digits, so changes say nothing
LEAST_SIZE = 1e-290  # of an entry of y that differences are taken beside
STEEP = 4.0  # relative change of h f over relative change of y from which Newton's method must know the slope
SAME_STEP = 1e-6  # relative difference of step sizes for which a factored matrix is reused


class OdeStages(NamedTuple):
    """Unknowns and work arrays of the stages of a step."""

    f: Any
    c: Any
    jac: Any
    jac_c: Any
    kind: int  # of the iteration
    tolerance: float  # of a change, in units of rtol |y| + atol
    rounded_off: float  # largest change, in units of the tolerance, that may be due to rounding
    A: Floats  # of the method, like C
    C: Floats
    y: Floats  # of the path, like K, state, rtol and atol
    K: Floats
    state: Floats
    rtol: Floats
    atol: Floats
    z: Floats  # (stages, n)
    Y: Floats
    F: Floats  # f at the stages
    base: Floats  # (n,)
    J: Floats  # (stages, n * n)
    LU: Floats  # of a block
    pivots: Ints
    right: Floats
    moved: Floats  # (3, n): a displaced state, f there, and the change of f
    memory: Floats


def new_stages(
    pointers: tuple[Any, Any, Any, Any],
    kind: int,
    tolerances: tuple[float, float],
    A: Floats,
    C: Floats,
    path: Path,
    block: int,
) -> OdeStages:
    """The pointers to f and jac, the iteration, the method, the path, and how many stages are solved together."""
    n, count = path.y.size, C.size
    z, Y, F = np.zeros((3, count, n))
    size = block * n
    return OdeStages(
        *pointers, kind, *tolerances, A, C, path.y, path.K, path.state, path.rtol, path.atol, z, Y, F, np.zeros(n),
        np.zeros((count, n * n)), np.zeros((size, size)), np.zeros(size, dtype=np.int64), np.zeros(size),
        np.zeros((3, n)), np.zeros(START + n),
    )  # fmt: skip


@kernel
def find_jacobian(s, t, y, F, J):
    """df/dy at (t, y), row by row: from the user's function, or by differences to F = f(t, y).

    A difference across a jump of f is not a derivative: Newton's method would accept any state there as a solution.
    Where the slope is steep on one side, it is therefore computed on the other side too.
    """
    n, h = y.size, s.state[TRIED]
    s.state[JACOBIANS] += 1.0
    if s.jac != 0:
        invoke(s.jac, s.jac_c, t, y, J)
        return
    largest = 0.0
    for j in range(n):
        s.moved[0, j] = y[j]
        largest = max(largest, abs(y[j]))
    for j in range(n):
        steep = difference(s, t, y, F, h, largest, j, np.sqrt(ROUNDING))
        for i in range(n):
            J[i * n + j] = s.moved[2, i]
        if steep > STEEP and difference(s, t, y, F, h, largest, j, -np.sqrt(ROUNDING)) < 0.5 * steep:
            for i in range(n):
                J[i * n + j] = s.moved[2, i]


@kernel
def difference(s, t, y, F, h, largest, j, share):
    """Column j of df/dy into s.moved[2], moving y_j by a fraction of its size; returns how steep it is in a step h."""
    size = size_of(y[j], h * F[j], largest)
    s.moved[0, j] = y[j] + share * size
    change, steep = s.moved[0, j] - y[j], 0.0
    invoke(s.f, s.c, t, s.moved[0], s.moved[1])
    s.moved[0, j] = y[j]
    s.state[EVALUATIONS] += 1.0
    for i in range(y.size):
        s.moved[2, i] = (s.moved[1, i] - F[i]) / change
        steep = max(steep, abs(h * s.moved[2, i]) * size / size_of(y[i], h * F[i], largest))
    return steep


@kernel(inline=True)
def size_of(y, change, largest):
    size = max(abs(y), abs(change), 1.0e-3 * largest)
    return size if size > LEAST_SIZE else 1.0


@kernel
def factor_block(s, first, stop, h, each):
    """Factor I - h a_ij J_j, with the derivatives of `each` stage or of one; False if it is singular."""
    n = s.y.size
    for i in range(first, stop):
        for j in range(first, stop):
            source = j - first if each else 0
            a = h * s.A[i, j]
            for k in range(n):
                for m in range(n):
                    unit = 1.0 if i == j and k == m else 0.0
                    s.LU[(i - first) * n + k, (j - first) * n + m] = unit - a * s.J[source, k * n + m]
    s.state[FACTORIZATIONS] += 1.0
    s.memory[FACTORED] = h * s.A[first, first]
    return lu_factor(s.LU, s.pivots) > 0.0


@kernel
def evaluate_block(s, first, stop, t, h):
    """Y_i and F_i of the block; the residual h F - z of its equations into s.right."""
    n = s.y.size
    for i in range(first, stop):
        for k in range(n):
            s.Y[i, k] = s.base[k]
        for j in range(stop):
            if s.A[i, j] != 0.0:
                for k in range(n):
                    s.Y[i, k] += s.A[i, j] * s.z[j, k]
        invoke(s.f, s.c, t + s.C[i] * h, s.Y[i], s.F[i])
        for k in range(n):
            s.right[(i - first) * n + k] = h * s.F[i, k] - s.z[i, k]
    s.state[EVALUATIONS] += stop - first


@kernel
def prepare_matrix(s, first, stop, t, h, fresh):
    """Prepare Newton's matrix if necessary; `fresh` asks for new derivatives. False if it is singular."""
    known = s.memory[HAS_J] == 1.0 and not fresh
    factored, wanted = s.memory[FACTORED], h * s.A[first, first]
    if known and abs(factored - wanted) <= SAME_STEP * wanted:
        return True
    if not known:
        for i in range(first, stop if fresh else first + 1):
            find_jacobian(s, t + s.C[i] * h, s.Y[i], s.F[i], s.J[i - first])
        s.memory[HAS_J] = 1.0
    return factor_block(s, first, stop, h, fresh)


@kernel
def change_block(s, first, stop):
    """z += the change in s.right; returns its largest entry relative to the tolerance."""
    n, size, rtol = s.y.size, 0.0, s.rtol[0]
    for i in range(first, stop):
        for k in range(n):
            change = s.right[(i - first) * n + k]
            s.z[i, k] += change
            if change != 0.0:
                reach = max(abs(s.y[k]), abs(s.Y[i, k]))
                allowed = max(s.tolerance * (s.atol[k] + rtol * reach), 4.0 * ROUNDING * reach, NORMAL)
                share = abs(change) / allowed
                if not share <= size:
                    size = share
    return size


@kernel
def iterate(s, first, stop, t, h, fresh):
    """Iterate the stages of a block to their solution; False if the iteration does not reach it.

    `fresh` asks for new derivatives each time. Otherwise the rate of convergence predicts how far it has to go.
    """
    before = 0.0
    for iteration in range(MOST[EXACT] if fresh else MOST[s.kind]):
        # a correction
        evaluate_block(s, first, stop, t, h)
        s.state[ITERATED] += 1.0
        if s.kind != FIXED_POINT:
            if (fresh or iteration == 0) and not prepare_matrix(s, first, stop, t, h, fresh):
                return False
            lu_solve(s.LU, s.pivots, s.right)
        size = change_block(s, first, stop)
        # converged, down to rounding, diverging, or close enough at this rate
        rate = size / before if iteration > 0 else 1.0
        if size == 0.0 or (fresh and size <= 1.0):
            return True
        if iteration > 2 and rate > STALLED and size <= s.rounded_off:
            return True
        if not size < np.inf or (not fresh and iteration > 1 and rate > SLOW):
            return False
        if not fresh and iteration > 0 and rate < 1.0 and size * rate / (1.0 - rate) <= 1.0:
            return True
        before = size
    return False


@kernel
def guess(s, first, stop, h):
    """Stages before the first iteration: the last known slope, or that to the state from which to start."""
    for i in range(first, stop):
        for k in range(s.y.size):
            if s.memory[GUESSED] == 1.0:
                s.z[i, k] = s.memory[START + k] - s.y[k]
            elif first > 0:
                s.z[i, k] = s.z[first - 1, k]
            else:
                s.z[i, k] = h * s.K[0, k] if s.state[KNOWN] == 1.0 else 0.0


@kernel
def solve_block(s, first, stop, t, h):
    """Solve the stages of a block; if reused derivatives do not converge, take new ones in each iteration."""
    for attempt in range(2 if s.kind == MODIFIED else 1):
        guess(s, first, stop, h)
        if iterate(s, first, stop, t, h, s.kind == EXACT or attempt == 1):
            return True
    return False
