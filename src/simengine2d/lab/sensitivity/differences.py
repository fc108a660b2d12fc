"""Differences of formulas at one place, exact to about 1e-12 of their size.

    D(h) = (g(h) - g(-h)) / 2h,      g_p = (4 D(h) - D(2h)) / 3

Where D(h) and D(2h) disagree, as in sin(p t) for large t or in a law that is steep, the step is too large; where they
never agree there is no derivative, such as in a kink.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel

STEPS = (2.5e-4, 2.5e-4 / 16, 2.5e-4 / 256, 2.5e-4 / 1024)
"""Of the size of a number, tried one after another."""
LONG = 2e-3
"""The step that is tried last, for values with more rounding, such as the curvature of a spline through many points."""
AGREEING = 1e-4
"""Difference of D(h) and D(2h) against the largest slope; that of order 4 has an error of about its square."""
SMOOTH = 1e-7
"""Jump of the slope at p against the largest slope."""
ROUNDING = 2.5e-13
"""Of the values of a function."""


class Stencil(NamedTuple):
    """At which multiples of a step a function is evaluated, and how much each value weighs."""

    offsets: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def multiples(self) -> list[float]:
        """Where values are needed to know the slope, and to check it."""
        checked = [0.0, *self.offsets] if 0.0 not in self.offsets else [2.0 * x for x in self.offsets]
        return sorted({*self.offsets, *checked})

    def slope(self, values: Sequence[Any], step: Any) -> Any:
        total = sum(weight * np.asarray(value) for weight, value in zip(self.weights, values, strict=True))
        return total / step


CENTRAL = Stencil((-2.0, -1.0, 1.0, 2.0), (1 / 12, -8 / 12, 8 / 12, -1 / 12))
AFTER = Stencil((0.0, 1.0, 2.0, 3.0, 4.0), (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4))
"""For a number that cannot be smaller, such as a mass of zero."""
BEFORE = Stencil(tuple(-x for x in AFTER.offsets), tuple(-w for w in AFTER.weights))


class CheckedSlope(NamedTuple):
    """A slope by one step, and whether it can be trusted."""

    slope: Floats
    holds: bool


def largest(array: Floats) -> float:
    return float(np.max(np.abs(array), initial=0.0))


class CheckedSlopes(NamedTuple):
    """The same of several numbers."""

    slope: Floats
    holds: NDArray[np.bool_]


@kernel(entry=True)
def central_slopes(around, here, h, slope, largest):
    """Slopes of order 4 by values at -2, -1, 1 and 2 steps of each number.

    And the largest sizes of: values, slopes, D(2h) - D(h), and the jump of the slope at p.
    With s(h) = g(h) - 2 g(0) + g(-h), which is a jump times h and a curvature times h^2, the jump is
    (4 s(h) - s(2h)) / 2h; D is the mean of both sides there.
    """
    for k in range(h.size):
        g_2, g_1, g1, g2 = around[k, 0], around[k, 1], around[k, 2], around[k, 3]
        spoiled = 0.0
        for i in range(here.size):
            g = here[i]
            wide, narrow = (g2[i] - g_2[i]) / (4.0 * h[k]), (g1[i] - g_1[i]) / (2.0 * h[k])
            slope[k, i] = (4.0 * narrow - wide) / 3.0
            jump = (4.0 * (g1[i] - 2.0 * g + g_1[i]) - (g2[i] - 2.0 * g + g_2[i])) / (2.0 * h[k])
            largest[k, 0] = max(largest[k, 0], abs(g), abs(g_2[i]), abs(g2[i]))
            largest[k, 1] = max(largest[k, 1], abs(slope[k, i]))
            largest[k, 2] = max(largest[k, 2], abs(wide - narrow))
            largest[k, 3] = max(largest[k, 3], abs(jump))
            spoiled += 0.0 * (slope[k, i] + jump)
        largest[k, 1] += spoiled  # nan, where a value is not finite


def central_trials(around: Floats, here: Floats, terms: float, sizes: Floats) -> CheckedSlopes:
    """Slopes by the first step of each number, from values at -2, -1, 1 and 2 steps of one number after the other."""
    count, steps = sizes.size, len(CENTRAL.offsets)
    slope, found = np.empty((count, here.size)), np.zeros((count, 4))
    rows = np.ascontiguousarray(around).reshape(count, steps, here.size)
    central_slopes(rows, np.ascontiguousarray(here).ravel(), STEPS[0] * sizes, slope, found)
    value, steepest, apart, jump = found.T
    holds = is_trusted(np.maximum(terms, value), steepest, apart, jump, sizes)
    return CheckedSlopes(slope.reshape(count, *here.shape), holds)


def central_trial(values: Mapping[float, Floats], step: float, terms: float, size: float) -> CheckedSlope:
    """The slope of order 4 by values at -2, -1, 0, 1 and 2 steps; `size` is a large change."""
    here = np.asarray(values[0.0], dtype=float)
    slope, sizes = np.empty((1, here.size)), np.zeros((1, 4))
    around = np.array([values[multiple] for multiple in CENTRAL.offsets], dtype=float)
    central_slopes(around.reshape(1, 4, here.size), here.ravel(), np.array([step]), slope, sizes)
    value, steepest, apart, jump = sizes[0].tolist()
    holds = bool(is_trusted(max(terms, value), steepest, apart, jump, size))
    return CheckedSlope(slope.reshape(here.shape), holds)


def is_trusted(value: Any, slope: Any, apart: Any, jump: Any, size: Any) -> Any:
    """Whether slopes hold, by the largest sizes of: values, slopes, D(2h) - D(h), and the jump of the slope at p."""
    rounding = rounding_of(value, size)
    return (apart <= AGREEING * slope + rounding) & (jump <= SMOOTH * slope + rounding)


def rounding_of(value: Any, size: Any) -> Any:
    """What rounding of values does to a slope."""
    return ROUNDING * value / (STEPS[0] * size)
