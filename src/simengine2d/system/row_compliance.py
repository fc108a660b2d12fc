"""Compliance of constraint rows: a little for redundant ones, as much as requested for those of a penalty.

A unit force along a row accelerates it by its entry on the diagonal of S = Phi M^-1 Phi^T, one over its effective mass.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Floats

EPS = 1e-7  # relative to the diagonal of S: larger than its rounding errors and the effect of replaced masses
EVEN = 1e4  # ratio of the largest to the smallest up to which one eps serves all rows: the smallest multipliers result
USUAL = 30.0  # how many times less a row yields while the others hold, among bodies of similar mass
LEAST = 1e-12  # smallest fraction of its own compliance that is left to a row


def compliance_of_redundant_rows(felt: Floats) -> Floats:
    """Compliance that makes redundant rows legal: small relative to the diagonal of S, large relative to its rounding.

    Refinement removes its effect. With one value for all rows, redundant ones share their load evenly.
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
    """Rows with a zero value, or rounding alone, take the largest value; if all do, 1."""
    largest = float(values.max(initial=0.0))
    return np.where(values > 1e-30 * largest, values, largest) if largest > 0.0 else np.ones(values.size)
