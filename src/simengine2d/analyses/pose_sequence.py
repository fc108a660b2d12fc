"""Poses one after the other as results, so that all that shows a motion shows them too."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Floats
from ..results.results import Results
from ..system.system import System


def pose_sequence(system: System, q: Floats, status: str) -> Results:
    """A second for each pose, at rest."""
    still = np.zeros_like(q)
    return Results(system, np.arange(float(len(q))), q, still, still, analysis="search", status=status)
