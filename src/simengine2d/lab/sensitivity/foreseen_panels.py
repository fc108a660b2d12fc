"""The first panels of a motion: how long they may be for polynomials to resolve accelerations, by outputs of a run."""

from __future__ import annotations

import math

import numpy as np

from ...numerics.arrays import Floats
from ...results.results import Results
from .panels import FEWEST, MOST_PIECES, RESOLVED, RESOLVED_SPLINES, STAGES

FAR = 6.0
"""Usual panels, from the first to the last of outputs that say how long panels may be."""
FORESEEN = 0.02
"""Of what is resolved: so much less is aimed at."""
ONE_SIDED = 1.5
"""Times as many panels, where outputs are on one side only."""
LONGEST, SAMPLES = 2.0, 8
"""Of the usual length; and places on it at which their length is found."""
LEADING = math.comb(2 * STAGES - 2, STAGES - 1)
"""Highest coefficient of P_11(2 x - 1)."""


def foreseen_ends(
    known: Results, begin: float, end: float, usual: float, cuts: Floats, *, splines: bool
) -> Floats:
    """Ends of panels on which accelerations will be resolved, by those at the outputs of a run.

    Divided differences of as many outputs as there are nodes are the highest coefficients of polynomials through them.
    Where they say nothing, since outputs are far apart or accelerations jump between them, panels have the usual
    length.
    """
    resolved = FORESEEN * (RESOLVED_SPLINES if splines else RESOLVED)
    count = SAMPLES * math.ceil((end - begin) / usual)
    places = begin + (np.arange(count) + 0.5) / count * (end - begin)
    needed = _needed(known, places, usual, cuts, resolved)
    per_time = np.clip(needed, 1.0 / (LONGEST * usual), MOST_PIECES / usual)
    panels = np.concatenate([[0.0], np.cumsum(per_time)]) * (end - begin) / count
    number = max(FEWEST, math.ceil(panels[-1]))
    return np.interp(np.linspace(0.0, panels[-1], number + 1), panels, np.linspace(begin, end, count + 1))


def _needed(known: Results, places: Floats, usual: float, cuts: Floats, resolved: float) -> Floats:
    """How many panels in a unit of time, at some places."""
    t, differences, width = known.t, known.qdd / known.system.sizes, STAGES - 1
    if t.size < STAGES:
        return np.full(places.size, 1.0 / usual)
    first, last = t[:-width], t[width:]
    largest = max(np.abs(differences).max(), np.finfo(float).tiny)
    with np.errstate(all="ignore"):  # two outputs may be at one time
        for k in range(1, STAGES):
            differences = np.diff(differences, axis=0) / (t[k:] - t[:-k])[:, None]
    # P_11(2 x - 1) of a panel begins with LEADING x^11
    per_time = (np.abs(differences).max(axis=1) / (LEADING * resolved * largest)) ** (1.0 / width)
    across = np.searchsorted(cuts, last) > np.searchsorted(cuts, first)
    per_time[across | (last - first > FAR * usual) | ~np.isfinite(per_time)] = 1.0 / usual
    # the most of those around a place
    middles, around = 0.5 * (first + last), 0.5 * usual
    low = np.minimum(np.searchsorted(middles, places - around), middles.size - 1)
    high = np.maximum(np.searchsorted(middles, places + around), low + 1)
    found = np.maximum.reduceat(np.append(per_time, 0.0), np.column_stack([low, high]).ravel())[::2]
    outside = (places < middles[0]) | (places > middles[-1])
    return np.where(outside, np.maximum(ONE_SIDED * found, 1.0 / usual), found)
