"""One step of an implicit method on differential-algebraic equations, in fixed steps or with error control.

The stages are solved by the kernel of a formulation; here is what belongs to the method of integration. Errors are
estimated by two half steps in the place of one, which serves every one-step method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.stages import CONVERGED as FOUND
from ..formulations.stage_iteration import Iteration, copy, forget_corrections, solve_stages
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from . import loop_state
from .loop_state import Path
from .second_order_tables import SecondOrderTable

Floats = NDArray[np.float64]

# entries of the memory: steps that are taken over, steps of one size in a row and that size, how often steps were
# halved and how many of them were; the times at which the first of these began follow
SEEN, FILLED, SPACING, HALVINGS, HALVED = range(5)
MOST_HALVED = 32
MEMORY_SIZE = 5 + MOST_HALVED

MOST_HALVINGS = 12
ROUNDING = 16 * 2.0**-52  # of the difference of two positions in a quintic


# A step of a method -----------------------------------------------------------------------------------


class Method(NamedTuple):
    """Context of `solve_step`: a method with the solver of its stages."""

    T: SecondOrderTable
    iteration: Iteration
    X: Floats  # what is known of the past
    a: Floats  # (n): a guess, then what is found at the end of the step
    lam: Floats


@kernel
def combine(weights, level, lower, h, X, out):
    """out = sum_k weights_k h^(level_k - lower) X_k"""
    for p in range(out.size):
        out[p] = 0.0
    for k in range(weights.size):
        power = level[k] - lower
        share = weights[k] * (h * h if power == 2 else (h if power == 1 else 1.0))
        for p in range(out.size if share != 0.0 else 0):
            out[p] += share * X[k, p]


@kernel_pointer
def solve_step(method, t, size, end):
    """A step of the size size[0]; size[1] becomes 1 where it is found, and `end` its end."""
    T, st, X, a, lam, h = method.T, method.iteration.st, method.X, method.a, method.lam, size[0]
    s = T.c.size
    for i in range(s):
        st.t[i] = t + T.c[i] * h
        combine(T.U[i], T.level, 0, h, X, st.base_z[i])
        combine(T.V[i], T.level, 1, h, X, st.base_zd[i])
        for j in range(s):
            st.B[i, j], st.C[i, j] = T.B[i, j] * h * h, T.C[i, j] * h
        for j in range(a.size):
            st.a[i, j] = a[j]
        for k in range(lam.size):
            st.lam[i, k] = lam[k]
    forget_corrections(method.iteration)
    solve_stages(method.iteration, t, end)
    size[1] = st.state[FOUND]
    for j in range(a.size):
        a[j] = st.a[s - 1, j]
    for k in range(lam.size):
        lam[k] = st.lam[s - 1, k]


# Steps of an integration ------------------------------------------------------------------------------


class DaeStep(NamedTuple):
    """Context of the steps. X is what is kept of the past, X1 what will be kept when the step is taken."""

    main_f: Any  # the method
    main_c: Any
    half_f: Any  # the same for half steps, with factors of its own
    half_c: Any
    starter_f: Any  # a method that needs no past
    starter_c: Any
    main: Floats  # the past that each of them is given; that of fixed steps is X1
    half: Floats
    starter: Floats
    a: Floats  # (n), of the trial
    lam: Floats
    X: Floats
    X1: Floats
    X2: Floats
    S: Floats
    N: Floats
    ends: Floats  # (2, n + m): accelerations and multipliers at the beginning and at the end of the step
    end: Floats  # (2 n), of the trial
    whole: Floats  # end of the whole step beside two half ones
    middle: Floats  # where those meet
    size: Floats
    memory: Floats
    y: Floats  # those of the path
    state: Floats
    rtol: Floats
    atol: Floats
    rate: int  # the row of X that is the velocity
    steps: int  # steps that must be known before the method can be used
    gain: float  # by which half steps are more exact than the whole one: 2^order


@kernel
def keep(S, N, X, end, a, out):
    """X_k = sum_j S_kj X_j + N_k0 z + N_k1 zd + N_k2 a"""
    n = a.size
    for k in range(S.shape[0]):
        for p in range(n):
            out[k, p] = N[k, 0] * end[p] + N[k, 1] * end[n + p] + N[k, 2] * a[p]
        for j in range(S.shape[0]):
            for p in range(n if S[k, j] != 0.0 else 0):
                out[k, p] += S[k, j] * X[j, p]


@kernel
def guess(end, a, lam):
    """Accelerations and multipliers as at an end of the step."""
    for j in range(a.size):
        a[j] = end[j]
    for k in range(lam.size):
        lam[k] = end[a.size + k]


@kernel
def note_end(a, lam, end):
    """The same the other way round."""
    for j in range(a.size):
        end[j] = a[j]
    for k in range(lam.size):
        end[a.size + k] = lam[k]


@kernel
def take_over(c):
    """The step that was taken since then becomes the past; where it was not, it is forgotten."""
    n = c.a.size
    if c.state[loop_state.STEPS] != c.memory[SEEN]:
        c.memory[SEEN] = c.state[loop_state.STEPS]
        copy(c.ends[1:], c.ends[:1])
        for j in range(n):
            c.X1[0, j], c.X1[c.rate, j] = c.y[j], c.y[n + j]
        copy(c.X1, c.X)
        return
    copy(c.X, c.X1)


@kernel
def fixed_step(c, t, h):
    """From c.X1 to c.X2. While too few equal steps are known, the starter makes them."""
    memory, size = c.memory, c.size
    if abs(h - memory[SPACING]) > 1.0e-9 * h:
        memory[FILLED], memory[SPACING] = 1.0, h
    size[0] = h
    if memory[FILLED] >= c.steps:
        invoke(c.main_f, c.main_c, t, size, c.end)
    else:
        for j in range(c.a.size):
            c.starter[0, j], c.starter[1, j] = c.X1[0, j], c.X1[c.rate, j]
        invoke(c.starter_f, c.starter_c, t, size, c.end)
    keep(c.S, c.N, c.X1, c.end, c.a, c.X2)
    memory[FILLED] += 1.0


@kernel
def note_halving(memory, t):
    """Remember when a step was halved."""
    count = int(memory[HALVED])
    if count < MOST_HALVED:
        memory[HALVED + 1 + count] = t
    memory[HALVED] += 1.0


@kernel
def try_fixed(c, t, h):
    """The step, or several shorter ones where the iteration does not converge."""
    halvings, now, known, before = 0, 0.0, 0, c.memory[HALVINGS]
    while now < 1.0:
        part = (1.0 - now) if halvings == 0 else (1.0 - now) * 0.5**halvings
        fixed_step(c, t + now * h, part * h)
        if c.size[1] == 1.0:
            now += part  # sums of halves are exact
            copy(c.X2, c.X1)
            note_end(c.a, c.lam, c.ends[1])
            halvings, known = max(0, halvings - 1), 1
            continue
        if c.memory[HALVINGS] == before:
            note_halving(c.memory, t)
        halvings += 1
        c.memory[HALVINGS] += 1.0
        if halvings > MOST_HALVINGS:
            c.state[loop_state.CONVERGED] = 0.0
            break
        guess(c.ends[known], c.a, c.lam)


@kernel
def error_of(y, end, whole, rtol, atol, gain):
    """Difference of one step and two half steps, which is the error of the latter times gain - 1, in tolerances."""
    total = 0.0
    for k in range(y.size):
        scale = atol[k] + rtol * max(abs(y[k]), abs(end[k]))
        total += ((end[k] - whole[k]) / scale) ** 2
    return np.sqrt(total / y.size) / (gain - 1.0)


@kernel
def try_adaptive(c, t, h):
    """Two half steps, and the whole one beside them."""
    size, found = c.size, 0.0
    size[0] = h
    copy(c.X, c.main)
    invoke(c.main_f, c.main_c, t, size, c.whole)
    found += size[1]
    guess(c.ends[0], c.a, c.lam)
    size[0] = 0.5 * h
    copy(c.X, c.half)
    for part in range(2):
        invoke(c.half_f, c.half_c, t + part * size[0], size, c.end)
        found += size[1]
        keep(c.S, c.N, c.half, c.end, c.a, c.X1)
        copy(c.X1, c.half)
        for j in range(c.end.size if part == 0 else 0):
            c.middle[j] = c.end[j]
    note_end(c.a, c.lam, c.ends[1])
    c.state[loop_state.CONVERGED] = 1.0 if found == 3.0 else 0.0
    c.state[loop_state.ESTIMATE] = error_of(c.y, c.end, c.whole, c.rtol[0], c.atol, c.gain)


@kernel_pointer
def try_fixed_step(c, t, state, new):
    """A step of the size state[TRIED]."""
    begin_step(c)
    try_fixed(c, t, state[loop_state.TRIED])
    copy_row(c.end, new)


@kernel_pointer
def try_adaptive_step(c, t, state, new):
    """The same with an estimate of its error."""
    begin_step(c)
    try_adaptive(c, t, state[loop_state.TRIED])
    copy_row(c.end, new)


@kernel(inline=True)
def begin_step(c):
    take_over(c)
    guess(c.ends[0], c.a, c.lam)


@kernel(inline=True)
def copy_row(row, out):
    for j in range(out.size):
        out[j] = row[j]


# After a step, and inside it --------------------------------------------------------------------------


class Look(NamedTuple):
    """Context of `look_into_dae_step`."""

    p: Path
    middle: Floats  # (2 n), the state in the middle of the step, where there is one
    project_f: Any
    project_c: Any
    notes: Floats
    has_middle: int


@kernel
def quintic(z, zd, zdd, z1, zd1, zdd1, h, x):
    """Value and slope by x of the polynomial through positions, velocities and accelerations at x = 0 and x = 1."""
    v, a = h * zd, h * h * zdd
    d, e, f = z1 - z - v - 0.5 * a, h * zd1 - v - a, h * h * zdd1 - a
    c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * f, -15.0 * d + 7.0 * e - f, 6.0 * d - 3.0 * e + 0.5 * f
    value = z + x * (v + x * (0.5 * a + x * (c3 + x * (c4 + x * c5))))
    slope = v + x * (a + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
    return value, slope


@kernel
def rate_between(zd, zdd, zd1, zdd1, h, x):
    """Hermite's cubic through velocities and accelerations at x = 0 and x = 1."""
    d = zd1 - zd
    return zd + x * (d + (1.0 - x) * ((1.0 - x) * (h * zdd - d) - x * (h * zdd1 - d)))


