"""How long the next step may be."""

from __future__ import annotations

import numpy as np

from ..numerics.kernel import kernel

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
LONGEST_FIRST_STEP = 0.1  # seconds; what rests at the start may be about to move
CAREFUL, SHARE = 0.02, 0.01  # seconds, and of the time gone by: steps where a function may jump unseen
SMOOTH = 0.2  # share of the last error in the next step: steps that hesitate are refused less often


@kernel(inline=True)
def trial_step(p):
    """A step that is surely short, from the sizes of y and f."""
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
    """The step that keeps h^order max(|f|, |f'|) at a hundredth of the tolerance; `slopes` are those after h.

    E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, Springer 1993, section II.4.
    """
    size_f, size_d, n = 0.0, 0.0, p.y.size
    for k in range(n):
        scale = p.atol[k] + p.rtol[0] * abs(p.y[k])
        size_f += (p.K[0, k] / scale) ** 2
        size_d += ((slopes[k] - p.K[0, k]) / scale) ** 2
    largest = max(np.sqrt(size_f / n), np.sqrt(size_d / n) / h)
    if not 1.0e-15 < largest < 1.0e300:
        return h
    return max(h, min(100.0 * h, (0.01 / largest) ** (1.0 / order), LONGEST_FIRST_STEP))


@kernel(inline=True)
def next_step(T, h, error, before):
    """What the error allows, within limits; `before` is the error of the step before, 0 at the start.

    h |error|^-a |before|^b: a growing error lets the next step shrink before it is refused (Gustafsson).
    """
    if not error < 1.0e10:
        return h * SHRINK
    error, before = max(error, 1.0e-10), max(before, 1.0e-4)
    b = SMOOTH / T.order if error <= 1.0 else 0.0
    a = 1.0 / T.order - 0.75 * b
    return h * min(GROW, max(SHRINK, SAFETY * error ** (-a) * before**b))


@kernel(inline=True)
def longest_step(elapsed):
    """The longest step where functions may jump that nobody can look into; it does not depend on the end of the run."""
    return max(CAREFUL, SHARE * elapsed)
