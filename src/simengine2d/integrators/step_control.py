"""The size of the next step."""

from __future__ import annotations

import numpy as np

from ..numerics.kernel import kernel

SHRINK, GROW = 0.2, 6.0
LONGEST_FIRST_STEP = 0.1  # seconds; a mechanism at rest may be about to move
# seconds, and relative to the elapsed time: steps where a function may jump unseen
CAREFUL, SHARE = 0.02, 0.01


@kernel(inline=True)
def trial_step(p):
    """A step that is certainly short enough, from the sizes of y and f."""
    size_y, size_f = 0.0, 0.0
    for k in range(p.y.size):
        scale = p.atol[k] + p.rtol[0] * abs(p.y[k])
        size_y += (p.y[k] / scale) ** 2
        size_f += (p.K[0, k] / scale) ** 2
    if size_f <= 0.0:
        return 1.0e-3
    guess = max(0.01 * np.sqrt(size_y / size_f), 1.0e-3 * (1.0 / np.sqrt(size_f)) ** 0.125)
    return min(guess, LONGEST_FIRST_STEP)


@kernel(inline=True)
def first_step(p, h, slopes, order):
    """The step for which h^order max(|f|, |f'|) is a hundredth of the tolerance; `slopes` are those after h.

    E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, Springer 1993, section II.4.
    """
    size_f, size_d, n = 0.0, 0.0, p.y.size
    for k in range(n):
        scale = p.atol[k] + p.rtol[0] * abs(p.y[k])
        size_f += (p.K[0, k] / scale) ** 2
        size_d += ((slopes[k] - p.K[0, k]) / scale) ** 2
    count = max(1, n)  # there may be nothing to integrate
    largest = max(np.sqrt(size_f / count), np.sqrt(size_d / count) / h)
    if not 1.0e-15 < largest < 1.0e300:
        return h
    return max(h, min(100.0 * h, (0.01 / largest) ** (1.0 / order), LONGEST_FIRST_STEP))


@kernel(inline=True)
def next_step(T, h, error, before):
    """What the error allows, within limits; `before` is the error of the previous step, 0 at the start.

    h |error|^-a |before|^b: a growing error shortens the next step before it is rejected (Gustafsson).
    """
    if not error < 1.0e10:
        return h * SHRINK
    error, before = max(error, 1.0e-10), max(before, 1.0e-4)
    b = T.smooth / T.order if error <= 1.0 else 0.0
    a = 1.0 / T.order - 0.75 * b
    return h * min(GROW, max(SHRINK, T.safety * error ** (-a) * before**b))


@kernel(inline=True)
def longest_step(elapsed):
    """The longest step while opaque functions may jump; it does not depend on the end of the run."""
    return max(CAREFUL, SHARE * elapsed)


@kernel
def finite(values):
    for k in range(values.size):  # noqa: SIM110
        if not abs(values[k]) < np.inf:
            return False
    return True
