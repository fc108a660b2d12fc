"""A single evaluation of the rows of a system, outside of any run."""

from __future__ import annotations

from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel, rare_kernel_pointer
from .applied_forces import Loads
from .constraints import SystemArrays, evaluate_rows
from .workspace import Workspace, new_workspace

SMALL = 60  # coordinates up to which a single evaluation is not worth compiling,
FEW = 100  # unless there have been so many of them
small_evaluations = count()


class RowContext(NamedTuple):
    """Context of `rows_at`."""

    S: SystemArrays
    w: Workspace


@rare_kernel_pointer
def rows_at(c, t, y, out):
    """Phi and gamma into out, Phi_q into w.data, with y = (q, qd)."""
    n, m = y.size // 2, out.size // 2
    evaluate_rows(c.S, t, y[:n], y[n:], c.w, out[:m], out[m:])


class Evaluator:
    """A workspace in which the rows of a system are evaluated; Python and machine code give the same bits."""

    def __init__(self, S: SystemArrays, L: Loads) -> None:
        self.S, self.w = S, new_workspace(S, L)

    @cached_property
    def bound(self) -> BoundKernel:
        return rows_at.bind(RowContext(self.S, self.w))

    def __call__(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Phi; all else is left in the workspace, gamma in `row`."""
        y, out = np.concatenate([q, qd]), np.empty(2 * self.w.row.size)
        if q.size > SMALL or next(small_evaluations) >= FEW:
            self.bound(t, y, out)
        else:
            # as Python it would warn of states that have grown without bound, which compiled code does not
            with np.errstate(over="ignore", invalid="ignore"):
                rows_at(RowContext(self.S, self.w), t, y, out)
        self.w.row[:] = out[self.w.row.size :]
        return out[: self.w.row.size].copy()
