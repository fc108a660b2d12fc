"""Where the non-zeros of Phi_q are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def phi_q_structure(row_of: Ints, body_a: Ints, body_b: Ints, m: int, nb: int) -> tuple[Ints, Ints, Ints]:
    """Structure of Phi_q by rows, and where each term adds its six derivatives."""
    columns: list[list[int]] = [[] for _ in range(m)]
    for i, ba, bb in zip(row_of, body_a, body_b, strict=True):
        columns[i] += [3 * body + c for body in (ba, bb) if body < nb for c in range(3)]
    columns = [sorted(set(c)) for c in columns]
    start = np.concatenate([[0], np.cumsum([len(c) for c in columns])]).astype(np.int64)
    position = [{c: start[i] + k for k, c in enumerate(cols)} for i, cols in enumerate(columns)]
    slots = np.array(
        [
            position[i][3 * body + c] if body < nb else -1
            for i, ba, bb in zip(row_of, body_a, body_b, strict=True)
            for body in (ba, bb)
            for c in range(3)
        ],
        dtype=np.int64,
    )
    return start, np.array([c for cols in columns for c in cols], dtype=np.int64), slots.reshape(-1, 6)
