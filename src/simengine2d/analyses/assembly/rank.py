"""Which rows of Phi_q depend on which, and which motions they leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOLERANCE = 1e-8  # a row whose new part is smaller than this, relative to itself, is dependent


class Rank(NamedTuple):
    """`independent` rows in order; each dependent row with the earlier rows that make it up."""

    independent: list[int]
    dependent: dict[int, list[int]]

    @property
    def rank(self) -> int:
        return len(self.independent)


def rank_of_rows(J: Floats, order: list[int] | None = None) -> Rank:
    """Gram-Schmidt over the rows in the given order, so that later rows (drivers) are found dependent first."""
    m, n = J.shape
    basis = np.zeros((min(m, n), n))
    independent: list[int] = []
    dependent: dict[int, list[int]] = {}
    for i in order if order is not None else range(m):
        row = J[i]
        size = np.linalg.norm(row)
        rest = row.copy()
        for _ in range(2):  # twice is enough
            rest -= (basis[: len(independent)] @ rest) @ basis[: len(independent)]
        if size > 0.0 and len(independent) < n and np.linalg.norm(rest) > TOLERANCE * size:
            basis[len(independent)] = rest / np.linalg.norm(rest)
            independent.append(i)
        else:
            dependent[i] = _partners(J, independent, row)
    return Rank(independent, dependent)


def _partners(J: Floats, independent: list[int], row: Floats) -> list[int]:
    """The independent rows that are needed to write `row`."""
    if not independent:
        return []
    weights = np.linalg.lstsq(J[independent].T, row, rcond=None)[0]
    sizes = np.abs(weights) * np.linalg.norm(J[independent], axis=1)
    return [k for k, size in zip(independent, sizes, strict=True) if size > 1e-6 * np.linalg.norm(row)]


def free_motions(J: Floats, rank: int) -> Floats:
    """Basis of the motions with J qd = 0, one column each, made sparse: each moves one coordinate the others do not."""
    n = J.shape[1]
    if rank >= n:
        return np.zeros((n, 0))
    null = np.linalg.svd(J, full_matrices=True)[2][rank:].T if J.shape[0] else np.eye(n)
    chosen: list[int] = []
    rest = null.copy()
    for _ in range(null.shape[1]):  # pivoted elimination of the columns
        sizes = np.linalg.norm(rest, axis=1)
        pivot = int(np.argmax(np.round(sizes / sizes.max(), 6)))
        chosen.append(pivot)
        direction = rest[pivot] / sizes[pivot]
        rest -= np.outer(rest @ direction, direction)
    basis = null @ np.linalg.inv(null[chosen])
    basis[np.abs(basis) < 1e-9] = 0.0
    return basis
