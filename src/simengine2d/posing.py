"""Posing: the elimination program of a system, and where the entries of its matrix go."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .elimination_order import elimination_order
from .equations import D
from .formula_loads import FORMULA, TERM_A, TERM_B
from .formula_tangent import Couplings
from .frames import GROUND
from .kkt import analyze
from .measures import ANGLE, X, Y
from .system import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_REFINEMENTS = 20


def posed(system: System, redundant: bool, tangent: bool) -> D:
    """The elimination program of a system, which keeps it for the next analysis."""
    key = ("program", redundant, tangent)
    if key not in system.memo:
        system.memo[key] = build(system, redundant, tangent)
    return system.memo[key]


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
    formulas = _coupled_by_formulas(system) if tangent else []
    if tangent:
        for kind, a, b in terms:
            couplings += [(i, j) for _, _, i, j in _term_entries(kind, a, b, nb)]
        for bodies in [*pushes, *([int(body[f])] for f in loads.wrench_frame)]:
            coordinates = [3 * b + c for b in bodies for c in range(3)]
            couplings += [(i, j) for i in coordinates for j in coordinates]
        couplings += [(i, j) for coordinates in formulas for i in coordinates for j in coordinates]
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
    wrench_blocks = np.full((loads.wrench_frame.size, 3, 3), -1, dtype=np.int64)
    if tangent:
        for number, f in enumerate(loads.wrench_frame):
            three = 3 * int(body[f]) + np.arange(3)
            wrench_blocks[number] = entry(np.repeat(three, 3), np.tile(three, 3)).reshape(3, 3)
    delta = _delta(system)
    diagonal = analysis.slots(np.arange(n + m), np.arange(n + m))
    template = np.zeros(analysis.program.column.size)
    template[diagonal[:n]] = system.masses + delta
    template[diagonal[n:]] = -_eps(system) if redundant else 0.0
    sizes = [3 * len(bodies) for bodies in pushes]
    unknowns = np.arange(n + m)
    return D(
        analysis.program,
        diagonal,
        analysis.slots(n + rows, arrays.jac_column),
        analysis.right_hand(unknowns),
        blocks,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([3 * b + c for bodies in pushes for b in bodies for c in range(3)], dtype=np.int64),
        np.concatenate([[0], np.cumsum(np.square(sizes))]).astype(np.int64),
        np.array(push_blocks, dtype=np.int64),
        wrench_blocks,
        _formula_couplings(formulas, nb, entry),
        template,
        np.array([MOST_REFINEMENTS if redundant or delta.any() else 0]),
        np.zeros(2),
    )


def _coupled_by_formulas(system: System) -> list[list[int]]:
    """The coordinates that each row and each force by a formula couples."""
    arrays, g = system.arrays, system.load_arrays.formulas
    found = [
        arrays.jac_column[arrays.jac_start[i] : arrays.jac_start[i + 1]].tolist() for i in arrays.formulas.row
    ]
    for i, (first, count, *_) in enumerate(g.g.formulas):
        read, pushed = slice(first, first + count), g.target[g.target[:, FORMULA] == i]
        frames = np.concatenate([g.g.term_a[read], g.g.term_b[read], pushed[:, TERM_A], pushed[:, TERM_B]])
        bodies = sorted({int(body) for body in arrays.frame_body[frames]} - {len(system.bodies)})
        found.append([3 * body + c for body in bodies for c in range(3)])
    return found


def _formula_couplings(formulas: list[list[int]], nb: int, entry: Callable[..., Ints]) -> Couplings:
    sizes = [len(coordinates) for coordinates in formulas]
    largest = max(sizes, default=0)
    integers = lambda values: np.array(list(values), dtype=np.int64)
    return Couplings(
        integers(np.cumsum([0, *sizes])),
        integers(j for coordinates in formulas for j in coordinates),
        integers(np.cumsum([0, *(size**2 for size in sizes)])),
        integers(
            slot
            for part, size in zip(formulas, sizes, strict=True)
            for slot in entry(np.repeat(part, size), np.tile(part, size))
        ),
        np.zeros(nb + 1, dtype=np.int64),
        np.zeros((largest, largest)),
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
    largest = float(system.masses.max(initial=0.0))
    return np.where(system.masses == 0.0, 1e-6 * (largest or 1.0), 0.0)


def _eps(system: System) -> float:
    """Small against the diagonal of Phi_q M^-1 Phi_q^T, but large against its rounding."""
    mass = system.masses[system.arrays.jac_column]
    data = system.Phi_q_data(system.drawn_q)
    rows = np.repeat(np.arange(system.m), np.diff(system.arrays.jac_start))
    shares = np.divide(data**2, mass, out=np.zeros_like(data), where=mass > 0.0)
    return 1e-6 * float(np.bincount(rows, shares).max(initial=0.0))
