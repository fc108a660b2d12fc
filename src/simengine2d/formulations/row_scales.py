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

COUPLED = 1e-3  # how much lighter than its own mass a coordinate may feel, because others give way with it


def felt_by_bodies(system: System, t: float, q: Floats) -> Floats:
    """The diagonal of Phi_q M^-1 Phi_q^T: what an impulse of 1 on each row of a system makes of its rate."""
    masses = np.where(system.masses > 0.0, system.masses, np.inf)
    shares = system.Phi_q_data(q, t) ** 2 / masses[system.arrays.jac_column]
    return filled(_sums(system, shares))


def felt(family: Family, t: float, z: Floats) -> Floats:
    """The diagonal of Phi_z M^-1 Phi_z^T; coordinates without a mass are left out."""
    e = family.at(t, z)
    heavy = np.diag(e.M) > 0.0
    unit = 1.0 / np.sqrt(np.diag(e.M)[heavy])
    M, J = e.M[np.ix_(heavy, heavy)] * np.outer(unit, unit), e.J[:, heavy] * unit
    answer = np.linalg.solve(M + COUPLED * np.eye(len(M)), J.T)
    return filled((J * answer.T).sum(axis=1))


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


def _sums(system: System, values: Floats) -> Floats:
    return np.array([values[a:b].sum() for a, b in _spans(system)])


def _spans(system: System) -> list[tuple[int, int]]:
    start = system.arrays.jac_start.tolist()
    return list(pairwise(start))
