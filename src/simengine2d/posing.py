"""Posing: the elimination program of a system, and where the entries of its matrix go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elimination_order import elimination_order
from .equations import D
from .formula_loads import FORMULA, TERM_A, TERM_B
from .formula_tangent import Couplings
from .frames import GROUND
from .kkt import Analysis, analyze
from .measures import ANGLE, X, Y
from .system import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_REFINEMENTS = 20


def posed(system: System, redundant: bool, tangent: bool) -> D:
    """The elimination program of a system, which keeps it for the next analysis."""
    found: D = system.memo.recall(("program", redundant, tangent), lambda: build(system, redundant, tangent))
    return found


def build(system: System, redundant: bool, tangent: bool) -> D:
    """The elimination program of a system; with room for second derivatives where `tangent`."""
    S, n, m = system.arrays, system.n, system.m
    rows, unknowns = np.repeat(np.arange(m), np.diff(S.jac_start)), np.arange(n + m)
    pushes, wrenches = _coupled_by_pushes(system), _coupled_by_wrenches(system)
    formulas = _coupled_by_formulas(system) if tangent else []
    couplings = [(k, k) for k in range(n + m)]
    couplings += [(n + int(i), int(j)) for i, j in zip(rows, S.jac_column, strict=True)]
    if tangent:
        couplings += [(i, j) for _, _, _, i, j in _term_entries(system)]
        couplings += [(i, j) for group in [*pushes, *wrenches, *formulas] for i in group for j in group]
    analysis = analyze(couplings, _order(system))
    diagonal, delta = analysis.slots(unknowns, unknowns), _delta(system)
    template = np.zeros(analysis.program.column.size)
    template[diagonal[:n]] = system.masses + delta
    template[diagonal[n:]] = -_eps(system) if redundant else 0.0
    push_blocks = _squares(analysis, pushes if tangent else [])
    return D(
        analysis.program,
        diagonal,
        analysis.slots(n + rows, S.jac_column),
        analysis.right_hand(unknowns),
        _term_blocks(system, analysis) if tangent else np.full((S.term_kind.size, 6, 6), -1),
        _starts(len(group) for group in pushes),
        _integers(j for group in pushes for j in group),
        _starts(len(group) ** 2 for group in pushes),
        push_blocks,
        _squares(analysis, wrenches).reshape(-1, 3, 3) if tangent else np.full((len(wrenches), 3, 3), -1),
        _formula_couplings(formulas, len(system.bodies), analysis),
        template,
        np.array([MOST_REFINEMENTS if redundant or delta.any() else 0]),
        np.zeros(2),
    )


def _integers(values: Iterable[Any]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _starts(sizes: Iterable[int]) -> Ints:
    """Where parts of these sizes begin that lie behind each other, and where the last one ends."""
    return np.cumsum(_integers([0, *sizes]))


def _squares(analysis: Analysis, groups: list[list[int]]) -> Ints:
    """Slots of all pairs in each group of unknowns, row by row."""
    found = [np.zeros(0, dtype=np.int64)]
    for group in map(_integers, groups):
        found.append(analysis.slots(np.repeat(group, group.size), np.tile(group, group.size)))
    return np.concatenate(found)


# Which coordinates second derivatives couple ----------------------------------------------------------


def _coordinates(system: System, frames: Iterable[Any]) -> list[int]:
    """Those of the bodies that carry the frames."""
    bodies = {int(system.arrays.frame_body[f]) for f in frames} - {len(system.bodies)}
    return [3 * body + c for body in sorted(bodies) for c in range(3)]


def _coupled_by_pushes(system: System) -> list[list[int]]:
    L = system.load_arrays
    parts = [slice(*bounds) for bounds in zip(L.push_start[:-1], L.push_start[1:], strict=True)]
    return [_coordinates(system, [*L.term_a[part], *L.term_b[part]]) for part in parts]


def _coupled_by_wrenches(system: System) -> list[list[int]]:
    return [_coordinates(system, [frame]) for frame in system.load_arrays.wrench_frame]


def _coupled_by_formulas(system: System) -> list[list[int]]:
    """By rows that are formulas, then by forces that are."""
    S, g = system.arrays, system.load_arrays.formulas
    found = [S.jac_column[S.jac_start[i] : S.jac_start[i + 1]].tolist() for i in S.formulas.row]
    for i, (first, count, *_) in enumerate(g.g.formulas):
        read, pushed = slice(first, first + count), g.target[g.target[:, FORMULA] == i]
        frames = [*g.g.term_a[read], *g.g.term_b[read], *pushed[:, TERM_A], *pushed[:, TERM_B]]
        found.append(_coordinates(system, frames))
    return found


def _formula_couplings(formulas: list[list[int]], nb: int, analysis: Analysis) -> Couplings:
    largest = max((len(group) for group in formulas), default=0)
    return Couplings(
        _starts(len(group) for group in formulas),
        _integers(j for group in formulas for j in group),
        _starts(len(group) ** 2 for group in formulas),
        _squares(analysis, formulas),
        np.zeros(nb + 1, dtype=np.int64),
        np.zeros((largest, largest)),
    )


def _term_entries(system: System) -> Iterator[tuple[int, int, int, int, int]]:
    """(term, r, s, unknown, unknown) of the second derivatives of each measure between two bodies."""
    S, nb = system.arrays, len(system.bodies)
    for k, (kind, a, b) in enumerate(
        zip(S.term_kind, S.frame_body[S.term_a], S.frame_body[S.term_b], strict=True)
    ):
        if kind == ANGLE:
            continue
        unknowns = [3 * int(body) + c if body < nb else -1 for body in (a, b) for c in range(3)]
        for r in range(6):
            for s in range(r, 6):
                if (
                    unknowns[r] >= 0
                    and unknowns[s] >= 0
                    and (kind not in (X, Y) or (r, s) in ((2, 2), (5, 5)))
                ):
                    yield k, r, s, unknowns[r], unknowns[s]


def _term_blocks(system: System, analysis: Analysis) -> Ints:
    """Slots of the second derivatives of each term, 6 x 6; -1 where there are none."""
    blocks = np.full((system.arrays.term_kind.size, 6, 6), -1, dtype=np.int64)
    entries = np.array(list(_term_entries(system)), dtype=np.int64).reshape(-1, 5)
    k, r, s, i, j = entries.T
    blocks[k, r, s] = analysis.slots(i, j)
    return blocks


# Order and size ----------------------------------------------------------------------------------------


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
