"""Steps for stiff motions: Radau IIA on the index-1 equations, with error control.

    M a + Phi_q^T lam = QA,      Phi_q a = gamma      at      v_i = qd + h sum_j A_ij a_j,   q_i = q + h sum_j A_ij v_j

Newton's iteration has one matrix for all stages, which serves for several steps of the same size. It begins with
the accelerations, multipliers and forces of the last step, extrapolated. Nothing is divided by h^2, as the constraints
of index 3 are. The last stage is the end of the step.

Anything else is one more stage beside those of the step, with the real eigenvalue gamma of A as its own coefficient, so
that the factors serve for it: outputs inside the step (`radau_outputs.py`), and the estimate of the error. That,

    x = (I - h gamma J)^-1 e,      e = h gamma f(y) + sum_i e_i (Y_i - y),

is the difference to a state with the slope f(y1 + x).

Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), section IV.8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..coordinates.stages import CHANGE, ITERATIONS, KEPT, SIZE_B, SIZE_C, Stages, add_stages
from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from . import loop_state
from .dae_step import SEEN
from .radau_table import RadauTable

MOST_ITERATIONS = 12
ENOUGH = 0.03  # error of the iteration, against the tolerance of a step
DIVERGES = 0.9  # rate of convergence at which the iteration is given up
SLOWEST = 0.15  # the same at which steps should not become longer
LEAST_LEFT = 1e-3  # the same of an earlier iteration, where that may have come to rounding
SLOW = 0.02  # what the iteration leaves of its last change, from which on the next step makes a matrix of its own
CUBIC = 4  # nodes; polynomials of higher degree lead astray
FAR = 2.0  # of the last step: where it does not lead any more


class RadauStep(NamedTuple):
    """Context of `try_radau_step` and of what follows it."""

    evaluate_f: Any  # the stages
    evaluate_c: Any
    solve_f: Any
    solve_c: Any
    beside_f: Any  # the one beside them
    beside_c: Any
    correct_f: Any
    correct_c: Any
    look_f: Any  # its constraints
    look_c: Any
    back_f: Any
    back_c: Any
    T: RadauTable
    st: Stages
    one: Stages
    nodes: Floats  # (s + 1, n + m + forces): accelerations, multipliers and forces at the nodes of the step
    past: Floats  # the same of the last step
    rates: Floats  # (s + 1, n): velocities at the nodes
    # what an error of each row, and a change of each coordinate, is as a length of the mechanism
    per_row: Floats
    per_coordinate: Floats
    ends: Floats  # (2, n + m): accelerations and multipliers at the beginning and at the end of the step
    memory: Floats
    own: Floats  # see below
    weights: Floats  # (n): what a change of each acceleration is in tolerances
    inside: Floats  # notes of outputs inside a step
    length: float
    y: Floats  # those of the path
    state: Floats
    rtol: Floats
    atol: Floats


# entries of `own`: size of the last step, or 0 where it is not known, that of the present one, and what the iteration
# left of its last change
LAST, PRESENT, LEFT, RATE = range(4)


# The stages of a step ---------------------------------------------------------------------------------


@kernel
def begin_step(k):
    """The step that was taken since then becomes the last one."""
    if k.state[loop_state.STEPS] != k.memory[SEEN]:
        k.memory[SEEN], k.own[LAST] = k.state[loop_state.STEPS], k.own[PRESENT]
        for i in range(k.nodes.shape[0]):
            for j in range(k.nodes.shape[1]):
                k.past[i, j] = k.nodes[i, j]
        for j in range(k.nodes.shape[1]):
            k.nodes[0, j] = k.past[k.past.shape[0] - 1, j]
        for j in range(k.ends.shape[1]):
            k.ends[0, j] = k.ends[1, j]


@kernel
def lagrange(T, x, i, first):
    """The polynomial that is 1 at node i and 0 at the others from `first` on."""
    value = 1.0
    for j in range(first, T.nodes.size):
        if j != i:
            value *= (x - T.nodes[j]) / (T.nodes[i] - T.nodes[j])
    return value


@kernel
def predict(k, h):
    """A cubic through the last nodes of the last step goes on; without one, all is as at the beginning."""
    size, n, first = k.nodes.shape[1], k.rates.shape[1], k.nodes.shape[0] - CUBIC
    for i in range(1, k.nodes.shape[0]):
        for j in range(size):
            k.nodes[i, j] = k.nodes[0, j]
        if h <= FAR * k.own[LAST]:
            x = 1.0 + k.T.c[i - 1] * h / k.own[LAST]
            for j in range(size):
                k.nodes[i, j] = 0.0
            for p in range(first, k.nodes.shape[0]):
                weight = lagrange(k.T, x, p, first)
                for j in range(size):
                    k.nodes[i, j] += weight * k.past[p, j]
        for j in range(size):
            if j < n:
                k.st.a[i - 1, j] = k.nodes[i, j]
            else:
                k.st.lam[i - 1, j - n] = k.nodes[i, j]


@kernel
def place_bases(k, t, h):
    """q + c_i h qd and qd, times and coefficients of the stages."""
    st, T, n = k.st, k.T, k.rates.shape[1]
    for i in range(T.c.size):
        st.t[i] = t + T.c[i] * h
        for j in range(T.c.size):
            st.B[i, j], st.C[i, j] = T.AA[i, j] * h * h, T.A[i, j] * h
        for j in range(n):
            st.base_z[i, j], st.base_zd[i, j] = k.y[j] + T.c[i] * h * k.y[n + j], k.y[n + j]
    st.state[SIZE_B], st.state[SIZE_C] = h * h, h
    set_size(k, h)
    if abs(st.state[KEPT] - h * h) > 1.0e-9 * h * h:
        st.state[KEPT] = 0.0


@kernel
def weigh(k, h):
    """da changes a velocity by h da, and a position by h^2 da."""
    n = k.weights.size
    for j in range(n):
        k.weights[j] = h * max(1.0 / scale_of(k, n + j), h / scale_of(k, j))


@kernel(inline=True)
def scale_of(k, j):
    return k.atol[j] + k.rtol[0] * abs(k.y[j])


@kernel
def change_of(k, st, h):
    """The largest change of a velocity or a position, in tolerances, and the changed unknowns."""
    worst = h * st.state[CHANGE] / k.rtol[0]
    for i in range(st.t.size):
        for j in range(k.weights.size):
            change = k.weights[j] * abs(st.da[i, j])
            if not change < 1.0e200:
                return np.inf
            worst = max(worst, change)
            st.a[i, j] += st.da[i, j]
        for j in range(st.lam.shape[1]):
            st.lam[i, j] += st.dlam[i, j]
    return worst


@kernel(inline=True)
def enough_of(k):
    """The error of an iteration that may be left, against the tolerance: errors of the method are smaller than that."""
    return min(ENOUGH, np.sqrt(k.rtol[0]))


@kernel(inline=True)
def forgotten(left):
    """What an earlier iteration has left of its last change says less and less of later ones; rounding says nothing."""
    return max(left, LEAST_LEFT) ** 0.8


@kernel
def place_stages(st):
    add_stages(st.base_z, st.B, st.a, st.z)
    add_stages(st.base_zd, st.C, st.a, st.zd)


@kernel
def iterate(k, h):
    """Whether the stages converge: what is left is theta / (1 - theta) of the last change.

    The first change is judged by the rate of the step before; the second may be as large, where forces turn.
    """
    st, before, enough = k.st, 0.0, enough_of(k)
    left = k.own[LEFT] = forgotten(k.own[LEFT])
    k.own[RATE] = 0.0
    place_stages(st)
    for iteration in range(MOST_ITERATIONS):
        invoke(k.evaluate_f, k.evaluate_c, st.t[0], st.state, st.state)
        invoke(k.solve_f, k.solve_c, st.t[0], st.state, st.state)
        change = change_of(k, st, h)
        st.state[ITERATIONS] += 1.0
        if not change < 1.0e200:
            return False
        if iteration > 0:
            theta = change / before
            if iteration > 1 and theta >= DIVERGES and change > enough:
                return change <= ENOUGH  # what is left is rounding
            k.own[RATE] = theta
            left = k.own[LEFT] = theta / max(1.0e-3, 1.0 - theta)
        if left * change <= enough:
            return True
        before = max(change, 1.0e-300)
    return False


@kernel
def solve_stages(k, h):
    """By the matrix of an earlier step, and by one of their own if that fails."""
    kept = k.st.state[KEPT] != 0.0
    predict(k, h)
    found = iterate(k, h)
    if not found and kept:
        k.st.state[KEPT] = 0.0
        predict(k, h)
        found = iterate(k, h)
    if not found and k.own[LAST] > 0.0:
        k.own[LAST] = 0.0  # extrapolation may have led astray
    if not found:
        k.own[LEFT] = 1.0
    if k.own[LEFT] > SLOW:
        k.st.state[KEPT] = 0.0
    return found


@kernel
def note_nodes(k):
    """What was found, at the nodes and at the end."""
    st, n, last = k.st, k.rates.shape[1], k.nodes.shape[0] - 1
    for i in range(last):
        for j in range(n):
            k.nodes[i + 1, j], k.rates[i + 1, j] = st.a[i, j], st.zd[i, j]
        for j in range(st.lam.shape[1]):
            k.nodes[i + 1, n + j] = st.lam[i, j]
    for j in range(n):
        k.rates[0, j] = k.y[n + j]
    for j in range(k.ends.shape[1]):
        k.ends[1, j] = k.nodes[last, j]


# One more stage ---------------------------------------------------------------------------------------


@kernel
def set_size(k, h):
    """b = (gamma h)^2 and c = gamma h, and what changes count in a step of this size."""
    one, c = k.one, k.T.gamma * h
    weigh(k, h)
    one.B[0, 0] = one.state[SIZE_B] = c * c
    one.C[0, 0] = one.state[SIZE_C] = c


@kernel
def correct_beside(k):
    """A correction of the stage beside the others; returns the largest change."""
    one = k.one
    invoke(k.beside_f, k.beside_c, one.t[0], one.state, one.state)
    invoke(k.correct_f, k.correct_c, one.t[0], one.state, one.state)
    return change_of(k, one, one.C[0, 0] / k.T.gamma)


@kernel
def step_error(k, t, h, new):
    """The filtered difference to the embedded method, in tolerances.

    Where a step begins beside the slow motion, as after a jump or a long step, its stiff components leave a difference
    that hardly falls with h, though they decay at once. Before a step is refused, it is filtered once more (8.20).
    """
    one, n, T = k.one, k.rates.shape[1], k.T
    one.t[0] = t + h
    for j in range(n):
        of_q, of_qd = 0.0, 0.0
        for i in range(T.nodes.size):
            of_q += h * T.error[i] * k.rates[i, j]
            of_qd += h * T.error[i] * k.nodes[i, j]
        one.z[0, j], one.zd[0, j] = new[j] + of_q, new[n + j] + of_qd
    error = filtered_error(k, h, new)
    return error if error <= 1.0 else filtered_error(k, h, new)


@kernel
def filtered_error(k, h, new):
    """(I - h gamma J)^-1 x of the difference x of the one stage to the end of the step, in tolerances."""
    one, n, c, last, worst = k.one, k.rates.shape[1], k.T.gamma * h, k.T.c.size, 0.0
    for j in range(n):
        one.a[0, j] = k.nodes[last, j]
        one.base_zd[0, j] = one.zd[0, j] - c * one.a[0, j]
        one.base_z[0, j] = one.z[0, j] - c * new[n + j] + c * one.base_zd[0, j]
    for j in range(one.lam.shape[1]):
        one.lam[0, j] = k.nodes[last, n + j]
    place_stages(one)
    correct_beside(k)
    for j in range(n):
        of_q = abs(one.z[0, j] - new[j]) / (k.atol[j] + k.rtol[0] * max(abs(k.y[j]), abs(new[j])))
        of_qd = abs(one.zd[0, j] - new[n + j])
        of_qd /= k.atol[n + j] + k.rtol[0] * max(abs(k.y[n + j]), abs(new[n + j]))
        if not of_q + of_qd < 1.0e200:
            return np.inf
        worst = max(worst, of_q, of_qd)
    return worst


@kernel_pointer
def try_radau_step(k, t, state, new):
    """One step, and its error."""
    h, n, last = state[loop_state.TRIED], k.rates.shape[1], k.T.c.size - 1
    begin_step(k)
    place_bases(k, t, h)
    if not solve_stages(k, h):
        state[loop_state.CONVERGED] = 0.0
        return
    k.own[PRESENT] = h
    note_nodes(k)
    for j in range(n):
        new[j], new[n + j] = k.st.z[last, j], k.st.zd[last, j]
    too_slow = (k.own[RATE] / SLOWEST) ** (0.5 * (last + 2))
    state[loop_state.ESTIMATE] = max(step_error(k, t, h, new), min(1.0, too_slow))