@kernel
def too_short(z, zdd, z1, zdd1, h):
    """Whether (z1 - z) / h knows velocities less exactly, for its rounding, than the accelerations at both ends do."""
    return h * h * abs(zdd1 - zdd) < ROUNDING * (abs(z) + abs(z1))


@kernel_pointer
def look_into_dae_step(c, t, state, out):
    """The quintic, bent to go through the middle, and brought onto the constraints.

    z + w (p + q (x - 1/2)) with w = (x (1 - x))^3, which is 1/64 and level in the middle
    """
    y, new, K, h, n = c.p.y, c.p.new, c.p.K, state[loop_state.TAKE], out.size // 2
    x = (t - state[loop_state.TIME]) / h
    w, dw = (x * (1.0 - x)) ** 3, 3.0 * (x * (1.0 - x)) ** 2 * (1.0 - 2.0 * x)
    for j in range(n):
        ends = (y[j], y[n + j], K[0, n + j], new[j], new[n + j], K[1, n + j], h)
        value, slope = quintic(*ends, x)
        if c.has_middle == 1:
            middle, level = quintic(*ends, 0.5)
            p, q = 64.0 * (c.middle[j] - middle), 64.0 * (h * c.middle[n + j] - level)
            value += w * (p + q * (x - 0.5))
            slope += dw * (p + q * (x - 0.5)) + w * q
        out[j], out[n + j] = value, slope / h
        if too_short(y[j], K[0, n + j], new[j], K[1, n + j], h):
            out[n + j] = rate_between(y[n + j], K[0, n + j], new[n + j], K[1, n + j], h, x)
    invoke(c.project_f, c.project_c, t, out, c.notes)


class Ending(NamedTuple):
    """Context of `finish_dae_step`; kernel pointers that are not needed are 0."""

    correct_f: Any  # onto the constraints
    correct_c: Any
    turns_f: Any  # the family's count of turns
    turns_c: Any
    turns: Floats
    ends: Floats
    notes: Floats  # of `correct`


@kernel_pointer
def finish_dae_step(c, t, y, notes):
    """Accelerations and multipliers at the end of the step, then turns of the bodies."""
    size = c.ends.shape[1]
    if c.correct_f != 0:
        invoke(c.correct_f, c.correct_c, t, y, c.notes)
    for j in range(size):
        notes[j] = c.ends[1, j]
    if c.turns_f != 0:
        invoke(c.turns_f, c.turns_c, t, y, notes[size:])
        for j in range(c.turns.size):
            c.turns[j] = notes[size + j]
