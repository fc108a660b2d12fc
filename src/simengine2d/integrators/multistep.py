"""What multistep methods share: their characteristic polynomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from .ode_method import Stability


def largest_roots(coefficients: list[Any]) -> Stability:
    """The root of largest modulus of each polynomial; the arrays of coefficients begin with the highest power."""
    shape, rows = coefficients[0].shape, np.stack([c.ravel() for c in coefficients], axis=-1)
    roots = [np.roots(row) for row in rows]
    largest = [r[np.argmax(np.abs(r))] if r.size else 0.0 for r in roots]
    return np.array(largest, dtype=complex).reshape(shape)
