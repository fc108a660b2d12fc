"""What each row of the constraints is measured by: the mass that it feels, and the length that its error means.

Rows are lengths, angles and squares of lengths, of bodies heavy and light. One tolerance and one compliance suit them
all only in units of their own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..numerics.rank import implied_rows
from ..system.elimination import lengths_per_row
from ..system.row_compliance import compliance_of_redundant_rows, filled, given
from ..system.system import System

if TYPE_CHECKING:
    from .base import Family
    from .equations import Configuration


MOST_ROWS = 900  # for dense matrices
COUPLED = 1e-3  # how much lighter than its own mass a coordinate may feel, because others give way with it


def given_by_bodies(system: System, t: float, q: Floats) -> Floats:
    """`given` for the rows of a system."""
    if system.m > MOST_ROWS:
        return felt_by_bodies(system, t, q)
    masses, J = np.where(system.masses > 0.0, system.masses, np.inf), system.Phi_q(t, q)
    return given(J / np.sqrt(masses), implied_rows(J * system.sizes).size)


def felt_by_bodies(system: System, t: float, q: Floats) -> Floats:
    """The diagonal of Phi_q M^-1 Phi_q^T."""
    masses = np.where(system.masses > 0.0, system.masses, np.inf)
    shares = system.Phi_q_data(q, t) ** 2 / masses[system.arrays.jac_column]
    return filled(np.array([shares[a:b].sum() for a, b in _spans(system)]))


def felt_by_own_rows(family: Family, t: float, z: Floats) -> Floats:
    """The same for the rows that a family adds, by the diagonal of M alone: squares of lengths, and lengths."""
    e, own = family.at(t, z), len(family.own_rows)
    masses = np.diag(e.M)
    return np.asarray((e.J[:own] ** 2 / np.where(masses > 0.0, masses, np.inf)).sum(axis=1))


def given_in(family: Family, t: float, z: Floats) -> Floats:
    """`given` for the rows in the coordinates of a family."""
    return given(answers(family, t, z), implied(family, t, z).size)


def answers(family: Family, t: float, z: Floats) -> Floats:
    """A root Y of Phi_z M^-1 Phi_z^T = Y Y^T: what forces on the rows make of their rates.

    Coordinates without a mass are left out.
    """
    e = family.at(t, z)
    heavy = np.diag(e.M) > 0.0
    unit = 1.0 / np.sqrt(np.diag(e.M)[heavy])
    M, J = e.M[np.ix_(heavy, heavy)] * np.outer(unit, unit), e.J[:, heavy] * unit
    root = np.linalg.cholesky(M + COUPLED * np.eye(len(M)))
    return np.asarray(np.linalg.solve(root, J.T).T)


def felt(family: Family, t: float, z: Floats) -> Floats:
    """The diagonal of Phi_z M^-1 Phi_z^T."""
    return filled((answers(family, t, z) ** 2).sum(axis=1))


def softened(compliance: Floats, felt: Floats) -> tuple[Floats, bool]:
    """Compliance, or that of redundant rows where there is none, and whether the latter has to be refined away.

    `felt` is zero where no row may be redundant.
    """
    soft = np.where(compliance > 0.0, compliance, compliance_of_redundant_rows(felt))
    return soft, bool(np.any(soft > compliance))


def implied(family: Family, t: float, z: Floats) -> Ints:
    """Rows that others imply in a pose."""
    return implied_rows(family.at(t, z).J * family.sizes)


def lengths_in(family: Family, at: Configuration) -> Floats:
    """What an error of each row of a family is as a length of the mechanism."""
    remaining = lengths_per_row(family.system)[family.remaining_rows]
    if not family.own_rows:
        return remaining
    slopes = np.abs(family.at(at.t, at.z).J[: len(family.own_rows)]) * family.sizes
    return np.concatenate([family.system.length / slopes.max(axis=1), remaining])


def _spans(system: System) -> list[tuple[int, int]]:
    start = system.arrays.jac_start.tolist()
    return list(pairwise(start))
