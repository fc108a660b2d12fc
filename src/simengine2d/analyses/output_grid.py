"""Default output times: as dense as the steps of the integrator.

The times are multiples of a hundredth of the whole interval and, where steps are short, of a half, a quarter ... of
that. They are chosen again every few steps, from the next step on; the steps of explicit methods do not depend on them.
Where a force or an acceleration may be larger between two outputs than ever before, these steps are repeated with more
outputs there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS_AHEAD = 64  # attempted steps after which the times are chosen again
MOST_HALVINGS = 40
OVERSHOOT = 0.2  # of the second difference at a maximum: by how much a neighboring value may exceed it
NOTICED = 1.005  # of the largest value so far: a peak that is worth refining
FINER = 8
MOST_NUMBERS = 1e7  # in all rows; after that outputs are `spacing` apart


class OutputGrid:
    """Multiples of `spacing`, `end` itself, and finer ones between them."""

    def __init__(self, spacing: float, end: float) -> None:
        self.spacing, self.end = spacing, end
        # attempted steps at that time, the time, and the spacing wanted
        self.laid = np.array([0.0, 0.0, spacing])

    def is_due(self, tried: int) -> bool:
        return tried >= self.laid[0]

    def steps_left(self, tried: int) -> int:
        """Steps until the times are chosen again; the first step shows how long steps are."""
        return max(1, int(self.laid[0]) - tried)

    def lay(self, tried: int, t: float, spacing: float) -> None:
        """Choose the outputs after t, at first `spacing` apart; 0 if that is not known."""
        self.laid[:] = tried + STEPS_AHEAD, t, spacing or self.spacing

    def times(self, after: float) -> Floats:
        """The outputs after `after`: the further away, the longer steps may have become until then."""
        _, t, finest = self.laid
        halvings = int(np.clip(np.ceil(np.log2(self.spacing / finest)), 0, MOST_HALVINGS))
        parts, low = [], after
        for k in range(halvings, 0, -1):
            spacing = self.spacing * 0.5**k
            high = min(t + 2.0 * STEPS_AHEAD * spacing, self.end)
            if high > low:
                parts.append(multiples(spacing, low, high))
                low = high
        parts.append(multiples(self.spacing, low, self.end))
        grid = np.concatenate(parts)
        grid = grid[grid < self.end * (1.0 - 1e-12)]
        return np.append(grid, self.end)


def multiples(spacing: float, low: float, high: float) -> Floats:
    """The multiples in (low, high]."""
    candidates: Floats = np.arange(np.floor(low / spacing), np.floor(high / spacing) + 1.0) * spacing
    return candidates[(candidates > low) & (candidates <= high)]


def beside_peaks(t: Floats, sizes: Floats, largest: Floats) -> Floats:
    """Times between those of t at which a column of `sizes` may exceed its largest value so far."""
    if t.size < 3:
        return t[:0]
    slopes = np.diff(sizes, axis=0)
    bends = np.abs(np.diff(slopes, axis=0))
    bends = np.vstack([bends, bends[-1:]])  # what follows the last value is not known
    turns = (slopes >= 0.0) & np.vstack([slopes[1:] <= 0.0, np.ones_like(slopes[:1], dtype=bool)])
    record = np.maximum(largest, sizes.max(axis=0))
    higher = sizes[1:] + OVERSHOOT * bends > NOTICED * record
    at = 1 + np.flatnonzero((turns & higher).any(axis=1))
    intervals = np.unique(np.concatenate([at - 1, at[at < t.size - 1]]))
    parts = np.arange(1, FINER) / FINER
    return np.asarray(t[intervals, None] + np.diff(t)[intervals, None] * parts).reshape(-1)
