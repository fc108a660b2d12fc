"""Outputs: how any channel of results responds to small changes of the state.

Coordinates and their derivatives are read directly; all other channels (points, measures, reactions, springs) are
differentiated by differences of order 6, so whatever can be plotted can be an output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import UnsupportedError
from ...numerics.arrays import Floats
from ...results.results import Results
from .variation import FIRST, STEP, STEPS, Variation

Changes = tuple[Floats, Floats, Floats | None, Floats]
"""dq, dqd, dqdd and dlam, one column for each state or input; without dqdd if accelerations are not determined."""


def output_rows(variation: Variation, outputs: Sequence[str], changes: Changes) -> Floats:
    """One row for each output, one column for each change."""
    count = changes[0].shape[1]
    rows = [_row(variation, channel, changes) for channel in outputs]
    return np.array(rows).reshape(len(rows), count)


def _row(variation: Variation, channel: str, changes: Changes) -> Floats:
    for order, change in enumerate(changes[:3]):
        name = channel.removesuffix("d" * order) if order else channel
        names = variation.system.coordinate_names
        if name in names and channel == name + "d" * order:
            if change is None:
                raise UnsupportedError(
                    f"the output '{channel}' is an acceleration, which the descriptor form does not determine."
                )
            return np.asarray(change[names.index(name)])
    return np.array([_slope(variation, channel, changes, j) for j in range(changes[0].shape[1])])


def _slope(variation: Variation, channel: str, changes: Changes, column: int) -> float:
    """The derivative of a channel along one column."""
    v = variation
    parts = [np.zeros(v.system.n) if c is None else c[:, column] for c in changes[:3]] + [
        changes[3][:, column]
    ]
    largest = max(float(np.abs(part).max(initial=0.0)) for part in parts[:2])
    h = STEP * min(1.0, v.system.length) / (largest or 1.0)
    base = v.q, v.qd, v.qdd, v.lam
    q, qd, qdd, lam = (b + h * np.outer(STEPS, part) for b, part in zip(base, parts, strict=True))
    results = Results(v.system, np.full(STEPS.size, v.t), q, qd, qdd, lam)
    return float(FIRST @ results[channel]) / h
