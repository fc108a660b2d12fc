"""Results at other times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..numerics.arrays import Floats
from ..results.results import Results


def resampled(results: Results, times: Floats) -> Results:
    """The results at other times: poses as cubics, accelerations and multipliers as straight lines between outputs."""
    if results.t.size < 2 or np.array_equal(times, results.t):
        return results
    from scipy.interpolate import CubicHermiteSpline, interp1d

    new = np.diff(results.t, prepend=-np.inf) > 0.0  # a repeated time counts once
    t, within = results.t[new], np.clip(times, results.t[0], results.t[-1])
    motion = CubicHermiteSpline(t, results.q[new], results.qd[new])
    straight = lambda values: interp1d(t, values[new], axis=0)(within)
    lam = None if results.lam is None else straight(results.lam)
    return replace(
        results, t=times, q=motion(within), qd=motion(within, 1), qdd=straight(results.qdd), lam=lam
    )


def nearest_row(results: Results, t: float) -> int:
    """The output nearest to a time."""
    return int(np.abs(results.t - t).argmin())
