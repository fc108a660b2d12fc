"""How much rows of the constraints give way: redundant ones a little, those of a penalty as much as is asked for.

A row feels the masses by its entry on the diagonal of S = Phi M^-1 Phi^T: a unit force along it accelerates it so much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EPS = 1e-7  # against the diagonal of S: larger than the rounding in it, and what masses in place of none bring into it
EVEN = 1e4  # ratio of the largest to the smallest up to which one eps serves all rows: the smallest multipliers result
USUAL = 30.0  # how many times less a row gives way where the others hold, among bodies of like mass
LEAST = 1e-12  # share of what a row gives way that is left to it at least


def compliance_of_redundant_rows(felt: Floats) -> Floats:
    """Compliance that makes redundant rows legal: small against the diagonal of S, but large against its rounding.

    Refinement takes it away again. With one value for all rows, redundant ones share their load evenly.
    """
    if not np.any(felt):
        return np.zeros_like(felt)
    low, high = felt.min(), felt.max()
    return EPS * (np.full_like(felt, np.sqrt(low) * np.sqrt(high)) if high <= EVEN * low else felt)


def given(Y: Floats, implied: int) -> Floats:
    """What S = Phi_z M^-1 Phi_z^T = Y Y^T leaves to each row where the others hold, 1 / (S^-1)_ii, if unusually little.

    It is so where a light body carries a heavy one: its rows feel the heavy one. Rows that depend on each other count
    as one; `implied` says how many others imply.
    """
    felt = filled((Y**2).sum(axis=1))
    U, sizes, _ = np.linalg.svd(Y / np.sqrt(felt)[:, None], full_matrices=False)
    rank = max(1, min(len(Y) - implied, sizes.size))
    inverse = (U[:, :rank] ** 2 / np.maximum(sizes[:rank], 1e-12) ** 2).sum(axis=1)
    return felt * np.clip(USUAL / np.maximum(inverse, 1e-300), LEAST, 1.0)


def filled(values: Floats) -> Floats:
    """Rows that feel nothing, or rounding alone, take the largest value; where all do, 1."""
    largest = float(values.max(initial=0.0))
    return np.where(values > 1e-30 * largest, values, largest) if largest > 0.0 else np.ones(values.size)
