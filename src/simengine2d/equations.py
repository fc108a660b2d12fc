"""The equations of motion, assembled and solved: accelerations and multipliers, and Newton's matrix.

[ M      Phi_q^T ] [ qdd ]   [ QA    ]
[ Phi_q   -eps   ] [ lam ] = [ gamma ]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .coordinates.reference_point import FRAME_STATE, move_frames, place_frames, term_gradient, term_hessian
from .elimination_order import elimination_order
from .frames import GROUND
from .functions import functions_at
from .kernels import kernel
from .kkt import Elimination, analyze, eliminate, solve_again, substitute
from .laws import law_at
from .loads import applied, push_state
from .measures import ANGLE, X, Y
from .system import System, gamma, phi_q

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class D(NamedTuple):
    """Elimination program of a system, and where its entries go."""

    program: Elimination
    diagonal: Ints  # slot of each diagonal entry
    jacobian: Ints  # slot of each non-zero of Phi_q
    right: Ints  # slot of each right-hand side
    term_blocks: Ints  # (terms, 6, 6) slots of second derivatives; -1 where there are none
    push_start: Ints  # coordinates that each push acts on: push_coordinate[push_start[i] : push_start[i + 1]]
    push_coordinate: Ints
    push_block_start: Ints
    push_blocks: Ints
    wrench_blocks: Ints  # (wrenches, 3, 3)
    eps: Floats  # of each row, where rows are redundant
    delta: Floats  # of each coordinate that has no mass
    refinements: Ints  # how often a solution is corrected for eps and delta


class Work(NamedTuple):
    """Scratch arrays, one set per run."""

    f: Floats
    F: Floats
    data: Floats
    v: Floats
    Q: Floats
    row: Floats
    x: Floats
    rest: Floats
    correction: Floats
    work: Floats
    H: Floats
    G: Floats


def new_work(system: System, d: D) -> Work:
    n, m = system.n, system.m
    return Work(
        np.empty((m + len(system.load_functions), 3)),
        np.zeros((system.arrays.frame_body.size, FRAME_STATE)),
        np.empty(system.arrays.jac_column.size),
        np.empty(d.program.column.size),
        np.empty(n),
        np.empty(m),
        np.empty(n + m),
        np.empty(n + m),
        np.empty(n + m),
        np.empty(n + m),
        np.empty((6, 6)),
        np.empty((3, max(1, int(np.diff(d.push_start).max(initial=1))))),
    )


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True, entry=False)
def evaluate_state(S, L, t, q, qd, w):
    """Frames, Phi_q, gamma (into w.row) and QA at a state."""
    functions_at(S.functions, t, w.f)
    place_frames(S, q, w.F)
    move_frames(S, qd, w.F)
    phi_q(S, w.F, w.data)
    applied(S, L, t, w.f, w.F, q, qd, w.Q)


@kernel(inline=True, entry=False)
def fill_masses(S, D, v):
    """M on the diagonal, -eps below it, zero elsewhere."""
    diagonal, mass, inertia, eps, delta = D.diagonal, S.mass, S.inertia, D.eps, D.delta
    v[:] = 0.0
    nb = mass.size
    for i in range(nb):
        v[diagonal[3 * i]] = mass[i] + delta[3 * i]
        v[diagonal[3 * i + 1]] = mass[i] + delta[3 * i + 1]
        v[diagonal[3 * i + 2]] = inertia[i] + delta[3 * i + 2]
    for i in range(eps.size):
        v[diagonal[3 * nb + i]] = -eps[i]


@kernel
def accelerations(S, L, D, t, q, qd, w):
    """qdd and lam into w.x."""
    evaluate_state(S, L, t, q, qd, w)
    gamma(S, w.f, w.F, w.row)
    solve_kkt(S, D, w.Q, w.row, w)


@kernel(entry=False)
def solve_kkt(S, D, b, c, w):
    """w.x of M x + Phi_q^T y = b, Phi_q x = c with Phi_q in w.data; refined where rows are redundant."""
    v, data, jacobian, right = w.v, w.data, D.jacobian, D.right
    fill_masses(S, D, v)
    for p in range(jacobian.size):
        v[jacobian[p]] = data[p]
    n = b.size
    for j in range(n):
        v[right[j]] = b[j]
    for i in range(c.size):
        v[right[n + i]] = c[i]
    eliminate(D.program, v)
    substitute(D.program, v, w.x, w.work)
    for _ in range(D.refinements[0]):
        refine(S, D, b, c, w)


@kernel(entry=False)
def refine(S, D, b, c, w):
    """x += K^-1 (right-hand side - K x) with the true matrix, without eps."""
    n, x, rest, start, column, data = b.size, w.x, w.rest, S.jac_start, S.jac_column, w.data
    mass, inertia = S.mass, S.inertia
    for i in range(mass.size):
        rest[3 * i] = b[3 * i] - mass[i] * x[3 * i]
        rest[3 * i + 1] = b[3 * i + 1] - mass[i] * x[3 * i + 1]
        rest[3 * i + 2] = b[3 * i + 2] - inertia[i] * x[3 * i + 2]
    for i in range(c.size):
        total = c[i]
        for p in range(start[i], start[i + 1]):
            total -= data[p] * x[column[p]]
            rest[column[p]] -= data[p] * x[n + i]
        rest[n + i] = total
    solve_again(D.program, w.v, rest, w.correction, w.work)
    for j in range(x.size):
        x[j] += w.correction[j]


@kernel(entry=False)
def add_constraint_tangent(S, D, lam, factor, w):
    """factor (Phi_q^T lam)_q into the matrix."""
    kind, a, b, weight, start, blocks = (
        S.term_kind,
        S.term_a,
        S.term_b,
        S.term_weight,
        S.row_start,
        D.term_blocks,
    )
    v, H, F = w.v, w.H, w.F
    for i in range(lam.size):
        for k in range(start[i], start[i + 1]):
            if kind[k] == ANGLE:
                continue
            c = factor * lam[i] * weight[k]
            term_hessian(kind[k], F, a[k], b[k], H)
            for r in range(6):
                for s in range(r, 6):
                    if blocks[k, r, s] >= 0:
                        v[blocks[k, r, s]] += c * H[r, s]


@kernel(entry=False)
def add_push_tangent(S, L, D, t, of_q, of_qd, w):
    """-of_q QA_q - of_qd QA_qd of the pushes; the unsymmetric part of geometric damping is left out.

    QA = -g s_q  ->  -QA_q = g_s s_q^T s_q + g_sd sd_q^T s_q + g s_qq,   -QA_qd = g_sd s_q^T s_q
    """
    z, g = L.push_scratch[0], L.push_scratch[1]
    v, H, G, F = w.v, w.H, w.G, w.F
    for i in range(L.push_start.size - 1):
        z[0], z[1] = push_state(L, i, F)
        z[2] = t
        force = law_at(L.laws, i, w.f, z, g)
        count = D.push_start[i + 1] - D.push_start[i]
        for c in range(count):
            G[0, c] = 0.0
        # s_q over the coordinates of this push, and the curvature g s_qq term by term
        at = D.push_block_start[i]
        for k in range(L.push_start[i], L.push_start[i + 1]):
            kind, a, b, weight = L.term_kind[k], L.term_a[k], L.term_b[k], L.term_weight[k]
            d = term_gradient(kind, F, a, b)
            term_hessian(kind, F, a, b, H)
            for r in range(6):
                p = push_position(S, D, i, a if r < 3 else b, r % 3)
                if p < 0:
                    continue
                G[0, p] += weight * d[r]
                for s in range(6):
                    u = push_position(S, D, i, a if s < 3 else b, s % 3)
                    if u >= p:
                        v[D.push_blocks[at + p * count + u]] += of_q * force * weight * H[r, s]
        stiffness = of_q * g[0] + of_qd * g[1]
        for p in range(count):
            for u in range(p, count):
                v[D.push_blocks[at + p * count + u]] += stiffness * G[0, p] * G[0, u]


@kernel(inline=True, entry=False)
def push_position(S, D, i, frame, c):
    """Where coordinate c of the frame's body stands among those of push i; -1 for the ground."""
    body = S.frame_body[frame]
    if body == S.mass.size:
        return -1
    for p in range(D.push_start[i], D.push_start[i + 1], 3):
        if D.push_coordinate[p] == 3 * body:
            return p - D.push_start[i] + c
    return -1


