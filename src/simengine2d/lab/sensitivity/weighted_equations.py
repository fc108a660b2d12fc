"""A weighted sum of the equations of a system, differentiated by the state and by all numbers of the system at once.

    G = y . R + y0 . Phi + y1 . Phi' + y2 . Phi''

One sweep backward through the formulas gives G_q, G_qd and the derivatives by every mass, arm, weight and number of a
law, however many there are. Where a law is an expression or a table, its numbers are varied one after the other, in the
law alone, by differences of order 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...expressions.function_table import (
    ALONG,
    CONSTANT,
    END,
    FIRST_SLOPE,
    GRADIENT,
    KIND,
    LINEAR,
    NUMBER,
    evaluate,
    law_slopes,
)
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...system.applied_forces import (
    BY,
    LAW,
    LAW_END,
    MEASURE,
    READ,
    READ_END,
    SIGN,
    TARGET,
    TARGET_END,
    first_law,
    read_state,
    turned,
)
from ...system.derivatives import differentiate_force
from ...system.renumbering import OwnSystem
from ...system.system import System
from .differences import STEPS, is_trusted
from .frame_adjoints import (
    ADJOINTS,
    DISPLACEMENT,
    DX,
    DY,
    FURTHER,
    TURN,
    add_term,
    move_further,
    pull_back,
    virtual_change,
)
from .number_slopes import EQUATIONS

STEP = STEPS[0]


class BackwardSweep(NamedTuple):
    """What a sweep reads and writes."""

    # the weights of R, Phi, Phi' and Phi''
    y: Floats
    y0: Floats
    y1: Floats
    y2: Floats
    # derivatives by the state, and by the numbers
    by_q: Floats
    by_qd: Floats
    mass: Floats
    inertia: Floats
    gravity: Floats
    frame_x: Floats
    frame_y: Floats
    frame_angle: Floats
    term_weight: Floats
    functions: Floats
    load_weight: Floats
    laws: Floats
    # numbers of functions of time and of laws, to be varied, where they are not known to have no influence; for each
    # of these the largest values, slopes, and disagreements of the slope
    function_numbers: Floats
    law_numbers: Floats
    function_trust: Floats
    law_trust: Floats
    # scratch: further motion and adjoints of frames, weights of what a function gives, of the measures that a law reads
    E: Floats
    A: Floats
    c: Floats
    read: Floats


def new_sweep(system: OwnSystem, flat: Floats, varied: Ints) -> BackwardSweep:
    """`flat` are the derivatives by all numbers, `varied` the places of those that matter."""
    S, L = system.arrays, system.load_arrays
    n, m, frames, variables = system.n, system.m, S.frame_body.size, max(1, int(L.laws.sizes[0]))
    trust = np.zeros((flat.size, 5))
    trust[varied, 0] = 1.0
    trusts = dict(zip(EQUATIONS, split(system, trust), strict=True))
    return BackwardSweep(*[
        np.zeros(n), *np.zeros((3, m)), *np.zeros((2, n)), *split(system, flat), writable(S.functions.numbers),
        writable(L.laws.numbers), trusts["functions"], trusts["laws"], np.zeros((frames, FURTHER)),
        np.zeros((frames, ADJOINTS)), np.zeros(FIRST_SLOPE + variables), np.zeros(variables),
    ])  # fmt: skip


def number_count(system: System) -> int:
    """How many numbers the equations of a system have."""
    return sum(_counts(system))


def split(system: System, flat: Any) -> list[Any]:
    """An array for all numbers as arrays for each kind of them, in the same memory."""
    return np.split(flat, np.cumsum(_counts(system))[:-1])


def _counts(system: System) -> list[int]:
    S, L = system.arrays, system.load_arrays
    frames = [S.frame_x.size] * 3
    rows = [S.term_weight.size, S.functions.numbers.size, L.term_weight.size, L.laws.numbers.size]
    return [S.mass.size, S.inertia.size, S.gravity.size, *frames, *rows]


def distrusted(X: BackwardSweep, system: System) -> Ints:
    """The places of numbers of functions and laws whose slopes cannot be trusted."""
    found, places = [], dict(zip(EQUATIONS, split(system, np.arange(number_count(system))), strict=True))
    for name, numbers, trust in (
        ("functions", X.function_numbers, X.function_trust),
        ("laws", X.law_numbers, X.law_trust),
    ):
        varied, value, slope, apart, jump = trust.T
        trusted = is_trusted(value, slope, apart, jump, np.where(numbers == 0.0, 1.0, np.abs(numbers)))
        found.append(places[name][(varied != 0.0) & ~((varied == 1.0) & trusted)])
    return np.concatenate(found)


def writable(array: Floats) -> Floats:
    """The same memory, to be written."""
    array.setflags(write=True)
    view = array.view()
    array.setflags(write=False)
    return view


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def sweep_equations(S, L, t, q, qd, qdd, lam, w, X):
    """Add the derivatives of G, where the frames are placed and moved."""
    move_further(S, qd, qdd, X.y, w.F, X.E)
    gx, gy = S.gravity[0], S.gravity[1]
    for i in range(S.mass.size):
        x, y, turn = X.y[3 * i], X.y[3 * i + 1], X.y[3 * i + 2]
        X.mass[i] += x * (qdd[3 * i] - gx) + y * (qdd[3 * i + 1] - gy)
        X.inertia[i] += turn * qdd[3 * i + 2]
        X.gravity[0] -= S.mass[i] * x
        X.gravity[1] -= S.mass[i] * y
    sweep_forces(S, L, t, w, X)
    sweep_wrenches(S, L, t, q, qd, w, X)
    sweep_rows(S, t, lam, w, X)


@kernel
def sweep_rows(S, t, lam, w, X):
    """The rows of the constraints, whose forces have the multipliers lam; then everything goes back to the state."""
    for i in range(lam.size):
        y0, y1, y2, y3 = X.y0[i], X.y1[i], X.y2[i], lam[i]
        if y0 == 0.0 and y1 == 0.0 and y2 == 0.0 and y3 == 0.0:
            continue
        for k in range(S.row_start[i], S.row_start[i + 1]):
            X.term_weight[k] += add_term(
                S.term_kind[k], w.F, X.E, S.term_a[k], S.term_b[k], w.weight[k], y0, y1, y2, y3, X.A
            )
        X.c[0], X.c[1], X.c[2] = -y0, -y1, -y2
        z = w.scratch.variables[:1]
        z[0] = t
        add_numbers(
            S.functions, X.function_numbers, i, ALONG, z, X, w.scratch.results, X.functions, X.function_trust
        )
    pull_back(S, w.F, X.E, X.A, X.by_q, X.by_qd, X.frame_x, X.frame_y, X.frame_angle)


@kernel(inline=True)
def sweep_forces(S, L, t, w, X):
    """G -= y . F s_q of the forces along measures, F(u, ud, t)"""
    for i in range(L.forces.shape[0]):
        first, reads = L.forces[i, READ], L.forces[i, READ_END] - L.forces[i, READ]
        differentiate_force(L, i, t, w)
        for k in range(2 * reads):
            X.read[k] = 0.0
        for k in range(FIRST_SLOPE + 2 * reads + 1):
            X.c[k] = 0.0
        for target in range(L.forces[i, TARGET], L.forces[i, TARGET_END]):
            own, by, sign = L.targets[target, MEASURE], L.targets[target, BY], L.targets[target, SIGN]
            force, at = w.law[0 if by < 0 else 1 + by], 1 if by < 0 else 1 + (2 * reads + 1) * (by + 1)
            change = 0.0
            for k in range(L.measure_start[own], L.measure_start[own + 1]):
                kind, a, b = L.term_kind[k], L.term_a[k], L.term_b[k]
                change += L.term_weight[k] * virtual_change(kind, w.F, X.E, a, b)
            sweep_measure(L, own, 0.0, 0.0, -sign * force, w, X)
            for k in range(2 * reads):
                X.read[k] -= sign * change * w.law[at + k]
            X.c[0 if by < 0 else FIRST_SLOPE + by] -= sign * change
        for j in range(reads):
            sweep_measure(L, first + j, X.read[2 * j], X.read[2 * j + 1], 0.0, w, X)
        order = ALONG if L.targets[L.forces[i, TARGET], BY] < 0 else GRADIENT
        z = w.scratch.variables[: 2 * reads + 1]
        for k in range(L.forces[i, LAW], L.forces[i, LAW_END]):
            add_numbers(L.laws, X.law_numbers, k, order, z, X, w.scratch.results, X.laws, X.law_trust)


@kernel(inline=True)
def sweep_measure(L, m, y0, y1, y3, w, X):
    """y0 u + y1 ud + y3 e . u_q of measure m"""
    if y0 != 0.0 or y1 != 0.0 or y3 != 0.0:
        for k in range(L.measure_start[m], L.measure_start[m + 1]):
            kind, a, b = L.term_kind[k], L.term_a[k], L.term_b[k]
            X.load_weight[k] += add_term(kind, w.F, X.E, a, b, L.term_weight[k], y0, y1, 0.0, y3, X.A)


@kernel(inline=True)
def sweep_wrenches(S, L, t, q, qd, w, X):
    """G -= f . b, where each component f of a wrench acts along a displacement b of its frame."""
    F, E, z, out = w.F, X.E, w.scratch.variables[:7], w.scratch.results
    for i in range(L.wrench_frame.size):
        k = L.wrench_frame[i]
        j = 3 * S.frame_body[k]
        for component in range(3):
            read_state(t, q, qd, j, z)
            force = law_slopes(L.laws, first_law(L, i) + component, z, out)
            x, y = turned(
                L.wrench_turning[i], F, k, 1.0 if component == 0 else 0.0, 1.0 if component == 1 else 0.0
            )
            along = E[k, TURN]
            if component < 2:
                along = x * E[k, DX] + y * E[k, DY]
                X.A[k, DISPLACEMENT] -= force * x
                X.A[k, DISPLACEMENT + 1] -= force * y
                if L.wrench_turning[i] == 1:
                    X.A[k, 2] -= force * (x * E[k, DY] - y * E[k, DX])
            for c in range(3):
                X.by_q[j + c] -= along * out[FIRST_SLOPE + 2 * c]
                X.by_qd[j + c] -= along * out[FIRST_SLOPE + 2 * c + 1]
            for c in range(FIRST_SLOPE + 7):
                X.c[c] = 0.0
            X.c[0] = -along
            add_numbers(
                L.laws, X.law_numbers, first_law(L, i) + component, ALONG, z, X, out, X.laws, X.law_trust
            )


@kernel
def add_numbers(table, numbers, index, order, z, X, out, slopes, trust):
    """Add the derivatives of the weighted results c . (g, g', g'', gradient) of a function by its numbers."""
    c, start, kind = X.c, table.functions[index, NUMBER], table.functions[index, KIND]
    if kind == CONSTANT:
        slopes[start] += c[0]
    elif kind == LINEAR:  # k (s - free) + c sd
        slopes[start] += c[0] * (z[0] - numbers[start + 2]) + c[FIRST_SLOPE]
        slopes[start + 1] += c[0] * z[1] + c[FIRST_SLOPE + 1]
        slopes[start + 2] -= c[0] * numbers[start]
    else:
        for j in range(start, table.functions[index, END]):
            if trust[j, 0] != 0.0:
                slopes[j] += varied_slope(table, numbers, j, index, order, z, c, out, trust[j])


@kernel
def varied_slope(table, numbers, j, index, order, z, c, out, trust):
    """The slope of order 4 by number j, and what tells whether it can be trusted, as in `central_slopes`."""
    here = numbers[j]
    h = STEP * (abs(here) if here != 0.0 else 1.0)
    g = weighted_results(table, index, order, z, c, out)
    numbers[j] = here + h
    g1 = weighted_results(table, index, order, z, c, out)
    numbers[j] = here - h
    g_1 = weighted_results(table, index, order, z, c, out)
    numbers[j] = here + 2.0 * h
    g2 = weighted_results(table, index, order, z, c, out)
    numbers[j] = here - 2.0 * h
    g_2 = weighted_results(table, index, order, z, c, out)
    numbers[j] = here
    wide, narrow = (g2 - g_2) / (4.0 * h), (g1 - g_1) / (2.0 * h)
    jump = (4.0 * (g1 - 2.0 * g + g_1) - (g2 - 2.0 * g + g_2)) / (2.0 * h)
    slope = (4.0 * narrow - wide) / 3.0
    trust[0] += 0.0 * (slope + jump)  # nan, where a value is not finite
    trust[1] = max(trust[1], abs(g), abs(g_2), abs(g2))
    trust[2] = max(trust[2], abs(slope))
    trust[3] = max(trust[3], abs(wide - narrow))
    trust[4] = max(trust[4], abs(jump))
    return slope


@kernel
def weighted_results(table, index, order, z, c, out):
    evaluate(table, index, order, z, out)
    total = c[0] * out[0] + (c[1] * out[1] + c[2] * out[2] if order == ALONG else 0.0)
    if order == GRADIENT:
        for k in range(z.size):
            total += c[FIRST_SLOPE + k] * out[FIRST_SLOPE + k]
    return total
