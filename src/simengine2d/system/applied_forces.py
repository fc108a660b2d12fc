"""Applied forces: the weight of the bodies, forces along measures, and wrenches.

A force F along a measure s adds F s_q to QA. F is the law g(s, sd, t) of a spring, which resists the growth of s, or a
formula of any measures u, their rates and time, or the derivative -V_u of a potential energy. A wrench is a force and a
torque at a frame, in global axes or turning with the body, by laws of the body's own state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..expressions.function import Function
from ..expressions.function_table import (
    FIRST_SLOPE,
    GRADIENT,
    HESSIAN,
    FunctionTable,
    Scratch,
    law_in_time,
    law_slopes,
    pack,
)
from ..expressions.law import STATE
from ..model.elements import Load, MeasureForce, Wrench
from ..model.frame import PlacedFrame
from ..model.measure import KINDS, Measure, Term
from ..numerics.arrays import Floats, Ints, constant
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, rare_kernel_pointer
from .constraints import SystemArrays
from .frames import EX, EY, UX, UY, term_gradient, term_rate, term_value

# columns of `forces`: first and last of the measures it reads, its laws, and its targets
READ, READ_END, LAW, LAW_END, TARGET, TARGET_END = range(6)
# columns of `targets`: the measure acted along; the variable by which an energy is differentiated, or -1; the sign
MEASURE, BY, SIGN = range(3)


class Loads(NamedTuple):
    """The applied forces as constant arrays; frames are those of the system."""

    term_kind: Ints
    term_a: Ints
    term_b: Ints
    term_weight: Floats
    measure_start: Ints  # the terms of measure m are measure_start[m] : measure_start[m + 1]
    forces: Ints  # (forces, 6)
    targets: Ints  # (targets, 3)
    wrench_frame: Ints
    wrench_turning: Ints
    laws: FunctionTable  # those of the forces, then three for each wrench


class ListedLoads(NamedTuple):
    """The applied forces in the order of their arrays."""

    terms: list[Term]
    laws: list[Function]
    variables: list[Sequence[str]]
    measure_sizes: list[int]
    rows: list[tuple[int, ...]]
    targets: list[tuple[int, int, int]]
    wrenches: list[Wrench]


def listed_loads(loads: Sequence[Load]) -> ListedLoads:
    """What forces along measures read, follow and act on, then the wrenches."""
    wrenches = [load for load in loads if isinstance(load, Wrench)]
    measures: list[Measure] = []
    laws: list[Function] = []
    variables: list[Sequence[str]] = []
    rows: list[tuple[int, ...]] = []
    targets: list[tuple[int, int, int]] = []
    for group in grouped(loads):
        first, read, law, target = group[0], len(measures), len(laws), len(targets)
        potential = first.by >= 0
        measures += first.reads
        read_end = len(measures)
        laws += [first.law] if potential else [force.law for force in group]
        variables += [first.variables] * (len(laws) - law)
        for force in group if potential else group[:1]:
            known = [m for m in range(read, len(measures)) if measures[m] is force.measure]
            targets.append(
                (known[0] if known else len(measures), 2 * force.by if potential else -1, force.sign)
            )
            measures += [] if known else [force.measure]
        rows.append((read, read_end, law, len(laws), target, len(targets)))
    laws += [law for w in wrenches for law in (w.fx, w.fy, w.torque)]
    variables += [STATE] * (3 * len(wrenches))
    terms = [term for measure in measures for term in measure.terms]
    sizes = [len(measure.terms) for measure in measures]
    return ListedLoads(terms, laws, variables, sizes, rows, targets, wrenches)


def load_arrays(loads: Sequence[Load], frame: dict[PlacedFrame, int]) -> Loads:
    """The arrays of applied forces; `frame` numbers the frames."""
    terms, laws, variables, sizes, rows, targets, wrenches = listed_loads(loads)
    integers = lambda values: np.array(list(values), dtype=np.int64)
    return constant(
        Loads(
            integers(KINDS[term.kind] for term in terms),
            integers(frame[term.a] for term in terms),  # type: ignore[index]
            integers(frame[term.b] for term in terms),  # type: ignore[index]
            np.array([term.weight for term in terms], dtype=float),
            np.cumsum([0, *sizes]).astype(np.int64),
            integers(rows).reshape(-1, 6),
            integers(targets).reshape(-1, 3),
            integers(frame[w.frame] for w in wrenches),
            integers(w.turning for w in wrenches),
            pack(laws, variables, HESSIAN if any(by >= 0 for _, by, _ in targets) else GRADIENT),
        )
    )


def grouped(loads: Iterable[Load]) -> list[list[MeasureForce]]:
    """Forces along measures that are evaluated together: laws of one measure, or derivatives of one energy."""
    groups: list[list[MeasureForce]] = []
    for load in loads:
        if not isinstance(load, MeasureForce):
            continue
        last = groups[-1][0] if groups else None
        if last is not None and (
            (load.by > 0 and load.formula is last.formula)
            or (load.formula is last.formula is None and load.measure is last.measure)
        ):
            groups[-1].append(load)
        else:
            groups.append([load])
    return groups


def frames_of_loads(loads: Iterable[Load]) -> list[PlacedFrame]:
    """Every frame that applied forces need."""
    return [frame for load in loads for frame in frames_of(load)]


def frames_of(load: Load) -> list[PlacedFrame]:
    """The frames that a load acts on or reads."""
    if isinstance(load, Wrench):
        return [load.frame]
    return [frame for term in load.terms for frame in (term.a, term.b)]  # type: ignore[misc]


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def applied(S, L, t, q, qd, w, Q):
    """QA: the weight of the bodies, the forces along measures, the wrenches."""
    set_weight(S, Q)
    if L.laws.functions.shape[0] > 0:
        add_forces(S, L, t, w.F, w.scratch, Q)
        add_wrenches(S, L, t, q, qd, w.F, w.scratch, Q)


@kernel(inline=True)
def applied_by_pointer(S, t, q, qd, w):
    """The same into w.Q; without loads, nothing is compiled for them."""
    set_weight(S, w.Q)
    if w.loads_f != 0:
        invoke(w.loads_f, w.loads_c, t, q, qd)


class Loading(NamedTuple):
    """Context of `add_loads`: the loads, and those arrays of a workspace that they read and write."""

    S: SystemArrays
    L: Loads
    F: Floats
    scratch: Scratch
    Q: Floats


@rare_kernel_pointer
def add_loads(c, t, q, qd):
    """Q += forces along measures and wrenches"""
    add_forces(c.S, c.L, t, c.F, c.scratch, c.Q)
    add_wrenches(c.S, c.L, t, q, qd, c.F, c.scratch, c.Q)


@kernel(inline=True)
def set_weight(S, Q):
    """Q = M g"""
    gx, gy = S.gravity[0], S.gravity[1]
    for i in range(S.mass.size):
        Q[3 * i], Q[3 * i + 1], Q[3 * i + 2] = S.mass[i] * gx, S.mass[i] * gy, 0.0


@kernel(inline=True)
def measure_state(L, m, F):
    """Value and rate of measure m."""
    s, sd = 0.0, 0.0
    for k in range(L.measure_start[m], L.measure_start[m + 1]):
        kind, a, b, weight = L.term_kind[k], L.term_a[k], L.term_b[k], L.term_weight[k]
        s += weight * term_value(kind, F, a, b)
        sd += weight * term_rate(kind, F, a, b)
    return s, sd


@kernel(inline=True)
def read_measures(L, i, t, F, z):
    """u_1, ud_1, ..., t of force i."""
    first, count = L.forces[i, READ], L.forces[i, READ_END] - L.forces[i, READ]
    for j in range(count):
        z[2 * j], z[2 * j + 1] = measure_state(L, first + j, F)
    z[2 * count] = t


@kernel(inline=True)
def evaluate_force(L, i, t, F, scratch):
    """The sum of the laws of force i; for an energy, its gradient is in the results."""
    z, out = scratch.variables[: 2 * (L.forces[i, READ_END] - L.forces[i, READ]) + 1], scratch.results
    read_measures(L, i, t, F, z)
    if L.targets[L.forces[i, TARGET], BY] >= 0:
        return law_slopes(L.laws, L.forces[i, LAW], z, out)
    total = 0.0
    for k in range(L.forces[i, LAW], L.forces[i, LAW_END]):
        total += law_in_time(L.laws, k, z, scratch)
    return total


@kernel(inline=True)
def force_along(L, target, total, out):
    """F along a target, after its force has been evaluated."""
    by = L.targets[target, BY]
    return L.targets[target, SIGN] * (total if by < 0 else out[FIRST_SLOPE + by])


@kernel(inline=True)
def push_along(S, L, m, force, F, Q):
    """Q += s_q^T F of one measure"""
    nb, body = S.mass.size, S.frame_body
    for k in range(L.measure_start[m], L.measure_start[m + 1]):
        a, b = L.term_a[k], L.term_b[k]
        d = term_gradient(L.term_kind[k], F, a, b)
        weight = force * L.term_weight[k]
        if body[a] < nb:
            j = 3 * body[a]
            Q[j] += weight * d[0]
            Q[j + 1] += weight * d[1]
            Q[j + 2] += weight * d[2]
        if body[b] < nb:
            j = 3 * body[b]
            Q[j] += weight * d[3]
            Q[j + 1] += weight * d[4]
            Q[j + 2] += weight * d[5]


@kernel
def add_forces(S, L, t, F, scratch, Q):
    """Q += sum_k F_k s_k,q"""
    for i in range(L.forces.shape[0]):
        total = evaluate_force(L, i, t, F, scratch)
        for target in range(L.forces[i, TARGET], L.forces[i, TARGET_END]):
            m, force = L.targets[target, MEASURE], force_along(L, target, total, scratch.results)
            push_along(S, L, m, force, F, Q)


@kernel
def wrench_values(L, i, t, q, qd, j, scratch):
    """Force components in their own axes and torque of wrench i on the body with coordinates j.."""
    laws, first, z = L.laws, first_law(L, i), scratch.variables[:7]
    read_state(t, q, qd, j, z)
    fx, fy = law_in_time(laws, first, z, scratch), law_in_time(laws, first + 1, z, scratch)
    return fx, fy, law_in_time(laws, first + 2, z, scratch)


@kernel(inline=True)
def first_law(L, i):
    """The first of the three laws of wrench i."""
    return L.laws.functions.shape[0] - 3 * (L.wrench_frame.size - i)


@kernel(inline=True)
def read_state(t, q, qd, j, z):
    """x, xd, y, yd, phi, phid and t of the body with coordinates j.."""
    for c in range(3):
        z[2 * c], z[2 * c + 1] = q[j + c], qd[j + c]
    z[6] = t


@kernel
def add_wrenches(S, L, t, q, qd, F, scratch, Q):
    for i in range(L.wrench_frame.size):
        k = L.wrench_frame[i]
        j = 3 * S.frame_body[k]
        own_x, own_y, torque = wrench_values(L, i, t, q, qd, j, scratch)
        fx, fy = turned(L.wrench_turning[i], F, k, own_x, own_y)
        Q[j] += fx
        Q[j + 1] += fy
        Q[j + 2] += torque + F[k, EX] * fy - F[k, EY] * fx


@kernel(inline=True)
def turned(turning, F, k, fx, fy):
    """Components in global axes of a vector given in those of frame k, if it turns with the body."""
    if turning == 0:
        return fx, fy
    return F[k, UX] * fx - F[k, UY] * fy, F[k, UY] * fx + F[k, UX] * fy