@kernel
def newton_matrix(S, L, D, t, q, qd, lam, of_q, of_qd, w):
    """M + of_q ((Phi_q^T lam)_q - QA_q) - of_qd QA_qd, with Phi_q beside it, into w.v."""
    v, data, jacobian = w.v, w.data, D.jacobian
    fill_masses(S, D, v)
    for p in range(jacobian.size):
        v[jacobian[p]] = data[p]
    add_constraint_tangent(S, D, lam, of_q, w)
    if L.push_start.size > 1:
        add_push_tangent(S, L, D, t, of_q, of_qd, w)


# Building ---------------------------------------------------------------------------------------------


def build(system: System, redundant: bool, tangent: bool) -> D:
    """The elimination program of a system; with room for second derivatives where `tangent`."""
    arrays, loads = system.arrays, system.load_arrays
    n, m, nb = system.n, system.m, len(system.bodies)
    body = arrays.frame_body
    couplings = [(k, k) for k in range(n + m)]
    rows = np.repeat(np.arange(m), np.diff(arrays.jac_start))
    couplings += [(n + int(i), int(j)) for i, j in zip(rows, arrays.jac_column, strict=True)]
    terms = list(zip(arrays.term_kind, body[arrays.term_a], body[arrays.term_b], strict=True))
    pushes = [
        sorted({int(body[f]) for k in range(*bounds) for f in (loads.term_a[k], loads.term_b[k])} - {nb})
        for bounds in zip(loads.push_start[:-1], loads.push_start[1:], strict=True)
    ]
    if tangent:
        for kind, a, b in terms:
            couplings += [(i, j) for _, _, i, j in _term_entries(kind, a, b, nb)]
        for bodies in pushes:
            coordinates = [3 * b + c for b in bodies for c in range(3)]
            couplings += [(i, j) for i in coordinates for j in coordinates]
    analysis = analyze(couplings, _order(system))
    entry = lambda i, j: analysis.slots(np.array(i, dtype=np.int64), np.array(j, dtype=np.int64))
    blocks = np.full((len(terms), 6, 6), -1, dtype=np.int64)
    push_blocks: list[int] = []
    if tangent:
        for k, (kind, a, b) in enumerate(terms):
            entries = list(_term_entries(kind, a, b, nb))
            if entries:
                r, s, i, j = zip(*entries, strict=True)
                blocks[k, r, s] = entry(i, j)
        for bodies in pushes:
            coordinates = [3 * b + c for b in bodies for c in range(3)]
            size = len(coordinates)
            push_blocks += entry(np.repeat(coordinates, size), np.tile(coordinates, size)).tolist()
    delta = _delta(system)
    sizes = [3 * len(bodies) for bodies in pushes]
    unknowns = np.arange(n + m)
    return D(
        analysis.program,
        analysis.slots(unknowns, unknowns),
        analysis.slots(n + rows, arrays.jac_column),
        analysis.right_hand(unknowns),
        blocks,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([3 * b + c for bodies in pushes for b in bodies for c in range(3)], dtype=np.int64),
        np.concatenate([[0], np.cumsum(np.square(sizes))]).astype(np.int64),
        np.array(push_blocks, dtype=np.int64),
        np.zeros((0, 3, 3), dtype=np.int64),
        np.full(m, _eps(system) if redundant else 0.0),
        delta,
        np.array([3 if redundant or delta.any() else 0]),
    )


