"""The elimination program of a system, and the slots of the entries of its matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import UnsupportedError, listed
from ..model.measure import ANGLE, X, Y
from ..numerics.arrays import Floats, Ints, ShortInts, constant, starts
from ..numerics.kernel import kernel
from ..numerics.ldl import Elimination, analyze
from ..numerics.ordering import elimination_order
from ..numerics.patterns import once_per_pattern
from ..numerics.refinement import MOST_REFINEMENTS
from .applied_forces import MEASURE, READ, READ_END, TARGET, TARGET_END, Loads
from .connections import connections_of, most_alike
from .constraints import SystemArrays, rows_of_slopes
from .equations_of_motion import EquationArrays
from .formulas.derivatives import Couplings
from .geometry import once_per_geometry
from .row_compliance import compliance_of_redundant_rows
from .system import System
from .workspace import once_per_system

MOST_BETWEEN = 200  # joints between the same bodies
DELTA = 1e-6  # a mass in place of a missing one, relative to the effective inertia there
UNEVEN = 1e5  # ratio of the shares in a row from which rounding is worth a refinement


class ProgramStructure(NamedTuple):
    """What of an elimination program does not depend on numbers: all models alike share it."""

    program: Elimination
    diagonal: Ints
    jacobian: Ints
    right: Ints
    term_blocks: ShortInts
    bends: ShortInts
    couplings: Couplings


@once_per_system
def elimination_program(system: System, redundant: bool, tangent: bool) -> EquationArrays:
    """The elimination program of a system; with space for second derivatives if `tangent`."""
    refuse_heaps(system)
    n, m, entries = system.n, system.m, _entries(system)
    P = _structure(system, tangent or bends_on_the_diagonal(system))
    masses = _apparent_masses(system, entries)
    delta = np.where(system.masses == 0.0, DELTA * masses, 0.0)
    template = np.zeros(P.program.column.size)
    template[P.diagonal[:n]] = system.masses + delta
    template[P.diagonal[n:]] = (
        -compliance_of_redundant_rows(_shares(entries, masses, m)) if redundant else 0.0
    )
    refined = redundant or unequal(system)
    return constant(
        EquationArrays(
            *P,
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


def bends_on_the_diagonal(system: System) -> bool:
    """Whether second derivatives need no space of their own, as those of pins: one structure is enough."""
    L, kinds = system.load_arrays, system.arrays.term_kind
    coupled = system.arrays.formulas.row.size or len(L.forces) or L.wrench_frame.size
    return not coupled and bool(((kinds == X) | (kinds == Y) | (kinds == ANGLE)).all())


@once_per_system
def _structure(system: System, tangent: bool) -> ProgramStructure:
    S, L = system.arrays, system.load_arrays
    groups = coupled_coordinates(S, L) if tangent else []
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    coupled = np.array([j for group in groups for j in group], dtype=np.int64)
    return program_structure(
        S.mass.size, system.first_rows, S.jac_start, S.jac_column, S.frame_body, S.row_start,
        S.term_kind, S.term_a, S.term_b, sizes, coupled, tangent,
    )  # fmt: skip


@once_per_pattern
def program_structure(
    nb: int, first_rows: Ints, jac_start: Ints, jac_column: Ints, frame_body: Ints, row_start: Ints,
    kind: Ints, a: Ints, b: Ints, sizes: Ints, coupled: Ints, tangent: bool,
) -> ProgramStructure:  # fmt: skip
    """The program from the rows and terms, and from the groups of coordinates that second derivatives couple."""
    n, m = 3 * nb, row_start.size - 1
    row, unknowns = np.repeat(np.arange(m), np.diff(jac_start)), np.arange(n + m)
    entries = _term_entries(kind, frame_body[a], frame_body[b], nb)
    i, j = _squares(sizes, coupled)
    couplings = [np.column_stack([n + row, jac_column]), np.column_stack([i, j])]
    if tangent:
        couplings.append(np.column_stack([entries.i, entries.j]))
    order = elimination_order(nb, *connections_of(nb, first_rows, row_start, frame_body, a, b))
    analysis = analyze(np.concatenate(couplings), order)
    blocks = _blocks(kind.size, entries, analysis) if tangent else no_blocks(kind.size)
    return ProgramStructure(
        analysis.program,
        analysis.slots(unknowns, unknowns),
        analysis.slots(n + row, jac_column),
        analysis.right_hand(unknowns),
        blocks,
        bends_in(blocks),
        Couplings(starts(sizes), coupled, starts(sizes**2), analysis.slots(i, j)),
    )


def refuse_heaps(system: System) -> None:
    """Refuse hundreds of joints between the same bodies: every one of them couples with every other."""
    if most_alike(system) <= MOST_BETWEEN:
        return
    between = Counter(
        frozenset(f.body for f in system.resolved.written.elements[name].frames())
        for name in system.resolved.rows
    )
    for bodies, count in between.most_common(1):
        if count > MOST_BETWEEN:
            raise UnsupportedError(
                f"{count} joints connect {listed(sorted(bodies))} in '{system.model.name}', and {MOST_BETWEEN} between "
                "the same bodies are the most. Remove joints that repeat each other; doctor(model) names them."
            )


class Slots(Protocol):
    """Where the entries (i, j) of a matrix are."""

    def slots(self, i: Ints, j: Ints) -> Ints: ...


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
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    coupled = np.array([j for group in groups for j in group], dtype=np.int64)
    return Couplings(starts(sizes), coupled, starts(sizes**2), analysis.slots(*_squares(sizes, coupled)))


def _squares(sizes: Ints, coupled: Ints) -> tuple[Ints, Ints]:
    """All pairs in each group of unknowns, row by row."""
    size = np.repeat(sizes, sizes)  # of the group of each unknown
    first = np.repeat(starts(sizes)[:-1], sizes)
    within = np.arange(size.sum()) - np.repeat(starts(size)[:-1], size)
    return np.repeat(coupled, size), coupled[np.repeat(first, size) + within]


class TermEntries(NamedTuple):
    """Second derivatives of term k by coordinates r <= s of its two bodies, and the unknowns i, j that these are."""

    k: Ints
    r: Ints
    s: Ints
    i: Ints
    j: Ints


def _term_entries(kind: Ints, body_a: Ints, body_b: Ints, nb: int) -> TermEntries:
    """Angles have none, displacements along x and y those by the angle of a body."""
    r, s = np.triu_indices(6)
    straight = ((kind == X) | (kind == Y))[:, None]
    k, pair = np.nonzero(np.where(straight, (r == s) & (r % 3 == 2), (kind != ANGLE)[:, None]))
    r, s, bodies = r[pair], s[pair], np.column_stack([body_a, body_b])
    of_r, of_s = bodies[k, r // 3], bodies[k, s // 3]
    moves = (of_r < nb) & (of_s < nb)
    return TermEntries(*(part[moves] for part in (k, r, s, 3 * of_r + r % 3, 3 * of_s + s % 3)))


def term_blocks(S: SystemArrays, analysis: Slots) -> ShortInts:
    """Slots of the second derivatives of each term, 6 x 6; -1 if there are none."""
    entries = _term_entries(S.term_kind, S.frame_body[S.term_a], S.frame_body[S.term_b], S.mass.size)
    return _blocks(S.term_kind.size, entries, analysis)


def _blocks(terms: int, entries: TermEntries, analysis: Slots) -> ShortInts:
    blocks = no_blocks(terms)
    blocks[entries.k, entries.r, entries.s] = analysis.slots(entries.i, entries.j)
    return blocks


def bends_in(blocks: ShortInts) -> ShortInts:
    """The slots of the second derivatives by the angle of each body."""
    return np.ascontiguousarray(blocks[:, [2, 5], [2, 5]])


def no_blocks(terms: int) -> ShortInts:
    return np.full((terms, 6, 6), -1, dtype=np.int32)


# Order and size ----------------------------------------------------------------------------------------


@once_per_geometry
def drawn_slopes(system: System) -> Floats:
    """The non-zeros of Phi_q in the initial pose; each row has three for each of its bodies."""
    return constant(system.Phi_q_data(system.drawn_q))


class _Entries(NamedTuple):
    """Those that are not zero in this pose."""

    row: Ints
    column: Ints
    value: Floats


@once_per_geometry
def _entries(system: System) -> _Entries:
    value, kept = drawn_slopes(system), drawn_slopes(system) != 0.0
    return _Entries(_rows(system)[kept], system.arrays.jac_column[kept], value[kept])


def _rows(system: System) -> Ints:
    """The row of each non-zero."""
    return rows_of_slopes(system.arrays.jac_start)


def _apparent_masses(system: System, entries: _Entries) -> Floats:
    """The masses, and for a missing one the effective inertia of the coordinate through the rows that contain it.

    Row i contributes Phi_ij^2 / sum_k Phi_ik^2 / m_k of the other coordinates k whose inertia is known.
    """
    masses, (row, column, value) = system.masses.copy(), entries
    for _ in range(len(system.bodies)) if not masses.all() else ():
        known = masses[column] > 0.0
        share = np.bincount(row[known], value[known] ** 2 / masses[column[known]], minlength=system.m)
        felt = ~known & (share[row] > 0.0)
        if not felt.any():
            break
        masses += np.bincount(column[felt], value[felt] ** 2 / share[row[felt]], minlength=system.n)
    if masses.all():
        return masses
    own = np.repeat(masses[0::3], 3)
    own[own == 0.0] = float(masses[0::3].max(initial=0.0)) or 1.0
    own[2::3] *= system.arms**2
    return np.where(masses > 0.0, masses, own)


def _shares(entries: _Entries, masses: Floats, m: int) -> Floats:
    """Diagonal of Phi_q M^-1 Phi_q^T in the initial pose; empty rows get the value of the others.

    Along the last axis, for the masses of one System or of many.
    """
    samples = np.atleast_2d(masses)
    shares = np.zeros((len(samples), m))
    add_shares(*entries, samples, shares)
    return shares.reshape(*masses.shape[:-1], m)


@kernel(entry=True)
def add_shares(row, column, value, masses, shares):
    """sum_j Phi_ij^2 / m_j, of each sample of masses."""
    for k in range(shares.shape[0]):
        largest = 0.0
        for p in range(row.size):
            shares[k, row[p]] += value[p] * value[p] / masses[k, column[p]]
        for i in range(shares.shape[1]):
            largest = max(largest, shares[k, i])
        for i in range(shares.shape[1]):
            if not shares[k, i] > 0.0:
                shares[k, i] = largest if largest > 0.0 else 1.0


def shares_with(system: System, masses: Floats) -> Floats:
    """The shares of rows, for the masses of Systems that are alike but for these; none of them is zero."""
    return _shares(_entries(system), masses, system.m)


def _shares_of_masses(system: System, entries: _Entries, delta: Floats) -> Floats:
    """The same with bodies that have mass only, if there are any in a row."""
    if not delta.any():
        return _shares(entries, system.masses, system.m)
    heavy = np.bincount(entries.row, system.masses[entries.column] > 0.0, minlength=system.m) > 0.0
    infinite = np.where(system.masses > 0.0, system.masses, np.inf)
    among, alone = (_shares(entries, mass, system.m) for mass in (infinite, system.masses + delta))
    return np.where(heavy, among, alone)


@once_per_system
def unequal(system: System) -> bool:
    """Whether masses or lengths differ so much, or are missing, that rounding is worth a refinement."""
    return bool(np.any(system.masses == 0.0)) or bool(uneven_with(system, system.masses))


def uneven_with(system: System, masses: Floats) -> Any:
    """Whether a row involves bodies, or rotation and translation of a body, of very different inertia.

    Along the last axis, for the masses of one System or of many that are alike but for these.
    """
    largest, smallest = _extremes(system, masses)
    return np.any(largest > UNEVEN * smallest, axis=-1)


def unevenness(system: System) -> float:
    """How many times more inertia than another a body has in a row; `uneven_with` asks whether it is UNEVEN."""
    largest, smallest = _extremes(system, system.masses)
    return float((largest / smallest).max(initial=0.0))


def _extremes(system: System, masses: Floats) -> tuple[Floats, Floats]:
    """The largest and the smallest mobility of the bodies in each row."""
    value = drawn_slopes(system)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = value**2 / masses[..., system.arrays.jac_column]
    share = np.where(value != 0.0, share, 0.0).reshape(*masses.shape[:-1], -1, 3)
    moving, turning = share[..., 0] + share[..., 1], share[..., 2]
    most, least = np.maximum(moving, turning), np.where(moving > 0.0, moving, turning)
    # largest and smallest of the bodies that a row contains
    row, shape = _rows(system)[::3], (*masses.shape[:-1], system.m)
    largest, smallest = np.zeros(shape), np.full(shape, np.inf)
    np.maximum.at(largest.T, row, most.T)
    np.minimum.at(smallest.T, row, np.where(most > 0.0, least, np.inf).T)
    return largest, smallest


@once_per_geometry
def lengths_per_row(system: System) -> Floats:
    """A length of the mechanism over the error of each row that moves the smallest of its bodies by its own size."""
    sizes = _largest_slopes(system) * system.sizes[system.arrays.jac_column]
    moves, least = sizes.reshape(-1, 3).max(axis=1), np.full(system.m, np.inf)
    np.minimum.at(least, _rows(system)[::3], np.where(moves > 0.0, moves, np.inf))
    return np.where(least < np.inf, system.length / least, 1.0)


def _largest_slopes(system: System) -> Floats:
    """Those of the initial pose, and of others where that one is flat: sin(angle) says nothing at 90 degrees.

    A mechanism may be drawn open there, and works elsewhere.
    """
    slopes = np.abs(drawn_slopes(system))
    turns = np.zeros((len(system.bodies), 3))
    for angle in (1.0, 2.0):
        turns[:, 2] = angle * np.arange(1, len(turns) + 1)
        turned = system.Phi_q_data(system.drawn_q + turns.reshape(-1))
        slopes = np.fmax(slopes, np.abs(turned))
    return slopes
