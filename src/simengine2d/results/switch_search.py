"""The search of a motion for the first switch that leaves the levels between which it was at the start.

A glance shows whether all switches stay far from their levels. Otherwise they are sampled; between three neighboring
samples a switch is followed by a parabola, whose turning point is tried.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from ..expressions.levels import is_at_level, levels_around
from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer

GLANCE = np.array([0.0, 0.21, 0.47, 0.79, 1.0])  # of a step: a first look
SAMPLES = 12  # of a step
NEARLY = 0.5  # how much farther than the parabola a switch may turn, against how far the parabola bends
MOST_HALVINGS = 100


class SwitchSearch(NamedTuple):
    """Context of `first_switch`."""

    look_f: Any  # t to (q, qd)
    look_c: Any
    values_f: Any  # (q, qd) to the value of every switch
    values_c: Any
    level_start: Ints  # of each switch
    levels: Floats
    period: Floats  # 0 where levels do not repeat
    glance: Floats
    times: Floats  # (SAMPLES + 1,)
    samples: Floats  # (SAMPLES + 1, switches)
    values: Floats  # (switches,)
    y: Floats  # (q, qd)


def searching(
    look: BoundKernel, values: BoundKernel, levels: list[tuple[float, ...]], periods: list[float], n: int
) -> BoundKernel:
    """`first_switch` on the motion that `look` shows of a system with n coordinates."""
    start = np.cumsum([0, *map(len, levels)]).astype(np.int64)
    samples = np.zeros((SAMPLES + 1, len(levels)))
    flat = np.array([level for each in levels for level in each])
    context = SwitchSearch(
        look.f, look.c, values.f, values.c, start, flat, np.array(periods, dtype=float), GLANCE,
        np.zeros(SAMPLES + 1), samples, samples[0].copy(), np.zeros(2 * n),
    )  # fmt: skip
    bound = first_switch.bind(context)
    return bound._replace(kept=(*bound.kept, look, values))  # the only reference that keeps them alive


@kernel_pointer
def first_switch(c, t0, ends, out):
    """The first time between t0 and ends[0] at which a switch leaves its levels; infinite if none does."""
    t1, earliest = ends[0], inf
    out[0] = inf
    for k in range(c.glance.size):
        sample(c, t0 + c.glance[k] * (t1 - t0), k)
    if far_from_levels(c):
        return
    step = (t1 - t0) / SAMPLES
    for k in range(SAMPLES + 1):
        c.times[k] = t0 + k * step if k < SAMPLES else t1
        sample(c, c.times[k], k)
    for i in range(c.samples.shape[1]):
        if not all_finite(c, i, SAMPLES + 1):
            continue
        below, above = around(c, i, c.samples[0, i])
        if isfinite(below):
            earliest = min(earliest, left_at(c, i, below, 1.0, earliest))
        if isfinite(above):
            earliest = min(earliest, left_at(c, i, above, -1.0, earliest))
    out[0] = earliest


@kernel
def sample(c, t, k):
    """The values of all switches at a time, into a row of the samples."""
    invoke(c.look_f, c.look_c, t, c.y, c.y)
    invoke(c.values_f, c.values_c, t, c.y, c.samples[k])


@kernel
def all_finite(c, i, count):
    for k in range(count):  # noqa: SIM110
        if not isfinite(c.samples[k, i]):
            return False
    return True


# Levels -----------------------------------------------------------------------------------------------


@kernel
def around(c, i, u):
    """The levels of switch i below and above a value."""
    return levels_around(c.levels, c.level_start[i], c.level_start[i + 1], c.period[i], u)


@kernel
def far_from_levels(c):
    """Whether all switches stay away from their levels by more than twice what they vary at a glance."""
    for i in range(c.samples.shape[1]):
        if not all_finite(c, i, c.glance.size):
            return False
        low = high = c.samples[0, i]
        for k in range(1, c.glance.size):
            low, high = min(low, c.samples[k, i]), max(high, c.samples[k, i])
        reach = 2.0 * (high - low)
        below, above = around(c, i, c.samples[0, i])
        if not (below < low - reach and high + reach < above):
            return False
        if is_at_level(c.levels, c.level_start[i], c.level_start[i + 1], c.period[i], c.samples[0, i]):
            return False
    return True


# Crossings ------------------------------------------------------------------------------------------------


@kernel
def left_at(c, i, level, sense, earliest):
    """The first time at which sense (u - level) <= 0; infinite where there is none before the earliest known.

    Turning points between the samples are tried, those of the parabolas through the neighbors of both ends.
    """
    n, times = SAMPLES, c.times
    for k in range(n):
        if not times[k] < earliest:
            return inf
        for m in range(max(k, 1), min(k + 1, n - 1) + 1):
            turn = turning_point(c, m, i, level, sense)
            if times[k] < turn < times[k + 1] and beyond(c, turn, i, level, sense) <= 0.0:
                return entered(c, times[k], turn, i, level, sense)
        if sense * (c.samples[k + 1, i] - level) <= 0.0:
            return entered(c, times[k], times[k + 1], i, level, sense)
    return inf


@kernel
def beyond(c, t, i, level, sense):
    """sense (u - level) at a time."""
    invoke(c.look_f, c.look_c, t, c.y, c.y)
    invoke(c.values_f, c.values_c, t, c.y, c.values)
    return sense * (c.values[i] - level)


@kernel
def turning_point(c, m, i, level, sense):
    """Where the parabola through the samples m - 1, m and m + 1 has a minimum near zero or below; nan if nowhere."""
    u = sense * (c.samples[m, i] - level)
    before, after = sense * (c.samples[m - 1, i] - level), sense * (c.samples[m + 1, i] - level)
    bend, slope = before - 2.0 * u + after, 0.5 * (after - before)
    if bend <= 0.0 or u - 0.5 * slope * slope / bend > NEARLY * bend:
        return np.nan
    return c.times[m] - (c.times[m + 1] - c.times[m]) * slope / bend


@kernel
def entered(c, a, b, i, level, sense):
    """The first float after the crossing, by bisection with the secant."""
    at_a, at_b = beyond(c, a, i, level, sense), beyond(c, b, i, level, sense)
    for k in range(MOST_HALVINGS):
        middle = 0.5 * (a + b)
        if k % 2 == 0 and at_a > 0.0 > at_b:
            secant = a + (b - a) * at_a / (at_a - at_b)
            middle = min(max(secant, a + 0.01 * (b - a)), b - 0.01 * (b - a))
        if not a < middle < b:
            break
        value = beyond(c, middle, i, level, sense)
        if value > 0.0:
            a, at_a = middle, value
        else:
            b, at_b = middle, value
    return b
