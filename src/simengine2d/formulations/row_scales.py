"""What each row of the constraints is measured by: the mass that it feels, and the length that its error means.

Rows are lengths, angles and squares of lengths, of bodies heavy and light. One tolerance and one compliance suit them
all only in units of their own.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..coordinates.family import Family
from ..system import System

Floats = NDArray[np.float64]

MOST_ROWS = 900  # for dense matrices
USUAL = 30.0  # how many times less a row gives way where the others hold, among bodies of like mass
LEAST = 1e-4  # share of what a row gives way that is left to it at least
COUPLED = 1e-3  # how much lighter than its own mass a coordinate may feel, because others give way with it


def given_by_bodies(system: System, t: float, q: Floats) -> Floats:
    """`given` for the rows of a system."""
    masses = np.where(system.masses > 0.0, system.masses, np.inf)
    if system.m <= MOST_ROWS:
        J = system.Phi_q(t, q)
        return given(J / masses @ J.T)
    shares = system.Phi_q_data(q, t) ** 2 / masses[system.arrays.jac_column]
    return filled(np.array([shares[a:b].sum() for a, b in _spans(system)]))


def answers(family: Family, t: float, z: Floats) -> Floats:
    """Phi_z M^-1 Phi_z^T: what forces on the rows make of their rates; coordinates without a mass are left out."""
    e = family.at(t, z)
    heavy = np.diag(e.M) > 0.0
    unit = 1.0 / np.sqrt(np.diag(e.M)[heavy])
    M, J = e.M[np.ix_(heavy, heavy)] * np.outer(unit, unit), e.J[:, heavy] * unit
    found: Floats = J @ np.linalg.solve(M + COUPLED * np.eye(len(M)), J.T)
    return found


def felt(family: Family, t: float, z: Floats) -> Floats:
    """The diagonal of Phi_z M^-1 Phi_z^T."""
    return filled(np.diag(answers(family, t, z)))


def given(S: Floats) -> Floats:
    """What S = Phi_z M^-1 Phi_z^T leaves to each row where the others hold, 1 / (S^-1)_ii, if that is unusually little.

    It is so where a light body carries a heavy one: its rows feel the heavy one. Of rows that depend on each other
    nothing would be left; they keep a share.
    """
    felt = filled(np.diag(S))
    unit = 1.0 / np.sqrt(felt)
    inverse = np.linalg.inv(S * np.outer(unit, unit) + 0.1 * LEAST * np.eye(len(S)))
    return felt * np.clip(USUAL / np.diag(inverse), LEAST, 1.0)


def filled(values: Floats) -> Floats:
    """Rows that feel nothing, or rounding alone, take the largest value; where all do, 1."""
    largest = float(values.max(initial=0.0))
    return np.where(values > 1e-30 * largest, values, largest) if largest > 0.0 else np.ones(values.size)


def units(family: Family, t: float, z: Floats) -> Floats:
    """How much each row changes at most where one coordinate moves by its size, over a length of the mechanism."""
    system, own = family.system, len(family.own_rows)
    q = family.bodies(t, z, np.zeros(family.n), np.zeros(family.n)).q
    slopes = np.abs(system.Phi_q_data(q, t)) * system.sizes[system.arrays.jac_column]
    kept = np.array([slopes[a:b].max(initial=0.0) for a, b in _spans(system)])[
        np.array(family.kept, dtype=int)
    ]
    if own:
        first = (np.abs(family.at(t, z).J[:own]) * family.sizes).max(axis=1)
        kept = np.concatenate([first, kept])
    found = kept / system.length
    return np.where(found > 0.0, found, 1.0)


def _spans(system: System) -> list[tuple[int, int]]:
    start = system.arrays.jac_start.tolist()
    return list(pairwise(start))
