"""Peaks and means of quantities that are known at some times only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats

OVERSHOOT = 0.2  # of the smaller fall on both sides: by how much a peak may be exceeded between two outputs
SEEN = 0.02  # of the peak: what may be missed


class Peak(NamedTuple):
    """The largest value; `seen` is False where it may be exceeded by more than a little between two outputs."""

    t: float
    value: float
    seen: bool

    @property
    def text(self) -> str:
        """Four digits; `> 140` where the outputs lie too far apart."""
        return f"{'' if self.seen else '> '}{self.value:.4g}"


def peak_of(t: Floats, values: Floats) -> Peak:
    """The largest of some values that are never negative; a peak between two outputs by the parabola through three."""
    if not values.size:
        return Peak(0.0, 0.0, True)
    k = int(np.argmax(values))
    more = _overshoots(values) if values.size > 2 else np.zeros(values.size)
    seen = bool(np.max(values + more) <= (1.0 + SEEN) * values[k])
    if not seen or not 0 < k < values.size - 1:
        return Peak(float(t[k]), float(values[k]), seen)
    at, height = _vertex(t[k - 1 : k + 2], values[k - 1 : k + 2])
    return Peak(at, min(height, float(values[k] + more[k])), True)


def _overshoots(values: Floats) -> Floats:
    """By how much the function may exceed each local maximum of its values, beside it.

    That goes with the fall on both sides: where it is flat on one, as after a jump, nothing is exceeded. Two values
    that are equal may lie on both sides of a peak. Beyond the ends, parabolas go on.
    """
    v = values
    for _ in range(2):
        v = np.concatenate([[3 * v[0] - 3 * v[1] + v[2]], v, [3 * v[-1] - 3 * v[-2] + v[-3]]])
    rises = np.diff(v)
    left = np.maximum(rises[1:-2], rises[:-3])
    right = -np.minimum(rises[2:-1], rises[3:])
    highest = (rises[1:-2] >= 0.0) & (rises[2:-1] <= 0.0)
    return np.where(highest, OVERSHOOT * np.maximum(np.minimum(left, right), 0.0), 0.0)


def _vertex(t: Floats, v: Floats) -> tuple[float, float]:
    """Time and height of the parabola through three points of which the middle one is the highest.

    v1 + b s + a s^2 with s = t - t1
    """
    (p, _, q), (u, _, w) = t - t[1], v - v[1]
    a = (w / q - u / p) / (q - p)
    b = u / p - a * p
    if not a < 0.0:
        return float(t[1]), float(v[1])
    s = float(np.clip(-b / (2.0 * a), p, q))
    return float(t[1]) + s, float(v[1] + b * s + a * s * s)


def rms(t: Floats, values: Floats) -> float:
    """Root mean square over time; outputs need not be equally spaced."""
    return float(np.sqrt(values**2 @ shares_of_time(t, values.size)))


def shares_of_time(t: Floats, count: int) -> Floats:
    """The weights of a mean over time, by the trapezoidal rule: outputs are closer to each other where steps are short.

    Values that are not at increasing times count alike.
    """
    if t.size != count or count < 2 or not np.all(np.diff(t) > 0.0):
        return np.full(count, 1.0 / max(1, count))
    spacing = np.diff(t) / (2.0 * (t[-1] - t[0]))
    return np.append(spacing, 0.0) + np.append(0.0, spacing)
