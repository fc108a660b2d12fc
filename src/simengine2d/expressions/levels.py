"""Levels that a switch may cross; with a period they repeat."""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from ..numerics.kernel import kernel


@kernel
def levels_around(levels, first, stop, period, u):
    """The levels from `first` up to `stop` next below and above a value, excluding a level at the value itself."""
    below, above = -inf, inf
    if not isfinite(u):
        return below, above
    turn = np.floor((u - levels[first]) / period) if period > 0.0 else 0.0
    for k in range(-1, 2):
        if period > 0.0 or k == 0:
            for j in range(first, stop):
                level = levels[j] + period * (turn + k)
                if level < u:
                    below = max(below, level)
                if level > u:
                    above = min(above, level)
    return below, above


@kernel
def is_at_level(levels, first, stop, period, u):
    """Whether a value is one of these levels."""
    for j in range(first, stop):
        if period > 0.0:
            if (u - levels[j]) % period == 0.0:
                return True
        elif u == levels[j]:
            return True
    return False
