"""Growth that is the method's and not the problem's: what a solution in fixed steps looks like beyond stability.

An error in a direction with the eigenvalue lambda grows by exp(h Re lambda) a step in truth, and by |R(h lambda)| in
numbers. A solution that has grown far, by the second and not by the first, is no solution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from ..ode_method import OdeMethod

FAR = 1e6  # times the size with which it began
MOST = 200  # components of which eigenvalues are computed
STILL = 1e-9  # real part, against the largest eigenvalue, up to which a motion does not grow
BEYOND = 1e-6  # growth per step beyond that of the problem


def slopes_of(f: Callable[[float, Floats], Floats], t: float, y: Floats) -> Floats:
    """df/dy by central differences."""
    columns = []
    for k in range(y.size):
        change = np.zeros(y.size)
        change[k] = 6e-6 * max(1.0, abs(y[k]))
        columns.append((f(t, y + change) - f(t, y - change)) / (2.0 * change[k]))
    return np.array(columns).reshape(y.size, -1).T


def has_grown(first: Floats, last: Floats) -> bool:
    """Whether the last state is far larger than the first."""
    return bool(np.abs(last).max(initial=0.0) > FAR * max(float(np.abs(first).max(initial=0.0)), 1e-300))


def is_unstable(
    method: OdeMethod, f: Callable[[float, Floats], Floats], t: float, y: Floats, h: float
) -> bool:
    """Whether steps of h multiply some error by more than the problem does at a state."""
    if y.size > MOST:
        return False
    with np.errstate(all="ignore"):
        slopes = slopes_of(f, t, y)
        if not np.all(np.isfinite(slopes)):
            return True
        z = h * np.linalg.eigvals(slopes)
        return outgrows(z, np.abs(method.stability(z)))


def outgrows(z: Any, numerical: Floats) -> bool:
    """Whether what should not grow does, and faster than what should; z = h lambda."""
    calm = z.real <= STILL * np.abs(z).max()
    largest = float(numerical[calm].max(initial=0.0))
    return largest > (1.0 + BEYOND) * np.exp(max(0.0, float(z.real.max())))
