"""The elimination program of a system, and the slots of the entries of its matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import UnsupportedError, listed
from ..model.frame import GROUND
from ..model.measure import ANGLE, X, Y
from ..numerics.arrays import Floats, Ints, constant
from ..numerics.ldl import analyze
from ..numerics.ordering import elimination_order
from ..numerics.refinement import MOST_REFINEMENTS
from .applied_forces import MEASURE, READ, READ_END, TARGET, TARGET_END, Loads
from .constraints import SystemArrays
from .equations_of_motion import EquationArrays
from .formulas.derivatives import Couplings
from .row_compliance import compliance_of_redundant_rows
from .system import System
from .workspace import once_per_system

MOST_BETWEEN = 200  # joints between the same bodies
DELTA = 1e-6  # a mass in place of a missing one, relative to the effective inertia there
UNEVEN = 1e5  # ratio of the shares in a row from which rounding is worth a refinement


@once_per_system
def elimination_program(system: System, redundant: bool, tangent: bool) -> EquationArrays:
    """The elimination program of a system; with space for second derivatives if `tangent`."""
    refuse_heaps(system)
    S, n, m = system.arrays, system.n, system.m
    rows, unknowns = np.repeat(np.arange(m), np.diff(S.jac_start)), np.arange(n + m)
    groups = coupled_coordinates(S, system.load_arrays) if tangent else []
    couplings = [(k, k) for k in range(n + m)]
    couplings += [(n + int(i), int(j)) for i, j in zip(rows, S.jac_column, strict=True)]
    if tangent:
        couplings += [(i, j) for _, _, _, i, j in _term_entries(S)]
        couplings += [(i, j) for group in groups for i in group for j in group]
    analysis = analyze(couplings, _order(system))
    diagonal, entries = analysis.slots(unknowns, unknowns), _entries(system)
    masses = _apparent_masses(system, entries)
    delta = np.where(system.masses == 0.0, DELTA * masses, 0.0)
    template = np.zeros(analysis.program.column.size)
    template[diagonal[:n]] = system.masses + delta
    template[diagonal[n:]] = -compliance_of_redundant_rows(_shares(entries, masses, m)) if redundant else 0.0
    refined = redundant or delta.any() or _uneven(system, entries)
    return constant(
        EquationArrays(
            analysis.program,
            diagonal,
            analysis.slots(n + rows, S.jac_column),
            analysis.right_hand(unknowns),
            term_blocks(S, analysis) if tangent else np.full((S.term_kind.size, 6, 6), -1),
            couplings_of(groups, analysis),
            masses,
            template,
            np.array([MOST_REFINEMENTS if refined else 0]),
            np.zeros(2),
            np.zeros(m),
            system.arms,
            _shares_of_masses(system, entries, delta),
            system.length / system.sizes,
            lengths_per_row(system),
            np.zeros(0, dtype=np.int64),
        )
    )


def refuse_heaps(system: System) -> None:
    """Refuse hundreds of joints between the same bodies: every one of them couples with every other."""
    between = Counter(
        frozenset(f.body for f in system.model.elements[name].frames()) for name in system.resolved.rows
    )
    for bodies, count in between.most_common(1):
        if count > MOST_BETWEEN:
            raise UnsupportedError(
                f"{count} joints connect {listed(sorted(bodies))} in '{system.model.name}', and {MOST_BETWEEN} between "
                "the same bodies are the most. Remove joints that repeat each other; doctor(model) names them."
            )


def _integers(values: Iterable[Any]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _starts(sizes: Iterable[int]) -> Ints:
    """Offsets of consecutive blocks of these sizes, and the end of the last one."""
    return np.cumsum(_integers([0, *sizes]))


class Slots(Protocol):
    """Where the entries (i, j) of a matrix are."""

    def slots(self, i: Ints, j: Ints) -> Ints: ...


def _squares(analysis: Slots, groups: list[list[int]]) -> Ints:
    """Slots of all pairs in each group of unknowns, row by row."""
    slots = [np.zeros(0, dtype=np.int64)]
    for group in map(_integers, groups):
        slots.append(analysis.slots(np.repeat(group, group.size), np.tile(group, group.size)))
    return np.concatenate(slots)


# Which coordinates second derivatives couple ----------------------------------------------------------


def _coordinates(S: SystemArrays, frames: Iterable[Any]) -> list[int]:
    """The coordinates of the bodies that carry the frames."""
    bodies = {int(S.frame_body[f]) for f in frames} - {S.mass.size}
    return [3 * body + c for body in sorted(bodies) for c in range(3)]


def coupled_coordinates(S: SystemArrays, L: Loads) -> list[list[int]]:
    """Coordinates coupled by each row that is a formula, then by each force along measures, then by each wrench."""
    groups = [S.jac_column[S.jac_start[i] : S.jac_start[i + 1]].tolist() for i in S.formulas.row]
    for force in L.forces:
        measures = {
            *range(*force[[READ, READ_END]]),
            *L.targets[slice(*force[[TARGET, TARGET_END]]), MEASURE],
        }
        terms = [k for m in measures for k in range(*L.measure_start[m : m + 2])]
        groups.append(_coordinates(S, [*L.term_a[terms], *L.term_b[terms]]))
    return groups + [_coordinates(S, [frame]) for frame in L.wrench_frame]


def couplings_of(groups: list[list[int]], analysis: Slots) -> Couplings:
    return Couplings(
        _starts(len(group) for group in groups),
        _integers(j for group in groups for j in group),
        _starts(len(group) ** 2 for group in groups),
        _squares(analysis, groups),
    )


def _term_entries(S: SystemArrays) -> Iterator[tuple[int, int, int, int, int]]:
    """(term, r, s, unknown, unknown) of the second derivatives of each measure between two bodies."""
    nb = S.mass.size
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


def term_blocks(S: SystemArrays, analysis: Slots) -> Ints:
    """Slots of the second derivatives of each term, 6 x 6; -1 if there are none."""
    blocks = np.full((S.term_kind.size, 6, 6), -1, dtype=np.int64)
    entries = np.array(list(_term_entries(S)), dtype=np.int64).reshape(-1, 5)
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


class _Entries(NamedTuple):
    """Non-zeros of Phi_q in the initial pose."""

    row: Ints
    column: Ints
    value: Floats


def _entries(system: System) -> _Entries:
    S, value = system.arrays, system.Phi_q_data(system.drawn_q)
    row, kept = np.repeat(np.arange(system.m), np.diff(S.jac_start)), value != 0.0
    return _Entries(row[kept], S.jac_column[kept], value[kept])


def _apparent_masses(system: System, entries: _Entries) -> Floats:
    """The masses, and for a missing one the effective inertia of the coordinate through the rows that contain it.

    Row i contributes Phi_ij^2 / sum_k Phi_ik^2 / m_k of the other coordinates k whose inertia is known.
    """
    masses, (row, column, value) = system.masses.copy(), entries
    for _ in range(len(system.bodies)):
        known = masses[column] > 0.0
        share = np.bincount(row[known], value[known] ** 2 / masses[column[known]], minlength=system.m)
        felt = ~known & (share[row] > 0.0)
        if not felt.any():
            break
        masses += np.bincount(column[felt], value[felt] ** 2 / share[row[felt]], minlength=system.n)
    own = np.repeat(masses[0::3], 3)
    own[own == 0.0] = float(masses[0::3].max(initial=0.0)) or 1.0
    own[2::3] *= system.arms**2
    return np.where(masses > 0.0, masses, own)


def _shares(entries: _Entries, masses: Floats, m: int) -> Floats:
    """Diagonal of Phi_q M^-1 Phi_q^T in the initial pose; empty rows get the value of the others."""
    row, column, value = entries
    shares = np.bincount(row, value**2 / masses[column], minlength=m)
    return np.where(shares > 0.0, shares, float(shares.max(initial=0.0)) or 1.0)


def _shares_of_masses(system: System, entries: _Entries, delta: Floats) -> Floats:
    """The same with bodies that have mass only, if there are any in a row."""
    heavy = np.bincount(entries.row, system.masses[entries.column] > 0.0, minlength=system.m) > 0.0
    infinite = np.where(system.masses > 0.0, system.masses, np.inf)
    among, alone = (_shares(entries, mass, system.m) for mass in (infinite, system.masses + delta))
    return np.where(heavy, among, alone)


@once_per_system
def unequal(system: System) -> bool:
    """Whether masses or lengths differ so much, or are missing, that rounding is worth a refinement."""
    return bool(np.any(system.masses == 0.0)) or _uneven(system, _entries(system))


def _uneven(system: System, entries: _Entries) -> bool:
    """Whether a row involves bodies, or rotation and translation of a body, of very different inertia."""
    (row, column, value), nb = entries, len(system.bodies)
    with np.errstate(divide="ignore"):
        share = value**2 / system.masses[column]
    pair, at = np.unique(row * nb + column // 3, return_inverse=True)
    turns = column % 3 == 2
    moving, turning = (np.bincount(at[k], share[k], minlength=pair.size) for k in (~turns, turns))
    least, most = np.full(system.m, np.inf), np.zeros(system.m)
    np.minimum.at(least, pair // nb, np.where(moving > 0.0, moving, turning))
    np.maximum.at(most, pair // nb, np.maximum(moving, turning))
    return bool(np.any(most > UNEVEN * least))


@once_per_system
def lengths_per_row(system: System) -> Floats:
    """A length of the mechanism over the error of each row that moves the smallest of its bodies by its own size."""
    (row, column, value), nb = _entries(system), len(system.bodies)
    pair, at = np.unique(row * nb + column // 3, return_inverse=True)
    moves, least = np.zeros(pair.size), np.full(system.m, np.inf)
    np.maximum.at(moves, at, np.abs(value) * system.sizes[column])
    np.minimum.at(least, pair // nb, moves)
    return np.where(least < np.inf, system.length / least, 1.0)
