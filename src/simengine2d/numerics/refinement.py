"""Iterative refinement: digits that factors of a slightly different matrix have lost, or a compliance has changed.

    x += K~^-1 (b - K x)

K~ is K with a small compliance of redundant rows, or K as rounding has left it.
"""

from __future__ import annotations

import numpy as np

from .kernel import kernel

HOLDS = 1e-14  # share of its terms that an equation may leave over when refinement ends
LOST = 1e-9  # the same above which a solution has lost digits
STALLED = 0.7  # reduction of what is left over at which refinement gives up
MOST_REFINEMENTS = 20


@kernel(inline=True)
def refine(left_over, correct, c, most):
    """Correct a solution until every equation holds, or no longer holds better; returns what is left over.

    `left_over(c)` finds b - K x and returns the largest of them against the terms of its equation; `correct(c)` adds
    to x what K~ makes of it.
    """
    lost, before = left_over(c), np.inf
    for _ in range(most):
        if lost <= HOLDS or not lost < STALLED * before:
            break
        before = lost
        correct(c)
        lost = left_over(c)
    return lost