def _term_entries(kind: int, a: int, b: int, nb: int) -> Iterator[tuple[int, int, int, int]]:
    """(r, s, unknown, unknown) of the second derivatives of a measure between bodies a and b."""
    if kind == ANGLE:
        return
    unknowns = [3 * a + c if a < nb else -1 for c in range(3)] + [
        3 * b + c if b < nb else -1 for c in range(3)
    ]
    for r in range(6):
        for s in range(r, 6):
            if unknowns[r] < 0 or unknowns[s] < 0 or (kind in (X, Y) and (r, s) not in ((2, 2), (5, 5))):
                continue
            yield r, s, unknowns[r], unknowns[s]


def _order(system: System) -> list[int]:
    """Order of elimination from the bodies of each joint."""
    nb = len(system.bodies)
    index = {body.name: i for i, body in enumerate(system.bodies)} | {GROUND: -1}
    joints: dict[str, set[int]] = {}
    rows: dict[str, list[int]] = {}
    for i, (name, row) in enumerate(system.rows):
        rows.setdefault(name, []).append(i)
        joints.setdefault(name, set()).update(index[f.body] for t in row.measure.terms for f in (t.a, t.b))
    return elimination_order(nb, [sorted(joints[name]) for name in rows], list(rows.values()))


def _delta(system: System) -> Floats:
    """A small mass where there is none, so that every pivot exists; refinement takes its effect away."""
    masses = np.repeat(system.arrays.mass, 3)
    masses[2::3] = system.arrays.inertia
    largest = max(float(system.arrays.mass.max(initial=0.0)), float(system.arrays.inertia.max(initial=0.0)))
    return np.where(masses == 0.0, 1e-6 * (largest or 1.0), 0.0)


def _eps(system: System) -> float:
    """Small against Phi_q M^-1 Phi_q^T."""
    masses = np.concatenate([system.arrays.mass, system.arrays.inertia / system.length**2])
    masses = masses[masses > 0.0]
    return 1e-10 / float(masses.max()) if masses.size else 1e-10
